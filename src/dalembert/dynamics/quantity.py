"""The record of a quantity: all that is known of it, for every part of the library that asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..model.tree import Tree
from . import sizes
from .system import Composition, Recipe, Request, Shapes

FORCE = "force"  # Gᵀ x
MATRIX = "matrix"  # Gᵀ x G
ROWS = "rows"  # Gᵀ x, for an x whose rows are those of a force
COLUMNS = "columns"  # x G
SAME = "same"  # x


class Equation(NamedTuple):
    """How a result is written in equations: its name there, in LaTeX and in text, and, where its closed form is made of those of
    others, their names.
    """

    name: str
    latex: str
    text: str
    meaning: str
    parts: tuple[str, ...] = ()


class Output(NamedTuple):
    """A result: its name, how it changes when q = φ(u) is put in place of the coordinates (with G = ∂φ/∂u), its unit, and how it
    is written in equations. A unit is one text, or several: where joints turn, ..., where they slide.
    """

    name: str
    rule: str = SAME
    unit: str | tuple[str, ...] | None = None
    equation: Equation | None = None


class TreeRecipe(NamedTuple):
    """How a quantity is computed over a tree: a function of a sweep and scalars, its inputs with shapes, its outputs; whether it
    can be written as loops, and whether base parameters are enough for it.
    """

    function: Callable[..., Any]
    inputs: Shapes
    outputs: Sequence[str]
    can_roll: bool = True
    regroup: bool = True


class Composed(NamedTuple):
    """Another way for large trees: when it is taken, and how the parts are put together."""

    when: Callable[[Tree], bool]
    make: Callable[..., Composition]  # (tree, kernels, *options)


@dataclass(frozen=True, eq=False)
class Quantity:
    """What is known of a quantity.

    `over_tree(tree, *options)` is its recipe over the tree of a robot; the names and defaults of its options are those of this
    function's parameters. `derived(system, *options)` is its recipe from others of the same system, whatever that is; without
    it, a system in other coordinates is asked by the rules of its outputs. `loops` tells from which size on loops are compiled,
    `composed` when it is put together from other kernels, `refused` what is said where it has too many entries.
    """

    name: str
    outputs: tuple[Output, ...]
    over_tree: Callable[..., TreeRecipe]
    derived: Callable[..., Recipe] | None = None
    loops: Callable[[Tree], bool] | None = None
    composed: Composed | None = None
    rewritten: bool = False
    refused: sizes.Refusal | None = None
    exported: bool = True  # whether it stands by itself: in exported code, and in `evaluate` by the names of its outputs

    def __call__(self, tree: Tree, *options: Any) -> TreeRecipe:
        """Its recipe over a tree."""
        return self.over_tree(tree, *options)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Its options with their defaults, in the order of a request."""
        parameters = list(inspect.signature(self.over_tree).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def rule_of(self, output: str) -> str:
        """How an output changes with the coordinates; one that the record does not name stays the same."""
        return next((o.rule for o in self.outputs if o.name == output), SAME)


def plain(function: Callable[..., Any], *inputs: str, outputs: Sequence[str], **flags: bool) -> Callable[[Tree], TreeRecipe]:
    """The recipe of a quantity without options: a function of a sweep and of inputs with an entry for each coordinate."""
    return lambda tree: TreeRecipe(function, dict.fromkeys(inputs, (tree.n,)), outputs, **flags)


Table = Mapping[str, Quantity]


def record_of(request: Request, table: Table) -> Quantity:
    """The record a request means: its own, or that of its name."""
    return request.quantity if isinstance(request.quantity, Quantity) else table[request.quantity]


__all__ = [
    "COLUMNS",
    "FORCE",
    "MATRIX",
    "ROWS",
    "SAME",
    "Composed",
    "Equation",
    "Output",
    "Quantity",
    "TreeRecipe",
    "plain",
    "record_of",
]
