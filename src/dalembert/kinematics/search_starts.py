"""Where a search starts: positions that users give, or random ones within the limits, with what a system solves for."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..analysis.workspace import Workspace
from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.kinematics_functions import forward_kinematics
from ..dynamics.system import AnySystem, Request, ranged_beside, solves
from ..errors import DalembertWarning, ModelError, ShapeError
from ..wording import shown

_PROBES = 64  # random positions from which the size of a robot is judged
ON_LIMIT = 1e-9  # [rad | m]: a position so much beyond a limit is on it
_SAME_POSE = 1e-9  # [m, and of a rotation matrix]
_INNER, _INNER_STARTS = 0.6, 15  # of each range, and for so many starts
_LENGTHS = 3.0  # half a turn of the tool counts as much as a way of the robot's reach


class Range(NamedTuple):
    """Where coordinates may be, where random starts are, the length by which a turn counts as a way [m], and the ranges (2, k) of
    joints beside the coordinates that have any.
    """

    lower: FloatArray
    upper: FloatArray
    box: Workspace
    length: float
    beside: FloatArray

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The lower and the upper ends, of coordinates and of joints beside them."""
        low, high = self.beside
        return np.append(self.lower, low), np.append(self.upper, high)

    def starts(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Random positions in the inner part of the limits, shape (count, n): from there, most searches are shorter."""
        return self._inner(rng.uniform(self.box.lower, self.box.upper, (count, self.box.n)))

    def restarts(self, rng: np.random.Generator, count: int) -> FloatArray:
        """The same for further starts; those after the first are anywhere within the limits, for poses that are hard to reach."""
        found = rng.uniform(self.box.lower, self.box.upper, (count, self.box.n))
        found[:_INNER_STARTS] = self._inner(found[:_INNER_STARTS])
        return found

    def _inner(self, q: FloatArray) -> FloatArray:
        return self.middle + _INNER * (q - self.middle)

    @property
    def middle(self) -> FloatArray:
        """The middle of where coordinates may start."""
        return (self.box.lower + self.box.upper) / 2

    def held(self, q: FloatArray) -> FloatArray:
        """Positions held to the limits."""
        return np.clip(q, self.lower, self.upper)


def range_of(system: AnySystem, link: str | None, *, limits: bool) -> Range:
    """The range of a system, looked at once; without limits, joints may go anywhere and still start within them."""

    def look() -> Range:
        box = Workspace.of(system)
        ends = [ends_of(c) if limits else (-np.inf, np.inf) for c in engine.system_of(system).coordinates]
        lower, upper = np.ascontiguousarray(np.array(ends, dtype=float).reshape(-1, 2).T)
        beside = [ends_of(axis) if limits else (-np.inf, np.inf) for _, axis in ranged_beside(engine.system_of(system))]
        return Range(lower, upper, box, _length(system, link, box), np.array(beside, dtype=float).reshape(-1, 2).T)

    return engine.kept(system, Request("search range", (link, limits)), look)


def ends_of(axis: Any) -> tuple[float, float]:
    """The range of a coordinate, or of a joint."""
    return axis.limits.lower, axis.limits.upper


def _length(system: AnySystem, link: str | None, box: Workspace) -> float:
    """A third of how far the frame gets from the middle of its places; one metre where it stays."""
    q = np.random.default_rng(0).uniform(box.lower, box.upper, (_PROBES, box.n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        p = np.asarray(forward_kinematics(system, q, link))[:, :3, 3]
    p = p[np.isfinite(p).all(axis=1)]
    reach = float(np.linalg.norm(p - p.mean(axis=0), axis=1).max()) if len(p) else 0.0
    return reach / _LENGTHS if reach > 1e-9 else 1.0


def given_starts(subject: str, q0: Any, n: int) -> FloatArray:
    """Positions that users give, checked."""
    if isinstance(q0, str):
        raise ModelError(f"{subject}: {shown(q0)} found; positions of shape (..., {n}) expected. Leave it out if none are known.")
    found = real(subject, q0, f"(..., {n})")
    if found.ndim == 0 or found.shape[-1] != n:
        raise ShapeError(f"{subject}: shape {found.shape} found, (..., {n}) expected.")
    if not np.isfinite(found).all():
        raise ModelError(f"{subject}: NaN or infinity found; finite positions are expected.")
    return found


def turned_near(system: AnySystem, q: FloatArray, near: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Whole turns added to angles: as near as possible to some positions, within limits where there is room."""
    turn = np.where([c.turns for c in engine.system_of(system).coordinates], 2.0 * np.pi, np.inf)
    with np.errstate(invalid="ignore"):
        whole = np.where(np.isfinite(turn), turn, 0.0)
        q = q + whole * np.round((near - q) / turn)
        q = np.where(q > upper + ON_LIMIT, q - whole * np.ceil((q - upper - ON_LIMIT) / turn), q)
        q = np.where(q < lower - ON_LIMIT, q + whole * np.ceil((lower - ON_LIMIT - q) / turn), q)
    return q


def nearer_turns(system: AnySystem, link: str | None, q: FloatArray, near: FloatArray, space: Range) -> FloatArray:
    """Solutions with whole turns added that bring them nearer, where the pose stays: not so of joints that others follow."""
    turned = turned_near(system, q, near, space.lower, space.upper)
    moved = np.flatnonzero(np.any(turned != q, axis=1) & np.all((turned >= space.lower) & (turned <= space.upper), axis=1))
    if len(moved):
        gap = np.asarray(forward_kinematics(system, turned[moved], link)) - np.asarray(forward_kinematics(system, q[moved], link))
        same = moved[np.abs(gap).max(axis=(1, 2)) < _SAME_POSE]
        q = q.copy()
        q[same] = turned[same]
    return q


def with_solved(system: AnySystem, q: FloatArray) -> FloatArray:
    """Starts of shape (N, n), with the positions of the tree behind them where a system solves for these."""
    view = engine.system_of(system)
    if not solves(view):
        return q
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # a start without positions is given up at once
        x = np.broadcast_to(view.positions_at(q), (len(q), sum(shape[0] for shape in view.solved.values())))
    return np.concatenate([q, x], axis=1)


__all__ = ["ON_LIMIT", "Range", "given_starts", "nearer_turns", "range_of", "turned_near", "with_solved"]
