"""A platform on six legs, as tests draw and time it: legs with a slide between a universal joint and a ball."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import dalembert as dal
from dalembert.model.position_functions import Component

HEIGHT = 1.1
WAIST, RIM = 0.55, 0.9  # radii of platform and base [m]
BASE = [np.deg2rad(120 * (k // 2) + (14 if k % 2 else -14)) for k in range(6)]
TOP = [np.deg2rad(120 * (k // 2) + (46 if k % 2 else -46)) for k in range(6)]


def _pose(point: Iterable[float], R: np.ndarray | None = None) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = list(point)
    if R is not None:
        X[:3, :3] = R
    return X


def corners(radius: float, angles: Iterable[float]) -> list[np.ndarray]:
    """Points on a circle about z."""
    return [radius * np.array([np.cos(a), np.sin(a), 0.0]) for a in angles]


def _leg_frame(foot: np.ndarray, end: np.ndarray) -> np.ndarray:
    """z along the leg, y level."""
    z = (end - foot) / np.linalg.norm(end - foot)
    y = np.cross(z, [0.0, 0.0, 1.0])
    y /= np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])


def _foot(k: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Where leg k stands, the frame in which it points to the platform at rest, and its length there."""
    foot = corners(RIM, BASE)[k]
    end = corners(WAIST, TOP)[k] + [0.0, 0.0, HEIGHT]
    return foot, _leg_frame(foot, end), float(np.linalg.norm(end - foot))


def _leg(k: int) -> tuple[list[dal.Link], list[dal.Joint]]:
    """Universal joint, cylinder, slide, rod."""
    foot, R, length = _foot(k)
    links = [
        dal.Link(f"cross{k}", virtual=True),
        dal.Link(f"cylinder{k}", 2.0, np.array([0, 0, 0.25]), np.diag([0.04, 0.04, 0.002])),
        dal.Link(f"rod{k}", 1.0, np.array([0, 0, -0.3]), np.diag([0.03, 0.03, 0.001])),
    ]
    joints = [
        dal.Joint(f"swing{k}", "continuous", "base", f"cross{k}", origin=_pose(foot, R), axis=np.array([1.0, 0, 0])),
        dal.Joint(f"tilt{k}", "continuous", f"cross{k}", f"cylinder{k}", axis=np.array([0.0, 1, 0])),
        dal.Joint(f"slide{k}", "prismatic", f"cylinder{k}", f"rod{k}", home=length),
    ]
    return links, joints


def _platform_on_a_leg() -> tuple[list[dal.Link], list[dal.Joint]]:
    """The platform, by a ball of three joints, on the rod of leg 0."""
    _, R, _ = _foot(0)
    corner = corners(WAIST, TOP)[0]
    links = [dal.Link("ball_a", virtual=True), dal.Link("ball_b", virtual=True), plate()]
    joints = [
        dal.Joint("ball_x", "continuous", "rod0", "ball_a", origin=_pose((0, 0, 0), R.T), axis=np.array([1.0, 0, 0])),
        dal.Joint("ball_y", "continuous", "ball_a", "ball_b", axis=np.array([0.0, 1, 0])),
        dal.Joint("ball_z", "continuous", "ball_b", "platform", child_origin=_pose(-corner)),
    ]
    return links, joints


def plate() -> dal.Link:
    """The platform, its frame in the middle."""
    return dal.Link("platform", 8.0, np.array([0.0, 0, 0.02]), np.diag([0.6, 0.6, 1.2]))


def _free_platform() -> tuple[list[dal.Link], list[dal.Joint]]:
    """The platform on three slides and three turns without mass."""
    names = ["px", "py", "pz", "rx", "ry", "rz"]
    links = [*(dal.Link(f"virtual_{name}", virtual=True) for name in names[:-1]), plate()]
    parents = ["base", *(link.name for link in links[:-1])]
    joints = []
    for k, (name, parent, link) in enumerate(zip(names, parents, links, strict=True)):
        kind = "prismatic" if k < 3 else "continuous"
        origin = _pose((0, 0, HEIGHT)) if k == 0 else np.eye(4)
        joints.append(dal.Joint(name, kind, parent, link.name, origin=origin, axis=np.eye(3)[k % 3]))
    return links, joints


def _joined(name: str, parts: Iterable[tuple[list[dal.Link], list[dal.Joint]]]) -> dal.Robot:
    links, joints = [dal.Link("base")], []
    for more_links, more_joints in parts:
        links += more_links
        joints += more_joints
    return dal.Robot.from_parts(name, links, joints)


def stewart(*, free: bool = False) -> dal.Mechanism:
    """Six legs, cut at the balls of the platform; it hangs on leg 0, or moves freely on virtual joints."""
    tree = _joined("stewart", [*(_leg(k) for k in range(6)), _free_platform() if free else _platform_on_a_leg()])
    ends = corners(WAIST, TOP)
    balls = [
        dal.Closure(f"ball{k}", "spherical", ((f"rod{k}", (0, 0, 0)), ("platform", ends[k]))) for k in range(0 if free else 1, 6)
    ]
    return dal.Mechanism("stewart", tree, balls, [f"slide{k}" for k in range(6)])


def _hanging_ball(k: int) -> tuple[list[dal.Link], list[dal.Joint], np.ndarray]:
    """Three joints at a corner of the platform, and the frame in which a leg goes on from there."""
    _, R, _ = _foot(k)
    links = [dal.Link(f"ball_a{k}", virtual=True), dal.Link(f"ball_b{k}", virtual=True)]
    joints = [
        dal.Joint(
            f"ball_x{k}", "continuous", "platform", f"ball_a{k}", origin=_pose(corners(WAIST, TOP)[k], R), axis=np.eye(3)[0]
        ),
        dal.Joint(f"ball_y{k}", "continuous", f"ball_a{k}", f"ball_b{k}", axis=np.eye(3)[1]),
        dal.Joint(f"ball_z{k}", "continuous", f"ball_b{k}", f"rod{k}"),
    ]
    return links, joints, R


def _hanging_leg(k: int) -> tuple[list[dal.Link], list[dal.Joint]]:
    """A whole leg that hangs on the platform."""
    links, joints, _ = _hanging_ball(k)
    (_, cylinder, rod), _ = _leg(k)
    length = _foot(k)[2]
    joints.append(dal.Joint(f"slide{k}", "prismatic", f"rod{k}", f"cylinder{k}", axis=np.array([0.0, 0, -1]), home=length))
    return [*links, rod, cylinder], joints


def _half_legs(k: int) -> tuple[list[dal.Link], list[dal.Joint]]:
    """The cylinder on its foot, the rod on the platform."""
    (cross, cylinder, rod), (swing, tilt, _) = _leg(k)
    links, joints, _ = _hanging_ball(k)
    return [cross, cylinder, *links, rod], [swing, tilt, *joints]


def stewart_cut_at_feet() -> dal.Mechanism:
    """The same platform, with its legs hanging on it and closed by universal joints on the ground."""
    tree = _joined("stewart_cut_at_feet", [_free_platform(), *(_hanging_leg(k) for k in range(6))])
    feet = []
    for k in range(6):
        foot, R, _ = _foot(k)
        turned = R @ np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # z along the first axis of the cross
        level = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # z along its second axis, in the cylinder
        ends = (("world", _pose(foot, turned)), (f"cylinder{k}", _pose((0, 0, 0), level)))
        feet.append(dal.Closure(f"foot{k}", "universal", ends))
    return dal.Mechanism("stewart_cut_at_feet", tree, feet, [f"slide{k}" for k in range(6)])


def stewart_cut_in_legs() -> dal.Mechanism:
    """The same platform, its legs opened at their slides; coordinates are the lengths of the legs."""
    tree = _joined("stewart_cut_in_legs", [_free_platform(), *(_half_legs(k) for k in range(6))])
    slides = [dal.Closure(f"leg{k}", "prismatic", (f"cylinder{k}", f"rod{k}")) for k in range(6)]
    lengths = [
        dal.Chosen(
            f"length{k}", Component((f"rod{k}", (0, 0, 0)), (0, 0, 1), (f"cylinder{k}", (0, 0, 0)), f"cylinder{k}"), turns=False
        )
        for k in range(6)
    ]
    return dal.Mechanism("stewart_cut_in_legs", tree, slides, lengths)


def rest_lengths() -> np.ndarray:
    """Of the legs, where the slides are at zero."""
    return np.array([_foot(k)[2] for k in range(6)])
