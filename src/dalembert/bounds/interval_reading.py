"""The interval reading of a graph: every node as an enclosure of all its values over a box, for many boxes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..expr import Expr
from .intervals import INTERVALS, Interval, exactly, square

JUMPS = frozenset(("sign", "lt", "le", "eq"))
"""Operations whose value jumps: where one is not decided, a difference of values is no slope times a distance."""


def enclose(nodes: Sequence[Expr], values: Mapping[int, Interval]) -> dict[int, Interval]:
    """The enclosure of every node, given those of the inputs by their index."""
    found = dict(values)
    with np.errstate(all="ignore"):  # infinite ends are ends like any other
        for node in nodes:
            if node.op == "const":
                found[node.index] = exactly(np.float64(node.value))
            elif node.op == "mul" and node.args[0] is node.args[1]:
                found[node.index] = square(found[node.args[0].index])
            elif node.op != "input":
                found[node.index] = INTERVALS[node.op](*(found[a.index] for a in node.args))
    return found


def of(scalar: Any, found: Mapping[int, Interval]) -> Interval:
    """The enclosure of a result, which may be a plain number."""
    return found[scalar.index] if isinstance(scalar, Expr) else exactly(np.float64(scalar))


def smooth(nodes: Sequence[Expr], found: Mapping[int, Interval], shape: tuple[int, ...]) -> Any:
    """In which boxes no operation jumps, has a pole or is not defined, so that values inside differ by slopes times distances."""
    decided = np.ones(shape, bool)
    for node in nodes:
        if node.op in JUMPS:
            decided &= np.equal(*found[node.index])
        elif node.op == "div":
            divisor = found[node.args[1].index]
            decided &= (divisor.lo > 0.0) | (divisor.hi < 0.0)
        elif node.op == "sqrt":
            decided &= np.asarray(found[node.args[0].index].lo) >= 0.0
        elif node.op == "atan2":
            a, b = (found[arg.index] for arg in node.args)
            decided &= (a.lo > 0.0) | (a.hi < 0.0) | (b.lo > 0.0)
        elif node.op == "where":
            condition = found[node.args[0].index]
            decided &= (condition.lo > 0.0) | (condition.hi < 0.0) | np.equal(*condition)
    return decided
