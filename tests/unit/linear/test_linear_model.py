"""What is asked of a linear model: names, discrete steps, poles and modes, reach, other coordinates, python-control."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm

import dalembert as dal
from dalembert.errors import MissingExtraError, ModelError, ShapeError
from tests.unit.linear.systems import some_robot

ROUNDING = 1e-12
QUADRATURE = 1e-9  # what adaptive quadrature is asked for


def springs_and_mass():
    """A mass on a spring with a damper: λ² + 0.4 λ + 9 = 0."""
    return dal.LinearModel(
        [[0.0, 1.0], [-9.0, -0.4]],
        [[0.0], [0.5]],
        [[1.0, 0.0]],
        [[0.0]],
        states=["x", dal.Signal("v", "m/s")],
        inputs=["f"],
        outputs=["x"],
    )


def arm_model(**options):
    arm = dal.robots.two_link_planar()
    damping = [dal.Damper(0.4, joint=joint) for joint in arm.joint_names]
    return dal.linearize(arm, [-1.4, 0.3], loads=damping, **options)


def test_a_model_is_made_by_hand_of_any_states():
    model = springs_and_mass()
    assert repr(model) == "LinearModel: 2 states, 1 inputs, 1 outputs"
    assert model.states == (dal.Signal("x", ""), dal.Signal("v", "m/s"))


def test_a_discrete_step_is_the_motion_under_an_input_that_is_held():
    model, dt = arm_model(), 0.03
    found = model.discretised(dt)
    assert np.abs(found.A - expm(model.A * dt)).max() < ROUNDING
    held, _ = quad_vec(lambda t: expm(model.A * t) @ model.B, 0.0, dt, epsrel=1e-13)
    assert np.abs(found.B - held).max() < QUADRATURE * np.abs(held).max()
    assert found.dt == dt
    assert found.states == model.states


def test_a_batch_is_discretised_at_once():
    arm = dal.robots.two_link_planar()
    along = dal.linearize(arm, np.linspace(0, 1, 6).reshape(3, 2))
    found = along.discretised(0.01)
    for k in range(3):
        assert np.abs(found.A[k] - along[k].discretised(0.01).A).max() < ROUNDING


def test_the_response_at_any_times_is_that_of_the_exponential():
    model = arm_model()
    x0, u, t = np.array([0.01, -0.02, 0.1, 0.0]), np.array([0.3, -0.1]), np.array([0.0, 0.1, 0.15, 0.4])
    found = model.response(t, x0, u)
    whole = np.zeros((6, 6))
    whole[:4, :4], whole[:4, 4:] = model.A, model.B
    for k, time in enumerate(t):
        assert np.abs(found[k] - (expm(whole * time) @ [*x0, *u])[:4]).max() < ROUNDING
    sampled = model.response(t, x0, np.tile(u, (4, 1)))
    assert np.array_equal(sampled, found)


def test_poles_come_in_order_and_modes_have_frequency_and_damping():
    model = springs_and_mass()
    assert np.allclose(model.poles.real, -0.2, rtol=1e-12)
    modes = model.modes()
    assert np.allclose(modes.frequency, 3.0, rtol=1e-12)
    assert np.allclose(modes.damping, 0.4 / 6.0, rtol=1e-12)
    assert np.allclose(modes.participation, 0.5, atol=0.01)  # position and velocity share an oscillation
    assert np.allclose(modes.participation.sum(axis=0), 1.0)
    assert "x 50%" in str(modes)


def test_participation_names_the_joint_that_swings():
    robot = dal.robots.scara()
    held = dal.Spring(500.0, joint=robot.joint_names[2])
    q = np.array([0.0, 0.5, 0.1, 0.0])[: robot.n]
    free = robot.replace(parameters=robot.parameters.replace(friction={}))
    modes = dal.linearize(free, q, loads=held).modes()
    k = int(np.argmax(modes.frequency))
    at = modes.participation[:, k]
    assert at[2] + at[robot.n + 2] > 0.999


def test_modes_that_coincide_have_a_huge_condition():
    free = dal.LinearModel([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], [[0]], states=["x", "v"], inputs=["f"], outputs=["x"])
    assert (free.modes().condition > 1e8).all()
    assert np.isnan(free.modes().damping).all()


def test_modes_of_a_batch_are_those_of_its_members():
    arm = dal.robots.two_link_planar()
    along = dal.linearize(arm, np.linspace(0, 1, 6).reshape(3, 2))
    modes = along.modes()
    assert modes.participation.shape == (3, 4, 4)
    assert np.array_equal(modes.poles[1], along[1].modes().poles)


def test_what_is_not_finite_is_lost_alone():
    arm = dal.robots.two_link_planar()
    along = dal.linearize(arm, [[0.1, 0.2], [np.nan, 0.2]])
    assert np.isfinite(along.poles[0]).all()
    assert np.isnan(along.poles[1]).all()
    assert np.isnan(along.modes().frequency[1]).all()
    assert np.isfinite(along.modes().participation[0]).all()
    with pytest.raises(ModelError, match="^controllability: entries of the model that are not finite found"):
        along.controllability()


@pytest.mark.parametrize("horizon", [0.1, 2.0, 12.0])
def test_the_gramian_is_the_integral_it_stands_for(horizon):
    model = arm_model()
    A, B = model.A, model.B
    expected, _ = quad_vec(lambda t: expm(A * t) @ B @ B.T @ expm(A * t).T, 0.0, horizon, epsrel=1e-12)
    found = model.controllability(horizon)
    assert np.abs(found.gramian - expected).max() < QUADRATURE * np.abs(expected).max()
    assert np.allclose(found.gramian @ found.directions, found.directions * found.strengths, atol=1e-9 * found.strengths[0])
    seen, _ = quad_vec(lambda t: expm(A * t).T @ model.C.T @ model.C @ expm(A * t), 0.0, horizon, epsrel=1e-12)
    assert np.abs(model.observability(horizon).gramian - seen).max() < QUADRATURE * np.abs(seen).max()


def test_a_state_that_no_input_reaches_lowers_the_rank():
    two = dal.LinearModel(
        np.diag([-1.0, -2.0]), [[1.0], [0.0]], [[1.0, 1.0]], [[0.0]], states=["a", "b"], inputs=["u"], outputs=["y"]
    )
    reach, told = two.controllability(), two.observability()
    assert (reach.rank, told.rank) == (1, 2)
    assert not reach.complete
    assert told.complete
    assert reach.by_mode[np.argmin(reach.poles.real)] == 0.0
    assert np.abs(reach.directions[:, -1]) @ [0, 1] == 1.0


def test_every_robot_is_reached_by_its_drives_and_told_by_its_positions():
    robot = some_robot(3, 3)
    model = dal.linearize(robot, [0.3, 0.2, -0.4], outputs="q")
    assert model.controllability().complete
    assert model.observability().complete


def test_a_model_in_tool_coordinates_predicts_the_motion_of_the_tool():
    arm = dal.robots.two_link_planar()
    q, qd, tau = np.array([0.3, 0.8]), np.array([0.5, -0.7]), np.array([3.0, 1.0])
    model = dal.linearize(arm, q, qd, tau=tau, outputs=["q", "qd"])
    tip = dal.transfer.rows(dal.influence(arm, q, order=3), [0, 1])
    task = model.in_coordinates(tip, [("x", "m"), ("y", "m")])
    assert [(s.name, s.unit) for s in task.states] == [("x", "m"), ("y", "m"), ("x_rate", "m/s"), ("y_rate", "m/s")]

    def state_and_rate(q, qd):
        motion = dal.link_motion(arm, q, qd, dal.forward_dynamics(arm, q, qd, tau))
        X = dal.forward_kinematics(arm, q)
        return np.concatenate([X[:2, 3], motion.velocity[:2]]), np.concatenate([motion.velocity[:2], motion.acceleration[:2]])

    x0, rate0 = state_and_rate(q, qd)
    errors = []
    for size in (1e-3, 1e-4):
        dq, dqd = size * np.array([1.0, -0.5]), size * np.array([0.3, 2.0])
        x, rate = state_and_rate(q + dq, qd + dqd)
        errors.append(np.abs(rate - rate0 - task.A @ (x - x0)).max())
        told = task.C @ (x - x0)
        assert np.abs(told - [*dq, *dqd]).max() < 20 * size**2  # the second order of the map
    assert errors[1] < errors[0] / 80  # what is left is of second order


def test_further_states_stay_as_they_are_in_other_coordinates():
    model = arm_model()
    point, zero = model.point, np.zeros((4, 1))
    wide = dal.LinearModel(
        np.block([[model.A, zero], [zero.T, -np.ones((1, 1))]]),
        np.vstack([model.B, [[1.0, 0.0]]]),
        np.eye(5),
        np.zeros((5, 2)),
        states=[*model.states, dal.Signal("i", "A")],
        inputs=model.inputs,
        outputs=[*model.states, "i"],
        point=point,
    )
    tip = dal.transfer.rows(dal.influence(dal.robots.two_link_planar(), point.q, order=3), [0, 1])
    task = wide.in_coordinates(tip)
    assert task.states[-1] == dal.Signal("i", "A")
    assert np.allclose(np.sort_complex(task.poles), np.sort_complex(wide.poles), atol=1e-9)  # at rest they are the same


def test_python_control_gets_matrices_and_names():
    control = pytest.importorskip("control")
    model = arm_model(outputs="tool")
    found = model.to_control()
    assert isinstance(found, control.StateSpace)
    assert found.state_labels == [s.name for s in model.states]
    assert found.input_labels == [s.name for s in model.inputs]
    assert found.output_labels == [s.name for s in model.outputs]
    assert np.array_equal(found.A, model.A)
    assert np.allclose(np.sort_complex(found.poles()), np.sort_complex(model.poles), atol=1e-9)
    assert model.discretised(0.01).to_control().dt == 0.01
    with pytest.raises(ShapeError, match=r"to_control: a batch \(2,\) found; one model is expected"):
        dal.linearize(dal.robots.two_link_planar(), np.zeros((2, 2))).to_control()


def test_without_python_control_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingExtraError, match=r"^to_control: the conversion needs control, which is not installed\."):
        springs_and_mass().to_control()


MISTAKES = [
    (lambda m: m.discretised(0.0), ModelError, "dt: 0 s found; a time larger than zero is expected."),
    (lambda m: m.discretised(0.1).modes(), ModelError, "modes: a model in steps of 0.1 s found; ask the continuous"),
    (lambda m: m.controllability(-1.0), ModelError, "controllability: horizon -1 s found; a time larger"),
    (lambda m: m[0], ShapeError, "LinearModel: it has no batch axes"),
    (lambda m: m.response([0.0, 0.0]), ShapeError, "times: shape (2,) found; rising times"),
    (lambda m: m.response([0.0, 1.0], [1.0]), ShapeError, "response: x0 (1,) and u (1,) found; (..., 2) and (..., 1)"),
    (lambda m: m.in_coordinates((np.eye(1),)), ModelError, "in_coordinates: a model without its `point` found"),
    (lambda m: arm_model().in_coordinates((np.eye(2),), ["x"]), ShapeError, "names: 1 found; one for each of the 2"),
    (lambda m: dal.LinearModel(m.A, m.B, m.C, m.D, states=["x"], inputs=["f"], outputs=["x"]), ShapeError, "A: shape (2, 2)"),
]


@pytest.mark.parametrize("mistake, kind, said", MISTAKES, ids=[said[:30] for *_, said in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(mistake, kind, said):
    with pytest.raises(kind) as found:
        mistake(springs_and_mass())
    assert str(found.value).startswith(said)
