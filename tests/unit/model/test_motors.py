"""Motors at joints: what is refused, what is counted once, and what travels with a robot."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import Friction, Motor, Rotor

REFUSED = {
    "resistance": ({"resistance": 0.0}, "motor: resistance 0 found; a positive number is expected"),
    "inductance": ({"inductance": -1e-3}, "motor: inductance -0.001 found; zero or a positive number is expected"),
    "ratio": ({"ratio": 0.0}, "motor: ratio 0 found; a motor that does not turn with its joint drives nothing"),
    "efficiency": ({"efficiency": 90.0}, "motor: efficiency 90 found; a share above 0 up to 1 is expected"),
    "currents": ({"current_limit": 1.0, "continuous_current": 2.0}, "continuous_current 2 A is above current_limit 1 A"),
    "text": ({"torque_constant": "0.1"}, "motor: torque_constant: '0.1' is not a number"),
    "infinite": ({"torque_constant": math.inf}, "motor: torque_constant"),
}


@pytest.mark.parametrize("fields, words", REFUSED.values(), ids=REFUSED)
def test_what_no_motor_has_is_refused(fields, words):
    with pytest.raises(ModelError) as refusal:
        Motor(**fields)
    assert words in str(refusal.value)


def test_in_si_units_one_constant_is_both():
    assert Motor(torque_constant=0.1).k_e == 0.1
    assert Motor(torque_constant=0.1, back_emf_constant=0.11).k_e == 0.11
    assert Motor(resistance=2.0, torque_constant=0.1, voltage_limit=24.0).stall_torque == pytest.approx(1.2)
    assert Motor(resistance=2.0, torque_constant=0.1, voltage_limit=24.0, current_limit=3.0).stall_torque == pytest.approx(0.3)
    assert Motor().stall_torque == math.inf


def pendulum(**parameters):
    robot = dal.robots.pendulum()
    return robot.replace(parameters=robot.parameters.replace(**parameters))


MOTOR = Motor(2.0, 0.1, ratio=-50.0, inertia=1e-4, damping=2e-5)
COUNTED = {
    "no rotor": ({}, "motor of joint 'pivot': inertia 0.0001 kg m² found, but the joint has no rotor, so that it would not act"),
    "light rotor": ({"rotors": {"pivot": Rotor(5e-5, -50.0)}}, "but the joint has a rotor of 5e-05 kg m²"),
    "other ratio": ({"rotors": {"pivot": Rotor(1e-4, 50.0)}}, "ratio -50 found, but the joint's rotor has 50"),
    "no friction": (
        {"rotors": {"pivot": Rotor(1e-4, -50.0)}},
        "damping 2e-05 N m s/rad found, 0.05 at the joint, but its viscous",
    ),
}


@pytest.mark.parametrize("parameters, words", COUNTED.values(), ids=COUNTED)
def test_the_mechanics_of_a_motor_have_to_be_in_the_joint(parameters, words):
    with pytest.raises(ModelError) as refusal:
        pendulum(**parameters, motors={"pivot": MOTOR})
    assert words in str(refusal.value)
    assert refusal.value.part == ("joint", "pivot")


def test_with_motors_puts_them_there_once():
    robot = pendulum(friction={"pivot": Friction(viscous=0.01)}).with_motors({"pivot": MOTOR})
    assert robot.parameters.rotors["pivot"] == Rotor(1e-4, -50.0)
    assert robot.parameters.friction["pivot"].viscous == 0.01 + 50.0**2 * 2e-5
    assert robot.with_motors({"pivot": MOTOR}) == robot
    again = robot.with_motors({"pivot": MOTOR.replace(resistance=3.0)})
    assert again.parameters.rotors == robot.parameters.rotors
    assert dal.mass_matrix(robot, [0.0])[0, 0] == dal.mass_matrix(dal.robots.pendulum(), [0.0])[0, 0] + 1e-4 * 50.0**2


def test_a_motor_at_an_unknown_joint_is_refused():
    with pytest.raises(UnknownNameError, match="motor: moving joint: 'pivto' is not known; did you mean 'pivot'"):
        dal.robots.pendulum().with_motors({"pivto": Motor()})
    with pytest.raises(ModelError, match=r"motor of 'pivot': 3 found; a Motor\(\.\.\.\) is expected"):
        dal.robots.pendulum().with_motors({"pivot": 3})


def test_motors_change_no_equation_of_motion():
    plain, driven = dal.robots.two_link_planar(), dal.robots.two_link_planar().with_motors({"joint1": Motor(1.0, 0.2)})
    state = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    np.testing.assert_array_equal(dal.inverse_dynamics(plain, *state), dal.inverse_dynamics(driven, *state))


def test_motors_travel_with_the_robot():
    arm = dal.robots.pelican().with_motors({"joint1": Motor(1.0, 0.2, name="shoulder")})
    assert pickle.loads(pickle.dumps(arm)) == copy.deepcopy(arm) == arm
    assert hash(arm) != hash(dal.robots.pelican())
    held = dal.attach(dal.robots.pendulum(), arm)
    assert held.parameters.motors == {"pelican_joint1": arm.parameters.motors["joint1"]}
    assert dal.detach(held, "pelican").parameters.motors == {}
    assert set(dal.gather("pair", {"a": arm, "b": arm}).parameters.motors) == {"a_joint1", "b_joint1"}
    row = {"a": 1.0, "mass": 1.0, "rotor": Rotor(1e-3, 20.0), "motor": Motor(1.0, 0.2)}
    assert dal.from_dh([row], convention="standard").parameters.motors == {"joint1": Motor(1.0, 0.2)}
