"""`dalembert linearize`: the linear model of a robot or mechanism about a pose, a state of motion or many of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import plots
from ..checks import FloatArray
from ..linear import LinearModel, linearize
from ..linear.equilibria import stability_of
from ..linear.signals import Signal
from ..loading import load
from ..wording import counted
from . import outputs, terminal
from .digits import aligned, number
from .dynamics import GivenState, state_table
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import StateRows, entries, extremes, rows_of, target_of, write_rows
from .systems import Loaded


def run(given: Namespace) -> None:
    """Print A, B and the modes, at the state given, with no acceleration if none is; of many states, what changes most."""
    picture = outputs.picture("linearize", given.plot, "--plot")
    target = target_of(given.output)
    system = load(given.source)
    rows = rows_of(system, given, "q", "qd", "qdd")
    model = linearize(system, rows.state.q, rows.state.qd, qdd=rows.state.qdd, outputs=given.outputs or None)
    if given.json:
        terminal.print_json(record(model, rows))
    elif rows.many:
        print_title(f"{model!r}, about {counted(rows.size, 'state')}")
        print_sheets(extremes("Over all states", _course(model)))
    else:
        _print_one(system, model, rows.state, bool(given.outputs))
    write_rows(target, rows.columns(system, "q", "qd", "qdd"), columns(model, bool(given.outputs)))
    if picture is not None:
        outputs.save_figure(draw(model), picture)


def _print_one(system: Loaded, model: LinearModel, state: GivenState, with_outputs: bool) -> None:
    still = not (state.qd.any() or state.qdd.any())
    about = f"an equilibrium, {stability_of(model.poles)}" if still else "a state of motion"
    print_title(f"{model!r}, about {about}")
    tables = [state_table(system, state), torque_table(model), *(matrix_table(model, which) for which in "AB")]
    print_sheets(*tables, *([matrix_table(model, "C")] if with_outputs else []), mode_table(model))


def _course(model: LinearModel) -> dict[str, FloatArray]:
    """What tells most about each of many models."""
    assert model.point is not None
    torques = {f"{u.name} [{u.unit}]": model.point.tau[:, k] for k, u in enumerate(model.inputs)}
    largest = {"largest real part of a pole [1/s]": model.poles.real.max(axis=-1)}
    return largest | {"fastest pole [rad/s]": np.abs(model.poles).max(axis=-1)} | torques


def columns(model: LinearModel, with_outputs: bool) -> dict[str, FloatArray]:
    """Torques, the rows of A and B below the trivial ones, C where outputs are asked for, and poles, as columns."""
    assert model.point is not None
    n = model.n // 2
    found = {f"{u.name} [{u.unit}]": model.point.tau[..., k] for k, u in enumerate(model.inputs)}
    rates = [Signal(x.name, _rate(x.unit)) for x in model.states[n:]]
    parts = [("A", rates, model.states, model.A[..., n:, :]), ("B", rates, model.inputs, model.B[..., n:, :])]
    if with_outputs:
        parts.append(("C", list(model.outputs), model.states, np.broadcast_to(model.C, (*model.batch, *model.C.shape[-2:]))))
    for name, left, right, values in parts:
        units = partial(_per, left, right)
        found |= entries(name, [x.name for x in left], [x.name for x in right], units, values)
    for k in range(model.n):
        found |= {f"pole{k + 1}_re [1/s]": model.poles[..., k].real, f"pole{k + 1}_im [rad/s]": model.poles[..., k].imag}
    return found


def _per(left: Sequence[Signal], right: Sequence[Signal], i: int, j: int) -> str:
    return f"{left[i].unit} per {right[j].unit}"


def torque_table(model: LinearModel) -> Sheet:
    """The torques of the drives there."""
    assert model.point is not None
    cells = aligned(model.point.tau)
    rows = [(u.name, u.unit, cell) for u, cell in zip(model.inputs, cells, strict=True)]
    return sheet("Torques there", ["input", "unit", "tau"], rows, left=2, keys=2)


def matrix_table(model: LinearModel, which: str) -> Sheet:
    """A, B or C with the names of rows and columns."""
    columns = model.inputs if which == "B" else model.states
    rows = [(y.name, f"{y.unit}") for y in model.outputs] if which == "C" else [(x.name, _rate(x.unit)) for x in model.states]
    title = {"A": "A: rates of states by states", "B": "B: rates of states by inputs", "C": "C: outputs by states"}[which]
    cells = aligned(getattr(model, which))
    named = [(*row, *cells[k]) for k, row in enumerate(rows)]
    return sheet(title, ["", "unit", *(column.name for column in columns)], named, left=2, keys=1)


def _rate(unit: str) -> str:
    """The unit of a rate."""
    return f"{unit}²" if unit.endswith("/s") else f"{unit}/s"


def mode_table(model: LinearModel) -> Sheet:
    """Poles, and what they are like."""
    rows = [(most, *(number(None if np.isnan(x) else x) for x in figures)) for *figures, most in model.modes().rows()]
    return sheet("Modes", ["states that take part", "Re [1/s]", "Im [rad/s]", "frequency [rad/s]", "damping"], rows)


def draw(model: LinearModel) -> Any:
    """The figure."""
    if model.batch:
        return plots.poles(model)[0].figure
    figure = outputs.new_figure((10.0, 4.2 + 0.12 * model.n), layout="constrained")
    plots.poles(model, axes=figure.subplots(1, 2))
    return figure


def record(model: LinearModel, rows: StateRows) -> dict[str, Any]:
    """Everything, for other programs; of many states, arrays over all of them."""
    assert model.point is not None
    modes = model.modes()
    return {
        "name": model.name,
        **{what: [s._asdict() for s in getattr(model, what)] for what in ("states", "inputs", "outputs")},
        **({} if rows.t is None else {"t": rows.t}),
        **{what: getattr(model, what) for what in "ABCD"},
        "point": model.point._asdict(),
        "poles": np.stack([modes.poles.real, modes.poles.imag], axis=-1),
        "frequency": modes.frequency,
        "damping": modes.damping,
        "participation": modes.participation,
        "controllable": np.asarray(model.controllability().complete),
        "observable": np.asarray(model.observability().complete),
    }
