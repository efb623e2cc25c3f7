"""MuJoCo agrees on motions of mechanisms, its constraints being as stiff as they can be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("mujoco")

import dalembert as dal
from tests.cross.mujoco_mechanism import motion, plain
from tests.mechanism_cases import CASES
from tests.mechanism_oracle import Oracle

TOLERANCE = 1e-6  # [m | rad]: closures that give way by nanometres, over some tenths of a second


def four_bar() -> dal.Mechanism:
    """Of the catalogue, with the friction that MuJoCo knows."""
    mechanism = dal.mechanisms.four_bar()
    return mechanism.replace(robot=plain(mechanism.robot))


MOTIONS: dict[str, Callable[[], dal.Mechanism]] = {
    "four-bar": four_bar,
    "five-bar": CASES["five_bar"],
    "3-RRR": CASES["three_rrr_joints"],
    "delta": CASES["delta"],
    "stewart": CASES["stewart_legs"],
}


@pytest.mark.parametrize("name", MOTIONS)
def test_mujoco_agrees_on_motions(name: str) -> None:
    """From a start with velocity, under constant torques that push with the weight."""
    mechanism = MOTIONS[name]()
    driven = [mechanism.robot.joint_names.index(joint) for joint in mechanism.joint_names]
    qd = np.linspace(0.2, 0.4, mechanism.n)
    tau = -0.5 * dal.gravity_torque(mechanism, mechanism.q0)
    at_joints = np.zeros(mechanism.robot.n)
    at_joints[driven] = tau
    x = mechanism.assemble(mechanism.q0).x
    xd, _ = Oracle(mechanism).rates(x, qd)
    times = np.linspace(0.0, 0.3, 4)
    ours = dal.simulate(mechanism, mechanism.q0, qd, tau=tau, t_eval=times, rtol=1e-10, atol=1e-12)
    theirs = motion(mechanism, x, xd, at_joints, times, step=1e-4)
    assert np.abs(ours.x - theirs).max() < TOLERANCE
    assert np.ptp(ours.x, axis=0).max() > 0.05  # it has moved
