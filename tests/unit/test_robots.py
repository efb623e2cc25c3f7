"""The catalogue: its arms build without warning and agree with what was published."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from dalembert import robots
from dalembert.errors import ModelError
from dalembert.model import Robot, physical
from dalembert.model.dh import dh_transform
from tests.shared import SHARED, needs_shared

NAMES = sorted(robots.CATALOGUE)
FLAWS = {"puma560": ["triangle-inequality"]}  # link 3, as measured; see its docstring


@pytest.mark.parametrize("name", NAMES)
def test_an_arm_builds_without_warning_and_its_flaws_are_documented(name: str) -> None:
    build = robots.CATALOGUE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = build.__wrapped__()  # type: ignore[attr-defined]
    assert robot.name == name
    assert [finding.code for finding in physical.findings(robot)] == FLAWS.get(name, [])
    assert list(robot.notes) == [finding.message for finding in physical.findings(robot)]


@pytest.mark.parametrize("name", NAMES)
def test_an_arm_is_built_once_and_says_where_it_comes_from(name: str) -> None:
    build = robots.CATALOGUE[name]
    assert build() is build()
    assert build.__doc__
    assert "[" in build.__doc__
    assert getattr(robots, name) is build


@pytest.mark.parametrize(
    ("name", "mass"),
    [("puma560", 23.45), ("panda", 16.062132), ("ur5", 17.0489), ("ur10", 28.435), ("stanford", 20.77), ("pelican", 8.5683)],
)
def test_the_links_weigh_together_what_was_published(name: str, mass: float) -> None:
    assert sum(link.mass for link in robots.CATALOGUE[name]().parameters.links) == pytest.approx(mass, abs=1e-9)


def test_importing_the_catalogue_stays_light() -> None:
    program = "import sys, dalembert.robots; print([m for m in ('scipy', 'llvmlite', 'xml', 'tomllib') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout.strip() == "[]"


def test_a_chain_has_as_many_joints_as_asked_for() -> None:
    for n in (1, 2, 7, 40):
        robot = robots.chain(n)
        assert robot.n == n
        assert robot.notes == ()
    assert robots.chain(7) is robots.chain(7)


@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_a_chain_without_joints_is_refused(n: Any) -> None:
    with pytest.raises(ModelError, match="^chain: number of joints: .* found; a whole number from 1 to 100000"):
        robots.chain(n)


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    k = np.cross(axis, np.eye(3)).T  # k @ v = axis × v
    X = np.eye(4)
    X[:3, :3] = np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k
    return X


def frames(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """World pose of each link, by plain products."""
    poses = {robot.structure.root: np.eye(4)}
    for joint, value in zip(robot.structure.joints, q, strict=True):
        motion = np.eye(4)
        if joint.turns:
            motion = turn(joint.axis, value + joint.home)
        else:
            motion[:3, 3] = joint.axis * (value + joint.home)
        poses[joint.child] = poses[joint.parent] @ joint.origin @ motion @ joint.child_origin
    return poses


def mass_matrix(robot: Robot, q: np.ndarray) -> np.ndarray:
    """M(q) of a serial arm from Jacobians of its links and rotors [Siciliano, Eq. 7.32], written for clarity."""
    poses, n = frames(robot, q), robot.n
    order = [robot.structure.root, *(joint.child for joint in robot.structure.joints)]
    axes = [(poses[j.parent] @ j.origin)[:3, :3] @ j.axis for j in robot.structure.joints]
    points = [(poses[j.parent] @ j.origin)[:3, 3] for j in robot.structure.joints]

    def jacobians(link: str, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Jv, Jw = np.zeros((3, n)), np.zeros((3, n))
        for i, joint in enumerate(robot.structure.joints[: order.index(link)]):
            Jv[:, i] = np.cross(axes[i], p - points[i]) if joint.turns else axes[i]
            Jw[:, i] = axes[i] * joint.turns
        return Jv, Jw

    M = np.zeros((n, n))
    for link in robot.parameters.links:
        R, p = poses[link.name][:3, :3], poses[link.name][:3, 3]
        Jv, Jw = jacobians(link.name, p + R @ link.com)
        M += link.mass * Jv.T @ Jv + Jw.T @ R @ link.inertia @ R.T @ Jw
    for i, joint in enumerate(robot.structure.joints):
        rotor = robot.parameters.rotors.get(joint.name)
        if rotor is not None and rotor.model == "reflected":
            M[i, i] += rotor.ratio**2 * rotor.inertia
        elif rotor is not None:
            X = poses[rotor.mount or joint.parent]
            Jv, Jw = jacobians(rotor.mount or joint.parent, (X @ [*rotor.position, 1])[:3])
            axis = X[:3, :3] @ rotor.axis
            Jw[:, i] += rotor.ratio * axis
            spin = rotor.inertia * np.outer(axis, axis) + rotor.transverse_inertia * (np.eye(3) - np.outer(axis, axis))
            M += rotor.mass * Jv.T @ Jv + Jw.T @ spin @ Jw
    return M


def test_the_planar_arm_has_the_mass_matrix_of_example_7_2() -> None:
    # b11 = 200.01 + 50 cos q2, b12 = 23.5 + 25 cos q2, b22 = 122.5 [Siciliano, Eq. 7.82 with the numbers of Example 7.2]
    for q2 in (0.0, 0.7, 2.9412578112666736):
        c = math.cos(q2)
        expected = [[200.01 + 50 * c, 23.5 + 25 * c], [23.5 + 25 * c, 122.5]]
        np.testing.assert_allclose(mass_matrix(robots.two_link_planar(), np.array([0.4, q2])), expected, rtol=1e-13)


def test_the_cartesian_arm_has_the_constant_mass_matrix_of_section_7_3_1() -> None:
    # diag(ml1 + mm2 + kr1² Im1 + ml2, ml2 + kr2² Im2)
    np.testing.assert_allclose(
        mass_matrix(robots.two_link_cartesian(), np.array([0.3, 0.4])), np.diag([205.0, 150.0]), atol=1e-12
    )


def test_the_cartesian_arm_moves_up_and_along_x() -> None:
    tip = frames(robots.two_link_cartesian(), np.array([0.3, 0.4]))["link2"][:3, 3]
    np.testing.assert_allclose(tip, [0.4, 0.0, 0.3], atol=1e-15)


def test_the_pr_arm_has_the_mass_matrix_of_problem_7_5() -> None:
    # [[ml1 + ml2 + mm2 + kr1² Im1, −ml2 l2 sin], [·, Il2 + ml2 l2² + kr2² Im2]]
    s = math.sin(0.8)
    expected = [[205.0, -25 * s], [-25 * s, 122.5]]
    np.testing.assert_allclose(mass_matrix(robots.pr_arm(), np.array([0.3, 0.8])), expected, rtol=1e-13)


def test_the_pelican_has_the_mass_matrix_of_its_closed_form() -> None:
    # Iz1 + m1 l1² + Iz2 + m2 (a1² + l2² + 2 a1 l2 cos q2), and so on [Laus, §3]
    swing, own = 2.0458 * 0.26 * 0.0229 * math.cos(0.6), 0.0116 + 2.0458 * 0.0229**2
    shoulder = 0.1213 + 6.5225 * 0.0983**2 + 2.0458 * 0.26**2
    expected = [[shoulder + own + 2 * swing, own + swing], [own + swing, own]]
    np.testing.assert_allclose(mass_matrix(robots.pelican(), np.array([0.2, 0.6])), expected, rtol=1e-13)


def test_the_pendulum_swings_about_a_third_of_a_kilogram_metre_squared() -> None:
    # m L²/3 of a thin rod; the rod's own thickness adds m r²/4 = 2.5e-5
    assert mass_matrix(robots.pendulum(), np.array([0.3]))[0, 0] == pytest.approx(1 / 3 + 2.5e-5, rel=1e-12)


def test_the_panda_s_flange_stands_where_the_manufacturer_draws_it() -> None:
    robot = robots.panda()
    assert robot.tool is not None
    X = frames(robot, np.zeros(7))["link7"] @ robot.tool.pose
    np.testing.assert_allclose(X[:3, 3], [0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107], atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_every_mass_matrix_is_positive_definite(name: str) -> None:
    robot = robots.CATALOGUE[name]()
    for q in np.random.default_rng(5).uniform(-1, 1, (5, robot.n)):
        assert np.linalg.eigvalsh(mass_matrix(robot, q))[0] > 1e-6


# ---- against the tables of another library, where the folder is there

# What differs on purpose, as (link number, field): the robot's docstring or source comment gives the reason.
DIFFERENCES = {
    "puma560": set(),
    "ur5": {(1, "d"), (5, "com"), (6, "mass"), *((i, "inertia") for i in range(1, 7))},  # misprints, no moments there
    "ur10": {(6, "inertia")},  # Ixx printed as zero
    "stanford": {
        (3, "a"),
        *((i, "com") for i in range(2, 7)),
        *((i, "inertia") for i in range(1, 7)),
    },  # decimetres; about the frame
    "scara": {(i, field) for i in range(1, 5) for field in ("mass", "com", "inertia")},  # kinematics only there
}
FILES = {"puma560": "Puma560", "ur5": "UR5", "ur10": "UR10", "stanford": "Stanford", "scara": "Cobra600"}


def table(name: str) -> list[dict[str, Any]]:
    return json.loads((SHARED / "data/models/dh" / f"{name}.json").read_text())["links"]


@needs_shared
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_standard_table_equals_the_toolbox_s_but_for_listed_differences(name: str) -> None:
    robot, found = robots.CATALOGUE[name](), set()
    for number, (joint, row) in enumerate(zip(robot.structure.joints, table(FILES[name]), strict=True), start=1):
        link = robot.link(joint.child)
        theta = (row["theta"] or 0.0) + (row["offset"] if joint.turns else 0.0)
        A = dh_transform("standard", theta, row["d"] or 0.0, row["a"], row["alpha"])
        pairs = {
            "d": (joint.child_origin[2, 3], A[2, 3]),
            "a": (np.hypot(*joint.child_origin[:2, 3]), np.hypot(*A[:2, 3])),
            "rotation": (joint.child_origin[:3, :3], A[:3, :3]),
            "mass": (link.mass, row["mass"]),
            "com": (link.com, row["com"]),
            "inertia": (link.inertia, row["inertia_com"]),
        }
        if row["qlim"]:
            pairs["limits"] = ((joint.limits.lower, joint.limits.upper), row["qlim"])
        assert joint.turns == (row["joint"] == "revolute")
        found |= {(number, key) for key, (ours, theirs) in pairs.items() if not np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)}
    assert found == DIFFERENCES[name]


@needs_shared
def test_the_puma_s_motors_are_the_toolbox_s_seen_from_the_joint() -> None:
    parameters = robots.puma560().parameters
    for number, row in enumerate(table("Puma560"), start=1):
        rotor, friction = parameters.rotors[f"joint{number}"], parameters.friction[f"joint{number}"]
        assert (rotor.inertia, rotor.ratio) == pytest.approx((row["Jm"], row["G"]))
        assert friction.viscous == pytest.approx(row["B"] * row["G"] ** 2)
        forward, backward = np.abs(row["Tc"]) * abs(row["G"])
        assert (friction.coulomb, friction.coulomb_negative) == pytest.approx((forward, backward))


@needs_shared
def test_the_panda_s_table_equals_the_toolbox_s_with_its_last_frame_moved_back_to_joint_7() -> None:
    robot = robots.panda()
    assert robot.tool is not None
    for number, (joint, row) in enumerate(zip(robot.structure.joints, table("Panda"), strict=True), start=1):
        last = number == 7
        A = dh_transform("modified", 0.0, row["d"], row["a"], row["alpha"])
        np.testing.assert_allclose(joint.origin @ (robot.tool.pose if last else np.eye(4)), A, atol=1e-15)
        link = robot.link(joint.child)
        com = np.array(row["com"]) + [0, 0, 0.107 * last]
        np.testing.assert_allclose(link.com[: 2 if number == 1 else 3], com[: 2 if number == 1 else 3], atol=1e-12)
        np.testing.assert_allclose(link.inertia, row["inertia_com"], atol=1e-12)
        assert link.mass == row["mass"]
        assert (joint.limits.lower, joint.limits.upper) == tuple(row["qlim"])


@needs_shared
def test_the_puma_s_mass_matrix_equals_the_published_one_with_motors() -> None:
    reference = json.loads((SHARED / "data/reference/puma560_rtb_python.json").read_text())
    M = mass_matrix(robots.puma560(), np.array(reference["q"]))
    np.testing.assert_allclose(M, reference["inertia"], atol=1e-4)  # printed to four decimals
