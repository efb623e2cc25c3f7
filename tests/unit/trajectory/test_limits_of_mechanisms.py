"""Limits along a motion of a mechanism: joints within its loops, and drives that share torques, are looked at too."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dalembert as dal
from tests.mechanisms_with_drives import limited, platform, two_arms


def four_bar(**limits):
    return limited(dal.mechanisms.four_bar(), {"joint2": dal.Limits(**limits)})


TURN = dal.trajectory.quintic([0.6], [2.2], duration=1.0)


def assembled(mechanism, motion, t):
    """x and its rate at an instant, by differences of assembled positions."""
    at = mechanism.assemble(motion(np.array([t - 1e-6, t, t + 1e-6])).q).x
    return at[1], (at[2] - at[0]) / 2e-6


def test_a_joint_within_a_loop_that_is_too_fast_is_named():
    found = TURN.check(four_bar(velocity=1.0))
    worst = found.exceeded[0]
    assert (worst.joint, worst.quantity, worst.unit, worst.limit) == ("joint2", "velocity", "rad/s", 1.0)
    assert worst.value == pytest.approx(assembled(four_bar(), TURN, worst.t)[1][1], rel=1e-6)
    factor = float(re.search(r"stretched\(([\d.]+)\)", worst.remedy)[1])
    assert TURN.stretched(factor).check(four_bar(velocity=1.0))
    assert not TURN.stretched(0.99 * factor).check(four_bar(velocity=1.0))


def test_a_joint_within_a_loop_beyond_its_range_is_named():
    x = four_bar().assemble(TURN(np.linspace(0.0, 1.0, 2001)).q).x[:, 1]
    upper = float(np.quantile(x, 0.9))
    found = TURN.check(four_bar(lower=-9.0, upper=upper))
    assert [(one.joint, one.quantity) for one in found.exceeded] == [("joint2", "position")]
    assert found.exceeded[0].value == pytest.approx(x.max(), rel=1e-6)
    assert TURN.check(four_bar(lower=float(x.min()) - 1e-6, upper=float(x.max()) + 1e-6))


def test_names_tell_whose_use_is_told():
    found = TURN.check(four_bar(velocity=1.0))
    assert found.names["position"] == ("joint1", "joint2", "joint3")
    assert found.use["velocity"].shape == (3,)
    assert found.use["velocity"][1] == pytest.approx(abs(found.exceeded[0].value))
    of_arms = dal.trajectory.quintic([0.0, 0.0], [1.0, 1.0], duration=1.0).check(dal.robots.two_link_planar())
    assert of_arms.names == {"position": ("joint1", "joint2"), "velocity": ("joint1", "joint2")}


def swing(mechanism, size=0.1, duration=0.5):
    q0 = np.array(mechanism.q0)
    return dal.trajectory.septic(q0, q0 + size * np.linspace(1.0, 0.5, mechanism.n), duration=duration)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: two_arms(effort=8.0), lambda: platform(effort=60.0), dal.mechanisms.two_arms])
def test_drives_are_asked_for_the_least_they_can_do_together(make):
    mechanism = make()
    scaled = dal.scale_trajectory(mechanism, swing(mechanism), velocity=np.inf)
    assert scaled.feasible
    just = scaled.motion.stretched(1.0001)
    assert "torque" not in {one.quantity for one in just.check(mechanism).exceeded}
    assert just.check(mechanism).use["torque"].max() == pytest.approx(1.0, abs=1e-3)
    found = scaled.motion.stretched(0.95).check(mechanism)
    beyond = {one.joint for one in found.exceeded if one.quantity == "torque"}
    assert beyond
    assert beyond <= set(mechanism.actuated)
    assert found.names["torque"] == tuple(mechanism.actuated)


def test_the_remedy_for_drives_that_are_too_weak_helps():
    arms = two_arms(effort=8.0)
    motion = swing(arms, size=0.2, duration=0.3)
    worst = motion.check(arms).exceeded[0]
    assert worst.quantity == "torque"
    factor = float(re.search(r"stretched\(([\d.]+)\)", worst.remedy)[1])
    assert motion.stretched(1.02 * factor).check(arms)


def test_where_gravity_alone_is_too_much_for_all_drives_no_timing_is_advised():
    weak = platform(effort=20.0)
    text = str(swing(weak, size=0.02, duration=9.0).check(weak))
    assert "Gravity alone takes" in text
    assert "no timing helps" in text


def test_a_motion_beyond_the_reach_of_a_mechanism_says_so_once():
    arms = two_arms(effort=8.0)
    q0 = np.array(arms.q0)
    away = dal.trajectory.septic(q0, q0 + [1.0, 0.0, 0.0], duration=1.0)
    with pytest.warns(dal.DalembertWarning, match="has no positions at"):
        found = away.check(arms)
    assert not found
    lost = [one for one in found.exceeded if one.quantity == "assembly"]
    assert len(lost) == 1
    assert str(lost[0]).startswith("mechanism 'two_arms': no positions at t = 0.")
    assert "its closures cannot be met" in str(lost[0])
    assert all(np.isfinite(one.value) for one in found.exceeded if one.quantity != "assembly")


def test_a_batch_of_motions_marks_the_rows_that_fail():
    fast = dal.trajectory.quintic([[0.6], [0.6]], [[0.9], [2.2]], duration=1.0)
    found = fast.check(four_bar(velocity=1.0))
    np.testing.assert_array_equal(found.passed, [True, False])
    assert {one.row for one in found.exceeded} == {(1,)}


def test_a_mechanism_at_positions_of_ones_own_is_checked_there():
    """The other branch of the four-bar, where its joints stand and turn otherwise."""
    limits, start = {"lower": 8.0, "upper": 9.0}, [0.6, -1.0, 1.0]
    here, there = TURN.check(four_bar(**limits)), TURN.check(four_bar(**limits).at(near=start))
    q = TURN(np.linspace(0.0, 1.0, 2001)).q
    own, other = (four_bar().assemble(q, near=near).x[:, 1].min() for near in (None, start))
    assert here.exceeded[0].value == pytest.approx(own, abs=1e-5)
    assert there.exceeded[0].value == pytest.approx(other, abs=1e-5)
    assert abs(own - other) > 0.1
