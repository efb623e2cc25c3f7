"""`dalembert dynamics`: torques and what they are made of, at one state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .. import dynamics as dyn
from ..checks import FloatArray
from ..errors import ShapeError
from ..loading import load
from ..wording import counted
from . import terminal
from .digits import aligned
from .sheets import Sheet, print_sheets, print_title, sheet
from .systems import Loaded, coordinates_of, has_friction, noun_of, position_left_out


class GivenState(NamedTuple):
    """A state of a robot, each of shape (n,), or a batch of them, (..., n)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


class Result(NamedTuple):
    """The dynamics at a state: τ = M q̈ + h + friction, h = C q̇ + g."""

    tau: FloatArray
    M: FloatArray
    h: FloatArray
    g: FloatArray

    def parts(self, qdd: FloatArray) -> dict[str, FloatArray]:
        """The torque by cause; each of shape (..., n)."""
        inertia = np.einsum("...ij,...j->...i", self.M, qdd)
        return {"inertia": inertia, "Coriolis": self.h - self.g, "gravity": self.g, "friction": self.tau - self.h - inertia}


def run(source: str, given: Mapping[str, Sequence[float]], *, degrees: bool, formulation: str, json: bool) -> None:
    """Print the dynamics of a robot at the state given."""
    robot = load(source)
    state = state_of(robot, given, degrees=degrees)
    result = evaluate(robot, state, formulation)
    if json:
        terminal.print_json(_record(robot, state, result, formulation))
        return
    print_title(f"{robot!r}, formulation {formulation}")
    print_sheets(state_table(robot, state), torque_table(robot, state, result), mass_table(robot, result))


def state_of(
    robot: Loaded, given: Mapping[str, Sequence[float]], *, degrees: bool, option: str = "", finite: bool = False
) -> GivenState:
    """The state in SI units; what is not given is zero, and of a mechanism the position in which it was assembled.

    Messages name the option that gives it, where it is another than --q, --qd or --qdd. Some commands need it `finite`.
    """
    scale = np.array([np.pi / 180 if degrees and joint.turns else 1.0 for joint in coordinates_of(robot)])
    left_out = {"q": position_left_out(robot)}

    def values(name: str) -> FloatArray:
        found = given.get(name, ())
        return _checked(robot, option or name, found, finite=finite) * scale if found else left_out.get(name, np.zeros(robot.n))

    return GivenState(*map(values, GivenState._fields))


def _checked(robot: Loaded, name: str, values: Sequence[float], *, finite: bool) -> FloatArray:
    if len(values) != robot.n:
        raise ShapeError(
            f"{name}: {counted(len(values), 'value')} found, but {robot.name!r} has {counted(robot.n, noun_of(robot))}, so "
            f"{robot.n} expected: {', '.join(robot.joint_names)}."
        )
    if finite:
        for axis, value in zip(coordinates_of(robot), values, strict=True):
            if not np.isfinite(value):
                raise ShapeError(f"{name}: {value:g} found for {noun_of(robot)} {axis.name!r}; a finite number is expected.")
    return np.array(values, dtype=float)


def evaluate(robot: Loaded, state: GivenState, formulation: str = "newton_euler") -> Result:
    """The dynamics at a state, or at many: leading axes are a batch."""
    with np.errstate(invalid="ignore"):  # a NaN in the state gives NaN in the results; no warning is needed
        return Result(
            dyn.inverse_dynamics(robot, *state, formulation=formulation),
            dyn.mass_matrix(robot, state.q),
            dyn.bias(robot, state.q, state.qd, formulation=formulation),
            dyn.gravity_torque(robot, state.q, formulation=formulation),
        )


def torque_units(robot: Loaded) -> list[str]:
    """N m of a turning joint, N of a sliding one."""
    return ["N m" if joint.turns else "N" for joint in coordinates_of(robot)]


def state_table(robot: Loaded, state: GivenState) -> Sheet:
    """Where the joints are and how they move."""
    cells = np.column_stack([aligned(values) for values in state])
    rows = [(joint.name, "rad" if joint.turns else "m", *cells[i]) for i, joint in enumerate(coordinates_of(robot))]
    return sheet("State: q, qd per s, qdd per s²", [noun_of(robot), "unit", *GivenState._fields], rows, left=2, keys=2)


def torque_table(robot: Loaded, state: GivenState, result: Result) -> Sheet:
    """The torque of each joint, split by cause."""
    parts = result.parts(state.qdd)
    if not has_friction(robot):
        del parts["friction"]  # only rounding errors would be shown there
    heads = {"inertia": "M qdd", "Coriolis": "C qd", "gravity": "g", "friction": "friction"}
    cells = aligned(np.column_stack([*parts.values(), result.tau]))
    rows = [(*names, *row) for *names, row in zip(robot.joint_names, torque_units(robot), cells, strict=True)]
    return sheet("Torques", [noun_of(robot), "unit", *(heads[name] for name in parts), "tau"], rows, left=2, keys=2)


def mass_table(robot: Loaded, result: Result) -> Sheet:
    """The mass matrix and, beside it, the bias."""
    values, h = aligned(result.M), aligned(result.h)
    rows = [(name, *values[i], h[i]) for i, name in enumerate(robot.joint_names)]
    title = f"Mass matrix M [{_mass_units(robot)}] and bias h = C qd + g [{' | '.join(dict.fromkeys(torque_units(robot)))}]"
    return sheet(title, ["", *robot.joint_names, "h"], rows)


def _mass_units(robot: Loaded) -> str:
    """The units that occur in the mass matrix: a turn and a slide couple through kg m."""
    turns = {joint.turns for joint in coordinates_of(robot)}
    if len(turns) == 2:
        return "kg m² | kg m | kg"
    return "kg m²" if True in turns else "kg"


def _record(robot: Loaded, state: GivenState, result: Result, formulation: str) -> dict[str, object]:
    return {
        "robot": robot.name,
        "formulation": formulation,
        "joints": list(robot.joint_names),
        "torque_units": torque_units(robot),
        **state._asdict(),
        **result._asdict(),
        "parts": result.parts(state.qdd),
    }
