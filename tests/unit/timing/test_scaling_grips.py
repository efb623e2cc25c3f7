"""Scaling motions of what is held by contacts, or with forces that are held: no faster one is carried without slipping."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ModelError
from tests.mechanisms_with_drives import three_fingers, two_fingers

from .test_fastest_sharing import SHIFT, TIPS

SQUEEZE = dal.Squeeze("left_tip", "right_tip", 9.0)


def carried(hand, motion, limit, **asked):
    """Which instants of a motion torques within limits can carry, told by cone programmes or sets that are carried along."""
    at = motion(np.linspace(0.0, motion.duration, 1501))
    return dal.distribute_load(hand, at.q, at.qd, at.qdd, limits=limit, **asked).feasible


def reach(hand, shift=SHIFT, make=dal.trajectory.septic):
    return make(*(np.array(hand.q0) + shift), duration=0.5)


@pytest.mark.parametrize("make", [dal.trajectory.septic, dal.trajectory.cubic])
@pytest.mark.parametrize("limit", [10.0, 100.0])
@pytest.mark.parametrize("asked", [{"contacts": TIPS}, {"internal": SQUEEZE}, {"contacts": TIPS, "internal": SQUEEZE}])
def test_the_largest_factor_is_carried_and_a_larger_one_is_not(asked, limit, make):
    hand = two_fingers()
    motion = reach(hand, make=make)
    found = dal.scale_trajectory(hand, motion, torque=limit, samples=200, **asked)
    assert found.feasible
    assert found.use == pytest.approx(1.0, abs=1e-5)
    assert carried(hand, found.motion, limit, **asked).all()
    with pytest.warns(dal.DalembertWarning):
        assert not carried(hand, motion.stretched(1.0 / (1.0001 * float(found.factor))), limit, **asked).all()
    assert str(found.limit) in ("torque", "contact") if "contacts" in asked else ("torque",)
    glued = dal.scale_trajectory(hand, motion, torque=limit, samples=200)
    assert glued.factor > found.factor


def test_torques_of_the_drives_hold_the_grip():
    """They make the torques of the coordinates, stay within limits, and press as much as is held."""
    hand = two_fingers()
    found = dal.scale_trajectory(hand, reach(hand), torque=10.0, samples=40, internal=SQUEEZE)
    shared = dal.distribute_load(hand, found.q, found.qd, found.qdd, objective="ratio", limits=10.0, internal=SQUEEZE)
    assert np.allclose(np.abs(found.drive_torques).max(axis=1), np.abs(shared.torques).max(axis=1), rtol=1e-4)
    assert found.drive_torques.shape == (40, len(hand.actuated))


def test_a_factor_and_a_law_of_ones_own_tell_whether_a_grip_holds():
    hand = two_fingers()
    motion = reach(hand)
    best = float(dal.scale_trajectory(hand, motion, torque=10.0, contacts=TIPS, samples=200).factor)
    slow, fast = (dal.scale_trajectory(hand, motion, torque=10.0, contacts=TIPS, factor=k * best) for k in (0.9, 1.1))
    assert slow.feasible
    assert not fast.feasible
    assert fast.use > 1.0
    law = dal.trajectory.quintic([0.0], [0.5], duration=4.0)
    under = dal.scale_trajectory(hand, motion, torque=10.0, contacts=TIPS, law=law, samples=100)
    assert bool(under.feasible) == bool(carried(hand, under.motion, 10.0, contacts=TIPS).all())


@pytest.mark.slow
def test_cones_of_friction_in_space_are_kept():
    hand = three_fingers()
    contacts = {f"tip_{k}": dal.Contact((0, 0, 1), 0.6) for k in "abc"}
    motion = reach(hand, np.array([np.zeros(6), [0.004, -0.006, 0.008, 0.02, -0.01, 0.02]]))
    found = dal.scale_trajectory(hand, motion, torque=2.0, contacts=contacts, samples=30)
    assert found.feasible
    assert carried(hand, found.motion, 2.0, contacts=contacts).all()
    with pytest.warns(dal.DalembertWarning):
        assert not carried(hand, motion.stretched(1.0 / (1.01 * float(found.factor))), 2.0, contacts=contacts).all()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"contacts": TIPS}, ModelError, r"contacts, internal: found, but left_joint1.* without a limit of torque"),
        ({"contacts": TIPS, "torque": 1.2}, InfeasibleError, r"contacts? .*_tip.*: at 0.* s, q = .* alone cannot be held within"),
        ({"contacts": {"no_tip": TIPS["left_tip"]}, "torque": 9.0}, dal.DalembertError, "no_tip"),
    ],
)
def test_a_grip_that_cannot_be_had_is_refused_in_a_sentence(given, error, words):
    hand = two_fingers()
    with pytest.raises(error, match=words):
        dal.scale_trajectory(hand, reach(hand), samples=50, **given)


def test_contacts_of_a_robot_are_refused():
    with pytest.raises(ModelError, match="contacts: found, but this system has no closures"):
        dal.scale_trajectory(dal.robots.pendulum(), dal.trajectory.quintic([0.0], [1.0], duration=1.0), contacts=TIPS)
