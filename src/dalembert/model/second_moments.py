"""Inertia tensors and second moments of mass, as arrays: S = ∫ r rᵀ dm = ½ tr(I) 1 − I, and back, I = tr(S) 1 − S."""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray
from .parts import Body


def second_moment(I: FloatArray) -> FloatArray:
    """S of an inertia tensor."""
    S: FloatArray = 0.5 * np.trace(I) * np.eye(3) - I
    return S


def tensor(S: FloatArray) -> FloatArray:
    """The inertia tensor of second moments."""
    I: FloatArray = np.trace(S) * np.eye(3) - S
    return I


def pseudo_inertia(body: Body) -> FloatArray:
    """∫ r̃ r̃ᵀ dm with r̃ = (r, 1), shape (4, 4): bodies add up, and a change of frame is X P Xᵀ."""
    second = second_moment(body.inertia) + body.mass * np.outer(body.com, body.com)
    first = body.mass * body.com
    return np.block([[second, first[:, None]], [first[None, :], np.array([[body.mass]])]])
