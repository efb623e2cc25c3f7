"""The primitives mean the same on floats, on arrays and in a graph."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dalembert.expr import PRIMITIVES, ops, trace
from dalembert.expr.interpret import run

FUNCTIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": ops.divide,
    "neg": lambda a: -a,
    "sqrt": ops.sqrt,
    "sin": ops.sin,
    "cos": ops.cos,
    "atan2": ops.atan2,
    "abs": ops.absolute,
    "sign": ops.sign,
    "min": ops.minimum,
    "max": ops.maximum,
    "lt": ops.less,
    "le": ops.less_equal,
    "eq": ops.equal,
    "where": ops.where,
}
SPECIAL = [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan]


def in_a_graph(name, *columns):
    arity = PRIMITIVES[name].arity
    program = trace(lambda *a: FUNCTIONS[name](*a), {f"a{k}": () for k in range(arity)}, ["y"])
    return run(program, *columns)[0]


def test_every_primitive_has_a_function():
    assert set(FUNCTIONS) == set(PRIMITIVES)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_floats_arrays_and_graphs_agree(name):
    arity = PRIMITIVES[name].arity
    columns = np.random.default_rng(1).normal(size=(arity, 50))
    columns[0, :3] = columns[-1, :3]  # ties for the comparisons
    with np.errstate(invalid="ignore"):
        arrays = FUNCTIONS[name](*columns)
    floats = [FUNCTIONS[name](*map(float, row)) for row in columns.T]
    # sine and cosine of one number and of a vector may differ in the last bit
    np.testing.assert_allclose(floats, arrays, rtol=4e-16, atol=0.0)
    np.testing.assert_array_equal(in_a_graph(name, *columns), arrays)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_floats_and_graphs_agree_on_zeros_infinities_and_nan(name):
    grids = np.meshgrid(*[SPECIAL] * PRIMITIVES[name].arity)
    columns = [g.ravel() for g in grids]
    floats = [FUNCTIONS[name](*map(float, row)) for row in zip(*columns, strict=True)]
    np.testing.assert_array_equal(in_a_graph(name, *columns), floats)


def test_nan_passes_through_sign_minimum_and_maximum():
    assert math.isnan(ops.sign(math.nan))
    assert math.isnan(ops.minimum(math.nan, 1.0))
    assert math.isnan(ops.maximum(1.0, math.nan))
    assert math.isnan(ops.sin(math.inf))
    assert math.isnan(ops.cos(-math.inf))


def test_a_selection_of_numbers_is_a_number():
    assert isinstance(ops.where(1.0, 2.0, 3.0), float)
    assert ops.where(np.array([1.0, 0.0]), 2.0, 3.0).tolist() == [2.0, 3.0]


def test_the_functions_carry_their_meaning_as_documentation():
    assert ops.sin.__name__ == "sin"
    assert ops.atan2.__doc__.startswith("Angle of the point")


def test_only_a_number_is_zero():
    assert all(ops.is_zero(x) for x in (0.0, -0.0, 0, np.float64(0.0)))
    assert not any(ops.is_zero(x) for x in (1e-300, math.nan, np.zeros(2)))
    trace(lambda a: [a if not ops.is_zero(a) else 1.0], {"a": ()}, ["b"])  # a node is none, and is not asked for its truth
