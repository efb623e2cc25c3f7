"""Folding, sharing and refusals of the expression graph."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dalembert.errors import ExprError
from dalembert.expr import Expr, Graph, ops
from dalembert.expr.graph import reachable


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def x(graph):
    return graph.input("x")


@pytest.fixture
def y(graph):
    return graph.input("y")


def test_adding_zero_gives_the_scalar_itself(x):
    assert x + 0.0 is x
    assert 0.0 + x is x
    assert x - 0.0 is x
    assert x + 0 is x
    assert x + -0.0 is x


def test_multiplying_by_one_gives_the_scalar_itself(x):
    assert 1.0 * x is x
    assert x * 1 is x
    assert x / 1.0 is x
    assert +x is x


def test_multiplying_by_zero_gives_the_number_zero(x):
    for zero in (0.0 * x, x * 0, 0.0 / x):
        assert type(zero) is float
        assert zero == 0.0


def test_multiplying_by_minus_one_is_a_sign(x):
    assert -1.0 * x is -x
    assert (-x).op == "neg"
    assert x.graph.neg(-x) is x


def test_subtracting_a_scalar_from_itself_gives_zero(x, y):
    assert x - x == 0.0
    assert (x * y) - (y * x) == 0.0


def test_zero_minus_a_scalar_is_its_negative(x):
    assert 0.0 - x is -x


def test_signs_are_taken_up_by_sums(x, y):
    assert x + (-y) is x - y
    assert (-x) + y is y - x
    assert x - (-y) is x + y
    assert (-x) - y is -(x + y)
    assert (-x) + (-y) is -(x + y)
    assert 2.0 + (-x) is 2.0 - x
    assert 2.0 - (-x) is 2.0 + x


def test_signs_move_out_of_products_and_quotients(x, y):
    assert (-x) * y is -(x * y)
    assert (-x) * (-y) is x * y
    assert (-2.0) * x is -(2.0 * x)
    assert (-x) / y is -(x / y)
    assert x / (-y) is -(x / y)
    assert -3.0 / x is -(3.0 / x)


def test_signs_move_through_odd_and_even_functions(x):
    assert ops.sin(-x) is -ops.sin(x)
    assert ops.cos(-x) is ops.cos(x)
    assert ops.absolute(-x) is abs(x)
    assert ops.sign(-x) is -ops.sign(x)


def test_the_mirrored_difference_is_the_negative_of_the_first(x, y):
    assert (x - y).op == "sub"
    assert y - x is -(x - y)


def test_constant_factors_merge(x):
    merged = 2.0 * (x * 3.0)
    assert merged is 6.0 * x
    assert merged.args[0].value == 6.0
    assert (4.0 * x) / 2.0 is 2.0 * x
    assert 0.5 * (2.0 * x) is x


def test_constant_summands_merge(x):
    assert 2.0 + (3.0 + x) is x + 5.0
    assert (x + 2.0) - 2.0 is x
    assert 1.0 - (x + 3.0) is -2.0 - x
    assert 1.0 - (3.0 - x) is x - 2.0
    assert 1.0 + (3.0 - x) is 4.0 - x


def test_constant_factors_whose_product_leaves_the_range_stay_apart(x):
    small = 1e-200 * (1e-200 * x)
    assert isinstance(small, Expr)
    assert [a.op for a in small.args] == ["const", "mul"]


def test_division_by_a_number_becomes_a_product(x):
    assert x / 4.0 is 0.25 * x


@pytest.mark.parametrize("divisor", [0.0, -0.0, 5e-324, math.inf])
def test_division_by_a_number_without_inverse_stays_a_division(x, divisor):
    assert (x / divisor).op == "div"


def test_numbers_fold_as_numpy_folds_them(graph):
    assert graph.add(2.0, 3.0) == 5.0
    assert graph.sub(2.0, 3) == -1.0
    assert graph.mul(2.0, 3.0) == 6.0
    assert graph.div(2.0, 3.0) == 2.0 / 3.0
    assert graph.div(1.0, 0.0) == math.inf
    assert graph.neg(2) == -2.0
    assert graph.apply("atan2", 1.0, -1.0) == math.atan2(1.0, -1.0)
    assert math.isnan(graph.apply("sqrt", -1.0))
    assert graph.apply("lt", 1.0, 2.0) == 1.0
    assert graph.apply("where", 0.0, 1.0, 2.0) == 2.0
    assert graph.nodes == []


def test_selection_folds_a_known_condition_and_equal_arms(x, y):
    assert ops.where(1.0, x, y) is x
    assert ops.where(0.0, x, y) is y
    assert ops.where(x, y, y) is y
    assert ops.where(x, 2.0, 2.0) == 2.0


def test_equal_structure_is_the_same_node(x, y):
    first = ops.sin(x * y + 2.0) / ops.sqrt(y)
    count = len(x.graph.nodes)
    assert ops.sin(2.0 + y * x) / ops.sqrt(y) is first
    assert len(x.graph.nodes) == count


def test_commutative_operations_ignore_the_order(x, y):
    assert x + y is y + x
    assert x * y is y * x
    assert ops.minimum(x, y) is ops.minimum(y, x)
    assert ops.maximum(x, 2.0) is ops.maximum(2.0, x)
    assert ops.equal(x, y) is ops.equal(y, x)
    assert ops.atan2(x, y) is not ops.atan2(y, x)


def test_an_input_asked_for_twice_is_one_node(graph, x):
    assert graph.input("x") is x


def test_nodes_stand_after_their_arguments(x, y):
    value = ops.sin(x) * y + ops.where(x < y, x / y, -y)
    assert all(a.index < node.index for node in value.graph.nodes for a in node.args)
    assert [node.index for node in value.graph.nodes] == list(range(len(value.graph.nodes)))


def test_signed_zeros_are_different_constants(graph):
    plus, minus = graph.const(0.0), graph.const(-0.0)
    assert plus is not minus
    assert math.copysign(1.0, minus.value) == -1.0
    assert graph.const(0) is plus


def test_every_nan_is_the_same_constant(graph, x):
    first = graph.const(math.nan)
    assert math.isnan(first.value)
    assert graph.const(float("nan")) is first
    assert graph.const(-np.float64("nan")) is first
    assert x * float("nan") is x * float("nan")


def test_comparisons_become_nodes(x, y):
    assert (x < y).op == "lt"
    assert (x > y) is (y < x)
    assert (x >= y) is (y <= x)
    assert (x < 1.0).args[1].value == 1.0


def test_powers_are_products(x):
    assert x**0 == 1.0
    assert x**1 is x
    assert x**2 is x * x
    assert x**3 is x * x * x


@pytest.mark.parametrize("exponent", [-1, 0.5, 2.0])
def test_other_powers_are_refused(x, exponent):
    with pytest.raises(ExprError, match=r"power: exponent .* found; .* non-negative integer"):
        x**exponent


def test_a_truth_value_is_refused(x):
    with pytest.raises(ExprError, match=r"bool: .*ops\.where"):
        if x < 1.0:
            pass


@pytest.mark.parametrize("convert", [float, int, math.sin, range])
def test_a_number_is_refused(x, convert):
    with pytest.raises(ExprError, match="float: a traced scalar has no number yet"):
        convert(x)


def test_a_scalar_of_another_graph_is_refused(x, y):
    other = Graph().input("z")
    for combine in (lambda: x + other, lambda: x - other, lambda: other * y, lambda: x / other, lambda: ops.minimum(x, other)):
        with pytest.raises(ExprError, match="graph: a scalar of another graph"):
            combine()


def test_a_scalar_of_another_graph_is_refused_even_where_the_numbering_agrees(x):
    x + x  # a node whose arguments have the same numbers as those of x + other
    other = Graph().input("z")
    assert other.index == x.index
    with pytest.raises(ExprError, match="another graph"):
        x + other


def test_an_array_beside_a_traced_scalar_is_refused(x):
    for combine in (lambda: x + np.ones(2), lambda: np.ones(2) * x, lambda: x - np.ones(2), lambda: ops.atan2(np.ones(2), x)):
        with pytest.raises(ExprError, match="ndarray found beside a traced scalar"):
            combine()


def test_a_traced_scalar_meets_each_of_an_array_of_traced_scalars(x, y):
    pair = np.array([x, y], dtype=object)
    assert (x * pair).tolist() == [x * x, x * y]
    assert (pair - x).tolist() == [0.0, y - x]
    assert (y / pair).tolist() == [y / x, 1.0] or (y / pair)[0] is y / x
    assert (1.0 + pair * y)[0] is 1.0 + x * y


def test_a_vector_class_may_multiply_its_own_components(x, y):
    class Pair(tuple):
        def __rmul__(self, factor):
            return Pair(factor * component for component in self)

    assert x * Pair((y, 2.0)) == (x * y, 2.0 * x)


def test_numpy_numbers_are_numbers(x):
    assert np.float64(2.0) * x is 2.0 * x
    assert x + np.float32(0.5) is x + 0.5
    assert type((x * np.float64(2.0)).args[0].value) is float


def test_reachable_lists_what_outputs_need_arguments_first(x, y):
    ops.cos(y)
    value = ops.sin(x) * y
    assert reachable([value, 1.0]) == [x, y, value.args[1], value]


def test_a_node_prints_its_operation_and_arguments(x, y):
    assert repr(x) == "%0 = input(x)"
    assert repr(x * y) == "%2 = mul(%0, %1)"
