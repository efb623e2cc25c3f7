"""Dynamic models in new coordinates: against the same system compiled in them, in batches, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.errors import ShapeError
from tests.robots import FRICTIONLESS, PLAIN, random_robot, relative_error
from tests.unit.transfer.maps import bent, end_of, in_new_coordinates

TOLERANCE = 1e-10  # a product of some ten matrices whose condition is below a hundred
WRENCH = {"tool": [1.0, -2.0, 0.5, 0.1, 0.2, 0.3]}
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, each asked once: compiling would take the time


@pytest.mark.parametrize("seed", range(6))
def test_both_ways_give_the_system_compiled_in_new_coordinates(seed: int) -> None:
    """q(u) is known and put into the robot's equations (Transferred), or used by its coefficients at a configuration only."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, int(rng.integers(2, 5)), FRICTIONLESS)
    system, u, ud, udd = in_new_coordinates(robot), *rng.uniform(-0.5, 0.5, (3, 4, robot.n))
    over_u = transfer.CoordinateMap(bent, robot.n)
    q, back = over_u(u), over_u.influence(u)
    chain = transfer.open_chain(robot, q, wrenches=WRENCH)
    for model in (transfer.reduced(chain, back), transfer.transferred(chain, transfer.inverse(back))):
        assert relative_error(model.I, dal.mass_matrix(system, u)) < TOLERANCE
        assert relative_error(transfer.symmetric(model.P), dal.christoffel(system, u)) < TOLERANCE
        assert relative_error(model.T, dal.applied_torque(system, u, wrenches=WRENCH, gravity=True)) < TOLERANCE
        tau = dal.inverse_dynamics(system, u, ud, udd) - dal.applied_torque(system, u, wrenches=WRENCH)
        assert relative_error(model.torque(ud, udd), tau) < TOLERANCE


@pytest.mark.parametrize("seed", range(4))
def test_power_and_energy_do_not_depend_on_the_coordinates(seed: int) -> None:
    """The twist of a tool as new coordinates, which is the rate of no position: Tᵀ u̇ = τᵀ q̇ and u̇ᵀ I u̇ = q̇ᵀ M q̇."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 6, PLAIN)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, 6))
    tool = dal.influence(robot, q, end_of(robot))
    chain = transfer.open_chain(robot, q)
    task, model = transfer.rates(tool, qd, qdd), transfer.transferred(chain, tool)
    worst = 1e-14 * np.linalg.cond(tool.G).max() ** 2
    power = np.sum(model.torque(task.velocity, task.acceleration) * task.velocity, axis=-1)
    assert relative_error(power, np.sum(chain.torque(qd, qdd) * qd, axis=-1)) < max(worst, TOLERANCE)
    energy = np.einsum("...i,...ij,...j->...", task.velocity, model.I, task.velocity) / 2
    assert relative_error(energy, dal.energy(robot, q, qd).kinetic) < max(worst, TOLERANCE)


def test_there_and_back_is_the_model_itself(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 4, FRICTIONLESS)
    u = rng.uniform(-0.5, 0.5, (3, 4))
    over_u = transfer.CoordinateMap(bent, 4)
    chain = transfer.open_chain(robot, over_u(u))
    back = over_u.influence(u)
    again = transfer.transferred(transfer.reduced(chain, back), back)
    for name in ("I", "P", "T"):
        assert relative_error(getattr(again, name), getattr(chain, name)) < TOLERANCE


def test_a_closed_loop_is_a_block_of_the_whole_model(rng: np.random.Generator) -> None:
    """Closures beside inputs: `reduced` gives what the model in both has for the inputs [Freeman, Eq. 4-27 to 4-31]."""
    robot = random_robot(rng, 4, PLAIN)
    q = rng.uniform(-1, 1, (3, 4))
    end = dal.influence(robot, q, end_of(robot), point=[0.3, 0.2, 0.1], kind="point")
    new = transfer.stack(transfer.linear(np.eye(4)[:2]), transfer.rows(end, [0, 1]))
    chain, whole = transfer.open_chain(robot, q), transfer.inverse(new)
    found, full = transfer.reduced(chain, (whole.G[..., :2], whole.H[..., :2, :2])), transfer.transferred(chain, new)
    assert relative_error(found.I, full.I[..., :2, :2]) < TOLERANCE
    assert relative_error(found.P, full.P[..., :2, :2, :2]) < TOLERANCE
    assert relative_error(found.T, full.T[..., :2]) < TOLERANCE


def test_the_model_of_a_system_that_is_no_robot(rng: np.random.Generator) -> None:
    """Its power array is made of Christoffel symbols; so is that of a robot with more joints than the formulation serves."""
    robot = random_robot(rng, 3, FRICTIONLESS)
    u, ud, udd = rng.uniform(-0.5, 0.5, (3, 3))
    model = transfer.open_chain(in_new_coordinates(robot), u)
    assert relative_error(model.torque(ud, udd), dal.inverse_dynamics(in_new_coordinates(robot), u, ud, udd)) < TOLERANCE
    assert np.array_equal(model.P, transfer.symmetric(model.P))


@pytest.mark.slow
def test_the_model_of_a_long_chain(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 18, FRICTIONLESS)
    q, qd, qdd = rng.uniform(-1, 1, (3, 18))
    assert relative_error(transfer.open_chain(robot, q).torque(qd, qdd), dal.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


def test_springs_and_dampers_are_loads(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 3, FRICTIONLESS)
    q, qd = rng.uniform(-1, 1, (2, 3))
    given = {"springs": [dal.Spring(20.0, joint=robot.joint_names[0])], "dampers": [dal.Damper(3.0, joint=robot.joint_names[1])]}
    extra = transfer.open_chain(robot, q, qd, **given).T - transfer.open_chain(robot, q).T
    assert extra == pytest.approx(dal.applied_torque(robot, q, qd, **given), abs=1e-12)


def test_a_free_body_is_newton_and_euler(rng: np.random.Generator) -> None:
    """f = m (v̇ − g) and m = I ω̇ + ω × I ω, for a batch of orientations."""
    half = rng.normal(size=(5, 3, 3))
    II, twist, rate = half @ half.swapaxes(-1, -2), rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
    wrench = transfer.platform([1.0, 2.0, 3.0, 4.0, 5.0], II, gravity=[0.0, 0.0, -9.81]).torque(twist, rate)
    force = np.arange(1.0, 6.0)[:, None] * (rate[:, :3] + [0.0, 0.0, 9.81])
    momentum = (II @ twist[:, 3:, None])[..., 0]
    moment = (II @ rate[:, 3:, None])[..., 0] + np.cross(twist[:, 3:], momentum)
    assert relative_error(wrench, np.hstack([force, moment])) < 1e-13


def test_models_of_parts_add_up(rng: np.random.Generator) -> None:
    first, second = (transfer.DynamicModel(*(rng.normal(size=(2, *[3] * k)) for k in (2, 3, 1))) for _ in range(2))
    qd, qdd = rng.normal(size=(2, 2, 3))
    assert (first + second).torque(qd, qdd) == pytest.approx(first.torque(qd, qdd) + second.torque(qd, qdd), rel=1e-12)
    assert repr(first) == "DynamicModel(I: (2, 3, 3), P: (2, 3, 3, 3), T: (2, 3))"


def test_what_does_not_fit_is_refused_by_a_sentence() -> None:
    zero = {n: transfer.DynamicModel(np.eye(n), np.zeros((n, n, n)), np.zeros(n)) for n in (2, 3)}
    with pytest.raises(ShapeError, match=r"P: shape \(2, 2\) found, \(\.\.\., 2, 2, 2\) expected\."):
        transfer.DynamicModel(np.eye(2), np.eye(2), np.zeros(2))
    with pytest.raises(ShapeError, match=r"\+: models of 2 and 3 coordinates found; the same are expected\."):
        zero[2] + zero[3]
    with pytest.raises(TypeError, match="unsupported operand"):
        zero[2] + 1
    with pytest.raises(
        ShapeError, match=r"transferred: a model with an I of 2x2 found, but the coefficients are of 3 old coordinates\."
    ):
        transfer.transferred(zero[2], transfer.linear(np.eye(3)))
    with pytest.raises(
        ShapeError, match=r"reduced: a model with an I of 3x3 found, but the coefficients are of 2 old coordinates\."
    ):
        transfer.reduced(zero[3], transfer.linear(np.eye(2)))
    with pytest.raises(ShapeError, match=r"influence: no H found beside G\."):
        transfer.transferred(zero[2], np.eye(2))
    for function in (transfer.transferred, transfer.reduced, transfer.redundant):
        with pytest.raises(dal.DalembertError, match=r"model: .* found; a DynamicModel is expected\. Try transfer\.open_chain"):
            function(dal.robots.pelican(), transfer.linear(np.eye(2)))
    with pytest.raises(ShapeError, match=r"qd: shape \(3,\) found, \(\.\.\., 2\) expected\."):
        zero[2].torque(np.zeros(3), np.zeros(2))
    with pytest.raises(ShapeError, match=r"batch axes: \(4,\) of model and \(3,\) of influence found"):
        many = transfer.DynamicModel(np.zeros((4, 2, 2)), np.zeros((2, 2, 2)), np.zeros(2))
        transfer.transferred(many, transfer.linear(np.tile(np.eye(2), (3, 1, 1))))
    with pytest.raises(ShapeError, match=r"inertia: shape \(3,\) found, \(\.\.\., 3, 3\) expected\."):
        transfer.platform(1.0, [1.0, 2.0, 3.0])
