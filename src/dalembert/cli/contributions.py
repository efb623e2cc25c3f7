"""`dalembert contributions`: what the joint torques of a point-to-point motion are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dynamics as dyn
from .. import plots
from ..checks import FloatArray, choice
from ..dynamics.contributions import SPLITS, Contributions
from ..errors import ShapeError
from ..loading import load
from ..trajectory import Trajectory, duration_at, trapezoidal
from . import outputs, terminal
from .digits import aligned
from .dynamics import state_of
from .sheets import Sheet, print_sheets, print_title, sheet
from .systems import Loaded, noun_of

PROFILES = {"triangular": 0.5, "trapezoidal": 0.25}  # share of the time that is spent accelerating, where none is given


class MotionTiming(NamedTuple):
    """How the motion runs: by its duration, or by a largest velocity that each joint keeps at its own duration."""

    profile: str
    time: float | None
    velocity: float | None
    acceleration_time: float | None
    samples: int


def run(
    source: str,
    start: Sequence[float],
    end: Sequence[float],
    timing: MotionTiming,
    *,
    degrees: bool,
    by: str,
    figure: str | None,
    json: bool,
) -> None:
    """Print the parts of the torques along a motion, and draw them."""
    picture = outputs.picture("contributions", figure)
    robot = load(source)
    choice("--by", by, SPLITS)
    path = motion(robot, start, end, timing, degrees=degrees)
    parts = dyn.contributions(robot, path.q, path.qd, path.qdd)
    if json:
        terminal.print_json(_record(robot, path, parts))
    else:
        print_title(f"{robot!r}, {timing.profile} velocity over {path.t[-1]:g} s, {len(path.t)} samples")
        print_sheets(*(peak_table(parts, name, noun_of(robot)) for name in dict.fromkeys((by, "nature", "link"))))
    if picture is not None:
        outputs.save_figure(draw(robot, path, parts, by), picture)


def motion(robot: Loaded, start: Sequence[float], end: Sequence[float], timing: MotionTiming, *, degrees: bool) -> Trajectory:
    """The motion from one position to the other, in SI units."""
    q0, q1 = (state_of(robot, {"q": q}, degrees=degrees).q for q in (start, end))
    if np.array_equal(q0, q1):
        raise ShapeError("--from, --to: both are the same position, so nothing moves. Give --to, and --from if it is not zero.")
    share = choice("--profile", timing.profile, PROFILES)
    if (timing.time is None) == (timing.velocity is None):
        raise ShapeError("--time, --velocity: one of the two is expected, the duration of the motion or its largest velocity.")
    if timing.velocity is not None:
        return _at_velocity(robot, q0, q1, timing, degrees=degrees)
    assert timing.time is not None
    ta = share * timing.time if timing.acceleration_time is None else timing.acceleration_time
    return trapezoidal(q0, q1, duration=timing.time, acceleration_time=ta).sample(count=timing.samples)


def _at_velocity(robot: Loaded, q0: FloatArray, q1: FloatArray, timing: MotionTiming, *, degrees: bool) -> Trajectory:
    if timing.acceleration_time is None or timing.profile != "trapezoidal":
        raise ShapeError("--velocity: it goes with --profile trapezoidal and --acceleration-time, the time to reach it.")
    limit = state_of(robot, {"q": [timing.velocity or 0.0] * robot.n}, degrees=degrees).q
    ta = timing.acceleration_time
    T = duration_at(q0, q1, velocity=limit, acceleration_time=ta)
    return trapezoidal(q0, q1, duration=T, acceleration_time=ta).sample(count=timing.samples)


def peak_table(parts: Contributions, by: str, noun: str = "joint") -> Sheet:
    """The largest magnitude of each part along the motion."""
    columns = {name: values for name, values in SPLITS[by](parts).items() if np.any(values != 0.0)}
    peaks = np.column_stack([np.abs(values).max(axis=0) for values in (*columns.values(), parts.tau)])
    rows = [(*names, *cells) for *names, cells in zip(parts.coordinates, parts.units, aligned(peaks), strict=True)]
    return sheet(f"Largest magnitudes, by {by}", [noun, "unit", *columns, "tau"], rows, left=2, keys=2)


def draw(robot: Loaded, path: Trajectory, parts: Contributions, by: str) -> Any:
    """The motion with its torques above, their parts below."""
    width = min(3, robot.n)
    rows = -(-robot.n // width)
    figure = outputs.new_figure((9.6, 5.0 + 0.8 + 2.4 * rows), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[4.6, 0.8 + 2.4 * rows])
    tau = parts.tau
    plots.motion(path.t, path.q, path.qd, path.qdd, tau, names=robot.joint_names, units=parts.units, axes=_grid(upper, 2, 2))
    plots.contributions(path.t, parts, by=by, axes=_grid(lower, rows, width))
    return figure


def _grid(figure: Any, rows: int, columns: int) -> Any:
    return figure.subplots(rows, columns, sharex=True, squeeze=False)


def _record(robot: Loaded, path: Trajectory, parts: Contributions) -> dict[str, object]:
    return {
        "robot": robot.name,
        "coordinates": parts.coordinates,
        "torque_units": parts.units,
        "t": path.t,
        "q": path.q,
        "qd": path.qd,
        "qdd": path.qdd,
        "tau": parts.tau,
        **{f"by_{name}": split(parts) for name, split in SPLITS.items()},
    }
