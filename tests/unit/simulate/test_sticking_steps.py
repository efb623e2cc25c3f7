"""Dry friction by a fixed step: joints stop and stay, at a rate that the step explains."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning
from tests.robots import fresh
from tests.unit.simulate.blocks import MASS, block, with_friction

METHODS = ["semi_implicit_euler", "rk4"]


@pytest.mark.parametrize("method", METHODS)
def test_a_block_stops_exactly_and_stays(method):
    """Off by what the last step is long: v h for the first order, h² for RK4."""
    motion = dal.rollout(block(dal.Friction(0.0, 3.0)), [0.0], [2.0], None, dt=1e-3, steps=2000, method=method)
    still = motion.t > 2.0 * MASS / 3.0 + 1e-3
    assert not motion.qd[still].any()
    assert np.ptp(motion.q[still]) == 0.0
    assert motion.q[-1, 0] == pytest.approx(4.0 / 3.0, abs=2e-3 if method == "semi_implicit_euler" else 1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_at_rest_breaks_loose_when_the_torque_exceeds_its_level(method):
    ramp = np.linspace(0.0, 6.0, 2001)[:-1, None]  # 3 N at 1 s
    motion = dal.rollout(block(dal.Friction(0.0, 3.0)), [0.0], [0.0], ramp, dt=1e-3, method=method)
    assert not motion.qd[motion.t <= 1.0].any()
    assert np.all(np.diff(motion.qd[motion.t > 1.002, 0]) > 0)
    assert motion.qd[-1, 0] == pytest.approx(0.5 * 3.0 / MASS, rel=2e-3)  # ∫ 3 (t − 1) / m


@pytest.mark.parametrize("method", METHODS)
def test_steps_tend_to_the_motion_with_located_events(method, rng):
    puma = fresh("puma560")
    q0, qd0 = rng.uniform(-2, 2, (2, 6))
    end = dal.simulate(puma, q0, qd0, t_end=2.0, rtol=1e-11, atol=1e-12)
    assert len(end.events) >= 6
    off = [
        np.abs(dal.rollout(puma, q0, qd0, None, dt=dt, steps=round(2.0 / dt), method=method).q[-1] - end.q[-1]).max()
        for dt in (4e-3, 5e-4)
    ]
    assert off[1] < (10 * 5e-4 if method == "semi_implicit_euler" else 2e-5)  # a few steps of the first order
    assert off[1] < off[0] / 4


def test_batches_by_steps_do_not_depend_on_threads(rng):
    puma = with_friction(fresh("puma560"), 0.1)
    q0, qd0 = rng.uniform(-2, 2, (2, 9, 6))
    one, two = (dal.rollout(puma, q0, qd0, None, dt=1e-3, steps=500, threads=threads).q for threads in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_a_linkage_of_one_freedom_stops_as_a_whole():
    bars = dal.mechanisms.four_bar()
    bars = bars.replace(robot=with_friction(bars.robot, 8.0))
    motion = dal.rollout(bars, bars.q0, [0.4], None, dt=1e-3, steps=600)
    exact = dal.simulate(bars, bars.q0, [0.4], t_end=0.6, rtol=1e-10)
    assert motion.q[-1, 0] == pytest.approx(exact.q[-1, 0], abs=1e-3)


def test_where_it_cannot_be_decided_which_joints_stick_a_sentence_says_so():
    puma = fresh("puma560")
    with pytest.warns(DalembertWarning, match=r"a joint at rest trembles\. Take another method, or smooth it: ") as caught:
        dal.rollout(puma, np.zeros(6), np.zeros(6), None, dt=1e-3, steps=2, method="symplectic")
    assert caught[0].filename == __file__
    dal.rollout(puma.smoothed(1e-2), np.zeros(6), np.zeros(6), None, dt=1e-3, steps=2, method="symplectic")
