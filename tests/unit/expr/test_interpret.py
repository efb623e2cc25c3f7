"""The interpreter: shapes, broadcasting, special numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from dalembert.errors import ShapeError
from dalembert.expr import ops, trace
from dalembert.expr.interpret import batch_shape, run


@pytest.fixture
def program():
    return trace(lambda a, v: (a * v[0] + v[1], [[v[0], 2.0]]), {"a": (), "v": (2,)}, ["s", "m"])


def test_a_single_point_gives_results_without_batch_axes(program):
    s, m = run(program, 3.0, [2.0, 1.0])
    assert s.shape == ()
    assert s == 7.0
    assert m.tolist() == [[2.0, 2.0]]


def test_leading_axes_broadcast(program):
    a, v = np.arange(4.0), np.arange(6.0).reshape(3, 1, 2)
    s, m = run(program, a, v)
    assert s.shape == (3, 4)
    assert m.shape == (3, 4, 1, 2)
    np.testing.assert_array_equal(s, a * v[..., 0] + v[..., 1])
    np.testing.assert_array_equal(m[..., 0, 0], np.broadcast_to(v[..., 0], (3, 4)))
    assert (m[..., 0, 1] == 2.0).all()


def test_a_batch_of_one_and_an_empty_batch_keep_their_axes(program):
    assert run(program, [1.0], [[1.0, 2.0]])[0].shape == (1,)
    assert run(program, np.empty((0,)), np.empty((5, 0, 2)))[1].shape == (5, 0, 1, 2)


def test_results_are_new_arrays(program):
    v = np.array([2.0, 1.0])
    m = run(program, 3.0, v)[1]
    m[:] = 0.0
    assert v.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("v", [[1.0, 2.0, 3.0], 1.0, [[1.0], [2.0]]])
def test_entries_of_the_wrong_shape_are_refused(program, v):
    with pytest.raises(ShapeError, match=r"v: shape \(.*\) found, \(\.\.\., 2\) expected"):
        run(program, 1.0, v)


def test_batches_that_do_not_broadcast_are_refused(program):
    with pytest.raises(ValueError, match="broadcast"):
        run(program, np.ones(3), np.ones((4, 2)))


def test_the_batch_of_a_scalar_is_its_whole_shape(program):
    assert batch_shape(program.inputs[0], (3, 4)) == (3, 4)
    assert batch_shape(program.inputs[1], (3, 2)) == (3,)


def test_lanes_outside_the_domain_are_nan_without_a_warning():
    program = trace(lambda x: [ops.sqrt(x), 1.0 / x], {"x": ()}, ["y"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y,) = run(program, [-1.0, 0.0, 4.0])
    assert math.isnan(y[0, 0])
    assert y[1].tolist() == [0.0, math.inf]
    assert y[2].tolist() == [2.0, 0.25]
