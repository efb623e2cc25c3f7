"""Motions made of several: one fading into the next, many side by side on one clock.

A motion A fades into B over a time τ in which both run, with a weight w that is a polynomial of degree seven from 0 to 1:

    q = A + w (B − A),    q⃛ = A⃛ + w D⃛ + 3 ẇ D̈ + 3 ẅ Ḋ + w⃛ D,    D = B − A                     (1)

and so on for lower orders; w⃛ = 0 at both ends, so that nothing jumps that does not jump in A or B.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from .. import checks
from ..checks import FloatArray, items
from ..errors import ShapeError
from . import motion_arguments as arguments
from .motion import IntArray, Motion, Picked, Rates, merged, of_robot
from .polynomials import septic


class Faded(Motion):
    """One motion fading into another. Equation (1)."""

    def __init__(self, one: Motion, other: Motion, overlap: float) -> None:
        tau = arguments.positive("overlap", overlap)
        if tau > min(one.duration, other.duration):
            raise ShapeError(
                f"overlap: {tau:g} s found, but the motions last {one.duration:g} s and {other.duration:g} s. Give a shorter one."
            )
        of_robot("fading", one, other)
        self.one, self.other, self.begin = one, other, one.duration - tau
        self.shape = np.broadcast_shapes(one.shape, other.shape)
        self.about = "; ".join(dict.fromkeys(about for about in (one.about, other.about) if about))
        self.weight = septic([0.0], [1.0], duration=tau)
        self.breaks = checks.frozen(merged([one.breaks, self.begin + other.breaks]))

    def rows(self, numbers: IntArray) -> Motion:
        """As said in `Motion`, where both have the whole batch."""
        if self.one.shape != self.other.shape:
            return Picked(self, numbers)
        return Faded(self.one.rows(numbers), self.other.rows(numbers), self.weight.duration)

    def at(self, t: FloatArray) -> Rates:
        """Each time in one of the motions, or in both."""
        found = np.empty((4, *self.shape[:-1], len(t), self.n))
        before, after = t < self.begin, t >= self.one.duration
        both = ~(before | after)
        first, last = self.one.at(t[before]), self.other.at(np.minimum(t[after] - self.begin, self.other.duration))
        for k in range(4):  # each by itself, so that one motion spreads over a batch
            found[k][..., before, :], found[k][..., after, :] = first[k], last[k]
        if both.any():
            A, B, w = self.one.at(t[both]), self.other.at(t[both] - self.begin), self.weight.at(t[both] - self.begin)
            D = [b - a for a, b in zip(A, B, strict=True)]
            for k in range(4):
                found[k][..., both, :] = A[k] + sum(comb(k, j) * w[j] * D[k - j] for j in range(k + 1))  # (1)
        return found[0], found[1], found[2], found[3]


class Stacked(Motion):
    """Motions side by side; one that ends before the others rests."""

    def __init__(self, motions: Sequence[Motion], batch: tuple[int, ...], clock: FloatArray | None = None) -> None:
        self.motions = tuple(motions)
        self.shape = (*batch, motions[0].n)
        self.about = "; ".join(dict.fromkeys(motion.about for motion in motions if motion.about))
        self.breaks = checks.frozen(merged([motion.breaks for motion in motions]) if clock is None else clock)

    def rows(self, numbers: IntArray) -> Motion:
        """As said in `Motion`, still on the clock of all."""
        if not numbers.size:
            return Picked(self, numbers)
        return Stacked([self.motions[k] for k in numbers.ravel()], numbers.shape, self.breaks)

    def at(self, t: FloatArray) -> Rates:
        """Each motion at all times."""
        found = np.empty((4, len(self.motions), len(t), self.n))
        for row, motion in enumerate(self.motions):
            at = motion(t)
            found[:, row] = at.q, at.qd, at.qdd, at.qddd
        shaped = found.reshape(4, *self.shape[:-1], len(t), self.n)
        return shaped[0], shaped[1], shaped[2], shaped[3]


def stacked(motions: Sequence[Motion]) -> Motion:
    """A batch of motions of one robot on one clock; one that ends before the others rests at its end.

    Parameters
    ----------
    motions : sequence of Motion
        Each of shape (n,).

    Returns
    -------
    Motion
        Of shape (b, n).

    Examples
    --------
    >>> import dalembert as dal
    >>> one, other = (dal.trajectory.quintic([0.0], [1.0], duration=T) for T in (1.0, 2.0))
    >>> dal.trajectory.stacked([one, other])([1.0]).q[:, 0, 0]
    array([1. , 0.5])
    """
    rows = checks.parts("motions", items("motions", motions, "a sequence of motions"), Motion)
    if not rows:
        raise ShapeError("motions: none found; one or more are expected.")
    for row in rows:
        of_robot("motions", rows[0], row)
        if len(row.shape) != 1:
            raise ShapeError(f"motions: shape {row.shape} found, (n,) expected: each a single one.")
    return Stacked(rows, (len(rows),))
