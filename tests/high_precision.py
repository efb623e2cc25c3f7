"""Systems evaluated with fifty digits, and slopes by differences of such numbers: a witness far better than what it judges.

The graph that kernels are compiled from is read node by node with numbers of mpmath. Positions of a mechanism are closed by
Newton's method on its closures with as many digits, for every state that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np

from dalembert.dynamics import engine
from dalembert.expr import Program
from dalembert.expr.graph import Expr
from dalembert.mechanism import Mechanism
from tests.unit.expr.exact_primitives import EXACT

DIGITS = 50
STEP = mpmath.mpf("1e-15")  # differences err by its square, 1e-30, and by rounding, 1e-35
NEWTON = 4  # steps from sixteen digits to fifty: 32, 64; two more to spare


def exactly(numbers: Sequence[Any]) -> list[Any]:
    """The same numbers with fifty digits; those of a program are exact as well."""
    return [mpmath.mpf(x) if isinstance(x, mpmath.mpf) else mpmath.mpf(float(x)) for x in numbers]


def evaluated(program: Program, *given: Sequence[Any]) -> list[list[Any]]:
    """The flat results of a program at numbers of mpmath."""
    values = {
        node.index: x for entry, row in zip(program.entries, given, strict=True) for node, x in zip(entry, row, strict=True)
    }
    for node in program.nodes:
        if node.op == "const":
            values[node.index] = mpmath.mpf(node.value)
        elif node.op != "input":
            values[node.index] = EXACT[node.op](*(values[a.index] for a in node.args))
    return [[values[x.index] if isinstance(x, Expr) else mpmath.mpf(x) for x in result] for result in program.results]


def function_of(system: Any, quantity: str) -> Callable[..., list[Any]]:
    """A quantity of a robot or a mechanism as a function of its states with fifty digits."""
    if not isinstance(system, Mechanism):
        program = engine.program(system, quantity, rolled=False)
        return lambda *given: evaluated(program, *given)[0]
    recipe = system.recipe(engine.request_of(quantity))
    program = engine.program_of(engine.with_solved(system, recipe), quantity)
    return lambda q, *rates: evaluated(program, q, *rates, closed_positions(system, q))[0]


def closed_positions(system: Mechanism, q: Sequence[Any]) -> list[Any]:
    """The positions of the tree at which the closures hold, those that do not follow from others, and the coordinates are q.

    What follows from others holds but for the rounding of a model's numbers, which fifty digits see.
    """
    x = exactly(system.assemble([float(value) for value in q]).x)
    goal = [*exactly([row.value for row in system.rows]), *q]
    rows = sorted(step.row for step in system.plan.steps)
    for _ in range(NEWTON):
        F, J = evaluated(system.equations._program, x)
        left = mpmath.matrix([goal[k] - F[k] for k in rows])
        x = list(mpmath.matrix(x) + mpmath.lu_solve(mpmath.matrix(np.reshape(J, (len(F), -1))[rows].tolist()), left))
    assert max(abs(value) for value in left) < mpmath.mpf(10) ** (4 - DIGITS)
    return x


def slopes(function: Callable[..., list[Any]], *given: Any) -> list[np.ndarray]:
    """∂f/∂(each of its arguments) at doubles, by central differences, as doubles: the index of the argument last."""
    with mpmath.workdps(DIGITS):
        rows = [exactly(row) for row in given]
        return [np.column_stack([_along(function, rows, k, j) for j in range(len(rows[k]))]) for k in range(len(rows))]


def _along(function: Callable[..., list[Any]], rows: list[list[Any]], k: int, j: int) -> np.ndarray:
    """The slope by entry j of argument k."""
    ends = []
    for side in (STEP, -STEP):
        moved = [list(row) for row in rows]
        moved[k][j] += side
        ends.append(function(*moved))
    return np.array([float((a - b) / (2 * STEP)) for a, b in zip(*ends, strict=True)])


def worst(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """The largest error by the largest entry of each matrix; of one that is zero, as it is."""
    return max(float(np.abs(a - b).max() / (np.abs(b).max() or 1.0)) for a, b in zip(found, expected, strict=True))
