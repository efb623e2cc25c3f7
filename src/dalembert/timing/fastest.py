"""The fastest timing along a path within the limits of a robot: what users call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import thread_count
from ..dynamics import engine, inverse_dynamics
from ..dynamics.system import AnySystem, solves
from ..errors import ModelError
from ..loads.load_conditions import Contact, HeldForce, Squeeze
from ..mechanism.joint_motion import joint_path, loop_joints
from ..model import DriveTrain, Joint
from ..options import samples
from ..trajectory import Motion
from . import timing_refusals as refusals
from .drive_facets import Facets
from .fastest_profile import MOST_EXCESS, Profile, ProfileSolver
from .friction_kinds import bends
from .gripped_drives import grip_of, sharing_of
from .limit_rows import Limit, RowMaker, TimingLimits
from .path_grid import WITHIN, BoolArray, Grid, grid_of
from .path_rests import without_rests
from .path_shapes import Paths, one_path, part_of, read_paths
from .rate_limits import read_rates
from .rate_rows import RateLimits, RateMaker
from .shared_drives import SharedDrives
from .smooth_law import SmoothLaw
from .smooth_timing import SmoothTiming, timed_smoothly
from .time_law import TimeLaw
from .timing_limits import limits_of, read_limits
from .timing_result import FastestTiming
from .voltage_rows import inductive_voltages

_AT_ONCE = 80_000  # samples that are looked at together: more do not stay in the caches
_ROUNDS = 20  # timings of drives that share torques; three or four are usual
_BOUNDLESS = 1e6  # of the largest torque, in a second: as good as at once
_LOOKED = 33  # places of a path at which the positions of a mechanism are looked for first


def fastest_timing(
    system: AnySystem,
    path: Motion | Sequence[Motion] | ArrayLike,
    *,
    torque: ArrayLike | Mapping[str, float] | None = None,
    velocity: ArrayLike | Mapping[str, float] | None = None,
    acceleration: ArrayLike | Mapping[str, float] | None = None,
    power: ArrayLike | Mapping[str, float] | None = None,
    jerk: ArrayLike | Mapping[str, float] | None = None,
    torque_rate: ArrayLike | Mapping[str, float] | None = None,
    motors: bool | DriveTrain = False,
    contacts: Mapping[str, Contact] | None = None,
    internal: HeldForce | Squeeze | Iterable[HeldForce | Squeeze] = (),
    end_speeds: tuple[float, float] = (0.0, 0.0),
    intervals: int = 1000,
    threads: int | None = None,
) -> FastestTiming:
    """The timing s(t) that follows a path q(s) in the least time within limits of the robot.

    Viscous friction bends the limits of torque, dry friction moves them where a joint turns round; both are taken as they are.
    The result keeps limits between the points of its grid too: it is looked at within every interval and solved again until it
    does.

    Parameters
    ----------
    system : Robot or System
        With n coordinates, all of them driven.
    path : Motion, sequence of Motion, or array_like, shape (..., W, n)
        The way q(s); of a motion, whose own timing is forgotten. Through points a cubic spline is laid, s from 0 to 1. A
        sequence, a batch of motions or of points gives one timing each.
    torque, velocity : array_like, shape () or (n,), or mapping of joint to float, optional
        Largest magnitudes [N m | N], [rad/s | m/s]; those of the model where nothing is given, inf for no limit. Joints of a
        mechanism that are none of its coordinates keep speeds of the model too, or others by name. Where driven joints are
        not the coordinates, torques are those of the drives, which share them in the way that is fastest, see
        `distribute_load`; `drive_torques` of the result tells how.
    acceleration, power : array_like, shape () or (n,), or mapping of joint to float, optional
        Largest magnitudes [rad/s² | m/s²] and [W]; none where nothing is given. Powers are those of the drives where these are
        not the coordinates; accelerations are then continuous, as with a `torque_rate` that is very large.
    jerk, torque_rate : array_like, shape () or (n,), or mapping of joint to float, optional
        Largest magnitudes [rad/s³ | m/s³] and [N m/s | N/s]; none where nothing is given. With either, accelerations and torques
        are continuous and rests begin and end without acceleration; where q″ jumps the path is passed at rest. Where a joint
        turns round, its dry friction jumps and its torque with it: torque rates are limited between such places, and
        `jumps` of the result names them. Rates of torques that drives share are those of `drive_torques`.
    motors : bool or DriveTrain
        Keep within the limits of voltage, current and speed of the motors of the joints (True), or of a drive train: of the
        driven joints where these are not the coordinates, which then choose torques as with `power`. Where a
        motor with a limit of voltage has an inductance, the limit holds for v = L di/dt + R i + k_e ω as `nominal_voltage` has
        it: torques are then continuous, rests, jumps of q″ and dry friction as with `torque_rate`.
    contacts : mapping of closure to Contact
        As in `distribute_load`: closures of a mechanism that only push, within their cones of friction. What is gripped does not
        slip anywhere along the motion; a cone in space is taken for a pyramid within it, smaller by half a percent.
    internal : HeldForce, Squeeze, or several of them
        As in `distribute_load`: forces at closures that are held, each at one value all along.
    end_speeds : tuple of two float
        ṡ at the start and at the end of the path; 0 is rest.
    intervals : int
        N, the number of intervals of the grid; 20 for each piece of the path at least, and within limits of torque rates as many
        as knees of smooth friction ask for.
    threads : int, optional
        How many threads to use; by default `DALEMBERT_NUM_THREADS`, else all cores.

    Returns
    -------
    FastestTiming
        With `duration`, `motion`, s(t) and its rates, torques, and which limit binds where.

    Raises
    ------
    InfeasibleError
        If gravity and dry friction alone exceed a limit, or the path leaves the range of a joint: with the joint and the place.
        Paths of a batch are marked instead, with one warning (`timing-infeasible`).

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal

    A rod turned by 3 rad in the horizontal plane: full torque forwards, then backwards, T = 2 √(θ I / τ).

    >>> rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    >>> found = dal.fastest_timing(rod, [[0.0], [3.0]], torque=2.0)
    >>> round(float(found.duration), 4), round(2 * (3.0 / 2.0 * float(dal.mass_matrix(rod, [0.0])[0, 0])) ** 0.5, 4)
    (1.4143, 1.4143)
    >>> found.binding_parts()
    [(0.0, 1.0, "torque of 'pivot'")]

    With a limit of jerk alone, full jerk forwards, backwards and forwards again: T = ∛(32 θ / j).

    >>> smooth = dal.fastest_timing(rod, [[0.0], [3.0]], torque=np.inf, jerk=20.0, intervals=200)
    >>> round(float(smooth.duration), 3), round((32 * 3.0 / 20.0) ** (1 / 3), 3)
    (1.687, 1.687)
    """
    n = engine.size(system)
    given = {"torque": torque, "velocity": velocity, "acceleration": acceleration, "power": power}
    grip = grip_of(system, contacts, internal)
    plant, limits = read_limits(system, motors, given, gripped=any(grip))
    threads = None if threads is None else thread_count(threads)
    N = samples("intervals", intervals, least=4)
    ends = _end_speeds(end_speeds)
    paths, batch, broken = read_paths(path, n)
    drives, rate_limits = limits.drives, read_rates(system, {"jerk": jerk, "torque_rate": torque_rate}, limits.drives)
    rate_limits = _with_pressing(rate_limits._replace(voltage=inductive_voltages(limits)), limits)
    step = 1 if rate_limits.act or drives is not None else max(1, _AT_ONCE // (10 * N))
    inside = threads if paths.count <= step else 1  # several pieces have a thread each
    sharing = sharing_of(plant, limits, grip, inside, rate_limits.torques)
    maker = RowMaker(plant, limits, inside, None if sharing is None else sharing.fixed_rows())
    rates = RateMaker(plant, rate_limits, inside, sharing)
    if not maker.names.kinds and not rates.limits.act:
        raise ModelError(
            "fastest_timing: no limit of torque, acceleration, power, motors or jerk found, so that nothing bounds how hard the "
            "robot accelerates. Give torque=..., or Limits(effort=...) to the joints."
        )
    paths, resting = without_rests(paths, turning=not rates.limits.act)
    messages = broken | {row: message for row, message in resting.items() if row not in broken}

    if not batch and solves(engine.system_of(plant)) and not messages:
        messages = _places_without_positions(maker, paths)
        refusals.refuse_or_warn("fastest_timing", messages, batch, paths.count)
    task = _Task(maker, rates, sharing, N, ends)

    def timed(first: int) -> _Piece:
        return task.timed(one_path(paths, first) if step == 1 else part_of(paths, first, min(first + step, paths.count)))

    pieces = _each(timed, range(0, paths.count, step), thread_count(threads))
    for number, piece in enumerate(pieces):
        messages |= {step * number + row: text for row, text in piece.messages.items() if step * number + row not in messages}
    refusals.refuse_or_warn("fastest_timing", messages, batch, paths.count)
    return _result(task, paths, pieces, messages, batch)


class _Task(NamedTuple):
    """What is done for every path."""

    maker: RowMaker
    rates: RateMaker
    sharing: SharedDrives | None
    N: int
    ends: FloatArray

    def timed(self, paths: Paths) -> _Piece:
        """Some paths; one where torques are shared or rates limited."""

        def abrupt(maker: RowMaker) -> _Piece:
            return _timed(maker, paths, self.N, self.ends)

        def smooth(maker: RowMaker) -> _Piece:
            return _timed_smoothly(maker, self.rates, paths, self.N, self.ends)

        once, sharing = smooth if self.rates.limits.act else abrupt, self.sharing
        if sharing is None or not sharing.able().limited or (sharing.free == 0 and self.rates.sharing is not None):
            return once(self.maker)
        facets = Facets(sharing.able(), self.maker, paths)
        if self.rates.sharing is None:
            return _shared(facets, self.maker, once)
        _shared(facets, self.maker, abrupt)
        able = self.maker.with_drives(facets.rows())
        return _timed_smoothly(self.maker, self.rates, paths, self.N, self.ends, able)

    @property
    def drives(self) -> tuple[str, ...]:
        """The driven joints."""
        return self.maker.limits.torque.names if self.sharing is None else self.sharing.limit.names

    def carried(self, _: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Their torques along a motion, whose rates are not limited, or which are those of the coordinates."""
        if self.sharing is not None:
            return self.sharing.torques(q, qd, qdd, None)
        return inverse_dynamics(self.maker.system, q, qd, qdd, threads=self.maker.threads)

    @property
    def told(self) -> list[tuple[str, str]]:
        """Kind and name of all that the use is told of: what drives share in place of their rows, rows, speeds, rates."""
        rows = list(zip(self.maker.names.kinds, self.maker.names.names, strict=True))
        shared: tuple[tuple[str, str], ...] = () if self.sharing is None else self.sharing.results
        others = rows if self.maker.drives is None else rows[len(self.maker.drives.names) :]
        return [*shared, *others, *self.maker.speed_names, *self.rates.limits.told]


def _with_pressing(rates: RateLimits, limits: TimingLimits) -> RateLimits:
    """Drives whose torques are bounded by their speeds, too, choose them with the motion: as with rates, but with any."""
    own, drives = limits.of_drives, limits.drives
    if own is None or drives is None or not own.of_torques or rates.torques.acts:
        return rates
    finite = drives.size[np.isfinite(drives.size)]
    size = np.full(len(drives.names), _BOUNDLESS * finite.max(initial=1.0))
    return rates._replace(drives=Limit("torque rate", drives.names, drives.units, size), boundless=True)


def _each(timed: Callable[[int], _Piece], firsts: range, threads: int) -> list[_Piece]:
    """The pieces of a batch in their order. NumPy and kernels let other threads work meanwhile."""
    if threads == 1 or len(firsts) < 2:
        return [timed(first) for first in firsts]
    with ThreadPoolExecutor(min(threads, len(firsts))) as pool:
        return list(pool.map(timed, firsts))


def _end_speeds(given: Any) -> FloatArray:
    found = checks.numbers("end_speeds", given)
    if found.shape != (2,) or not (np.isfinite(found) & (found >= 0)).all():
        raise ModelError(
            f"end_speeds: {checks.shown(given)} found; two numbers of 0 or more are expected, at the start and the end."
        )
    return found


class _Piece(NamedTuple):
    """The timings of some paths."""

    s: FloatArray
    profile: Profile
    tau: FloatArray
    use: FloatArray
    excess: FloatArray
    messages: dict[int, str]
    base: ProfileSolver
    smooth: SmoothTiming | None = None  # of one path within limits of rates

    @property
    def inside(self) -> tuple[FloatArray, FloatArray]:
        """ṡ and s̈ at the places within the intervals."""
        if self.smooth is not None and self.smooth.found is not None:
            return self.smooth.found.profile.inside(self.base.grid)
        return self.profile.inside(self.base.grid)


def _shared(facets: Facets, maker: RowMaker, timed: Callable[[RowMaker], _Piece]) -> _Piece:
    """A path of drives that share torques in the way that is fastest: timed until no facet is missing."""
    for _ in range(_ROUNDS):
        drives = facets.rows()
        piece = timed(maker.with_drives(drives))
        if piece.messages or not facets.grown(piece.base, piece.inside, piece.profile):
            break
    lost = np.full((1, piece.base.N, len(facets.drives.results)), np.nan)
    found = lost if piece.messages else facets.use(piece.base, piece.inside)
    use = np.concatenate([found, piece.use[..., len(drives.names) :]], axis=-1)
    return piece._replace(use=use, excess=np.maximum(piece.excess, found.max(axis=(1, 2)) - 1.0))


def _timed_smoothly(
    maker: RowMaker, rates: RateMaker, path: Paths, N: int, ends: FloatArray, able: RowMaker | None = None
) -> _Piece:
    """One path within limits of jerk or torque rate; `able` tells what drives can do at all, where they share torques."""
    found = timed_smoothly(maker, rates, path, N, ends, able)
    base, grid, profile = found.base, found.grid, found.profile
    maker = base.maker
    messages = _without_positions(base, path) | _crossed_limits(maker, path, grid)
    for still in base.too_weak().values():
        k = min(still.interval, base.N - 1)
        messages.setdefault(0, refusals.at_rest(maker, still, grid.s[0, still.interval], path.ends[0], grid.left[0][0, k]))
    excess = np.array([np.nan if found.found is None else found.found.judged.excess])
    if not excess[0] <= MOST_EXCESS:
        messages.setdefault(0, _too_fast_at_ends(ends, found) or refusals.no_smooth_timing(ends, base.N))
    return _Piece(grid.s, profile, found.torques, found.use, excess, messages, base, found)


def _too_fast_at_ends(ends: FloatArray, found: SmoothTiming) -> str:
    """A speed at an end that limits without rates do not allow; empty where they do."""
    for which, place, wanted in (("start", 0, ends[0]), ("end", -1, ends[1])):
        most = np.sqrt(found.tops[0] if place == 0 else found.base.caps[0, -1])
        if wanted > most * (1 + 1e-9):
            return refusals.too_fast_at_ends(which, wanted, float(most))
    return ""


def _timed(maker: RowMaker, paths: Paths, N: int, ends: FloatArray) -> _Piece:
    _keep_memory(paths.count * N * WITHIN * 9 * paths.n)
    bent = bends(maker.system)
    grid = grid_of(paths, N, closer=bent or maker.names.falling > 0)  # powers are products of two, and bend more
    solver = ProfileSolver(maker, grid, np.tile(ends, (paths.count, 1)))
    messages = _without_positions(solver, paths) | _crossed_limits(maker, paths, grid)
    for row, still in (solver.weak_for_bent() if bent else solver.too_weak()).items():
        k = min(still.interval, grid.s.shape[1] - 2)
        end, q = paths.ends[row], grid.left[0][row, k]
        messages.setdefault(row, refusals.at_rest(maker, still, grid.s[row, still.interval], end, q))
    profile, excess = solver.solve_bent() if bent else solver.solve()
    use = solver.use(profile)
    for row in range(paths.count):
        if row not in messages and (text := _not_timed(solver, paths, row, profile, use[row], excess[row])):
            messages[row] = text
    return _Piece(grid.s, profile, solver.torques(profile), use, excess, messages, solver)


def _not_timed(solver: ProfileSolver, paths: Paths, row: int, profile: Profile, use: FloatArray, excess: float) -> str:
    """Why a profile that was found is no timing; empty where it is one."""
    maker, s, end, q = solver.maker, solver.grid.s[row], paths.ends[row], solver.grid.left[0][row]
    x, tops = profile.x[row], profile.tops[row]
    for which, k, wanted in (("start", 0, solver.ends[row, 0]), ("end", -1, solver.ends[row, 1])):
        most = np.sqrt(tops[0] if which == "start" else min(solver.caps[row, -1], x[-1]))
        if wanted > most * (1 + 1e-9):
            return refusals.too_fast_at_ends(which, wanted, float(most), refusals.in_use(maker, use[k]))
    if (stuck := np.flatnonzero(~(x[1:] + x[:-1] > 0))).size:
        k = int(stuck[0])
        return refusals.no_way_on(s[k], end, q[k], refusals.in_use(maker, use[k]))
    if excess > MOST_EXCESS:
        k = int(np.argmax(use.max(axis=1)))
        return refusals.not_within(refusals.limit_words(maker, int(np.argmax(use[k]))), 1.0 + float(excess), s[k], end, q[k])
    return ""


def _keep_memory(numbers: int) -> None:
    """Have as much memory as samples of paths and of torques take, and give it back.

    Allocators return memory to the system that exceeds a threshold, and clear it page by page at the next call: a sixth of the
    time of a path. glibc raises that threshold to twice the largest array that it has seen come and go.
    """
    np.empty(numbers)


def _without_positions(base: ProfileSolver, paths: Paths) -> dict[int, str]:
    """Paths along which a mechanism cannot be assembled, and where first."""
    finite = np.isfinite(base.left_parts.gravity)
    if finite.all():
        return {}
    there: BoolArray = np.all(finite, axis=-1, keepdims=False)
    lost = [(int(row), int(np.argmin(there[row]))) for row in np.flatnonzero(~there.all(axis=1))]
    return {row: refusals.no_positions(base.grid.s[row, k], paths.ends[row], base.grid.left[0][row, k]) for row, k in lost}


def _places_without_positions(maker: RowMaker, path: Paths) -> dict[int, str]:
    """The same at a few places of one path, before anything else is done: positions that are not there are looked for long."""
    s = np.linspace(0.0, 1.0, _LOOKED)[None] * path.ends[0]
    at = path.at(s)
    lost = np.flatnonzero(~np.isfinite(maker.torques(at).gravity[0]).all(axis=-1))
    return {0: refusals.no_positions(s[0, lost[0]], path.ends[0], at[0][0, lost[0]])} if lost.size else {}


def _crossed_limits(maker: RowMaker, paths: Paths, grid: Grid) -> dict[int, str]:
    """Paths that leave the range of a joint, of those within loops too."""
    joints: list[Any] = list(engine.system_of(maker.system).coordinates)
    q = grid.points[0]
    ranged = {k: joint for k, joint in loop_joints(maker.system).items() if _has_range(joint)}
    if ranged:
        joints += ranged.values()
        q = np.concatenate([q, joint_path(maker.system, grid.points, maker.threads, list(ranged)).x], axis=-1)
    own = limits_of(joints)
    lower, upper = np.array([limit.lower for limit in own]), np.array([limit.upper for limit in own])
    if ((q >= lower) & (q <= upper)).all():
        return {}
    slack = 1e-9 * (1.0 + np.abs(q))
    rows, places, which = np.nonzero((q < lower - slack) | (q > upper + slack))
    found: dict[int, str] = {}
    for row, k, i in zip(rows.tolist(), places.tolist(), which.tolist(), strict=True):
        if row not in found:
            value = float(q[row, k, i])
            bound = float(lower[i] if value < lower[i] else upper[i])
            unit = getattr(joints[i], "unit", "rad" if getattr(joints[i], "turns", True) else "m")
            found[row] = refusals.beyond_joint_limit(joints[i].name, value, bound, unit, grid.s[row, k], paths.ends[row])
    return found


def _has_range(joint: Joint) -> bool:
    return bool(np.isfinite([joint.limits.lower, joint.limits.upper]).any())


def _result(task: _Task, paths: Paths, pieces: list[_Piece], messages: dict[int, str], batch: tuple[int, ...]) -> FastestTiming:
    s = np.concatenate([piece.s for piece in pieces])
    x, tops, u, w = (np.concatenate(parts) for parts in zip(*(piece.profile for piece in pieces), strict=True))
    lost = np.zeros(paths.count, dtype=bool)
    lost[list(messages)] = True
    smooth = [piece.smooth for piece in pieces if piece.smooth is not None]
    laws = [
        None if lost[row] else smooth[row].law() if smooth else TimeLaw(s[row], x[row], u[row], w[row])
        for row in range(paths.count)
    ]
    t = np.stack([np.full(s.shape[1], np.nan) if law is None else law.breaks for law in laws])
    sdd = np.concatenate([u + w, (u - w)[:, -1:]], axis=1)
    arrays = {
        "duration": t[:, -1],
        "t": t,
        "s": s,
        "sd": np.sqrt(x),
        "sdd": sdd,
        "tau": np.concatenate([piece.tau for piece in pieces]),
        "top_speed": np.sqrt(tops),
        "use": np.concatenate([piece.use for piece in pieces]),
        "excess": np.concatenate([piece.excess for piece in pieces]),
    }
    for name in ("sd", "sdd", "tau", "top_speed", "use", "excess"):
        arrays[name][lost] = np.nan
    shaped: dict[str, Any] = {name: array.reshape((*batch, *array.shape[1:])) for name, array in arrays.items()}
    names = tuple(f"{kind} of {name!r}" for kind, name in task.told)
    texts = tuple(messages.get(row, "") for row in range(paths.count))
    torque = task.maker.limits.torque
    rated = [(one, law if isinstance(law, SmoothLaw) else None) for one, law in zip(smooth, laws, strict=bool(smooth))]
    jumps = tuple(() if law is None else one.jumps(law) for one, law in rated)
    own = [None if law is None else one.carried(law) for one, law in rated] or [None] * paths.count
    shaped |= {"joints": torque.names, "torque_limits": torque.size, "jumps": jumps, "drives": task.drives}
    shaped["carried"] = tuple(task.carried if one is None else one for one in own)
    return FastestTiming(limits=names, feasible=~lost.reshape(batch), messages=texts, paths=paths, laws=tuple(laws), **shaped)


__all__ = ["fastest_timing"]
