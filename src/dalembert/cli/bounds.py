"""`dalembert bounds`: what no torque exceeds over the whole workspace, proved."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bounds import Bounds
from ..bounds import bounds as bounded
from ..dynamics import engine
from ..errors import ShapeError
from ..loading import load
from ..plots import canvas
from . import outputs, terminal
from .motion_files import read_states, write_table
from .sheets import print_sheets, print_title, sheet
from .state_files import target_of
from .systems import Loaded


def run(given: Namespace) -> bool:
    """Print the enclosures; False where time was up before gaps were as small as asked."""
    picture = outputs.picture("bounds", given.plot, "--plot")
    target = target_of(given.output)
    system = load(given.robot)
    ranges = {name: getattr(given, name) for name in ("lower", "upper", "qd", "qdd", "tau", "payload")}
    box = _ranges(system, ranges, degrees=given.degrees) | _spanned(system, given)
    which = None if not given.which else [int(w) if w.lstrip("-").isdigit() else w for w in given.which]
    with terminal.progress_bar(f"bounds of {given.quantity}") as show:
        found = bounded(system, given.quantity, **box, which=which, rtol=given.rtol, seconds=given.seconds, progress=show)
    if given.json:
        terminal.print_json(record(found))
    else:
        print_title(found.proved)
        print_sheets(sheet(*found.table()))
    if target is not None:
        write_table(target, columns(found))
    if picture is not None:
        outputs.save_figure(draw(system, found), picture)
    return found.finished


def _spanned(system: Loaded, given: Namespace) -> dict[str, Any]:
    """The ranges of the states of a file; rates that it lacks are zero, as elsewhere."""
    if given.states is None:
        return {}
    for name in ("lower", "upper", "qd", "qdd"):
        if getattr(given, name):
            raise ShapeError(f"--states: found together with --{name}, but the file has the ranges. Leave one of them out.")
    found = read_states(given.states, system, ("q", "qd", "qdd"))
    states = {"qd": np.zeros_like(found["q"]), "qdd": np.zeros_like(found["q"])} | found
    return {name: (values.min(axis=0), values.max(axis=0)) for name, values in states.items() if name != "t"}


def columns(found: Bounds) -> dict[str, Any]:
    """What was proved and found, an entry in each row."""
    numbers = {
        "proved_from": found.lower,
        "found_from": found.minimum.attained,
        "found_to": found.maximum.attained,
        "proved_to": found.upper,
        "gap": found.gap,
    }
    return {"entry": found.names, "unit": found.units, **numbers}


def draw(system: Loaded, found: Bounds) -> Any:
    """What was found as bars, what is proved as lines at their ends, and torque limits that are known as dots."""
    count = len(found.names)
    figure = outputs.new_figure((7.2, 1.4 + 0.42 * count), layout="constrained")
    ax, places = figure.subplots(), np.arange(count)
    low, high = found.minimum.attained, found.maximum.attained
    ax.barh(places, high - low, left=low, height=0.5, color=canvas.PALETTE[0], alpha=0.55, label="found")
    for k, (lower, upper) in enumerate(zip(found.lower, found.upper, strict=True)):
        ends = {"color": canvas.INK, "linewidth": 1.6, "label": "proved" if k == 0 else None}
        ax.plot([lower, lower, np.nan, upper, upper], [k - 0.34, k + 0.34, np.nan, k - 0.34, k + 0.34], **ends)
    _draw_limits(ax, system, found)
    units = dict.fromkeys(unit for unit in found.units if unit)
    canvas.dress(ax, f"{found.quantity} [{' | '.join(units)}]" if units else found.quantity, "")
    ax.lines[-1].remove()  # the zero of names means nothing
    ax.axvline(0.0, color=canvas.FAINT, linewidth=0.8, zorder=0)
    ax.margins(x=0.05)
    ax.set_yticks(places, found.names)
    ax.invert_yaxis()
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)
    return figure


def _draw_limits(ax: Any, system: Loaded, found: Bounds) -> None:
    """The torque limits of joints that are among the entries."""
    efforts = {c.name: c.limits.effort for c in engine.system_of(system).coordinates}
    known = [(k, efforts[name]) for k, name in enumerate(found.names) if np.isfinite(efforts.get(name, np.inf))]
    if known and found.quantity in ("inverse_dynamics", "gravity_torque"):
        places, limits = np.array(known).T
        ends = np.concatenate([limits, -limits])
        ax.plot(ends, np.tile(places, 2), "D", color=canvas.PALETTE[1], markersize=5, label="limit of the model")


def _ranges(system: Any, ranges: Mapping[str, Sequence[float]], *, degrees: bool) -> dict[str, Any]:
    """Ranges as `bounds` takes them, in rad and m; what is not given is left to it."""
    turns = np.array([coordinate.turns for coordinate in engine.system_of(system).coordinates])

    def si(numbers: Sequence[float]) -> Any:
        values = np.array(numbers, dtype=float)
        if degrees and len(values) in (1, len(turns)):
            values = np.where(turns, np.radians(values), values)
        return values if len(values) > 1 else values[0]

    given: dict[str, Any] = {}
    limits = engine.system_of(system).coordinates
    if ranges["lower"] or ranges["upper"]:
        ends = (ranges["lower"] or None, ranges["upper"] or None)
        given["q"] = tuple(
            si(end) if end else np.array([getattr(c.limits, side) for c in limits])
            for end, side in zip(ends, ("lower", "upper"), strict=True)
        )
    for name in ("qd", "qdd"):
        if ranges[name]:
            given[name] = (-si(ranges[name]), si(ranges[name]))
    if ranges["tau"]:
        tau = np.array(ranges["tau"]) if len(ranges["tau"]) > 1 else ranges["tau"][0]
        given["tau"] = (-tau, tau)
    if ranges["payload"]:
        given["payload"] = tuple(ranges["payload"]) if len(ranges["payload"]) > 1 else ranges["payload"][0]
    return given


def record(found: Bounds) -> dict[str, Any]:
    """Everything that was found, for other programs."""
    return {
        "robot": found.robot,
        "quantity": found.quantity,
        "entries": found.names,
        "units": found.units,
        "lower": found.lower,
        "upper": found.upper,
        "largest_size": found.size,
        "gap": found.gap,
        "maximum": found.maximum._asdict(),
        "minimum": found.minimum._asdict(),
        "box": found.box,
        "rtol": found.rtol,
        "finished": found.finished,
        "boxes": found.boxes,
        "seconds": found.seconds,
        "proved": found.proved,
    }
