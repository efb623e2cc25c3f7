"""Joint positions for wanted poses, by a compiled search: the function users call, and how rows are shared among lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray, flag, number, whole_number
from ..codegen import thread_count
from ..codegen.time_loop import TimeLoopKernel
from ..dynamics import engine
from ..dynamics.kinematics_functions import forward_kinematics
from ..dynamics.system import AnySystem, Request
from ..dynamics.task_directions import TaskDirections
from ..errors import DalembertWarning, ModelError, ShapeError, tell
from ..model import Robot
from ..options import generator
from . import search_program
from .inverse_result import JUMPED, NOT_A_POSE, NOT_REACHED, REACHED, InverseKinematics, summary
from .search_starts import Range, given_starts, nearer_turns, range_of, with_solved
from .second_goals import SecondGoal, check_secondary, improved
from .wanted_poses import FINE, WantedPoses, directions_of, wanted_poses

CODE = "pose-not-reached"
_MOST_ATTEMPTS = 100_000
_MOST_SEEDS = 10_000
_LONGEST_QUEUE = 1024  # poses of a lane in one call: more would keep Ctrl-C waiting
_TURNS_PER_POSE = 30  # roughly, to tell how long a call takes


class _Ask(NamedTuple):
    """What is asked for, checked."""

    task: TaskDirections
    space: Range
    tolerance: tuple[float, float]
    attempts: int
    rng: np.random.Generator | None
    restarts: FloatArray
    threads: int | None

    def starts(self, count: int) -> FloatArray:
        """Random first starts, shape (count, n)."""
        return self.space.starts(np.random.default_rng(1) if self.rng is None else self.rng, count)


def inverse_kinematics(
    system: AnySystem,
    pose: ArrayLike,
    *,
    q0: ArrayLike | None = None,
    link: str | None = None,
    frame: str = "world",
    directions: str | Sequence[str] | None = None,
    limits: bool = True,
    secondary: str | None = None,
    seeds: int = 1,
    continuous: bool = False,
    jump: float | None = None,
    tolerance: float | Sequence[float] = 1e-5,
    attempts: int = 200,
    length: float | None = None,
    rng: np.random.Generator | None = None,
    threads: int | None = None,
) -> InverseKinematics:
    """Joint positions at which the tool, or a link, has a wanted pose: the inverse of `forward_kinematics`.

    Damped Newton steps from one start after another, within the joint limits, all in one compiled kernel with a SIMD lane for
    each pose: [theory: inverse_kinematics]. A row of the result depends on nothing but its own pose and starts, to the bit,
    for any number of threads.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    pose : array_like, shape (..., 4, 4)
        Wanted poses in the world, as `forward_kinematics` gives them; or points of shape (..., 3) where only positions are
        asked for. Rows of a batch that are not poses fail by themselves; a single one is refused.
    q0 : array_like, shape (..., n), optional
        Where to start; solutions near it are likely. Random starts if left out.
    link : str, optional
        A link's name; the tool if left out.
    frame : {'world', 'body'}
        Whose axes the directions are: the world's, or those of the wanted pose.
    directions : {'pose', 'position', 'orientation'} or sequence of str, optional
        Which of 'x', 'y', 'z', 'rx', 'ry', 'rz' matter; all if left out. The others are free: without 'rz' in the frame 'body',
        the tool may turn about its own axis z.
    limits : bool
        Whether joints stay within their limits, those within loops of a mechanism too.
    secondary : {'near', 'limits', 'manipulability'}, optional
        What a redundant arm does with its freedom, once a pose is reached: stay as near to `q0` as the pose allows, stay away
        from the limits, or have the largest manipulability.
    seeds : int
        How many solutions to look for, each from starts of its own; the best is returned: by the second goal, or the one
        nearest to `q0`, or to the middle of the limits.
    continuous : bool
        The rows along the last leading axis are a path, each of which starts at the solution before. A row that needs a jump
        fails, and the path goes on from the row before.
    jump : float, optional
        With `continuous`: how far a joint may move from row to row [rad | m]; 0.5 if left out.
    tolerance : float or two of them
        For the position [m] and the rotation [rad].
    attempts : int
        How many starts to try for each pose, the first included.
    length : float, optional
        How many metres count as much as a radian where not all of a pose can be reached; a third of the reach if left out.
    rng : numpy.random.Generator, optional
        Where random starts come from; the same ones each time if left out.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    InverseKinematics
        With q, success, the poses reached and what they lack, and a sentence for each row that failed.

    Warns
    -----
    DalembertWarning
        With code 'pose-not-reached', if any pose was not.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> arm = dal.robots.panda()
    >>> wanted = dal.forward_kinematics(arm, [0.1, -0.4, 0.2, -2.0, 0.3, 1.8, 0.5])
    >>> found = dal.inverse_kinematics(arm, wanted)
    >>> bool(found.success), bool(np.allclose(found.pose, wanted, atol=1e-4))
    (True, True)
    """
    task = directions_of(link, frame, directions)
    engine.size(system)
    poses = wanted_poses(pose, task)
    space = range_of(system, link, limits=flag("limits", limits))
    if length is not None:
        space = space._replace(length=_positive("length", length))
    count = whole_number("attempts", attempts, 1, _MOST_ATTEMPTS)
    restarts = _restarts(system, link, space, count, rng)  # drawn first: a row's do not depend on how many rows there are
    ask = _Ask(task, space, _tolerances(tolerance), count, rng, restarts, threads)
    check_secondary(secondary, q0, task, engine.size(system), continuous=flag("continuous", continuous))
    many = whole_number("seeds", seeds, 1, _MOST_SEEDS)
    if continuous:
        if many > 1:
            raise ModelError("seeds: several found with continuous=True, where a row starts at the one before. Leave it out.")
        found = _along_paths(system, poses, q0, ask, 0.5 if jump is None else _positive("jump", jump), limits)
    else:
        if jump is not None:
            raise ModelError("jump: found without continuous=True, where rows have nothing to do with each other. Leave it out.")
        found = _row_by_row(system, poses, q0, ask, limits, SecondGoal(secondary, many))
    if not np.all(found.success):
        tell(DalembertWarning(f"inverse_kinematics: {summary(found)}", CODE))
    return found


def _restarts(system: AnySystem, link: str | None, space: Range, count: int, rng: Any) -> FloatArray:
    """Further starts that all poses share, with what is solved for there; the same ones each time are kept."""
    if rng is not None:
        return with_solved(system, space.restarts(generator(rng), count + 1))

    def draw() -> FloatArray:
        return with_solved(system, space.restarts(generator(None), count + 1))

    return engine.kept(system, Request("search restarts", (link, count)), draw)


def _positive(subject: str, value: Any) -> float:
    found = number(subject, value)
    if found <= 0.0:
        raise ModelError(f"{subject}: {found:g} found; a number above zero is expected.")
    return found


def _tolerances(tolerance: Any) -> tuple[float, float]:
    if isinstance(tolerance, list | tuple) or (isinstance(tolerance, np.ndarray) and tolerance.ndim):
        if len(tolerance) != 2:
            raise ShapeError(f"tolerance: {len(tolerance)} numbers found; one, or one for metres and one for radians expected.")
        return _positive("tolerance", tolerance[0]), _positive("tolerance", tolerance[1])
    found = _positive("tolerance", tolerance)
    return found, found


def _row_by_row(system: AnySystem, poses: WantedPoses, q0: Any, ask: _Ask, limits: bool, choice: SecondGoal) -> InverseKinematics:
    """Each pose by itself."""
    n, batch = ask.space.box.n, poses.batch
    rows, kinds = poses.rows, poses.kinds
    if q0 is None:
        starts = ask.starts(len(rows))
    else:
        given = ask.space.held(given_starts("q0", q0, n))
        batch = _together(batch, given.shape[:-1])
        starts = np.ascontiguousarray(np.broadcast_to(given, (*batch, n))).reshape(-1, n)
        if batch != poses.batch:
            rows = np.ascontiguousarray(np.broadcast_to(rows.reshape(*poses.batch, 4, 4), (*batch, 4, 4))).reshape(-1, 4, 4)
            kinds = np.broadcast_to(kinds.reshape(poses.batch), batch).reshape(-1)
    good = kinds == FINE
    whole = bool(good.all())
    its_rows, its_starts = (rows, starts) if whole else (rows[good], starts[good])
    q, state = _chosen(system, its_rows, its_starts, ask, choice, given=q0 is not None)
    if not whole:
        q, state = _spread(q, good, np.nan), _spread(state, good, 0.0)
    return _result(system, batch, kinds, q, state, ask, limits)


def _chosen(
    system: AnySystem, rows: FloatArray, starts: FloatArray, ask: _Ask, choice: SecondGoal, *, given: bool
) -> tuple[FloatArray, FloatArray]:
    """One solution for each pose: the first, or the best of several, moved towards a second goal if there is one."""
    if choice.secondary is None and choice.seeds == 1:
        return _searched(system, rows, starts, ask, patient=given)
    N, n, K = len(rows), starts.shape[1], choice.seeds
    others = ask.starts(N * (K - 1)).reshape(K - 1, N, n)
    first = np.concatenate([starts[None], others]).reshape(K * N, n)
    goals = np.tile(starts if given else np.broadcast_to(ask.space.middle, (N, n)), (K, 1))
    every = np.tile(rows, (K, 1, 1))
    q, state = _searched(system, every, first, ask, patient=given)
    q = nearer_turns(system, ask.task.link, q, goals, ask.space) if isinstance(system, Robot) else q
    value = improved(system, ask.task, ask.space, ask.tolerance, choice.secondary, every, goals, q, state, ask.threads)
    best = np.argmin(np.where(state[:, 0] > 0.5, value, np.inf).reshape(K, N), axis=0)
    place = best * N + np.arange(N)
    return q[place], state[place]


def _along_paths(system: AnySystem, poses: WantedPoses, q0: Any, ask: _Ask, jump: float, limits: bool) -> InverseKinematics:
    """Each row from the one before; rows that are not poses are left out of the chain."""
    n = ask.space.box.n
    if not poses.batch:
        raise ShapeError("pose: a single one found; with continuous=True a path of shape (..., K, 4, 4) is expected.")
    *lead, K = poses.batch
    batch = tuple(lead)
    given = None if q0 is None else ask.space.held(given_starts("q0", q0, n))
    if given is not None:
        batch = _together(batch, given.shape[:-1])
    first = ask.starts(int(np.prod(batch))) if given is None else given
    starts = np.broadcast_to(first.reshape(*batch, n) if given is None else first, (*batch, n)).reshape(-1, n)
    rows = np.broadcast_to(poses.rows.reshape(*poses.batch, 16), (*batch, K, 16)).reshape(-1, K, 16)
    kinds = np.broadcast_to(poses.kinds.reshape(poses.batch), (*batch, K)).reshape(-1, K)
    good = kinds == FINE
    filled = _carried_on(rows, good)
    q, state = _chained(system, filled, starts, ask, patient=given is not None)
    q, state = np.where(good[..., None], q, np.nan), np.where(good[..., None], state, 0.0)
    steps = _steps_of(q, state[..., 0] > 0.5)
    found = _result(system, (*batch, K), kinds.reshape(-1), q.reshape(-1, n), state.reshape(-1, state.shape[-1]), ask, limits)
    far = (np.abs(steps) > jump).any(axis=-1).reshape(found.success.shape) & found.success
    status = np.where(far, JUMPED, found.status)
    return replace(found, status=status, success=status == REACHED, jumps=steps.reshape(*batch, K, n))


def _carried_on(rows: FloatArray, good: Any) -> FloatArray:
    """Rows (P, K, 16) with those that are no poses replaced by the pose before, or the first one after."""
    if good.all():
        return np.ascontiguousarray(rows)
    K = rows.shape[1]
    last = np.maximum.accumulate(np.where(good, np.arange(K), -1), axis=1)
    index = np.where(last >= 0, last, np.argmax(good, axis=1)[:, None])
    found = np.take_along_axis(rows, index[..., None], axis=1)
    return np.where(np.isfinite(found), found, np.eye(4).ravel())


def _steps_of(q: FloatArray, reached: Any) -> FloatArray:
    """How far each row of a path is from the last row before it that was reached."""
    K = q.shape[1]
    last = np.maximum.accumulate(np.where(reached, np.arange(K), -1), axis=1)
    before = np.concatenate([np.full((len(q), 1), -1), last[:, :-1]], axis=1)
    base = np.take_along_axis(q, np.maximum(before, 0)[..., None], axis=1)
    found: FloatArray = np.where((before >= 0)[..., None] & reached[..., None], q - base, 0.0)
    return found


def _together(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listing = ", ".join(f"{name} {shape}" for name, shape in zip(("pose", "q0"), shapes, strict=True))
        raise ShapeError(f"batch: leading axes do not broadcast together: {listing}.") from None


def _spread(rows: FloatArray, where: Any, empty: float) -> FloatArray:
    found = np.full((len(where), rows.shape[1]), empty)
    found[where] = rows
    return found


def _result(
    system: AnySystem, batch: tuple[int, ...], kinds: Any, q: FloatArray, state: FloatArray, ask: _Ask, limits: bool
) -> InverseKinematics:
    reached = state[:, 0] > 0.5
    status = np.where(reached, REACHED, np.where(kinds == FINE, NOT_REACHED, NOT_A_POSE))
    pose = np.asarray(forward_kinematics(system, q, ask.task.link, threads=ask.threads))
    none = kinds != FINE
    position, turn = np.sqrt(state[:, 1]), 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(state[:, 2]), 1.0))
    position[none], turn[none] = np.nan, np.nan
    return InverseKinematics(
        q.reshape(*batch, q.shape[1]),
        reached.reshape(batch),
        pose.reshape(*batch, 4, 4),
        position.reshape(batch),
        turn.reshape(batch),
        state[:, 3].astype(int).reshape(batch),
        state[:, 4].astype(int).reshape(batch),
        status.reshape(batch),
        system=system,
        task=ask.task,
        limits=limits,
        kinds=kinds.reshape(batch),
    )


def _searched(
    system: AnySystem, rows: FloatArray, starts: FloatArray, ask: _Ask, *, patient: bool
) -> tuple[FloatArray, FloatArray]:
    """Queues of poses, as many as there are lanes in all threads, and as long as they have to be."""
    N = len(rows)
    if N == 0:
        return np.empty((0, starts.shape[1])), np.empty((0, len(search_program.STATE)))
    loop = _kernel(system, ask.task, chained=False, single=N == 1)
    lanes = loop.lanes * thread_count(ask.threads)
    queues = min(N, max(lanes, -(-N // _LONGEST_QUEUE)))
    depth = -(-N // queues)
    queues = -(-N // depth)
    counts = np.full((queues, 1), float(depth))
    counts[-1] = N - (queues - 1) * depth
    start = with_solved(system, starts)
    given = [_padded(x.reshape(N, -1), queues * depth).reshape(queues, -1) for x in (rows, start)]
    q, state = _run(loop, counts, given, ask, patient=patient, depth=depth, width=start.shape[1])
    return q.reshape(queues * depth, -1)[:N, : starts.shape[1]], state.reshape(queues * depth, -1)[:N]


def _chained(
    system: AnySystem, rows: FloatArray, starts: FloatArray, ask: _Ask, *, patient: bool
) -> tuple[FloatArray, FloatArray]:
    """A queue for each path; only its first pose has a start of its own."""
    P, K, _ = rows.shape
    if P == 0 or K == 0:
        return np.empty((P, K, starts.shape[1])), np.empty((P, K, len(search_program.STATE)))
    loop = _kernel(system, ask.task, chained=True, single=P == 1)
    start = with_solved(system, np.ascontiguousarray(starts))
    padded = np.zeros((P, K, start.shape[1]))
    padded[:, 0] = start
    given = [rows.reshape(P, -1), padded.reshape(P, -1)]
    q, state = _run(loop, np.full((P, 1), float(K)), given, ask, patient=patient, depth=K, width=start.shape[1])
    return np.ascontiguousarray(q.reshape(P, K, -1)[..., : starts.shape[1]]), state.reshape(P, K, -1)


def _padded(rows: FloatArray, count: int) -> FloatArray:
    if len(rows) == count:
        return np.ascontiguousarray(rows)
    found = np.zeros((count, rows.shape[1]))
    found[: len(rows)] = rows
    return found


def _kernel(system: AnySystem, task: TaskDirections, *, chained: bool, single: bool) -> TimeLoopKernel:
    def make() -> TimeLoopKernel:
        return TimeLoopKernel(search_program.search(system, task, chained=chained), single=single)

    return engine.kept(system, Request("inverse_kinematics", (task, chained, single)), make)


def _run(
    loop: TimeLoopKernel,
    counts: FloatArray,
    given: list[FloatArray],
    ask: _Ask,
    *,
    patient: bool,
    depth: int,
    width: int,
) -> tuple[FloatArray, FloatArray]:
    """One call of the kernel."""
    settings = [x * x for x in ask.tolerance] + [ask.space.length, float(ask.attempts), float(patient)]
    shared = [np.array([settings]), *(ends[None] for ends in ask.space.ends)]
    outputs = [np.empty((len(counts), depth * width)), np.empty((len(counts), depth * len(search_program.STATE)))]
    inputs = [*shared, counts, *given, ask.restarts.reshape(1, -1)]
    loop(inputs, outputs, turns=depth * _TURNS_PER_POSE, threads=ask.threads)
    return outputs[0], outputs[1]


__all__ = ["CODE", "inverse_kinematics"]
