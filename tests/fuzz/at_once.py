"""Python threads that call at the same time: equal kernels that come and go, first kernels of one robot, threaded batches."""

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

Work = Callable[[Any], Any]


class Case(NamedTuple):
    """How many threads, what they ask for in turn, and whether each has a robot of its own, equal to the others'."""

    threads: int
    works: tuple[str, ...]
    length: float
    shared: bool
    closed: bool  # a mechanism

    def __str__(self) -> str:
        what = "mechanism" if self.closed else "robot"
        return f"{self.threads} threads, {f'one {what}' if self.shared else f'equal {what}s'}: {', '.join(self.works)}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """One kind of work for all, or several."""
    works = tuple(str(pick(rng, list(WORKS))) for _ in range(int(rng.integers(1, 4))))
    closed = number % 4 == 3
    if closed:
        works = (*works[1:], str(pick(rng, list(WORKS_OF_MECHANISMS))))
    return Case(int(rng.integers(2, 9)), works, float(rng.uniform(0.1, 2.0)), bool(rng.integers(2)), closed)


def judge(case: Case) -> None:
    """Every thread gets what one alone gets."""
    works, make = WORKS | WORKS_OF_MECHANISMS, _mechanism if case.closed else _arm
    expected = [works[work](make(case.length)) for work in case.works]
    shared = make(case.length) if case.shared else None

    def ask(k: int) -> tuple[int, Any]:
        which = k % len(case.works)
        return which, works[case.works[which]](make(case.length) if shared is None else shared)

    with cold_cache(), ThreadPoolExecutor(case.threads) as pool:
        for which, found in pool.map(ask, range(_ASKS)):
            require_equal(found, expected[which])


def _arm(length: float) -> dal.Robot:
    rows = [{"a": length, "mass": 1.0, "inertia": (0.1, 0.1, 0.1)}, {"a": 0.3, "alpha": 0.5, "mass": 0.7, "com": (0.1, 0, 0)}]
    return dal.from_dh(rows, convention="standard")


def _mechanism(length: float) -> dal.Mechanism:
    """A five-bar, of two coordinates; nearly the same from case to case, so that it can be closed."""
    five_bar = dal.mechanisms.five_bar()
    return five_bar.replace(robot=five_bar.robot.with_gravity((0.0, -9.81 * length, 0.0)))


def _state(system: Any, *batch: int) -> np.ndarray:
    """q, qd, qdd of two coordinates; of a mechanism near its seed."""
    found = np.random.default_rng(3).uniform(-2.0, 2.0, (3, *batch, 2))
    if isinstance(system, dal.Mechanism):
        found[0] = system.q0 + 0.1 * found[0]
    return found


def _batch(arm: Any) -> Any:
    return dal.inverse_dynamics(arm, *_state(arm, _ROWS), threads=3)


def _derivatives(arm: Any) -> Any:
    q, qd, qdd = _state(arm)
    return dal.derivatives(arm, q, qd, qdd=qdd)


def _rollout(arm: Any) -> Any:
    q, qd, _ = _state(arm, 40)
    return dal.rollout(arm, q, qd, None, dt=1e-3, steps=20, threads=2).q


def _copied(arm: Any) -> Any:
    return dal.gravity_torque(pickle.loads(pickle.dumps(arm)), _state(arm)[0])


def _collected(arm: Any) -> Any:
    found = dal.mass_matrix(arm, _state(arm)[0])
    gc.collect()
    return found


WORKS: dict[str, Work] = {
    "gravity": lambda arm: dal.gravity_torque(arm, _state(arm)[0]),
    "forward dynamics": lambda arm: dal.forward_dynamics(arm, *_state(arm)),
    "a batch in threads": _batch,
    "derivatives": _derivatives,
    "rollout": _rollout,
    "a copy": _copied,
    "a search for cycles": _collected,
}
WORKS_OF_MECHANISMS: dict[str, Work] = {
    "positions": lambda arm: arm.assemble(_state(arm, _ROWS)[0], threads=2).x,
    "at positions": lambda arm: dal.gravity_torque(arm.at(near=arm.seed), _state(arm)[0]),
    "forces of closures": lambda arm: dal.constraint_forces(arm, *_state(arm)),
    "mobility": lambda arm: dal.mobility(arm).singular_values,
    "simulation": lambda arm: dal.simulate(arm, *_state(arm)[:2], t_end=0.01).q,
}
