"""What equations can be asked for: the results of quantities whose records say how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...dynamics.engine import request_of
from ...dynamics.quantities import QUANTITIES
from ...dynamics.quantity import Equation
from ...dynamics.system import Reading, System


class WrittenQuantity(NamedTuple):
    """A result in equations: how it looks, and which result of which quantity it is."""

    equation: Equation
    quantity: str
    place: int


EQUATIONS: dict[str, WrittenQuantity] = {
    output.equation.name: WrittenQuantity(output.equation, name, place)
    for name, record in QUANTITIES.items()
    for place, output in enumerate(record.outputs)
    if output.equation is not None
}


def sources(names: Iterable[str]) -> list[str]:
    """What has to be traced for closed forms of these quantities."""
    return list(dict.fromkeys(part for name in names for part in (EQUATIONS[name].equation.parts or (name,))))


def together(system: System, names: Sequence[str], reading: Reading) -> Callable[..., Any]:
    """One function of a state for several quantities."""

    def function(**state: Any) -> Any:
        results = tuple(_result(system, EQUATIONS[name], reading, state) for name in names)
        return results if len(results) > 1 else results[0]

    return function


def _result(system: System, wanted: WrittenQuantity, reading: Reading, state: Mapping[str, Any]) -> Any:
    recipe = system.recipe(request_of(wanted.quantity), reading)
    results = recipe.function(*(state[name] for name in recipe.inputs))
    return results[wanted.place] if len(recipe.outputs) > 1 else results
