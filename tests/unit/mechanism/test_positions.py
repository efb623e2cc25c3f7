"""Positions of mechanisms: found from the seed, from a start, along a path, or given; and never wrong without a word."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Joint, Link, Robot, Tool
from dalembert.model.position_functions import JointFunction


def pair(*closures: dal.Closure, guess=(0.0, 0.0)) -> dal.Mechanism:
    """Two pendulums, a and b, coupled; the coordinate is a."""
    links = [Link("ground"), *(Link(n, 1.0, (0.1, 0.0, 0.0), np.diag([0.01, 0.01, 0.01])) for n in "ab")]
    joints = [Joint(n, "continuous", "ground", n, axis=(0, 1, 0)) for n in "ab"]
    tree = Robot.from_parts("pair", links, joints, tool=Tool("a"))
    return dal.Mechanism("pair", tree, closures, "a", guess)


def test_a_condition_that_only_seemed_to_depend_on_others_is_not_left_open():
    """At zero a²b has no slope, and looks as if it held nothing; elsewhere it cannot be met beside a = b."""
    cubic = dal.Closure("cubic", "function", functions=((JointFunction(lambda x: x["a"] * x["a"] * x["b"]), 0.0),))
    mechanism = pair(dal.Closure("gear", "gear", ("a", "b"), ratio=1.0), cubic)
    with pytest.raises(dal.DalembertError, match=r"no positions at a = 0\.3: .*'cubic'"):
        dal.mass_matrix(mechanism, [0.3])
    found = mechanism.assemble([[0.0], [0.3]])
    assert found.found.tolist() == [True, False]
    assert np.isnan(found.x[1]).all()
    space: dict = {}
    exec(dal.export_code(mechanism, "gravity_torque", language="python"), space)
    assert np.isnan(space["pair_gravity_torque"](np.array([0.3]))).all()


def test_positions_tell_their_branch_and_condition():
    """The crank of a crank-rocker with its rocker on either side: the two ways to assemble it have opposite determinants."""
    crank = dal.mechanisms.crank_rocker()
    x = crank.seed
    other = crank.assemble(crank.q0, near=[x[0], x[1] + 3.0, 2.0])
    here = crank.assemble([crank.q0, crank.q0 + 0.3])
    assert other.found
    assert other.branch == -1
    assert here.branch.tolist() == [1, 1]
    assert here.condition[0] == pytest.approx(np.linalg.cond(crank.equations(x)[1]))
    lost = dal.Mechanism("rocker", crank.robot, crank.closures, ["joint3"], x).assemble([[0.0]])
    assert lost.branch.tolist() == [0]
    assert np.isnan(lost.condition).all()


def test_a_path_is_followed_where_single_points_would_jump():
    """Ten turns of the crank: the coupler and the rocker keep their branch, and their angles have no jumps."""
    crank = dal.mechanisms.crank_rocker()
    q = crank.q0 + np.linspace(0, 20 * np.pi, 401)[:, None]
    found = crank.assemble(q, continuous=True)
    assert found.found.all()
    assert (found.branch == 1).all()
    assert np.abs(np.diff(found.x, axis=0)).max() < 0.5  # a step of the crank is 0.16 rad, the coupler turns a bit faster
    assert found.residual.max() < 1e-13


def test_positions_are_found_many_turns_away_from_the_seed():
    """A crank that has turned 16 times stands as before, and the coupler has turned back by as much against it."""
    mechanism = dal.mechanisms.crank_rocker()
    near, far = mechanism.assemble([[1.0], [1.0 + 32 * np.pi]]).x
    assert far == pytest.approx(near + [32 * np.pi, -32 * np.pi, 0.0], abs=1e-11)  # some roundings of a hundred radians


def test_positions_that_no_strides_lead_to_are_given_up_soon():
    with pytest.warns(dal.DalembertWarning, match="4 of 4 rows are without positions"):
        dal.mass_matrix(dal.mechanisms.crank_rocker(), [[1e7], [-1e7], [1e200], [1e308]])


@pytest.mark.slow
def test_angles_of_links_go_round_and_round():
    """In the yaw of its link a pendulum turns on past half a turn, as it does in the angle of its joint."""
    links = [Link("ground"), Link("bar", 1.0, (0.1, 0.05, 0.0), np.diag([0.01, 0.01, 0.01]))]
    tree = Robot.from_parts("bar", links, [Joint("turn", "continuous", "ground", "bar")], tool=Tool("bar"), gravity=(0, -9.81, 0))
    yaw = dal.Mechanism("bar", tree, [], [dal.pose_of("bar")[5]])
    q = np.linspace(-11.0, 11.0, 23)[:, None]
    np.testing.assert_allclose(dal.gravity_torque(yaw, q), dal.gravity_torque(tree, q), atol=1e-12)
    np.testing.assert_allclose(dal.gravity_torque(yaw.at(x=q), q), dal.gravity_torque(tree, q), atol=1e-12)
    np.testing.assert_allclose(np.diff(yaw.assemble(q, continuous=True).x, axis=0), 1.0, atol=1e-9)  # no jumps
    space: dict = {}
    exec(dal.export_code(yaw, "gravity_torque", language="python"), space)
    assert space["bar_gravity_torque"](np.array([3.5])) == pytest.approx(dal.gravity_torque(tree, [3.5]))
    times = np.linspace(0.0, 2.0, 5)
    found, known = (dal.simulate(s, [0.0], [12.0], t_eval=times, rtol=1e-10, atol=1e-12).q for s in (yaw, tree))
    np.testing.assert_allclose(found, known, atol=1e-6)
    assert known[-1] > 7.0


def test_a_tree_without_closures_is_a_mechanism_like_the_robot():
    arm = dal.robots.two_link_planar()
    mechanism = dal.Mechanism("arm", arm, [], arm.joint_names)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 4, 2))
    np.testing.assert_allclose(dal.inverse_dynamics(mechanism, q, qd, qdd), dal.inverse_dynamics(arm, q, qd, qdd), rtol=1e-12)
    found = dal.constraint_forces(mechanism, q, qd, qdd)
    assert found.closures.shape == (4, 0, 6)
    np.testing.assert_allclose(found.joints, dal.link_wrenches(arm, q, qd, qdd), atol=1e-12)
