"""The screw press: belt, gear and screw as ratios."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

PRESS = dal.mechanisms.screw_press()
RATIOS = np.array([1.0, 1 / 2.5, -1 / 7.5, -0.012 / (2 * np.pi) / 7.5])  # motor, countershaft, spindle, ram over the motor


def test_every_shaft_turns_by_its_ratio():
    q = np.linspace(-60, 60, 9)[:, None]
    assert PRESS.assemble(q).x == pytest.approx(q * RATIOS, abs=1e-13)


def test_the_mass_at_the_motor_is_the_sum_over_squared_ratios():
    inertias = [0.002, 0.02, 0.05, 60.0]
    assert dal.mass_matrix(PRESS, [0.7]).item() == pytest.approx(inertias @ RATIOS**2, rel=1e-12)


def test_a_force_at_the_ram_costs_torque_at_the_motor():
    up = dal.inverse_dynamics(PRESS, [0.5], [0.0], [0.0], wrenches={"ram": [0, 0, 1e4, 0, 0, 0]})
    free = dal.inverse_dynamics(PRESS, [0.5], [0.0], [0.0])
    assert (up - free).item() == pytest.approx(-1e4 * RATIOS[3], rel=1e-12)


def test_friction_of_ram_and_spindle_is_felt_at_the_motor():
    assert dal.friction_torque(PRESS, [10.0], q=[0.5]).item() == pytest.approx(10 * (400 * RATIOS[3] ** 2 + 0.2 * RATIOS[2] ** 2))
