"""A program: a graph with named inputs and outputs of known shapes, made by tracing a function of scalars."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import ExprError
from .collection_pause import growing
from .graph import Expr, Graph, reachable


@dataclass(frozen=True)
class Slot:
    """A named array of a program: an input or an output of fixed shape, entries in C order."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Program:
    """Outputs, flat lists of scalars (`Expr` or float), computed from inputs. `entries` lists each input's nodes."""

    name: str
    graph: Graph
    inputs: tuple[Slot, ...]
    entries: tuple[tuple[Expr, ...], ...]
    outputs: tuple[Slot, ...]
    results: tuple[tuple[Any, ...], ...]

    @cached_property
    def nodes(self) -> list[Expr]:
        """The nodes the outputs need, arguments first."""
        return reachable(scalar for result in self.results for scalar in result)

    @property
    def work(self) -> int:
        """Operations per configuration."""
        return len(self.nodes)

    @cached_property
    def input_places(self) -> dict[int, tuple[int, int]]:
        """For each input node's index: which input, which entry."""
        return {node.index: (i, j) for i, entry in enumerate(self.entries) for j, node in enumerate(entry)}

    def __reduce__(self) -> tuple[Any, ...]:
        """As a list of nodes: pickled one inside the other, they would be too deep."""
        nodes = reachable([*(node for entry in self.entries for node in entry), *self.nodes])
        place = {node.index: k for k, node in enumerate(nodes)}
        rows = [(node.op, tuple(place[a.index] for a in node.args), node.value) for node in nodes]
        entries = [[place[node.index] for node in entry] for entry in self.entries]
        results = [[("node", place[x.index]) if isinstance(x, Expr) else x for x in result] for result in self.results]
        return _restored, (self.name, self.inputs, self.outputs, rows, entries, results)


def _restored(name: str, inputs: Any, outputs: Any, rows: Any, entries: Any, results: Any) -> Program:
    graph = Graph()
    nodes = graph.restored(rows)
    found = tuple(tuple(nodes[x[1]] if isinstance(x, tuple) else x for x in result) for result in results)
    return Program(name, graph, inputs, tuple(tuple(nodes[k] for k in entry) for entry in entries), outputs, found)


@growing()
def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    outputs: Sequence[str],
    name: str = "kernel",
    *,
    graph: Graph | None = None,
) -> Program:
    """Run a function of scalars on symbols and keep what it did, in a new graph or in the one given.

    `function` receives, for each input in order, a scalar (shape ()), a list of scalars (shape (n,)) or nested lists, and
    returns one such nest per output (a bare one when there is a single output).
    """
    graph = Graph() if graph is None else graph
    slots = tuple(Slot(key, tuple(shape)) for key, shape in inputs.items())
    entries = tuple(tuple(graph.input(f"{s.name}{_suffix(s, k)}") for k in range(s.size)) for s in slots)
    try:
        returned = function(*(_nest(list(e), s.shape) for e, s in zip(entries, slots, strict=True)))
    except ZeroDivisionError as error:
        raise ExprError(
            f"{name}: a division by a number that is zero found while tracing, which Python refuses; it may have become zero, as "
            "x - x does. Write ops.divide(a, b), which gives infinity or NaN there as the kernel does."
        ) from error
    if len(outputs) == 1:
        returned = (returned,)
    results = tuple(tuple(_flatten(r)) for r in returned)
    shapes = tuple(Slot(key, _shape(r)) for key, r in zip(outputs, returned, strict=True))
    return Program(name, graph, slots, entries, shapes, results)


def _suffix(slot: Slot, flat: int) -> str:
    if not slot.shape:
        return ""
    index = []
    for extent in reversed(slot.shape):
        flat, k = divmod(flat, extent)
        index.append(str(k))
    return f"[{','.join(reversed(index))}]"


def _nest(flat: list[Any], shape: tuple[int, ...]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = math.prod(shape[1:])
    return [_nest(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)):
        return ()
    return (len(value), *_shape(value[0])) if len(value) else (0,)


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flatten(item)
    else:
        yield value if isinstance(value, Expr) else float(value)
