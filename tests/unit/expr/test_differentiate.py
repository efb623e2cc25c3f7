"""Derivatives: against high-precision differences, forward against reverse, and the documented values at kinks."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

from dalembert.errors import ExprError
from dalembert.expr import PRIMITIVES, Graph, Program, Slot, ops, trace
from dalembert.expr.differentiate import DERIVATIVES, gradient, jacobian, jvp, vjp
from dalembert.expr.interpret import run
from tests.unit.expr.derivative_programs import derivative_program
from tests.unit.expr.exact_primitives import EXACT
from tests.unit.expr.random_programs import KINKED, SMOOTH, points, programs, scale


def with_results(program, slots, results):
    return Program("test", program.graph, program.inputs, program.entries, tuple(slots), tuple(map(tuple, results)))


def slopes(function, *at):
    """∂function/∂at_j by forward and by reverse mode, at one point."""
    program = trace(lambda x: function(*x), {"x": (len(at),)}, ["y"])
    return [run(derivative_program(program, "y", ["x"], mode=mode), list(at))[0] for mode in ("forward", "reverse")]


def test_every_primitive_has_a_rule():
    assert set(DERIVATIVES) == set(PRIMITIVES) == set(EXACT)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_each_rule_agrees_with_a_central_difference_of_forty_digits(name):
    """Step 1e-13 at 40 digits: truncation and rounding are both below 1e-24, so 1e-13 tests the rule, not the difference."""
    rng = np.random.default_rng(7)
    arity = PRIMITIVES[name].arity
    program = trace(lambda x: x[0].graph.apply(name, *x), {"x": (arity,)}, ["y"])
    derivative = derivative_program(program, "y", ["x"])
    for x in rng.uniform(0.2, 3.0, size=(20, arity)) * (1.0 if name == "sqrt" else rng.choice([-1.0, 1.0], size=(20, arity))):
        with mpmath.workdps(40):
            step = mpmath.mpf(10) ** -13
            at = [mpmath.mpf(v) for v in x]
            expected = []
            for k in range(arity):
                ahead, behind = ([v + s * (j == k) for j, v in enumerate(at)] for s in (step, -step))
                expected.append(float((EXACT[name](*ahead) - EXACT[name](*behind)) / (2 * step)))
        np.testing.assert_allclose(run(derivative, x)[0], expected, rtol=1e-13, atol=1e-20)


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (ops.absolute, [0.0], [0.0]),
        (ops.sign, [0.0], [0.0]),
        (ops.minimum, [1.0, 1.0], [0.5, 0.5]),
        (ops.maximum, [1.0, 1.0], [0.5, 0.5]),
        (ops.less, [1.0, 1.0], [0.0, 0.0]),
        (ops.less_equal, [1.0, 1.0], [0.0, 0.0]),
        (ops.equal, [1.0, 1.0], [0.0, 0.0]),
        (ops.where, [0.0, 5.0, 6.0], [0.0, 0.0, 1.0]),
        (ops.where, [-2.0, 5.0, 6.0], [0.0, 1.0, 0.0]),
        (ops.sqrt, [0.0], [math.inf]),
        (ops.sqrt, [-1.0], [math.nan]),
        (lambda a, b: a / b, [1.0, 0.0], [math.inf, -math.inf]),
        (ops.atan2, [0.0, 0.0], [math.nan, math.nan]),
        (ops.atan2, [0.0, -2.0], [-0.5, 0.0]),
        (lambda a: ops.maximum(a, 0.0), [0.0], [0.5]),
        (lambda a: ops.minimum(2.0, a), [1.0], [1.0]),
    ],
)
def test_at_kinks_jumps_and_poles_both_modes_return_the_documented_value(function, at, expected):
    for slope in slopes(function, *at):
        np.testing.assert_array_equal(slope, expected)


def test_the_arm_not_taken_does_not_poison_a_forward_derivative():
    """sqrt(x) has an infinite slope at 0, but the selection takes the other arm there."""
    program = trace(lambda x: ops.where(ops.less(0.0, x), ops.sqrt(x), 2.0 * x), {"x": ()}, ["y"])
    (slope,) = run(derivative_program(program, "y", ["x"], mode="forward"), [-1.0, 0.0, 4.0])
    assert slope.tolist() == [2.0, 2.0, 0.25]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(programs(SMOOTH | KINKED), points)
def test_forward_and_reverse_agree(program, x):
    """To rounding: 1e-12 of the largest number met, some thousand times the unit in the last place."""
    forward, reverse = (derivative_program(program, "y", ["x"], mode=mode) for mode in ("forward", "reverse"))
    allowed = 1e-12 * max(scale(forward, x), scale(reverse, x))
    np.testing.assert_allclose(run(forward, x)[0], run(reverse, x)[0], rtol=0.0, atol=allowed)


@settings(max_examples=60, deadline=None)
@given(programs(SMOOTH, steps=8), points)
def test_random_compositions_agree_with_central_differences(program, x):
    """Step 6e-6 balances truncation (step² times a third derivative) and rounding; the second derivatives bound both loosely."""
    derivative = derivative_program(program, "y", ["x"])
    step = 6e-6
    shifted = [[v + s * (j == k) for j, v in enumerate(x)] for k in range(3) for s in (step, -step)]
    ys = run(program, shifted)[0].reshape(3, 2, -1)
    allowed = 1e-9 * max(scale(second_derivative(program), x), scale(derivative, x))
    np.testing.assert_allclose(run(derivative, x)[0].T, (ys[:, 0] - ys[:, 1]) / (2 * step), rtol=0.0, atol=allowed)


def second_derivative(program):
    return derivative_program(derivative_program(program, "y", ["x"]), "dy_dx", ["x"])


@settings(max_examples=60, deadline=None)
@given(programs(SMOOTH, steps=8), points)
def test_second_derivatives_are_symmetric(program, x):
    hessians = second_derivative(program)
    assert hessians.outputs == (Slot("ddy_dx_dx", (*program.outputs[0].shape, 3, 3)),)
    (values,) = run(hessians, x)
    np.testing.assert_allclose(values, values.swapaxes(-1, -2), rtol=0.0, atol=1e-12 * scale(hessians, x))


def test_forward_over_reverse_gives_the_hessian_of_a_known_function():
    """f = x² sin y: f_xx = 2 sin y, f_xy = 2 x cos y, f_yy = -x² sin y."""
    program = trace(lambda v: v[0] * v[0] * ops.sin(v[1]), {"v": (2,)}, ["f"])
    wrt = program.entries[0]
    hessian = jacobian(gradient(program.results[0][0], wrt), wrt)
    x, y = 0.7, -1.3
    (values,) = run(with_results(program, [Slot("H", (2, 2))], [[e for row in hessian for e in row]]), [x, y])
    cross = 2 * x * math.cos(y)
    np.testing.assert_allclose(values, [[2 * math.sin(y), cross], [cross, -x * x * math.sin(y)]], rtol=1e-15)


def test_entries_that_vanish_by_structure_are_the_number_zero():
    graph = Graph()
    x, y, z = (graph.input(name) for name in "xyz")
    outputs = [ops.sin(x), ops.sign(y) * 3.0, 4.0, x * z - z * x + y]
    expected = [[None, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for rows in (jacobian(outputs, [x, y, z]), [gradient(o, [x, y, z]) for o in outputs]):
        assert rows[0][0] is ops.cos(x)
        for row, wanted in zip(rows, expected, strict=True):
            for entry, number in zip(row, wanted, strict=True):
                if number is not None:
                    assert type(entry) is float
                    assert math.copysign(1.0, entry) == 1.0
                    assert entry == number


def test_a_zero_tangent_makes_no_nodes():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    output = ops.sin(ops.cos(ops.sqrt(y))) + x
    count = len(graph.nodes)
    assert jacobian([output], [x]) == [[1.0]]
    assert gradient(output, [x]) == [1.0]
    assert len(graph.nodes) == count


def test_an_intermediate_node_counts_as_a_variable_of_its_own():
    graph = Graph()
    x = graph.input("x")
    s = ops.sin(x)
    for row in (jacobian([x * s], [x, s])[0], gradient(x * s, [x, s])):
        assert row[0] is s
        assert row[1] is x


def test_a_variable_listed_twice_gets_both_columns():
    x = Graph().input("x")
    assert jacobian([3.0 * x], [x, x]) == [[3.0, 3.0]]
    assert gradient(3.0 * x, [x, x]) == [3.0, 3.0]


def test_an_output_that_is_a_variable_has_derivative_one():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert jacobian([x, y], [x, y]) == [[1.0, 0.0], [0.0, 1.0]]
    assert vjp([x, x, y], [1.0, 2.0, 5.0], [x, y]) == [3.0, 5.0]


@settings(max_examples=60, deadline=None)
@given(programs(SMOOTH), points)
def test_products_with_the_jacobian_agree_with_the_jacobian(program, x):
    wrt, outputs = program.entries[0], program.results[0]
    direction, weights = [0.3, -1.1, 0.7], [1.2, 0.4, -0.9][: len(outputs)]
    slots = [Slot("J", (len(outputs), 3)), Slot("Jt", (len(outputs),)), Slot("aJ", (3,))]
    entries = [e for row in jacobian(outputs, wrt) for e in row]
    whole = with_results(program, slots, [entries, jvp(outputs, wrt, direction), vjp(outputs, weights, wrt)])
    J, forward, reverse = run(whole, x)
    allowed = 1e-12 * scale(whole, x)
    np.testing.assert_allclose(forward, J @ direction, rtol=0.0, atol=allowed)
    np.testing.assert_allclose(reverse, weights @ J, rtol=0.0, atol=allowed)


def test_tangents_and_adjoints_may_be_scalars_of_the_graph():
    graph = Graph()
    x, t = graph.input("x"), graph.input("t")
    assert jvp([x * x], [x], [t])[0] is x * t + x * t
    assert vjp([ops.sin(x)], [t], [x])[0] is ops.cos(x) * t


def test_one_output_of_many_inputs_takes_fewer_operations_in_reverse():
    """That costs less: a product of ten inputs has ten dense tangents."""

    def product(x):
        return math.prod(x, start=1.0)

    sizes = {
        mode: len(derivative_program(trace(product, {"x": (10,)}, ["y"]), "y", ["x"], mode=mode).nodes)
        for mode in ("reverse", "forward")
    }
    assert sizes["reverse"] < sizes["forward"]


def test_a_number_or_a_foreign_scalar_is_refused_as_a_variable():
    x = Graph().input("x")
    with pytest.raises(ExprError, match=r"wrt: 2\.0 is a number"):
        jacobian([x], [2.0])
    with pytest.raises(ExprError, match="wrt: a scalar of another graph"):
        gradient(x, [Graph().input("x")])
