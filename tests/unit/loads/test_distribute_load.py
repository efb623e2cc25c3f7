"""Shared torques produce the motion, and nothing that produces it is better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import dalembert as dal
from tests.mechanisms_with_drives import motion, platform, three_fingers, two_arms, two_fingers
from tests.unit.loads.index_one import accelerations

MECHANISMS = {"two_arms": two_arms, "two_fingers": two_fingers, "platform": platform, "three_fingers": three_fingers}
SQUEEZE = {
    "two_arms": dal.Squeeze("left_hand", "right_hand", 15.0),
    "two_fingers": dal.Squeeze("left_tip", "right_tip", 9.0),
    "platform": dal.HeldForce("pin_a", (0, 1, 0), 12.0, axes="world"),
    "three_fingers": dal.Squeeze("tip_a", "tip_b", 2.0),
}


def limits_that_bind(mechanism, q, qd, qdd):
    """Somewhat above what the least largest ratio needs, and below what the least norm asks."""
    u = np.abs(dal.distribute_load(mechanism, q, qd, qdd).torques).max(axis=0)
    ratio = dal.distribute_load(mechanism, q, qd, qdd, objective="ratio", limits=10 * u).objective.max()
    return u * (10 * ratio + 1) / 2


def generalised(mechanism, q, shared):
    """A and Aᵀ u, by differences of the assembled positions and not by the library's own rows."""
    index = [mechanism.robot.joint_names.index(name) for name in shared.names]
    step, columns = 1e-6, []
    for k in range(mechanism.n):
        e = step * np.eye(mechanism.n)[k]
        columns.append((mechanism.assemble(q + e).x - mechanism.assemble(q - e).x)[..., index] / (2 * step))
    A = np.stack(columns, axis=-1)
    return A, np.einsum("...mn,...m->...n", A, shared.torques)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("way", ["norm", "limits", "ratio", "internal"])
def test_shared_torques_produce_the_motion(name, way):
    mechanism = MECHANISMS[name]()
    q, qd, qdd = motion(mechanism, 7, 0.01 if name == "three_fingers" else 0.04)
    options = {}
    if way in ("limits", "ratio"):
        options["limits"] = limits_that_bind(mechanism, q, qd, qdd)
    if way == "ratio":
        options["objective"] = "ratio"
    if way == "internal":
        options["internal"] = SQUEEZE[name]
    shared = dal.distribute_load(mechanism, q, qd, qdd, **options)
    assert shared.feasible.all()
    assert shared.at_limit.any() or way != "limits"
    for row in range(len(q)):
        found, wrenches = accelerations(mechanism, q[row], qd[row], dict(zip(shared.names, shared.torques[row], strict=True)))
        # both sides solve linear systems whose condition is below 1e4
        assert found == pytest.approx(qdd[row], rel=1e-9, abs=1e-9 * np.abs(qdd).max())
        assert shared.wrenches[row] == pytest.approx(wrenches, rel=1e-8, abs=1e-9 * np.abs(wrenches).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_forward_dynamics_with_the_reduced_torques_gives_the_accelerations(name):
    mechanism = MECHANISMS[name]()
    q, qd, qdd = motion(mechanism, 5, 0.01)
    shared = dal.distribute_load(mechanism, q, qd, qdd)
    _, tau = generalised(mechanism, q, shared)
    # differences of positions by steps of 1e-6 are right to 1e-9 or so, and light bodies answer by a thousand times as much
    assert dal.forward_dynamics(mechanism, q, qd, tau) == pytest.approx(qdd, rel=1e-5, abs=1e-5 * np.abs(qdd).max())


def test_the_least_norm_is_that_of_the_document():
    mechanism = two_fingers()
    q, qd, qdd = motion(mechanism, 6)
    shared = dal.distribute_load(mechanism, q, qd, qdd)
    A, _ = generalised(mechanism, q, shared)
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    for row in range(len(q)):
        document = A[row] @ np.linalg.inv(A[row].T @ A[row]) @ tau[row]  # [Freeman, Eq. 4-85]
        assert shared.torques[row] == pytest.approx(document, rel=1e-7)  # A by differences
    assert shared.objective == pytest.approx((shared.torques**2).sum(axis=-1), rel=1e-12)


@pytest.mark.parametrize("name", MECHANISMS)
def test_internal_coordinates_are_what_moves_nothing(name):
    mechanism = MECHANISMS[name]()
    q, qd, qdd = motion(mechanism, 50, 0.02)
    shared = dal.distribute_load(mechanism, q, qd, qdd, internal=SQUEEZE[name])
    A, _ = generalised(mechanism, q, shared)
    assert np.einsum("rmn,rmk->rnk", A, shared.directions) == pytest.approx(0, abs=1e-7)  # A by differences
    least = dal.distribute_load(mechanism, q, qd, qdd)
    parts = np.einsum("rmk,rk->rm", shared.directions, shared.internal)
    assert least.torques + parts == pytest.approx(shared.torques, rel=1e-9, abs=1e-9)
    assert least.internal == pytest.approx(0, abs=1e-9)
    assert np.abs(np.diff(shared.directions, axis=0)).max() < 0.05  # along a motion the basis turns, and does not jump


@pytest.mark.parametrize("kind", ["mapping", "diagonal", "matrix"])
def test_weights_are_those_of_the_quadratic_form(kind):
    mechanism = two_arms()
    q, qd, qdd = (array[0] for array in motion(mechanism, 1))
    diagonal = np.array([1.0, 4.0, 1.0, 1.0, 0.5, 1.0])
    W = np.diag(diagonal) + (0.1 if kind == "matrix" else 0.0)
    weights = {"mapping": {"left_joint2": 4.0, "right_joint2": 0.5}, "diagonal": diagonal, "matrix": W}[kind]
    shared = dal.distribute_load(mechanism, q, qd, qdd, weights=weights)
    gradient = W @ shared.torques
    assert shared.directions.T @ gradient == pytest.approx(0, abs=1e-12 * np.abs(gradient).max() * 10)
    assert shared.objective == pytest.approx(shared.torques @ W @ shared.torques, rel=1e-12)


def admissible(mechanism, q, qd, qdd):
    """u and N of u + N z: found by the closed form, which the tests above hold against other code."""
    found = dal.distribute_load(mechanism, q, qd, qdd)
    return found.torques, found.directions


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_least_norm_within_limits_meets_the_optimality_conditions(name):
    mechanism = MECHANISMS[name]()
    q, qd, qdd = motion(mechanism, 12, 0.01 if name == "three_fingers" else 0.04)
    limits = limits_that_bind(mechanism, q, qd, qdd)
    shared = dal.distribute_load(mechanism, q, qd, qdd, limits=limits)
    size = np.abs(shared.torques).max()
    assert (np.abs(shared.torques) <= limits * (1 + 1e-9)).all()
    assert shared.at_limit.any()
    for u, N, bound in zip(shared.torques, shared.directions, shared.at_limit, strict=True):
        # 2u + Σ μ sign(u) over drives at their limits has no part along N, with μ ≥ 0
        columns = N[bound].T * np.sign(u[bound])
        mu, *_ = np.linalg.lstsq(columns, -2 * N.T @ u, rcond=None)
        assert np.abs(columns @ mu + 2 * N.T @ u).max() < 1e-8 * size
        assert (mu > -1e-8 * size).all()


def test_the_least_norm_within_limits_is_that_of_another_solver():
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 5)
    limits = limits_that_bind(mechanism, q, qd, qdd)
    shared = dal.distribute_load(mechanism, q, qd, qdd, limits=limits)
    u0, N = admissible(mechanism, q, qd, qdd)
    for row in range(len(q)):
        within = {"type": "ineq", "fun": lambda z, k=row: np.concatenate([limits - u0[k] - N[k] @ z, limits + u0[k] + N[k] @ z])}
        other = minimize(lambda z: z @ z, shared.internal[row] * 0.5, constraints=[within], method="SLSQP", tol=1e-14)
        assert shared.objective[row] == pytest.approx(u0[row] @ u0[row] + other.fun, rel=1e-7)  # SLSQP stops near 1e-8


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_least_largest_ratio_is_that_of_a_linear_programme(name):
    mechanism = MECHANISMS[name]()
    q, qd, qdd = motion(mechanism, 12, 0.01 if name == "three_fingers" else 0.04)
    u0, N = admissible(mechanism, q, qd, qdd)
    limits = 5 * np.abs(u0).max(axis=0)
    shared = dal.distribute_load(mechanism, q, qd, qdd, objective="ratio", limits=limits)
    r = N.shape[2]
    for row in range(len(q)):
        scaled = N[row] / limits[:, None]
        rows = np.block([[scaled, -np.ones((len(limits), 1))], [-scaled, -np.ones((len(limits), 1))]])
        bounds = np.concatenate([-u0[row], u0[row]]) / np.tile(limits, 2)
        other = linprog(np.append(np.zeros(r), 1.0), A_ub=rows, b_ub=bounds, bounds=(None, None))
        assert shared.objective[row] == pytest.approx(other.fun, rel=1e-8)
    assert shared.ratios.max(axis=-1) == pytest.approx(shared.objective, rel=1e-12)


def test_of_equal_largest_ratios_the_one_with_least_squares_is_taken():
    mechanism = two_arms()
    q, qd, qdd = (array[0] for array in motion(mechanism, 1))
    u0, N = admissible(mechanism, q, qd, qdd)
    limits = np.array([0.3, 50.0, 50.0, 50.0, 50.0, 50.0])  # one weak drive decides, the others have a choice
    shared = dal.distribute_load(mechanism, q, qd, qdd, objective="ratio", limits=limits)
    scaled = lambda z: (u0 + N @ z) / limits  # noqa: E731
    within = {"type": "ineq", "fun": lambda z: np.concatenate([shared.objective - scaled(z), shared.objective + scaled(z)])}
    other = minimize(lambda z: (scaled(z) ** 2).sum(), shared.internal, constraints=[within], method="SLSQP", tol=1e-14)
    assert (shared.ratios**2).sum() <= other.fun * (1 + 1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_held_is_held_and_the_rest_is_the_best(name):
    mechanism, entry = MECHANISMS[name](), SQUEEZE[name]
    q, qd, qdd = motion(mechanism, 4, 0.01)
    shared = dal.distribute_load(mechanism, q, qd, qdd, internal=entry)
    if isinstance(entry, dal.HeldForce):
        found = shared.wrenches[:, shared.closures.index(entry.closure), :3] @ entry.direction
    else:
        first, second = (shared.closures.index(k) for k in (entry.first, entry.second))
        x = mechanism.assemble(q).x
        places = [place_in_world(mechanism, x, k) for k in (first, second)]
        e = (places[1] - places[0]) / np.linalg.norm(places[1] - places[0], axis=-1, keepdims=True)
        found = ((shared.wrenches[:, first, :3] - shared.wrenches[:, second, :3]) * e).sum(axis=-1) / 2
    assert found == pytest.approx(np.full(4, entry.value), rel=1e-10)
    moved = dal.distribute_load(mechanism, q, qd, qdd, internal=entry.replace(value=entry.value * 1.001))
    for u, N, other in zip(shared.torques, shared.directions, moved.torques, strict=True):
        # u has no part along internal directions that leave the held force: the change of u is along its gradient in N
        step = N.T @ (other - u)
        left = N.T @ u - step * (step @ N.T @ u) / (step @ step)
        assert np.abs(left).max() < 1e-8 * np.abs(u).max()


def place_in_world(mechanism, x, closure):
    link, X = mechanism.closures[closure].between[1]
    return (dal.forward_kinematics(mechanism.robot, x, link) @ X)[..., :3, 3]


def test_held_values_may_change_along_a_motion():
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 6)
    values = np.linspace(5.0, 25.0, 6)
    shared = dal.distribute_load(mechanism, q, qd, qdd, internal=[dal.HeldForce("left_hand", (0, 0, 1), values, moment=True)])
    assert shared.wrenches[:, 0, 5] == pytest.approx(values, rel=1e-11)


def test_batches_of_any_shape_are_those_of_single_configurations():
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 6)
    limits = limits_that_bind(mechanism, q, qd, qdd)
    shared = dal.distribute_load(mechanism, q.reshape(2, 3, 3), qd.reshape(2, 3, 3), qdd.reshape(2, 3, 3), limits=limits)
    assert shared.torques.shape == (2, 3, 6)
    assert shared.wrenches.shape == (2, 3, 2, 6)
    assert shared.directions.shape == (2, 3, 6, 3)
    assert shared.objective.shape == shared.feasible.shape == (2, 3)
    for row in range(6):
        one = dal.distribute_load(mechanism, q[row], qd[row], qdd[row], limits=limits)
        # a row beyond its limits is solved to rounding where its set of limits was found, else to 1e-10
        assert one.torques == pytest.approx(shared.torques.reshape(6, 6)[row], rel=1e-7)
        assert one.objective.shape == ()
    still = dal.distribute_load(mechanism, q, 0.0 * qd[0], np.zeros(3))
    assert still.torques.shape == (6, 6)
    assert dal.distribute_load(mechanism, q[:0], qd[:0], qdd[:0]).torques.shape == (0, 6)


@pytest.mark.parametrize("objective", ["norm", "ratio"])
def test_rows_in_any_order_have_the_same_torques(objective):
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 300)
    limits = limits_that_bind(mechanism, q, qd, qdd)
    order = np.random.default_rng(5).permutation(300)
    along = dal.distribute_load(mechanism, q, qd, qdd, limits=limits, objective=objective)
    mixed = dal.distribute_load(mechanism, q[order], qd[order], qdd[order], limits=limits, objective=objective)
    # rows whose set of limits was not carried are right to what the programme leaves
    assert mixed.torques == pytest.approx(along.torques[order], rel=1e-6, abs=1e-7)
    assert mixed.objective == pytest.approx(along.objective[order], rel=1e-8)


@pytest.mark.slow
def test_given_positions_and_outside_wrenches_count():
    mechanism = two_arms()
    q, qd, qdd = motion(mechanism, 3)
    placed = mechanism.at(x=mechanism.assemble(q).x)
    assert dal.distribute_load(placed, q, qd, qdd).torques == pytest.approx(
        dal.distribute_load(mechanism, q, qd, qdd).torques, rel=1e-9
    )
    push = {"bar_bar": [0.0, -10.0, 0.0, 0.0, 0.0, 0.0]}
    loaded = dal.distribute_load(mechanism, q, qd, qdd, wrenches=push)
    _, tau = generalised(mechanism, q, loaded)
    assert tau == pytest.approx(dal.inverse_dynamics(mechanism, q, qd, qdd, wrenches=push), rel=1e-6, abs=1e-6)


def test_as_many_drives_as_freedoms_leave_no_choice():
    mechanism = two_fingers().replace(actuated=("left_joint1", "left_joint2", "right_joint1"))
    q, qd, qdd = motion(mechanism, 3)
    shared = dal.distribute_load(mechanism, q, qd, qdd)
    assert shared.internal.shape == (3, 0)
    again = dal.distribute_load(mechanism, q, qd, qdd, objective="ratio", limits=1e3)
    assert again.torques == pytest.approx(shared.torques, rel=1e-12)
