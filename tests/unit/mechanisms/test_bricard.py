"""Bricard's linkage: over-closed, and mobile all the same."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal


@pytest.fixture(scope="module")
def linkage() -> dal.Mechanism:
    return dal.mechanisms.bricard()


def screws(linkage: dal.Mechanism, x: np.ndarray) -> np.ndarray:
    """The 6x6 Jacobian of the hypothetical end by all six joints [Freeman, Eq. D-1]: five of the chain, and joint 6 itself."""
    _, (link, place) = linkage.closures[0].between
    J = dal.jacobian(linkage.robot, x, link, point=place[:3, 3])
    axis = (dal.forward_kinematics(linkage.robot, x, link) @ place)[:3, 2]
    return np.column_stack([J, np.concatenate([np.zeros(3), axis])])


def test_the_loop_has_a_freedom_though_six_joints_count_to_none(linkage):
    for q in (0.6, 1.0, 1.5):
        values = np.linalg.svd(screws(linkage, linkage.assemble([q]).x), compute_uv=False)
        assert values[5] < 1e-12 < 0.1 < values[4]  # rank 5, and clearly so


def test_the_joints_turn_as_the_screws_allow(linkage):
    """(D-2): with joint 6 as y, the other five follow from five rows of (D-1)."""
    q, h = linkage.q0, 1e-5
    J = screws(linkage, linkage.assemble(q).x)
    rates = np.linalg.lstsq(J[:, :5], -J[:, 5], rcond=None)[0]  # by joint 6
    ahead, behind = linkage.assemble(q + h).x, linkage.assemble(q - h).x
    assert (ahead - behind) / (2 * h) == pytest.approx(rates / rates[0], rel=1e-8)  # by joint 1; differences


def test_with_threefold_symmetry_its_two_angles_have_a_closed_form(linkage):
    """cos θ + cos φ + cos θ cos φ = 0, from the loop written out with equal bars and right angles."""
    x = linkage.assemble(np.linspace(0.4, 1.7, 8)[:, None]).x
    th, ph = x[:, 0], x[:, 1]
    assert x[:, [0, 1, 2, 3, 4]] == pytest.approx(np.stack([th, ph, th, ph, th], axis=-1), abs=1e-12)
    assert np.cos(th) + np.cos(ph) + np.cos(th) * np.cos(ph) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_it_falls_and_keeps_its_energy(linkage):
    fall = dal.simulate(linkage, linkage.q0, [0.0], t_eval=np.linspace(0, 0.6, 7), rtol=1e-10, atol=1e-12)
    assert np.ptp(fall.q) > 0.1
    kinetic = dal.energy(linkage, fall.q, fall.qd).kinetic
    assert np.ptp(fall.energy) < 1e-8 * kinetic.max()
    assert fall.residual.max() < 1e-12
