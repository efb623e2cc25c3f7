"""Which numbers of a robot are symbols, and programs in which they are inputs under their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..algorithms.sweep import Unrolled
from ..dynamics import engine
from ..dynamics.system import AnySystem, Reading, Request
from ..errors import UnknownNameError
from ..expr import Program, trace
from ..model.numbers import KINDS, Number, NumberKey, Parameter, parameters
from ..model.tree import Tree
from ..options import several_names

Chosen = Mapping[NumberKey, Parameter]
ALL = "all"


def parameters_of(system: AnySystem) -> dict[NumberKey, Parameter]:
    """Every number of a system's model that is not zero, named; found once and kept with the system."""
    engine.size(system)
    return engine.kept(system, Request("numbers"), lambda: _all_named(system))


def _all_named(system: AnySystem) -> dict[NumberKey, Parameter]:
    """Names depend on which numbers act in τ, so τ is traced with every number as an input."""
    seen: dict[str, Number] = {}

    def torque(q: Any, qd: Any, qdd: Any) -> Any:
        def scalar(number: Number) -> Any:
            seen[repr(number.key)] = number
            return q[0].graph.input(repr(number.key))

        recipe = engine.system_of(system).recipe(engine.request_of("inverse_dynamics"), Reading(scalar))
        return recipe.function(q, qd, qdd)

    program = trace(torque, dict.fromkeys(("q", "qd", "qdd"), (engine.size(system),)), ["tau"])
    acting = {seen[node.value].key for node in program.nodes if node.op == "input" and node.value in seen}
    return parameters(seen.values(), acting)


def chosen(system: AnySystem, symbols: str | Iterable[str]) -> dict[NumberKey, Parameter]:
    """The parameters that 'all', kinds such as 'masses', or names such as 'm_1' mean."""
    known = parameters_of(system)
    wanted = several_names("symbols", symbols, "'all', a kind such as 'masses', a name such as 'm_1', or a list of them")
    if ALL in wanted:
        return known
    names = {parameter.name for parameter in known.values()}
    for word in wanted:
        if word not in KINDS and word not in names:
            raise UnknownNameError.among("symbols", word, [ALL, *KINDS, *sorted(names)])
    return {key: p for key, p in known.items() if p.kind in wanted or p.name in wanted}


def reading_with(symbols: Chosen, scalar: Callable[[Parameter], Any], sweep: Callable[[Tree], Any] = Unrolled) -> Reading:
    """A reading of a model in which some numbers are what `scalar` makes of their parameters."""

    def choose(number: Number) -> Any:
        parameter = symbols.get(number.key)
        return number.value if parameter is None else scalar(parameter) * parameter.sign

    return Reading(choose, sweep)


def traced(
    symbols: Chosen,
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    outputs: Sequence[str],
    name: str,
) -> Program:
    """Trace `function(scalar, *inputs)`, where `scalar` gives the further input that stands for a parameter; those that nothing
    needs are left out.
    """
    names = {parameter.name: () for parameter in dict.fromkeys(symbols.values())}

    def with_symbols(*scalars: Any) -> Any:
        given = dict(zip(names, scalars[len(inputs) :], strict=True))
        return function(lambda parameter: given[parameter.name], *scalars[: len(inputs)])

    return _needed(trace(with_symbols, {**inputs, **names}, outputs, name=name), len(inputs))


def _needed(program: Program, kept: int) -> Program:
    """The program without inputs, after the first few, that no output depends on."""
    used = {program.input_places[node.index][0] for node in program.nodes if node.op == "input"}
    places = [i for i in range(len(program.inputs)) if i < kept or i in used]
    inputs, entries = (program.inputs[i] for i in places), (program.entries[i] for i in places)
    return dataclasses.replace(program, inputs=tuple(inputs), entries=tuple(entries))
