"""Random programs for hypothesis, and how far rounding may carry their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from dalembert.expr import Program, ops, trace
from dalembert.expr.interpret import evaluate

INPUTS = 3

SMOOTH: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "square": lambda a, b: a * a,
    "neg": lambda a, b: -a,
    "scale": lambda a, b: 0.75 * a,
    "sin": lambda a, b: ops.sin(a),
    "cos": lambda a, b: ops.cos(a),
    "div": lambda a, b: a / (1.5 + ops.sin(b)),
    "sqrt": lambda a, b: ops.sqrt(1.5 + ops.cos(a)),
    "atan2": lambda a, b: ops.atan2(a, 2.0 + ops.sin(b)),
}
KINKED: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda a, b: ops.absolute(a),
    "sign": lambda a, b: ops.sign(a),
    "min": ops.minimum,
    "max": ops.maximum,
    "where": lambda a, b: ops.where(ops.less(a, b), a, b * b),
}
POLYNOMIAL = {key: SMOOTH[key] for key in ("add", "sub", "mul", "square", "neg", "scale")}
PLANAR = POLYNOMIAL | {
    "sin": lambda a, b: ops.sin(a),
    "cos": lambda a, b: ops.cos(a),
    "sines": lambda a, b: b * ops.sin(a) * ops.sin(a),
    "cosines": lambda a, b: b * ops.cos(a) * ops.cos(a),
}

points = st.lists(st.floats(-1.0, 1.0, width=16), min_size=INPUTS, max_size=INPUTS)


@st.composite
def programs(draw: st.DrawFn, recipes: dict[str, Callable[[Any, Any], Any]], steps: int = 12) -> Program:
    """A program of input x (3,) and output y, three random scalars of a random graph."""
    choices = draw(st.lists(st.tuples(st.sampled_from(sorted(recipes)), st.integers(0, 99), st.integers(0, 99)), max_size=steps))
    constants = draw(st.lists(st.sampled_from([1.0, -1.0, 0.5, 2.0, -1.25]), max_size=2))

    def function(x: list[Any]) -> list[Any]:
        pool = [*constants, *x]
        for name, i, j in choices:
            pool.append(recipes[name](pool[-1 - i % len(pool)], pool[-1 - j % len(pool)]))
        return pool[-3:]

    return trace(function, {"x": (INPUTS,)}, ["y"])


def scale(program: Program, x: list[float]) -> float:
    """The largest number met on the way, at least 1: rounding is relative to it, not to a result that cancels."""
    values = evaluate(program.nodes, {node.index: np.float64(v) for node, v in zip(program.entries[0], x, strict=True)})
    largest = float(max((abs(v) for v in values.values()), default=1.0))
    assume(largest < 1e6)
    return max(largest, 1.0)
