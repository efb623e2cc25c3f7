"""`dalembert simulate`: a motion under torques or a controller, its energy balance, and how near it comes to the limits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics import inside
from ..errors import ShapeError
from ..loading import load
from ..plots import simulation as draw_histories
from ..plots.animation import animate
from ..plots.moving_pictures import writer_of
from ..plots.skeleton import parts_of, traced_point
from ..simulate import Simulation, simulate
from . import outputs, terminal
from .digits import number
from .dynamics import state_of
from .motion_files import read_torques, table_format, write_table
from .sheets import Sheet, print_sheets, print_title, sheet
from .systems import Loaded, coordinates_of, noun_of


def run(given: Namespace) -> bool:
    """Print a summary, and write or draw the course; False where the motion did not reach its end."""
    picture = outputs.picture("simulate", given.plot, "--plot")
    table, film = _table(given.output), _film(given)
    robot = load(given.source)
    if given.trace is not None:
        traced_point(parts_of(robot)[0], given.trace)
    q0, qd0 = _start(robot, given)
    if given.duration is None or not 0 < given.duration < np.inf:
        raise ShapeError("--duration: a time above 0 s is expected, such as --duration 2.")
    times = np.linspace(0.0, given.duration, given.samples)
    with terminal.progress_bar("simulating") as progress:
        motion = simulate(
            robot,
            q0,
            qd0,
            t_eval=times,
            method=given.method,
            rtol=given.rtol,
            atol=1e-3 * given.rtol,
            max_steps=given.max_steps,
            dense=True,
            progress=progress,
            stops=given.stops,
            saturate=given.saturate,
            **_torques(robot, given),
        )
    if given.json:
        terminal.print_json(record(robot, motion))
    else:
        print_title(f"{robot!r}, {given.duration:g} s")
        print_sheets(summary(motion), extremes(robot, motion), *events(motion))
    _write(motion, table, picture, film, given)
    return motion.success


def _table(given: str | None) -> Path | None:
    if given is None:
        return None
    table_format("--output", given)
    return outputs.destination("--output", given)


def _film(given: Namespace) -> Path | None:
    """Where an animation goes, if one is wanted and can be drawn and written."""
    if given.animate is None:
        return None
    for option in ("fps", "speed"):
        if not 0 < getattr(given, option) < np.inf:
            raise ShapeError(f"--{option}: {getattr(given, option):g} found, a number above 0 is expected.")
    writer_of("--animate", given.animate, given.fps)
    return outputs.destination("--animate", given.animate)


def _start(robot: Loaded, given: Namespace) -> tuple[FloatArray, FloatArray]:
    options: dict[str, Any] = {"degrees": given.degrees, "finite": True}
    q0 = state_of(robot, {"q": given.q0}, option="--q0", **options).q
    return q0, state_of(robot, {"qd": given.qd0}, option="--qd0", **options).qd


def _torques(robot: Loaded, given: Namespace) -> dict[str, Any]:
    """What drives the motion: nothing, constant torques, samples of a file, or a controller that holds a pose."""
    chosen = [name for name, value in (("--tau", given.tau), ("--torques", given.torques), ("--hold", given.hold)) if value]
    if len(chosen) > 1:
        raise ShapeError(f"{chosen[1]}: found together with {chosen[0]}, which drives the joints too. Leave one of them out.")
    if given.torques:
        t, tau = read_torques(given.torques, robot)
        return {"tau": tau, "tau_times": t, "tau_between": given.between}
    if given.hold:
        target = state_of(robot, {"q": given.hold}, degrees=given.degrees, option="--hold", finite=True).q
        inputs = {"target": target, "w": _frequency(given.frequency)}
        return {"tau": holding(robot), "inputs": inputs, "sample": given.sample, "delay": given.delay}
    if given.sample is not None or given.delay:
        option = "--delay" if given.sample is None else "--sample"
        raise ShapeError(f"{option}: found without --hold, but only a controller is sampled. Give --hold, or leave it out.")
    if given.tau and len(given.tau) != robot.n:
        raise ShapeError(f"--tau: {len(given.tau)} numbers found, {robot.n} expected, one for each {noun_of(robot)}.")
    return {"tau": given.tau} if given.tau else {}


def _frequency(value: float) -> float:
    if not 0 < value < np.inf:
        raise ShapeError(f"--frequency: {value:g} found, a number of rad/s above 0 is expected.")
    return value


def holding(robot: Loaded) -> Callable[..., Any]:
    """Computed torque with critical damping: τ = M (ω² (target − q) − 2 ω q̇) + h [Siciliano, §8.5.2]."""
    model = inside(robot)

    def law(t: Any, q: Any, qd: Any, p: Any) -> Any:
        return model.mass_matrix(q) @ (p.w * p.w * (p.target - q) - 2.0 * p.w * qd) + model.bias(q, qd)

    return law


def summary(motion: Simulation) -> Sheet:
    """How it went, and what became of the energy."""
    balance, energies = motion.balance, motion.energies
    kinetic, potential = energies.kinetic, energies.potential
    done = _reached(motion)
    rows = [
        ("reached", f"{number(motion.t[done])} s", "the end" if motion.success else motion.message),
        (
            "steps",
            f"{int(motion.accepted)}",
            f"{int(motion.rejected)} refused, {int(motion.evaluations)} evaluations of the dynamics",
        ),
        ("kinetic energy", f"{number(kinetic[done])} J", f"from {number(kinetic[0])} J, at most {number(np.nanmax(kinetic))} J"),
        ("potential energy", f"{number(potential[done])} J", f"from {number(potential[0])} J"),
        ("work", f"{number(balance.work[done])} J", "of drives and friction"),
        *([("impacts", f"{number(balance.impacts[done])} J", "at stops")] if balance.impacts[done] else []),
        (
            "energy balance",
            f"{number(float(balance.largest), 2)} J",
            f"off by {number(float(balance.relative), 2)} of the energy turned over, at {number(float(balance.at))} s",
        ),
    ]
    return sheet("Summary", ["what", "value", "remark"], rows, left=3, keys=1)


def _reached(motion: Simulation) -> int:
    """The last row with numbers."""
    return int(np.flatnonzero(np.isfinite(motion.q).all(-1))[-1])


def extremes(robot: Loaded, motion: Simulation) -> Sheet:
    """Range, largest speed and torque of each coordinate; a mark where a limit is passed."""
    rows = []
    for k, c in enumerate(coordinates_of(robot)):
        q, limits = motion.q[:, k], c.limits
        low, high = float(np.nanmin(q)), float(np.nanmax(q))
        range_ = f"{_rounded(low)} … {_rounded(high)}{_mark(low < limits.lower or high > limits.upper)}"
        speed, torque = (_against(np.nanmax(np.abs(x[:, k])), most) for x, most in _rates(motion, limits))
        rows.append((c.name, range_, *speed, *torque))
    heads = [noun_of(robot), "range [rad | m]", "speed [1/s]", "of limit", "torque [N m | N]", "of limit"]
    return sheet("Largest magnitudes; ! beyond a limit", heads, rows)


def _rates(motion: Simulation, limits: Any) -> list[tuple[FloatArray, float]]:
    return [(motion.qd, limits.velocity), (motion.tau, limits.effort)]


def _against(largest: float, limit: float) -> tuple[str, str]:
    if not np.isfinite(limit) or limit == 0:
        return _rounded(largest), "–"
    return _rounded(largest), f"{100 * largest / limit:.0f} %{_mark(largest > limit)}"


def _rounded(value: float) -> str:
    """A position; rounding about zero is none."""
    return number(value if abs(value) > _NOTHING else 0.0)


def _mark(passed: bool) -> str:
    return " !" if passed else ""


def events(motion: Simulation) -> list[Sheet]:
    """What happened on the way, where the result tells it."""
    found = list(getattr(motion, "events", None) or [])
    if not found:
        return []
    rows = [(event.kind, event.name, f"{number(float(event.t), 6)}") for event in found[:_MOST_EVENTS]]
    more = f", the first {_MOST_EVENTS} of {len(found)}" if len(found) > _MOST_EVENTS else ""
    return [sheet(f"Events{more}", ["what", "of", "t [s]"], rows, left=2, keys=2)]


_MOST_EVENTS = 20
_NOTHING = 1e-12  # rad or m


def record(robot: Loaded, motion: Simulation) -> dict[str, Any]:
    """Everything, for other programs."""
    balance = motion.balance
    return {
        "robot": robot.name,
        "success": motion.success,
        "message": motion.message,
        "steps": {"accepted": motion.accepted, "rejected": motion.rejected, "evaluations": motion.evaluations},
        "balance": {"largest": balance.largest, "at": balance.at, "relative": balance.relative},
        "coordinates": [c.name for c in coordinates_of(robot)],
        **{name: getattr(motion, name) for name in ("t", "q", "qd", "qdd", "tau")},
        "kinetic_energy": motion.energies.kinetic,
        "potential_energy": motion.energies.potential,
        "power": motion.power.by_cause,
        "events": [{"t": event.t, "kind": event.kind, "name": event.name} for event in getattr(motion, "events", None) or []],
    }


def _write(motion: Simulation, table: Path | None, picture: Any, film: Path | None, given: Namespace) -> None:
    """Tables and pictures, each complete or not there."""
    if table is not None:
        write_table(table, motion.columns)
    if picture is not None:
        figure = outputs.new_figure((12.0, 5.8), layout="constrained")
        draw_histories(motion, axes=figure.subplots(2, 3, sharex=True))
        outputs.save_figure(figure, picture)
    if film is not None:
        with terminal.progress_bar("drawing") as progress:
            animate(motion, film, fps=given.fps, speed=given.speed, trace=given.trace, progress=progress)
        outputs.confirm(film)
