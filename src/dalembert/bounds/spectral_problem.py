"""Bounds over boxes of coordinates by control points, for functions that are polynomials of sines, cosines and slides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import FloatArray
from .box_search import Bounded
from .control_points import ControlPoints, first_boxes
from .functionals import Functional
from .spectrum import Spectrum

_NUMBERS = 400_000  # control points at once: they should stay near the processor
_EXPLAINED = 0.02  # of what a bound is too large by: if bends are less, smaller boxes do not help
_SLIGHT = 0.02  # what a first difference counts for beside a second one


class SpectralProblem:
    """A convex function of the entries of a spectrum; boxes have the spectrum's axes, then the function's own variables."""

    def __init__(self, found: Spectrum, functional: Functional, ranges: Mapping[str, tuple[float, float]]) -> None:
        self.inputs = [axis.name for axis in found.axes]
        self.spectrum, self.functional, self.control = found, functional, ControlPoints(found)
        self.lo, self.hi = (np.array([_range(a.turns, *ranges[a.name])[k] for a in found.axes]) for k in (0, 1))
        sizes = np.abs(found.coefficients).reshape(len(found.rest), -1).sum(axis=1) + found.rest
        self.ceiling = functional.slack(sizes * (1.0 + 1e-9))

    def first(self) -> tuple[FloatArray, FloatArray]:
        """The range of each coordinate, angles in pieces."""
        lo, hi = first_boxes(self.spectrum.axes, self.lo, self.hi)
        own = np.ones((len(lo), self.functional.own))
        return np.concatenate([lo, -own], axis=1), np.concatenate([hi, own], axis=1)

    def bounded(self, lo: FloatArray, hi: FloatArray, floor: float) -> Bounded:
        """The largest value at control points."""
        step = max(1, _NUMBERS // max(1, self.spectrum.coefficients.size))
        d = len(self.spectrum.axes)
        matrices = self.control.matrices(lo[:, :d], hi[:, :d])
        found: list[tuple[float, int]] = []
        for k in range(0, len(lo), step):
            part = slice(k, k + step)
            points, error = self.control.over([m[part] for m in matrices], len(lo[part]))
            for p, e, a, b in zip(points, error, lo[part, d:], hi[part, d:], strict=True):
                found.append(self._one(p, self.functional.slack(e), a, b, floor))
        return Bounded(np.array([bound for bound, _ in found]), np.array([axis for _, axis in found]))

    def _one(self, points: FloatArray, slack: float, lo: FloatArray, hi: FloatArray, floor: float) -> tuple[float, int]:
        """Bound and coordinate to halve of one box."""
        f = self.functional
        flat = f.moved(points.reshape(len(points), -1), lo, hi)
        values = f.quick(flat)
        size = max(float(np.abs(flat).max()), float(np.abs(points).max()))
        slack += 64 * len(points) * 2.0**-53 * size * len(points)  # rounding of what follows
        promising = values + slack > floor
        if promising.any():
            values[promising] = np.minimum(values[promising], f.exact(flat[:, promising]))
        k = int(np.argmax(values))
        bound = float(values[k]) + slack
        return bound, self._axis(flat, points.shape[1:], k, bound - floor)

    def _axis(self, flat: FloatArray, shape: tuple[int, ...], k: int, excess: float) -> int:
        """Where control points bend most near the largest, or the own variable that loses most; -1 if none explains it."""
        place: Any = np.unravel_index(k, shape) if shape else ()
        grid = flat.reshape(len(flat), *shape)
        scores = []
        for axis in range(len(shape)):
            line = grid[(slice(None), *place[:axis], slice(None), *place[axis + 1 :])]
            bend = np.abs(np.diff(line, 2, axis=1)).max(axis=1).sum() if shape[axis] > 2 else 0.0
            scores.append(float(bend + _SLIGHT * np.abs(np.diff(line, axis=1)).max(axis=1).sum()))
        scores += [float(s) for s in self.functional.scores(flat[:, k])]
        return int(np.argmax(scores)) if scores and sum(scores) > _EXPLAINED * excess else -1


def _range(turns: bool, lo: float, hi: float) -> tuple[float, float]:
    """The range itself; of an angle a full turn at most."""
    return (-math.pi, math.pi) if turns and hi - lo >= 2 * math.pi else (lo, hi)
