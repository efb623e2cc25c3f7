"""Terms of links that are attached to a robot, from the screws of the link that carries them and nothing else of the robot.

The sum M_1 ‡ … ‡ M_n of the screw formulation grows by the terms of new links and keeps those of the old ones [Laus, §2.4]. A new
link needs of the old robot the screws of its carrier P: J_P, its rate and gravity, all in P's frame (`carrier`). What it adds is
computed here from these alone, whatever the robot.

The tree of an attachment begins with a segment that stands for P: a joint that stays at zero, with the bodies held rigidly by P.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..algorithms.joint import friction, joint_screw
from ..algorithms.kinematics import place_pose
from ..algorithms.sweep import Unrolled
from ..model.tree import FramePlace, Tree
from ..spatial import AT_REST, ZERO, Mat3, Matrix, Twist, Vec3
from ..spatial.nested import sum_of
from . import screw_rotors
from .base import world_poses
from .screw_links import (
    LinkScrews,
    carried,
    centre,
    coriolis_matrix,
    inertia_matrix,
    links_on,
    of_links,
    torques,
)


class Carrier(NamedTuple):
    """Screws of a link in its own frame, linear rows first: J_P and J̇_P of shape (6, k), gravity of shape (3,)."""

    J: Matrix
    Jdot: Matrix
    gravity: list[Any]


def carrier(sweep: Unrolled, place: FramePlace, q: Any, qd: Any) -> Carrier:
    """The screws of a frame fixed in a link of the robot; columns are the coordinates that move it, in order.

    Directly from the joints' axes [Laus, Eq. 28], and Ṡ_j = [S_j, V − V_j] with V_j the twist of the link that joint j moves.
    """
    tree, poses = sweep.tree, world_poses(sweep, sweep.expand(q))
    frame = place_pose(poses, place)
    path = list(reversed(tree.path(place.segment)))
    screws = [_turned(frame.R.T, joint_screw(tree.segments[j], poses[j].R.third, frame.p - poses[j].p)) for j in path]
    rates = sweep.expand(qd, rate=True)
    columns: dict[int, Twist] = {}
    changes: dict[int, Twist] = {}
    beyond = AT_REST
    for j, S in zip(reversed(path), reversed(screws), strict=True):
        key, multiplier = tree.segments[j].coordinate, tree.segments[j].multiplier
        columns[key] = columns.get(key, AT_REST) + S * multiplier
        changes[key] = changes.get(key, AT_REST) + S.cross(beyond) * multiplier
        beyond = beyond + S * rates[j]
    return _carrier(columns, changes, frame.R.T @ tree.gravity)


def _carrier(columns: Mapping[int, Twist], rates: Mapping[int, Twist], gravity: Vec3) -> Carrier:
    order = sorted(columns)
    return Carrier(_rows([columns[a] for a in order]), _rows([rates[a] for a in order]), list(gravity))


def _turned(R: Mat3, S: Twist) -> Twist:
    return Twist(R @ S.v, R @ S.w)


def _rows(columns: Sequence[Twist]) -> Matrix:
    return [[S[part][k] for S in columns] for part in (0, 1) for k in range(3)]


def _columns(J: Matrix) -> dict[int, Twist]:
    return {j: Twist(Vec3(*entries[:3]), Vec3(*entries[3:])) for j, entries in enumerate(zip(*J, strict=True))}


class Attachment(NamedTuple):
    """New links on a carrier with k coordinates, at one state; n counts those and the new ones."""

    tree: Tree
    n: int
    places: list[tuple[int, float]]
    rates: list[Any]
    accelerations: list[Any]
    links: list[LinkScrews]

    def mass_matrix(self) -> Matrix:
        """What the new links add to M."""
        own = of_links(inertia_matrix, self.tree, self.links, self.n)
        return sum_of(*own, screw_rotors.inertia(self.tree, self.links, self.places, self.n))

    def coriolis_matrix(self) -> Matrix:
        """What the new links add to C."""
        own = of_links(coriolis_matrix, self.tree, self.links, self.n)
        return sum_of(*own, screw_rotors.coriolis(self.tree, self.links, self.places, self.rates, self.n))

    def torques(self) -> list[Any]:
        """What the new links add to τ without friction; at rest, to g."""
        own = of_links(torques, self.tree, self.links, self.n)
        return sum_of(*own, screw_rotors.torques(self.tree, self.links, self.places, self.rates, self.accelerations, self.n))

    def friction(self) -> list[Any]:
        """Friction of the new joints."""
        tau: list[Any] = [0.0] * self.n
        for s, (key, multiplier), rate in zip(self.tree.segments, self.places, self.rates, strict=True):
            tau[key] = tau[key] + friction(s.friction, rate) * multiplier
        return tau


def attachment(tree: Tree, on: Carrier, q: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any]) -> Attachment:
    """The new links at a state: q are the new coordinates, q̇ and q̈ the carrier's and the new ones."""
    sweep, k = Unrolled(tree), len(on.J[0])
    places = [(0, 0.0), *((k + s.coordinate - 1, s.multiplier) for s in tree.segments[1:])]  # the stand-in has no column
    rates, accelerations = (sweep.expand([0.0, *values[k:]], rate=True) for values in (qd, qdd))
    found = links_on(_base(on, qd[:k], qdd[:k]), sweep, places, sweep.expand([0.0, *q]), rates, accelerations)
    return Attachment(tree, k + tree.n - 1, places, rates, accelerations, found)


def attached_carrier(tree: Tree, place: FramePlace, on: Carrier, q: Sequence[Any], qd: Sequence[Any]) -> Carrier:
    """The screws of a frame on one of the new links, for links attached to these in turn."""
    still = [0.0] * len(qd)
    moving, resting = (attachment(tree, on, q, rates, still).links[place.segment] for rates in (qd, still))
    point, R = place.p - centre(tree.segments[place.segment]), place.R.T
    there = carried(moving, lambda S: _turned(R, S.at(point)))
    return _carrier(there.columns, there.rates, -(R @ resting.acceleration.v))  # at rest it accelerates against gravity alone


def _base(on: Carrier, qd: Sequence[Any], qdd: Sequence[Any]) -> LinkScrews:
    """The carrier as the base of a tree."""
    columns, rates = _columns(on.J), _columns(on.Jdot)
    twist, acceleration = AT_REST, Twist(-Vec3(*on.gravity), ZERO)
    for j, S in columns.items():
        twist = twist + S * qd[j]
        acceleration = acceleration + S * qdd[j] + rates[j] * qd[j]
    return LinkScrews(columns, rates, twist, acceleration)
