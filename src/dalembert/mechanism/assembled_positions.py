"""Positions of a mechanism's tree at its coordinates, with a report of how they were found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..brief import brief
from ..checks import FloatArray
from ..codegen import Kernel
from ..codegen.arguments import real
from ..errors import ShapeError
from .assembled import Assembled
from .closed_kernel import GIVEN_UP


@dataclass(frozen=True, eq=False)
class AssembledPositions:
    """Positions that were assembled.

    Attributes
    ----------
    x : ndarray, shape (..., N)
        Positions of the joints of the tree; NaN where none were found.
    residual : ndarray, shape (...)
        The largest of what closures and coordinates are off [m | rad].
    pivot : ndarray, shape (...)
        The least pivot against its size at the seed: where it goes to zero, the coordinates do not tell the positions any more.
    turns : ndarray, shape (...)
        How many turns of Newton's method it took, of those far from the start only the last ones.
    found : ndarray of bool, shape (...)
        Whether there are positions.
    condition : ndarray, shape (...)
        The condition number of the Jacobian of closures and coordinates.
    branch : ndarray of int, shape (...)
        1 on the side of the seed, -1 where a singular pose lies between (the determinant of that Jacobian has the other sign), 0
        where there are no positions. Equal signs do not yet mean the same branch.
    """

    x: FloatArray
    residual: FloatArray
    pivot: FloatArray
    turns: FloatArray
    found: Any
    mechanism: Assembled = field(repr=False)

    def __repr__(self) -> str:
        return brief(self)

    @cached_property
    def condition(self) -> FloatArray:
        """The condition number of the Jacobian; NaN where there are no positions."""
        s = np.linalg.svd(self._jacobian(self.x), compute_uv=False)
        with np.errstate(divide="ignore"):
            return np.where(self.found, s[..., 0] / s[..., -1], np.nan)

    @cached_property
    def branch(self) -> Any:
        """On which side of a singular pose."""
        here, seed = (np.linalg.det(self._jacobian(x)) for x in (self.x, self.mechanism.seed))
        return np.where(self.found, np.sign(here) * np.sign(seed), 0).astype(int)

    def _jacobian(self, x: FloatArray) -> FloatArray:
        """The rows of the Jacobian that are independent of each other; zeros in place of what is not found."""
        rows = sorted(step.row for step in self.mechanism.plan.steps)
        return np.nan_to_num(self.mechanism.equations(x)[1][..., rows, :])


def positions_of(mechanism: Assembled, subject: str, value: Any, shape: str) -> FloatArray:
    """An array of positions of the tree."""
    array = real(subject, value, shape)
    if array.ndim == 0 or array.shape[-1] != mechanism.robot.n:
        raise ShapeError(
            f"{subject}: shape {array.shape} found, {shape} expected: the positions of all joints of the tree, in the order of "
            "mechanism.robot.joint_names."
        )
    return array


def assembled_at(
    mechanism: Assembled, kernel: Kernel, q: Any, start: FloatArray, *, continuous: bool, threads: int | None
) -> AssembledPositions:
    """The positions at q: all from one start, or along a path each from those before."""
    given = real("q", q, f"(..., {mechanism.n})")
    if given.ndim == 0 or given.shape[-1] != mechanism.n:
        raise ShapeError(f"q: shape {given.shape} found, (..., {mechanism.n}) expected.")
    if not continuous:
        return _report(mechanism, *kernel(given, start, threads=threads))
    if given.ndim < 2:
        raise ShapeError(f"q: shape {given.shape} found; a path has its points along the last axis but one: (..., K, n).")
    if not given.shape[-2]:
        return _report(mechanism, *kernel(given, start[..., None, :], threads=threads))
    xs, states = [], []
    for k in range(given.shape[-2]):
        x, state = kernel(given[..., k, :], start, threads=threads)
        found = (state[..., 2] < GIVEN_UP)[..., None]
        start = np.where(found, x, start)  # past a gap the last positions that were found are the nearest known
        xs.append(x)
        states.append(state)
    return _report(mechanism, np.stack(xs, axis=-2), np.stack(states, axis=-2))


def _report(mechanism: Assembled, x: FloatArray, state: FloatArray) -> AssembledPositions:
    return AssembledPositions(x, state[..., 0], state[..., 1], state[..., 2], state[..., 2] < GIVEN_UP, mechanism)


__all__ = ["AssembledPositions", "assembled_at", "positions_of"]
