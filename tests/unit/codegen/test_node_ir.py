"""Every primitive means in machine code what it means in NumPy, special values included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dalembert.codegen import build, straight_ir, target
from dalembert.expr import PRIMITIVES, interpret, trace

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 5e-324, -5e-324, 1e-310, 2e-308, -2.5e-308, 1e-160]
SPECIAL += [1e308, -1e308, 99999.5, 1e6, 1e300]
LIBRARY_FUNCTIONS = {"sin", "cos", "atan2"}  # equal to a unit or two in the last place; everything else to the last bit
Answers = dict[str, tuple[np.ndarray, np.ndarray]]


def as_meant(x: np.ndarray) -> np.ndarray:
    """In kernels for processors of the x86 family a number below the smallest normal one is zero."""
    return np.where(np.abs(x) < np.finfo(float).tiny, np.copysign(0.0, x), x) if target.host().x86 else x


@pytest.fixture(scope="module")
def answers() -> Answers:
    """For each primitive: machine code and NumPy on every combination of special values, from one program."""
    x = np.array(list(itertools.product(SPECIAL, repeat=3)))

    def function(arguments: list[object]) -> list[object]:
        return [arguments[0].graph.apply(name, *arguments[: p.arity]) for name, p in PRIMITIVES.items()]

    program = trace(function, {"x": (3,)}, ["y"])
    with np.errstate(all="ignore"):
        found, meant = as_meant(build(program)(x)), as_meant(interpret.run(program, as_meant(x))[0])
    return {name: (found[:, k], meant[:, k]) for k, name in enumerate(PRIMITIVES)}


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_primitive_means_what_numpy_says(name: str, answers: Answers) -> None:
    found, meant = answers[name]
    if name in LIBRARY_FUNCTIONS:
        np.testing.assert_allclose(found, meant, rtol=4e-16, atol=5e-324)
    else:
        np.testing.assert_array_equal(found, meant)


def test_a_comparison_used_as_a_number_is_zero_or_one() -> None:
    program = trace(lambda x: [(x[0] < x[1]) * 2.0 + (x[0] <= x[1]), (x[0] < x[1])], {"x": (2,)}, ["y"])
    found = build(program)(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]))
    np.testing.assert_array_equal(found, [[3.0, 1.0], [1.0, 0.0], [0.0, 0.0]])


def test_constants_and_bare_inputs_can_be_outputs() -> None:
    program = trace(lambda x: ([1.5, x[1], x[1], -0.0], 7.0), {"x": (2,)}, ["y", "z"])
    y, z = build(program)(np.array([[1.0, 2.0]] * 5))
    np.testing.assert_array_equal(y, [[1.5, 2.0, 2.0, 0.0]] * 5)
    np.testing.assert_array_equal(z, [7.0] * 5)


def test_one_node_can_be_several_outputs() -> None:
    program = trace(lambda x: [x[0] * x[1]] * 3, {"x": (2,)}, ["y"])
    np.testing.assert_array_equal(build(program)([3.0, 4.0]), [12.0] * 3)


def test_sine_of_a_comparison_and_of_another_sine() -> None:
    from dalembert.expr import ops

    program = trace(lambda x: [ops.sin(x[0] < x[1]), ops.cos(ops.sin(x[0] * x[1]) * 2e5)], {"x": (2,)}, ["y"])
    x = np.array([[0.2, 0.4], [0.4, 0.2], [30.0, 40.0]])
    np.testing.assert_allclose(build(program)(x), interpret.run(program, x)[0], rtol=1e-10)  # 2e5 · 1 ulp of the inner sine


@pytest.mark.parametrize(("angle", "wanted"), [(lambda x: x.graph.apply("sin", x), True), (lambda x: x * x, False)])
def test_what_brings_large_angles_near_is_in_modules_that_have_angles_only(angle: object, wanted: bool) -> None:
    """LLVM compiles it though nothing calls it."""
    text = straight_ir.emit(trace(lambda x: [angle(x[0])], {"x": (1,)}, ["y"]), 4)
    assert ("define internal void @bring_near" in text) == wanted
