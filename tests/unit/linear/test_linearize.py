"""A, B, C and D of systems: against compiled derivatives, against differences of the motion, and by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning, ExprError, ModelError, ShapeError, UnknownNameError
from dalembert.expr import ops
from tests.robots import EVERYTHING, random_robot
from tests.unit.linear.differences import slopes
from tests.unit.linear.systems import MECHANISMS, mechanism, motion

ROUNDING = 1e-10  # relative: the same slopes through M⁻¹, of robots whose condition is moderate
DIFFERENCE = 1e-8  # relative: what extrapolated differences of doubles reach


def error(found, expected):
    return np.abs(found - expected).max() / max(1.0, np.abs(expected).max())


def blocks(by):
    n = by.dqdd_dq.shape[-1]
    zero, one = np.zeros_like(by.dqdd_dq), np.broadcast_to(np.eye(n), by.dqdd_dq.shape)
    return np.block([[zero, one], [by.dqdd_dq, by.dqdd_dqd]]), np.concatenate([zero, by.dqdd_dtau], axis=-2)


@pytest.mark.parametrize("seed", range(3))
def test_matrices_of_random_robots_are_made_of_their_derivatives(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 2 + seed, EVERYTHING)
    q, qd, qdd = motion(robot, rng)
    tau = dal.inverse_dynamics(robot, q, qd, qdd)
    A, B = blocks(dal.derivatives(robot, q, qd, tau=tau))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # some friction is smoothed over a width beyond these speeds
        by_torque, by_acceleration = dal.linearize(robot, q, qd, tau=tau), dal.linearize(robot, q, qd, qdd=qdd)
    for model in (by_torque, by_acceleration):
        assert error(model.A, A) < ROUNDING
        assert error(model.B, B) < ROUNDING
        assert error(model.point.tau, tau) < ROUNDING
        assert error(model.point.qdd, qdd) < ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_matrices_of_mechanisms_are_the_slopes_of_their_accelerations(name):
    system, rng = mechanism(name), np.random.default_rng(2)
    q, qd, qdd = (x[0] for x in motion(system, rng))
    model = dal.linearize(system, q, qd, qdd=qdd)
    n = system.n

    def acceleration(x):
        return dal.forward_dynamics(system, x[:n], x[n : 2 * n], x[2 * n :])

    expected = slopes(acceleration, np.concatenate([q, qd, model.point.tau]))
    assert error(np.hstack([model.A[n:], model.B[n:]]), expected) < DIFFERENCE


def test_a_system_in_other_coordinates_is_served():
    robot = dal.robots.two_link_planar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        own = dal.linearize(robot, [0.3, 0.8], [0.5, 0.2], tau=[1.0, 2.0])
    from dalembert.dynamics.robot_system import RobotSystem
    from dalembert.dynamics.system import Coordinate
    from dalembert.dynamics.transferred import Transferred

    # Absolute angles: q1 = u1, q2 = u2 - u1.
    T = np.array([[1.0, 0.0], [-1.0, 1.0]])
    other = Transferred(RobotSystem(robot), [Coordinate("u1"), Coordinate("u2")], lambda u: [u[0], u[1] - u[0]])
    u, ud = np.linalg.solve(T, [0.3, 0.8]), np.linalg.solve(T, [0.5, 0.2])
    found = dal.linearize(other, u, ud, tau=T.T @ [1.0, 2.0])
    S = np.kron(np.eye(2), T)
    assert error(found.A, np.linalg.solve(S, own.A @ S)) < ROUNDING
    assert error(found.B, np.linalg.solve(S, own.B) @ np.linalg.inv(T.T)) < ROUNDING
    assert [s.name for s in found.states] == ["q_u1", "q_u2", "qd_u1", "qd_u2"]


def stiff_wind(q, qd):
    """A load that is linear in neither."""
    return [-3.0 * ops.sin(q[0]) * q[1] - qd[0] * abs(qd[0]), -0.5 * qd[1] - q[1] * q[1]]


@pytest.mark.parametrize("by", ["tau", "qdd"])
def test_springs_dampers_functions_and_wrenches_have_their_slopes(by):
    arm = dal.robots.two_link_planar()
    spring = dal.Spring(200.0, between=("tool", ("world", (1.0, 0.3, 0.0))), rest=0.3)
    damper = dal.Damper(0.7, joint=arm.joint_names[1])
    q, qd, tau, wrench = np.array([0.3, 0.5]), np.array([0.4, -0.6]), np.array([1.0, 2.0]), np.array([1.0, -2, 0.5, 0.1, 0.2, 3])

    def acceleration(x):
        at, rate, torque, load = np.split(x, [2, 4, 6])
        own = dal.applied_torque(arm, at, rate, springs=[spring], dampers=[damper], wrenches={"tool": load})
        wind = [-3.0 * np.sin(at[0]) * at[1] - rate[0] * abs(rate[0]), -0.5 * rate[1] - at[1] ** 2]
        return dal.forward_dynamics(arm, at, rate, torque + own + wind)

    given = {"tau": tau} if by == "tau" else {"qdd": acceleration(np.concatenate([q, qd, tau, wrench]))}
    model = dal.linearize(arm, q, qd, **given, loads=[spring, damper, stiff_wind], wrenches={"tool": wrench})
    expected = slopes(acceleration, np.concatenate([q, qd, tau, wrench]))
    assert error(np.hstack([model.A[2:], model.B[2:]]), expected) < DIFFERENCE
    assert error(model.point.tau, tau) < ROUNDING
    assert [u.name for u in model.inputs[2:]] == ["fx_tool", "fy_tool", "fz_tool", "mx_tool", "my_tool", "mz_tool"]
    assert [u.unit for u in model.inputs] == ["N m"] * 2 + ["N"] * 3 + ["N m"] * 3


def test_a_controller_among_the_loads_makes_the_model_of_the_closed_loop():
    arm = dal.robots.two_link_planar()
    model = dal.inside(arm)

    def computed_torque(q, qd):
        return model.mass_matrix(q) @ (25.0 * (np.array([0.3, 0.5]) - q) - 10.0 * qd) + model.bias(q, qd)

    closed = dal.linearize(arm, [0.3, 0.5], tau=[0.0, 0.0], loads=computed_torque)
    assert np.abs(closed.poles + 5.0).max() < 1e-6  # four poles at −5, known to the square root of rounding


def test_a_function_that_does_the_same_is_compiled_once():
    arm = dal.robots.two_link_planar()

    def damping(gain):
        return lambda q, qd: -gain * qd

    dal.linearize(arm, [0.3, 0.5], loads=damping(2.0))
    count = len(arm.kernels)
    dal.linearize(arm, [0.1, 0.5], loads=damping(2.0))
    assert len(arm.kernels) == count
    dal.linearize(arm, [0.1, 0.5], loads=damping(3.0))
    assert len(arm.kernels) > count


@pytest.mark.slow
def test_a_long_chain_is_put_together_from_kernels_with_the_same_result():
    n = 24
    chain, rng = dal.robots.chain(n), np.random.default_rng(0)
    q, qd, qdd = 0.2 * rng.normal(size=(3, 2, n))
    link = chain.parameters.links[4].name
    tau, damper, wrench = dal.inverse_dynamics(chain, q, qd, qdd), dal.Damper(0.3, joint=chain.joint_names[4]), np.zeros(6)
    A, B = blocks(dal.derivatives(chain, q, qd, tau=tau))
    for given in ({"tau": tau}, {"qdd": qdd}):
        model = dal.linearize(chain, q, qd, **given)
        assert error(model.A, A) < 1e-6  # the mass matrix of so many links has a condition of some 1e6
        assert error(model.B, B) < 1e-6
    damped = dal.linearize(chain, q, qd, qdd=qdd, loads=damper, wrenches={link: wrench})
    change = damped.A - model.A
    assert error(change[..., n:, n + 4], -0.3 * model.B[..., n:, 4]) < 1e-6
    assert error(damped.B[..., n:], model.B @ dal.jacobian(chain, q, link).swapaxes(-1, -2)) < 1e-6


def test_outputs_are_chosen_by_name_or_by_function():
    arm = dal.robots.two_link_planar()
    first = arm.joint_names[0]

    def height(q, qd):
        return ops.sin(q[0]) * qd[1]

    model = dal.linearize(arm, [0.3, 0.5], [1.0, 2.0], qdd=[0.0, 0.0], outputs=["tool", "qdd", first, height, "qd"])
    names = [y.name for y in model.outputs]
    assert names[:2] == ["tool_x", "tool_y"]
    assert names[6:] == [*(f"qdd_{j}" for j in arm.joint_names), f"q_{first}", "height", *(f"qd_{j}" for j in arm.joint_names)]
    assert [y.unit for y in model.outputs][:8] == ["m", "m", "m", "rad", "rad", "rad", "rad/s²", "rad/s²"]
    assert np.array_equal(model.C[:6], np.hstack([dal.jacobian(arm, [0.3, 0.5]), np.zeros((6, 2))]))
    assert np.array_equal(model.C[6:8], model.A[2:])
    assert np.array_equal(model.D[6:8], model.B[2:])
    assert not model.D[:6].any()
    assert not model.D[8:].any()
    assert np.allclose(model.C[9], [np.cos(0.3) * 2.0, 0.0, 0.0, np.sin(0.3)], rtol=1e-15)
    assert np.array_equal(model.C[10:], np.eye(4)[2:])


def test_a_motion_is_a_batch_and_a_place_of_it_a_model():
    arm = dal.robots.pelican()
    q = np.linspace(0.0, 1.0, 10).reshape(5, 2)
    along = dal.linearize(arm, q, [1.0, 2.0], qdd=np.zeros((3, 1, 2)), outputs="tool")
    assert along.batch == (3, 5)
    assert (along.A.shape, along.B.shape, along.C.shape, along.D.shape) == (
        (3, 5, 4, 4),
        (3, 5, 4, 2),
        (3, 5, 6, 4),
        (3, 5, 6, 2),
    )
    alone = along[2, 4]
    assert alone.batch == ()
    assert np.array_equal(alone.A, dal.linearize(arm, q[4], [1.0, 2.0]).A)
    assert np.array_equal(alone.point.q, q[4])


def test_joints_with_dry_friction_that_stand_still_are_named():
    arm = dal.robots.two_link_planar()
    first, second = arm.joint_names
    sharp = arm.replace(parameters=arm.parameters.replace(friction={second: dal.Friction(viscous=0.5, coulomb=2.0)}))
    with pytest.warns(DalembertWarning, match=f"joint {second} stands still, where friction jumps") as found:
        model = dal.linearize(sharp, [0.1, 0.2], [1.0, 0.0])
    assert found[0].message.code == "dry-friction-jump"
    assert found[0].filename == __file__
    plain = dal.linearize(arm, [0.1, 0.2], [1.0, 0.0], qdd=[0.0, 0.0])
    assert np.allclose((model.A - plain.A)[2:, 3], -0.5 * plain.B[2:, 1], rtol=1e-12)  # viscous friction is in it
    dal.linearize(sharp, [0.1, 0.2], [0.0, 1.0])  # the one with friction moves: nothing to say
    smooth = arm.replace(parameters=arm.parameters.replace(friction={first: dal.Friction(coulomb=2.0, width=0.1)}))
    with pytest.warns(DalembertWarning, match="as steep as coulomb / width") as found:
        model = dal.linearize(smooth, [0.1, 0.2])
    assert found[0].message.code == "dry-friction-steep"
    rest = dal.linearize(arm, [0.1, 0.2])
    assert np.allclose((model.A - rest.A)[2:, 2], -20.0 * rest.B[2:, 0], rtol=1e-12)


def test_friction_inside_of_a_mechanism_is_found_by_the_rates_of_its_joints():
    system = dal.mechanisms.four_bar()
    with pytest.warns(DalembertWarning, match="joints joint1, joint2, joint3 stand still"):
        dal.linearize(system, system.q0)
    dal.linearize(system, system.q0, [2.0])


ARM = dal.robots.two_link_planar()
MISTAKES = [
    (lambda: dal.linearize(ARM, [0, 0], tau=[0, 0], qdd=[0, 0]), ShapeError, "linearize: tau and qdd found, but each follows"),
    (lambda: dal.linearize(ARM, [0, 0], loads=3.0), ModelError, "loads: float found; a Spring, a Damper or a function of"),
    (lambda: dal.linearize(ARM, [0, 0], loads=lambda q, qd: q[0]), ExprError, "loads: the function returned 1 forces; one for"),
    (lambda: dal.linearize(ARM, [0, 0], loads=lambda q, qd: "x"), ExprError, "loads: the function could not be traced"),
    (
        lambda: dal.linearize(ARM, [0, 0], outputs="toool"),
        UnknownNameError,
        "outputs: 'toool' is not known; did you mean 'tool'?",
    ),
    (lambda: dal.linearize(ARM, [0, 0], outputs=[]), ModelError, "outputs: none found; names such as 'q'"),
    (lambda: dal.linearize(ARM, [0, 0, 0]), ShapeError, "q: "),
    (lambda: dal.linearize(ARM, [0, 0], wrenches={"hand": [0] * 6}), UnknownNameError, "link: 'hand' is not known"),
]


@pytest.mark.parametrize("mistake, kind, said", MISTAKES, ids=[said.split(";")[0] for *_, said in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(mistake, kind, said):
    with pytest.raises(kind) as found:
        mistake()
    assert str(found.value).startswith(said)


def test_a_robot_whose_mass_matrix_has_no_inverse_is_refused():
    arm = dal.robots.two_link_planar()
    *first, last = arm.parameters.links
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        idle = arm.replace(parameters=arm.parameters.replace(links=(*first, dal.Link(last.name)), rotors={}))
    with pytest.raises(ModelError, match=arm.joint_names[1]):
        dal.linearize(idle, [0.0, 0.0])
