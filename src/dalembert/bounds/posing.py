"""From a system and a quantity's name to what is bounded: the program, the kernel, names and units of entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..checks import choice
from ..codegen import Kernel, build
from ..dynamics import engine
from ..dynamics.structure import parameters
from ..dynamics.surroundings import Forces
from ..dynamics.system import AnySystem, solves
from ..errors import ModelError, ShapeError
from ..expr import Expr, Program, trace
from ..expr.graph import reachable
from ..model import Robot
from ..wording import shown
from . import subjects
from .input_ranges import Ranges
from .subjects import Graphs, Subject

SPECIAL = {"eigenvalues": "mass_matrix", "gravity_norm": "gravity_torque", "coriolis_norm": "christoffel"}
"""Functions of all entries of a quantity, by name: eigenvalues of M, |g|, and |C| per |q̇|."""


def subject(system: AnySystem, quantity: Any, ranges: Ranges, payload: tuple[float, float] | None, which: Any) -> Subject:
    """What is bounded."""
    found = engine.system_of(system)
    if solves(found):
        raise ModelError(
            f"bounds: the positions of {system.name!r} are found by iteration, and have no formula to bound. Bound the robot "
            "beneath, or a mechanism whose positions are linear in its coordinates."
        )
    if hasattr(quantity, "inverse_dynamics") and hasattr(quantity, "kernel"):
        return _error(system, quantity.kernel, ranges, which)
    names = {**dict.fromkeys(engine.QUANTITIES), **SPECIAL}
    choice("quantity", quantity, {name: name for name in names})
    name = SPECIAL.get(quantity, quantity)
    program, kernel, more = _with_payload(system, name, payload) if payload else _plain(system, name)
    graphs = _graphs(system, program, ranges | more)
    if quantity in SPECIAL:
        return _special(system, quantity, graphs, kernel, which)
    labels = _labels(system, program, name)
    return subjects.entries(graphs, kernel, quantity, labels, _chosen(which, labels))


def _graphs(system: AnySystem, program: Program, ranges: Ranges) -> Graphs:
    for slot in program.inputs:
        if slot.name not in ranges:
            raise ModelError(
                f"{program.name}: no range of its input {slot.name!r} found, and the system states no limits for it. "
                f"Give {slot.name}=(lower, upper)."
            )
    return Graphs(program, ranges, [coordinate.turns for coordinate in engine.system_of(system).coordinates])


def _plain(system: AnySystem, name: str) -> tuple[Program, Kernel, Ranges]:
    program = engine.program(system, name, rolled=False)
    assert isinstance(program, Program)
    return program, engine.kernel(system, name), {}


def _with_payload(system: AnySystem, name: str, masses: tuple[float, float]) -> tuple[Program, Kernel, Ranges]:
    """The quantity with a point mass at the tool as a further input."""
    record = engine.QUANTITIES[name]
    if not isinstance(system, Robot) or "forces" not in record.options:
        raise ModelError(
            f"payload: {name} of {system.name!r} has no payload as an input; a robot's inverse_dynamics, bias, gravity_torque, "
            "mass_matrix or forward_dynamics has. Try robot.with_payload(mass) for a fixed one."
        )
    bare = system.replace(parameters=system.parameters.replace(payload=None))
    empty = parameters(bare)
    slope = parameters(system.with_payload(1.0)) - empty
    options = {**record.options, "forces": Forces(parameters=True)}
    recipe = engine.system_of(bare).recipe(engine.request_of(name, tuple(options.values())))
    inputs = {key: shape for key, shape in recipe.inputs.items() if key != "parameters"}

    def function(*given: Any) -> Any:
        *state, (mass,) = given
        return recipe.function(*state, [a + mass * b if b else a for a, b in zip(empty.tolist(), slope.tolist(), strict=True)])

    program = trace(function, {**inputs, "payload": (1,)}, recipe.outputs, name=name)
    return program, build(program), {"payload": (np.array(masses[:1]), np.array(masses[1:]))}


def _labels(system: AnySystem, program: Program, name: str) -> list[tuple[str, str]]:
    """Name and unit of each entry: those of coordinates for forces, else of the output with its place."""
    coordinates = engine.system_of(system).coordinates
    units = {output.name: (output.rule, output.unit) for output in engine.QUANTITIES[name].outputs}
    found = []
    for slot in program.outputs:
        rule, unit = units.get(slot.name, ("", ""))
        if rule == "force" and slot.shape == (len(coordinates),):
            found += [(c.name, c.force_unit) for c in coordinates]
        else:
            text = " | ".join(unit) if isinstance(unit, tuple) else str(unit or "")
            found += [(slot.name + _suffix(index), text) for index in np.ndindex(*slot.shape)]
    return found


def _suffix(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""


def _chosen(which: Any, labels: Sequence[tuple[str, str]]) -> list[int]:
    """Entries by number or name; all of them for None."""
    if which is None:
        return list(range(len(labels)))
    several = isinstance(which, (list, tuple, range)) or (isinstance(which, np.ndarray) and which.ndim == 1)
    given = which if several and len(which) else [which]
    names = {name: k for k, (name, _) in enumerate(labels)}
    found = []
    for one in given:
        if isinstance(one, str):
            found.append(choice("which", one, names))
        elif isinstance(one, (int, np.integer)) and not isinstance(one, bool) and -len(labels) <= one < len(labels):
            found.append(int(one) % len(labels))
        else:
            raise ShapeError(
                f"which: {shown(one)} found; names of entries, or numbers from 0 to {len(labels) - 1}, are expected."
            )
    return found


def _special(system: AnySystem, quantity: str, graphs: Graphs, kernel: Kernel, which: Any) -> Subject:
    if which is not None:
        raise ShapeError(f"which: {shown(which)} found; {quantity} is one number. Leave `which` out.")
    n = engine.size(system)
    makers: dict[str, Callable[[], Subject]] = {
        "eigenvalues": lambda: subjects.eigenvalues(graphs, kernel, n, "kg m^2 | kg"),
        "gravity_norm": lambda: subjects.gravity_norm(graphs, kernel, "N m | N"),
        "coriolis_norm": lambda: subjects.coriolis_norm(graphs, kernel, n, "kg m^2 | kg m | kg"),
    }
    return makers[quantity]()


def _error(system: AnySystem, kernel: Kernel, ranges: Ranges, which: Any) -> Subject:
    """The torques of another model of the same system less those of its own."""
    if kernel.program is None:
        raise ModelError("quantity: a kernel without its program found; a model of `simplify_model` is expected.")
    exact = engine.program(system, "inverse_dynamics", rolled=False)
    assert isinstance(exact, Program)
    other = kernel.program

    def difference(*given: Any) -> list[Any]:
        return [a - b for a, b in zip(replayed(other, *given), replayed(exact, *given), strict=True)]

    program = trace(difference, {slot.name: slot.shape for slot in exact.inputs}, ["error"], name="error")
    coordinates = engine.system_of(system).coordinates
    labels = [(c.name, c.force_unit) for c in coordinates]
    graphs = _graphs(system, program, ranges)
    found = subjects.entries(graphs, build(program), "error", labels, _chosen(which, labels))
    return found


def replayed(program: Program, *given: Sequence[Any]) -> list[Any]:
    """The outputs of a program of one output, run on scalars of any kind: lists in place of its inputs."""
    values: dict[Expr, Any] = {}
    for nodes, scalars in zip(program.entries, given, strict=True):
        values |= dict(zip(nodes, scalars, strict=True))
    for node in reachable(program.results[0]):
        if node.op == "const":
            values[node] = node.value
        elif node not in values:
            graph = next(s.graph for scalars in given for s in scalars if isinstance(s, Expr))
            values[node] = graph.apply(node.op, *(values[a] for a in node.args))
    return [values[x] if isinstance(x, Expr) else x for x in program.results[0]]
