"""Exact responses of linear models to inputs that are held between samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray, number
from ..codegen.arguments import real
from ..errors import ModelError, ShapeError


def held(A: FloatArray, B: FloatArray, dt: Any) -> tuple[FloatArray, FloatArray]:
    """e^(A dt) and ∫ e^(A t) B dt: the upper rows of exp([[A, B], [0, 0]] dt), which is exact [VanLoan1978, Theorem 1]."""
    from scipy.linalg import expm

    step = number("dt", dt)
    if step <= 0.0:
        raise ModelError(f"dt: {step:g} s found; a time larger than zero is expected.")
    m, p = B.shape[-2:]
    whole = np.zeros((*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), m + p, m + p))
    whole[..., :m, :m], whole[..., :m, m:] = A, B
    found = expm(whole * step)
    return found[..., :m, :m], found[..., :m, m:]


def response(A: FloatArray, B: FloatArray, times: Any, x0: Any, u: Any) -> FloatArray:
    """States at each of the times, inputs held from one to the next."""
    t = real("times", times, "(T,)")
    m, p = B.shape[-2:]
    if t.ndim != 1 or len(t) < 1 or not np.all(np.diff(t) > 0):
        raise ShapeError(f"times: shape {t.shape} found; rising times of shape (T,) are expected.")
    x = np.zeros(m) if x0 is None else real("x0", x0, f"(..., {m})")
    v = np.zeros(p) if u is None else real("u", u, f"(..., {p}) or (..., {len(t)}, {p})")
    if x.shape[-1:] != (m,) or v.shape[-1:] != (p,):
        raise ShapeError(f"response: x0 {x.shape} and u {v.shape} found; (..., {m}) and (..., {p}) are expected.")
    sampled = v.ndim >= 2 and v.shape[-2] == len(t)
    v = v if sampled else v[..., None, :]
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2], x.shape[:-1], v.shape[:-2])
    found = np.empty((*batch, len(t), m))
    found[..., 0, :] = x
    steps: dict[float, tuple[FloatArray, FloatArray]] = {}
    for k, dt in enumerate(np.diff(t)):
        key = float(f"{dt:.12g}")  # equal steps differ by rounding
        if key not in steps:
            steps[key] = held(A, B, key)
        F, G = steps[key]
        row = v[..., k if sampled else 0, :]
        found[..., k + 1, :] = (F @ found[..., k, :, None] + G @ row[..., None])[..., 0]
    return found


__all__ = ["held", "response"]
