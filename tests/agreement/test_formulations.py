"""All formulations say the same of the same robot, in torque, mass matrix, Coriolis matrix and gravity.

A new entry of FORMULATIONS is tested here without a line of test code. The five hundred robots run on NumPy batches, without a
graph; compiled kernels are compared with that in test_back_ends.py.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms.composite_bodies import mass_matrix
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.dynamics.surroundings import WEIGHTLESS
from dalembert.expr import interpret
from dalembert.formulations import FORMULATIONS
from dalembert.formulations.base import christoffel_of, mass_matrix_of
from dalembert.model import Body, Friction, Robot, Rotor
from dalembert.model.dh import from_dh
from tests.robots import body, random_friction, random_robot, relative_error

TOLERANCE = 1e-9  # relative, of the issue that asks for it; most differ by 1e-13
SKEW = 1e-10
OTHERS = [name for name in FORMULATIONS if name != "newton_euler"]
BATCH = 3


def dh_robot(rng: np.random.Generator) -> Robot:
    """One to seven joints in either DH convention, turning or sliding, with rotors, friction and a payload at a tool."""
    rows = [_row(rng) for _ in range(rng.integers(1, 8))]
    tool = np.eye(4)
    tool[:3, 3] = rng.uniform(-0.3, 0.3, 3)
    payload = body(rng, "payload") if rng.random() < 0.5 else None
    convention = str(rng.choice(["standard", "modified"]))
    return from_dh(rows, convention=convention, gravity=rng.uniform(-10, 10, 3), tool=tool, payload=payload)


def _row(rng: np.random.Generator) -> dict[str, object]:
    own: Body = body(rng)
    row: dict[str, object] = {
        "type": str(rng.choice(["revolute", "revolute", "prismatic"])),
        "theta": rng.uniform(-3, 3),
        "d": rng.uniform(-0.5, 0.5),
        "a": rng.uniform(-0.5, 0.5),
        "alpha": float(rng.choice([0.0, np.pi / 2, -np.pi / 2, rng.uniform(-3, 3)])),
        "mass": own.mass,
        "com": own.com,
        "inertia": own.inertia,
        "friction": random_friction(rng) if rng.random() < 0.7 else Friction(),
    }
    if rng.random() < 0.6:
        row["rotor"] = _rotor(rng)
    return row


def _rotor(rng: np.random.Generator) -> Rotor:
    inertia, ratio = rng.uniform(1e-4, 1e-2), rng.uniform(-80, 80)
    if rng.random() < 0.3:
        return Rotor(inertia, ratio)
    return Rotor(
        inertia,
        ratio,
        "full",
        mass=rng.uniform(0.1, 2.0),
        transverse_inertia=inertia * rng.uniform(0.5, 2.0),
        position=rng.uniform(-0.2, 0.2, 3),
        axis=rng.normal(size=3),
    )


def results(robot: Robot, formulation: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrench: np.ndarray):
    """tau with a wrench at the tool, M, C and g of a formulation, on batches of plain numbers."""
    tree = engine.tree(robot)
    inputs = {"q": q, "qd": qd, "qdd": qdd, "wrenches['tool']": wrench}
    asked = {
        "inverse_dynamics": (formulation, engine.Forces(("tool",))),
        "mass_matrix": (engine.Forces(), formulation),
        "gravity_torque": (formulation,),
    }
    if formulation != "newton_euler":
        asked["coriolis_matrix"] = (formulation,)
    found = {}
    for quantity, options in asked.items():
        recipe = engine.QUANTITIES[quantity](tree, *options)
        arrays = [list(np.moveaxis(inputs[name], -1, 0)) for name in recipe.inputs]
        found[quantity] = assembled(recipe.function(Unrolled(tree), *arrays))
    return found


def assembled(nest):
    if not isinstance(nest, (list, tuple)):
        return np.broadcast_to(nest, (BATCH,))
    return np.stack([assembled(entry) for entry in nest], axis=1)


def mass_rate(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Ṁ by a complex step, which rounding does not disturb: M as the algorithm gives it on complex numbers."""
    step = 1e-30
    tree = engine.tree(robot)
    columns = [q[:, i] + 1j * step * qd[:, i] for i in range(robot.n)]
    M = mass_matrix(Unrolled(tree), columns)
    return np.stack([np.stack([np.broadcast_to(x, (BATCH,)) for x in row], axis=1) for row in M], axis=1).imag / step


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_all_formulations_agree_on_five_hundred_robots(block: int) -> None:
    """And Ṁ − 2C is skew for each of them."""
    rng = np.random.default_rng(1000 + block)
    for k in range(25):
        robot = dh_robot(rng) if k % 5 else random_robot(rng, int(rng.integers(1, 8)))
        q, qd, qdd = rng.uniform(-2, 2, (3, BATCH, robot.n))
        wrench = rng.uniform(-10, 10, (BATCH, 6))
        wanted = results(robot, "newton_euler", q, qd, qdd, wrench)
        wanted["coriolis_matrix"], *_ = interpret.run(engine.program(robot, "coriolis_matrix"), q, qd)
        Mdot = mass_rate(robot, q, qd)
        for name in OTHERS:
            found = results(robot, name, q, qd, qdd, wrench)
            for quantity, expected in wanted.items():
                assert relative_error(found[quantity], expected) < TOLERANCE, (name, quantity, robot)
            N = Mdot - 2 * found["coriolis_matrix"]
            size = max(1.0, np.abs(Mdot).max(), np.abs(found["coriolis_matrix"]).max())
            assert np.abs(N + np.swapaxes(N, 1, 2)).max() < SKEW * size, (name, robot)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_formulation_does_not_offer_follows_from_its_inverse_dynamics(seed: int) -> None:
    robot = random_robot(np.random.default_rng(seed), 4)
    bare = dataclasses.replace(FORMULATIONS["newton_euler"], mass_matrix=None)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.n)
    sweep = Unrolled(engine.tree(robot))
    M = mass_matrix_of(bare, sweep, list(map(float, q)), WEIGHTLESS)
    c = christoffel_of(bare, sweep, list(map(float, q)), WEIGHTLESS)
    assert relative_error(np.array(M, dtype=float), dal.mass_matrix(robot, q)) < 1e-12
    assert relative_error(np.array(c, dtype=float), dal.christoffel(robot, q)) < 1e-11  # differences of torques


@pytest.mark.parametrize("formulation", OTHERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_compiled_quantities_of_every_formulation_agree(formulation: str, seed: int) -> None:
    robot = random_robot(np.random.default_rng(seed), 3)
    q, qd, tau = np.random.default_rng(seed).uniform(-2, 2, (3, BATCH, robot.n))
    cases = [
        (dal.mass_matrix, (q,)),
        (dal.gravity_torque, (q,)),
        (dal.bias, (q, qd)),
        (dal.coriolis_matrix, (q, qd)),
        (dal.christoffel, (q,)),
        (dal.forward_dynamics, (q, qd, tau)),
        (dal.inverse_dynamics, (q, qd, tau)),
    ]
    for function, arrays in cases:
        found = function(robot, *arrays, formulation=formulation)
        assert relative_error(found, function(robot, *arrays)) < TOLERANCE, function.__name__


@pytest.mark.parametrize("formulation", [name for name in OTHERS if not FORMULATIONS[name].moving_base])
def test_a_moving_base_is_refused_by_a_sentence_that_names_who_serves_it(formulation: str) -> None:
    arm = dal.robots.two_link_planar()
    with pytest.raises(
        dal.DalembertError, match=f"{formulation!r} cannot serve this: it has no moving base. Try .*'newton_euler'"
    ):
        dal.inverse_dynamics(arm, *np.zeros((3, 2)), base_acceleration=np.zeros(6), formulation=formulation)


@pytest.mark.parametrize("formulation", [name for name in OTHERS if not FORMULATIONS[name].parameters])
def test_free_parameters_are_refused_by_a_sentence_that_names_who_serves_them(formulation: str) -> None:
    arm = dal.robots.two_link_planar()
    with pytest.raises(dal.DalembertError, match="no dynamic parameters as inputs. Try 'newton_euler'"):
        dal.inverse_dynamics(arm, *np.zeros((3, 2)), parameters=dal.parameters(arm), formulation=formulation)


@pytest.mark.parametrize("formulation", [name for name in OTHERS if FORMULATIONS[name].largest is not None])
def test_too_many_joints_are_refused_by_a_sentence_that_names_who_serves_them(formulation: str) -> None:
    largest = FORMULATIONS[formulation].largest
    assert largest is not None
    arm = dal.robots.chain(largest + 1)
    with pytest.raises(dal.DalembertError, match=f"{largest + 1} moving joints.*Try 'newton_euler'"):
        dal.inverse_dynamics(arm, *np.zeros((3, largest + 1)), formulation=formulation)


def test_an_unknown_formulation_is_refused_with_the_near_name() -> None:
    with pytest.raises(dal.DalembertError, match="'newton-euler' is not known; did you mean 'newton_euler'"):
        dal.mass_matrix(dal.robots.pendulum(), [0.0], formulation="newton-euler")
