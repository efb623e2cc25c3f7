"""The parallel-serial hybrid: with resting legs it is the arm alone, with a resting arm the platform alone."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

HYBRID = dal.mechanisms.hybrid()


def arm() -> dal.Robot:
    """The three joints on the platform as a robot of its own, on a fixed base."""
    links = {link.name: link for link in HYBRID.robot.parameters.links}
    joints = {joint.name: joint for joint in HYBRID.robot.structure.joints}
    return dal.Robot.from_parts(
        "arm",
        [dal.Link("platform"), links["upper_arm"], links["forearm"], links["hand"]],
        [joints["arm_4"], joints["arm_5"], joints["arm_6"]],
    )


def test_over_resting_legs_the_arm_needs_its_own_torques(rng):
    q = HYBRID.q0 + 0.05
    qd, qdd = np.zeros((2, 6))
    qd[3:], qdd[3:] = rng.normal(size=(2, 3))
    found = dal.inverse_dynamics(HYBRID, q, qd, qdd)[3:]
    assert found == pytest.approx(dal.inverse_dynamics(arm(), q[3:], qd[3:], qdd[3:]), rel=1e-11)


def test_the_hand_reaches_six_directions():
    """Three coordinates of the parallel part and three of the serial one determine the motion of the hand [Freeman, Ch. IV]."""
    J = dal.jacobian(HYBRID, HYBRID.q0)
    assert np.linalg.matrix_rank(J) == 6
    assert np.linalg.cond(J) < 200


def test_the_legs_move_the_hand_in_the_plane_only():
    J = dal.jacobian(HYBRID, HYBRID.q0 + 0.05)
    assert J[[2, 3, 4], :3] == pytest.approx(np.zeros((3, 3)), abs=1e-13)
