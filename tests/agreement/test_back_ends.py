"""Every formulation on every robot through every reading of it: floats, arrays, graphs and loops, interpreted and compiled.

A new entry of FORMULATIONS or of the catalogue is tested here without a line of test code.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms.sweep import Unrolled
from dalembert.codegen import build
from dalembert.dynamics import engine
from dalembert.expr import interpret, loops
from dalembert.model import Robot
from tests.robots import random_robot, relative_error

TOLERANCE = 1e-12  # relative: one algorithm, another order of rounding
FORMULATION_TOLERANCE = 1e-10  # relative: other algorithms, other cancellations
ROBOTS = [*sorted(dal.robots.CATALOGUE), "random 2", "random 5", "random 8", "random 11"]
BATCH = (6,)


@cache
def robot_of(name: str) -> Robot:
    if name in dal.robots.CATALOGUE:
        return dal.robots.CATALOGUE[name]()
    n = int(name.split()[1])
    return random_robot(np.random.default_rng(n), n)


@cache
def arrays_of(robot: Robot, quantity: str, options: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    return tuple(rng.uniform(-2, 2, (*BATCH, *slot.shape)) for slot in engine.program(robot, quantity, *options).inputs)


def function_of(robot: Robot, quantity: str, options: tuple[Any, ...]) -> tuple[Any, int]:
    """The function of scalars on the robot as described (no parameters regrouped), and the number of its outputs."""
    tree = engine.tree(robot)
    recipe = engine.QUANTITIES[quantity](tree, *options)
    return partial(recipe.function, Unrolled(tree)), len(recipe.outputs)


def on_floats(robot: Robot, quantity: str, options: tuple[Any, ...], *arrays: np.ndarray) -> list[np.ndarray]:
    """The function of scalars run on plain numbers, row by row."""
    function, count = function_of(robot, quantity, options)
    returned = [function(*([float(x) for x in a[k]] for a in arrays)) for k in range(BATCH[0])]
    rows = [[row] if count == 1 else list(row) for row in returned]
    return [np.array([row[i] for row in rows], dtype=float) for i in range(count)]


def on_arrays(robot: Robot, quantity: str, options: tuple[Any, ...], *arrays: np.ndarray) -> list[np.ndarray]:
    """The function of scalars run on whole batches, without a graph."""
    function, count = function_of(robot, quantity, options)
    returned = function(*(list(np.moveaxis(a, -1, 0)) for a in arrays))
    return [_assembled(r) for r in ([returned] if count == 1 else returned)]


def _assembled(nest: Any) -> np.ndarray:
    if not isinstance(nest, (list, tuple)):
        return np.broadcast_to(nest, BATCH)
    return np.stack([_assembled(entry) for entry in nest], axis=len(BATCH))


def interpreted(robot: Robot, quantity: str, options: tuple[Any, ...], *arrays: np.ndarray) -> list[np.ndarray]:
    return list(interpret.run(engine.program(robot, quantity, *options, rolled=False), *arrays))


def compiled(robot: Robot, quantity: str, options: tuple[Any, ...], *arrays: np.ndarray) -> list[np.ndarray]:
    found = engine.kernel(robot, quantity, *options)(*arrays)
    return list(found) if isinstance(found, tuple) else [found]


def rolled(robot: Robot, quantity: str, options: tuple[Any, ...], *arrays: np.ndarray) -> list[np.ndarray]:
    program = engine.program(robot, quantity, *options, rolled=True)
    run = loops.run if isinstance(program, loops.LoopProgram) else interpret.run
    return list(run(program, *arrays))


def rolled_and_compiled(robot: Robot, quantity: str, options: tuple[Any, ...], *arrays: np.ndarray) -> list[np.ndarray]:
    found = build(engine.program(robot, quantity, *options, rolled=True))(*arrays)
    return list(found) if isinstance(found, tuple) else [found]


BACK_ENDS = {
    "arrays": on_arrays,
    "interpreted": interpreted,
    "compiled": compiled,
    "rolled": rolled,
    "rolled and compiled": rolled_and_compiled,
}

QUANTITIES: dict[str, tuple[Any, ...]] = {
    "mass_matrix": (),
    "forward_dynamics": (engine.Forces(),),
    "energy": (),
    "forward_kinematics": (None,),
    "jacobian": (None, "world"),
}


def check(robot: Robot, quantity: str, options: tuple[Any, ...]) -> None:
    arrays = arrays_of(robot, quantity, options)
    floats = on_floats(robot, quantity, options, *arrays)
    for name, back_end in BACK_ENDS.items():
        if name == "rolled and compiled" and robot.name != "random":
            continue  # one arm rolls like another, and compiling takes the time
        for found, wanted in zip(back_end(robot, quantity, options, *arrays), floats, strict=True):
            assert relative_error(found, wanted) < TOLERANCE, name


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
def test_a_formulation_gives_the_same_on_every_back_end(formulation: str, robot: str) -> None:
    moving_base = dal.FORMULATIONS[formulation].moving_base
    forces = engine.Forces(("tool",), moving_base) if robot.startswith("random") else engine.Forces()
    check(robot_of(robot), "inverse_dynamics", (formulation, forces))


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_quantity_is_the_same_on_every_back_end(quantity: str, robot: str) -> None:
    check(robot_of(robot), quantity, QUANTITIES[quantity])


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
def test_formulations_agree(formulation: str, robot: str) -> None:
    arm = robot_of(robot)
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, *BATCH, arm.n))
    reference = dal.inverse_dynamics(arm, q, qd, qdd)
    assert relative_error(dal.inverse_dynamics(arm, q, qd, qdd, formulation=formulation), reference) < FORMULATION_TOLERANCE


@pytest.mark.parametrize("robot", ["random 5", "random 11"])
def test_bias_and_gravity_are_parts_of_the_torque(robot: str) -> None:
    arm = robot_of(robot)
    q, qd, _ = np.random.default_rng(3).uniform(-2, 2, (3, *BATCH, arm.n))
    check(arm, "bias", ("newton_euler", engine.Forces()))
    check(arm, "gravity_torque", ("newton_euler",))
    assert relative_error(dal.gravity_torque(arm, q), dal.bias(arm, q, np.zeros(arm.n))) < TOLERANCE
    assert dal.bias(arm, q, qd).shape == q.shape


@pytest.mark.parametrize("size", [1e4, 1e6, 1e12])
def test_far_turned_joints_agree_with_the_interpreter(size: float) -> None:
    """The angle itself has rounding of size · 1e-16, shared by both; the sines then agree to 1e-15."""
    arm = robot_of("puma560")
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 33, arm.n))
    options = ("newton_euler", engine.Forces())
    (wanted,) = interpreted(arm, "inverse_dynamics", options, q * size, qd, qdd)
    assert relative_error(dal.inverse_dynamics(arm, q * size, qd, qdd), wanted) < TOLERANCE


def test_large_graphs_in_parts_agree_with_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    from dalembert.codegen import straight_ir

    monkeypatch.setattr(straight_ir, "PART_SIZE", 150)
    arm = random_robot(np.random.default_rng(11), 7)
    check(arm, "forward_dynamics", (engine.Forces(("tool",), True),))
