"""Joint motions that take a tool along a path: inverse kinematics, continuous from the start on.

The rows of the task, x(q) = x_d(t), and, where the robot has more coordinates than those, joints that are held, determine q(t).
Its derivatives follow from those of the path, with the same matrix J each time [Siciliano, §3.7]:

    J q̇ = ẋ_d,    J q̈ = ẍ_d − J̇ q̇,    J q⃛ = x⃛_d − (2 J̇ q̈ + J̈ q̇)                                (1)

The terms on the right are the acceleration and the jerk of the tool without the highest derivative of q. The path is followed
from knot to knot: a Taylor step with (1), then Newton's method. Between knots, the polynomial of degree seven that has (1) at
both is so near that Newton's method takes a step or two. The motion is exact at every instant, not at knots alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..dynamics.engine import system_of
from ..dynamics.influence_functions import link_motion
from ..dynamics.kinematics_functions import forward_kinematics, jacobian
from ..dynamics.task_directions import TaskDirections, check_count, task_directions
from ..errors import DalembertWarning, InfeasibleError, ShapeError, SingularError, UnknownNameError, tell
from ..options import several_names
from . import motion_arguments as arguments
from .combined import Stacked
from .motion import Motion, Rates, merged
from .piecewise import hermite
from .tool_paths import ToolPath, ToolTrajectory

KNOTS = 65  # at least, over the path
SMALLEST_STEP = 1e-5  # share of the duration below which a step is no more halved
NEAR_SINGULAR = 1e-6  # least singular value of J over the largest
SINGULAR = 1e-11  # the same where nothing is left of 16 digits after two more derivatives
REACHED = 1e-10  # m or rad by which a tool may be off and the pose counts as reached
FARTHEST_STEP = 0.5  # rad or m that Newton's method may go at a knot: more is another branch


class PathTask(NamedTuple):
    """What determines q: rows of the tool's motion, and joints that are held."""

    system: Any
    directions: TaskDirections
    held: tuple[int, ...]
    home: FloatArray

    def matrix(self, q: FloatArray) -> FloatArray:
        """J of the rows, and of the joints that are held, shape (..., n, n)."""
        J = jacobian(self.system, q, self.directions.link)[..., self.directions.rows, :]
        rest = np.broadcast_to(np.eye(q.shape[-1])[list(self.held)], (*q.shape[:-1], len(self.held), q.shape[-1]))
        return np.concatenate([J, rest], axis=-2)

    def missing(self, q: FloatArray, X: FloatArray) -> FloatArray:
        """From where the tool is to where it should be, in world axes, shape (..., n)."""
        here = forward_kinematics(self.system, q, self.directions.link)
        turn = X[..., :3, :3] @ np.swapaxes(here[..., :3, :3], -1, -2)
        error = np.concatenate([X[..., :3, 3] - here[..., :3, 3], rotation_vector(turn)], axis=-1)
        held = list(self.held)
        return np.concatenate([error[..., self.directions.rows], self.home[held] - q[..., held]], axis=-1)

    def rates(self, q: FloatArray, path: ToolTrajectory) -> Rates:
        """q and its derivatives from those of the path. Equation (1)."""
        inverse, link = inverted(self.matrix(q)), self.directions.link
        qd = self._solved(inverse, path.twist)
        drift = link_motion(self.system, q, qd, 0 * qd, link=link).acceleration
        assert drift is not None
        qdd = self._solved(inverse, path.acceleration - drift)
        drift = link_motion(self.system, q, qd, qdd, qddd=0 * qd, link=link).jerk
        assert drift is not None
        return q, qd, qdd, self._solved(inverse, path.jerk - drift)

    def _solved(self, inverse: FloatArray, rates: FloatArray) -> FloatArray:
        """Joints that are held have no rates, so the first columns do."""
        rows = list(self.directions.rows)
        return np.einsum("...ij,...j->...i", inverse[..., : len(rows)], rates[..., rows])


def follow(
    robot: Any,
    path: ToolPath | Sequence[ToolPath],
    *,
    start: ArrayLike,
    link: str | None = None,
    directions: str | Sequence[str] | None = None,
    held: Sequence[str] | None = None,
) -> Motion:
    """The joint motion that takes the tool along a path, or a batch of them along several.

    Parameters
    ----------
    robot : Robot or System
        With n coordinates.
    path : ToolPath, or a sequence of b of them
        Poses of the tool over time.
    start : array_like, shape (n,), or (b, n) for a sequence of paths
        Where to begin, or near it: which branch of the inverse kinematics the motion is on. Newton's method takes it to the
        first pose. `dal.inverse_kinematics(robot, path.pose([0.0])[0]).q` finds one.
    link : str, optional
        A link's name, in place of the tool.
    directions : {'pose', 'position', 'orientation'} or sequence of str, optional
        Which of x, y, z, rx, ry, rz are followed, in world axes; all six where they are left out. A planar arm follows
        ("x", "y") or ("x", "y", "rz").
    held : sequence of str, optional
        Joints that keep their starting position, as many as there are coordinates beyond the directions; chosen by how much
        they take part in the self-motion where they are left out.

    Returns
    -------
    Motion
        Exact at every time, with derivatives to third order; for a sequence of paths of shape (b, n), NaN in rows whose path
        cannot be followed.

    Raises
    ------
    InfeasibleError
        Where the path leaves the reach of the robot; time, place and distance are named.
    SingularError
        Where the robot passes or starts in a singular position.

    Warns
    -----
    DalembertWarning
        With code 'path-failed', where some of several paths cannot be followed: how many, and why the first cannot.

    Examples
    --------
    >>> import dalembert as dal
    >>> import numpy as np
    >>> robot, q0 = dal.robots.two_link_planar(), [-0.5, 1.0]
    >>> X = dal.forward_kinematics(robot, q0)
    >>> there = X.copy()
    >>> there[0, 3] -= 0.5
    >>> motion = dal.trajectory.follow(robot, dal.trajectory.line(X, there, duration=1.0), start=q0, directions=("x", "y"))
    >>> (dal.forward_kinematics(robot, motion([0.5]).q)[0, :2, 3] - X[:2, 3]).round(12) + 0.0
    array([-0.25,  0.  ])
    """
    if isinstance(path, Sequence):
        return _each(robot, path, start, link=link, directions=directions, held=held)
    checks.instance("path", path, ToolPath, "dal.trajectory.line(start, end, duration=1.0)")
    task = _task(robot, start, link, directions, held)
    first = _first(task, path)
    knots, rates = _knots(task._replace(home=first), path, first)
    return Following(task._replace(home=first), path, knots, rates)


def _each(robot: Any, paths: Sequence[ToolPath], start: ArrayLike, **options: Any) -> Motion:
    """A batch of paths, each for itself; what cannot be followed is NaN, and told."""
    paths = checks.parts("path", paths, ToolPath)
    starts = arguments.finite("start", start)
    if not paths or starts.ndim not in (1, 2) or starts.shape[:-1] not in ((), (len(paths),)):
        raise ShapeError(f"path, start: {len(paths)} paths and shape {starts.shape} found; (n,) or ({len(paths)}, n) expected.")
    found: list[Motion] = []
    lost: list[str] = []
    for row, (path, begin) in enumerate(zip(paths, np.broadcast_to(starts, (len(paths), starts.shape[-1])), strict=True)):
        try:
            found.append(follow(robot, path, start=begin, **options))
        except (InfeasibleError, SingularError) as refused:
            lost.append(f"row {row}: {refused.sentence}")
            found.append(Lost(path.breaks, len(begin), refused.sentence))
    if lost:
        tell(
            DalembertWarning(f"{len(lost)} of {len(paths)} paths are not followed, NaN in their place; {lost[0]}", "path-failed")
        )
    return Stacked(found, (len(found),))


class Lost(Motion):
    """In place of a motion that is not there: NaN, and why."""

    def __init__(self, breaks: FloatArray, n: int, why: str) -> None:
        self.breaks, self.shape, self.about = checks.frozen(breaks), (n,), why

    def at(self, t: FloatArray) -> Rates:
        """NaN."""
        q, qd, qdd, qddd = np.full((4, len(t), self.n), np.nan)
        return q, qd, qdd, qddd


class Following(Motion):
    """The motion along a path, from knots at which it is known."""

    def __init__(self, task: PathTask, path: ToolPath, knots: FloatArray, rates: FloatArray) -> None:
        self.task, self.path, self.near = task, path, hermite(knots, rates)
        self.breaks, self.shape = checks.frozen(path.breaks), (rates.shape[-1],)
        self.about = f"{_named(task)} along a tool path"

    def at(self, t: FloatArray) -> Rates:
        """Newton's method from the polynomial near by, at all times at once; then equation (1)."""
        q, path = self.near.at(t)[0], self.path(t)
        for _ in range(8):
            missing = self.task.missing(q, path.pose)
            if not np.abs(missing).max(initial=0.0) > 1e-13:
                break
            q = q + np.einsum("...ij,...j->...i", inverted(self.task.matrix(q)), missing)
        off = np.abs(self.task.missing(q, path.pose)).max(axis=-1, initial=0.0)
        rates = self.task.rates(q, path)
        lost = ~(off <= REACHED) | ~np.isfinite(np.concatenate(rates, axis=-1)).all(axis=-1)
        if lost.any():
            k = int(np.argmax(lost))
            raise SingularError(
                f"path: at t = {t[k]:.6g} s, {_place(_sample(path, k))}, the robot is singular, and joints would jump. "
                "Move the path a little, or ask for other instants."
            )
        return rates


def inverted(J: FloatArray) -> FloatArray:
    """J⁻¹ of each; NaN where it is singular, or so near to it that no digit would be left of the joints' motion."""
    try:
        inverse = np.asarray(np.linalg.inv(J))
    except np.linalg.LinAlgError:
        inverse, good = np.full(J.shape, np.nan), np.linalg.cond(J) < 1 / SINGULAR
        inverse[good] = np.linalg.inv(J[good])
    size = np.linalg.norm(J, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
    return np.where((size < 1 / SINGULAR)[..., None, None], inverse, np.nan)


def _task(robot: Any, start: ArrayLike, link: str | None, directions: Any, held: Any) -> PathTask:
    system = system_of(robot)
    names = [axis.name for axis in system.coordinates]
    q = arguments.finite("start", start)
    if q.shape != (len(names),):
        raise ShapeError(f"start: shape {q.shape} found, ({len(names)},) expected: one position of each coordinate.")
    rows = task_directions(link, "world", None, directions)
    check_count(system.name, len(names), [rows])
    extra = len(names) - len(rows.rows)
    if held is None:
        return PathTask(robot, rows, _free_joints(robot, q, rows, extra), q)
    for name in (chosen := several_names("held", held, "names of joints")):
        if name not in names:
            raise UnknownNameError.among("held", name, names)
    if len(set(chosen)) != extra:
        raise ShapeError(
            f"held: {len(set(chosen))} joints found, {extra} expected: {len(names)} coordinates less {len(rows.rows)} directions."
        )
    return PathTask(robot, rows, tuple(names.index(name) for name in chosen), q)


def _free_joints(robot: Any, q: FloatArray, rows: TaskDirections, extra: int) -> tuple[int, ...]:
    """The joints that take part most in the self-motion, one after another."""
    if not extra:
        return ()
    from scipy.linalg import qr

    J = jacobian(robot, q, rows.link)[list(rows.rows)]
    self_motion = np.linalg.svd(J)[2][-extra:]
    _, _, order = qr(self_motion, mode="economic", pivoting=True)
    return tuple(sorted(int(k) for k in order[:extra]))


def _first(task: PathTask, path: ToolPath) -> FloatArray:
    """The start, taken to the first pose of the path."""
    begin = path([0.0])
    _refuse_singular(task, task.home, begin, "start")
    q, off = _newton(task, task.home, begin.pose[0], steps=50, longest=FARTHEST_STEP)
    if not off <= REACHED:
        raise InfeasibleError(
            f"start: the first pose of the path, at {_place(begin)}, is not reached from it, off by {off:.3g}. "
            "Give a start near that pose, or fewer directions."
        )
    _refuse_singular(task, q, begin, "start")
    return q


def _newton(task: PathTask, q: FloatArray, X: FloatArray, *, steps: int, longest: float) -> tuple[FloatArray, float]:
    """Newton's method with steps no longer than `longest`, and by how much it is off in the end."""
    off = np.inf
    for _ in range(steps):
        missing = task.missing(q, X)
        off = float(np.abs(missing).max())
        if not off > 1e-13:
            break
        step = np.linalg.lstsq(task.matrix(q), missing, rcond=1e-10)[0]
        q = q + step * min(1.0, longest / max(np.abs(step).max(), 1e-300))
        if np.abs(step).max() < 1e-15 * (1 + np.abs(q).max()):
            break
    return q, float(np.abs(task.missing(q, X)).max())


def _knots(task: PathTask, path: ToolPath, first: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Times and q, q̇, q̈, q⃛ at them, near enough to each other that Newton's method stays on the branch."""
    T = path.duration
    along = path(merged([path.breaks, np.linspace(0.0, T, KNOTS)]))
    times, found = [0.0], [_state(task, first, _sample(along, 0))]
    for k in range(1, len(along.t)):
        while times[-1] < along.t[k]:
            after = _sample(along, k)
            while (state := _step(task, times[-1], found[-1], after)) is None:
                step = (after.t[0] - times[-1]) / 2
                if step < SMALLEST_STEP * T:
                    _say_why(task, path, times[-1], found[-1][0])
                after = path([times[-1] + step])
            times.append(float(after.t[0]))
            found.append(state)
    return np.array(times), np.stack(found, axis=1)


def _sample(path: ToolTrajectory, k: int) -> ToolTrajectory:
    return ToolTrajectory(*(getattr(path, name)[k : k + 1] for name in ("t", "pose", "twist", "acceleration", "jerk")))


def _state(task: PathTask, q: FloatArray, at: ToolTrajectory) -> FloatArray:
    return np.stack(task.rates(q[None], at))[:, 0]


def _step(task: PathTask, t: float, state: FloatArray, after: ToolTrajectory) -> FloatArray | None:
    """The state some time later; None where the polynomial of the step was not near, or the pose is not reached."""
    q, qd, qdd, qddd = state
    h = after.t[0] - t
    guess = q + h * (qd + h * (qdd / 2 + h * qddd / 6))
    reached, off = _newton(task, guess, after.pose[0], steps=8, longest=FARTHEST_STEP)
    far = np.abs(reached - guess).max() > 0.02  # rad or m: beyond, the curve bends more than a polynomial follows
    if off > REACHED or far or _weakness(task, reached) < NEAR_SINGULAR:
        return None
    return _state(task, reached, after)


def _weakness(task: PathTask, q: FloatArray) -> float:
    values = np.linalg.svd(task.matrix(q), compute_uv=False)
    return float(values[-1] / max(values[0], 1e-9))  # the tool of a machine that does not move it has none


def _refuse_singular(task: PathTask, q: FloatArray, at: ToolTrajectory, subject: str) -> None:
    if not _weakness(task, q) > NEAR_SINGULAR:
        raise SingularError(
            f"{subject}: the robot is singular at {_place(at)}, so the motion of the tool does not determine that of the joints. "
            "Bend the arm a little, or follow fewer directions."
        )


def _say_why(task: PathTask, path: ToolPath, t: float, q: FloatArray) -> None:
    """Where the path cannot be followed: out of reach a little later, or singular here."""
    later = path([min(path.duration, t + 0.01 * path.duration)])
    _, off = _newton(task, q, later.pose[0], steps=100, longest=0.1)
    here = path([t])
    if off > 1e-8:
        raise InfeasibleError(
            f"path: out of reach after t = {t:.6g} s, at {_place(here)}; {later.t[0] - t:.3g} s later it is off by {off:.3g}. "
            "Move the path into reach, start on another branch, or follow fewer directions."
        )
    raise SingularError(
        f"path: at t = {t:.6g} s, {_place(here)}, the robot comes to a singular position, where joints would have to jump. "
        "Move the path a little, start on another branch, or follow fewer directions."
    )


def _place(at: ToolTrajectory) -> str:
    x, y, z = at.pose[0, :3, 3]
    return f"({x:.4g}, {y:.4g}, {z:.4g}) m"


def _named(task: PathTask) -> str:
    name = system_of(task.system).name
    held = [system_of(task.system).coordinates[k].name for k in task.held]
    return name + (f" with {', '.join(held)} held" if held else "")


def rotation_vector(R: FloatArray) -> FloatArray:
    """Axis times angle of rotation matrices, shape (..., 3); half a turn has one of its two axes."""
    skew = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine = np.linalg.norm(skew, axis=-1) / 2
    cosine = (np.trace(R, axis1=-2, axis2=-1) - 1) / 2
    angle = np.arctan2(sine, cosine)
    small = sine < 1e-7
    factor = np.where(small, 0.5, angle / np.where(small, 1.0, 2 * sine))
    vector = skew * factor[..., None]
    flip = small & (cosine < 0)
    if flip.any():
        square = (R + np.swapaxes(R, -1, -2)) / 2 + np.eye(3)  # 2 a aᵀ near half a turn
        column = np.take_along_axis(square, np.argmax(np.linalg.norm(square, axis=-2), axis=-1)[..., None, None], axis=-1)[..., 0]
        vector = np.where(flip[..., None], np.pi * column / np.linalg.norm(column, axis=-1, keepdims=True), vector)
    return vector
