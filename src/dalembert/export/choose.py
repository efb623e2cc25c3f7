"""From a quantity and options given by name to the traced program: options fall into the order the engine takes them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..algorithms.sweep import Unrolled
from ..checks import choice, flag
from ..dynamics.engine import QUANTITIES, Forces, program, tree
from ..errors import DalembertError, ShapeError, UnknownNameError
from ..expr import Program
from ..model import Robot
from ..model.tree import Tree
from ..options import several_names, text
from ..wording import shown
from .symbols import Chosen, traced

_FORCES = Forces._fields  # the engine takes these options as one


def programs(
    system: Robot, quantities: str | Sequence[str], given: Mapping[str, Any], symbols: Chosen | None = None
) -> dict[str, Program]:
    """The unrolled program of each quantity. An option that is None was not given; one that no quantity takes is refused.

    Numbers of the robot that are symbols become inputs of the programs.
    """
    if not isinstance(system, Robot):
        raise DalembertError(
            f"system: {type(system).__name__} found, a Robot is expected. Try dal.load(name_or_path) or dal.robots."
        )
    names = list(dict.fromkeys(several_names("quantity", quantities, "a name such as 'inverse_dynamics', or a list of them")))
    if not names:
        raise UnknownNameError(f"quantity: an empty list found, at least one expected. Known: {', '.join(QUANTITIES)}.")
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


def _with_symbols(system: Robot, quantity: str, given: Mapping[str, Any], symbols: Chosen) -> Program:
    options = list(in_order(quantity, given))
    recipe = QUANTITIES[quantity](tree(system), *options)

    def function(segments: Tree, *inputs: Any) -> Any:
        return QUANTITIES[quantity](segments, *options).function(Unrolled(segments), *inputs)

    return traced(system, symbols, function, recipe.inputs, recipe.outputs, quantity)


def _unrolled(system: Robot, quantity: str, given: Mapping[str, Any]) -> Program:
    traced = program(system, quantity, *in_order(quantity, given), rolled=False)
    assert isinstance(traced, Program)
    return traced


def in_order(quantity: str, given: Mapping[str, Any]) -> Iterator[Any]:
    """The options of a quantity, given or by default, in the order the engine takes them."""
    for name, parameter in _options(quantity).items():
        if name == "forces":
            yield _forces(given)
        else:
            value = given.get(name, parameter.default)
            yield tuple(value) if isinstance(value, list) else value


def _options(quantity: str) -> dict[str, inspect.Parameter]:
    """The options of a quantity: what its recipe takes beside the tree. Each has a default."""
    recipe = choice("quantity", quantity, QUANTITIES)
    return dict(list(inspect.signature(recipe).parameters.items())[1:])


def _forces(given: Mapping[str, Any]) -> Forces:
    wrenches = tuple(given.get("wrenches", ()))
    return Forces(**{key: value for key, value in given.items() if key in _FORCES} | {"wrenches": wrenches})


def _refuse_unused(given: Mapping[str, Any], quantities: Sequence[str], offered: Mapping[str, Any]) -> None:
    taken = {name for quantity in quantities for name in _options(quantity)}
    if "forces" in taken:
        taken = taken - {"forces"} | set(_FORCES)
    for name in given:
        if name not in taken:
            known = ", ".join(option for option in offered if option in taken) or "no options"
            raise UnknownNameError(f"option: {name!r} means nothing to {', '.join(quantities)}, which takes {known}.")
