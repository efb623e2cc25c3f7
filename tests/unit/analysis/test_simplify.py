"""Simplified models: what is left out, what that saves, and that the error is what it is said to be."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.analysis import reduce, simplify
from dalembert.analysis.simplify import dropped_table
from dalembert.analysis.worst import at_corners
from dalembert.errors import ModelError
from tests.robots import fresh, random_robot

ROUNDING = 1e-12


def motion(n: int, amplitude: float = 0.4, frequency: float = 3.0, count: int = 101):
    """A sinusoidal motion of every joint, each with its own phase."""
    t = np.linspace(0.0, 2.0, count)[:, None]
    angle = frequency * t + np.arange(n)
    return amplitude * np.sin(angle), amplitude * frequency * np.cos(angle), -amplitude * frequency**2 * np.sin(angle)


@pytest.fixture(scope="module")
def puma():
    return dal.simplify_model(dal.robots.puma560(), trajectory=motion(6), tolerance=0.02)


def test_the_error_is_that_of_the_trajectory_exactly(puma):
    state = motion(6)
    exact = dal.inverse_dynamics(dal.robots.puma560(), *state)
    error = np.abs(puma.inverse_dynamics(*state) - exact).max(axis=0)
    np.testing.assert_allclose(error, puma.error, rtol=1e-9, atol=1e-12)
    assert (error <= 0.02 * np.abs(exact).max(axis=0) * (1 + ROUNDING)).all()
    assert puma.samples == 101


def test_it_takes_fewer_operations(puma):
    before, after = puma.operations
    assert after.flops < 0.5 * before.flops
    assert puma.operations.saved == pytest.approx(1 - after.flops / before.flops)


def test_what_is_left_out_is_small_and_named(puma):
    assert puma.dropped
    assert all(piece.size <= 0.05 for piece in puma.dropped)  # single terms may cancel, so one may exceed the tolerance
    sizes = [piece.size for piece in puma.dropped]
    assert sizes == sorted(sizes, reverse=True)
    assert {piece.joint for piece in puma.dropped} <= {"", *puma.joints}


def test_contributions_are_parts_of_the_exact_torque(puma):
    """Gravity of the PUMA loads joint 2 most, and nothing but rotor and friction loads joint 6 beyond a thousandth."""
    gravity = [piece for piece in puma.contributions if piece.cause == "gravity"]
    assert gravity[0].joint == "joint2"
    last = {piece.cause for piece in puma.contributions if piece.joint == "joint6" and piece.size > 1e-3}
    assert last == {"rotor inertia", "friction"}


def largest_on_fresh_states(robot, model, count):
    """The largest error of each joint, and its largest torque, on random states and on random states with rates at corners."""
    box, rng = dal.Workspace.of(robot), np.random.default_rng(1234)
    error = torque = np.zeros(robot.n)
    for _ in range(0, count, 20_000):
        drawn = box.sample(rng, min(count, 20_000))
        for state in (drawn, at_corners(box, drawn, rng)):
            exact = dal.inverse_dynamics(robot, *state)
            error = np.maximum(error, np.abs(model.inverse_dynamics(*state) - exact).max(axis=0))
            torque = np.maximum(torque, np.abs(exact).max(axis=0))
    return error, torque


def holds(robot, model, count):
    """No fresh state exceeds what was found; at a corner that both meet, rounding may differ."""
    error, torque = largest_on_fresh_states(robot, model, count)
    assert (error <= model.error * (1 + ROUNDING) + ROUNDING * model.scale).all()
    assert (torque <= model.scale * (1 + ROUNDING)).all()
    assert (model.error <= model.tolerance * model.scale).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_state_nobody_has_seen_exceeds_the_largest_error_found(seed):
    robot = random_robot(np.random.default_rng(seed), 3)
    holds(robot, dal.simplify_model(robot, tolerance=0.03, samples=5000), 20_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, tolerance", [("panda", 0.02), ("puma560", 0.01), ("puma560", 0.05), ("ur5", 0.02), ("pelican", 0.02)]
)
def test_no_state_of_a_million_exceeds_the_largest_error_found(name, tolerance):
    robot = fresh(name)
    holds(robot, dal.simplify_model(robot, tolerance=tolerance), 1_000_000)


def test_states_where_the_error_is_too_large_are_added_to_those_a_model_is_made_on(monkeypatch):
    """The more of them were known, the more could be left out; without, only aiming at less would help."""
    asked = []
    again = reduce.measured_again
    monkeypatch.setattr(
        reduce, "measured_again", lambda found, samples: asked.append(len(samples.exact)) or again(found, samples)
    )
    monkeypatch.setattr(simplify, "_DESIGN", 20)
    monkeypatch.setattr(simplify, "_CHECK", 20)
    robot = fresh("stanford")
    holds(robot, dal.simplify_model(robot, tolerance=0.02, samples=2000), 20_000)
    assert asked == sorted(asked)
    assert asked
    assert asked[0] > 20


@pytest.mark.slow
def test_a_robot_at_rest_needs_its_gravity_torque_alone():
    robot = fresh("puma560")
    q = np.random.default_rng(0).uniform(-2, 2, (50, 6))
    still = np.zeros((50, 6))
    model = dal.simplify_model(robot, trajectory=(q, still, still), tolerance=1e-3)
    gravity = dal.complexity(robot)["newton_euler"].customised.flops
    assert model.operations.after.flops < 0.3 * gravity
    causes = {piece.cause for piece in model.contributions}
    assert causes == {"gravity"}


def test_a_slow_motion_needs_no_velocity_products():
    robot = fresh("two_link_planar")
    model = dal.simplify_model(robot, trajectory=motion(2, amplitude=0.01, frequency=0.5), tolerance=1e-3)
    q, qd, qdd = motion(2, count=7)
    np.testing.assert_array_equal(model.inverse_dynamics(q, qd, qdd), model.inverse_dynamics(q, 2 * qd, qdd))


def test_a_tolerance_nothing_fits_into_leaves_the_exact_model():
    model = dal.simplify_model(fresh("two_link_planar"), tolerance=1e-7, samples=1000)
    assert model.dropped == ()
    assert model.operations.before == model.operations.after
    assert model.relative_error < ROUNDING


def test_a_model_that_saves_nothing_leaves_nothing_out():
    """The two parts of a pendulum's inertia are one number, so leaving one out would only be wrong."""
    model = dal.simplify_model(fresh("pendulum"), tolerance=0.2, samples=1000)
    sizes = {piece.cause: piece.size for piece in model.contributions}
    assert sizes["rotational inertia"] < 0.2
    assert model.operations.saved == 0.0
    assert model.dropped == ()
    assert model.relative_error < ROUNDING


def test_a_model_that_fails_on_fresh_samples_leaves_less_out(monkeypatch):
    """Designed on three states it is wrong elsewhere; the fresh ones notice, and in the end nothing is left out."""
    robot = fresh("stanford")
    monkeypatch.setattr(simplify, "_CHECK", 3)
    model = dal.simplify_model(robot, tolerance=0.01, samples=3000)
    state = dal.Workspace.of(robot).sample(np.random.default_rng(99), 3000)
    error = np.abs(model.inverse_dynamics(*state) - dal.inverse_dynamics(robot, *state)).max(axis=0)
    assert (model.error <= 0.01 * model.scale).all()
    assert (error <= model.error * (1 + ROUNDING)).all()


def test_the_coupling_by_rotors_is_the_first_to_go_in_the_planar_arm():
    """[Siciliano, §7.3.2]: with large gear ratios it can be neglected."""
    model = dal.simplify_model(fresh("two_link_planar"), tolerance=0.01, samples=2000)
    assert [(piece.cause, piece.joint) for piece in model.dropped] == [("rotor coupling", "joint2")]
    assert model.operations.saved > 0


@pytest.mark.slow
def test_a_wider_tolerance_saves_no_less():
    robot = fresh("stanford")
    flops = [dal.simplify_model(robot, trajectory=motion(6), tolerance=t).operations.after.flops for t in (1e-3, 1e-2, 1e-1)]
    assert flops == sorted(flops, reverse=True)
    assert flops[-1] < flops[0]


def test_a_smaller_workspace_saves_more():
    robot = fresh("two_link_planar")
    box = dal.Workspace.of(robot)
    small = dal.Workspace(0.01 * box.lower, 0.01 * box.upper, 0.1 * box.velocity, box.acceleration)
    wide, narrow = (dal.simplify_model(robot, workspace=w, tolerance=0.02, samples=2000) for w in (box, small))
    assert narrow.operations.after.flops < wide.operations.after.flops
    assert wide.over == narrow.over == "the workspace"


@pytest.mark.parametrize("form", ["recursive", "closed"])
def test_either_form_keeps_the_tolerance(form):
    robot, state = fresh("pelican"), motion(2)
    model = dal.simplify_model(robot, trajectory=state, tolerance=0.05, form=form)
    exact = dal.inverse_dynamics(robot, *state)
    assert model.form == form
    assert (np.abs(model.inverse_dynamics(*state) - exact) <= 0.05 * np.abs(exact).max(axis=0) * (1 + ROUNDING)).all()


@pytest.mark.slow
def test_the_closed_form_names_joint_and_link_of_what_it_leaves_out():
    model = dal.simplify_model(fresh("puma560"), trajectory=motion(6), tolerance=0.05, form="closed")
    named = [piece for piece in model.dropped if piece.link and piece.joint]
    assert {piece.link for piece in named} <= set(dal.robots.puma560().link_names)
    assert len({piece.cause for piece in named}) > 3


def test_a_joint_without_torque_is_measured_by_the_others():
    """Gravity does not load the vertical first axis; at rest its torque is zero."""
    q = np.random.default_rng(0).uniform(-1, 1, (20, 6))
    model = dal.simplify_model(fresh("puma560"), trajectory=(q, 0 * q, 0 * q), tolerance=0.01)
    assert model.scale[0] == model.scale.max()
    assert np.isfinite(model.relative_error)


def test_batches_of_any_shape_go_in(puma):
    q, qd, qdd = (x[:100].reshape(4, 25, 6) for x in motion(6))
    assert puma.inverse_dynamics(q, qd, qdd).shape == (4, 25, 6)
    out = np.empty((4, 25, 6))
    assert puma.inverse_dynamics(q, qd, qdd, out=out) is out


def test_the_text_says_what_was_saved_and_how_wrong_it_is(puma):
    text = str(puma)
    assert text.startswith("'puma560' simplified over the trajectory, recursive form: ")
    assert "fewer), largest error found" in text
    assert "(tolerance 2.00%)" in text
    rows = dropped_table(puma)[2]
    assert sum(int(row[3]) for row in rows) == len(puma.dropped)


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -0.1, 5.0, float("nan")])
def test_a_tolerance_that_is_no_share_is_refused(tolerance):
    with pytest.raises(dal.DalembertError, match="a share of the largest torque, such as 0.01, is expected"):
        dal.simplify_model(dal.robots.pendulum(), tolerance=tolerance)


def test_a_trajectory_that_does_not_fit_is_refused():
    robot = dal.robots.two_link_planar()
    with pytest.raises(dal.DalembertError, match=r"trajectory: shapes \(5, 3\), \(5, 2\), \(5, 2\) found"):
        dal.simplify_model(robot, trajectory=(np.zeros((5, 3)), np.zeros((5, 2)), np.zeros((5, 2))))
    with pytest.raises(dal.DalembertError, match="trajectory: shapes .* found; finite q, qd, qdd of shape"):
        dal.simplify_model(robot, trajectory=(np.full((5, 2), np.nan), np.zeros((5, 2)), np.zeros((5, 2))))
    with pytest.raises(dal.DalembertError, match="trajectory: no sample found"):
        dal.simplify_model(robot, trajectory=np.zeros((3, 0, 2)))


def test_a_trajectory_and_a_workspace_together_are_refused():
    robot = dal.robots.two_link_planar()
    with pytest.raises(dal.DalembertError, match="the error is measured on one of them. Give one."):
        dal.simplify_model(robot, trajectory=motion(2), workspace=dal.Workspace.of(robot))


@pytest.mark.parametrize("samples", [0, -5, 2.5, "many"])
def test_a_number_of_samples_that_is_none_is_refused(samples):
    with pytest.raises(dal.DalembertError, match="samples: .* found; a whole number from 1 to 10000000 is expected"):
        dal.simplify_model(dal.robots.pendulum(), samples=samples)


def test_an_unknown_form_is_refused():
    with pytest.raises(dal.DalembertError, match="form: 'close' is not known; did you mean 'closed'"):
        dal.simplify_model(dal.robots.pendulum(), form="close")


def test_the_error_of_a_model_can_be_proved():
    arm = dal.robots.scara()
    model = dal.simplify_model(arm, tolerance=0.1, samples=500, proved=True)
    assert model.proved.finished
    # Bounds are above what is attained; this search and that of the model come to the same places.
    assert model.relative_error <= model.proved_error * (1 + 1e-9)
    assert model.proved_error <= 1.1 * model.relative_error
    assert f"proved below {model.proved_error:.2%}" in model.summary()
    assert "no error above" in str(model)


def test_without_being_asked_nothing_is_proved():
    model = dal.simplify_model(dal.robots.two_link_planar(), tolerance=0.1, samples=200)
    assert model.proved is None
    assert model.proved_error is None


def test_a_proof_along_a_trajectory_is_refused():
    motion = np.zeros((3, 5, 2))
    with pytest.raises(ModelError, match=r"a proof along a trajectory was asked for; it is for a workspace\. Leave `proved`"):
        dal.simplify_model(dal.robots.two_link_planar(), trajectory=motion, proved=True)
