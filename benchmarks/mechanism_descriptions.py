"""A mechanism in the formats of other programs: its tree as `descriptions.py` writes it, and its closures at points."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from dalembert.mechanism import Mechanism
from dalembert.model.tree import Segment, Tree

from .descriptions import add_mass, line, numbers, rotation, tree_lines
from .mechanism_subjects import driven

# MuJoCo's closures are springs: as stiff as its solver stands at the time steps used here.
STIFF = {"solref": "0.002 1", "solimp": "0.9999 0.9999 0.001 0.5 2"}
_SWITCHED_OFF = ("contact", "limit", "frictionloss", "actuation", "sensor")


class Meeting(NamedTuple):
    """Two points that are one, each by its segment (-1 is the ground) and its place there; the number of axes that hold them."""

    rows: int
    a: tuple[int, np.ndarray]
    b: tuple[int, np.ndarray]


def meetings(mechanism: Mechanism) -> list[Meeting]:
    """The closures, which all join points here; in a plane, that of x and y."""
    found = []
    for closure in mechanism.closures:
        assert closure.between is not None
        assert closure.type in ("spherical", "directions")
        a, b = (_place(mechanism.tree, link, X) for link, X in closure.between)
        found.append(Meeting(len(closure.rows), a, b))
    return found


def _place(tree: Tree, link: str, X: np.ndarray) -> tuple[int, np.ndarray]:
    """A point of a link in the frame of its segment."""
    if link == "world":
        return -1, X[:3, 3]
    place = tree.links[link]
    return place.segment, rotation(place.R) @ X[:3, 3] + np.array(place.p)


def mechanism_text(mechanism: Mechanism) -> str:
    """For `loops/pinocchio_mechanism_loop.cpp`: tree, closures, driven joints and how closures are solved."""
    lines = tree_lines(mechanism.tree)
    lines += [line("closure", m.rows, *m.a, *m.b) for m in meetings(mechanism)]
    lines.append(line("driven", mechanism.n, driven(mechanism)))
    return "".join([*lines, line("proximal", *proximal(mechanism))])


def proximal(mechanism: Mechanism) -> tuple[float, int]:
    """Pinocchio's regularisation and turns: where loops lie in a plane, one of its three rows is redundant."""
    return (1e-10, 2) if any(m.rows == 2 for m in meetings(mechanism)) else (0.0, 1)


def mechanism_mjcf(mechanism: Mechanism, *, stiffness: float = 0.0) -> str:
    """As MuJoCo's model file; its closures connect sites.

    Driven joints have springs of this stiffness that are at rest where the mechanism was assembled.
    """
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian", autolimits="false", boundmass="0", boundinertia="0")
    option = ElementTree.SubElement(root, "option", gravity=numbers(mechanism.tree.gravity), integrator="RK4")
    ElementTree.SubElement(option, "flag", dict.fromkeys(_SWITCHED_OFF, "disable"))
    bodies = _bodies(ElementTree.SubElement(root, "worldbody"), mechanism.tree)
    joints = {joint.get("name"): joint for joint in root.iter("joint")}
    for k in driven(mechanism) if stiffness else ():
        joints[f"joint{k}"].attrib |= {"stiffness": repr(stiffness), "springref": repr(float(mechanism.seed[k]))}
    equality = ElementTree.SubElement(root, "equality")
    for number, meeting in enumerate(meetings(mechanism)):
        names = [f"{end}{number}" for end in "ab"]
        for name, (segment, p) in zip(names, (meeting.a, meeting.b), strict=True):
            ElementTree.SubElement(bodies[segment + 1], "site", name=name, pos=numbers(p))
        ElementTree.SubElement(equality, "connect", {"site1": names[0], "site2": names[1], **STIFF})
    return ElementTree.tostring(root, encoding="unicode")


def _bodies(world: ElementTree.Element, tree: Tree) -> list[ElementTree.Element]:
    """The body of each segment, the ground first. A segment without mass is no body: its joint goes to the one it carries."""
    assert tree.is_plain
    bodies: list[ElementTree.Element] = [world]
    waiting: list[int] = []
    for k, s in enumerate(tree.segments):
        waiting.append(k)
        if not s.inertia[0]:
            assert tree.segments[k + 1].parent == k
            bodies.append(world)
            continue
        body = _body(bodies[tree.segments[waiting[0]].parent + 1], tree, waiting)
        add_mass(body, s)
        bodies.append(body)
        waiting = []
    order = [int(joint.get("name", "")[5:]) for joint in world.iter("joint")]
    assert order == list(range(tree.n)), "MuJoCo numbers joints by depth"
    return bodies


def _body(parent: ElementTree.Element, tree: Tree, chain: list[int]) -> ElementTree.Element:
    """A body with the joints of a chain of segments, as they are seen from the last one where all are at zero."""
    poses = [_pose(tree.segments[k]) for k in chain]
    X = reduce(np.matmul, poses)
    body = ElementTree.SubElement(parent, "body", pos=numbers(X[:3, 3]), xyaxes=numbers([*X[:3, 0], *X[:3, 1]]))
    for place, k in enumerate(chain):
        X = np.linalg.inv(reduce(np.matmul, poses[place + 1 :], np.eye(4)))
        kind = "hinge" if tree.segments[k].turn else "slide"
        ElementTree.SubElement(body, "joint", name=f"joint{k}", type=kind, pos=numbers(X[:3, 3]), axis=numbers(X[:3, 2]))
    return body


def _pose(s: Segment) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation(s.R, s.offset), s.p
    return X
