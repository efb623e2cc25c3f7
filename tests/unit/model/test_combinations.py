"""Joints of several degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from dalembert.errors import ModelError, UnknownNameError
from dalembert.model import Joint, Limits, Link, Robot
from dalembert.model.combinations import cylindrical, floating, planar, spherical, universal

ALL: list[tuple[Callable[..., Any], int, list[str]]] = [
    (cylindrical, 2, ["j_turn", "j_slide"]),
    (universal, 2, ["j_x", "j_y"]),
    (spherical, 3, ["j_x", "j_y", "j_z"]),
    (planar, 3, ["j_x", "j_y", "j_turn"]),
    (floating, 6, ["j_x", "j_y", "j_z", "j_rx", "j_ry", "j_rz"]),
]


def turn(axis: Sequence[float], angle: float) -> np.ndarray:
    k = np.cross(np.asarray(axis), np.eye(3)).T  # k @ v = axis × v
    X = np.eye(4)
    X[:3, :3] = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    return X


def slide(vector: Sequence[float]) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = vector
    return X


def placement(joints: list[Joint], q: Sequence[float]) -> np.ndarray:
    X = np.eye(4)
    for joint, value in zip(joints, q, strict=True):
        motion = turn(joint.axis, value) if joint.turns else slide(joint.axis * value)
        X = X @ joint.origin @ motion @ joint.child_origin
    return X


def twists(joints: list[Joint], q: np.ndarray) -> np.ndarray:
    """Columns of body displacement per unit of each coordinate, by central differences."""
    h, columns = 1e-6, []
    X = placement(joints, q)
    for step in h * np.eye(len(q)):
        D = np.linalg.solve(X, placement(joints, q + step) - placement(joints, q - step)) / (2 * h)
        columns.append([*D[:3, 3], D[2, 1], D[0, 2], D[1, 0]])
    return np.array(columns).T


@pytest.mark.parametrize(("build", "degrees", "names"), ALL)
def test_a_combination_has_its_names_and_its_mobility(build: Callable[..., Any], degrees: int, names: list[str]) -> None:
    joints, frames = build("j", "base", "body")
    robot = Robot.from_parts("toy", [Link("base"), Link("body", 1.0, inertia=np.eye(3)), *frames], joints, strict=True)
    assert list(robot.joint_names) == names
    assert [frame.name for frame in frames] == names[:-1]
    assert all(frame.virtual for frame in frames)
    q = np.random.default_rng(4).uniform(-1, 1, degrees)
    assert np.linalg.matrix_rank(twists(joints, q), tol=1e-6) == degrees


@pytest.mark.parametrize("build", [spherical, floating])
def test_three_turns_are_singular_where_pitch_is_a_right_angle(build: Callable[..., Any]) -> None:
    joints, _ = build("j", "base", "body")
    q = np.full(len(joints), 0.3)
    q[-2] = np.pi / 2
    assert np.linalg.matrix_rank(twists(joints, q), tol=1e-6) == len(joints) - 1


def test_spherical_turns_about_x_then_y_then_z() -> None:
    joints, _ = spherical("j", "base", "body")
    expected = turn([1, 0, 0], 0.1) @ turn([0, 1, 0], 0.2) @ turn([0, 0, 1], 0.3)
    np.testing.assert_allclose(placement(joints, [0.1, 0.2, 0.3]), expected, atol=1e-15)


def test_universal_turns_about_x_then_y() -> None:
    joints, _ = universal("j", "base", "body")
    np.testing.assert_allclose(placement(joints, [0.1, 0.2]), turn([1, 0, 0], 0.1) @ turn([0, 1, 0], 0.2), atol=1e-15)


def test_cylindrical_is_a_screw_along_one_axis() -> None:
    axis = np.array([1.0, 2.0, 2.0]) / 3
    joints, _ = cylindrical("j", "base", "body", axis=(1, 2, 2))
    np.testing.assert_allclose(placement(joints, [0.4, 0.5]), turn(axis, 0.4) @ slide(0.5 * axis), atol=1e-15)


def test_planar_slides_along_x_and_y_for_the_normal_z() -> None:
    joints, _ = planar("j", "base", "body")
    np.testing.assert_allclose(placement(joints, [1, 2, 0.3]), slide([1, 2, 0]) @ turn([0, 0, 1], 0.3), atol=1e-15)


def test_planar_stays_in_the_plane_of_any_normal() -> None:
    normal = np.array([1.0, -2.0, 0.5])
    joints, _ = planar("j", "base", "body", normal=normal)
    X = placement(joints, [1.0, 2.0, 0.7])
    np.testing.assert_allclose(X[:3, 3] @ normal, 0, atol=1e-14)
    np.testing.assert_allclose(X[:3, :3] @ normal, normal, atol=1e-14)
    x, y, n = (joint.axis for joint in joints)
    np.testing.assert_allclose(np.cross(x, y), n, atol=1e-15)


def test_floating_places_then_turns() -> None:
    joints, _ = floating("j", "base", "body")
    turned = turn([1, 0, 0], 0.1) @ turn([0, 1, 0], 0.2) @ turn([0, 0, 1], 0.3)
    np.testing.assert_allclose(placement(joints, [1, 2, 3, 0.1, 0.2, 0.3]), slide([1, 2, 3]) @ turned, atol=1e-15)


@pytest.mark.parametrize(("build", "degrees", "names"), ALL)
def test_the_origin_comes_first_and_once(build: Callable[..., Any], degrees: int, names: list[str]) -> None:
    X = slide([1, 2, 3]) @ turn([0, 1, 0], 0.5)
    q = np.linspace(0.1, 0.6, degrees)
    placed, plain = build("j", "base", "body", origin=X)[0], build("j", "base", "body")[0]
    np.testing.assert_allclose(placement(placed, q), X @ placement(plain, q), atol=1e-15)


def test_limits_go_by_suffix() -> None:
    joints, _ = spherical("j", "base", "body", limits={"y": Limits(-1, 1)})
    assert [joint.limits for joint in joints] == [Limits(), Limits(-1, 1), Limits()]


def test_limits_of_an_unknown_suffix_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^joint 'j': limits of: 'w' is not known.*Known: x, y, z\."):
        spherical("j", "base", "body", limits={"w": Limits()})


def test_limits_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(ModelError, match=r"^joint 'j': limits of 'x': \(0, 1\) found; a Limits"):
        spherical("j", "base", "body", limits={"x": (0, 1)})  # type: ignore[dict-item]
