"""Counts, listings and LaTeX."""

from __future__ import annotations

import math

import pytest

from dalembert.expr import PRIMITIVES, Graph, ops, trace
from dalembert.expr.listing import Counts, counts, dump, latex


def pendulum(q, m):
    s, c = ops.sin(q[0]), ops.cos(q[0])
    return [9.81 * m * s - q[1], 0.0, -(c / m)], ops.where(s < 0.5, ops.sqrt(c), 1e-5 * m)


def program():
    return trace(pendulum, {"q": (2,), "m": ()}, ["tau", "e"], "pendulum")


GOLDEN = """\
pendulum(q[2], m) -> tau[3], e
  t0 = sin(q[0])
  t1 = cos(q[0])
  t2 = 9.81 * m
  t3 = t0 * t2
  t4 = t3 - q[1]
  t5 = t1 / m
  t6 = -t5
  t7 = t0 < 0.5
  t8 = sqrt(t1)
  t9 = 1e-05 * m
  t10 = where(t7, t8, t9)
  tau[0] = t4
  tau[1] = 0
  tau[2] = t6
  e = t10
"""


def test_a_listing_reads_line_by_line():
    assert dump(program()) == GOLDEN


def test_a_matrix_is_listed_with_both_indices():
    listing = dump(trace(lambda a: [[a[0][1], a[1][0]]], {"a": (2, 2)}, ["m"]))
    assert listing == "kernel(a[2,2]) -> m[1,2]\n  m[0,0] = a[0,1]\n  m[0,1] = a[1,0]\n"


def test_every_primitive_can_be_listed_and_set():
    for name, primitive in PRIMITIVES.items():
        traced = trace(lambda x, name=name: x[0].graph.apply(name, *x), {"x": (primitive.arity,)}, ["y"])
        assert "  t0 = " in dump(traced)
        assert "x_{0}" in latex(traced.results[0][0])


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


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x, y, z: x + y - z, "x + y - z"),
        (lambda x, y, z: x - (y - z), "x - \\left(y - z\\right)"),
        (lambda x, y, z: x - (y + z), "x - \\left(y + z\\right)"),
        (lambda x, y, z: x + (y - z), "x + y - z"),
        (lambda x, y, z: x * (y + z), "x \\left(y + z\\right)"),
        (lambda x, y, z: x * y + z, "z + x y"),
        (lambda x, y, z: -(x * y), "-x y"),
        (lambda x, y, z: -(x + y), "-\\left(x + y\\right)"),
        (lambda x, y, z: 2.5 * x, "2.5 x"),
        (lambda x, y, z: x * (2.0 * y), "x \\cdot 2 y"),
        (lambda x, y, z: 2.0 * (x / y), "2 \\cdot \\frac{x}{y}"),
        (lambda x, y, z: x - 2.0, "-2 + x"),
        (lambda x, y, z: y + (x - 2.0), "y + \\left(-2 + x\\right)"),
        (lambda x, y, z: (x + y) / (x * z), "\\frac{x + y}{x z}"),
        (lambda x, y, z: x * x, "x^{2}"),
        (lambda x, y, z: (x + y) ** 2, "\\left(x + y\\right)^{2}"),
        (lambda x, y, z: (x * x) ** 2, "\\left(x^{2}\\right)^{2}"),
        (lambda x, y, z: ops.sin(x) ** 2, "\\left(\\sin\\left(x\\right)\\right)^{2}"),
        (lambda x, y, z: ops.sin(x + y) * ops.cos(x), "\\sin\\left(x + y\\right) \\cos\\left(x\\right)"),
        (lambda x, y, z: ops.sqrt(x + y), "\\sqrt{x + y}"),
        (lambda x, y, z: abs(x) * y, "y \\left|x\\right|"),
        (lambda x, y, z: ops.atan2(x, y), "\\operatorname{atan2}\\left(x, y\\right)"),
        (lambda x, y, z: x * (y < z), "x \\left[y < z\\right]"),
        (lambda x, y, z: 1.5e-7 * x, "1.5 \\cdot 10^{-7} x"),
        (lambda x, y, z: ops.maximum(x, math.inf), "\\max\\left(x, \\infty\\right)"),
        (lambda x, y, z: ops.where(x, y, -z), "\\begin{cases} y & x \\ne 0 \\\\ -z & \\text{otherwise} \\end{cases}"),
        (lambda x, y, z: -0.5, "-0.5"),
    ],
)
def test_latex_has_the_parentheses_it_needs(build, expected):
    graph = Graph()
    assert latex(build(*(graph.input(name) for name in "xyz"))) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("q[0]", "q_{0}"), ("m[1,2]", "m_{1,2}"), ("tau", "\\tau"), ("qd[3]", "\\mathrm{qd}_{3}"), ("c_x", "\\mathrm{c\\_x}")],
)
def test_latex_names_have_indices_below(name, expected):
    assert latex(Graph().input(name)) == expected
