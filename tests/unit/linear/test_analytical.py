"""The document's partial derivatives of the generalised load, against compiled derivatives and against differences."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.robot_system import RobotSystem
from dalembert.dynamics.system import Coordinate
from dalembert.dynamics.transferred import Transferred
from dalembert.errors import ModelError
from dalembert.linear import load_partials
from tests.unit.linear.differences import slopes
from tests.unit.linear.systems import MECHANISMS, mechanism, motion, some_robot

EXACT = 1e-9  # relative: two ways to the same sums, whose rounding differs
DIFFERENCE = 1e-8  # relative: what extrapolated differences of doubles reach


def worst(found, expected):
    return max(np.abs(a - b).max() / max(1.0, np.abs(b).max()) for a, b in zip(found, expected, strict=True))


def by_differences(system, q, qd, qdd):
    def load(x):
        return dal.inverse_dynamics(system, *np.split(x, 3))

    return np.split(slopes(load, np.concatenate([q, qd, qdd])), 3, axis=-1)


@pytest.mark.parametrize("seed", range(4))
def test_partials_of_random_robots_equal_compiled_derivatives_and_differences(seed):
    robot = some_robot(seed, 2 + seed % 3)
    q, qd, qdd = motion(robot, np.random.default_rng(seed))
    found = load_partials(robot, q, qd, qdd)
    assert worst(found, dal.derivatives(robot, q, qd, qdd)) < EXACT
    assert worst([x[0] for x in found], by_differences(robot, q[0], qd[0], qdd[0])) < DIFFERENCE


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_partials_of_mechanisms_equal_compiled_derivatives_and_differences(name):
    system = mechanism(name)
    q, qd, qdd = motion(system, np.random.default_rng(1))
    found = load_partials(system, q, qd, qdd)
    assert worst(found, dal.derivatives(system, q, qd, qdd)) < EXACT
    assert worst([x[0] for x in found], by_differences(system, q[0], qd[0], qdd[0])) < DIFFERENCE


def test_spinning_rotors_are_refused():
    rotor = dal.Rotor(1e-3, ratio=50.0, model="full", mass=0.5)
    arm = dal.robots.two_link_planar()
    arm = arm.replace(parameters=arm.parameters.replace(rotors={arm.joint_names[1]: rotor}))
    with pytest.raises(ModelError, match=r"^load_partials: 'full' rotors found, which .* Use dal\.derivatives\.$"):
        load_partials(arm, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    other = Transferred(RobotSystem(arm), [Coordinate("u1"), Coordinate("u2")], lambda u: u)
    with pytest.raises(ModelError, match="Transferred found; a Robot or a Mechanism is expected"):
        load_partials(other, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
