"""The document's partial derivatives of the generalised load, against compiled derivatives and differences with fifty digits."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.robot_system import RobotSystem
from dalembert.dynamics.system import Coordinate
from dalembert.dynamics.transferred import Transferred
from dalembert.errors import ModelError
from dalembert.linear import load_partials
from tests import high_precision
from tests.high_precision import worst
from tests.unit.linear.systems import MECHANISMS, mechanism, motion, some_robot

EXACT = 1e-9  # relative: two ways to the same sums, whose rounding differs
DIFFERENCE = 1e-12  # relative; differences with fifty digits err by 1e-30, so this is rounding of the partials: 2e-15 in most


def check_partials(system, q, qd, qdd):
    """The document's partials, the compiled ones and exact differences agree, by position, velocity and acceleration."""
    analytical, compiled = load_partials(system, q, qd, qdd), dal.derivatives(system, q, qd, qdd)
    assert worst(analytical, compiled) < EXACT
    exact = high_precision.slopes(high_precision.function_of(system, "inverse_dynamics"), q[0], qd[0], qdd[0])
    assert worst([x[0] for x in analytical], exact) < DIFFERENCE
    assert worst([x[0] for x in compiled], exact) < DIFFERENCE


@pytest.mark.parametrize("seed", range(4))
def test_partials_of_random_robots_equal_compiled_derivatives_and_exact_differences(seed):
    robot = some_robot(seed, 2 + seed % 3)
    check_partials(robot, *motion(robot, np.random.default_rng(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_partials_of_mechanisms_equal_compiled_derivatives_and_exact_differences(name):
    system = mechanism(name)
    check_partials(system, *motion(system, np.random.default_rng(1)))


def test_spinning_rotors_are_refused():
    rotor = dal.Rotor(1e-3, ratio=50.0, model="full", mass=0.5)
    arm = dal.robots.two_link_planar()
    arm = arm.replace(parameters=arm.parameters.replace(rotors={arm.joint_names[1]: rotor}))
    with pytest.raises(ModelError, match=r"^load_partials: 'full' rotors found, which .* Use dal\.derivatives\.$"):
        load_partials(arm, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    other = Transferred(RobotSystem(arm), [Coordinate("u1"), Coordinate("u2")], lambda u: u)
    with pytest.raises(ModelError, match="Transferred found; a Robot or a Mechanism is expected"):
        load_partials(other, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
