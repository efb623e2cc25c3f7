"""Numbers written for a reader: few digits, aligned, with a true minus sign."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import FloatArray

MINUS = "−"


def number(value: float | None, digits: int = 4) -> str:
    """A number with a true minus sign, rounded to so many digits; None is a dash."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:.{digits}g}"
    return "0" if text == "-0" else text.replace("-", MINUS)


def numbers(values: ArrayLike) -> str:
    """Several numbers, separated by spaces."""
    return "  ".join(number(float(value)) for value in np.ravel(np.asarray(values, dtype=float)))


def columns_of(vectors: Sequence[ArrayLike]) -> list[str]:
    """Several vectors of the same length, one text each, with their components below each other."""
    cells = [[number(float(value)) for value in np.asarray(vector, dtype=float)] for vector in vectors]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]


def aligned(values: FloatArray) -> NDArray[np.str_]:
    """Numbers that share their decimals, so that a column can be compared at a glance: five digits of the largest."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    decimals = 4 - math.floor(math.log10(largest)) if largest > 0 else 1
    digits = min(max(decimals, 0), 12)
    return np.array([_fixed(float(value), digits) for value in values.ravel()]).reshape(values.shape)


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", MINUS)
