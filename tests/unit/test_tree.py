"""The tree of segments: internal frames lead back to the user's, and constants that should vanish do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import dalembert as dal
from dalembert.algorithms.kinematics import segment_poses
from dalembert.algorithms.sweep import Unrolled
from dalembert.model import Joint, Link, Mimic, Robot, Rotor, Tool
from dalembert.model.tree import FramePlace, Tree, tree_of
from tests.link_poses import link_poses, random_values, total_inertia
from tests.robots import robots, seeds


def place_in_world(tree: Tree, q: np.ndarray, place: FramePlace) -> np.ndarray:
    X = np.eye(4)
    if place.segment >= 0:
        pose = segment_poses(Unrolled(tree), list(q))[place.segment]
        X[:3, :3], X[:3, 3] = np.array(pose.R), np.array(pose.p)
    inner = np.eye(4)
    inner[:3, :3], inner[:3, 3] = np.array(place.R), np.array(place.p)
    return X @ inner


@given(robots(max_n=6), seeds)
@settings(max_examples=30)
def test_internal_frames_lead_back_to_every_link(robot: Robot, seed: int) -> None:
    values = random_values(robot, np.random.default_rng(seed))
    q = np.array(list(values.values()))
    tree, poses = tree_of(robot), link_poses(robot, values)
    for name in robot.link_names:
        np.testing.assert_allclose(place_in_world(tree, q, tree.links[name]), poses[name], atol=1e-12)
    np.testing.assert_allclose(place_in_world(tree, q, tree.tool), poses[robot.tool.link] @ robot.tool.pose, atol=1e-12)


@given(robots(max_n=6, full_rotors=False), seeds)
@settings(max_examples=20)
def test_segments_weigh_what_the_moving_links_weigh(robot: Robot, seed: int) -> None:
    """Mass and first moment about the world's origin, at any position."""
    values = random_values(robot, np.random.default_rng(seed))
    tree = tree_of(robot)
    base = {name for name, place in tree.links.items() if place.segment < 0}
    links = tuple(link if link.name not in base else Link(link.name) for link in robot.parameters.links)
    payload = None if tree.tool.segment < 0 else robot.parameters.payload
    moving = Robot(robot.name, robot.structure, robot.parameters.replace(links=links, payload=payload))
    mass, moment, _ = total_inertia(moving, values)
    poses = segment_poses(Unrolled(tree), list(values.values()))
    assert sum(s.inertia.mass for s in tree.segments) == pytest.approx(mass, rel=1e-12)
    found = sum(
        s.inertia.mass * np.array(X.p) + np.array(X.R) @ np.array(s.inertia.h) for s, X in zip(tree.segments, poses, strict=True)
    )
    np.testing.assert_allclose(found, moment, atol=1e-11)


@given(robots(max_n=8))
@settings(max_examples=30)
def test_parents_come_first_and_every_coordinate_has_a_segment(robot: Robot) -> None:
    tree = tree_of(robot)
    assert all(s.parent < i for i, s in enumerate(tree.segments))
    assert {s.coordinate for s in tree.segments} == set(range(robot.n))
    assert tree.n == robot.n
    for i in range(len(tree.segments)):
        path = tree.path(i)
        assert path[0] == i
        assert tree.segments[path[-1]].parent == -1


@given(robots(max_n=8))
@settings(max_examples=30)
def test_rotations_are_rotations_and_regrouping_keeps_the_frames(robot: Robot) -> None:
    tree = tree_of(robot)
    for s in tree.segments:
        R = np.array(s.R)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-13)
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert s.turn + s.slide == 1.0
    for a, b in zip(tree.segments, tree.regrouped.segments, strict=True):
        assert (a.R, a.p, a.offset, a.armature, a.friction, a.spin) == (b.R, b.p, b.offset, b.armature, b.friction, b.spin)


def test_regrouped_segments_keep_only_what_acts() -> None:
    for s in tree_of(dal.robots.panda()).regrouped.segments:
        assert s.inertia.mass == 0
        assert s.inertia.h.z == 0
        assert s.inertia.I.yy == 0


def test_parallel_axes_need_no_rotation_and_a_right_angle_has_exact_entries() -> None:
    for name in ("pelican", "two_link_planar"):
        for s in tree_of(dal.robots.CATALOGUE[name]()).segments[1:]:
            assert s.R == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for name in ("puma560", "stanford", "ur5", "panda"):
        for s in tree_of(dal.robots.CATALOGUE[name]()).segments:
            assert {abs(x) for row in s.R for x in row} <= {0.0, 1.0}


BODY = {"mass": 1.0, "com": np.array([0.1, 0.2, 0.3]), "inertia": np.eye(3) * 0.02}


def pair(**options: object) -> Robot:
    joints = [
        Joint("a", "revolute", "base", "one"),
        Joint("b", "prismatic", "one", "two", axis=np.array([1.0, 0, 0]), mimic=options.pop("mimic", None)),
    ]
    return Robot.from_parts("pair", [Link("base"), Link("one", **BODY), Link("two", **BODY)], joints, **options)


def test_a_coupled_joint_shares_its_master_s_coordinate() -> None:
    tree = tree_of(pair(mimic=Mimic("a", 0.5, 0.1)))
    follower = tree.segments[1]
    assert (follower.coordinate, follower.multiplier, follower.shift) == (0, 0.5, 0.1)
    assert tree.n == 1
    assert not tree.is_plain
    assert tree_of(pair()).is_plain


def test_a_reflected_rotor_is_an_armature_and_a_full_one_spins_on_its_mount() -> None:
    rotors = {"a": Rotor(2e-3, 10.0), "b": Rotor(1e-3, 20.0, "full", mass=0.5, axis=np.array([0, 1.0, 0]))}
    tree = tree_of(pair(rotors=rotors))
    assert tree.segments[0].armature == pytest.approx(0.2)
    assert tree.segments[1].armature == 0
    spin = tree.segments[1].spin
    assert (spin.mount, spin.kI, spin.kkI) == (0, pytest.approx(0.02), pytest.approx(0.4))
    assert tree.segments[0].inertia.mass == pytest.approx(1.5)
    assert tree.has_spin
    assert not tree_of(pair()).has_spin


def test_a_rotor_on_the_base_adds_no_moving_mass() -> None:
    rotor = Rotor(1e-3, 20.0, "full", mass=0.5, mount="base")
    tree = tree_of(pair(rotors={"b": rotor}))
    assert tree.segments[1].spin.mount == -1
    assert sum(s.inertia.mass for s in tree.segments) == pytest.approx(2.0)


def test_a_tool_on_the_base_stands_still() -> None:
    X = np.eye(4)
    X[:3, 3] = [1, 2, 3]
    robot = pair(tool=Tool("base", X))
    np.testing.assert_array_equal(dal.forward_kinematics(robot, [0.3, 0.4]), X)
    np.testing.assert_array_equal(dal.jacobian(robot, [0.3, 0.4]), np.zeros((6, 2)))


TILTS = [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 3.7e-6, 1e-4]  # 3.7e-6 rad is what a file's 1.5708 makes of a right angle


def tilted(tilt: float) -> Robot:
    """Three joints, the last two parallel but for a small angle."""
    X = np.eye(4)
    X[:3, 3] = [0.3, 0.4, 0.2]
    joints = [
        Joint("a", "revolute", "base", "one", axis=np.array([0.0, 1.0, 0.0])),
        Joint("b", "revolute", "one", "two", origin=X),
        Joint("c", "revolute", "two", "three", origin=X, axis=np.array([np.sin(tilt), 0.0, np.cos(tilt)])),
    ]
    return Robot.from_parts("tilted", [Link("base"), *(Link(name, **BODY) for name in ("one", "two", "three"))], joints)


@pytest.mark.parametrize("tilt", TILTS)
def test_nearly_parallel_axes_keep_their_poses(tilt: float) -> None:
    """A tilt is not dropped, and the far common normal of nearly parallel axes is not used."""
    robot = tilted(tilt)
    q = dict(zip("abc", [0.7, -0.4, 1.1], strict=True))
    tree, poses = tree_of(robot), link_poses(robot, q)
    for name in robot.link_names:
        np.testing.assert_allclose(place_in_world(tree, np.array([0.7, -0.4, 1.1]), tree.links[name]), poses[name], atol=1e-12)


def mass_matrix_by_jacobians(robot: Robot, q: dict[str, float]) -> np.ndarray:
    """M = Σ m JᵥᵀJᵥ + JωᵀI Jω over the links of a chain, from poses in the user's frames."""
    X = link_poses(robot, q)
    joints = robot.structure.joints
    M = np.zeros((len(joints), len(joints)))
    for k, joint in enumerate(joints):
        link, R = robot.link(joint.child), X[joint.child][:3, :3]
        centre = R @ link.com + X[joint.child][:3, 3]
        Jv, Jw = np.zeros((2, 3, len(joints)))
        for i, below in enumerate(joints[: k + 1]):
            frame = X[below.parent] @ below.origin
            z = frame[:3, :3] @ below.axis
            Jv[:, i], Jw[:, i] = np.cross(z, centre - frame[:3, 3]), z
        M += link.mass * Jv.T @ Jv + Jw.T @ R @ link.inertia @ R.T @ Jw
    return M


@pytest.mark.parametrize("tilt", TILTS)
def test_nearly_parallel_axes_keep_their_mass_matrix(tilt: float) -> None:
    robot, values = tilted(tilt), [0.7, -0.4, 1.1]
    wanted = mass_matrix_by_jacobians(robot, dict(zip("abc", values, strict=True)))
    np.testing.assert_allclose(dal.mass_matrix(robot, values), wanted, atol=1e-10)


@pytest.mark.parametrize("axis", [[0, 0, -1], [1e-9, 0, 1], [0, 1e-16, 1], [1e-5, -1e-5, -1], [1, 1, 1], [-1, 0, 0]])
def test_an_axis_in_any_direction_is_the_axis_of_the_motion(axis: list[float]) -> None:
    joint = Joint("a", "revolute", "base", "one", axis=np.array(axis, float))
    robot = Robot.from_parts("one", [Link("base"), Link("one", **BODY)], [joint])
    wanted = link_poses(robot, {"a": 0.9})["one"]
    np.testing.assert_allclose(place_in_world(tree_of(robot), np.array([0.9]), tree_of(robot).links["one"]), wanted, atol=1e-14)
