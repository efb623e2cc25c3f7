"""All joint positions of a pose, in closed form: the function users call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray, flag
from ..codegen import Kernel, build
from ..dynamics import engine
from ..dynamics.kinematics_functions import forward_kinematics
from ..dynamics.system import AnySystem, Request
from ..errors import ShapeError
from ..expr import trace
from ..spatial.vec3 import Vec3, mat3
from .arm_kinds import POSITION, ArmKind, arm_kind
from .closed_forms import Displacement
from .search_starts import ON_LIMIT, given_starts, range_of, turned_near
from .wanted_poses import FINE, directions_of, wanted_poses

_REACHED = 1e-6  # [m, and of a rotation matrix]: branches that miss the pose by more are none
_SAME = 1e-6  # [rad | m]: branches nearer to each other are one


@dataclass(frozen=True, eq=False, repr=False)
class Branches:
    """All joint positions of a pose, B places for each; those that lead nowhere are NaN.

    Attributes
    ----------
    q : ndarray, shape (..., B, n)
        Positions [rad | m].
    valid : ndarray of bool, shape (..., B)
        Which places hold a branch: one that reaches the pose, within limits if wanted, and is no repetition.
    kind : str
        The kind of arm whose closed form was taken.
    reaches : {'pose', 'position'}
        What of the wanted poses the arm can follow.
    """

    q: FloatArray
    valid: Any
    kind: str
    reaches: str

    def __repr__(self) -> str:
        return brief(self, most=int(np.max(self.count, initial=0)))

    @property
    def count(self) -> Any:
        """How many branches each pose has, shape (...)."""
        return np.count_nonzero(self.valid, axis=-1)

    def nearest(self, q: ArrayLike) -> FloatArray:
        """Of each pose the branch nearest to some positions, by the largest change of a joint; NaN where there is none."""
        far = np.abs(self.q - np.asarray(q, dtype=float)[..., None, :]).max(axis=-1)
        best = np.argmin(np.where(self.valid, far, np.inf), axis=-1)
        found: FloatArray = np.take_along_axis(self.q, best[..., None, None], axis=-2)[..., 0, :]
        return found


def inverse_branches(
    system: AnySystem,
    pose: ArrayLike,
    *,
    link: str | None = None,
    near: ArrayLike | None = None,
    limits: bool = True,
    threads: int | None = None,
) -> Branches:
    """All joint positions at which an arm has a wanted pose, in closed form, for arms of known kinds.

    Up to eight for six joints with a spherical wrist (whose shoulder may be offset, and whose third joint may slide) or with
    three parallel axes (2, 3, 4) as the UR arms have; four for the position of three joints; two for planar arms and SCARAs. The
    kind is seen from the axes of the model. `inverse_kinematics` serves every other arm, one solution for each start.

    Parameters
    ----------
    system : Robot
        An open chain of n joints.
    pose : array_like, shape (..., 4, 4)
        Wanted poses in the world. Rows that are not poses have no branches.
    link : str, optional
        A link's name; the tool if left out.
    near : array_like, shape (..., n), optional
        Of the turns by 2π that a joint may make, the ones nearest to these positions are taken; zero if left out.
    limits : bool
        Whether branches have to be within the joint limits, by whole turns if need be.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    Branches

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.ur5()
    >>> found = dal.inverse_branches(arm, dal.forward_kinematics(arm, [0.3, -1.0, 1.2, -0.4, 0.8, 0.2]))
    >>> found.q.shape, int(found.count), found.kind
    ((8, 6), 8, 'three parallel axes')
    """
    directions_of(link, "world", None)
    space = range_of(system, link, limits=flag("limits", limits))
    kind: ArmKind = engine.kept(system, Request("arm kind", (link,)), lambda: arm_kind(system, link))
    task = directions_of(link, "world", POSITION if kind.reaches == POSITION else None)
    poses = wanted_poses(pose, task)
    run = engine.kept(system, Request("inverse_branches", (link,)), lambda: _kernel(kind))
    start = np.zeros(space.box.n) if near is None else given_starts("near", near, space.box.n)
    rows = np.where((poses.kinds == FINE)[:, None, None], poses.rows, kind.home)
    q = np.asarray(run(rows, threads=threads)).reshape(*poses.batch, kind.branches, space.box.n)
    q = turned_near(system, q, _beside(start, poses.batch), space.lower, space.upper)
    valid = _reaching(system, link, q, rows.reshape(*poses.batch, 1, 4, 4), kind, threads) & (
        (poses.kinds == FINE).reshape(*poses.batch, 1)
    )
    valid &= np.all((q >= space.lower - ON_LIMIT) & (q <= space.upper + ON_LIMIT), axis=-1)
    valid &= ~_repeated(q, valid)
    return Branches(np.where(valid[..., None], q, np.nan), valid, kind.name, kind.reaches)


def _beside(start: FloatArray, batch: tuple[int, ...]) -> FloatArray:
    try:
        return np.broadcast_to(start, (*batch, start.shape[-1]))[..., None, :]
    except ValueError:
        raise ShapeError(f"near: shape {start.shape} found, which does not broadcast to poses of {batch}.") from None


def _kernel(kind: ArmKind) -> Kernel:
    """The closed form, compiled."""
    inverse_home = np.linalg.inv(kind.home)
    R_home, p_home = mat3(inverse_home[:3, :3].tolist()), Vec3(*inverse_home[:3, 3].tolist())

    def branches(X: Any) -> Any:
        R, p = mat3([row[:3] for row in X[:3]]), Vec3(*(row[3] for row in X[:3]))
        return kind.solve(Displacement(R.times(R_home), R @ p_home + p))  # Y = X M⁻¹

    return build(trace(branches, {"pose": (4, 4)}, ["q"], name="inverse_branches"))


def _reaching(system: AnySystem, link: str | None, q: FloatArray, wanted: FloatArray, kind: ArmKind, threads: int | None) -> Any:
    """Whether each branch has the pose, by forward kinematics: closed forms give the nearest angle where there is none."""
    off = np.abs(np.asarray(forward_kinematics(system, q, link, threads=threads)) - wanted)[..., :3, :]
    parts = off[..., 3] if kind.reaches == POSITION else off.reshape(*off.shape[:-2], 12)
    return np.max(parts, axis=-1) <= _REACHED


def _repeated(q: FloatArray, valid: Any) -> Any:
    """Branches that stand before among the valid ones: at singular positions two of them meet."""
    gap = np.abs(q[..., :, None, :] - q[..., None, :, :]).max(axis=-1) < _SAME
    earlier = np.tril(np.ones(gap.shape[-2:], dtype=bool), -1)
    return np.any(gap & earlier & valid[..., None, :], axis=-1)


__all__ = ["Branches", "inverse_branches"]
