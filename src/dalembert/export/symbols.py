"""Which numbers of a robot are symbols, and programs in which they are inputs under their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..algorithms import newton_euler_recursion
from ..algorithms.sweep import Unrolled
from ..dynamics.engine import tree as checked_tree
from ..errors import UnknownNameError
from ..expr import Program, trace
from ..model import Robot
from ..model.named_tree import symbolic_tree
from ..model.numbers import KINDS, Key, Number, Parameter, parameters
from ..model.tree import Tree
from ..options import several_names

Chosen = Mapping[Key, Parameter]
ALL = "all"


def parameters_of(robot: Robot) -> dict[Key, Parameter]:
    """Every number of a robot that is not zero, named; found once and kept with the robot."""
    found: dict[Key, Parameter] | None = robot.kernels.get(parameters_of)
    if found is None:
        checked_tree(robot)
        found = robot.kernels[parameters_of] = _all_named(robot)
    return found


def _all_named(robot: Robot) -> dict[Key, Parameter]:
    """Names depend on which numbers act in τ, so τ is traced with every number as an input."""
    seen: dict[str, Number] = {}

    def torque(q: Any, qd: Any, qdd: Any) -> Any:
        def scalar(number: Number) -> Any:
            seen[repr(number.key)] = number
            return q[0].graph.input(repr(number.key))

        tree = symbolic_tree(robot, scalar)
        return newton_euler_recursion.inverse_dynamics(
            Unrolled(tree), q, qd, qdd, newton_euler_recursion.still_base(tree.gravity)
        )

    program = trace(torque, dict.fromkeys(("q", "qd", "qdd"), (robot.n,)), ["tau"])
    acting = {seen[node.value].key for node in program.nodes if node.op == "input" and node.value in seen}
    return parameters(seen.values(), acting)


def chosen(robot: Robot, symbols: str | Iterable[str]) -> dict[Key, Parameter]:
    """The parameters that 'all', kinds such as 'masses', or names such as 'm_1' mean."""
    known = parameters_of(robot)
    wanted = several_names("symbols", symbols, "'all', a kind such as 'masses', a name such as 'm_1', or a list of them")
    if ALL in wanted:
        return known
    names = {parameter.name for parameter in known.values()}
    for word in wanted:
        if word not in KINDS and word not in names:
            raise UnknownNameError.among("symbols", word, [ALL, *KINDS, *sorted(names)])
    return {key: p for key, p in known.items() if p.kind in wanted or p.name in wanted}


def tree_with(robot: Robot, symbols: Chosen, scalar: Callable[[Parameter], Any]) -> Tree:
    """The tree of a robot in which some numbers are what `scalar` makes of their parameters."""

    def choose(number: Number) -> Any:
        parameter = symbols.get(number.key)
        return number.value if parameter is None else scalar(parameter) * parameter.sign

    return symbolic_tree(robot, choose)


def traced(
    robot: Robot,
    symbols: Chosen,
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    outputs: Sequence[str],
    name: str,
) -> Program:
    """Trace `function(tree, *inputs)` with a tree whose symbols are further inputs; those that nothing needs are left out."""
    named = list(dict.fromkeys(symbols.values()))
    names = {parameter.name: () for parameter in named}

    def with_symbols(*scalars: Any) -> Any:
        given = dict(zip(names, scalars[len(inputs) :], strict=True))
        return function(tree_with(robot, symbols, lambda p: given[p.name]), *scalars[: len(inputs)])

    return _needed(trace(with_symbols, {**inputs, **names}, outputs, name=name), len(inputs))


def _needed(program: Program, kept: int) -> Program:
    """The program without inputs, after the first few, that no output depends on."""
    used = {program.input_places[node.index][0] for node in program.nodes if node.op == "input"}
    places = [i for i in range(len(program.inputs)) if i < kept or i in used]
    inputs, entries = (program.inputs[i] for i in places), (program.entries[i] for i in places)
    return dataclasses.replace(program, inputs=tuple(inputs), entries=tuple(entries))
