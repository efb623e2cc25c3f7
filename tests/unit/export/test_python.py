"""Python source: it needs NumPy alone and computes what the kernels compute."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.quantities import EXPORTED
from dalembert.export import python
from dalembert.expr import PRIMITIVES, interpret, trace
from tests.robots import relative_error
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


def loaded(source: str) -> dict[str, Any]:
    """The names a module defines, executed by itself."""
    names: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), names)
    return names


def as_tuple(value: Any) -> tuple[np.ndarray, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_every_primitive_has_a_reading_in_python():
    assert set(python.READINGS) == set(PRIMITIVES)


@pytest.mark.parametrize("name", ["random", "scara"])
def test_every_quantity_agrees_with_the_kernel(name):
    robot = robot_of(name)
    functions = loaded(dal.export_code(robot, list(EXPORTED), language="python", name="arm"))
    for quantity in EXPORTED:
        arrays = arrays_for(program_of(robot, quantity), (2, 3))
        found = as_tuple(functions[f"arm_{quantity}"](*arrays))
        for a, b in zip(found, by_kernel(robot, quantity, arrays), strict=True):
            assert relative_error(a, b) < TOLERANCE, quantity


def test_a_primitive_means_in_python_what_numpy_says():
    program, x = primitives_program(), special_values()
    with np.errstate(all="ignore"):
        found = loaded(python.source(module_of(program)))["some_primitives"](x)
    np.testing.assert_array_equal(found, interpret.run(program, x)[0])


def test_leading_axes_broadcast_and_a_wrong_shape_is_refused():
    robot = robot_of("puma560")
    function = loaded(dal.export_code(robot, language="python"))["puma560_inverse_dynamics"]
    q, qd = np.ones((4, 1, 6)), np.ones((3, 6))
    assert function(q, qd, [0.0] * 6).shape == (4, 3, 6)
    with pytest.raises(ValueError, match=r"q: shape \(4, 1, 5\) found, \(..., 6\) expected."):
        function(q[..., :5], qd, qd)


def test_constants_that_are_no_finite_numbers_are_written():
    program = trace(lambda x: [float("nan"), float("-inf"), x * 0.5, -0.0], {"x": ()}, ["y"])
    found = loaded(python.source(module_of(program)))["some_kernel"](3.0)
    np.testing.assert_array_equal(found, [np.nan, -np.inf, 1.5, -0.0])


def test_numpy_is_all_it_imports():
    tree = ast.parse(dal.export_code(robot_of("panda"), language="python"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [alias.name for node in imports for alias in node.names] == ["numpy"]


def test_single_precision_stays_single():
    function = loaded(dal.export_code(robot_of("panda"), language="python", dtype="float32"))["panda_inverse_dynamics"]
    assert function(*np.ones((3, 2, 7))).dtype == np.float32
