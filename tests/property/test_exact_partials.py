"""Compiled partial derivatives against differences with fifty digits, on random robots and mechanisms.

Those of the document's expressions are compared with the same differences in tests/unit/linear/test_analytical.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Link
from tests import high_precision
from tests.high_precision import worst
from tests.mechanism_cases import CASES
from tests.robots import EVERYTHING, body, random_robot
from tests.unit.linear.systems import mechanism, motion, some_robot

DIFFERENCE = 1e-12  # relative; differences with fifty digits err by 1e-30, so this is rounding of the partials: 2e-15 in most
SEEDS = range(6)
MINUTES = "stewart_legs"  # that the 36 joints of its legs would take
KINDS = [name for name in CASES if not name.endswith(("links", "ground")) and name != MINUTES]
MECHANISMS = ("five_bar", "planar_3rrr", "spatial_slider_crank")
SMOOTH = replace(EVERYTHING, mimic=False)


@cache
def heavy(name):
    """A mechanism of the catalogue without friction whose links all have some mass, in gravity: some have neither."""
    system, rng = mechanism(name), np.random.default_rng(5)
    bodies = [body(rng, link.name) for link in system.robot.parameters.links]
    links = tuple(Link(b.name, b.mass, b.com, b.inertia) for b in bodies)
    return system.replace(
        robot=system.robot.replace(parameters=system.robot.parameters.replace(links=links)).with_gravity([0, -9.81, 0])
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_partials_of_the_load_of_mechanisms_equal_exact_differences(name):
    system = heavy(name)
    q, qd, qdd = motion(system, np.random.default_rng(1), 1)[:, 0]
    exact = high_precision.slopes(high_precision.function_of(system, "inverse_dynamics"), q, qd, qdd)
    assert worst(dal.derivatives(system, q, qd, qdd), exact) < DIFFERENCE


@pytest.mark.parametrize("name", KINDS)
def test_partials_of_every_kind_of_mechanism_equal_exact_differences(name):
    system, rng = CASES[name](), np.random.default_rng(1)
    q, (qd, qdd) = system.q0 + rng.uniform(-0.02, 0.02, system.n), rng.uniform(-1.0, 1.0, (2, system.n))
    exact = np.stack(high_precision.slopes(high_precision.function_of(system, "inverse_dynamics"), q, qd, qdd))
    found = np.stack(dal.derivatives(system, q, qd, qdd))
    assert np.abs(found - exact).max() < DIFFERENCE * np.abs(exact).max()  # by the largest of all: some are zero but for rounding


@pytest.mark.parametrize("seed", SEEDS)
def test_partials_with_friction_and_rotors_equal_exact_differences(seed):
    """What the document's expressions do not have: smooth friction, and rotors that spin on their own."""
    robot = random_robot(np.random.default_rng(50 + seed), 2 + seed % 3, SMOOTH).smoothed(0.1)
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, robot.n))
    exact = high_precision.slopes(high_precision.function_of(robot, "inverse_dynamics"), q, qd, qdd)
    assert worst(dal.derivatives(robot, q, qd, qdd), exact) < DIFFERENCE


@pytest.mark.parametrize("system", ["robot", *MECHANISMS])
def test_partials_of_accelerations_by_state_and_load_equal_exact_differences(system):
    system = some_robot(3, 4) if system == "robot" else heavy(system)
    q, qd, tau = motion(system, np.random.default_rng(2), 1)[:, 0]
    exact = high_precision.slopes(high_precision.function_of(system, "forward_dynamics"), q, qd, tau)
    assert worst(dal.derivatives(system, q, qd, tau=tau), exact) < DIFFERENCE


@pytest.mark.parametrize("name", MECHANISMS)
def test_positions_are_closed_with_fifty_digits(name):
    system = mechanism(name)
    with mpmath.workdps(high_precision.DIGITS):
        x = high_precision.closed_positions(system, high_precision.exactly(system.q0 + 0.03))
        assert np.abs(np.array(x, dtype=float) - system.assemble(system.q0 + 0.03).x).max() < 1e-11  # of doubles, well posed


def test_a_wrong_slope_would_be_seen():
    """A slope that is off by 1e-11 of the largest is."""
    robot = some_robot(0, 3)
    q, qd, qdd = motion(robot, np.random.default_rng(0), 1)[:, 0]
    exact = high_precision.slopes(high_precision.function_of(robot, "inverse_dynamics"), q, qd, qdd)
    off = [x + 1e-11 * np.abs(x).max() for x in exact]
    assert worst(off, exact) > DIFFERENCE
