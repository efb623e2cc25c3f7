"""Parts of the joint forces: what each link's mass, each link's inertia and each rotor's spin ask of the joints.

Inverse dynamics is linear in masses, moments and spin inertias, so a part is the inverse dynamics of the same tree from which
everything else is gone. A link splits in two: all its mass at its centre (`Inertia.as_point`), and its tensor about that point
(`Inertia.about_centre`). These are the translational and the rotational part of the generalised d'Alembert equations
[Lee, Eq. 29-33; Milicevic, Eq. 4.1-4.5].
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..model.tree import Segment, Tree
from ..spatial import SYM_ZERO, ZERO, Inertia, Matrix, Tensor
from .newton_euler_recursion import inverse_dynamics, still_base
from .sweep import Unrolled

NOTHING = Inertia(0.0, ZERO, SYM_ZERO)


def bare(s: Segment, inertia: Inertia = NOTHING) -> Segment:
    """A segment with this inertia and nothing else that resists."""
    return dataclasses.replace(s, inertia=inertia, armature=0.0, spin=None, friction=None)


def only(tree: Tree, i: int, segment: Segment) -> Unrolled:
    """The tree in which only segment i has inertia."""
    segments = [bare(s) for s in tree.segments]
    segments[i] = segment
    return Unrolled(dataclasses.replace(tree, segments=tuple(segments)))


def motion_parts(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> tuple[Matrix, Matrix, Matrix]:
    """Per segment the forces its motion needs, without gravity: of its mass, of its inertia, and of its joint's rotor."""
    weightless = still_base(ZERO)

    def part(i: int, segment: Segment) -> list[Any]:
        return inverse_dynamics(only(sweep.tree, i, segment), q, qd, qdd, weightless, with_friction=False)

    segments = list(enumerate(sweep.tree.segments))
    masses = [part(i, bare(s, s.inertia.as_point())) for i, s in segments]
    inertias = [part(i, bare(s, s.inertia.about_centre())) for i, s in segments]
    rotors = [part(i, dataclasses.replace(s, inertia=NOTHING, friction=None)) for i, s in segments]
    return masses, inertias, rotors


def gravity_parts(sweep: Unrolled, q: Any) -> Matrix:
    """Per segment the forces that carry its weight."""
    rest = [0.0] * sweep.tree.n
    base = still_base(sweep.tree.gravity)
    return [
        inverse_dynamics(only(sweep.tree, i, bare(s, s.inertia.as_point())), q, rest, rest, base, with_friction=False)
        for i, s in enumerate(sweep.tree.segments)
    ]


def inertia_parts(M: Matrix, qdd: Any) -> Matrix:
    """M_ij q̈_j: what the acceleration of each coordinate asks of each."""
    return [[entry * acceleration for entry, acceleration in zip(row, qdd, strict=True)] for row in M]


def velocity_parts(c: Tensor, qd: Any) -> tuple[Matrix, list[Any]]:
    """c_ijj q̇_j² for each j (centrifugal), and the sum of 2 c_ijk q̇_j q̇_k over all pairs j < k (Coriolis) [Siciliano, §7.1.3]."""
    n = range(len(qd))
    centrifugal = [[plane[j][j] * (qd[j] * qd[j]) for j in n] for plane in c]
    coriolis = [sum((plane[j][k] * (qd[j] * qd[k]) * 2.0 for j in n for k in n if j < k), 0.0) for plane in c]
    return centrifugal, coriolis
