"""What exported code says about itself: robot, quantity, arrays with shapes and units, operation counts. ASCII only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ..expr import Program, Slot, listing
from ..model import Robot
from ..model.numbers import Parameter
from .straight import Code

_BY_KIND: dict[str, tuple[str, ...]] = {  # of turning joints first, of sliding ones last, between them where both meet
    "q": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "qdd": ("rad/s^2", "m/s^2"),
    **dict.fromkeys(("tau", "g", "h", "friction"), ("N m", "N")),
    **dict.fromkeys(("M", "c"), ("kg m^2", "kg m", "kg")),
    "C": ("kg m^2/s", "kg m/s", "kg/s"),
}
_SETTLED = {
    "kinetic": "J",
    "potential": "J",
    "X": "rotation without unit, position in m",
    "J": "rates in m/s and rad/s per unit of qd",
    "Jdot": "accelerations in m/s^2 and rad/s^2 per unit of qd",
    "base_velocity": "m/s, then rad/s, in axes of the base",
    "base_acceleration": "m/s^2, then rad/s^2, in axes of the base",
    "wrenches": "force in N, then moment in N m",
    "parameters": "in the order of dalembert.parameter_names, SI units",
    "Y": "torque per unit of parameter, columns as in dalembert.parameter_names",
    "dqdd_dphi": "acceleration per unit of parameter, columns as in dalembert.parameter_names",
}
_DERIVATIVE = re.compile(r"d(\w+?)_d(\w+)")
_OTHER = "SI units"


class Module(NamedTuple):
    """What one file is made of: programs of a robot by the names of their functions, the type of their numbers, and the
    robot's numbers that are parameters of the functions.
    """

    robot: Robot
    name: str
    functions: Mapping[str, Program]
    dtype: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        """Names of the parameters."""
        return frozenset(parameter.name for parameter in self.parameters)


def robot_lines(robot: Robot, first: int = 0) -> list[str]:
    """The robot and its coordinates, in order, counted from `first`."""
    lines = [f"Robot {robot.name!a} with {robot.n} coordinate{'' if robot.n == 1 else 's'}, in this order:"]
    joints = robot.structure.coordinates
    return lines + [
        f"  {i}  {joint.name!a}  {'turns, rad' if joint.turns else 'slides, m'}" for i, joint in enumerate(joints, first)
    ]


def program_lines(robot: Robot, program: Program, code: Code) -> list[str]:
    """The quantity, its operation counts and its arrays under their names in code."""
    lines = [f"{program.name}: {_counted(program)}"]
    lines += [f"  in  {_array(robot, program.inputs[i], code.inputs[i])}" for i in code.arrays]
    if code.record:
        lines.append(f"  in  {code.record}: {', '.join(code.inputs[i] for i in sorted(code.fields))}")
    pairs = zip(program.outputs, code.outputs, strict=True)
    return lines + [f"  out {_array(robot, slot, array)}" for slot, array in pairs]


def parameter_line(parameter: Parameter) -> str:
    """What a parameter is, in ASCII."""
    unit = f", {parameter.unit}" if parameter.unit != "1" else ""
    return f"{parameter.meaning}{unit}".replace("\N{SUPERSCRIPT TWO}", "^2").encode("ascii", "backslashreplace").decode()


def _counted(program: Program) -> str:
    counts = listing.counts(program)
    parts = {
        "mul": counts.mul,
        "add": counts.add,
        "div": counts.div,
        "sqrt": counts.sqrt,
        "sin and cos": counts.sincos,
        "other operations": counts.other,
    }
    return ", ".join(f"{count} {what}" for what, count in parts.items() if count) or "no operations"


def _array(robot: Robot, slot: Slot, name: str) -> str:
    """`M[7 x 7], kg m^2`, and what it is called in the library where that differs."""
    shape = f"[{' x '.join(map(str, slot.shape))}]" if slot.shape else ""
    original = f", {slot.name!a} in dalembert" if slot.name != name else ""
    return f"{name}{shape}, {unit(robot, slot.name)}{original}"


def unit(robot: Robot, name: str) -> str:
    """The unit of an input or output; several where turning and sliding joints differ."""
    if name in _BY_KIND:
        units, turns = _BY_KIND[name], {joint.turns for joint in robot.structure.coordinates}
        return " | ".join(units) if len(turns) == 2 else units[0 if True in turns else -1]
    if name.startswith("wrenches["):
        return f"{_SETTLED['wrenches']}, in world axes"
    derivative = _DERIVATIVE.fullmatch(name)
    if derivative and _OTHER not in (parts := [unit(robot, part) for part in derivative.groups()]):
        return " per ".join(parts)
    return _SETTLED.get(name, _OTHER)
