"""The best y under conditions, for many rows: nearest to zero, or with the least largest ratio.

    nearest       minimise ½|y|²       with  G y ≤ h + σ           and cones                                   (1)
    least ratio   minimise s           with  G y ≤ h + σ s         and cones                                   (2)

Along a motion the same conditions bind for many rows on end. So a programme is solved for the first row that is left, and the set
of conditions that bind there is tried on the others at once: with these as equations (1) and (2) are linear, and where what comes
out meets all conditions with multipliers that are not negative, it is the solution, to rounding. Where that helps few, as among
rows that have nothing to do with each other, it is tried on few.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .cone_programmes import ConeProgramme

MET = 1e-9  # conditions are scaled to sizes of one
STRICT = 1e-6  # a multiplier of (2), which add up to one, above this leaves no other solution


class Conditions(NamedTuple):
    """G y ≤ h + σ s, shapes (R, k, r), (R, k), (k,), and cones c + C y, (R, j, 3) and (R, j, 3, r): |first two| ≤ third."""

    G: FloatArray
    h: FloatArray
    sigma: FloatArray
    C: FloatArray
    c: FloatArray

    def rows(self, chosen: Any) -> Conditions:
        """Some of the rows."""
        return Conditions(self.G[chosen], self.h[chosen], self.sigma, self.C[chosen], self.c[chosen])

    def excess(self, y: FloatArray, s: FloatArray) -> FloatArray:
        """By how much each condition is not met, linear ones and then cones: (R, k + j)."""
        linear = np.einsum("rky,ry->rk", self.G, y) - self.h - self.sigma * s[:, None]
        cones = self.c + np.einsum("rjcy,ry->rjc", self.C, y)
        return np.concatenate([linear, np.hypot(cones[..., 0], cones[..., 1]) - cones[..., 2]], axis=1)

    def met(self, y: FloatArray, s: FloatArray) -> Any:
        """Whether all conditions are met."""
        return (self.excess(y, s) <= MET).all(axis=1)

    def unit(self, row: int) -> float:
        """The size of y that matters to the conditions, in which programmes count it."""
        size = max(np.abs(self.G[row]).max(initial=0.0), np.abs(self.C[row]).max(initial=0.0))
        return 1.0 / size if size > 0 else 1.0

    def programme(self, row: int, bound: float | None) -> tuple[FloatArray, FloatArray]:
        """M and b of a cone programme in y, in its unit, or in y and s where there is no bound for s."""
        cones, sizes = self.C[row].reshape(-1, self.G.shape[2]), self.c[row].reshape(-1)
        M, b = np.concatenate([self.G[row], -cones]) * self.unit(row), np.concatenate([self.h[row], sizes])
        sigma = np.concatenate([self.sigma, np.zeros(len(sizes))])
        return (np.column_stack([M, -sigma]), b) if bound is None else (M, b + sigma * bound)


class Best(NamedTuple):
    """y and s of each row, and whether there are any."""

    y: FloatArray
    s: FloatArray
    feasible: Any


class Trial:
    """The rows on which the next set is tried: many after a good trial, few after a bad one."""

    def __init__(self) -> None:
        self.most = 64

    def rows(self, row: int, left: Any) -> Any:
        """A row, and the next ones that are left."""
        near = left[row : row + 8 * self.most]
        return np.append(row, row + np.flatnonzero(near)[: self.most])

    def learn(self, good: Any) -> None:
        """How it went, the row itself first."""
        others = len(good) - 1
        well = others > 0 and int(np.sum(good[1:])) * 8 >= min(others, 64)
        self.most = min(self.most * 8, 1 << 40) if well else max(self.most // 2, 4)


def _programmes(given: Conditions) -> tuple[ConeProgramme, ConeProgramme]:
    """For (1) and for (2)."""
    _, k, r = given.G.shape
    j = given.c.shape[1]
    near = ConeProgramme(np.ones(r), np.zeros(r), k, j)
    return near, ConeProgramme(np.zeros(r + 1), np.append(np.zeros(r), 1.0), k, j)


def nearest(given: Conditions) -> Best:
    """(1)."""
    R, _, r = given.G.shape
    y, ones = np.zeros((R, r)), np.ones(R)
    feasible = given.met(y, ones)
    left = ~feasible if r else np.zeros(R, dtype=bool)
    near, _ = _programmes(given)
    trial = Trial()
    for row in range(R):
        if not left[row]:
            continue
        left[row] = False
        answer = near(*given.programme(row, 1.0))
        feasible[row] = answer.feasible
        if not answer.feasible:
            continue
        y[row] = answer.x * given.unit(row)
        if answer.binding is not None and 0 < len(answer.binding) <= r:
            _carry(given, answer.binding, trial, row, left, y, feasible)
    return Best(y, ones, feasible)


def _carry(given: Conditions, chosen: Any, trial: Trial, row: int, left: Any, y: FloatArray, feasible: Any) -> None:
    """Try the conditions that bind in one row on this row and others that are left."""
    rows = trial.rows(row, left)
    found, good = _nearest_on(given.rows(rows), chosen)
    trial.learn(good)
    taken = rows[good]
    y[taken], feasible[taken], left[taken] = found[good], True, False


def _nearest_on(given: Conditions, chosen: Any) -> tuple[FloatArray, Any]:
    """y nearest to zero with the chosen conditions as equations, y = −Gᵀ λ, and where that is the solution of (1)."""
    G, h = given.G[:, chosen], given.h[:, chosen] + given.sigma[chosen]
    try:
        multipliers = -np.linalg.solve(G @ np.swapaxes(G, 1, 2), h[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.zeros((len(G), G.shape[2])), np.zeros(len(G), dtype=bool)
    y = -np.einsum("rky,rk->ry", G, multipliers)
    return y, (multipliers >= 0).all(axis=1) & given.met(y, np.ones(len(y)))


def least_ratio(given: Conditions, *, unique: bool = True) -> Best:
    """(2); where several y have the same least s, the one nearest to zero, unless it does not matter which."""
    R, _, r = given.G.shape
    y, s, feasible = np.zeros((R, r)), np.zeros(R), np.ones(R, dtype=bool)
    if not r:
        s = np.max(np.where(given.sigma > 0, -given.h, 0.0), axis=1, initial=0.0)
        return Best(y, s, given.met(y, s))
    near, ratio = _programmes(given)
    left, trial = np.ones(R, dtype=bool), Trial()
    for row in range(R):
        if not left[row]:
            continue
        left[row] = False
        answer = ratio(*given.programme(row, None))
        feasible[row] = answer.feasible
        if not answer.feasible or _carry_ratio(given, answer.binding, trial, row, left, y, s):
            continue
        y[row], s[row] = answer.x[:r] * given.unit(row), answer.x[r]
        if unique:
            second = near(*given.programme(row, s[row] * (1 + 1e-9) + 1e-12))
            y[row] = second.x * given.unit(row) if second.feasible else y[row]
    return Best(y, s, feasible)


def _carry_ratio(given: Conditions, chosen: Any, trial: Trial, row: int, left: Any, y: FloatArray, s: FloatArray) -> bool:
    """As `_carry`; true if the row itself was among those solved."""
    if chosen is None or len(chosen) != y.shape[1] + 1:
        return False
    rows = trial.rows(row, left)
    found, good = _ratio_on(given.rows(rows), chosen)
    trial.learn(good)
    taken = rows[good]
    y[taken], s[taken], left[taken] = found[good, :-1], found[good, -1], False
    return bool(good[0])


def _ratio_on(given: Conditions, chosen: Any) -> tuple[FloatArray, Any]:
    """y and s with as many conditions as unknowns as equations, and where that is the only solution of (2)."""
    sigma = np.broadcast_to(given.sigma[chosen], given.h[:, chosen].shape)
    K = np.concatenate([given.G[:, chosen], -sigma[..., None]], axis=2)
    goal = np.append(np.zeros(K.shape[2] - 1), -1.0)
    try:
        x = np.linalg.solve(K, given.h[:, chosen][..., None])[..., 0]
        multipliers = np.linalg.solve(np.swapaxes(K, 1, 2), np.broadcast_to(goal, x.shape)[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.zeros((len(K), K.shape[2])), np.zeros(len(K), dtype=bool)
    return x, (multipliers > STRICT).all(axis=1) & given.met(x[:, :-1], x[:, -1])


__all__ = ["Best", "Conditions", "least_ratio", "nearest"]
