"""Redundant systems: one motion out of many by norm, weight or kinetic energy, and motions the task does not notice."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer

TASKS = {  # the system, the link that does the task, its rows of [v; ω]
    "four_joint_planar": (dal.robots.four_joint_planar, None, [0, 1, 5], [0.3, 0.5, -0.8, 0.6]),
    "panda": (dal.robots.panda, None, list(range(6)), [0.1, 0.5, -0.3, -1.5, 0.2, 1.8, 0.4]),
    "six_freedom_planar": (dal.mechanisms.six_freedom_planar, "platform", [0, 1, 5], None),
}


@pytest.fixture(params=TASKS)
def case(request):
    build, link, rows, q = TASKS[request.param]
    system = build()
    q = np.array(system.q0 + 0.02 if q is None else q)
    return system, link, rows, q, transfer.rows(dal.influence(system, q, link), rows)


def test_every_choice_does_the_task_and_each_is_best_in_its_own_measure(case, rng):
    system, link, rows, q, task = case
    n, r = system.n, len(rows)
    ud, M = rng.normal(size=r), dal.mass_matrix(system, q)
    weights = {"norm": np.eye(n), "kinetic energy": M, "weighted": np.diag(np.arange(1.0, n + 1))}
    found = {name: transfer.resolve(task, ud, weight=W).velocity for name, W in weights.items()}
    free = np.linalg.svd(task.G)[2][r:]  # a base of the motions that the task does not notice
    for name, W in weights.items():
        moved = dal.link_motion(system, q, found[name], link=link).velocity[rows]
        assert moved == pytest.approx(ud, rel=1e-10, abs=1e-12)
        # the slope of q̇ᵀ W q̇ along every free motion is zero, and W is positive: no other choice has less
        assert free @ W @ found[name] == pytest.approx(np.zeros(n - r), abs=1e-10 * np.abs(W @ found[name]).max())
        assert all(found[name] @ W @ found[name] <= other @ W @ other * (1 + 1e-12) for other in found.values())


def test_a_null_space_motion_leaves_the_task_at_rest(case, rng):
    system, link, rows, q, task = case
    N = transfer.null_projector(task, weight=dal.mass_matrix(system, q))
    assert np.linalg.matrix_rank(N, tol=1e-9) == system.n - len(rows)
    qd = N @ rng.normal(size=system.n)
    assert np.linalg.norm(qd) > 1e-2
    assert dal.link_motion(system, q, qd, link=link).velocity[rows] == pytest.approx(np.zeros(len(rows)), abs=1e-12)


def test_accelerations_meet_the_task_as_well(case, rng):
    system, link, rows, q, task = case
    ud, udd = rng.normal(size=(2, len(rows)))
    found = transfer.resolve(task, ud, udd, qd=rng.normal(size=system.n), weight=dal.mass_matrix(system, q))
    moved = dal.link_motion(system, q, found.velocity, found.acceleration, link=link)
    assert moved.acceleration[rows] == pytest.approx(udd, rel=1e-9, abs=1e-9)


@pytest.mark.slow
def test_torques_straight_from_the_task_are_those_of_the_chosen_motion(case, rng):
    """[Freeman, Eq. 4-73 to 4-75] against inverse dynamics at the velocities and accelerations of least kinetic energy."""
    system, _, rows, q, task = case
    ud, udd = rng.normal(size=(2, len(rows)))
    motion = transfer.resolve(task, ud, udd, weight=dal.mass_matrix(system, q))
    direct = transfer.redundant(transfer.open_chain(system, q), task).torque(ud, udd)
    assert direct == pytest.approx(dal.inverse_dynamics(system, q, motion.velocity, motion.acceleration), rel=1e-9, abs=1e-9)
