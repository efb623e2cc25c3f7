"""What rotors add to the sum of the links' terms, written with the screws of the links they are mounted on.

A full rotor of joint j on link m has the spin momentum k I q̇_j z beside its inertia at rest, which is part of m. With s_a the
angular parts of the columns of m, ω its angular velocity and f_a = k I z·s_a:

    M_ja, M_aj += f_a,   M_jj += k² I                                                        (1)  [Siciliano, Eq. 7.27, 7.32]
    C_jb += ḟ_b − ½ k I z·(s_b × ω),   C_aj += ½ k I z·(s_a × ω),   C_ab += ½ k I q̇_j z·(s_a × s_b)   (2)  [theory: screws]

of which (2) are the Christoffel symbols of (1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..model.tree import Tree
from ..spatial import Matrix, Vec3
from ..spatial.nested import zeros
from .screw_links import ColumnPlace, LinkScrews


class _Rotor(NamedTuple):
    """A full rotor: its joint's number and place, the link that carries it, and k I z in that link's axes."""

    joint: int
    place: ColumnPlace
    mount: LinkScrews
    momentum: Vec3


def _full(tree: Tree, found: Sequence[LinkScrews], places: Sequence[ColumnPlace]) -> Iterator[_Rotor]:
    """The full rotors on links that move; on the base they spin about axes at rest."""
    for j, s in enumerate(tree.segments):
        if s.spin is not None and s.spin.mount >= 0:
            yield _Rotor(j, places[j], found[s.spin.mount], s.spin.axis * s.spin.kI)


def own_inertia(tree: Tree, j: int) -> float:
    """k² I of joint j, reflected or spinning."""
    s = tree.segments[j]
    return s.armature if s.spin is None else s.armature + s.spin.kkI


def inertia(tree: Tree, found: Sequence[LinkScrews], places: Sequence[ColumnPlace], n: int) -> Matrix:
    """What rotors add to M (1)."""
    M: Matrix = zeros(n, n)
    for j, (key, multiplier) in enumerate(places):
        M[key][key] = M[key][key] + own_inertia(tree, j) * multiplier * multiplier
    for rotor in _full(tree, found, places):
        key, multiplier = rotor.place
        for a, S in rotor.mount.columns.items():
            f = rotor.momentum.dot(S.w) * multiplier
            M[key][a] = M[key][a] + f
            M[a][key] = M[a][key] + f
    return M


def coriolis(tree: Tree, found: Sequence[LinkScrews], places: Sequence[ColumnPlace], qd: Sequence[Any], n: int) -> Matrix:
    """What rotors add to C (2); q̇ is per segment."""
    C: Matrix = zeros(n, n)
    for rotor in _full(tree, found, places):
        key, multiplier = rotor.place
        columns, w, half = rotor.mount.columns, rotor.mount.twist.w, rotor.momentum * 0.5
        for a, S_a in columns.items():
            turned = half.dot(S_a.w.cross(w)) * multiplier
            C[key][a] = C[key][a] + rotor.momentum.dot(rotor.mount.rates[a].w) * multiplier - turned
            C[a][key] = C[a][key] + turned
            for b, S_b in columns.items():
                if b != a:
                    C[a][b] = C[a][b] + half.dot(S_a.w.cross(S_b.w)) * qd[rotor.joint]
    return C


def torques(
    tree: Tree, found: Sequence[LinkScrews], places: Sequence[ColumnPlace], qd: Sequence[Any], qdd: Sequence[Any], n: int
) -> list[Any]:
    """M q̈ + C q̇ of (1) and (2): k I (z·α + k q̈_j) at the joint, k I (q̈_j z + q̇_j ω × z) on the mount [Siciliano, Eq. 7.105]."""
    tau: list[Any] = [0.0] * n
    for j, (key, multiplier) in enumerate(places):
        tau[key] = tau[key] + qdd[j] * (own_inertia(tree, j) * multiplier)
    for rotor in _full(tree, found, places):
        key, multiplier = rotor.place
        j, z = rotor.joint, rotor.momentum
        tau[key] = tau[key] + z.dot(rotor.mount.acceleration.w) * multiplier
        moment = z * qdd[j] + rotor.mount.twist.w.cross(z) * qd[j]
        for a, S in rotor.mount.columns.items():
            tau[a] = tau[a] + moment.dot(S.w)
    return tau
