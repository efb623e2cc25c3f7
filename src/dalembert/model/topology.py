"""What is connected to what: one root, no loops, parents before children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from ..errors import ModelError, Part, UnknownNameError
from ..wording import listed
from .parts import Joint


class Connections(Protocol):
    """What is asked of a structure here, once it has been sorted."""

    @property
    def root(self) -> str:
        """The link that no joint moves."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, parents first."""

    def joint(self, name: str) -> Joint:
        """The joint of this name."""


def sort(links: tuple[str, ...], joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """The joints depth first from the root, siblings in the order given."""
    _check_ends(links, joints)
    children: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in joints:
        children[joint.parent].append(joint)
    ordered = list(_walk(root(links, joints), children))
    if len(ordered) != len(joints):
        reached = {joint.name for joint in ordered}
        lost = [joint for joint in joints if joint.name not in reached]
        raise ModelError(
            f"joint {lost[0].name!r}: it closes a loop ({lost[0].parent!r} to {lost[0].child!r} cannot be reached from the "
            "root). A robot is a tree: leave this joint out, and close the loop with a Closure of a Mechanism.",
            part=Part("joint", lost[0].name),
        )
    return tuple(ordered)


def _walk(start: str, children: dict[str, list[Joint]]) -> Iterator[Joint]:
    stack = list(reversed(children[start]))  # an explicit stack: chains of hundreds of links are normal
    while stack:
        joint = stack.pop()
        yield joint
        stack.extend(reversed(children[joint.child]))


def _check_ends(links: tuple[str, ...], joints: tuple[Joint, ...]) -> None:
    if not links:
        raise ModelError("robot: no links found; at least a base link is expected.")
    carrier: dict[str, Joint] = {}
    known = set(links)
    for joint in joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                raise UnknownNameError.among(f"joint {joint.name!r}: {end} link", name, links, part=Part("joint", joint.name))
        if joint.parent == joint.child:
            sentence = f"joint {joint.name!r}: it joins link {joint.child!r} to itself, which is a loop."
            raise ModelError(sentence, part=Part("joint", joint.name))
        if joint.child in carrier:
            raise ModelError(
                f"link {joint.child!r}: it has two parents, through joints {carrier[joint.child].name!r} and {joint.name!r}, "
                "which closes a loop. A robot is a tree: remove one joint, and close the loop with a Closure of a Mechanism.",
                part=Part("link", joint.child),
            )
        carrier[joint.child] = joint


def root(links: tuple[str, ...], joints: tuple[Joint, ...]) -> str:
    """The one link that is nobody's child."""
    moved = {joint.child for joint in joints}
    roots = [name for name in links if name not in moved]
    if len(roots) > 1:
        raise ModelError(
            f"links {listed(map(repr, roots))}: {len(roots)} roots found, one expected; each other link needs a joint "
            "that carries it. Join them with a fixed joint, or remove the stray ones.",
            part=Part("link", roots[-1]),
        )
    if not roots:
        raise ModelError("robot: every link is the child of a joint, so the joints form a loop and there is no base link.")
    return roots[0]


def leaves(links: tuple[str, ...], joints: tuple[Joint, ...]) -> list[str]:
    """Links that carry nothing further."""
    parents = {joint.parent for joint in joints}
    return [name for name in links if name not in parents]


def check_mimics(joints: tuple[Joint, ...]) -> None:
    """A mimic joint follows a moving joint that has a coordinate of its own."""
    masters = {j.name for j in joints if j.moves and j.mimic is None}
    followers = {j.name for j in joints if j.mimic is not None}
    for joint in joints:
        if joint.mimic is None or not joint.moves:
            continue
        if joint.mimic.joint in followers:
            raise ModelError(
                f"joint {joint.name!r}: it follows {joint.mimic.joint!r}, which follows another joint itself. "
                "Let both follow the joint that moves on its own, with the multipliers combined.",
                part=Part("joint", joint.name),
            )
        if joint.mimic.joint not in masters:
            subject, part = f"joint {joint.name!r}: mimic of joint", Part("joint", joint.name)
            raise UnknownNameError.among(subject, joint.mimic.joint, sorted(masters), part=part)


def check_mounts(structure: Connections, mounts: Mapping[str, str | None]) -> None:
    """A rotor sits on a link between the base and its joint; `mounts` goes by joint name, None being the joint's parent."""
    last = _last_carried(structure)
    place = {link: i for i, link in enumerate(last)}
    for name, mount in mounts.items():
        child = structure.joint(name).child
        if mount is None or (mount in place and place[mount] < place[child] <= last[mount]):
            continue
        raise ModelError(
            f"rotor of joint {name!r}: mounted on {mount!r}, which is not between the base and the joint. "
            f"Possible: {listed(ancestors(structure, child))}.",
            part=Part("joint", name),
        )


def _last_carried(structure: Connections) -> dict[str, int]:
    """The place of the last link that each link carries, itself counted, all links standing as their joints do.

    Depth first, what a link carries stands right behind it: one comparison tells whether it carries another.
    """
    order = [structure.root, *(joint.child for joint in structure.joints)]
    last = {link: i for i, link in enumerate(order)}
    for joint in reversed(structure.joints):
        last[joint.parent] = max(last[joint.parent], last[joint.child])
    return last


def ancestors(structure: Connections, link: str) -> list[str]:
    """The links below this one, nearest first, the root last."""
    parent = {j.child: j.parent for j in structure.joints}
    path = []
    while link in parent:
        link = parent[link]
        path.append(link)
    return path
