"""Slopes by central differences, extrapolated after Richardson: an independent witness, good to some ten digits."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

STEP = 0.02  # the first of four, each half of the one before: the error of the last extrapolation is of the order of step⁸
TURNS = 5


def slopes(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """∂f/∂x of a vector function, the index of x last."""
    return np.stack([_along(function, x, unit) for unit in np.eye(len(x))], axis=-1)


def _along(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, unit: np.ndarray) -> np.ndarray:
    steps = STEP * 0.5 ** np.arange(TURNS)
    rows = [(function(x + h * unit) - function(x - h * unit)) / (2 * h) for h in steps]
    for k in range(1, TURNS):
        rows = [(4**k * fine - coarse) / (4**k - 1) for coarse, fine in itertools.pairwise(rows)]
    return rows[0]
