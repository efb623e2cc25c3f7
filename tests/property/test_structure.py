"""Identities of the structure of the equations of motion, and exact derivatives, on random robots with every feature.

Derivatives are judged by the complex step, f'(x) = Im f(x + ih) / h, which loses no digit to cancellation; the algorithms are
run on complex numbers for it, without a graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as dal
from dalembert.algorithms import graph_derivatives, newton_euler_recursion
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine, sizes
from dalembert.expr import PRIMITIVES, interpret, loops, ops, trace
from dalembert.model import Body, Link, Robot
from tests.robots import EVERYTHING, pose, random_friction, random_robot, relative_error, robots, seeds, state

pytestmark = pytest.mark.usefixtures("interpreted")

STEP = 1e-30  # its square vanishes beside 1
EXACT = 1e-10  # relative; rounding of a few hundred operations is four digits below
DERIVATIVE = 1e-9  # relative
SOLVED = 1e-8  # relative, where a system with a badly scaled mass matrix is solved on the way
few = settings(max_examples=20)


@contextmanager
def signs_of_real_parts() -> Iterator[None]:
    """Coulomb friction is constant on either side of zero, so its sign is read off the real part."""

    def sign(x: Any) -> Any:
        return np.sign(np.real(x))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ops, "sign", sign)
        patch.setitem(PRIMITIVES, "sign", PRIMITIVES["sign"]._replace(numpy=sign))
        yield


def stepped(x: np.ndarray, directions: np.ndarray) -> list[np.ndarray]:
    """The components of x, each a batch of small steps in all directions."""
    return list((x + 1j * STEP * directions).T)


def slopes(nest: Any, count: int) -> np.ndarray:
    """Im f / h of nested lists of batches; the direction becomes the last axis."""
    if isinstance(nest, (list, tuple)):
        return np.stack([slopes(entry, count) for entry in nest])
    return np.broadcast_to(np.imag(nest) / STEP, (count,))


def complex_step(
    robot: Robot, quantity: str, arrays: tuple[np.ndarray, ...], by: int, *options: Any, along: np.ndarray | None = None
) -> Any:
    """The exact derivative of a quantity by its input number `by`, in all directions or along one."""
    tree = engine.tree(robot)
    recipe = engine.QUANTITIES[quantity](tree, *options)
    directions = np.eye(robot.n) if along is None else along[None]
    inputs = [stepped(a, directions * (k == by)) for k, a in enumerate(arrays)]
    with signs_of_real_parts():
        returned = recipe.function(Unrolled(tree), *inputs)
    found = [slopes(nest, len(directions)) for nest in (returned if len(recipe.outputs) > 1 else [returned])]
    found = found if along is None else [x[..., 0] for x in found]
    return found if len(found) > 1 else found[0]


def complex_step_of_graph(robot: Robot, quantity: str, arrays: tuple[np.ndarray, ...], by: int) -> list[np.ndarray]:
    """The same for what only a graph can give, such as first derivatives."""
    program = engine.program(robot, quantity)
    inputs = [stepped(a, np.eye(robot.n) * (k == by)) for k, a in enumerate(arrays)]
    columns = {
        node.index: x
        for entry, values in zip(program.entries, inputs, strict=True)
        for node, x in zip(entry, values, strict=True)
    }
    with signs_of_real_parts():
        values = interpret.evaluate(program.nodes, columns)
    results = [[values[x.index] if hasattr(x, "graph") else x for x in result] for result in program.results]
    return [slopes(r, robot.n).reshape(*s.shape, robot.n) for r, s in zip(results, program.outputs, strict=True)]


def test_the_complex_step_reads_friction_s_slope_beside_the_jump() -> None:
    robot = random_robot(np.random.default_rng(3), 3, replace(EVERYTHING, mimic=False))
    laws = {name: dal.Friction(0.5 + k, 2.0) for k, name in enumerate(robot.joint_names)}
    robot = robot.replace(parameters=robot.parameters.replace(friction=laws))
    found = complex_step(robot, "friction_torque", (np.array([1.0, -1.0, 2.0]),), 0)
    np.testing.assert_allclose(found, np.diag([0.5, 1.5, 2.5]), rtol=1e-15)


# Coriolis terms


@given(robots(max_n=8), seeds)
@few
def test_mass_matrix_rate_minus_twice_the_coriolis_matrix_is_skew(robot: Robot, seed: int) -> None:
    q, qd, _ = state(robot, np.random.default_rng(seed))
    rate = complex_step(robot, "mass_matrix", (q,), 0, along=qd)
    C = dal.coriolis_matrix(robot, q, qd)
    N = rate - 2 * C
    assert np.abs(N + N.T).max() <= EXACT * max(1.0, np.abs(C).max())


@given(robots(max_n=8), seeds)
@few
def test_the_coriolis_matrix_is_made_of_christoffel_symbols(robot: Robot, seed: int) -> None:
    q, qd, _ = state(robot, np.random.default_rng(seed))
    c = dal.christoffel(robot, q)
    np.testing.assert_array_equal(c, c.swapaxes(-1, -2))
    assert relative_error(dal.coriolis_matrix(robot, q, qd), c @ qd) < EXACT


@given(robots(max_n=8), seeds)
@few
def test_christoffel_symbols_follow_from_the_slopes_of_the_mass_matrix(robot: Robot, seed: int) -> None:
    q, _, _ = state(robot, np.random.default_rng(seed))
    dM = complex_step(robot, "mass_matrix", (q,), 0)
    expected = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
    assert relative_error(dal.christoffel(robot, q), expected) < EXACT


@given(robots(max_n=8), seeds)
@few
def test_coriolis_matrix_times_velocity_plus_gravity_torque_is_the_bias(robot: Robot, seed: int) -> None:
    q, qd, _ = state(robot, np.random.default_rng(seed))
    h = dal.coriolis_matrix(robot, q, qd) @ qd + dal.gravity_torque(robot, q)
    assert relative_error(h, dal.bias(robot, q, qd)) < EXACT


@given(robots(max_n=6, friction=True), seeds)
@few
def test_friction_torque_is_the_rest_of_the_torque(robot: Robot, seed: int) -> None:
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    rest = dal.inverse_dynamics(robot, q, qd, qdd) - dal.mass_matrix(robot, q) @ qdd - dal.bias(robot, q, qd)
    scale = max(1.0, float(np.abs(dal.inverse_dynamics(robot, q, qd, qdd)).max()))
    np.testing.assert_allclose(dal.friction_torque(robot, qd), rest, atol=EXACT * scale)


# Regressor and parameters


@given(robots(max_n=8), seeds)
@few
def test_the_regressor_times_the_parameters_is_the_torque(robot: Robot, seed: int) -> None:
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    Y, phi = dal.regressor(robot, q, qd, qdd, offset=True), dal.parameters(robot, offset=True)
    assert Y.shape == (robot.n, len(phi))
    assert relative_error(Y @ phi, dal.inverse_dynamics(robot, q, qd, qdd)) < EXACT


@given(robots(max_n=6), seeds)
@few
def test_columns_left_out_of_the_regressor_leave_the_others_as_they_were(robot: Robot, seed: int) -> None:
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    everything = {"rotor": True, "friction": True, "offset": True}
    Y, names = dal.regressor(robot, q, qd, qdd, **everything), dal.parameter_names(robot, **everything)
    phi = dal.parameters(robot, **everything)
    for k in range(8):
        chosen = {"rotor": bool(k & 1), "friction": bool(k & 2), "offset": bool(k & 4)}
        columns = [names.index(name) for name in dal.parameter_names(robot, **chosen)]
        np.testing.assert_array_equal(dal.regressor(robot, q, qd, qdd, **chosen), Y[:, columns])
        np.testing.assert_array_equal(dal.parameters(robot, **chosen), phi[columns])


def heavier(body: Body, rng: np.random.Generator) -> Any:
    """The same shape in another size and material: any such body is physical."""
    mass, size = rng.uniform(0.3, 3.0, 2)
    return replace(body, mass=body.mass * mass, com=body.com * size, inertia=body.inertia * (mass * size**2))


def with_other_parameters(robot: Robot, rng: np.random.Generator) -> Robot:
    """The same mechanism with other masses, moments, rotor inertias and viscous friction."""
    parts = robot.parameters
    links = []
    for link in parts.links:
        own: Link = heavier(link, rng)
        links.append(replace(own, bodies=tuple(heavier(body, rng) for body in link.bodies)))
    return robot.replace(
        parameters=parts.replace(
            links=tuple(links),
            payload=None if parts.payload is None else heavier(parts.payload, rng),
            rotors={name: replace(rotor, inertia=rotor.inertia * rng.uniform(0.8, 1.2)) for name, rotor in parts.rotors.items()},
            friction={name: replace(law, viscous=rng.uniform(0.1, 2.0)) for name, law in parts.friction.items()},
        )
    )


@given(robots(max_n=6), seeds)
@few
def test_the_regressor_knows_the_mechanism_only_not_its_masses(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, qdd = state(robot, rng)
    other = with_other_parameters(robot, rng)
    Y = dal.regressor(robot, q, qd, qdd, offset=True)
    assert relative_error(dal.regressor(other, q, qd, qdd, offset=True), Y) < EXACT
    assert relative_error(Y @ dal.parameters(other, offset=True), dal.inverse_dynamics(other, q, qd, qdd)) < EXACT


PARAMETRIC: dict[str, Callable[..., np.ndarray]] = {
    "inverse_dynamics": lambda robot, q, qd, x, **options: dal.inverse_dynamics(robot, q, qd, x, **options),
    "forward_dynamics": lambda robot, q, qd, x, **options: dal.forward_dynamics(robot, q, qd, x, **options),
    "mass_matrix": lambda robot, q, qd, x, **options: dal.mass_matrix(robot, q, **options),
    "gravity_torque": lambda robot, q, qd, x, **options: dal.gravity_torque(robot, q, **options),
    "bias": lambda robot, q, qd, x, **options: dal.bias(robot, q, qd, **options),
}


@pytest.mark.parametrize("name", PARAMETRIC)
@given(robots(max_n=6), seeds)
@settings(max_examples=10)
def test_a_robot_with_its_own_parameters_as_input_is_itself(name: str, robot: Robot, seed: int) -> None:
    arrays = state(robot, np.random.default_rng(seed))
    tolerance = SOLVED if name == "forward_dynamics" else EXACT
    found = PARAMETRIC[name](robot, *arrays, parameters=dal.parameters(robot))
    assert relative_error(found, PARAMETRIC[name](robot, *arrays)) < tolerance


@pytest.mark.parametrize("name", PARAMETRIC)
@given(robots(max_n=6), seeds)
@settings(max_examples=10)
def test_other_parameters_as_input_make_the_robot_that_has_them(name: str, robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = state(robot, rng)
    other = with_other_parameters(robot, rng)
    tolerance = SOLVED if name == "forward_dynamics" else EXACT
    found = PARAMETRIC[name](robot, *arrays, parameters=dal.parameters(other))
    assert relative_error(found, PARAMETRIC[name](other, *arrays)) < tolerance


@given(robots(max_n=5, full_rotors=True, mimic=True), seeds, st.booleans(), st.booleans())
@settings(max_examples=25)
def test_forward_dynamics_of_large_systems_takes_parameters_and_all_that_is_around(
    robot: Robot, seed: int, pushed: bool, moving: bool
) -> None:
    """The way of large systems, taken by small ones: it undoes inverse dynamics, for a batch of parameters as for one."""
    rng = np.random.default_rng(seed)
    arrays = state(robot, rng, (3,))
    others = [with_other_parameters(robot, rng) for _ in range(3)]
    phi = np.array([dal.parameters(other) for other in others])
    around: dict[str, Any] = {"wrenches": {"link1": rng.normal(size=(3, 6))}} if pushed else {}
    around |= {"base_velocity": rng.normal(size=6), "base_acceleration": rng.normal(size=(3, 6))} if moving else {}
    tau = dal.inverse_dynamics(robot, *arrays, parameters=phi, **around)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "DENSE_FROM", 1)
        found = dal.forward_dynamics(robot, *arrays[:2], tau, parameters=phi, **around)
        one = dal.forward_dynamics(robot, *(a[1] for a in arrays[:2]), tau[1], parameters=phi[1], **row_of(around, 1))
    assert relative_error(found, arrays[2]) < SOLVED
    assert relative_error(one, arrays[2][1]) < SOLVED
    rebuilt = [
        dal.forward_dynamics(other, *(a[k] for a in arrays[:2]), tau[k], **row_of(around, k)) for k, other in enumerate(others)
    ]
    assert relative_error(found, np.array(rebuilt)) < SOLVED


def row_of(around: dict[str, Any], k: int) -> dict[str, Any]:
    """What is around one configuration of a batch."""
    wrenches = {name: wrench[k] for name, wrench in around.get("wrenches", {}).items()}
    base = {name: value[k] if value.ndim > 1 else value for name, value in around.items() if name != "wrenches"}
    return base | ({"wrenches": wrenches} if wrenches else {})


@given(robots(max_n=6), seeds)
@few
def test_torque_is_linear_in_parameters_given_as_input(robot: Robot, seed: int) -> None:
    """Up to the offset of asymmetric friction, which no standard parameter carries."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = state(robot, rng)
    phi = rng.normal(size=(2, len(dal.parameters(robot))))
    zero = dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi[0] * 0)
    tau = dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi)
    Y = dal.regressor(robot, q, qd, qdd)
    assert relative_error(tau - zero, phi @ Y.T) < EXACT


# Derivatives


@given(robots(max_n=6), seeds)
@few
def test_derivatives_of_the_torque_are_those_of_the_complex_step(robot: Robot, seed: int) -> None:
    arrays = state(robot, np.random.default_rng(seed))
    found = dal.derivatives(robot, *arrays)
    for k, matrix in enumerate(found):
        assert relative_error(matrix, complex_step(robot, "inverse_dynamics", arrays, k)) < DERIVATIVE
    np.testing.assert_allclose(found.dtau_dqdd, dal.mass_matrix(robot, arrays[0]), rtol=1e-12, atol=1e-12)


@given(robots(max_n=6), seeds)
@few
def test_derivatives_of_the_acceleration_are_those_of_the_complex_step(robot: Robot, seed: int) -> None:
    arrays = state(robot, np.random.default_rng(seed))
    found = dal.derivatives(robot, *arrays[:2], tau=arrays[2])
    for k, matrix in enumerate(found):
        assert relative_error(matrix, complex_step(robot, "forward_dynamics", arrays, k)) < DERIVATIVE
    inverse = np.linalg.inv(dal.mass_matrix(robot, arrays[0]))
    assert relative_error(found.dqdd_dtau, inverse) < DERIVATIVE


@pytest.mark.parametrize("plain", [True, False])
def test_derivatives_of_long_robots_are_those_of_the_complex_step(plain: bool) -> None:
    """From ten plain joints on, forward dynamics itself is by articulated bodies."""
    rng = np.random.default_rng(1)
    robot = random_robot(rng, 10, replace(EVERYTHING, mimic=not plain, full_rotors=not plain))
    arrays = state(robot, rng)
    for k, matrix in enumerate(dal.derivatives(robot, *arrays)):
        assert relative_error(matrix, complex_step(robot, "inverse_dynamics", arrays, k)) < DERIVATIVE
    for k, matrix in enumerate(dal.derivatives(robot, *arrays[:2], tau=arrays[2])):
        assert relative_error(matrix, complex_step(robot, "forward_dynamics", arrays, k)) < DERIVATIVE


@given(robots(max_n=6, full_rotors=True), seeds)
@settings(max_examples=15)
def test_derivatives_by_directions_are_those_of_the_complex_step(robot: Robot, seed: int) -> None:
    """The way of large systems with full rotors, taken by small ones: directional derivatives of loops, and LAPACK."""
    arrays = state(robot, np.random.default_rng(seed), (2,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "DERIVATIVE_TRIPLES", 0)
        patch.setattr(sizes, "TABLED_TRIPLES", 0)
        inverse = dal.derivatives(robot, *arrays)
        forward = dal.derivatives(robot, *arrays[:2], tau=arrays[2])
        C = dal.coriolis_matrix(robot, *arrays[:2])
        c = dal.christoffel(robot, arrays[0])
    row = tuple(a[1] for a in arrays)
    for k in range(3):
        assert relative_error(inverse[k][1], complex_step(robot, "inverse_dynamics", row, k)) < DERIVATIVE
        assert relative_error(forward[k][1], complex_step(robot, "forward_dynamics", row, k)) < DERIVATIVE
    wanted = dal.christoffel(robot.replace(), row[0])
    assert relative_error(c[1], wanted) < EXACT
    assert relative_error(C[1], wanted @ row[1]) < EXACT


@given(robots(max_n=6), seeds)
@few
def test_the_two_kinds_of_derivatives_belong_together(robot: Robot, seed: int) -> None:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q at one and the same motion, likewise by q̇."""
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    inverse = dal.derivatives(robot, q, qd, qdd)
    forward = dal.derivatives(robot, q, qd, tau=dal.inverse_dynamics(robot, q, qd, qdd))
    M = dal.mass_matrix(robot, q)
    assert relative_error(M @ forward.dqdd_dq, -inverse.dtau_dq) < SOLVED
    assert relative_error(M @ forward.dqdd_dqd, -inverse.dtau_dqd) < SOLVED


@pytest.mark.parametrize("traced", [True, False])
@given(robots(max_n=5), seeds)
@few
def test_parameter_derivatives_of_the_acceleration_are_those_of_a_change_of_parameters(
    traced: bool, robot: Robot, seed: int
) -> None:
    """Forward dynamics with one parameter after another moved a little, by the five-point rule in high enough order."""
    rng = np.random.default_rng(seed)
    q, qd, tau = state(robot, rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "SOLVED_COLUMNS", 99 if traced else 0)
        found = dal.parameter_derivatives(robot, q, qd, tau=tau)
    phi, direction = dal.parameters(robot), rng.normal(size=found.shape[-1])
    step = 1e-4 * np.array([-2.0, -1.0, 1.0, 2.0])  # parameters of order one: step⁴ and 1e-16 / step are both below 1e-11
    moved = dal.forward_dynamics(robot, q, qd, tau, parameters=phi + step[:, None] * direction * np.abs(phi))
    slope = (8 * (moved[2] - moved[1]) - (moved[3] - moved[0])) / 12e-4
    assert relative_error(found @ (direction * np.abs(phi)), slope) < 1e-7


@given(robots(max_n=6), seeds, st.booleans(), st.booleans())
@settings(max_examples=25)
def test_a_regressor_pair_by_pair_is_that_of_the_graph(robot: Robot, seed: int, drive: bool, offset: bool) -> None:
    """The way of large systems, taken by small ones."""
    arrays = state(robot, np.random.default_rng(seed), (2, 3))
    columns = {"rotor": drive, "friction": drive, "offset": offset}
    ways = []
    for pairs in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sizes, "REGRESSOR_PAIRS", pairs)
            ways.append(dal.regressor(robot.replace(), *arrays, **columns))
    assert relative_error(*ways) < EXACT


@given(robots(max_n=4), seeds)
@settings(max_examples=12)
def test_second_derivatives_by_directions_are_those_of_the_graph(robot: Robot, seed: int) -> None:
    arrays = state(robot, np.random.default_rng(seed), (2,))
    ways = []
    for limit in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sizes, "SPIN_SECOND_PAIRS", limit)
            patch.setattr(sizes, "TABLED_TRIPLES", limit)
            ways.append(dal.second_derivatives(robot.replace(), *arrays))
    for one, other in zip(*ways, strict=True):
        assert relative_error(one, other) < EXACT


def of_the_graph(robot: Robot, quantity: str, arrays: list[np.ndarray]) -> Any:
    """A quantity by differentiating the traced graph."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "COMPOSITE_DERIVATIVES_FROM", math.inf)
        if quantity != "second_derivatives":
            return interpret.run(engine.program(robot, quantity, rolled=False), *arrays)
    tree = engine.tree(robot)
    twice = partial(graph_derivatives.second_derivatives, Unrolled(tree), base=newton_euler_recursion.still_base(tree.gravity))
    names = engine.QUANTITIES[quantity](tree).outputs
    return interpret.run(trace(twice, dict.fromkeys(("q", "qd", "qdd"), (robot.n,)), names), *arrays)


LOOPED_DERIVATIVES = ("inverse_derivatives", "coriolis_matrix", "christoffel", "second_derivatives")


@pytest.mark.parametrize("quantity", LOOPED_DERIVATIVES)
@given(robots(max_n=6, full_rotors=False), seeds)
@settings(max_examples=25)
def test_derivatives_by_composite_bodies_are_those_of_the_graph(quantity: str, robot: Robot, seed: int) -> None:
    """Straight and in loops, with couplings, friction and sliding joints."""
    looped = engine.program(robot, quantity, rolled=True)
    arrays = [np.random.default_rng(seed).uniform(-2, 2, (2, *slot.shape)) for slot in looped.inputs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "COMPOSITE_DERIVATIVES_FROM", 0)
        straight = interpret.run(engine.program(robot, quantity, rolled=False), *arrays)
    ways = straight, loops.run(looped, *arrays), of_the_graph(robot, quantity, arrays)
    for one, other, wanted in zip(*ways, strict=True):
        assert relative_error(one, wanted) < EXACT
        assert relative_error(other, wanted) < EXACT


@given(robots(max_n=4), seeds)
@settings(max_examples=12)
def test_second_derivatives_are_the_complex_step_of_the_first(robot: Robot, seed: int) -> None:
    arrays = state(robot, np.random.default_rng(seed))
    found = dal.second_derivatives(robot, *arrays)
    by_q = complex_step_of_graph(robot, "inverse_derivatives", arrays, 0)
    by_qd = complex_step_of_graph(robot, "inverse_derivatives", arrays, 1)
    assert relative_error(found.d2tau_dqdq, by_q[0]) < DERIVATIVE
    assert relative_error(found.d2tau_dqdqd, by_qd[0]) < DERIVATIVE
    assert relative_error(found.d2tau_dqdqd.swapaxes(1, 2), by_q[1]) < DERIVATIVE  # in whichever order
    assert relative_error(found.d2tau_dqddqd, by_qd[1]) < DERIVATIVE
    assert relative_error(found.dM_dq, complex_step(robot, "mass_matrix", arrays[:1], 0)) < DERIVATIVE


@given(robots(max_n=4), seeds)
@settings(max_examples=12)
def test_second_derivatives_do_not_mind_the_order(robot: Robot, seed: int) -> None:
    found = dal.second_derivatives(robot, *state(robot, np.random.default_rng(seed)))
    for array in (found.d2tau_dqdq, found.d2tau_dqddqd):
        assert relative_error(array, array.swapaxes(1, 2)) < EXACT
    assert relative_error(found.dM_dq, found.dM_dq.swapaxes(0, 1)) < EXACT


@given(robots(max_n=8), seeds)
@few
def test_the_energy_gradient_holds_momentum_and_gravity_torque(robot: Robot, seed: int) -> None:
    q, qd, _ = state(robot, np.random.default_rng(seed))
    found = dal.energy_gradient(robot, q, qd)
    kinetic, potential = complex_step(robot, "energy", (q, qd), 0)
    assert relative_error(found.dkinetic_dq, kinetic) < DERIVATIVE
    assert relative_error(found.dpotential_dq, potential) < DERIVATIVE
    assert relative_error(found.dkinetic_dqd, dal.mass_matrix(robot, q) @ qd) < EXACT
    assert relative_error(found.dpotential_dq, dal.gravity_torque(robot, q)) < EXACT


@given(robots(max_n=6, friction=False), seeds)
@few
def test_lagrange_s_equation_holds(robot: Robot, seed: int) -> None:
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂U/∂q = τ."""
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    gradient = dal.energy_gradient(robot, q, qd)
    momentum_rate = complex_step(robot, "mass_matrix", (q,), 0, along=qd) @ qd + dal.mass_matrix(robot, q) @ qdd
    tau = momentum_rate - gradient.dkinetic_dq + gradient.dpotential_dq
    assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd)) < DERIVATIVE


def test_friction_s_slope_vanishes_nowhere_but_at_the_jump() -> None:
    """At rest, where dry friction jumps, its slope is left at the viscous coefficient and whatever is smooth."""
    rng = np.random.default_rng(0)
    robot = random_robot(rng, 3, replace(EVERYTHING, mimic=False))
    laws = {name: random_friction(rng, "coulomb") for name in robot.joint_names}
    robot = robot.replace(parameters=robot.parameters.replace(friction=laws))
    q, _, qdd = state(robot, rng)
    found = dal.derivatives(robot, q, np.zeros(3), qdd).dtau_dqd
    np.testing.assert_allclose(found, np.diag([laws[name].viscous for name in robot.joint_names]), atol=1e-12)


# Kinematics


def some_link(robot: Robot, rng: np.random.Generator) -> str:
    return str(rng.choice(["tool", *robot.link_names]))


@pytest.mark.parametrize("frame", ["world", "body"])
@given(robots(max_n=8), seeds)
@few
def test_the_rate_of_the_jacobian_is_that_of_the_complex_step(frame: str, robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, _ = state(robot, rng)
    link = some_link(robot, rng)
    expected = complex_step(robot, "jacobian", (q,), 0, link, frame, along=qd)
    assert relative_error(dal.jacobian_dot(robot, q, qd, link, frame=frame), expected) < DERIVATIVE


@given(robots(max_n=6), seeds)
@few
def test_jacobians_and_their_rates_give_the_acceleration_of_a_link(robot: Robot, seed: int) -> None:
    """J̇ q̇ + J q̈ against the second derivative of the pose along a motion, by central differences of the velocity."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = state(robot, rng)
    link = some_link(robot, rng)
    step = 1e-3 * np.array([-2.0, -1.0, 1.0, 2.0])[:, None]
    J = dal.jacobian(robot, q + qd * step + qdd * step**2 / 2, link)
    before2, before, after, after2 = (J @ (qd + qdd * step)[..., None])[..., 0]
    expected = (8 * (after - before) - (after2 - before2)) / 12e-3
    found = dal.jacobian_dot(robot, q, qd, link) @ qd + dal.jacobian(robot, q, link) @ qdd
    assert relative_error(found, expected) < 1e-8  # five-point rule: step⁴ times a fifth derivative that grows with n


@pytest.mark.parametrize("frame", ["world", "body"])
@given(robots(max_n=6), seeds)
@few
def test_the_jacobian_of_a_point_is_that_of_a_tool_put_there(frame: str, robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, _, _ = state(robot, rng)
    link = str(rng.choice(robot.link_names))
    point = rng.uniform(-1, 1, 3)
    X = np.eye(4)
    X[:3, 3] = point
    other = robot.with_tool(X, link)
    expected = dal.jacobian(other, q, "tool", frame=frame)
    assert relative_error(dal.jacobian(robot, q, link, point=point, frame=frame), expected) < EXACT


def angle_rate(y: Any, x: Any) -> tuple[float, np.ndarray]:
    """atan2(y, x) of numbers with their slopes: the length of (x, y), and the slope of the angle."""
    (y, dy), (x, dx) = y, x
    return float(np.hypot(x, y)), (x * dy - y * dx) / (x * x + y * y)


def length(a: Any, b: Any) -> Any:
    (a, da), (b, db) = a, b
    r = np.hypot(a, b)
    return r, (a * da + b * db) / r


def rotation_with_slopes(robot: Robot, q: np.ndarray, link: str) -> Callable[[int, int], tuple[float, np.ndarray]]:
    X, dX = dal.forward_kinematics(robot, q, link), complex_step(robot, "forward_kinematics", (q,), 0, link)
    return lambda i, j: (X[i - 1, j - 1], dX[i - 1, j - 1])


def negative(x: Any) -> Any:
    return -x[0], -x[1]


def rpy_slopes(R: Any) -> tuple[float, list[np.ndarray]]:
    """How far from the singularity, and the slopes of roll, pitch, yaw."""
    far, roll = angle_rate(R(3, 2), R(3, 3))
    return far, [roll, angle_rate(negative(R(3, 1)), length(R(1, 1), R(2, 1)))[1], angle_rate(R(2, 1), R(1, 1))[1]]


def zyz_slopes(R: Any) -> tuple[float, list[np.ndarray]]:
    far, first = angle_rate(R(2, 3), R(1, 3))
    return far, [first, angle_rate(length(R(1, 3), R(2, 3)), R(3, 3))[1], angle_rate(R(3, 2), negative(R(3, 1)))[1]]


@pytest.mark.parametrize("angles", ["rpy", "zyz"])
@given(robots(max_n=6), seeds)
@settings(max_examples=30)
def test_the_analytical_jacobian_holds_the_slopes_of_the_angles(angles: str, robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, _, _ = state(robot, rng)
    robot = robot.with_tool(pose(rng), robot.link_names[-1])  # aligned frames are singular all the way
    far, expected = {"rpy": rpy_slopes, "zyz": zyz_slopes}[angles](rotation_with_slopes(robot, q, "tool"))
    found = dal.analytical_jacobian(robot, q, angles=angles)
    np.testing.assert_array_equal(found[:3], dal.jacobian(robot, q)[:3])
    assert relative_error(found[3:] * far**2, np.array(expected) * far**2) < EXACT  # near the singularity digits are lost


@given(robots(max_n=6), seeds)
@settings(max_examples=30)
def test_the_quaternion_s_rates_are_its_slopes_and_keep_it_of_unit_length(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, _, _ = state(robot, rng)
    link = some_link(robot, rng)
    R, dR = (
        x[:3, :3] for x in (dal.forward_kinematics(robot, q, link), complex_step(robot, "forward_kinematics", (q,), 0, link))
    )
    w = np.sqrt(max(1 + np.trace(R), 0.0)) / 2
    v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 4
    dv = np.array([dR[2, 1] - dR[1, 2], dR[0, 2] - dR[2, 0], dR[1, 0] - dR[0, 1]]) / 4
    found = dal.analytical_jacobian(robot, q, link, angles="quaternion")
    assert found.shape == (7, robot.n)
    if w > 0.05:  # else this formula for the quaternion takes the root of a small number
        dw = np.trace(dR) / (8 * w)
        expected = np.vstack([dw, dv / w - np.outer(v, dw) / w**2])
        assert relative_error(found[3:], expected) < EXACT / w**2
        np.testing.assert_allclose(np.array([w, *(v / w)]) @ found[3:], 0.0, atol=EXACT / w)
    twist = dal.jacobian(robot, q, link)[3:]
    np.testing.assert_allclose((found[3:] ** 2).sum(0) * 4, (twist**2).sum(0), atol=EXACT)  # |rate| = ½|ω|, whatever w is


# Wrenches between links


def joint_places(robot: Robot, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """World axis and origin of each moving joint, as its parent link carries them."""
    found = []
    for joint in robot.structure.joints:
        if joint.moves:
            X = dal.forward_kinematics(robot, q, joint.parent) @ joint.origin
            found.append((X[:3, :3] @ joint.axis, X[:3, 3]))
    return found


@given(robots(max_n=8, friction=False, full_rotors=False, reflected_rotors=False), seeds)
@few
def test_link_wrenches_along_the_joints_axes_are_the_torque(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, qdd = state(robot, rng)
    around = {
        "wrenches": {some_link(robot, rng): rng.uniform(-9, 9, 6)},
        "base_velocity": rng.uniform(-2, 2, 6),
        "base_acceleration": rng.uniform(-2, 2, 6),
    }
    for options in ({}, around):
        tau = np.zeros(robot.n)
        found = dal.link_wrenches(robot, q, qd, qdd, **options)
        moving = [joint for joint in robot.structure.joints if joint.moves]
        for joint, (axis, _), wrench in zip(moving, joint_places(robot, q), found, strict=True):
            master, factor = (joint.name, 1.0) if joint.mimic is None else (joint.mimic.joint, joint.mimic.multiplier)
            tau[robot.joint_names.index(master)] += factor * axis @ (wrench[3:] if joint.turns else wrench[:3])
        assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd, **options)) < EXACT


def on_the_base(robot: Robot) -> list[int]:
    """Which moving joints stand on the base or on what is welded to it."""
    fixed = {robot.structure.root}
    standing, number = [], 0
    for joint in robot.structure.joints:
        if joint.moves:
            standing += [number] if joint.parent in fixed else []
            number += 1
        elif joint.parent in fixed:
            fixed.add(joint.child)
    return standing


@given(robots(max_n=8), seeds)
@few
def test_the_base_carries_the_weight_of_what_moves(robot: Robot, seed: int) -> None:
    q, _, _ = state(robot, np.random.default_rng(seed))
    still = np.zeros(robot.n)
    phi = dict(zip(dal.parameter_names(robot), dal.parameters(robot), strict=True))
    mass = sum(value for name, value in phi.items() if name.endswith(".m"))
    wrenches = dal.link_wrenches(robot, q, still, still)
    places = joint_places(robot, q)
    standing = on_the_base(robot)
    force = sum(wrenches[k, :3] for k in standing)
    assert relative_error(force, -mass * robot.gravity) < EXACT
    moment = sum(wrenches[k, 3:] + np.cross(places[k][1], wrenches[k, :3]) for k in standing)
    first = np.zeros(3)  # Σ m r of all that moves, in the world
    for joint in robot.structure.joints:
        if joint.moves:
            X = dal.forward_kinematics(robot, q, joint.child)
            m, *h = (phi[f"{joint.name}.{key}"] for key in ("m", "mx", "my", "mz"))
            first += m * X[:3, 3] + X[:3, :3] @ h
    assert relative_error(moment, -np.cross(first, robot.gravity)) < EXACT


@given(robots(max_n=6), seeds)
@few
def test_link_wrenches_in_link_axes_are_those_in_world_axes_turned(robot: Robot, seed: int) -> None:
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    world = dal.link_wrenches(robot, q, qd, qdd)
    turned = dal.link_wrenches(robot, q, qd, qdd, frame="link")
    children = [joint.child for joint in robot.structure.joints if joint.moves]
    for name, found, wrench in zip(children, turned, world, strict=True):
        R = dal.forward_kinematics(robot, q, name)[:3, :3]
        assert relative_error(found, np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])) < EXACT
