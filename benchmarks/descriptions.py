"""A robot in the formats of other programs: the tree of segments with all axes along z, as plain text and as MJCF.

Both take the numbers of `dalembert.model.tree`, so every library computes the same robot in the same coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from dalembert.dynamics import engine
from dalembert.model import Robot
from dalembert.model.tree import Segment, Tree
from dalembert.spatial import Inertia, Mat3

# Everything of MuJoCo that is not the motion of rigid links under torques and gravity.
_SWITCHED_OFF = ("constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "actuation", "sensor")


class Mass(NamedTuple):
    """Mass, centre of mass and inertia about it."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def mass_of(inertia: Inertia) -> Mass:
    """The inertia of a segment about its centre of mass instead of its origin."""
    m, h, I = inertia
    com = np.array(h) / m if m else np.zeros(3)
    about_origin = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]])
    return Mass(m, com, about_origin - m * (com @ com * np.eye(3) - np.outer(com, com)))


def rotation(R: Mat3, offset: float = 0.0) -> np.ndarray:
    """R · Rz(offset) as an array."""
    c, s = np.cos(offset), np.sin(offset)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(np.array(R).reshape(3, 3) @ turn)


def as_text(robot: Robot) -> str:
    """The tree for `loops/pinocchio_loop.cpp`, a line per segment."""
    tree = engine.tree(robot)
    lines = tree_lines(tree)
    if tree.tool is not None:
        lines.append(line("tool", tree.tool.segment, rotation(tree.tool.R), tree.tool.p))
    return "".join(lines)


def tree_lines(tree: Tree) -> list[str]:
    """Gravity and the segments."""
    lines = [line("gravity", tree.gravity)]
    for s in tree.segments:
        kind = "R" if s.turn else "P"
        lines.append(line("segment", s.parent, kind, rotation(s.R, s.offset), s.p, *mass_of(s.inertia)))
    return lines


def line(*items: Any) -> str:
    """Words and numbers, one after the other."""
    return " ".join(item if isinstance(item, str) else numbers(item) for item in items) + "\n"


def numbers(values: float | Iterable[float]) -> str:
    """All digits of some numbers."""
    return " ".join(repr(x) for x in np.asarray(values).ravel().tolist())


def as_mjcf(robot: Robot) -> str:
    """The tree as MuJoCo's model file."""
    tree = engine.tree(robot)
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian", autolimits="false", boundmass="0", boundinertia="0")
    option = ElementTree.SubElement(root, "option", gravity=numbers(tree.gravity))
    ElementTree.SubElement(option, "flag", dict.fromkeys(_SWITCHED_OFF, "disable"))
    bodies = [ElementTree.SubElement(root, "worldbody")]
    for s in tree.segments:
        bodies.append(_body(bodies[s.parent + 1], s))
    return ElementTree.tostring(root, encoding="unicode")


def _body(parent: ElementTree.Element, s: Segment) -> ElementTree.Element:
    R = rotation(s.R, s.offset)
    body = ElementTree.SubElement(parent, "body", pos=numbers(s.p), xyaxes=numbers([*R[:, 0], *R[:, 1]]))
    add_mass(body, s)
    ElementTree.SubElement(body, "joint", type="hinge" if s.turn else "slide", axis="0 0 1")
    return body


def add_mass(body: ElementTree.Element, s: Segment) -> None:
    """Mass and inertia of a segment."""
    mass, com, I = mass_of(s.inertia)
    full = numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    ElementTree.SubElement(body, "inertial", pos=numbers(com), mass=repr(float(mass)), fullinertia=full)
