"""The best torques of a problem, and what belongs to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..mechanism.assembled import Assembled
from ..mechanism.torque_sets import filled, scaled
from .carried_sets import Best, least_ratio, nearest
from .closure_forces import undetermined
from .infeasible_loads import refuse_or_warn, shortfall, weak_contacts, weak_drives
from .load_problem import Problem, Task

BOUNDARY = 1e-6  # of the size of forces: a contact this near to its cone is about to slip


class Shared(NamedTuple):
    """Torques and what belongs to them, one row for each configuration."""

    u: FloatArray
    wrenches: FloatArray
    internal: FloatArray
    directions: FloatArray
    objective: FloatArray
    at_contact: Any
    feasible: Any
    undetermined: tuple[str, ...]


def share(mechanism: Assembled, problem: Problem, task: Task) -> Shared:
    """The best torques of each row; rows without positions stay NaN, those that cannot be carried become it."""
    best = _best(problem, task)
    _tell(mechanism, problem, best, task)
    u = np.where(best.feasible[:, None], problem.ways.at(best.y), np.nan)
    found: list[Any] = [
        u,
        problem.terms.at(u),
        np.einsum("rmk,rm->rk", problem.directions, u),
        problem.directions,
        _value(u, task),
        _touching(problem, best, len(task.contacts)),
        best.feasible,
    ]
    whole = [_spread(array, problem.rows, task.size) for array in found]
    return Shared._make([*whole, undetermined(mechanism, problem.terms)])


def _best(problem: Problem, task: Task) -> Best:
    if task.objective == "norm":
        return nearest(problem.conditions)
    found = _least_ratio(problem, task)
    return found._replace(feasible=found.feasible & (found.s <= 1 + 1e-9))


def _least_ratio(problem: Problem, task: Task) -> Best:
    """Where limits are all there is, the facet that the torques point to tells it, but for rows on an edge between facets."""
    if task.contacts or task.internal:
        return least_ratio(problem.conditions)
    terms, ways = problem.terms, problem.ways
    found = filled(scaled(terms.A, task.limits), terms.tau)
    y = np.einsum("rmk,rm->rk", ways.Y, found.use / task.limits)  # Yᵀ W u, W = 1 / limits²
    best = Best(y, found.ratio, np.ones(len(y), dtype=bool))
    left = np.flatnonzero(~found.only & np.any(terms.tau, axis=1))
    if len(left):
        others = least_ratio(problem.conditions.rows(left))
        for mine, theirs in zip(best, others, strict=True):
            mine[left] = theirs
    return best


def _value(u: FloatArray, task: Task) -> FloatArray:
    """The objective."""
    if task.objective == "ratio":
        found: FloatArray = (np.abs(u) / task.limits).max(axis=1)
        return found
    return np.einsum("rm,mk,rk->r", u, task.weights, u)


def _touching(problem: Problem, best: Best, contacts: int) -> Any:
    """The contacts with a condition that is met just so."""
    excess = problem.conditions.excess(best.y, best.s)[:, int(np.sum(problem.conditions.sigma)) :]
    found = np.zeros((len(excess), contacts), dtype=bool)
    for k, owner in enumerate(problem.owners):
        found[:, owner] |= (excess[:, k] > -BOUNDARY) & best.feasible
    return found


def _spread(found: Any, rows: Any, size: int) -> Any:
    """Rows at their places among all; the others are NaN, or false."""
    whole = np.full((size, *found.shape[1:]), False if found.dtype == bool else np.nan)
    whole[rows] = found
    return whole


def _tell(mechanism: Assembled, problem: Problem, best: Best, task: Task) -> None:
    """Say of loads that cannot be carried what they lack, at worst."""
    lost = np.flatnonzero(~best.feasible)
    if not len(lost):
        return
    lack = shortfall(problem.conditions.rows(lost))
    k = int(np.argmax(lack.factor))
    row = int(lost[k])
    if np.isfinite(lack.factor[k]):
        u = problem.ways.u[row] + problem.ways.Y[row] @ lack.y[k]
        why = weak_drives(np.abs(u) / task.limits, mechanism.actuated, task.limits)
    else:
        why = weak_contacts(problem.conditions, row, float(problem.force[row]), problem.owners, list(task.contacts))
    refuse_or_warn(mechanism.name, why, task.where(problem.rows[row]), len(lost), task.batch)


__all__ = ["Shared", "share"]
