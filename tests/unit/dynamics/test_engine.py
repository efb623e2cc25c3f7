"""The choice of kernel: recipes, loops for many joints, and large systems solved by LAPACK."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine, sizes
from dalembert.errors import ShapeError, UnknownNameError
from dalembert.expr.loops import LoopProgram
from tests.robots import EVERYTHING, PLAIN, random_robot, relative_error, state

LOOPED = {
    "inverse_dynamics": sizes.CHAIN_RECURSION,
    "bias": sizes.CHAIN_RECURSION,
    "gravity_torque": sizes.RECURSION,
    "energy": sizes.RECURSION,
    "forward_dynamics": sizes.CHAIN_FORWARD_RECURSION,
}


def test_an_unknown_quantity_is_named() -> None:
    with pytest.raises(UnknownNameError, match="quantity: 'mass_matrx' is not known; did you mean 'mass_matrix'"):
        engine.program(dal.robots.pendulum(), "mass_matrx")


@pytest.mark.parametrize(("quantity", "limit"), LOOPED.items())
def test_short_robots_are_unrolled_and_long_ones_are_loops(quantity: str, limit: int) -> None:
    options = {
        "inverse_dynamics": ("newton_euler", engine.Forces()),
        "bias": ("newton_euler", engine.Forces()),
        "gravity_torque": ("newton_euler",),
        "forward_dynamics": (engine.Forces(),),
    }.get(quantity, ())
    assert isinstance(engine.program(dal.robots.chain(limit), quantity, *options), LoopProgram)
    assert not isinstance(engine.program(dal.robots.chain(7), quantity, *options), LoopProgram)


def test_the_mass_matrix_is_a_loop_where_there_are_many_pairs_of_joints_not_many_joints() -> None:
    bush = dal.robots.chain(2)
    for k in range(10):
        bush = dal.attach(bush, dal.robots.chain(5).replace(name=f"branch{k}"), parent=bush.link_names[0])
    assert not isinstance(engine.program(bush, "mass_matrix"), LoopProgram)
    assert not isinstance(engine.program(dal.robots.chain(36), "mass_matrix"), LoopProgram)
    assert isinstance(engine.program(dal.robots.chain(37), "mass_matrix"), LoopProgram)


@pytest.mark.parametrize("quantity", ["inverse_derivatives", "coriolis_matrix", "christoffel", "second_derivatives"])
def test_derivatives_of_an_arm_are_unrolled_and_those_of_a_long_chain_are_loops(quantity: str) -> None:
    assert not isinstance(engine.program(dal.robots.panda(), quantity), LoopProgram)
    assert isinstance(engine.program(dal.robots.chain(20), quantity), LoopProgram)


@pytest.mark.slow
@pytest.mark.parametrize("branches", [False, True])
def test_second_derivatives_of_many_joints_are_differences_of_the_first(branches: bool, rng: np.random.Generator) -> None:
    robot = random_robot(np.random.default_rng(4), 14, replace(PLAIN, branches=branches, prismatic=True))
    q, qd, qdd = state(robot, rng)
    found, step = dal.second_derivatives(robot, q, qd, qdd), 1e-4 * np.eye(robot.n)

    def slope(first: int, by: int) -> np.ndarray:
        """The derivative of one of the first derivatives, by differences of fourth order."""
        at = [[q, qd, qdd] for _ in range(4)]
        for k, factor in enumerate((1, -1, 2, -2)):
            at[k][by] = at[k][by] + factor * step
        one, minus, two, minus_two = (dal.derivatives(robot, *state)[first] for state in at)
        return np.moveaxis((8 * (one - minus) - (two - minus_two)) / 12e-4, 0, -1)

    assert relative_error(found.d2tau_dqdq, slope(0, 0)) < 1e-9
    assert relative_error(found.d2tau_dqdqd, slope(0, 1)) < 1e-9
    assert relative_error(found.d2tau_dqddqd, slope(1, 1)) < 1e-9
    assert relative_error(found.dM_dq, slope(2, 0)) < 1e-9


@pytest.mark.slow
def test_derivatives_of_very_many_joints_are_differences_of_torque_and_acceleration(rng: np.random.Generator) -> None:
    robot = dal.robots.chain(40)
    q, qd, qdd = state(robot, rng)
    inverse, forward = dal.derivatives(robot, q, qd, qdd), dal.derivatives(robot, q, qd, tau=qdd)
    for k in range(3):
        step = 1e-3 * np.eye(40)
        at = [[q, qd, qdd] for _ in range(4)]
        for j, factor in enumerate((1, -1, 2, -2)):
            at[j][k] = at[j][k] + factor * step
        for function, found in ((dal.inverse_dynamics, inverse[k]), (dal.forward_dynamics, forward[k])):
            one, minus, two, minus_two = (function(robot, *x) for x in at)
            assert relative_error(found, ((8 * (one - minus) - (two - minus_two)) / 12e-3).T) < 1e-6
    c = dal.christoffel(robot, q)
    assert relative_error(dal.coriolis_matrix(robot, q, qd), c @ qd) < 1e-12


@pytest.mark.slow
def test_forward_dynamics_undoes_inverse_dynamics_on_a_long_chain(rng: np.random.Generator) -> None:
    robot = dal.robots.chain(160)
    q, qd, qdd = state(robot, rng, (5,))
    tau = dal.inverse_dynamics(robot, q, qd, qdd)
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau), qdd) < 1e-6  # M of 160 links in a row has κ of some 1e8
    M = dal.mass_matrix(robot, q)
    assert relative_error((M @ qdd[..., None])[..., 0] + dal.bias(robot, q, qd), tau) < 1e-11
    energy = dal.energy(robot, q, qd).kinetic
    assert relative_error(np.einsum("bi,bij,bj->b", qd, M, qd) / 2, energy) < 1e-11


@pytest.fixture(scope="module")
def dense() -> dal.Robot:
    """Too many coordinates for a traced factorisation, and rotors that rule out recursion."""
    features = replace(EVERYTHING, branches=True, several_bodies=False)
    return random_robot(np.random.default_rng(1), sizes.DENSE_FROM, features)


@pytest.mark.slow
def test_large_systems_with_rotors_and_couplings_are_solved_too(dense: dal.Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = state(dense, rng, (3,))
    for options in ({}, {"wrenches": {"tool": np.ones(6)}, "base_acceleration": [1, 2, 3, 0.1, 0.2, 0.3]}):
        tau = dal.inverse_dynamics(dense, q, qd, qdd, **options)
        out = np.empty_like(q)
        assert relative_error(dal.forward_dynamics(dense, q, qd, tau, **options), qdd) < 1e-8
        assert dal.forward_dynamics(dense, q, qd, tau, out=out, **options) is out
        assert relative_error(out, qdd) < 1e-8


@pytest.mark.slow
def test_large_systems_take_other_parameters_for_the_mass_matrix_too(dense: dal.Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = state(dense, rng, (3,))
    phi = dal.parameters(dense) * rng.uniform(0.9, 1.1, (3, 1))
    tau = dal.inverse_dynamics(dense, q, qd, qdd, parameters=phi)
    assert relative_error(dal.forward_dynamics(dense, q, qd, tau, parameters=phi), qdd) < 1e-8


@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 1)])
def test_large_systems_refuse_a_torque_of_another_shape(shape: tuple[int, ...], dense: dal.Robot) -> None:
    with pytest.raises(ShapeError, match=r"tau: shape \(.*\) found, \(\.\.\., 45\) expected"):
        dal.forward_dynamics(dense, np.zeros(dense.n), np.zeros(dense.n), np.zeros(shape))


@pytest.mark.parametrize("dtype", [int, np.float32, complex])
def test_large_systems_refuse_an_out_of_other_numbers(dtype: type, dense: dal.Robot) -> None:
    """A large regressor would cut its entries to whole numbers."""
    q = np.full(dense.n, 0.3)
    shape = (dense.n, len(dal.parameter_names(dense)))
    kind = np.dtype(dtype)
    with pytest.raises(ShapeError, match=re.escape(f"out: {kind} entries found, float64 expected, of shape {shape}.")):
        dal.regressor(dense, q, q, q, out=np.zeros(shape, dtype))
    with pytest.raises(ShapeError, match=re.escape(f"out: {kind} entries found, float64 expected, of shape {q.shape}.")):
        dal.forward_dynamics(dense, q, q, q, out=np.zeros(q.shape, dtype))


def test_large_systems_refuse_an_out_of_another_shape(dense: dal.Robot) -> None:
    with pytest.raises(ShapeError, match=r"out: shape \(3,\) found, \(45,\) expected\."):
        dal.forward_dynamics(dense, *np.zeros((3, dense.n)), out=np.zeros(3))
