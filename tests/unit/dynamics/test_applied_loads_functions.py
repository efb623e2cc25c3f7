"""Generalised forces of wrenches, springs, dampers and gravity: by energy and power, and against inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.robots import FRICTIONLESS, fresh, random_robot, relative_error

TOLERANCE = 1e-12
STEP = 1e-6  # of central differences of energies of some joules: truncation and rounding are both below 1e-8
DIFFERENCE = 1e-7
pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def arm() -> dal.Robot:
    """A tree with sliding joints and couplings."""
    return random_robot(np.random.default_rng(4), 5, FRICTIONLESS)


def world(arm: dal.Robot, q: np.ndarray, link: str, point: np.ndarray) -> np.ndarray:
    if link == "world":
        return np.asarray(point)
    return (dal.forward_kinematics(arm, q, link) @ [*point, 1.0])[:3]


def ends(arm: dal.Robot) -> tuple[tuple[str, tuple[float, float, float]], tuple[str, tuple[float, float, float]]]:
    return (arm.parameters.links[-1].name, (0.1, -0.2, 0.3)), (arm.parameters.links[2].name, (0.5, 0.1, -0.2))


def gradient(function, q: np.ndarray) -> np.ndarray:
    return np.array([(function(q + d) - function(q - d)) / (2 * STEP) for d in STEP * np.eye(len(q))])


@pytest.mark.parametrize("rest", [0.0, 0.7])
@pytest.mark.parametrize("fixed", [False, True])
def test_a_spring_between_points_is_the_gradient_of_its_energy(
    arm: dal.Robot, rest: float, fixed: bool, rng: np.random.Generator
) -> None:
    a, b = ends(arm)
    b = ("world", (0.4, 0.3, 0.9)) if fixed else b
    spring = dal.Spring(30.0, between=(a, b), rest=rest)
    q = rng.normal(size=arm.n)

    def energy(q: np.ndarray) -> float:
        length = np.linalg.norm(world(arm, q, *a) - world(arm, q, *b))
        return 0.5 * 30.0 * (length - rest) ** 2

    assert relative_error(dal.applied_torque(arm, q, springs=[spring]), -gradient(energy, q)) < DIFFERENCE


def test_a_damper_between_points_takes_the_power_of_its_rate(arm: dal.Robot, rng: np.random.Generator) -> None:
    """τ·q̇ = −c (dl/dt)², and the force is along the line: none for a motion that keeps the length."""
    a, b = ends(arm)
    damper = dal.Damper(12.0, between=(a, b))
    q, qd = rng.normal(size=(2, arm.n))

    def length(q: np.ndarray) -> float:
        return float(np.linalg.norm(world(arm, q, *a) - world(arm, q, *b)))

    slope = gradient(length, q)
    rate = slope @ qd
    tau = dal.applied_torque(arm, q, qd, dampers=[damper])
    assert relative_error(tau, -12.0 * rate * slope) < DIFFERENCE
    still = qd - slope * rate / (slope @ slope)
    assert np.abs(dal.applied_torque(arm, q, still, dampers=[damper])).max() < 1e-6


def test_springs_and_dampers_of_joints_act_there_alone() -> None:
    arm = fresh("two_link_planar")
    name = arm.joint_names[1]
    tau = dal.applied_torque(
        arm, [0.3, 0.5], [1.0, -2.0], springs=[dal.Spring(4.0, joint=name, rest=0.2)], dampers=[dal.Damper(3.0, joint=name)]
    )
    assert tau == pytest.approx([0.0, -4.0 * (0.5 - 0.2) - 3.0 * -2.0])


def test_a_spring_of_a_coupled_joint_reaches_the_joint_it_follows() -> None:
    links = [dal.Link("base"), *(dal.Link(f"link{k}", 1.0, inertia=np.eye(3)) for k in (1, 2))]
    joints = [
        dal.Joint("first", "revolute", "base", "link1"),
        dal.Joint("second", "revolute", "link1", "link2", mimic=dal.Mimic("first", 2.0, 0.1)),
    ]
    arm = dal.Robot.from_parts("pair", links, joints)
    tau = dal.applied_torque(arm, [0.3], springs=[dal.Spring(5.0, joint="second")])
    assert tau == pytest.approx([-2.0 * 5.0 * (2.0 * 0.3 + 0.1)])


def test_wrenches_and_gravity_are_what_inverse_dynamics_takes_off(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, wrench = rng.normal(size=(3, arm.n)), rng.normal(size=(3, 6))
    without = dal.applied_torque(arm, q, wrenches={"tool": wrench})
    still = np.zeros(arm.n)
    held = dal.inverse_dynamics(arm, q, still, still, wrenches={"tool": wrench})
    assert relative_error(-without, held - dal.gravity_torque(arm, q)) < TOLERANCE
    assert relative_error(dal.applied_torque(arm, q, wrenches={"tool": wrench}, gravity=True), -held) < TOLERANCE


def test_a_force_at_a_point_is_that_force_with_its_moment(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, f = rng.normal(size=arm.n), rng.normal(size=3)
    (name, point), _ = ends(arm)
    shift = dal.forward_kinematics(arm, q, name)[:3, :3] @ point
    at_point = dal.applied_torque(arm, q, wrenches={(name, point): np.r_[f, 0, 0, 0]})
    assert relative_error(at_point, dal.applied_torque(arm, q, wrenches={name: np.r_[f, np.cross(shift, f)]})) < TOLERANCE


def test_loads_add_up(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, qd, wrench = rng.normal(size=arm.n), rng.normal(size=arm.n), rng.normal(size=6)
    parts = {
        "wrenches": {"tool": wrench},
        "springs": [dal.Spring(30.0, between=ends(arm), rest=0.1), dal.Spring(2.0, joint="q0")],
        "dampers": [dal.Damper(3.0, between=ends(arm)), dal.Damper(1.0, joint="q0")],
        "gravity": True,
    }
    alone = [dal.applied_torque(arm, q, qd, **{name: part}) for name, part in parts.items()]
    assert relative_error(dal.applied_torque(arm, q, qd, **parts), sum(alone)) < TOLERANCE
    assert not dal.applied_torque(arm, q).any()


def test_batches_broadcast(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, wrench = rng.normal(size=(4, 1, arm.n)), rng.normal(size=(3, 6))
    found = dal.applied_torque(arm, q, wrenches={"tool": wrench}, springs=[dal.Spring(30.0, between=ends(arm))])
    assert found.shape == (4, 3, arm.n)
    one = dal.applied_torque(arm, q[2, 0], wrenches={"tool": wrench[1]}, springs=[dal.Spring(30.0, between=ends(arm))])
    assert relative_error(found[2, 1], one) < TOLERANCE


@pytest.mark.parametrize("rest", [0.0, 0.5])
def test_where_both_ends_meet_there_is_no_force(rest: float) -> None:
    arm = fresh("two_link_planar")
    here = dal.forward_kinematics(arm, [0.3, 0.5])[:3, 3]
    ends = ("tool", ("tool", (0.0, 0.0, 0.0)))
    assert not dal.applied_torque(arm, [0.3, 0.5], springs=[dal.Spring(9.0, between=ends, rest=rest)]).any()
    assert not dal.applied_torque(arm, [0.3, 0.5], [1.0, 2.0], dampers=[dal.Damper(9.0, between=ends)]).any()
    near = ("tool", ("world", tuple(here)))
    tau = dal.applied_torque(arm, [0.3, 0.5], springs=[dal.Spring(9.0, between=near, rest=rest)])
    assert np.isfinite(tau).all()


def test_a_compiled_kernel_gives_the_same(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    arm = random_robot(np.random.default_rng(4), 4, FRICTIONLESS)
    q, qd = rng.normal(size=(2, 6, arm.n))
    loads = {
        "springs": [dal.Spring(30.0, between=ends(arm), rest=0.4)],
        "dampers": [dal.Damper(2.0, between=ends(arm))],
        "wrenches": {"tool": rng.normal(size=6)},
        "gravity": True,
    }
    slow = dal.applied_torque(arm, q, qd, **loads)
    monkeypatch.delenv("DALEMBERT_BACKEND")
    assert relative_error(dal.applied_torque(arm.replace(), q, qd, **loads), slow) < TOLERANCE


def test_mistakes_are_answered_by_a_sentence(arm: dal.Robot) -> None:
    q = np.zeros(arm.n)
    with pytest.raises(dal.DalembertError, match="qd: nothing found, but dampers need it"):
        dal.applied_torque(arm, q, dampers=[dal.Damper(1.0, joint="q0")])
    with pytest.raises(dal.DalembertError, match="wrenches: list found, a mapping such as"):
        dal.applied_torque(arm, q, wrenches=[np.zeros(6)])
    with pytest.raises(dal.DalembertError, match=r"wrench 1 at 'tool': shape \(3,\) found, \(..., 6\) expected"):
        dal.applied_torque(arm, q, wrenches={"tool": np.zeros(3)})
    with pytest.raises(dal.DalembertError, match="wrenches: 3 found; a link's name expected"):
        dal.applied_torque(arm, q, wrenches={3: np.zeros(6)})
    with pytest.raises(dal.DalembertError, match="springs: Damper found, a Spring expected"):
        dal.applied_torque(arm, q, springs=[dal.Damper(1.0, joint="q0")])
    with pytest.raises(dal.DalembertError, match="joint: 'q00' is not known; did you mean 'q0'"):
        dal.applied_torque(arm, q, springs=[dal.Spring(1.0, joint="q00")])
    with pytest.raises(dal.DalembertError, match="link: 'elbow' is not known"):
        dal.applied_torque(arm, q, springs=[dal.Spring(1.0, between=("elbow", "world"))])
