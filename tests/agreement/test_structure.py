"""The structure of the equations of motion through every reading of it, and derivatives compiled against interpreted.

Derivatives come from a graph, so there is no running them on plain numbers; the property tests judge them by complex steps.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from dalembert.algorithms.regressor import Options
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.expr import interpret, trace
from tests.agreement.test_back_ends import ROBOTS, TOLERANCE, arrays_of, check, compiled, interpreted, robot_of
from tests.robots import relative_error

FORCES = engine.Forces()
OF_SCALARS: dict[str, tuple[Any, ...]] = {
    "friction_torque": (),
    "regressor": (Options(offset=True),),
    "link_wrenches": ("world", FORCES),
    "analytical_jacobian": (None, "quaternion"),
}
OF_GRAPHS: dict[str, tuple[Any, ...]] = {
    "coriolis_matrix": (),
    "christoffel": (),
    "jacobian_dot": (None, "body"),
    "energy_gradient": (),
    "inverse_derivatives": (),
    "forward_derivatives": (),
    "forward_parameter_derivatives": (),
    "second_derivatives": (),
}
PAIRS = [(quantity, robot) for quantity in OF_GRAPHS for robot in ("pendulum", "puma560", "random 2", "random 5")]
FACTORED = 1e-9  # relative: solved with a mass matrix whose condition number costs digits


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("quantity", OF_SCALARS)
def test_a_quantity_is_the_same_on_every_back_end(quantity: str, robot: str) -> None:
    check(robot_of(robot), quantity, OF_SCALARS[quantity])


@pytest.mark.parametrize("quantity, robot", PAIRS)
def test_a_derivative_is_the_same_compiled_and_interpreted(quantity: str, robot: str) -> None:
    arm, options = robot_of(robot), OF_GRAPHS[quantity]
    arrays = arrays_of(arm, quantity, options)
    tolerance = FACTORED if quantity.startswith("forward_") else TOLERANCE
    founds = compiled(arm, quantity, options, *arrays)
    for found, wanted in zip(founds, interpreted(arm, quantity, options, *arrays), strict=True):
        assert relative_error(found, wanted) < tolerance


@pytest.mark.parametrize("quantity", OF_GRAPHS)
def test_regrouped_parameters_change_no_derivative(quantity: str) -> None:
    """The programs are traced from base parameters; here is the robot as described."""
    arm, options = robot_of("random 5"), OF_GRAPHS[quantity]
    arrays = arrays_of(arm, quantity, options)
    recipe = engine.QUANTITIES[quantity](engine.tree(arm), *options)
    described = trace(partial(recipe.function, Unrolled(engine.tree(arm))), recipe.inputs, recipe.outputs)
    founds = interpreted(arm, quantity, options, *arrays)
    for found, wanted in zip(founds, interpret.run(described, *arrays), strict=True):
        assert relative_error(found, wanted) < 1e-10  # the same sums in another order, with their cancellations
