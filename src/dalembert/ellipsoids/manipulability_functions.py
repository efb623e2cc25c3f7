"""What a robot can do at its tool with drives of bounded strength, as an ellipsoid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray, choice, flag, instance, number
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.operational_result import applied
from ..dynamics.system import AnySystem
from ..dynamics.task_directions import task_directions
from ..errors import ModelError, ShapeError
from ..wording import listed
from .drive_strength import drive_strength
from .ellipsoid_recipe import DYNAMIC, ELLIPSOID, FORCE, OUTPUTS, VELOCITY, EllipsoidOptions

KINDS = {DYNAMIC: "accelerations", VELOCITY: "velocities", FORCE: "forces"}
UNITS = {DYNAMIC: ("m/s²", "rad/s²"), VELOCITY: ("m/s", "rad/s"), FORCE: ("N", "N m")}


@dataclass(frozen=True, eq=False, repr=False)
class Manipulability:
    """An ellipsoid {x: (x − c)ᵀ E⁻¹ (x − c) ≤ 1} of accelerations, velocities or forces; m directions.

    Attributes
    ----------
    matrix : ndarray, shape (..., m, m)
        E.
    centre : ndarray, shape (..., m)
        c: what gravity and velocities do by themselves.
    lengths : ndarray, shape (..., m)
        Of the half axes, the longest first.
    axes : ndarray, shape (..., m, m)
        Their directions, unit vectors as columns.
    measures : ndarray, shape (..., 3)
        `measure`, `isotropy` and `hold`.
    position : ndarray, shape (..., 3)
        Where the task is, in world axes [m].
    kind : {'dynamic', 'velocity', 'force'}
        What the ellipsoid is of.
    directions : tuple of str
        What its axes are.
    frame : {'world', 'body'}
        Whose axes the directions are.
    length : float or None
        By which angular directions were multiplied, where metres and radians meet.
    """

    matrix: FloatArray
    centre: FloatArray
    lengths: FloatArray
    axes: FloatArray
    measures: FloatArray
    position: FloatArray
    kind: str
    directions: tuple[str, ...]
    frame: str = "world"
    length: float | None = None

    def __repr__(self) -> str:
        return brief(self, "frame", "measures", *([] if self.length is not None else ["length"]))

    @property
    def measure(self) -> FloatArray:
        """The product of the lengths, proportional to the volume; shape (...)."""
        found: FloatArray = self.measures[..., 0]
        return found

    @property
    def isotropy(self) -> FloatArray:
        """The shortest half axis by the longest: 1 for a sphere, 0 where the task is singular; shape (...)."""
        found: FloatArray = self.measures[..., 1]
        return found

    @property
    def hold(self) -> FloatArray:
        """The share of the strength it takes to cancel the centre; above 1, the arm cannot stand still here; shape (...)."""
        found: FloatArray = self.measures[..., 2]
        return found

    @property
    def core(self) -> FloatArray:
        """E⁻¹, the core of the quadratic form [Siciliano, Eq. 7.148]; infinite or NaN where the task is singular."""
        with np.errstate(all="ignore"):
            scaled = self.axes / np.square(self.lengths)[..., None, :]
            found: FloatArray = scaled @ np.swapaxes(self.axes, -1, -2)
        return found

    def boundary(self, directions: ArrayLike) -> FloatArray:
        """Points of the surface, one for each unit vector of shape (k, m): shape (..., k, m)."""
        u = real("directions", directions, f"(k, {len(self.directions)})")
        spread = np.swapaxes(self.axes * self.lengths[..., None, :], -1, -2)
        found: FloatArray = self.centre[..., None, :] + u @ spread
        return found

    def reach(self, direction: ArrayLike) -> FloatArray:
        """How far the ellipsoid goes from zero in one direction: the most there is of it without any sideways.

        Parameters
        ----------
        direction : array_like, shape (..., m)
            Of any length.

        Returns
        -------
        ndarray, shape (...)
            NaN where the direction misses the ellipsoid.
        """
        d = real("direction", direction, f"(..., {len(self.directions)})")
        with np.errstate(all="ignore"):
            d = d / np.linalg.norm(d, axis=-1, keepdims=True)
            turned = np.swapaxes(self.axes, -1, -2)
            a, b = applied(turned, d) / self.lengths, applied(turned, self.centre) / self.lengths
            aa, ab, bb = (np.sum(x * y, axis=-1) for x, y in ((a, a), (a, b), (b, b)))
            found: FloatArray = (ab + np.sqrt(ab * ab - aa * (bb - 1.0))) / aa
        return found


def manipulability(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    kind: str = "dynamic",
    strength: str | ArrayLike = "unit",
    link: str | None = None,
    point: ArrayLike | None = None,
    frame: str = "world",
    directions: Sequence[str] = ("x", "y", "z"),
    length: float | None = None,
    least_norm: bool = False,
    out: Manipulability | None = None,
    threads: int | None = None,
) -> Manipulability:
    """The ellipsoid of accelerations, velocities or forces that drives of bounded strength give [Siciliano, Eq. 7.142 to 7.149].

    A batch of configurations, along a path or all over a workspace, is a map: one compiled kernel gives matrix, centre, axes
    and measures of every row.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    qd : array_like, shape (..., n), optional
        Velocities, which move the centre of the dynamic ellipsoid; at rest if left out.
    kind : {'dynamic', 'velocity', 'force'}
        Accelerations by torques; velocities by joint velocities; forces that torques hold, without weight.
    strength : {'unit', 'limits'} or array_like, shape (n,)
        The ellipsoid of joint torques (or velocities) has these half axes: one each; the limits of the model; or numbers.
    link, point, frame
        As in `operational_space`.
    directions : sequence of str
        One to six of 'x', 'y', 'z', 'rx', 'ry', 'rz'.
    length : float, optional
        Where metres and radians are among the directions: a length [m] by which angles are multiplied [m].
    least_norm : bool
        Of a redundant arm, only those torques that give accelerations of least norm, as in the book; all torques otherwise.
    out : Manipulability, optional
        An earlier result for as many rows, whose arrays are written over.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    Manipulability

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.two_link_planar()
    >>> found = dal.manipulability(arm, [[0.3, 0.9], [0.3, 1.5]], directions=("x", "y"))
    >>> found.lengths.shape, found.centre.shape
    ((2, 2), (2, 2))
    """
    options = ellipsoid_options(qd, kind, link, point, frame, directions, least_norm=least_norm)
    weights = drive_strength(system, strength, kind)
    size = _length(options, length)
    run = engine.kernel(system, ELLIPSOID, options)
    given = [q, *([] if qd is None else [qd]), *([] if point is None else [real("point", point, "(..., 3)")])]
    earlier = None if out is None else instance("out", out, Manipulability, "dal.manipulability(...)")
    places = None if earlier is None else tuple(getattr(earlier, name) for name in OUTPUTS)
    arrays = dict(zip(OUTPUTS, run(*given, weights, *([] if size is None else [size]), out=places, threads=threads), strict=True))
    return Manipulability(**arrays, kind=kind, directions=options.task.names, frame=frame, length=size)


def ellipsoid_options(
    qd: Any, kind: str, link: str | None, point: Any, frame: str, directions: Any, *, least_norm: bool = False
) -> EllipsoidOptions:
    """The options of a kernel, checked."""
    choice("kind", kind, KINDS)
    task = task_directions(link, frame, None, directions, with_point=point is not None)
    if qd is not None and kind != DYNAMIC:
        raise ShapeError(f"qd: velocities found, but the {kind} ellipsoid does not depend on them. Leave qd out.")
    if flag("least_norm", least_norm) and kind != DYNAMIC:
        raise ModelError(f"least_norm: True found for kind={kind!r}; accelerations are those of kind='dynamic'.")
    return EllipsoidOptions(task, kind, qd is not None, least_norm)


def _length(options: EllipsoidOptions, length: Any) -> float | None:
    if options.mixed == (length is not None):
        size = None if length is None else number("length", length)
        if size is not None and size <= 0.0:
            raise ModelError(f"length: {size:g} found; a length above zero [m] expected.")
        return size
    names = listed(options.task.names)
    if length is None:
        raise ModelError(f"directions: {names} found, in m and rad, which no ellipsoid compares. Give length= [m], or one kind.")
    raise ModelError(f"length: {length} found, but {names} have one unit. Leave it out.")


__all__ = ["KINDS", "UNITS", "Manipulability", "ellipsoid_options", "manipulability"]
