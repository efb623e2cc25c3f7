"""What each step of a program is about: a sweep that notes which nodes of the graph arise at which joint, in which step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

from ...algorithms.sweep import Unrolled
from ...expr import Expr, Graph
from ...model.tree import Tree

_WORDS = {
    "outward_step": "motion of its link",
    "inward_step": "force passed on",
    "drive_step": "drive",
    "frictionless_step": "drive",
    "rotor_step": "rotor",
    "composite_step": "all beyond it as one body",
    "unit_wrench": "force for unit acceleration",
}
_BODIES = "bodies about their joints"


class Note(NamedTuple):
    """Where nodes of one kind begin."""

    start: int
    words: str


class Noted(Unrolled):
    """Steps run one after another, with a note on what they added to the graph."""

    def __init__(self, tree: Tree, graph: Graph, notes: list[Note]) -> None:
        super().__init__(tree)
        self.graph, self.notes = graph, notes

    def outward(self, step: Callable[..., Any], base: Any, *columns: Any) -> list[Any]:
        """As in `Unrolled`."""
        return super().outward(self._noted(step), base, *columns)

    def inward(self, step: Callable[..., Any], *columns: Any) -> list[Any]:
        """As in `Unrolled`."""
        return super().inward(self._noted(step), *columns)

    def local(self, step: Callable[..., Any], *columns: Any) -> list[Any]:
        """As in `Unrolled`."""
        return super().local(self._noted(step), *columns)

    def mounted(self, step: Callable[..., Any], base: Any, at_mount: Any, *columns: Any) -> tuple[list[Any], list[Any]]:
        """As in `Unrolled`."""
        return super().mounted(self._noted(step), base, at_mount, *columns)

    def _noted(self, step: Callable[..., Any]) -> Callable[..., Any]:
        words = _WORDS.get(step.__name__)
        if words is None:
            return step

        def run(s: Any, *values: Any) -> Any:
            self.notes.append(Note(len(self.graph.nodes), f"{s.name}: {words}"))
            result = step(s, *values)
            self.notes.append(Note(len(self.graph.nodes), ""))
            return result

        return run


def section(notes: list[Note], node: Expr) -> str:
    """What a node is about."""
    place = bisect_right(notes, node.index, key=lambda note: note.start) - 1
    return notes[place].words if place >= 0 else _BODIES
