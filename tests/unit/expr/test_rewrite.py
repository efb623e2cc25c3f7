"""Passes: the same numbers, never a dearer program, and what each one is for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from dalembert.errors import UnknownNameError
from dalembert.expr import ops, trace
from dalembert.expr.interpret import run
from dalembert.expr.operation_counts import counts
from dalembert.expr.rewrite import PASSES, apply_passes, weight
from tests.unit.expr.derivative_programs import derivative_program
from tests.unit.expr.random_programs import KINKED, PLANAR, POLYNOMIAL, SMOOTH, points, programs, scale


def traced(function, n=4):
    return trace(function, {"x": (n,)}, ["y"])


def arithmetic(program):
    return counts(program)[:2]


def compare(program, rewritten, x):
    """Regrouped sums and products move by rounding: 1e-12 of the largest number met."""
    allowed = 1e-12 * max(scale(program, x), scale(rewritten, x))
    np.testing.assert_allclose(run(rewritten, x)[0], run(program, x)[0], rtol=0.0, atol=allowed)
    assert weight(rewritten) <= weight(program)


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("recipes", [POLYNOMIAL, PLANAR, SMOOTH | KINKED], ids=["polynomial", "planar", "all"])
def test_a_pass_keeps_the_numbers_and_never_adds_work(name, recipes):
    @settings(max_examples=60, deadline=None)
    @given(programs(recipes, steps=16), points)
    def holds(program, x):
        compare(program, PASSES[name](program), x)

    holds()


@settings(max_examples=60, deadline=None)
@given(programs(PLANAR, steps=10), points)
def test_all_passes_together_keep_first_and_second_derivatives(program, x):
    first = derivative_program(program, "y", ["x"])
    compare(first, apply_passes(first), x)
    second = derivative_program(first, "dy_dx", ["x"])
    compare(second, apply_passes(second), x)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_keeps_the_signature_and_unused_inputs(name):
    program = traced(lambda x: [2.0 * x[0] + 2.0 * x[1], 3.0, x[3]])
    result = PASSES[name](program)
    assert (result.name, result.inputs, result.outputs) == (program.name, program.inputs, program.outputs)
    assert [e.value for e in result.entries[0]] == ["x[0]", "x[1]", "x[2]", "x[3]"]
    assert run(result, [1.0, 2.0, 3.0, 4.0])[0].tolist() == [6.0, 3.0, 4.0]


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_leaves_the_program_it_was_given_alone(name):
    program = traced(lambda x: 2.0 * x[0] + 2.0 * x[1])
    nodes, results = list(program.graph.nodes), program.results
    PASSES[name](program)
    assert program.graph.nodes == nodes
    assert program.results == results


def test_dead_code_leaves_inputs_and_what_outputs_need():
    def function(x):
        ops.cos(x[2])
        return ops.sin(x[1]) * 2.0

    result = PASSES["dead_code"](traced(function))
    assert [node.op for node in result.graph.nodes] == ["input"] * 4 + ["sin", "const", "mul"]


def test_a_pass_that_gains_nothing_returns_the_program_itself():
    program = traced(lambda x: x[0] * x[1] + x[2])
    for name in ("pythagoras", "factor_constants", "factor_common"):
        assert PASSES[name](program) is program


def test_a_constant_common_to_the_terms_is_taken_out():
    result = PASSES["factor_constants"](traced(lambda x: 2.0 * x[0] - 2.0 * x[1] + 2.0 * x[2] + x[3]))
    assert arithmetic(result) == (1, 3)


def test_constants_of_the_factors_of_a_product_merge():
    result = PASSES["factor_constants"](traced(lambda x: (2.0 * x[0]) * (3.0 * x[1]) * (5.0 * x[2])))
    assert arithmetic(result) == (3, 0)


def test_a_factor_common_to_the_terms_is_taken_out():
    result = PASSES["factor_common"](traced(lambda x: x[0] * x[1] + x[0] * x[2] - x[3] * x[0]))
    assert arithmetic(result) == (1, 2)


def test_factors_nest():
    """a b c + a b d + a c = a (b (c + d) + c)."""

    def function(x):
        a, b, c, d = x
        return (a * b) * c + (b * a * d) + a * c

    result = PASSES["factor_common"](traced(function))
    assert arithmetic(result)[0] <= 3
    assert run(result, [2.0, 3.0, 5.0, 7.0])[0] == 82.0


def test_a_product_used_elsewhere_is_not_taken_apart():
    def function(x):
        p = x[0] * x[1]
        return [p + x[0] * x[2], p]

    program = traced(function)
    assert PASSES["factor_common"](program) is program


def test_like_terms_add_up():
    result = PASSES["factor_constants"](traced(lambda x: 2.0 * (x[0] * x[1]) + x[2] + 3.0 * (x[1] * x[0])))
    assert arithmetic(result) == (2, 1)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda s, c, a: s * s + c * c, (0, 0)),
        (lambda s, c, a: a * s * s + a * c * c, (0, 0)),
        (lambda s, c, a: 3.0 - 2.0 * s * s - 2.0 * c * c, (0, 0)),
        (lambda s, c, a: 5.0 * s * s + 2.0 * c * c, (2, 1)),
        (lambda s, c, a: (0.3 * s) * (0.3 * s) + (0.3 * c) * (0.3 * c) + a, (0, 1)),
    ],
)
def test_squares_of_sine_and_cosine_add_up_to_one(function, expected):
    program = traced(lambda x: function(ops.sin(x[0]), ops.cos(x[0]), x[1]))
    result = PASSES["pythagoras"](program)
    assert arithmetic(result) == expected
    x = [0.4, 1.7, 0.0, 0.0]
    assert run(result, x)[0] == pytest.approx(float(run(program, x)[0]), rel=1e-15)


def test_one_minus_a_square_becomes_the_other_square_where_both_are_at_hand():
    both = PASSES["pythagoras"](traced(lambda x: [x[1] - x[1] * ops.cos(x[0]) * ops.cos(x[0]), ops.sin(x[0])]))
    assert arithmetic(both) == (2, 0)
    assert counts(both).sincos == 1
    alone = traced(lambda x: 1.0 - ops.cos(x[0]) * ops.cos(x[0]))
    assert PASSES["pythagoras"](alone) is alone


def test_squares_of_different_angles_stay():
    program = traced(lambda x: ops.sin(x[0]) * ops.sin(x[0]) + ops.cos(x[1]) * ops.cos(x[1]))
    assert PASSES["pythagoras"](program) is program


def test_infinite_and_nan_constants_survive():
    program = traced(lambda x: [math.inf * x[0] + math.inf * x[1], math.nan * x[0] + math.nan * x[1]])
    for name in PASSES:
        y = run(PASSES[name](program), [1.0, 2.0, 0.0, 0.0])[0]
        assert y[0] == math.inf
        assert math.isnan(y[1])


def test_a_sum_of_thousands_of_terms_does_not_exhaust_the_stack():
    program = traced(lambda x: sum((x[k % 4] * (1.0 + k) for k in range(3000)), start=0.0))
    assert arithmetic(apply_passes(program)) == (4, 3)


def test_the_mass_matrix_of_a_planar_arm_loses_a_third_of_its_operations():
    """Kinetic energy from tip velocities: the diagonal of M has squares only, the last entry is the constant m l²."""

    def kinetic(q, qd):
        a, b = 0.9 * qd[0], 0.4 * (qd[0] + qd[1])
        vx = a * ops.sin(q[0]) + b * ops.sin(q[0] + q[1])
        vy = a * ops.cos(q[0]) + b * ops.cos(q[0] + q[1])
        return 1.5 * (vx * vx + vy * vy)

    energy = trace(kinetic, {"q": (2,), "qd": (2,)}, ["T"])
    momentum = derivative_program(energy, "T", ["qd"])
    mass = derivative_program(momentum, "dT_dqd", ["qd"])
    result = apply_passes(mass)
    assert counts(result).flops <= 2 / 3 * counts(mass).flops
    assert result.results[0][3] == pytest.approx(3.0 * 0.4**2, rel=1e-15)


def test_an_unknown_pass_is_refused():
    with pytest.raises(UnknownNameError, match=r"pass: 'dead' is not known.* Known: dead_code, pythagoras"):
        apply_passes(traced(lambda x: x[0]), ["dead"])
