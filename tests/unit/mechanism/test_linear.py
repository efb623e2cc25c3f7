"""Mechanisms whose closures and coordinates are sums of joint positions: x = A q + b, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError

TOLERANCE = 1e-12  # a few dozen operations on numbers of the size of one


@pytest.fixture
def arm() -> dal.Mechanism:
    return dal.mechanisms.parallelogram()


@pytest.fixture(scope="module")
def pinned() -> dal.Mechanism:
    """The same arm, its loop closed by the pin that was cut: not linear."""
    return dal.mechanisms.parallelogram(pinned=True)


def test_positions_are_a_linear_function_of_the_coordinates(arm):
    q = np.array([[1.1, 0.3], [-25.0, 14.0]])  # as far as one likes: there are no branches
    found = arm.assemble(q)
    th1, th4 = q.T
    assert found.x == pytest.approx(np.stack([th1, th4 - th1, np.pi - th4 + th1, th4], axis=-1), abs=1e-14)
    assert found.turns.tolist() == [1.0, 1.0]
    assert found.residual.max() < 1e-14


def test_what_is_linear_has_nothing_to_solve_for(arm, pinned):
    assert (arm.linear, arm.solved) == (True, {})
    assert (pinned.linear, pinned.solved) == (False, {"x": (4,)})


def test_the_dynamics_are_those_of_the_loop_closed_by_its_pin(arm, pinned, rng):
    q, qd, qdd = arm.q0 + rng.uniform(-0.3, 0.3, (5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    for function, given in (
        (dal.mass_matrix, (q,)),
        (dal.christoffel, (q,)),
        (dal.inverse_dynamics, (q, qd, qdd)),
        (dal.forward_dynamics, (q, qd, qdd)),
    ):
        assert function(arm, *given) == pytest.approx(function(pinned, *given), rel=TOLERANCE, abs=TOLERANCE)


def test_derivatives_go_through_the_positions(arm, pinned):
    q, qd, qdd = arm.q0, np.array([0.5, -0.4]), np.array([1.0, 2.0])
    ours, theirs = dal.derivatives(arm, q, qd, qdd), dal.derivatives(pinned, q, qd, qdd)
    for name in ("dtau_dq", "dtau_dqd"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-10, abs=1e-10)  # the pin is solved for


def test_given_positions_are_looked_at_and_broadcast(arm):
    x = arm.assemble(arm.q0).x
    assert dal.gravity_torque(arm.at(x=[x, x]), arm.q0) == pytest.approx(np.array([dal.gravity_torque(arm, arm.q0)] * 2))
    assert dal.gravity_torque(arm.at(near=x + 1.0), arm.q0).tolist() == dal.gravity_torque(arm, arm.q0).tolist()
    with pytest.raises(ModelError, match=r"x: positions of 'parallelogram' found that leave closure 'loop' .* off by"):
        dal.gravity_torque(arm.at(x=x + 0.001), arm.q0)


def test_a_geared_arm_is_linear():
    """x2 = 3 x1 + 0.2 by a gear: the moments add up as those of a rotor do."""
    robot = dal.robots.pelican()
    first, second = robot.joint_names
    gear = dal.Closure("gear", "gear", (second, first), ratio=3.0, offset=0.2)
    arm = dal.Mechanism("geared", robot, [gear], [first])
    U, q = np.array([1.0, 3.0]), 0.7
    M = dal.mass_matrix(robot, [q, 3 * q + 0.2])
    assert arm.linear
    assert dal.mass_matrix(arm, [q])[0, 0] == pytest.approx(U @ M @ U, rel=TOLERANCE)
    assert dal.equations(arm, "M").form == "closed"


def test_a_closed_form_is_refused_where_positions_are_found_by_iteration():
    four_bar = dal.mechanisms.four_bar()
    with pytest.raises(ModelError, match="the positions of 'four_bar' are found by iteration, .* Try form='program'"):
        dal.equations(four_bar, "g", form="closed")
    assert dal.equations(four_bar, "g").form == "program"


def test_a_motion_needs_no_positions_solved_for(arm):
    fall = dal.simulate(arm, arm.q0, [0.0, 0.0], t_end=0.3, rtol=1e-9, atol=1e-11)
    assert fall.x is None
    assert fall.residual.max() == 0.0
    assert np.ptp(fall.energy) < 1e-7  # of some 20 J of motion
