"""Equilibria: torques that hold a pose, poses that torques hold, and what happens nearby."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ModelError, ShapeError
from tests.unit.linear.systems import mechanism, some_robot

HELD = 1e-9  # of the largest torque


def test_the_torques_that_hold_a_pose_are_those_of_gravity():
    robot = some_robot(1, 4)
    q = np.random.default_rng(1).normal(size=(3, 4))
    found = dal.equilibrium(robot, q)
    assert np.abs(found.tau - dal.gravity_torque(robot, q)).max() < HELD * np.abs(found.tau).max()
    assert not found.residual.any()


def test_a_pose_is_found_that_torques_hold_for_each_of_a_batch():
    arm = dal.robots.two_link_planar()
    q = np.array([[-1.2, 0.4], [-1.7, -0.3], [1.3, 0.2]])
    tau = dal.gravity_torque(arm, q)
    found = dal.equilibrium(arm, tau=tau, near=q + 0.1)
    assert np.abs(found.q - q).max() < 1e-6
    assert np.abs(dal.gravity_torque(arm, found.q) - tau).max() < HELD * np.abs(tau).max()
    assert list(found.stability) == ["stable", "stable", "unstable"]


def test_springs_and_wrenches_take_part():
    arm = dal.robots.two_link_planar()
    springs = [dal.Spring(1e4, joint=joint, rest=0.3) for joint in arm.joint_names]
    wrench = [20.0, -30.0, 0, 0, 0, 0]
    found = dal.equilibrium(arm, tau=[0.0, 0.0], near=[0.3, 0.3], loads=springs, wrenches={"tool": wrench})
    balance = dal.gravity_torque(arm, found.q) - dal.applied_torque(arm, found.q, springs=springs, wrenches={"tool": wrench})
    assert np.abs(balance).max() < 1e-6
    assert found.stability == "stable"


def test_a_mechanism_finds_its_balance():
    system = mechanism("four_bar")
    found = dal.equilibrium(system, tau=[0.0], near=system.q0)
    assert np.abs(dal.gravity_torque(system, found.q)).max() < 1e-8
    assert dal.equilibrium(system, found.q).stability == found.stability


def test_a_damped_pendulum_comes_to_rest_and_an_upright_one_falls():
    pendulum = dal.robots.pendulum()
    damper = dal.Damper(0.1, joint=pendulum.joint_names[0])
    assert dal.equilibrium(pendulum, [0.0], loads=damper).stability == "asymptotically stable"
    assert dal.equilibrium(pendulum, [0.0]).stability == "stable"
    assert dal.equilibrium(pendulum, [np.pi]).stability == "unstable"
    assert dal.equilibrium(pendulum.with_gravity([0, 0, 0]), [0.3]).stability == "neutral"


def test_joints_that_gravity_does_not_turn_stay_where_the_search_began():
    robot = dal.robots.puma560()
    robot = robot.replace(parameters=robot.parameters.replace(friction={}))
    q = np.array([0.7, -1.4, 0.2, 0.3, 0.4, 0.5])
    tau = dal.gravity_torque(robot, q)
    found = dal.equilibrium(robot, tau=tau, near=q + [0.0, 0.05, -0.05, 0.0, 0.02, 0.0])
    assert abs(found.q[0] - 0.7) < 1e-6
    assert np.abs(found.residual).max() < 1e-8 * np.abs(tau).max()


def test_a_pose_that_is_none_is_told_apart():
    found = dal.equilibrium(dal.robots.pendulum(), [[np.nan], [0.1]])
    assert list(found.stability) == ["unknown", "stable"]


MISTAKES = [
    (lambda p: dal.equilibrium(p), ModelError, "equilibrium: give q for the torques that hold it, or tau and near"),
    (lambda p: dal.equilibrium(p, [0.0], tau=[0.0]), ModelError, "equilibrium: give q for the torques that hold it, or tau"),
    (lambda p: dal.equilibrium(p, tau=[0.0]), ModelError, "equilibrium: near is missing: a pose"),
    (lambda p: dal.equilibrium(p, tau=[0.0], near=[0.0, 0.0]), ShapeError, "near: shape (2,) found, (..., 1) expected."),
    (
        lambda p: dal.equilibrium(p, tau=[6.0], near=[0.0]),
        InfeasibleError,
        "equilibrium: no pose near the one given is held by these torques: at the closest one found, 'pivot' is out of "
        "balance by 1.1 N m. Begin elsewhere",
    ),
    (
        lambda p: dal.equilibrium(p, tau=[[1.0], [-7.0]], near=[0.0]),
        InfeasibleError,
        "equilibrium: no pose near the one given is held by these torques in 1 of 2 cases, the first of which is number 1:",
    ),
]


@pytest.mark.parametrize("mistake, kind, said", MISTAKES, ids=[said[:40] for *_, said in MISTAKES])
def test_what_cannot_be_found_is_told_in_a_sentence(mistake, kind, said):
    with pytest.raises(kind) as found:
        mistake(dal.robots.pendulum())
    assert str(found.value).startswith(said)
