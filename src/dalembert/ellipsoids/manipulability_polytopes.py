"""What a robot can do at its tool with each drive within limits of its own: the exact polytope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray, flag
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.functions import gravity_torque
from ..dynamics.system import AnySystem
from ..errors import InfeasibleError, ModelError, ShapeError, SingularError
from ..wording import listed
from .box_images import ConvexBody, cut_out, rank_of_columns, zonotope
from .drive_strength import drive_strength
from .ellipsoid_recipe import ELLIPSOID, FORCE
from .manipulability_functions import ellipsoid_options

MOST = 3


@dataclass(frozen=True, eq=False, repr=False)
class ManipulabilityPolytope:
    """{x: normals x ≤ offsets}: accelerations, velocities or forces that drives within their limits give; m directions.

    Attributes
    ----------
    vertices : ndarray, shape (k, m)
        Its corners; of a polygon in their order.
    faces : tuple of tuples of int
        For each face, its corners in their order.
    normals : ndarray, shape (f, m)
        Unit vectors, one for each face.
    offsets : ndarray, shape (f,)
        How far each face is from zero, in the direction of its normal.
    centre : ndarray, shape (m,)
        What gravity and velocities do by themselves.
    position : ndarray, shape (3,)
        Where the task is, in world axes [m].
    kind, directions, frame
        As in `Manipulability`.
    """

    vertices: FloatArray
    faces: tuple[tuple[int, ...], ...]
    normals: FloatArray
    offsets: FloatArray
    centre: FloatArray
    position: FloatArray
    kind: str
    directions: tuple[str, ...]
    frame: str = "world"

    def __repr__(self) -> str:
        return brief(self, "faces", "frame")

    @property
    def least(self) -> float:
        """What there is in every direction: the distance from zero to the nearest face, negative where zero is outside."""
        return float(self.offsets.min())

    @property
    def volume(self) -> float:
        """Length, area or volume."""
        middle = self.vertices.mean(axis=0)
        heights = self.offsets - self.normals @ middle
        return float(sum(h * _content(self.vertices[list(f)]) for h, f in zip(heights, self.faces, strict=True))) / len(middle)

    def contains(self, points: ArrayLike, *, tolerance: float = 1e-9) -> Any:
        """Whether points of shape (..., m) are inside; the tolerance is a share of its size."""
        given = real("points", points, f"(..., {len(self.directions)})")
        size = float(np.abs(self.vertices - self.vertices.mean(axis=0)).max())
        return (given @ self.normals.T <= self.offsets + tolerance * size).all(axis=-1)

    def reach(self, direction: ArrayLike) -> float:
        """How far it goes from zero in one direction; NaN where the direction misses it."""
        d = real("direction", direction, f"({len(self.directions)},)")
        slopes = self.normals @ (d / np.linalg.norm(d))
        with np.errstate(all="ignore"):
            ends = self.offsets / slopes
        far, near = np.min(ends[slopes > 1e-12]), np.max(ends[slopes < -1e-12], initial=0.0)
        return float(far) if far >= near else float("nan")


def _content(corners: FloatArray) -> float:
    """Of a face: 1 for a point, the length of an edge, the area of a polygon."""
    if len(corners) < 3:
        return 1.0 if len(corners) == 1 else float(np.linalg.norm(corners[1] - corners[0]))
    spokes = corners[1:] - corners[0]
    return float(np.linalg.norm(np.cross(spokes[:-1], spokes[1:]).sum(axis=0))) / 2.0


def manipulability_polytope(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    kind: str = "dynamic",
    strength: str | ArrayLike = "limits",
    link: str | None = None,
    point: ArrayLike | None = None,
    frame: str = "world",
    directions: Sequence[str] = ("x", "y", "z"),
    with_weight: bool = False,
) -> ManipulabilityPolytope:
    """The polytope of accelerations, velocities or forces that each drive within its own limits gives, with its exact vertices.

    `manipulability` has the ellipsoid inside of it, for a whole batch at once.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (n,)
        One configuration [rad | m].
    qd : array_like, shape (n,), optional
        Velocities, for kind='dynamic'; at rest if left out.
    kind : {'dynamic', 'velocity', 'force'}
        As in `manipulability`.
    strength : {'limits', 'unit'} or array_like, shape (n,)
        The largest torque (or velocity) of each joint: the limits of the model, one each, or numbers.
    link, point, frame
        As in `operational_space`.
    directions : sequence of str
        Up to three of 'x', 'y', 'z', or of 'rx', 'ry', 'rz'.
    with_weight : bool
        For kind='force': whether the drives carry the arm too, and only the rest is left for the force.

    Returns
    -------
    ManipulabilityPolytope

    Raises
    ------
    SingularError
        Where it is flat, or unbounded.
    InfeasibleError
        Where drives within their limits do not even carry the arm.

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.two_link_planar()
    >>> found = dal.manipulability_polytope(arm, [0.3, 0.9], strength=[800.0, 300.0], directions=("x", "y"))
    >>> found.vertices.shape, bool(found.contains(found.centre))
    ((4, 2), True)
    """
    options = ellipsoid_options(qd, kind, link, point, frame, directions)._replace(generators=True)
    if options.mixed or len(options.task.rows) > MOST:
        names = listed(options.task.names)
        raise ModelError(f"directions: {names} found; up to three of one unit expected for a polytope, such as ('x', 'y', 'z').")
    if flag("with_weight", with_weight) and kind != FORCE:
        raise ModelError(f"with_weight: True found for kind={kind!r}; only forces are held besides the weight.")
    weights = drive_strength(system, strength, kind)
    n = engine.size(system)
    at = _one("q", q, n)
    given = [at, *([] if qd is None else [_one("qd", qd, n)]), *([] if point is None else [_one("point", point, 3)])]
    G, centre, position = engine.kernel(system, ELLIPSOID, options)(*given, weights)
    _check_rank(system.name, kind, G, options.task.names)
    carried = gravity_torque(system, at) / weights if with_weight else np.zeros(len(weights))
    found = cut_out(G.T, -1.0 - carried, 1.0 - carried) if kind == FORCE else zonotope(G, centre)
    _check_not_empty(system, found, carried)
    return ManipulabilityPolytope(*found, centre, position, kind, options.task.names, frame)


def _one(subject: str, value: ArrayLike, size: int) -> FloatArray:
    """An array of one configuration."""
    found = real(subject, value, f"({size},)")
    if found.shape != (size,):
        raise ShapeError(f"{subject}: shape {found.shape} found, ({size},) expected: a polytope is of one configuration.")
    return found


def _check_rank(name: str, kind: str, G: FloatArray, directions: Sequence[str]) -> None:
    if rank_of_columns(G) == len(G):
        return
    lost = np.linalg.svd(G)[0][:, -1]
    words = " ".join(f"{x:+.2f} {d}" for x, d in zip(lost, directions, strict=True) if abs(x) > 0.1)
    what = "unbounded" if kind == FORCE else "flat"
    raise SingularError(
        f"manipulability_polytope: {name!r}: the task is singular, no joint moves it along {words}, and the polytope is {what} "
        "there. Leave that direction out, or move away from this pose."
    )


def _check_not_empty(system: AnySystem, found: ConvexBody, carried: FloatArray) -> None:
    if len(found.vertices):
        return
    k = int(np.argmax(np.abs(carried)))
    joint = engine.system_of(system).coordinates[k].name
    raise InfeasibleError(
        f"manipulability_polytope: {system.name!r} cannot hold itself here: joint {joint!r} needs {abs(carried[k]):.3g} times "
        "its limit against gravity. Raise the limit, or choose another pose."
    )


__all__ = ["ManipulabilityPolytope", "manipulability_polytope"]
