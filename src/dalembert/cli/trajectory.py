"""`dalembert trajectory`: a motion from a few numbers, or through the points of a table, with its torques and limits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dynamics as dyn
from .. import plots, trajectory
from ..checks import FloatArray, choice
from ..errors import ShapeError
from ..loading import load
from ..trajectory import LimitCheck, Motion, Trajectory
from . import outputs, terminal, tool_motions
from .digits import aligned
from .dynamics import torque_units
from .motion_files import MotionTable, motion_columns, read_points, write_table
from .motion_options import duration_of, end_of, needed, start_of
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import target_of
from .systems import Loaded, coordinates_of, noun_of


def run(given: Namespace) -> bool:
    """Print the peaks of a motion beside the limits, and write or draw the whole of it; False where `--strict` fails."""
    picture = outputs.picture("trajectory", given.plot, "--plot")
    target = target_of(given.output)
    maker = choice("--kind", given.kind, KINDS)
    robot = load(given.source)
    motion = maker(robot, given)
    at = motion.sample(count=given.samples) if given.dt is None else motion.sample(dt=given.dt)
    tau = dyn.inverse_dynamics(robot, at.q, at.qd, at.qdd)
    found = motion.check(robot, samples=max(2, len(at.t)))
    if given.json:
        terminal.print_json(_record(robot, given.kind, motion, at, tau, found))
    else:
        about = f", {motion.about}" if motion.about else ""
        print_title(f"{robot!r}, {given.kind} over {motion.duration:.6g} s, {len(at.t)} samples{about}")
        print_sheets(peaks(robot, at, tau, found))
        for one in found.exceeded:
            terminal.say(("! ", "bold yellow"), str(one))
    if target is not None:
        write_table(target, motion_columns(robot, _table(at)) | torque_columns(robot, tau))
    if picture is not None:
        outputs.save_figure(draw(robot, at, tau), picture)
    return bool(found) or not given.strict


def _ends(robot: Loaded, given: Namespace) -> tuple[FloatArray, FloatArray]:
    if not given.end:
        raise ShapeError(f"--to: nothing found, but a {given.kind} motion goes from one position to another. Give --to.")
    return start_of(robot, given), end_of(robot, given)


def _polynomial(make: Callable[..., Motion]) -> Callable[[Loaded, Namespace], Motion]:
    return lambda robot, given: make(*_ends(robot, given), duration=duration_of(given))


def _trapezoidal(robot: Loaded, given: Namespace) -> Motion:
    rise = duration_of(given) / 4 if given.acceleration_time is None else given.acceleration_time
    return trajectory.trapezoidal(*_ends(robot, given), duration=given.time, acceleration_time=rise)


def _limits(robot: Loaded, given: Namespace) -> dict[str, FloatArray]:
    """Largest rates, in SI units; the velocity is that of the model where none is given."""
    axes = coordinates_of(robot)
    scale = np.array([np.pi / 180 if given.degrees and axis.turns else 1.0 for axis in axes])
    own = [axis.limits.velocity for axis in axes]
    velocity: Sequence[float] = given.velocity or (own if np.isfinite(own).all() else needed(given, "velocity", "a limit"))
    found = {"velocity": velocity, "acceleration": needed(given, "acceleration", "the largest one")}
    found |= {"jerk": given.jerk} if given.jerk else {}
    sized = {name: np.array(values) * (scale if given.degrees else 1.0) for name, values in found.items()}
    return {name: values if len(values) > 1 else np.broadcast_to(values, (len(axes),)) for name, values in sized.items()}


def _synchronised(robot: Loaded, given: Namespace) -> Motion:
    return trajectory.synchronised(*_ends(robot, given), **_limits(robot, given), straight=given.straight)


def _double_s(robot: Loaded, given: Namespace) -> Motion:
    needed(given, "jerk", "the largest one")
    return trajectory.double_s(*_ends(robot, given), **_limits(robot, given))


def _points(robot: Loaded, given: Namespace) -> tuple[FloatArray, FloatArray]:
    return read_points(needed(given, "points", "a .csv or .parquet table with columns t and q_<name>"), robot)


def _spline(kind: str) -> Callable[[Loaded, Namespace], Motion]:
    def make(robot: Loaded, given: Namespace) -> Motion:
        t, q = _points(robot, given)
        return trajectory.spline(q, t, kind=kind, ends=given.ends)

    return make


def _b_spline(robot: Loaded, given: Namespace) -> Motion:
    t, q = _points(robot, given)
    return trajectory.b_spline(q, duration=float(t[-1] - t[0]), degree=min(5, len(t) - 1))


def _blended(robot: Loaded, given: Namespace) -> Motion:
    t, q = _points(robot, given)
    return trajectory.blended(q, t, blend_time=needed(given, "blend-time", "duration of each blend [s]"), kind="quintic")


def _sampled(robot: Loaded, given: Namespace) -> Motion:
    t, q = _points(robot, given)
    return trajectory.sampled(t, q, cutoff=needed(given, "cutoff", "up to which frequency the filter passes [Hz]"))


KINDS: dict[str, Callable[[Loaded, Namespace], Motion]] = {
    "triangular": _polynomial(trajectory.triangular),
    "trapezoidal": _trapezoidal,
    "cubic": _polynomial(trajectory.cubic),
    "quintic": _polynomial(trajectory.quintic),
    "septic": _polynomial(trajectory.septic),
    "double_s": _double_s,
    "synchronised": _synchronised,
    "spline": _spline("cubic"),
    "quintic_spline": _spline("quintic"),
    "b_spline": _b_spline,
    "blended": _blended,
    "sampled": _sampled,
    "line": tool_motions.line,
    "circle": tool_motions.circle,
    "poses": tool_motions.poses,
}


def peaks(robot: Loaded, at: Trajectory, tau: FloatArray, found: LimitCheck) -> Sheet:
    """The largest magnitude of everything, and of which limit the most is used."""
    values = [np.abs(x).max(axis=0) for x in (at.qd, at.qdd, at.qddd, tau)]
    cells = np.column_stack([aligned(x) for x in values])
    used = [_most_used(axis.name, found) for axis in coordinates_of(robot)]
    units = zip(coordinates_of(robot), torque_units(robot), strict=True)
    rows = [
        (axis.name, "rad" if axis.turns else "m", use, *row, unit)
        for (axis, unit), use, row in zip(units, used, cells, strict=True)
    ]
    heads = [noun_of(robot), "unit", "limit used most", "velocity /s", "acceleration /s²", "jerk /s³", "torque or force", "in"]
    return sheet("Largest magnitudes", heads, rows, left=3)


def _most_used(name: str, found: LimitCheck) -> str:
    """Of which limit of a joint the most is used."""
    all_of = ((float(use[found.names[kind].index(name)]), kind) for kind, use in found.use.items() if name in found.names[kind])
    share, kind = max(all_of, default=(0.0, ""))
    return f"{100 * share:.1f} % of {kind}" if share > 0 else ""


def _table(at: Trajectory) -> MotionTable:
    return MotionTable(at.t, at.q, at.qd, at.qdd, at.qddd)


def torque_columns(robot: Loaded, tau: FloatArray) -> dict[str, FloatArray]:
    """Torques with names and units."""
    names = zip(coordinates_of(robot), torque_units(robot), strict=True)
    return {f"tau_{axis.name} [{unit}]": tau[:, k] for k, (axis, unit) in enumerate(names)}


def draw(robot: Loaded, at: Trajectory, tau: FloatArray) -> Any:
    """Positions, velocities, accelerations, jerks and torques."""
    figure = outputs.new_figure((12.0, 5.4), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    names = [axis.name for axis in coordinates_of(robot)]
    plots.motion(at.t, at.q, at.qd, at.qdd, tau, qddd=at.qddd, names=names, units=torque_units(robot), axes=axes)
    return figure


def _record(robot: Loaded, kind: str, motion: Motion, at: Trajectory, tau: FloatArray, found: LimitCheck) -> dict[str, object]:
    names = [axis.name for axis in coordinates_of(robot)]
    return {
        "robot": robot.name,
        "kind": kind,
        "about": motion.about,
        "duration": motion.duration,
        "breaks": motion.breaks,
        "coordinates": names,
        "torque_units": torque_units(robot),
        "limits_kept": bool(found),
        "exceeded": [one._asdict() for one in found.exceeded],
        **{name: getattr(at, name) for name in ("t", "q", "qd", "qdd", "qddd")},
        "tau": tau,
    }
