"""Operations counted as in the literature."""

from __future__ import annotations

from dalembert.expr import ops, trace
from dalembert.expr.operation_counts import Counts, counts


def pendulum(q, m):
    s, c = ops.sin(q[0]), ops.cos(q[0])
    return [9.81 * m * s - q[1], 0.0, -(c / m)], ops.where(s < 0.5, ops.sqrt(c), 1e-5 * m)


def program():
    return trace(pendulum, {"q": (2,), "m": ()}, ["tau", "e"], "pendulum")


def test_operations_are_counted_as_in_the_literature():
    assert counts(program()) == Counts(mul=3, add=1, div=1, neg=1, sqrt=1, sincos=1, other=2)
    assert counts(program()).flops == 6


def test_sine_and_cosine_of_one_angle_are_one_pair():
    traced = trace(lambda q: ops.sin(q[0]) * ops.cos(q[0]) + ops.sin(q[1]), {"q": (2,)}, ["y"])
    assert counts(traced).sincos == 2


def test_what_the_outputs_do_not_need_is_not_counted():
    def function(x):
        ops.sin(x)
        return x

    assert counts(trace(function, {"x": ()}, ["y"])) == Counts(0, 0, 0, 0, 0, 0, 0)
