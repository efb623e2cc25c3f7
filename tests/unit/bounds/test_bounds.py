"""`dal.bounds`: closed forms, samples, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as dal
from dalembert.bounds import attained
from dalembert.bounds.attained import Aim
from dalembert.bounds.input_ranges import default_ranges
from dalembert.errors import DalembertError, ModelError, ShapeError, UnknownNameError
from tests.robots import EVERYTHING, random_robot

ARMS = [name for name in dal.robots.CATALOGUE if name != "panda"]  # seven joints take minutes


def violations(robot, found, samples, seed=0):
    """The largest torques found by a search of its own, less what was proved."""
    n = robot.n
    lo, hi = (np.concatenate([found.box[name][k] for name in ("q", "qd", "qdd")]) for k in (0, 1))

    def torque(x):
        return dal.inverse_dynamics(robot, *np.split(x, 3, axis=-1))

    aims = [Aim(k, sign) for sign in (1.0, -1.0) for k in range(n)]
    rng = np.random.default_rng(seed)
    x = rng.uniform(lo, hi, (len(aims) * samples, 3 * n))
    best = attained.climb(torque, lo, hi, aims, x, 0.5, 12, rng).value
    return best - np.concatenate([found.upper, -found.lower])


def test_the_largest_gravity_torque_of_two_links_is_that_of_the_stretched_arm():
    arm = dal.robots.two_link_planar()
    found = dal.bounds(arm, "gravity_torque", rtol=1e-3)
    held = dal.gravity_torque(arm, [0.0, 0.0])  # both links level
    assert found.finished
    for k in range(2):
        assert abs(held[k]) <= found.upper[k] <= abs(held[k]) * 1.002
        assert -abs(held[k]) * 1.002 <= found.lower[k] <= -abs(held[k])
    np.testing.assert_allclose(found.attained_size, np.abs(held), rtol=1e-6)


def test_the_torque_of_a_pendulum_is_known():
    arm = dal.robots.pendulum()
    found = dal.bounds(arm, qdd=2.0, rtol=1e-4)
    mass = float(dal.mass_matrix(arm, [0.0])[0, 0])
    largest = 2.0 * mass + abs(float(dal.gravity_torque(arm, [math.pi / 2])[0]))
    assert largest * (1 - 1e-12) <= found.upper[0] <= largest * (1 + 2e-4)
    assert found.lower[0] == pytest.approx(-found.upper[0], rel=1e-6)


def test_eigenvalues_of_two_links_are_those_of_the_stretched_and_the_folded_arm():
    arm = dal.robots.two_link_planar()
    found = dal.bounds(arm, "eigenvalues", rtol=1e-4)
    values = np.linalg.eigvalsh(dal.mass_matrix(arm, np.stack([np.zeros(2001), np.linspace(-math.pi, math.pi, 2001)], axis=1)))
    # A grid of steps of 3 mrad misses an extremum by less than 1e-5 of it.
    assert values.max() <= found.upper[0] <= values.max() * (1 + 2e-4)
    assert values.min() * (1 - 2e-4) <= found.lower[0] <= values.min()


@pytest.mark.slow
def test_all_eigenvalues_of_six_joints_are_positive():
    found = dal.bounds(dal.robots.puma560(), "eigenvalues", rtol=0.1)
    M = dal.mass_matrix(dal.robots.puma560(), np.random.default_rng(0).uniform(*found.box["q"], (20_000, 6)))
    values = np.linalg.eigvalsh(M)
    assert 0.0 < found.lower[0] <= values.min()
    assert values.max() <= found.upper[0]
    assert found.finished


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_no_torque_of_a_catalogue_arm_is_outside(name):
    robot = dal.load(name)
    found = dal.bounds(robot, rtol=0.25, seconds=300)
    assert found.finished
    assert (violations(robot, found, 15) <= 0.0).all()


def test_three_joints_are_bounded_within_five_percent():
    """The first three joints of the PUMA 560, the others held: a waist, a shoulder and an elbow."""
    limits = default_ranges(dal.robots.puma560())["q"]
    rates = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    q = tuple(np.where(rates > 0, end, 0.0) for end in limits)
    found = dal.bounds(dal.robots.puma560(), q=q, qd=(-rates, rates), qdd=(-2 * rates, 2 * rates), which=[0, 1, 2], rtol=0.05)
    assert found.finished
    assert (found.size <= 1.05 * found.attained_size).all()


@pytest.mark.slow
def test_six_joints_are_bounded_within_five_percent():
    found = dal.bounds(dal.robots.puma560(), qd=1.0, qdd=2.0, rtol=0.05)
    assert found.finished
    assert (found.size <= 1.05 * found.attained_size).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_torque_of_a_random_robot_is_outside(seed):
    """Slides, branches, rotors, couplings and all laws of friction; couplings that are no whole numbers go by intervals."""
    robot = random_robot(np.random.default_rng(seed), 3, EVERYTHING)
    found = dal.bounds(robot, rtol=0.1, seconds=1.5)
    assert (violations(robot, found, 40) <= 1e-9 * found.attained_size.max()).all()


def test_a_jump_of_friction_is_inside():
    law = dal.Friction(coulomb=3.0, coulomb_negative=1.0)
    arm = dal.robots.pelican()
    arm = arm.replace(parameters=arm.parameters.replace(friction={"joint2": law}))
    found = dal.bounds(arm, qd=0.0, qdd=0.0, which="joint2", rtol=0.01)
    slow = dal.bounds(arm, qd=1e-9, qdd=0.0, which="joint2", rtol=0.01)
    bare = dal.bounds(dal.robots.pelican(), "gravity_torque", which="joint2", rtol=0.01)
    assert found.upper[0] == pytest.approx(bare.upper[0], rel=1e-2)
    assert slow.maximum.attained[0] == pytest.approx(bare.maximum.attained[0] + 3.0, rel=1e-6)
    assert slow.minimum.attained[0] == pytest.approx(bare.minimum.attained[0] - 1.0, rel=1e-6)
    assert slow.upper[0] >= slow.maximum.attained[0]
    assert slow.finished


@pytest.mark.slow
def test_a_payload_is_a_further_input():
    arm = dal.robots.two_link_planar()
    found = dal.bounds(arm, "gravity_torque", payload=(0.0, 10.0), rtol=1e-3)
    loaded = dal.gravity_torque(arm.with_payload(10.0), [0.0, 0.0])
    assert (np.abs(loaded) <= found.upper).all()
    assert (found.upper <= np.abs(loaded) * 1.002).all()
    assert found.maximum.at["payload"].ravel() == pytest.approx([10.0, 10.0])
    eigenvalues = dal.bounds(arm, "eigenvalues", payload=10.0, rtol=0.01)
    heavy = np.linalg.eigvalsh(dal.mass_matrix(arm.with_payload(10.0), [0.0, 0.0]))[-1]
    assert heavy <= eigenvalues.upper[0] <= heavy * 1.02


@pytest.mark.slow
def test_norms_that_controllers_need():
    arm, rng = dal.robots.scara(), np.random.default_rng(4)
    gravity, velocity = dal.bounds(arm, "gravity_norm"), dal.bounds(arm, "coriolis_norm", seconds=2)
    q, qd = rng.uniform(*gravity.box["q"], (2000, 4)), rng.normal(size=(2000, 4))
    assert (np.linalg.norm(dal.gravity_torque(arm, q), axis=1) <= gravity.upper[0]).all()
    norms = np.linalg.norm(dal.coriolis_matrix(arm, q, qd), ord=2, axis=(-2, -1)) / np.linalg.norm(qd, axis=1)
    assert (norms <= velocity.upper[0]).all()
    assert gravity.lower[0] == velocity.lower[0] == 0.0
    assert velocity.upper[0] <= 1.3 * velocity.maximum.attained[0]


@pytest.mark.parametrize("quantity", ["mass_matrix", "jacobian", "energy", "coriolis_matrix"])
def test_other_quantities_are_bounded_entry_by_entry(quantity):
    arm = dal.robots.pelican()
    found = dal.bounds(arm, quantity, qd=1.0)
    assert found.finished
    results = getattr(dal, quantity)(arm, *found.maximum.at.values())
    flat = np.concatenate(
        [np.asarray(r).reshape(len(found.names), -1) for r in (results[:2] if quantity == "energy" else [results])], axis=1
    )
    np.testing.assert_allclose(np.diag(flat), found.maximum.attained, atol=1e-9)
    assert (found.upper >= found.maximum.attained).all()


def test_what_is_no_polynomial_is_bounded_by_intervals():
    arm = dal.robots.pelican()
    found = dal.bounds(arm, "forward_dynamics", q=(-0.3, 0.3), qd=0.2, tau=1.0, seconds=20)
    rng = np.random.default_rng(0)
    qdd = dal.forward_dynamics(
        arm, rng.uniform(-0.3, 0.3, (5000, 2)), rng.uniform(-0.2, 0.2, (5000, 2)), rng.uniform(-1, 1, (5000, 2))
    )
    assert found.finished
    assert (qdd <= found.upper).all()
    assert (qdd >= found.lower).all()


@pytest.mark.slow
def test_the_error_of_a_reduced_model_is_bounded():
    arm = dal.robots.scara()
    model = dal.simplify_model(arm, tolerance=0.1, samples=500)
    found = dal.bounds(arm, model, seconds=10)
    box = dal.Workspace.of(arm)
    state = box.sample(np.random.default_rng(3), 3000)
    error = model.inverse_dynamics(*state) - dal.inverse_dynamics(arm, *state)
    assert (np.abs(error) <= found.size + 1e-12).all()
    assert (found.size <= model.error * 1.1 + 1e-9).all()


@pytest.mark.slow
def test_an_interrupt_leaves_valid_bounds():
    arm, count = dal.robots.scara(), 0

    def stop(progress):
        nonlocal count
        count += 1
        if count == 2:
            raise KeyboardInterrupt

    found = dal.bounds(arm, rtol=1e-6, seconds=60, progress=stop)
    assert not found.finished
    assert found.seconds < 30
    assert np.isfinite(found.size).all()
    assert (found.size >= found.attained_size).all()
    assert (violations(arm, found, 4) <= 0.0).all()


def test_the_same_call_gives_the_same_bounds():
    one, other = (dal.bounds(dal.robots.scara(), rtol=0.02) for _ in range(2))
    np.testing.assert_array_equal(one.upper, other.upper)
    np.testing.assert_array_equal(one.lower, other.lower)
    assert one.boxes == other.boxes


def test_progress_is_reported():
    seen = []
    dal.bounds(dal.robots.two_link_planar(), rtol=1e-3, progress=seen.append)
    assert {p.entry for p in seen} == {"joint1", "joint2"}
    assert all(p.bound >= p.attained for p in seen if p.side == "maximum")
    assert all(p.bound <= p.attained for p in seen if p.side == "minimum")


@pytest.mark.parametrize("name", dal.robots.CATALOGUE)
def test_the_box_by_default_is_the_workspace(name):
    robot = dal.load(name)
    box, found = dal.Workspace.of(robot), default_ranges(robot)
    np.testing.assert_array_equal(found["q"], (box.lower, box.upper))
    np.testing.assert_array_equal(found["qd"], (-box.velocity, box.velocity))
    np.testing.assert_array_equal(found["qdd"], (-box.acceleration, box.acceleration))


def test_entries_are_chosen_by_number_or_name():
    arm = dal.robots.scara()
    assert dal.bounds(arm, which="joint3").names == ("joint3",)
    assert dal.bounds(arm, which=[-1, "joint1"]).names == ("joint4", "joint1")
    assert dal.bounds(arm, "mass_matrix", which="M[0,1]").names == ("M[0,1]",)


def test_the_table_has_a_line_for_each_entry():
    found = dal.bounds(dal.robots.scara(), "gravity_torque")
    text = str(found)
    assert "joint3" in text
    assert "No value of gravity_torque of 'scara' is outside" in text
    assert repr(found).startswith("Bounds(robot='scara', quantity='gravity_torque'")
    assert "at" not in repr(found.maximum).split("(")[0]


@pytest.mark.parametrize("number", [np.float16(0.5), np.float32(0.5), np.int8(1), 1])
def test_numbers_of_any_precision_are_ranges(number):
    arm = dal.robots.two_link_planar()
    found = dal.bounds(arm, "gravity_torque", q=number, seconds=number)
    assert np.array_equal(found.upper, dal.bounds(arm, "gravity_torque", q=float(number)).upper)


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"quantity": "torque"}, UnknownNameError, "quantity: 'torque'"),
        ({"which": 7}, ShapeError, "which: 7 found; names of entries, or numbers from 0 to 3, are expected."),
        ({"which": "joint9"}, UnknownNameError, "which: 'joint9'"),
        ({"quantity": "eigenvalues", "which": 0}, ShapeError, "eigenvalues is one number"),
        ({"q": (1.0, 0.0)}, ShapeError, "q: 1 found above 0 in entry 0; lower ends come first."),
        ({"q": ([0.0] * 3, [1.0] * 3)}, ShapeError, "q: ends of shape (3,) and (3,) found"),
        ({"q": (-np.inf, 0.0)}, ShapeError, "all finite"),
        ({"qd": -1.0}, ShapeError, "qd: -1.0 found; a finite number that is not negative, for ±, is expected."),
        ({"qd": "fast"}, ShapeError, "qd: 'fast' found; a pair (lower, upper)"),
        ({"payload": -2.0}, ShapeError, "payload"),
        ({"payload": (-2.0, 1.0)}, ModelError, "payload: a mass of -2 kg found; masses are not negative."),
        ({"payload": 1.0, "quantity": "jacobian"}, ModelError, "payload: jacobian of 'scara' has no payload as an input"),
        ({"quantity": "forward_dynamics"}, ModelError, "forward_dynamics: no range of its input 'tau' found"),
        ({"rtol": 0.0}, ModelError, "rtol: 0.0 found; a number above zero is expected."),
        ({"seconds": -1}, ModelError, "seconds: -1 found; a number above zero is expected."),
        ({"progress": 3}, ShapeError, "progress: 3 found, a function is expected."),
    ],
)
def test_what_makes_no_sense_is_refused(options, kind, sentence):
    with pytest.raises(kind) as error:
        dal.bounds(dal.robots.scara(), **options)
    assert sentence in str(error.value)


def test_a_mechanism_whose_positions_are_found_by_iteration_is_refused():
    with pytest.raises(ModelError, match="positions of 'five_bar' are found by iteration"):
        dal.bounds(dal.mechanisms.five_bar(), "mass_matrix")


def test_a_mechanism_whose_positions_are_linear_is_bounded():
    arm = dal.mechanisms.parallelogram()
    found = dal.bounds(arm, "eigenvalues")
    values = np.linalg.eigvalsh(dal.mass_matrix(arm, np.random.default_rng(0).uniform(*found.box["q"], (2000, 2))))
    assert found.finished
    assert 0.0 < found.lower[0] <= values.min()
    assert values.max() <= found.upper[0]


def test_a_long_chain_has_wide_bounds_that_are_valid():
    chain = dal.robots.chain(12)
    found = dal.bounds(chain, "gravity_torque", which=[1], seconds=0.5)
    torque = dal.gravity_torque(chain, np.random.default_rng(0).uniform(*found.box["q"], (2000, 12)))[:, 1]
    assert not found.finished
    assert found.lower[0] <= torque.min()
    assert torque.max() <= found.upper[0] < np.inf


@pytest.mark.slow
def test_a_mass_matrix_without_a_spectrum_has_no_bounds_of_eigenvalues():
    robot = random_robot(np.random.default_rng(0), 12, EVERYTHING)
    with pytest.raises(DalembertError, match="norms and eigenvalues of it are not bounded"):
        dal.bounds(robot, "eigenvalues")
