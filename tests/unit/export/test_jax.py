"""The JAX reading: values, transformations and derivatives agree with the kernels."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.quantities import EXPORTED
from dalembert.errors import DalembertWarning, MissingExtraError, ShapeError, UnknownNameError
from dalembert.export import jax_function
from dalembert.expr import PRIMITIVES, interpret, ops, trace
from tests.robots import relative_error
from tests.unit.export.programs import TOLERANCE, arrays_for, by_kernel, primitives_program, program_of, robot_of

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed (extra 'jax')")
DERIVATIVE_TOLERANCE = 1e-11  # relative: JAX adds up the same terms in another order
SMALL = [quantity for quantity in EXPORTED if quantity != "second_derivatives"]  # XLA takes its time for that one


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX in double precision, put back as it was."""
    jax = importlib.import_module("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@needs_jax
def test_every_primitive_has_a_reading_in_jax(jax):
    assert set(jax_function.readings(jax.numpy)) == set(PRIMITIVES)


@needs_jax
@pytest.mark.parametrize("quantity", SMALL)
def test_every_quantity_agrees_with_the_kernel(quantity, jax):
    robot = robot_of("pr_arm")
    arrays = arrays_for(program_of(robot, quantity), (2, 3))
    found = as_tuple(dal.to_jax(robot, quantity)(*arrays))
    for a, b in zip(found, by_kernel(robot, quantity, arrays), strict=True):
        assert a.dtype == np.float64
        assert relative_error(a, b) < TOLERANCE


@needs_jax
@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
def test_arms_with_everything_agree_with_the_kernel(quantity, jax):
    for name in ("panda", "random"):
        arrays = arrays_for(program_of(robot_of(name), quantity), (4,))
        found = dal.to_jax(robot_of(name), quantity)(*arrays)
        assert relative_error(found, by_kernel(robot_of(name), quantity, arrays)[0]) < TOLERANCE


@needs_jax
def test_a_primitive_means_in_jax_what_numpy_says(jax):
    """Subnormal numbers left out: XLA may flush them to zero."""
    program = primitives_program()
    numbers = [np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 0.3, -2.5, 1e6]
    x = np.stack(np.meshgrid(numbers, numbers, numbers), axis=-1).reshape(-1, 3)
    found = jax.jit(jax_function.function_of(program, jax.numpy))(x)
    np.testing.assert_allclose(found, interpret.run(program, x)[0], rtol=1e-13, atol=1e-15)


@needs_jax
def test_jit_vmap_and_broadcast_batches_give_the_same(jax):
    robot = robot_of("two_link_planar")
    f = dal.to_jax(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 5, 2))
    wanted = dal.inverse_dynamics(robot, q, qd, qdd)
    for found in (f(q, qd, qdd), jax.jit(f)(q, qd, qdd), jax.vmap(f)(q, qd, qdd), jax.jit(jax.vmap(f))(q, qd, qdd)):
        assert relative_error(found, wanted) < TOLERANCE
    assert relative_error(f(q, qd[0], [0, 1]), dal.inverse_dynamics(robot, q, qd[0], [0, 1])) < TOLERANCE


@needs_jax
@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_derivatives_by_jax_are_those_of_the_graph(mode, jax):
    robot = robot_of("pr_arm")
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, robot.n))
    found = getattr(jax, mode)(dal.to_jax(robot), argnums=(0, 1, 2))(q, qd, qdd)
    for a, b in zip(found, dal.derivatives(robot, q, qd, qdd), strict=True):
        assert relative_error(a, b) < DERIVATIVE_TOLERANCE


@needs_jax
def test_the_gradient_of_the_energy_is_momentum_and_gravity(jax):
    robot = robot_of("two_link_planar")
    q, qd = np.random.default_rng(0).uniform(-2, 2, (2, 4, robot.n))
    energy = dal.to_jax(robot, "energy")
    momentum = jax.vmap(jax.grad(lambda q, qd: energy(q, qd)[0], argnums=1))(q, qd)
    gravity = jax.vmap(jax.grad(lambda q, qd: energy(q, qd)[1]))(q, qd)
    assert relative_error(momentum, np.einsum("kij,kj->ki", dal.mass_matrix(robot, q), qd)) < DERIVATIVE_TOLERANCE
    assert relative_error(gravity, dal.gravity_torque(robot, q)) < DERIVATIVE_TOLERANCE


def _root_for_positive(x: Any) -> Any:
    return ops.where(ops.less(0.0, x), ops.sqrt(x), 0.0)


def _nested(x: Any) -> Any:
    inner = ops.where(ops.less(x, 1.0), 1.0 / x, ops.sqrt(x))
    return ops.where(ops.less(0.0, x), inner, 0.5 * x)


def _shared(x: Any) -> Any:
    root = ops.sqrt(x)
    return ops.where(ops.less(0.0, x), root, 0.0) + ops.where(ops.less(1.0, x), root, 0.0)


def _angle(x: Any) -> Any:
    return ops.where(ops.equal(x, 0.0), x, ops.atan2(x * x, x))


@needs_jax
@pytest.mark.parametrize(
    ("function", "at", "slope"),
    [
        (_root_for_positive, 0.0, 0.0),
        (_root_for_positive, -1.0, 0.0),
        (_root_for_positive, 4.0, 0.25),
        (_nested, 0.0, 0.5),
        (_nested, 0.5, -4.0),
        (_nested, 4.0, 0.25),
        (_angle, 0.0, 1.0),
        (_shared, 4.0, 0.5),
    ],
)
def test_an_arm_that_is_not_taken_does_not_spoil_the_gradient(function, at, slope, jax):
    """0 times an infinite partial derivative would be NaN."""
    f = jax_function.function_of(trace(function, {"x": ()}, ["y"]), jax.numpy)
    assert float(jax.grad(f)(at)) == pytest.approx(slope)
    assert float(jax.jacfwd(f)(at)) == pytest.approx(slope)


def _guarded(function: Any) -> set[str]:
    return {node.op for node in jax_function._arms(trace(function, {"x": ()}, ["y"]))}


def test_only_what_an_arm_alone_needs_is_guarded():
    assert _guarded(_root_for_positive) == {"sqrt"}
    assert _guarded(_nested) == {"div", "sqrt"}
    assert _guarded(_shared) == set()  # it matters in two arms of different conditions
    assert _guarded(lambda x: ops.where(x, ops.sqrt(x), 1.0) + ops.sqrt(x)) == set()


@needs_jax
def test_a_wrong_shape_is_one_sentence(jax):
    with pytest.raises(ShapeError, match=r"q: shape \(3,\) found, \(..., 2\) expected"):
        dal.to_jax(robot_of("two_link_planar"), "mass_matrix")(np.zeros(3))


@needs_jax
def test_single_precision_is_told_once(jax, monkeypatch):
    monkeypatch.setattr(jax_function, "_told", set())
    jax.config.update("jax_enable_x64", False)
    with pytest.warns(DalembertWarning, match="computes in single precision") as told:
        f = dal.to_jax(robot_of("pendulum"), "gravity_torque")
    assert told[0].message.code == "single-precision"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dal.to_jax(robot_of("pendulum"), "gravity_torque")
    found = f([0.5])
    assert found.dtype == np.float32
    assert relative_error(found, dal.gravity_torque(robot_of("pendulum"), [0.5])) < 1e-6


def test_without_jax_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"to_jax needs jax, which is not installed. Try: pip install jax, or"):
        dal.to_jax(robot_of("pendulum"))


def test_an_unknown_quantity_or_option_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'inverse_dynamics'"):
        dal.to_jax(robot_of("pendulum"), "inverse_dynamic")
    with pytest.raises(UnknownNameError, match="option: 'angles' means nothing to jacobian, which takes link, frame."):
        dal.to_jax(robot_of("pendulum"), "jacobian", angles="rpy")
