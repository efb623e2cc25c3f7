"""Generalized d'Alembert: a closed model of vector products, its translational and rotational parts kept apart.

Joint i moves the centre of mass of link s by b_si = z_i × (r_s − p_i) for unit velocity and turns the link about z_i; a sliding
joint has b_si = z_i and does not turn it [Lee, Eq. 6, 12]. Sums run over the links s that all joints named move:

    D_ij  = Σ_s m_s b_si·b_sj  +  Σ_s z_i·I_s z_j                             (1)  [Lee, Eq. 30; Milicevic, Eq. 4.2]
    N_ki  = Σ_s m_s b_sk × b_si  +  Σ_s (½ tr I_s 1 − I_s)(z_k × z_i)          (2)  N_ik = −N_ki
    h_ijk = h_ikj = z_j·N_ki   for j not beyond k; 0 for a sliding j           (3)
    H_i   = Σ_k q̇_k (ω_k + ω_k⁻)·N_ki                                         (4)  [Lee, Eq. 31, 32; Milicevic, Eq. 4.3, 4.4]
    G_i   = −g·Σ_s m_s b_si                                                    (5)  [Lee, Eq. 33; Milicevic, Eq. 4.5]
    τ_i   = Σ_j D_ij q̈_j + H_i + G_i                                          (6)  [Lee, Eq. 29; Milicevic, Eq. 4.1]

with ω_k and ω_k⁻ the angular velocity beyond and before joint k. The first sums are translation, the second rotation. (2) to (4)
collect the velocity terms of the documents into one vector per pair of joints [theory: generalized_dalembert, Eq. 7-16]. All
sums over links are moments of what lies beyond a joint k, taken once about its origin, in its axes:

    u_k = z_k × S_k,  l_k = I_k z_k     (sliding: u_k = m_k z_k,  l_k = S_k × z_k)                                      (7)
    D_ki = u_k·v_i + l_k·z_i,   N_ki = u_k × v_i + E_k (z_k × z_i)     (sliding: u_k × v_i + z_k × (z_i × S_k))         (8)

v_i = z_i × (p_k − p_i), or z_i if it slides, is the velocity of that origin, and E_k = ½ tr I_k 1 − I_k. Rotors count as
rotation: the spin of a full one and the reflected inertia of the others; at rest a full rotor is a part of its mount, in both
sums.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..algorithms.composite_bodies import composite_step, unit_wrench
from ..algorithms.graph_derivatives import from_christoffel
from ..algorithms.joint import own_screw, transform
from ..algorithms.sweep import Unrolled
from ..model.tree import Segment, Tree
from ..spatial import SYM_ZERO, Z_AXIS, ZERO, Force, Inertia, Matrix, Tensor, Transform, Twist, Vec3, second_moment
from ..spatial.nested import dot, sum_of, zeros
from .base import (
    Formulation,
    FormulationTerm,
    Model,
    closed,
    condensed,
    condensed_tensor,
    spin_model,
    symmetric,
    world_poses,
)

MASSLESS = Inertia(0.0, ZERO, SYM_ZERO)


class Pair(NamedTuple):
    """An outer joint k and a joint i on its way to the base, by their numbers; N_ki is in the axes of k."""

    k: int
    i: int
    N: Vec3


def joint_motions(sweep: Unrolled, X: Any) -> list[dict[int, Twist]]:
    """For each joint k those up to it, base first: axis z_i (zero if it slides) and velocity v_i of k's origin, in k's axes."""

    def step(s: Segment, inner: dict[int, Twist], X_k: Transform, k: int) -> dict[int, Twist]:
        carried = {i: X_k.motion_down(motion) for i, motion in inner.items()}
        return carried | {k: own_screw(s)}

    return sweep.outward(step, {}, X, range(len(sweep.tree.segments)))


def beyond(sweep: Unrolled, X: Any, links: Sequence[Inertia]) -> list[Inertia]:
    """m_k, S_k, I_k of all that lies beyond each joint, about its origin and in its axes."""

    def step(s: Segment, children: Inertia | None, X_k: Transform, link: Inertia) -> tuple[Inertia, Inertia]:
        return composite_step(dataclasses.replace(s, inertia=link), children, X_k)

    return sweep.inward(step, X, links)


def inertia_matrix(motions: Sequence[dict[int, Twist]], momentum: Sequence[Force]) -> Matrix:
    """D over segments: the scalar products of (8)."""
    D: Matrix = zeros(len(motions), len(motions))
    for k, inner in enumerate(motions):
        for i, motion in inner.items():
            D[k][i] = D[i][k] = momentum[k].power(motion)
    return D


def vector_products(
    tree: Tree, motions: Sequence[dict[int, Twist]], bodies: Sequence[Inertia], momentum: Sequence[Force]
) -> Iterator[Pair]:
    """N_ki of every joint k with every joint i before it on its way to the base, (8)."""
    for k, inner in enumerate(motions):
        E, S = second_moment(bodies[k].I), bodies[k].h
        for i, (v, z) in inner.items():
            if i != k:
                turning = E @ Z_AXIS.cross(z) if tree.segments[k].turn else Z_AXIS.cross(z.cross(S))
                yield Pair(k, i, momentum[k].f.cross(v) + turning)


def velocity_coefficients(motions: Sequence[dict[int, Twist]], pairs: Iterator[Pair]) -> Tensor:
    """h over segments, (3); for j ≤ i the coefficients with i and k exchanged differ by the sign alone."""
    size = len(motions)
    h: Tensor = zeros(size, size, size)
    for k, i, N in pairs:
        for j, motion in motions[k].items():
            value = motion.w.dot(N)
            h[i][j][k] = h[i][k][j] = value
            if j in motions[i]:
                h[k][j][i] = h[k][i][j] = -value
    return h


def velocity_torques(motions: Sequence[dict[int, Twist]], pairs: Iterator[Pair], rates: Sequence[Any]) -> list[Any]:
    """H over segments, (4): each N_ki acts on joint i through k's rates and on k through i's."""
    H = [0.0] * len(motions)
    spins = [_spins(inner, rates) for inner in motions]
    for k, i, N in pairs:
        H[i] = H[i] + spins[k][k].dot(N)
        H[k] = H[k] - spins[k][i].dot(N)
    return H


def _spins(inner: dict[int, Twist], rates: Sequence[Any]) -> dict[int, Vec3]:
    """q̇_i (ω_i + ω_i⁻) of the joints up to one, in its axes."""
    result, before = {}, ZERO
    for i, motion in inner.items():
        after = before + motion.w * rates[i]
        result[i] = (before + after) * rates[i]
        before = after
    return result


def gravity_torques(sweep: Unrolled, X: Any, momentum: Sequence[Force], gravity: Vec3) -> list[Any]:
    """G over segments, (5): gravity is carried outwards, since u_k is in the axes of joint k."""
    down = sweep.outward(lambda s, g, X_k: X_k.down(g), gravity, X)
    return [-u.dot(g) for (u, _), g in zip(momentum, down, strict=True)]


class Parts(NamedTuple):
    """What all coefficients are made of, for some distribution of mass over the links."""

    tree: Tree
    motions: list[dict[int, Twist]]
    bodies: list[Inertia]
    momentum: list[Force]

    @property
    def pairs(self) -> Iterator[Pair]:
        """Every N_ki, made when it is needed."""
        return vector_products(self.tree, self.motions, self.bodies, self.momentum)

    @property
    def D(self) -> Matrix:
        """D over segments."""
        return inertia_matrix(self.motions, self.momentum)


def parts(sweep: Unrolled, X: Any, links: Sequence[Inertia]) -> Parts:
    """The parts for these links: whole ones, or their translation or rotation alone, since all is linear in mass and moments."""
    bodies = beyond(sweep, X, links)
    return Parts(sweep.tree, joint_motions(sweep, X), bodies, sweep.local(unit_wrench, bodies))  # (7)


def whole_links(tree: Tree) -> list[Inertia]:
    """Each link about its own origin: the sum of both parts by the parallel axes, so its centre of mass is not needed."""
    return [s.inertia for s in tree.segments]


def spin_parts(sweep: Unrolled, q: Any) -> tuple[Matrix, Tensor]:
    """What spinning rotors add to D and h, over segments."""
    size = len(sweep.tree.segments)
    if not sweep.tree.has_spin:
        return zeros(size, size), zeros(size, size, size)
    poses = world_poses(sweep, q)
    return spin_model(sweep.tree, poses)


def model(sweep: Unrolled, q: Any, gravity: Vec3) -> Model:
    """D, h and G over segments, with spinning rotors."""
    X = sweep.local(transform, q)
    found = parts(sweep, X, whole_links(sweep.tree))
    spin_D, spin_h = spin_parts(sweep, q)
    h = velocity_coefficients(found.motions, found.pairs)
    return Model(sum_of(found.D, spin_D), sum_of(h, spin_h), gravity_torques(sweep, X, found.momentum, gravity))


christoffel = closed(model)["christoffel"]


def mass_matrix(sweep: Unrolled, q: Any) -> Matrix:
    """D in coordinates, rotors included."""
    found = parts(sweep, sweep.local(transform, sweep.expand(q)), whole_links(sweep.tree))
    return condensed(sweep.tree, sum_of(found.D, rotor_inertias(sweep, q)))


def rotor_inertias(sweep: Unrolled, q: Any, only: int | None = None) -> Matrix:
    """What the rotors of all joints, or of one alone, add to D over segments, spinning or reflected."""
    segments = [
        s if only in (None, i) else dataclasses.replace(s, spin=None, armature=0.0) for i, s in enumerate(sweep.tree.segments)
    ]
    chosen = Unrolled(dataclasses.replace(sweep.tree, segments=tuple(segments)))
    D, _ = spin_parts(chosen, sweep.expand(q))
    for i, s in enumerate(segments):
        D[i][i] = D[i][i] + s.armature
    return D


def inverse_dynamics(
    sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: Any, loads: Any = None, *, with_friction: bool = True
) -> list[Any]:
    """τ = D q̈ + H + G, (6), with H by (4): one vector per pair of joints, where h has a number per triple."""

    def at_these_rates(sweep: Unrolled, q: Any, gravity: Vec3) -> Model:
        X = sweep.local(transform, q)
        found = parts(sweep, X, whole_links(sweep.tree))
        spin_D, spin_h = spin_parts(sweep, q)
        H = velocity_torques(found.motions, found.pairs, sweep.expand(qd, rate=True))
        return Model(sum_of(found.D, spin_D), spin_h, sum_of(H, gravity_torques(sweep, X, found.momentum, gravity)))

    return closed(at_these_rates)["inverse_dynamics"](sweep, q, qd, qdd, base, loads, with_friction=with_friction)


Kind = Callable[[Inertia], Inertia]
TRANSLATION: Kind = Inertia.as_point
ROTATION: Kind = Inertia.about_centre


def _part(sweep: Unrolled, q: Any, kind: Kind, only: int | None = None) -> Parts:
    """The translation or rotation of all links, or of one alone."""
    links = [kind(s.inertia) if only in (None, i) else MASSLESS for i, s in enumerate(sweep.tree.segments)]
    return parts(sweep, sweep.local(transform, sweep.expand(q)), links)


def D_tran(sweep: Unrolled, q: Any, only: int | None = None) -> Matrix:
    """Σ_s m_s b_si·b_sj over all links, or for one, in coordinates."""
    return condensed(sweep.tree, _part(sweep, q, TRANSLATION, only).D)


def D_rot(sweep: Unrolled, q: Any, only: int | None = None) -> Matrix:
    """Σ_s z_i·I_s z_j over all links and rotors, or for one link and the rotor of its joint, in coordinates."""
    return condensed(sweep.tree, sum_of(_part(sweep, q, ROTATION, only).D, rotor_inertias(sweep, q, only)))


def h_tran(sweep: Unrolled, q: Any) -> Tensor:
    """Coefficients of the velocity products from translation, in coordinates."""
    part = _part(sweep, q, TRANSLATION)
    return condensed_tensor(sweep.tree, velocity_coefficients(part.motions, part.pairs))


def h_rot(sweep: Unrolled, q: Any) -> Tensor:
    """Coefficients of the velocity products from rotation, spinning rotors included, in coordinates."""
    part = _part(sweep, q, ROTATION)
    spin = symmetric(spin_parts(sweep, sweep.expand(q))[1])
    return condensed_tensor(sweep.tree, sum_of(velocity_coefficients(part.motions, part.pairs), spin))


def H_tran(sweep: Unrolled, q: Any, qd: Any) -> list[Any]:
    """Velocity torques from translation, in coordinates."""
    part = _part(sweep, q, TRANSLATION)
    return sweep.collect(velocity_torques(part.motions, part.pairs, sweep.expand(qd, rate=True)))


def H_rot(sweep: Unrolled, q: Any, qd: Any) -> list[Any]:
    """Velocity torques from rotation, spinning rotors included, in coordinates."""
    part, rates = _part(sweep, q, ROTATION), sweep.expand(qd, rate=True)
    spin = [dot(row, rates) for row in from_christoffel(spin_parts(sweep, sweep.expand(q))[1], rates)]
    return sweep.collect(sum_of(velocity_torques(part.motions, part.pairs, rates), spin))


def G(sweep: Unrolled, q: Any) -> list[Any]:
    """Gravity torques, in coordinates."""
    X = sweep.local(transform, sweep.expand(q))
    momentum = parts(sweep, X, whole_links(sweep.tree)).momentum
    return sweep.collect(gravity_torques(sweep, X, momentum, sweep.tree.gravity))


def _by_links(part: Callable[..., Matrix]) -> Callable[[Unrolled, Any], list[Matrix]]:
    return lambda sweep, q: [part(sweep, q, s) for s in range(len(sweep.tree.segments))]


def _of_place(meaning: str, function: Callable[[Unrolled, Any], Any]) -> FormulationTerm:
    return FormulationTerm(meaning, lambda sweep, q, qd, qdd: function(sweep, q))


def _of_rates(meaning: str, function: Callable[[Unrolled, Any, Any], Any]) -> FormulationTerm:
    return FormulationTerm(meaning, lambda sweep, q, qd, qdd: function(sweep, q, qd))


TERMS = {
    "D": _of_place("inertia, D_rot + D_tran, (n, n)", lambda sweep, q: sum_of(D_rot(sweep, q), D_tran(sweep, q))),
    "D_rot": _of_place("inertia felt from the rotation of links and rotors, (n, n)", D_rot),
    "D_tran": _of_place("inertia felt from the translation of links, (n, n)", D_tran),
    "h_rot": _of_place("coefficients of q̇_j q̇_k in torque i from rotation, full rotors included, (n, n, n)", h_rot),
    "h_tran": _of_place("coefficients of q̇_j q̇_k in torque i from translation, (n, n, n)", h_tran),
    "H_rot": _of_rates("velocity torques from rotation, full rotors included, (n)", H_rot),
    "H_tran": _of_rates("velocity torques from translation, (n)", H_tran),
    "G": _of_place("gravity torques, (n)", G),
    "D_rot_links": _of_place("D_rot of each moving link, with the rotor of its joint, (m, n, n)", _by_links(D_rot)),
    "D_tran_links": _of_place("D_tran of each moving link, (m, n, n)", _by_links(D_tran)),
}

FORMULATION = Formulation(
    name="generalized_dalembert",
    reference="Lee, Eq. 29-33; Milicevic, Eq. 4.1-4.5",
    shows="which torque comes from translation and which from rotation, and of which link; vector products of joint axes",
    inverse_dynamics=inverse_dynamics,
    mass_matrix=mass_matrix,
    christoffel=christoffel,
    terms=TERMS,
    regroup=True,
    parameters=True,
    largest=30,  # inverse dynamics of 30 joints takes 41 000 operations, five seconds to compile; h takes five times as long
)
