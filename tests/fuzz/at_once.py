"""Python threads that call at the same time: equal kernels that come and go, one robot's first kernels, threaded batches."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal

from .campaign import pick, require_equal
from .functions import cold_cache

QUICK = 4
FULL = 400
LIMIT = 60.0
_ASKS = 30  # in all, of each case
_ROWS = 20_000

Work = Callable[[dal.Robot], Any]


class Case(NamedTuple):
    """How many threads, what they ask for in turn, and whether each has a robot of its own, equal to the others'."""

    threads: int
    works: tuple[str, ...]
    length: float
    shared: bool

    def __str__(self) -> str:
        return f"{self.threads} threads, {'one robot' if self.shared else 'equal robots'}: {', '.join(self.works)}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """One kind of work for all, or several."""
    works = tuple(str(pick(rng, list(WORKS))) for _ in range(int(rng.integers(1, 4))))
    return Case(int(rng.integers(2, 9)), works, float(rng.uniform(0.1, 2.0)), bool(rng.integers(2)))


def judge(case: Case) -> None:
    """Every thread gets what one alone gets."""
    expected = [WORKS[work](_arm(case.length)) for work in case.works]
    shared = _arm(case.length) if case.shared else None

    def ask(k: int) -> tuple[int, Any]:
        which = k % len(case.works)
        return which, WORKS[case.works[which]](_arm(case.length) if shared is None else shared)

    with cold_cache(), ThreadPoolExecutor(case.threads) as pool:
        for which, found in pool.map(ask, range(_ASKS)):
            require_equal(found, expected[which])


def _arm(length: float) -> dal.Robot:
    rows = [{"a": length, "mass": 1.0, "inertia": (0.1, 0.1, 0.1)}, {"a": 0.3, "alpha": 0.5, "mass": 0.7, "com": (0.1, 0, 0)}]
    return dal.from_dh(rows, convention="standard")


def _state(*batch: int) -> np.ndarray:
    return np.random.default_rng(3).uniform(-2.0, 2.0, (3, *batch, 2))


def _batch(arm: dal.Robot) -> Any:
    return dal.inverse_dynamics(arm, *_state(_ROWS), threads=3)


def _derivatives(arm: dal.Robot) -> Any:
    q, qd, qdd = _state()
    return dal.derivatives(arm, q, qd, qdd=qdd)


def _rollout(arm: dal.Robot) -> Any:
    q, qd, _ = _state(40)
    return dal.rollout(arm, q, qd, None, dt=1e-3, steps=20, threads=2).q


def _copied(arm: dal.Robot) -> Any:
    return dal.gravity_torque(pickle.loads(pickle.dumps(arm)), _state()[0])


def _collected(arm: dal.Robot) -> Any:
    found = dal.mass_matrix(arm, _state()[0])
    gc.collect()
    return found


WORKS: dict[str, Work] = {
    "gravity": lambda arm: dal.gravity_torque(arm, _state()[0]),
    "forward dynamics": lambda arm: dal.forward_dynamics(arm, *_state()),
    "a batch in threads": _batch,
    "derivatives": _derivatives,
    "rollout": _rollout,
    "a copy": _copied,
    "a search for cycles": _collected,
}
