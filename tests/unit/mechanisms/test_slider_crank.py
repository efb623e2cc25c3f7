"""Slider-cranks beside their textbook formulas."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import UnknownNameError
from dalembert.mechanisms._slider_crank import ARM, COUPLER, CRANK, OFFSET, ROD

TH = np.array([0.3, 1.0, 2.0, 3.0, -1.2])


def slider(mechanism: dal.Mechanism, q: np.ndarray) -> np.ndarray:
    return mechanism.assemble(q).x[..., mechanism.robot.joint_names.index("slide")]


def test_the_slider_s_way_is_that_of_the_textbook():
    """s = r cos θ + √(l² − r² sin² θ), and its derivatives."""
    mechanism, root = dal.mechanisms.slider_crank(), np.sqrt(ROD**2 - (CRANK * np.sin(TH)) ** 2)
    assert slider(mechanism, TH[:, None]) == pytest.approx(CRANK * np.cos(TH) + root, rel=1e-12)
    first = -CRANK * np.sin(TH) - CRANK**2 * np.sin(TH) * np.cos(TH) / root
    second = -CRANK * np.cos(TH) - CRANK**2 * np.cos(2 * TH) / root - (CRANK**2 * np.sin(2 * TH)) ** 2 / (4 * root**3)
    w, alpha = 7.0, -3.0
    found = dal.link_motion(mechanism, TH[:, None], [w], [alpha], link="slider")
    assert found.velocity[:, 0] == pytest.approx(first * w, rel=1e-11)
    assert found.acceleration[:, 0] == pytest.approx(second * w**2 + first * alpha, rel=1e-11)


def test_a_force_on_the_slider_asks_for_the_torque_of_its_lever():
    """τ = −F ds/dθ, beside the weights."""
    mechanism, F = dal.mechanisms.slider_crank(), 100.0
    root = np.sqrt(ROD**2 - (CRANK * np.sin(TH)) ** 2)
    lever = -CRANK * np.sin(TH) * (1 + CRANK * np.cos(TH) / root)
    push = {"slider": [F, 0, 0, 0, 0, 0]}
    rest = np.zeros(1)
    tau = dal.inverse_dynamics(mechanism, TH[:, None], rest, rest, wrenches=push) - dal.gravity_torque(mechanism, TH[:, None])
    assert tau[:, 0] == pytest.approx(-F * lever, rel=1e-11, abs=1e-12)


def test_crank_rod_and_slide_are_coordinates_as_good_as_each_other():
    first, energies = dal.mechanisms.slider_crank(), []
    motion = dal.link_motion(first, first.q0, [4.0], link="slider"), dal.link_motion(first, first.q0, [4.0], link="rod")
    rates = {"crank": 4.0, "slide": motion[0].velocity[0], "rod": motion[1].velocity[5] - 4.0}
    for name, rate in rates.items():
        mechanism = dal.mechanisms.slider_crank(name)
        energies.append(float(dal.energy(mechanism, mechanism.q0, [rate]).kinetic))
    assert energies == pytest.approx([energies[0]] * 3, rel=1e-12)


def test_an_unknown_joint_is_refused():
    with pytest.raises(UnknownNameError, match="coordinate: joint: 'piston' is not known"):
        dal.mechanisms.slider_crank("piston")


# In space


def height(th: np.ndarray) -> np.ndarray:
    """From the length of the coupler between the crank pin (0, r cos θ, r sin θ) and the slider (e, 0, s)."""
    return ARM * np.sin(th) + np.sqrt(COUPLER**2 - OFFSET**2 - (ARM * np.cos(th)) ** 2)


def test_the_slider_in_space_follows_the_crank_and_not_the_spin():
    mechanism = dal.mechanisms.spatial_slider_crank()
    for spin in (0.0, 0.9, -2.0):
        q = np.stack([TH, np.full_like(TH, spin)], axis=-1)
        assert slider(mechanism, q) == pytest.approx(height(TH), rel=1e-12)
        assert dal.influence(mechanism, q, "slider", order=1).G[..., 1] == pytest.approx(0.0, abs=1e-13)


def test_the_idle_spin_carries_no_load_of_a_round_coupler():
    """Its own inertia alone: I_zz in the mass matrix, no weight, and no force at the slider that could turn it."""
    mechanism = dal.mechanisms.spatial_slider_crank()
    q, push = np.array([0.7, 0.4]), {"slider": [0, 0, 50.0, 0, 0, 0]}
    rest = np.zeros(2)
    assert dal.mass_matrix(mechanism, q)[1, 1] == pytest.approx(mechanism.robot.parameters.links[4].inertia[2, 2], rel=1e-11)
    assert dal.inverse_dynamics(mechanism, q, rest, rest, wrenches=push)[1] == pytest.approx(0.0, abs=1e-13)


def test_the_locked_one_is_the_other_with_its_spin_at_rest():
    free, locked = dal.mechanisms.spatial_slider_crank(), dal.mechanisms.spatial_slider_crank(locked=True)
    w, alpha = 3.0, -2.0
    tau = dal.inverse_dynamics(free, [0.7, 0.0], [w, 0.0], [alpha, 0.0])
    assert dal.inverse_dynamics(locked, [0.7], [w], [alpha]) == pytest.approx(tau[:1], rel=1e-11)
    assert locked.residual(locked.assemble([0.7]).x) < 1e-13
