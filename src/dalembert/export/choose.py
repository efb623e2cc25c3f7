"""From a quantity and options given by name to the traced program: options fall into the order the engine takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..checks import choice, flag
from ..dynamics import engine
from ..dynamics.quantities import EXPORTED
from ..dynamics.surroundings import Forces
from ..dynamics.system import AnySystem, Request
from ..errors import ShapeError, UnknownNameError
from ..expr import Program
from ..options import several_names, text
from ..wording import shown
from .symbols import Chosen, reading_with, traced

_FORCES = Forces._fields  # the engine takes these options as one


def programs(
    system: AnySystem, quantities: str | Sequence[str], given: Mapping[str, Any], symbols: Chosen | None = None
) -> dict[str, Program]:
    """The unrolled program of each quantity. An option that is None was not given; one that no quantity takes is refused.

    Numbers of the robot that are symbols become inputs of the programs.
    """
    engine.system_of(system)
    names = list(dict.fromkeys(several_names("quantity", quantities, "a name such as 'inverse_dynamics', or a list of them")))
    if not names:
        raise UnknownNameError(f"quantity: an empty list found, at least one expected. Known: {', '.join(EXPORTED)}.")
    wanted = {key: _checked(key, value) for key, value in given.items() if value is not None}
    _refuse_unused(wanted, names, offered=given)
    if symbols is not None:
        return {name: _with_symbols(system, name, wanted, symbols) for name in names}
    return {name: _unrolled(system, name, wanted) for name in names}


def _checked(option: str, value: Any) -> Any:
    """An option of the kind it is: yes or no, a name, or for links a list of them."""
    if option in ("moving_base", "parameters"):
        return flag(option, value)
    if option == "link" and not isinstance(value, str):
        return several_names(option, value, "the name of a link, or a list of them")
    if option == "wrenches":
        if isinstance(value, (str, Mapping)):
            raise ShapeError(
                f"wrenches: {shown(value)} found, a list of link names such as ['tool'] expected: forces are inputs here."
            )
        return several_names(option, value, "a list of link names such as ['tool']")
    return text(option, value, "a name")


def _with_symbols(system: AnySystem, quantity: str, given: Mapping[str, Any], symbols: Chosen) -> Program:
    request = Request(quantity, tuple(in_order(quantity, given)))
    view = engine.system_of(system)
    recipe = view.recipe(request)

    def function(scalar: Any, *inputs: Any) -> Any:
        return view.recipe(request, reading_with(symbols, scalar)).function(*inputs)

    return traced(symbols, function, recipe.inputs, recipe.outputs, quantity)


def _unrolled(system: AnySystem, quantity: str, given: Mapping[str, Any]) -> Program:
    traced = engine.program(system, quantity, *in_order(quantity, given), rolled=False)
    assert isinstance(traced, Program)
    return traced


def in_order(quantity: str, given: Mapping[str, Any]) -> Iterator[Any]:
    """The options of a quantity, given or by default, in the order of its record."""
    for name, default in choice("quantity", quantity, EXPORTED).options.items():
        if name == "forces":
            yield _forces(given)
        else:
            value = given.get(name, default)
            yield tuple(value) if isinstance(value, list) else value


def _forces(given: Mapping[str, Any]) -> Forces:
    wrenches = tuple(given.get("wrenches", ()))
    return Forces(**{key: value for key, value in given.items() if key in _FORCES} | {"wrenches": wrenches})


def _refuse_unused(given: Mapping[str, Any], quantities: Sequence[str], offered: Mapping[str, Any]) -> None:
    taken = {name for quantity in quantities for name in choice("quantity", quantity, EXPORTED).options}
    if "forces" in taken:
        taken = taken - {"forces"} | set(_FORCES)
    for name in given:
        if name not in taken:
            known = ", ".join(option for option in offered if option in taken) or "no options"
            raise UnknownNameError(f"option: {name!r} means nothing to {', '.join(quantities)}, which takes {known}.")
