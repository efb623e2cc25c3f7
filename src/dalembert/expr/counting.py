"""What a function of scalars executes: every operation it asks for, whether or not the same one was done before.

A `Program` shares equal subexpressions and drops what no output needs, so its counts are those of a customised kernel. The
counts of an algorithm as it is written down, with no more sharing than its author put in, come from tracing it in a graph
that keeps every operation. Zeros and ones that are part of the structure (a base at rest, the last row of a homogeneous
matrix) still fold, since no author would multiply by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .graph import Expr, Graph
from .operation_counts import Counts, counts_of
from .program import trace


class Ledger(Graph):
    """A graph in which each operation is a node of its own, also if there is an equal one."""

    def _node(self, op: str, args: tuple[Expr, ...]) -> Expr:
        node = Expr(self, len(self.nodes), op, args)
        self.nodes.append(node)
        return node


def executed(function: Callable[..., Any], inputs: Mapping[str, tuple[int, ...]]) -> Counts:
    """The operations a function executes; it receives scalars or nested lists of them, one for each input, as in `trace`.

    Operations whose results are not used count too. A sine and a cosine of the same scalar are one pair.

    Examples
    --------
    >>> executed(lambda x: (x * x + 1.0) * (x * x), {"x": ()})[:2]
    (3, 1)
    """
    ledger = Ledger()

    def run(*scalars: Any) -> float:
        function(*scalars)
        return 0.0  # the result is not needed, only the operations

    trace(run, inputs, ["nothing"], graph=ledger)
    return counts_of(ledger.nodes)
