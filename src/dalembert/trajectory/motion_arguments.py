"""What a motion is made from, checked: finite numbers, ends of equal shape, times that increase."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from ..wording import listed


def finite(subject: str, value: ArrayLike) -> FloatArray:
    """Numbers of any shape, without NaN or infinity, and not so large that their products overflow."""
    found = checks.numbers(subject, value, error=ShapeError)
    if not np.isfinite(found).all():
        raise ShapeError(f"{subject}: {checks.describe(found)} contains NaN or infinity; a motion needs finite numbers.")
    if not (np.abs(found) <= checks.LARGEST).all():
        raise ShapeError(f"{subject}: {checks.describe(found)} contains a number beyond {checks.LARGEST:g}. Is the unit wrong?")
    return found


def times(value: ArrayLike) -> FloatArray:
    """Instants at which a motion is asked for, or one of them, copied."""
    found = finite("t", value).copy()
    if found.ndim > 1:
        raise ShapeError(f"t: shape {found.shape} found, (k,) expected: one time per sample, or () for a single one.")
    return found


def ends(start: ArrayLike, end: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Where a motion, or each of a batch, begins and ends."""
    begin, finish = finite("start", start), finite("end", end)
    if not begin.ndim or not begin.shape[-1] or begin.shape != finish.shape:
        raise ShapeError(f"start, end: shapes {begin.shape} and {finish.shape} found, (..., n) twice expected.")
    return begin, finish


def of_each(subject: str, value: ArrayLike, n: int, *, infinite: bool = False) -> FloatArray:
    """A value of all coordinates, or one of each."""
    found = checks.numbers(subject, value, error=ShapeError) if infinite else finite(subject, value)
    if found.shape not in ((), (n,)):
        raise ShapeError(f"{subject}: shape {found.shape} found, () or ({n},) expected: one for all, or one of each.")
    return np.broadcast_to(found, (n,))


def like(subject: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """A value that fits each motion of a batch: of this shape, or one that spreads to it."""
    found = finite(subject, value)
    try:
        return np.broadcast_to(found, shape)
    except ValueError:
        raise ShapeError(f"{subject}: shape {found.shape} found, () or {shape[-1:]} or {shape} expected.") from None


def pair(subject: str, value: tuple[ArrayLike, ArrayLike], shape: tuple[int, ...]) -> FloatArray:
    """What holds at the start and at the end, of shape (..., 2, n)."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ShapeError(f"{subject}: {checks.shown(value)} found, a pair is expected: at the start and at the end.")
    return np.stack([like(subject, one, shape) for one in value], axis=-2)


def rows(subject: str, value: ArrayLike, *, least: int = 2) -> FloatArray:
    """Points, of shape (..., k, n), or whatever else comes in rows."""
    found = finite(subject, value)
    if found.ndim < 2 or found.shape[-2] < least or not found.shape[-1]:
        raise ShapeError(f"{subject}: shape {found.shape} found, (..., k, n) expected: {least} or more rows of n numbers.")
    return found


def positive(subject: str, value: object, unit: str = "s") -> float:
    """One number above zero."""
    found = checks.numbers(subject, value, error=ShapeError)
    if found.shape == () and (0 < found < checks.SMALLEST or checks.LARGEST < found < np.inf):
        raise ShapeError(f"{subject}: {found:g} {unit}".strip() + " found, which overflows in derivatives. Is the unit wrong?")
    if found.shape != () or not 0 < found < np.inf:
        shown = f"{found:g} {unit}".strip() if found.shape == () else f"shape {found.shape}"
        raise ShapeError(f"{subject}: {shown} found; one positive number is expected.")
    return float(found)


def increasing(subject: str, value: ArrayLike, count: int) -> FloatArray:
    """Times of so many points, each later than the one before; the first is moved to zero."""
    found = finite(subject, value)
    if found.shape != (count,):
        raise ShapeError(f"{subject}: shape {found.shape} found, ({count},) expected: one time for each point.")
    if not (steps := np.diff(found) > checks.SMALLEST).all():
        k = int(np.argmin(steps))
        pair_of = f"point {k + 1} at {found[k]:g} s and point {k + 2} at {found[k + 1]:g} s"
        raise ShapeError(f"{subject}: {pair_of} found; each time needs to be later than the one before. Sort the points by time.")
    return found - found[0]


def each_listed(values: FloatArray) -> str:
    """Different values with commas."""
    return listed(f"{value:g}" for value in np.unique(values))
