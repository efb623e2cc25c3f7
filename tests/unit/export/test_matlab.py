"""MATLAB source, run by an interpreter of the subset it keeps to: it computes what the kernels compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.engine import QUANTITIES
from dalembert.export import matlab
from dalembert.expr import PRIMITIVES, interpret, trace
from tests.robots import relative_error
from tests.unit.export import matlab_subset
from tests.unit.export.matlab_subset import MatlabError
from tests.unit.export.programs import (
    TOLERANCE,
    arrays_for,
    by_kernel,
    module_of,
    primitives_program,
    program_of,
    robot_of,
    special_values,
)

SMALL = [quantity for quantity in QUANTITIES if quantity != "second_derivatives"]  # thousands of lines, one by one


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_every_primitive_has_a_reading_in_matlab():
    assert set(matlab.READINGS) == set(PRIMITIVES)


@pytest.mark.parametrize("name", ["random", "scara"])
def test_every_quantity_agrees_with_the_kernel(name):
    robot = robot_of(name)
    functions = matlab_subset.load(dal.export_code(robot, SMALL, language="matlab", name="arm"))()
    for quantity in SMALL:
        arrays = arrays_for(program_of(robot, quantity), ())
        found = as_tuple(functions[quantity](*arrays))
        for a, b in zip(found, by_kernel(robot, quantity, arrays), strict=True):
            assert relative_error(np.reshape(a, np.shape(b)), b) < TOLERANCE, quantity


def test_a_file_of_one_quantity_is_its_function():
    robot = robot_of("puma560")
    text = dal.export_code(robot, language="matlab")
    assert "Save as puma560_inverse_dynamics.m." in text
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 6))
    found = matlab_subset.load(text)(q, qd, qdd)
    assert found.shape == (6, 1)
    assert relative_error(found[:, 0], dal.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


def test_a_wrong_number_of_entries_is_refused_by_the_code():
    function = matlab_subset.load(dal.export_code(robot_of("puma560"), language="matlab"))
    with pytest.raises(ValueError, match=r"qd: 5 entries found, 6 expected\."):
        function(np.zeros(6), np.zeros(5), np.zeros(6))


def test_a_primitive_means_in_matlab_what_numpy_says():
    """NaN goes through min, max and sign, and the root of a negative number is NaN instead of complex."""
    program, x = primitives_program(), special_values()[::7]
    function = matlab_subset.load(matlab.source(module_of(program)))
    with np.errstate(all="ignore"):
        found = np.array([function(row)[:, 0] for row in x])
    np.testing.assert_array_equal(found, interpret.run(program, x)[0])


def test_helpers_are_there_only_where_they_are_needed():
    assert "function r = root" not in dal.export_code(robot_of("pendulum"), language="matlab")
    assert "function r = root" in dal.export_code(robot_of("panda"), "analytical_jacobian", language="matlab")


def test_constants_that_are_no_finite_numbers_are_written():
    program = trace(lambda x: [float("nan"), float("-inf"), x * 0.5, -0.0], {"x": ()}, ["y"])
    found = matlab_subset.load(matlab.source(module_of(program)))(3.0)
    np.testing.assert_array_equal(found[:, 0], [np.nan, -np.inf, 1.5, -0.0])


def test_single_precision_stays_single():
    function = matlab_subset.load(dal.export_code(robot_of("scara"), language="matlab", dtype="float32"))
    assert function(*np.ones((3, 4))).dtype == np.float32


def test_several_outputs_are_listed():
    text = dal.export_code(robot_of("scara"), "energy", language="matlab")
    assert "function [kinetic, potential] = scara_energy(q, qd)" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1;", "outside of a function"),
        ("function y = f(x)\ny = x\nend", "prints its value"),
        ("function y = f(x)\ny = x[1];\nend", "cannot read"),
        ("function y = f(x)\ny = zeros(2, 1);\ny(3) = x;\nend", "index"),
        ("function y = f(x)\ny = gamma(x);\nend", "neither a variable nor a function"),
        ("function y = f(x)\ny = (x < 1) + 1;\nend", "a number expected"),
        ("function y = f(x)\ny = sqrt(0 - x);\nend", "complex"),
        ("function y = f(x)\nfor = x;\nend", "statement"),
        ("function y = f(x)\ny = x;", "no end of f"),
    ],
)
def test_the_interpreter_refuses_what_is_no_matlab_or_not_of_the_subset(text, message):
    with pytest.raises(MatlabError, match=message):
        matlab_subset.load(text)(2.0)
