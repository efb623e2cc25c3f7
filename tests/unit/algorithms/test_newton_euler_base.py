"""Newton-Euler in the base frame and its steps, against Jacobians, joint wrenches and differences in time."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError
from dalembert.model import Body, Joint, Link, Robot
from tests.robots import EVERYTHING, random_robot, relative_error, state

NAME = "newton_euler_base"
TOLERANCE = 1e-12  # relative: other orders of some thousand operations
SEEDS = range(6)
VECTORS = ("omega", "domega", "pdd", "pdd_C", "f", "mu")
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, no compiling


def moving(robot: Robot) -> list[Joint]:
    return [joint for joint in robot.structure.joints if joint.moves]


def orientations(robot: Robot, q: np.ndarray) -> np.ndarray:
    """R of the link beyond each moving joint."""
    return np.array([dal.forward_kinematics(robot, q, joint.child)[:3, :3] for joint in moving(robot)])


def centres(robot: Robot) -> np.ndarray:
    """Centres of mass of everything that each moving joint carries, in the link's frame."""
    found = dict(zip(dal.parameter_names(robot), dal.parameters(robot), strict=True))
    return np.array([[found[f"{j.name}.{name}"] / found[f"{j.name}.m"] for name in ("mx", "my", "mz")] for j in moving(robot)])


def drawn(seed: int, n: int = 4, **without: bool) -> tuple[Robot, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, n, dataclasses.replace(EVERYTHING, **without))
    return robot, list(state(robot, rng))


@pytest.mark.parametrize("seed", SEEDS)
def test_link_motions_are_what_the_jacobians_say(seed: int) -> None:
    """ω = J q̇, and accelerations J q̈ + J̇ q̇, less gravity; turning and sliding joints, branches, couplings."""
    robot, (q, qd, qdd) = drawn(seed)
    steps = dal.recursion(robot, q, qd, qdd, frame="base")
    for i, joint in enumerate(moving(robot)):
        J, Jdot = dal.jacobian(robot, q, joint.child), dal.jacobian_dot(robot, q, qd, joint.child)
        acceleration = J @ qdd + Jdot @ qd
        assert relative_error(steps.omega[i], (J @ qd)[3:]) < TOLERANCE
        assert relative_error(steps.domega[i], acceleration[3:]) < TOLERANCE
        assert relative_error(steps.pdd[i], acceleration[:3] - robot.gravity) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_a_centre_of_mass_moves_rigidly_with_its_link(seed: int) -> None:
    robot, (q, qd, qdd) = drawn(seed)
    steps = dal.recursion(robot, q, qd, qdd, frame="base")
    c = np.einsum("kij,kj->ki", orientations(robot, q), centres(robot))
    rigid = steps.pdd + np.cross(steps.domega, c) + np.cross(steps.omega, np.cross(steps.omega, c))
    assert relative_error(steps.pdd_C, rigid) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_both_traces_are_the_same_vectors_in_other_axes(seed: int) -> None:
    robot, motion = drawn(seed)
    base, own = (dal.recursion(robot, *motion, frame=frame) for frame in ("base", "link"))
    R = orientations(robot, motion[0])
    for name in VECTORS:
        turned = np.einsum("kij,kj->ki", R, getattr(own, name))
        assert relative_error(turned, getattr(base, name)) < TOLERANCE, name
    assert relative_error(own.tau, base.tau) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("frame", "axes"), [("base", "world"), ("link", "link")])
def test_f_and_mu_are_the_joints_wrenches(seed: int, frame: str, axes: str) -> None:
    robot, motion = drawn(seed)
    steps = dal.recursion(robot, *motion, frame=frame)
    wrenches = dal.link_wrenches(robot, *motion, frame=axes)
    assert relative_error(steps.f, wrenches[:, :3]) < TOLERANCE
    assert relative_error(steps.mu, wrenches[:, 3:]) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rotor_s_acceleration_is_the_rate_of_its_angular_velocity(seed: int) -> None:
    """ω_m = ω_mount + k q̇ z_m along a motion [Siciliano, Eq. 7.23], by a central difference."""
    robot, (q, qd, qdd) = drawn(seed, mimic=False)
    found = dal.recursion(robot, q, qd, qdd, frame="base").domega_m
    step = 1e-5  # s: truncation ~ step² and rounding ~ 1e-16 / step are both well under the tolerance, with ratios up to 80

    def velocity(joint: Joint, t: float) -> np.ndarray:
        rotor = robot.parameters.rotors[joint.name]
        mount, at, rate = rotor.mount or joint.parent, q + qd * t + qdd * t**2 / 2, qd + qdd * t
        axis = dal.forward_kinematics(robot, at, mount)[:3, :3] @ rotor.axis
        own = rate[robot.joint_names.index(joint.name)]
        return dal.jacobian(robot, at, mount)[3:] @ rate + rotor.ratio * own * axis

    for i, joint in enumerate(moving(robot)):
        rotor = robot.parameters.rotors.get(joint.name)
        if rotor is None or rotor.model != "full":
            assert not found[i].any()
            continue
        expected = (velocity(joint, step) - velocity(joint, -step)) / (2 * step)
        assert relative_error(found[i], expected) < 1e-6


def test_in_link_axes_a_rotor_s_acceleration_is_in_its_mount_s() -> None:
    robot, motion = drawn(3, mimic=False, fixed=False)
    base, own = (dal.recursion(robot, *motion, frame=frame).domega_m for frame in ("base", "link"))
    full = [(i, j) for i, j in enumerate(moving(robot)) if (r := robot.parameters.rotors.get(j.name)) and r.model == "full"]
    assert full
    for i, joint in full:
        mount = robot.parameters.rotors[joint.name].mount or joint.parent
        R = dal.forward_kinematics(robot, motion[0], mount)[:3, :3]
        assert relative_error(R @ own[i], base[i]) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_the_torque_is_that_of_the_link_frame_form_on_a_moving_base_with_wrenches(seed: int) -> None:
    robot, motion = drawn(seed)
    rng = np.random.default_rng(seed)
    given = {
        "wrenches": {"tool": rng.normal(size=6), robot.structure.joints[0].child: rng.normal(size=6)},
        "base_velocity": rng.normal(size=6),
        "base_acceleration": rng.normal(size=6),
    }
    tau = dal.inverse_dynamics(robot, *motion, **given)
    assert relative_error(dal.inverse_dynamics(robot, *motion, **given, formulation=NAME), tau) < TOLERANCE


def test_a_massless_link_between_two_joints_needs_no_centre() -> None:
    robot = Robot.from_parts(
        "universal",
        [Link("base"), Link("cross", virtual=True), Link("arm", 2.0, np.array([0.0, 0.1, 0.3]), np.diag([0.1, 0.12, 0.05]))],
        [Joint("a", "revolute", "base", "cross"), Joint("b", "revolute", "cross", "arm", axis=np.array([1.0, 0, 0]))],
        gravity=(0, 0, -9.81),
    )
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 2))
    assert (
        relative_error(dal.inverse_dynamics(robot, q, qd, qdd, formulation=NAME), dal.inverse_dynamics(robot, q, qd, qdd))
        < TOLERANCE
    )


@pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
def test_a_first_moment_without_mass_is_refused_and_another_formulation_named() -> None:
    counterweight = Body("counterweight", -1.0, np.array([-0.5, 0, 0]))
    robot = Robot.from_parts(
        "balanced",
        [Link("base"), Link("arm", 1.0, np.array([0.5, 0, 0]), bodies=(counterweight,))],
        [Joint("hinge", "revolute", "base", "arm")],
    )
    with pytest.raises(ModelError, match="joint 'hinge': .* first moment of mass but no mass.*Try formulation 'newton_euler'"):
        dal.inverse_dynamics(robot, [0.1], [0.2], [0.3], formulation=NAME)
    assert np.isfinite(dal.inverse_dynamics(robot, [0.1], [0.2], [0.3])).all()


def test_every_term_says_what_it_is_and_in_which_axes() -> None:
    for name, axes in (("newton_euler", "the link's own frame"), (NAME, "the base's axes")):
        meanings = {key: term.meaning for key, term in dal.FORMULATIONS[name].terms.items()}
        assert list(meanings) == ["omega", "domega", "pdd", "pdd_C", "domega_m", "f", "mu", "tau"]
        assert all(axes in meaning for key, meaning in meanings.items() if key != "tau")
