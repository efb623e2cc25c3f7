"""Loads that cannot be carried: which drive is too weak and by which factor, or which contact would have to pull."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..errors import DalembertWarning, InfeasibleError
from ..wording import listed
from .carried_sets import Conditions, least_ratio
from .cone_programmes import ConeProgramme

TOGETHER = 1e-6  # drives within this of the largest ratio share it
Y_ONLY = 1e-9  # a little of |y|² that keeps the contacts' programme bounded


class Shortfall(NamedTuple):
    """What a load lacks in each row: the least factor of all limits that carries it (infinite where no torques do), and the
    torques there.
    """

    factor: FloatArray
    y: FloatArray


def shortfall(given: Conditions) -> Shortfall:
    """The least factor of the limits for each row."""
    if not given.sigma.any():
        return Shortfall(np.full(len(given.G), np.inf), np.zeros((len(given.G), given.G.shape[2])))
    best = least_ratio(given, unique=False)
    return Shortfall(np.where(best.feasible, best.s, np.inf), best.y)


def weak_drives(ratios: FloatArray, names: Sequence[str], limits: FloatArray) -> str:
    """The drives that need the largest ratio, and what they have."""
    worst = float(ratios.max())
    which = [int(k) for k in np.flatnonzero(ratios >= worst * (1 - TOGETHER))]
    have = listed(f"{limits[k]:.4g}" for k in which)
    if len(which) == 1:
        return f"{names[which[0]]} needs at least {worst:.4g} times its limit of {have}"
    return f"{listed(names[k] for k in which)} need at least {worst:.4g} times their limits ({have})"


def weak_contacts(given: Conditions, row: int, size: float, owners: Sequence[int], names: Sequence[str]) -> str:
    """The contacts that no torques hold, and the least force they lack [N]; `owners` are those of contact rows, then cones."""
    own = given.sigma == 0
    G, h = given.G[row][own], given.h[row][own]
    C, c = given.C[row], given.c[row]
    j, r = len(c), G.shape[1]
    third = np.tile([0.0, 0.0, 1.0], j)
    M = np.column_stack([np.concatenate([G, -C.reshape(3 * j, r)]), np.concatenate([-np.ones(len(h)), -third])])
    solve = ConeProgramme(np.append(np.full(r, Y_ONLY), 0.0), np.append(np.zeros(r), 1.0), len(h), j)
    x = solve(M, np.concatenate([h, c.reshape(-1)])).x if r else np.zeros(1)
    lack = given._replace(sigma=np.zeros_like(given.sigma)).rows(np.array([row])).excess(x[None, :r], np.zeros(1))[0]
    lack = np.concatenate([lack[: len(own)][own], lack[len(own) :]])
    which = dict.fromkeys(names[owners[int(k)]] for k in np.flatnonzero(lack >= lack.max() * (1 - 1e-4)))
    many = len(which) > 1
    words = f"no torques hold the contact{'s' if many else ''} {listed(which)}, which lack{'' if many else 's'}"
    return f"{words} {lack.max() * size:.3g} N at least"


def refuse_or_warn(name: str, why: str, worst: str, lost: int, batch: tuple[int, ...]) -> None:
    """An error for one configuration; for a batch one warning that names the worst row."""
    advice = "Raise limits or friction, move more slowly, or hold less."
    if not batch:
        raise InfeasibleError(f"distribute_load: {name!r} cannot carry this load: {why}. {advice}")
    rows = f"{lost} of {math.prod(batch)} rows cannot be carried, and {'is' if lost == 1 else 'are'} NaN"
    sentence = f"distribute_load: {name!r}: {rows}; at worst, {worst}, {why}. {advice}"
    warnings.warn(DalembertWarning(sentence, "load-infeasible"), stacklevel=5)


__all__ = ["Shortfall", "refuse_or_warn", "shortfall", "weak_contacts", "weak_drives"]
