"""Paths of a tool: position and orientation over time, with twist, acceleration and jerk in world axes.

A path has two motions: p(t) of three coordinates, and a quaternion Q(t) of four that need not be of unit length, since
R(Q) = R(Q/|Q|). A spline through quaternions is then as smooth as any spline, and does not depend on the choice of frames, for
turning all quaternions by one is linear. With * the conjugate, N = |Q|² and A = 2 Im(Q̇ Q*) = N ω, the rotation moves with

    N ω = A,    N ω̇ = Ȧ − Ṅ ω,    N ω̈ = Ä − 2 Ṅ ω̇ − N̈ ω,                                        (1)
    Ȧ = 2 Im(Q̈ Q*),    Ä = 2 Im(Q⃛ Q* + Q̈ Q̇*),    Ṅ = 2 Q·Q̇,    N̈ = 2 (Q̇·Q̇ + Q·Q̈).             (2)

Between two orientations the quaternion turns at a constant rate about a fixed axis [Shoemake1985].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .combined import Faded
from .fourier_series import Fourier
from .motion import Motion, Rates, merged
from .polynomials import quintic
from .splines import spline


@dataclass(frozen=True, eq=False)
class ToolTrajectory:
    """Samples of a tool path: times t, shape (k,), poses X (k, 4, 4), and [v; ω] with its rates, (k, 6), in world axes.

    At one instant there is no axis k.
    """

    t: FloatArray
    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    jerk: FloatArray

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class ToolPath:
    """Position and orientation of a tool for 0 ≤ t ≤ T, with exact derivatives to third order.

    `position` is a motion of three coordinates [m], `orientation` one of a quaternion (w, x, y, z) of any length. The functions
    `line`, `circle` and `through_poses` make paths; `follow` finds the joint motion.

    Examples
    --------
    >>> import dalembert as dal
    >>> import numpy as np
    >>> path = dal.trajectory.line(np.eye(4), [[1, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0.4], [0, 0, 0, 1]], duration=2.0)
    >>> path.pose([1.0])[0, :3, 3]
    array([0.15, 0.  , 0.2 ])
    """

    position: Motion
    orientation: Motion

    @property
    def duration(self) -> float:
        """T [s]."""
        return self.position.duration

    @property
    def breaks(self) -> FloatArray:
        """Times at which a derivative may jump."""
        return merged([self.position.breaks, self.orientation.breaks])

    def __repr__(self) -> str:
        return f"ToolPath(duration={self.duration:.6g}, pieces={len(self.breaks) - 1})"

    def __call__(self, t: ArrayLike) -> ToolTrajectory:
        """The path at times t [s], shape (k,), or at one."""
        p, Q = self.position(t), self.orientation(t)
        X = np.zeros((*p.t.shape, 4, 4))
        X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = rotation_of(Q.q), p.q, 1.0
        w, wd, wdd = angular_rates(Q.q, Q.qd, Q.qdd, Q.qddd)
        pairs = ((p.qd, w), (p.qdd, wd), (p.qddd, wdd))
        return ToolTrajectory(p.t, X, *(np.concatenate(pair, axis=-1) for pair in pairs))

    def sample(self, *, dt: float | None = None, count: int | None = None) -> ToolTrajectory:
        """The path at every multiple of dt [s] and at its end, or at `count` times evenly."""
        return self(self.position.sample(dt=dt, count=count).t)

    def pose(self, t: ArrayLike) -> FloatArray:
        """X at times t, shape (k, 4, 4)."""
        return self(t).pose

    def twist(self, t: ArrayLike) -> FloatArray:
        """[v; ω] at times t, shape (k, 6), in world axes [m/s, rad/s]."""
        return self(t).twist

    def acceleration(self, t: ArrayLike) -> FloatArray:
        """[v̇; ω̇] at times t, shape (k, 6), in world axes."""
        return self(t).acceleration

    def timed(self, timing: Motion) -> ToolPath:
        """The path run through as s(t) says, a motion of one coordinate from 0 to this path's duration."""
        return ToolPath(self.position.timed(timing), self.orientation.timed(timing))

    def stretched(self, factor: float) -> ToolPath:
        """The same path in `factor` times the time."""
        return ToolPath(self.position.stretched(factor), self.orientation.stretched(factor))

    def reversed(self) -> ToolPath:
        """The same path backwards."""
        return ToolPath(self.position.reversed(), self.orientation.reversed())

    def _after(self, other: ToolPath) -> ToolPath:
        """Another path, its quaternion with the sign that is nearer to the end of this one."""
        checks.instance("then", other, ToolPath, "dal.trajectory.line(start, end, duration=1.0)")
        near = _at_end(self.orientation) @ _at_start(other.orientation)
        return other if near >= 0 else ToolPath(other.position, _Negated(other.orientation))

    def faded(self, other: ToolPath, *, overlap: float) -> ToolPath:
        """A path that fades into another while both run for `overlap` [s], so that the corner between them is rounded."""
        other = self._after(other)
        return ToolPath(Faded(self.position, other.position, overlap), Faded(self.orientation, other.orientation, overlap))

    def then(self, *others: ToolPath) -> ToolPath:
        """A path of this one and others after it, each beginning where the one before ends."""
        paths = [self]
        for other in others:
            paths.append(paths[-1]._after(other))
        return ToolPath(
            self.position.then(*(path.position for path in paths[1:])),
            self.orientation.then(*(path.orientation for path in paths[1:])),
        )


def line(start: ArrayLike, end: ArrayLike, *, duration: float | None = None, timing: Motion | None = None) -> ToolPath:
    """The straight line between two poses, turning about one fixed axis on the way.

    Parameters
    ----------
    start, end : array_like, shape (4, 4)
        Poses of the tool in the world.
    duration : float, optional
        T [s], run through by a quintic polynomial from rest to rest.
    timing : Motion, optional
        In its place, the share s(t) of the way, from 0 to 1: a motion of one coordinate.

    Returns
    -------
    ToolPath

    Examples
    --------
    >>> import dalembert as dal
    >>> import numpy as np
    >>> there = np.eye(4)
    >>> there[:3, 3] = 1.0, 2.0, 2.0
    >>> s = dal.trajectory.trapezoidal([0.0], [1.0], duration=3.0, acceleration_time=1.0)
    >>> path = dal.trajectory.line(np.eye(4), there, timing=s)
    >>> path.twist([1.5])[0, :3]
    array([0.5, 1. , 1. ])
    """
    X0, X1 = pose("start", start), pose("end", end)
    way = _share_of_way(duration, timing)
    position = spline(np.stack([X0[:3, 3], X1[:3, 3]]), [0.0, 1.0], ends="natural")
    turning = slerp(quaternion_of(X0[:3, :3]), quaternion_of(X1[:3, :3]))
    return ToolPath(position, turning).timed(way)


def circle(
    start: ArrayLike,
    centre: ArrayLike,
    *,
    axis: ArrayLike,
    angle: float = 2 * np.pi,
    turning: bool = False,
    duration: float | None = None,
    timing: Motion | None = None,
) -> ToolPath:
    """The arc of a circle from a pose about an axis; the tool keeps its orientation, or turns with the circle.

    Parameters
    ----------
    start : array_like, shape (4, 4)
        Pose in which the tool begins.
    centre : array_like, shape (3,)
        A point of the axis [m].
    axis : array_like, shape (3,)
        Direction of the axis; the tool moves about it by the rule of the right hand.
    angle : float
        Of the arc [rad]; the whole circle where it is left out.
    turning : bool
        Turn the tool with the circle.
    duration, timing
        As in `line`.

    Returns
    -------
    ToolPath

    Examples
    --------
    >>> import dalembert as dal
    >>> import numpy as np
    >>> path = dal.trajectory.circle(np.eye(4), [0.0, 0.5, 0.0], axis=[0, 0, 1], angle=np.pi, duration=2.0)
    >>> path.pose([2.0])[0, :3, 3].round(12)
    array([0., 1., 0.])
    """
    X, c, k = pose("start", start), _three("centre", centre), _three("axis", axis)
    phi = float(arguments.like("angle", angle, ()))
    if not np.linalg.norm(k) > 1e-12 or phi == 0:
        raise ShapeError(f"axis, angle: {checks.describe(k)}, {phi:g} found; both need to be other than zero.")
    k = k / np.linalg.norm(k)
    r = X[:3, 3] - c
    along = (r @ k) * k
    if not checks.flag("turning", turning) and not np.linalg.norm(r - along) > 1e-12 * (1.0 + np.linalg.norm(c)):
        raise ShapeError(
            f"centre: {checks.describe(c)} found, but the tool begins on this axis, so that the circle has no radius and nothing "
            "moves. Give another centre, or turning=True to turn in place."
        )
    frequency = abs(phi) / (2 * np.pi)
    a, b = np.sign(phi) * np.cross(k, r)[None], (r - along)[None]
    position = Fourier(a, b, c + along, frequency, 1.0)
    Q = quaternion_of(X[:3, :3])
    turned = _turning(Q, k, phi) if turning else slerp(Q, Q)
    path = ToolPath(position, turned)
    return path.timed(_share_of_way(duration, timing))


def through_poses(poses: ArrayLike, times: ArrayLike, *, kind: str = "quintic", ends: str = "rest") -> ToolPath:
    """The spline through poses at given times, of positions and of quaternions.

    Parameters
    ----------
    poses : array_like, shape (k, 4, 4)
        Two or more; neighbours turn by less than half a turn.
    times : array_like, shape (k,)
        When each is passed [s], increasing.
    kind, ends
        As in `spline`.

    Returns
    -------
    ToolPath

    Examples
    --------
    >>> import dalembert as dal
    >>> import numpy as np
    >>> poses = np.tile(np.eye(4), (3, 1, 1))
    >>> poses[:, 0, 3] = 0.0, 0.2, 0.5
    >>> dal.trajectory.through_poses(poses, [0.0, 1.0, 2.0]).pose([1.0])[0, 0, 3]
    np.float64(0.2)
    """
    found = arguments.finite("poses", poses)
    if found.ndim != 3 or found.shape[1:] != (4, 4) or len(found) < 2:
        raise ShapeError(f"poses: shape {found.shape} found, (k, 4, 4) expected: two or more homogeneous matrices.")
    Q = [quaternion_of(pose(f"pose {number + 1}", X)[:3, :3]) for number, X in enumerate(found)]
    for k in range(1, len(Q)):
        near = float(Q[k - 1] @ Q[k])
        if abs(near) < 0.1:  # beyond 168 degrees the way round is a matter of digits, and the spline passes near zero
            turn = np.degrees(2 * np.arccos(min(1.0, abs(near))))
            raise ShapeError(f"poses: {turn:.0f} degrees found between poses {k} and {k + 1}; which way round? Put one between.")
        Q[k] = Q[k] if near > 0 else -Q[k]
    orientation = spline(np.stack(Q), times, kind=kind, ends=ends)
    return ToolPath(spline(found[:, :3, 3], times, kind=kind, ends=ends), orientation)


def pose(subject: str, value: ArrayLike) -> FloatArray:
    """A homogeneous matrix whose rotation is one."""
    X = arguments.finite(subject, value)
    if X.shape != (4, 4):
        raise ShapeError(f"{subject}: shape {X.shape} found, (4, 4) expected: a homogeneous matrix.")
    R = X[:3, :3]
    wrong = max(np.abs(R @ R.T - np.eye(3)).max(), np.abs(X[3] - [0, 0, 0, 1]).max(), 0.0 if np.linalg.det(R) > 0 else 1.0)
    if wrong > 1e-6:
        raise ShapeError(
            f"{subject}: not a pose, off by {wrong:.2g}; a rotation matrix, a position, a last row 0 0 0 1 expected."
        )
    return X


def slerp(Q0: FloatArray, Q1: FloatArray) -> Motion:
    """From one unit quaternion to another, or its negative, the shorter way: Q0 cos φ + P sin φ, φ = s θ/2."""
    Q1 = Q1 if Q0 @ Q1 >= 0 else -Q1
    across = Q1 - (Q0 @ Q1) * Q0
    sine = np.linalg.norm(across)
    if sine < 1e-15:
        return spline(np.stack([Q0, Q0]), [0.0, 1.0], ends="natural")
    half = float(np.arctan2(sine, Q0 @ Q1))
    return Fourier((across / sine)[None], Q0[None], np.zeros(4), half / (2 * np.pi), 1.0)


def _turning(Q: FloatArray, k: FloatArray, phi: float) -> Motion:
    across = product(np.append(0.0, np.sign(phi) * k), Q)
    return Fourier(across[None], Q[None], np.zeros(4), abs(phi) / (4 * np.pi), 1.0)


def _share_of_way(duration: float | None, timing: Motion | None) -> Motion:
    if (duration is None) == (timing is None):
        raise ShapeError("duration, timing: one of the two is expected, the time of the path or a motion s(t) from 0 to 1.")
    if timing is None:
        return quintic([0.0], [1.0], duration=arguments.positive("duration", duration))
    return checks.instance("timing", timing, Motion, "dal.trajectory.quintic([0.0], [1.0], duration=2.0)")


def _three(subject: str, value: ArrayLike) -> FloatArray:
    found = arguments.finite(subject, value)
    if found.shape != (3,):
        raise ShapeError(f"{subject}: shape {found.shape} found, (3,) expected: x, y, z.")
    return found


def _at_end(motion: Motion) -> FloatArray:
    return motion.at(np.array([motion.duration]))[0][0]


def _at_start(motion: Motion) -> FloatArray:
    return motion.at(np.zeros(1))[0][0]


class _Negated(Motion):
    """A quaternion with the other sign: the same rotation."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.breaks, self.shape, self.about = motion, motion.breaks, motion.shape, motion.about

    def at(self, t: FloatArray) -> Rates:
        """All with the other sign."""
        q, qd, qdd, qddd = self.motion.at(t)
        return -q, -qd, -qdd, -qddd


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A B of quaternions (w, x, y, z), shape (..., 4)."""
    a, u, b, v = A[..., :1], A[..., 1:], B[..., :1], B[..., 1:]
    return np.concatenate([a * b - (u * v).sum(-1, keepdims=True), a * v + b * u + np.cross(u, v)], axis=-1)


def _imaginary(A: FloatArray, B: FloatArray) -> FloatArray:
    """2 Im(A B*)."""
    return 2 * product(A, B * np.array([1.0, -1.0, -1.0, -1.0]))[..., 1:]


def angular_rates(Q: FloatArray, Qd: FloatArray, Qdd: FloatArray, Qddd: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ω, ω̇, ω̈ in world axes of a quaternion of any length. Equations (1), (2)."""
    N, Nd = (Q * Q).sum(-1, keepdims=True), 2 * (Q * Qd).sum(-1, keepdims=True)
    Ndd = 2 * (Qd * Qd + Q * Qdd).sum(-1, keepdims=True)
    w = _imaginary(Qd, Q) / N
    wd = (_imaginary(Qdd, Q) - Nd * w) / N
    return w, wd, (_imaginary(Qddd, Q) + _imaginary(Qdd, Qd) - 2 * Nd * wd - Ndd * w) / N


def rotation_of(Q: FloatArray) -> FloatArray:
    """Rotation matrices of quaternions (w, x, y, z) of any length, shape (..., 3, 3)."""
    w, x, y, z = np.moveaxis(Q / np.linalg.norm(Q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_of(R: FloatArray) -> FloatArray:
    """The unit quaternion (w, x, y, z) of a rotation matrix, from the largest of its four squares, so that no digit is lost."""
    squares = np.array([1 + np.trace(R), *(1 + 2 * R[i, i] - np.trace(R) for i in range(3))])
    sums = np.array(
        [
            [squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], squares[1], R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], squares[2], R[2, 1] + R[1, 2]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2], squares[3]],
        ]
    )  # 4 Q_i Q_j
    row = sums[int(np.argmax(squares))]
    return np.asarray(row / np.linalg.norm(row))
