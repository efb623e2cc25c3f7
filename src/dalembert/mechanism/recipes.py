"""Recipes of a mechanism: those of its tree at the positions, rates and accelerations that its coordinates mean."""

from __future__ import annotations

from typing import Any

from ..dynamics.quantities import QUANTITIES
from ..dynamics.quantity import COLUMNS, FORCE, MATRIX, ROWS, SAME, record_of
from ..dynamics.recipes_kinematics import STATES
from ..dynamics.robot_system import RobotSystem
from ..dynamics.surroundings import FREE
from ..dynamics.system import AS_IT_IS, Reading, Recipe, Request
from ..expr.differentiate import jvp
from ..spatial.nested import dot
from . import reactions
from .assembled import Assembled
from .closed_state import ClosedState
from .elements import with_elements


def recipe(mechanism: Assembled, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
    """The recipe of a quantity in the chosen coordinates."""
    record = record_of(request, QUANTITIES)
    if record.name == "link_wrenches":
        return reactions.link_wrenches(mechanism, request, reading)
    if record.name == "coriolis_matrix":
        return _coriolis_matrix(mechanism, request, reading)
    if record.derived is not None:
        return record.derived(mechanism, *request.options, reading=reading)
    return mapped(mechanism, request, reading)


def mapped(mechanism: Assembled, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
    """The recipe of the tree, its results changed by their rules."""
    record, inner = record_of(request, QUANTITIES), with_elements(mechanism, request, reading)
    order = max((STATES.index(name) for name in inner.inputs if name in STATES), default=-1)
    states = STATES[: order + 1]
    inputs = dict.fromkeys(states, (mechanism.n,)) | {k: shape for k, shape in inner.inputs.items() if k not in STATES}
    rules = [record.rule_of(name) for name in inner.outputs]

    def function(*given: Any) -> Any:
        values = dict(zip(inputs, given, strict=True))
        if not states:
            return inner.function(*given)
        closed = mechanism.state(values["q"])
        values |= dict(zip(states, _motion(closed, [values[name] for name in states]), strict=True))
        results = inner.function(*(values[name] for name in inner.inputs))
        if len(rules) == 1:
            return _RULES[rules[0]](results, closed)
        return [_RULES[rule](result, closed) for rule, result in zip(rules, results, strict=True)]

    return Recipe(function, inputs, inner.outputs)


def _coriolis_matrix(mechanism: Assembled, request: Request, reading: Reading) -> Recipe:
    """Gᵀ (C G + M Ġ), with C and M of the tree: again by Christoffel symbols, since G is a gradient, ∂G_bi/∂q_j = ∂G_bj/∂q_i.

    The symbols themselves would take the derivative of Gᵀ M G by every coordinate; this takes one along the velocity.
    """
    tree = RobotSystem(mechanism.robot)
    coriolis = tree.recipe(request, reading).function
    mass = tree.recipe(Request("mass_matrix", (FREE, *request.options)), reading).function

    def function(q: Any, qd: Any) -> Any:
        closed = mechanism.state(q)
        C, M = coriolis(closed.x, closed.rates(qd)), mass(closed.x)
        columns = list(zip(*closed.G, strict=True))
        rates = [jvp(list(column), list(q), list(qd)) for column in columns]
        forces = [[dot(c, g) + dot(m, r) for c, m in zip(C, M, strict=True)] for g, r in zip(columns, rates, strict=True)]
        return [[dot(g, force) for force in forces] for g in columns]

    return Recipe(function, dict.fromkeys(("q", "qd"), (mechanism.n,)), ["C"])


def _motion(closed: ClosedState, given: list[Any]) -> list[Any]:
    """x and its rates, as many as of q are given."""
    found: list[Any] = [closed.x]
    if len(given) > 1:
        found.append(closed.rates(given[1]))
    if len(given) > 2:
        found.append(closed.accelerations(given[1], given[2]))
    if len(given) > 3:
        found.append(closed.jerks(*given))
    return found


def _matrix(M: Any, closed: ClosedState) -> Any:
    """Gᵀ M G, of a symmetric M."""
    columns = list(zip(*closed.G, strict=True))
    products = [[dot(row, column) for row in M] for column in columns]
    lower = [[dot(columns[i], products[j]) for j in range(i + 1)] for i in range(closed.n)]
    return [[lower[max(i, j)][min(i, j)] for j in range(closed.n)] for i in range(closed.n)]


def _columns(X: Any, closed: ClosedState) -> Any:
    """X G."""
    columns = list(zip(*closed.G, strict=True))
    return [[dot(row, column) for column in columns] for row in X]


def _rows(X: Any, closed: ClosedState) -> Any:
    """Gᵀ X."""
    columns = list(zip(*X, strict=True))
    return [[dot(row, column) for column in columns] for row in zip(*closed.G, strict=True)]


_RULES = {
    SAME: lambda x, closed: x,
    FORCE: lambda x, closed: closed.forces(x),
    MATRIX: _matrix,
    ROWS: _rows,
    COLUMNS: _columns,
}
