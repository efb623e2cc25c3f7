"""Counting what a function executes, without sharing."""

from __future__ import annotations

import numpy as np

from dalembert.expr import ops, trace
from dalembert.expr.counting import executed
from dalembert.expr.operation_counts import counts
from dalembert.formulations import FORMULATIONS
from dalembert.spatial import Vec3
from dalembert.spatial.vec3 import mat3


def test_an_operation_done_twice_counts_twice():
    def function(x):
        return x * x + x * x

    assert executed(function, {"x": ()})[:2] == (2, 1)
    assert counts(trace(function, {"x": ()}, ["y"]))[:2] == (1, 1)


def test_a_result_kept_in_a_variable_counts_once():
    def function(x):
        square = x * x
        return square + square

    assert executed(function, {"x": ()})[:2] == (1, 1)


def test_a_result_nobody_uses_counts():
    def function(x):
        x * x
        return x + 2.0

    assert executed(function, {"x": ()})[:2] == (1, 1)


def test_zeros_ones_and_signs_cost_nothing():
    found = executed(lambda x: [x * 0.0, x * 1.0, 0.0 + x, x - 0.0, -x], {"x": ()})
    assert found._replace(neg=0) == (0,) * 7


def test_products_of_vectors_cost_what_they_are_known_to():
    vectors = {"a": (3,), "b": (3,)}
    assert executed(lambda a, b: Vec3(*a).cross(Vec3(*b)), vectors)[:2] == (6, 3)
    assert executed(lambda a, b: Vec3(*a).dot(Vec3(*b)), vectors)[:2] == (3, 2)
    assert executed(lambda R, b: mat3(R) @ Vec3(*b), {"R": (3, 3), "b": (3,)})[:2] == (9, 6)
    assert executed(lambda A, B: mat3(A).times(mat3(B)), {"A": (3, 3), "B": (3, 3)})[:2] == (27, 18)


def test_sine_and_cosine_of_one_angle_are_a_pair_and_of_two_equal_ones_are_two():
    assert executed(lambda x: [ops.sin(x), ops.cos(x)], {"x": ()}).sincos == 1
    assert executed(lambda x: [ops.sin(x + 1.0), ops.cos(x + 1.0)], {"x": ()}).sincos == 2


def test_roots_divisions_and_selections_have_their_own_columns():
    found = executed(lambda x: ops.where(x < 1.0, ops.sqrt(x), 2.0 / x), {"x": ()})
    assert (found.sqrt, found.div, found.other) == (1, 1, 2)


def test_the_traced_program_is_never_larger_than_what_is_executed():
    from dalembert.analysis.costs import as_written
    from dalembert.analysis.generic import generic_chain
    from dalembert.dynamics import engine

    arm = generic_chain(3)
    for name, method in FORMULATIONS.items():
        shared = counts(engine.program(arm, "inverse_dynamics", name, rolled=False))
        assert np.less_equal(shared[:2], as_written(method, engine.tree(arm))[:2]).all(), name
