"""Joint torques split by cause: for each joint and each link, what its translation, its rotation and its weight ask for.

With b_j and z_j the motion of the centre of mass and the turning of link s for unit velocity of joint j [Lee, Eq. 6, 12], the
torque at joint i that goes into link s is, term by term:

    m b_i·b_j q̈_j                       translational inertia (j = i), translational coupling (j ≠ i)          (1)
    z_i·I z_j q̈_j                       rotational inertia, rotational coupling                                 (2)
    m b_i·(z_j × b_k) q̇_j q̇_k           translational centrifugal (j = k), Coriolis (j ≠ k); j not beyond k      (3)
    z_i·(I (z_j × z_k) + z_j × I z_k) q̇_j q̇_k     rotational centrifugal, Coriolis                               (4)
    −m g·b_i                             gravity                                                                 (5)

as in [Lee, Eq. 30 to 33]; to these come, per joint, the rotor's own inertia, the coupling and gyroscopic torque of a
spinning rotor [Siciliano, §7.1.1], and friction. Over all links and causes they add up to the torque.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..algorithms.joint import friction, joint_screw
from ..algorithms.sweep import Unrolled
from ..dynamics.quantity import COLUMNS, Output, Quantity, TreeRecipe
from ..expr import ops
from ..formulations.base import spin_model, world_poses
from ..model.tree import Segment, Tree
from ..spatial import ZERO, Pose, Vec3

DRIVE_CAUSES = ("rotor inertia", "rotor coupling", "rotor gyroscopic", "friction")
CAUSES = (
    "translational inertia",
    "rotational inertia",
    "translational coupling",
    "rotational coupling",
    "translational centrifugal",
    "rotational centrifugal",
    "translational Coriolis",
    "rotational Coriolis",
    "gravity",
    *DRIVE_CAUSES,
)
DRIVE = -1  # in the place of a link: what happens at the joint itself


class PieceKey(NamedTuple):
    """What a piece of torque belongs to: a cause, a coordinate, and a segment (or DRIVE)."""

    cause: str
    joint: int
    link: int


Pieces = dict[PieceKey, Any]


def rows(tree: Tree) -> list[tuple[str, int]]:
    """Causes and links in the order of the rows of `PIECES`."""
    return [(cause, link) for link in (DRIVE, *range(len(tree.segments))) for cause in CAUSES]


def _over_tree(tree: Tree) -> TreeRecipe:
    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
        found = pieces(sweep, q, qd, qdd)
        return [[found.get(PieceKey(cause, j, link), 0.0) for j in range(tree.n)] for cause, link in rows(tree)]

    return TreeRecipe(function, dict.fromkeys(("q", "qd", "qdd"), (tree.n,)), ["pieces"], can_roll=False, regroup=False)


PIECES = Quantity("torque_pieces", (Output("pieces", COLUMNS),), _over_tree)
"""The torque by cause and link: a row for each, a column for each coordinate."""


def pieces(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Pieces:
    """The torque of every coordinate by cause and link, over scalars of any kind."""
    tree = sweep.tree
    rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    poses = world_poses(sweep, sweep.expand(q))
    found: Pieces = {}
    for s, segment in enumerate(tree.segments):
        path = tree.path(s)[::-1]
        link = _Link(segment, poses[s], [tree.segments[j] for j in path], [poses[j] for j in path])
        for cause, place, value in link.torques([rates[j] for j in path], [accelerations[j] for j in path], tree.gravity):
            _enter(sweep, found, cause, path[place], s, value)
    for cause, i, value in _drives(sweep, poses, rates, accelerations):
        _enter(sweep, found, cause, i, DRIVE, value)
    return found


def _enter(sweep: Unrolled, found: Pieces, cause: str, i: int, link: int, value: Any) -> None:
    """Add a piece at segment i to that of its coordinate; what is zero by structure is no piece."""
    if ops.is_zero(value):
        return
    s = sweep.tree.segments[i]
    key = PieceKey(cause, s.coordinate, link)
    found[key] = found.get(key, 0.0) + value * s.multiplier


class _Link:
    """One link and the joints that move it, base first, in world axes."""

    def __init__(self, segment: Segment, pose: Pose, joints: Sequence[Segment], poses: Sequence[Pose]) -> None:
        body = segment.inertia
        self.m, self.I = body.mass, body.about_centre().I.rotated(pose.R)
        centre = pose.R @ body.centre + pose.p
        self.coordinates = [joint.coordinate for joint in joints]
        screws = [joint_screw(joint, p.R.third, centre - p.p) for joint, p in zip(joints, poses, strict=True)]
        self.b, self.z = [S.v for S in screws], [S.w for S in screws]

    def torques(self, rates: Sequence[Any], accelerations: Sequence[Any], gravity: Vec3) -> Iterator[tuple[str, int, Any]]:
        """Cause, place on the path, torque."""
        products = dict(zip(("centrifugal", "Coriolis"), self._products(rates), strict=True))
        for i, (b, z) in enumerate(zip(self.b, self.z, strict=True)):
            for own, name in ((True, "inertia"), (False, "coupling")):
                others = [j for j in range(len(self.b)) if (self.coordinates[j] == self.coordinates[i]) == own]
                force = _sum(self.b[j] * accelerations[j] for j in others)
                moment = self.I @ _sum(self.z[j] * accelerations[j] for j in others)
                yield f"translational {name}", i, b.dot(force) * self.m  # (1)
                yield f"rotational {name}", i, z.dot(moment)  # (2)
            for name, (force, moment) in products.items():
                yield f"translational {name}", i, b.dot(force) * self.m  # (3)
                yield f"rotational {name}", i, z.dot(moment)  # (4)
            yield "gravity", i, gravity.dot(b) * -self.m  # (5)

    def _products(self, rates: Sequence[Any]) -> tuple[tuple[Vec3, Vec3], tuple[Vec3, Vec3]]:
        """Acceleration of the centre and moment by squares of velocities, then by products of different ones."""
        square, moment_square, mixed, moment_mixed = ZERO, ZERO, ZERO, ZERO
        for k, (b, z) in enumerate(zip(self.b, self.z, strict=True)):
            rate, Iz = rates[k], self.I @ z
            square = square + z.cross(b) * (rate * rate)
            moment_square = moment_square + z.cross(Iz) * (rate * rate)
            for j in range(k):
                product = self.z[j].cross(b)
                turning = self.I @ self.z[j].cross(z) + self.z[j].cross(Iz) + z.cross(self.I @ self.z[j])
                mixed = mixed + (product + product) * (rates[j] * rate)
                moment_mixed = moment_mixed + turning * (rates[j] * rate)
        return (square, moment_square), (mixed, moment_mixed)


def _sum(vectors: Iterator[Vec3]) -> Vec3:
    return sum(vectors, ZERO)


def _drives(sweep: Unrolled, poses: Any, rates: Any, accelerations: Any) -> Iterator[tuple[str, int, Any]]:
    """What rotors and friction ask for at each segment's joint."""
    tree = sweep.tree
    count = range(len(tree.segments))
    M, c = spin_model(tree, poses)
    for i, s in enumerate(tree.segments):
        yield "rotor inertia", i, accelerations[i] * (M[i][i] + s.armature)
        yield "rotor coupling", i, sum((accelerations[j] * M[i][j] for j in count if j != i), 0.0)
        yield "rotor gyroscopic", i, sum((rates[j] * rates[k] * c[i][j][k] for j in count for k in count), 0.0)
        yield "friction", i, friction(s.friction, rates[i])
