"""What exported code says about itself: robot, quantity, arrays with shapes and units, operation counts. ASCII only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ..dynamics.quantities import unit_of
from ..dynamics.system import System
from ..expr import Program, Slot, operation_counts
from ..model.numbers import Parameter
from .straight import Code

_DERIVATIVE = re.compile(r"d(\w+?)_d(\w+)")
_OTHER = "SI units"


class Module(NamedTuple):
    """What one file is made of: programs of a system by the names of their functions, the type of their numbers, and the
    robot's numbers that are parameters of the functions.
    """

    robot: System
    name: str
    functions: Mapping[str, Program]
    dtype: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        """Names of the parameters."""
        return frozenset(parameter.name for parameter in self.parameters)


def robot_lines(robot: System, first: int = 0) -> list[str]:
    """The robot and its coordinates, in order, counted from `first`."""
    joints = robot.coordinates
    lines = [f"Robot {robot.name!a} with {len(joints)} coordinate{'' if len(joints) == 1 else 's'}, in this order:"]
    return lines + [
        f"  {i}  {joint.name!a}  {'turns, rad' if joint.turns else 'slides, m'}" for i, joint in enumerate(joints, first)
    ]


def program_lines(robot: System, program: Program, code: Code) -> list[str]:
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
    counts = operation_counts.counts(program)
    parts = {
        "mul": counts.mul,
        "add": counts.add,
        "div": counts.div,
        "sqrt": counts.sqrt,
        "sin and cos": counts.sincos,
        "other operations": counts.other,
    }
    return ", ".join(f"{count} {what}" for what, count in parts.items() if count) or "no operations"


def _array(robot: System, slot: Slot, name: str) -> str:
    """`M[7 x 7], kg m^2`, and what it is called in the library where that differs."""
    shape = f"[{' x '.join(map(str, slot.shape))}]" if slot.shape else ""
    original = f", {slot.name!a} in dalembert" if slot.name != name else ""
    return f"{name}{shape}, {unit(robot, slot.name)}{original}"


def unit(robot: System, name: str) -> str:
    """The unit of an input or output; several where turning and sliding joints differ."""
    found = unit_of("wrenches" if name.startswith("wrenches[") else name)
    if isinstance(found, tuple):
        turns = {joint.turns for joint in robot.coordinates}
        return " | ".join(found) if len(turns) == 2 else found[0 if True in turns else -1]
    if found is not None:
        return f"{found}, in world axes" if name.startswith("wrenches[") else found
    derivative = _DERIVATIVE.fullmatch(name)
    if derivative and _OTHER not in (parts := [unit(robot, part) for part in derivative.groups()]):
        return " per ".join(parts)
    return _OTHER
