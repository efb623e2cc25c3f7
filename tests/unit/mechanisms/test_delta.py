"""Delta robots: positions by the intersection of three spheres, and by published examples."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

BASE, PLATFORM, ARM, ROD = 0.164, 0.044, 0.524, 1.244
DIRECTIONS = np.radians([-90.0, 30.0, 150.0])
MOTORS = [3, 6, 9]  # in the tree


def platform(q: np.ndarray) -> np.ndarray:
    """The lower of the two points that are a rod's length from all elbows, each moved inwards by the platform's radius."""
    radius = BASE - PLATFORM + ARM * np.cos(q)
    a, b, c = np.column_stack([radius * np.cos(DIRECTIONS), radius * np.sin(DIRECTIONS), -ARM * np.sin(q)])
    ex = (b - a) / np.linalg.norm(b - a)
    i = ex @ (c - a)
    ey = (c - a - i * ex) / np.linalg.norm(c - a - i * ex)
    d, j = np.linalg.norm(b - a), ey @ (c - a)
    x = d / 2
    y = (i**2 + j**2) / (2 * j) - i / j * x
    z = np.cross(ex, ey)
    points = [a + x * ex + y * ey + sign * np.sqrt(ROD**2 - x**2 - y**2) * z for sign in (-1, 1)]
    return min(points, key=lambda p: p[2])


@pytest.mark.parametrize("name", ["delta", "delta_rods"])
def test_the_platform_is_where_three_spheres_meet(name, rng):
    mechanism = dal.mechanisms.CATALOGUE[name]()
    q = mechanism.q0 + rng.uniform(-0.4, 0.4, (20, 3))
    x = mechanism.assemble(q).x
    assert x[:, :3] == pytest.approx(np.array([platform(each) for each in q]), abs=1e-12)
    if name == "delta_rods":
        assert x[:, 3:6] == pytest.approx(np.zeros((20, 3)), abs=1e-12)  # the parallelograms keep it level


@pytest.mark.parametrize(("point", "degrees"), [((0, 0, -0.9), (-20.5, -20.5, -20.5)), ((0.3, 0.5, -1.1), (47.5, -11.6, 21.4))])
def test_the_motors_stand_as_published(point, degrees):
    """The examples of inverse kinematics in [Williams2016], printed to a tenth of a degree."""
    x = dal.mechanisms.delta("point").assemble(point).x
    assert np.degrees(x[MOTORS]) == pytest.approx(np.array(degrees), abs=0.05)


def test_rods_as_bodies_and_as_halves_weigh_the_same_but_swing_differently(rng):
    bodies, halves = dal.mechanisms.delta(), dal.mechanisms.delta_rods()
    q = bodies.q0 + rng.uniform(-0.3, 0.3, 3)
    assert dal.gravity_torque(bodies, q) == pytest.approx(dal.gravity_torque(halves, q), rel=1e-11)
    # A rod swings with m l²/12 about its middle, two halves at its ends with m l²/4: halves have more kinetic energy.
    assert np.linalg.eigvalsh(dal.mass_matrix(halves, q) - dal.mass_matrix(bodies, q)).min() > 0


def test_torques_at_motors_and_force_at_the_point_do_the_same_work(rng):
    motors, point = dal.mechanisms.delta(), dal.mechanisms.delta("point")
    q = motors.q0 + rng.uniform(-0.3, 0.3, 3)
    h = 1e-6
    G = np.array([(platform(q + step) - platform(q - step)) / (2 * h) for step in h * np.eye(3)]).T
    force = dal.gravity_torque(point, platform(q))
    assert G.T @ force == pytest.approx(dal.gravity_torque(motors, q), rel=1e-8)  # differences of 1e-6 keep nine digits
