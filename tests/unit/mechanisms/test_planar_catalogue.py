"""What holds for every planar and textbook mechanism of the catalogue."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dalembert as dal

# Name, how it is made, its number of coordinates
KINDS: dict[str, tuple[Callable[[], dal.Mechanism], int]] = {
    "bricard": (dal.mechanisms.bricard, 1),
    "five_bar": (dal.mechanisms.five_bar, 2),
    "parallelogram": (dal.mechanisms.parallelogram, 2),
    "parallelogram, decoupled": (lambda: dal.mechanisms.parallelogram(decoupled=True), 2),
    "parallelogram, pinned": (lambda: dal.mechanisms.parallelogram(pinned=True), 2),
    "planar_3rrr": (dal.mechanisms.planar_3rrr, 3),
    "planar_3rrr, platform": (lambda: dal.mechanisms.planar_3rrr("platform"), 3),
    "slider_crank": (dal.mechanisms.slider_crank, 1),
    "slider_crank, slide": (lambda: dal.mechanisms.slider_crank("slide"), 1),
    "spatial_slider_crank": (dal.mechanisms.spatial_slider_crank, 2),
    "spatial_slider_crank, locked": (lambda: dal.mechanisms.spatial_slider_crank(locked=True), 1),
}


@pytest.fixture(params=KINDS, scope="module")
def kind(request) -> str:
    return request.param


@pytest.fixture
def mechanism(kind: str) -> dal.Mechanism:
    return KINDS[kind][0]()


@pytest.fixture
def motion(mechanism: dal.Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state near where it is assembled: steps of 0.1 rad, or a tenth of that in metres."""
    size = np.array([0.1 if chosen.turns else 0.01 for chosen in mechanism.coordinates])
    q, qd, qdd = size * rng.uniform(-1, 1, (3, mechanism.n))
    return mechanism.q0 + q, 10 * qd, 10 * qdd


def test_it_is_made_once_and_has_as_many_coordinates_as_freedoms(kind, mechanism):
    assert KINDS[kind][0]() is mechanism
    assert mechanism.n == KINDS[kind][1]


def test_it_closes_where_it_is_asked_to(mechanism, motion):
    found = mechanism.assemble(motion[0])
    assert found.found
    assert mechanism.residual(found.x) < 1e-12


def test_accelerations_give_torques_that_give_accelerations(mechanism, motion):
    q, qd, qdd = motion
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    assert dal.forward_dynamics(mechanism, q, qd, tau) == pytest.approx(qdd, rel=1e-9, abs=1e-10)  # of the size of one


def test_the_power_of_the_torques_is_the_rate_of_the_energy(mechanism, motion):
    q, qd, qdd = motion
    h = 1e-3  # s, with an error of its fourth power
    t = h * np.array([[-2.0], [-1.0], [1.0], [2.0]])
    kinetic, potential = dal.energy(mechanism, q + qd * t + qdd * t**2 / 2, qd + qdd * t)
    rate = np.array([1.0, -8.0, 8.0, -1.0]) @ (kinetic + potential) / (12 * h)
    power = dal.inverse_dynamics(mechanism, q, qd, qdd) @ qd
    assert power == pytest.approx(rate, rel=1e-8, abs=1e-8)


def test_all_are_in_the_catalogue():
    assert {name.split(",")[0] for name in KINDS} <= set(dal.mechanisms.CATALOGUE)
