"""Recursive Newton-Euler with every vector in the base frame, written about centres of mass, as the documents derive it.

Per link i with the joint's axis z, r from the joint's point to the link's origin, c from there to the centre of mass, and s from
the parent's origin to the joint's point (zero in standard Denavit-Hartenberg frames, where both are the origin of frame i − 1):

    ω   = ω_P + z q̇                                       (1)  [Siciliano, Eq. 7.93]
    ω̇   = ω̇_P + z q̈ + ω_P × z q̇                          (2)  [Siciliano, Eq. 7.100]
    p̈   = p̈_P + s'' + r'',  x'' = ω̇ × x + ω × (ω × x)      (3)  [Siciliano, Eq. 7.101], s'' with the parent's ω, ω̇
    p̈_C = p̈ + c''                                         (4)  [Siciliano, Eq. 7.102]
    ω̇_m = ω̇_P + k q̈ z_m + k q̇ ω_P × z_m                   (5)  [Siciliano, Eq. 7.103], P the link that carries the rotor
    f   = F + Σ f_k,  F = m p̈_C                           (6)  [Siciliano, Eq. 7.104; Milicevic, Table 1]
    N   = Ī ω̇ + ω × Ī ω + Σ k I_m (q̈ z_m + q̇ ω × z_m)     (7)  [Siciliano, Eq. 7.91], over the rotors it carries
    μ   = Σ (μ_k + s_k × f_k) + r × Σ f_k + (r + c) × F + N  (8)  [Siciliano, Eq. 7.105; Milicevic, Table 1], about the joint
    τ   = z·μ (or z·f) + k I_m ω̇_m·z_m + friction          (9)  [Siciliano, Eq. 7.106]

with + z q̈ + 2 ω × z q̇ in (3), and no q̇, q̈ in (1) and (2), for a sliding joint. Sums go over the links (k) that follow on link i.
p̈ of the base starts at −g₀. In (3) a turning link's r turns with it. The equations hold in any axes both sides share: the
steps below take a link's vectors as `LinkData` in the axes chosen, which are the base's here and the link's own in
newton_euler_terms.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..algorithms.joint import friction, joint_force, transform
from ..algorithms.sweep import Unrolled
from ..errors import ModelError
from ..model.tree import Segment, Tree
from ..spatial import IDENTITY, Z_AXIS, ZERO, Force, Mat3, Sym3, Transform, Vec3
from .base import Formulation, FormulationTerm

_DUST = 1e-14  # relative: what differences of equal numbers leave behind; cut off, so that structural zeros stay


class LinkData(NamedTuple):
    """The vectors and the inertia tensor of one link, in some axes; `place` leads from its origin to its internal one."""

    z: Vec3
    s: Vec3
    r: Vec3
    c: Vec3
    place: Vec3
    mass: float
    I: Sym3


class LinkKinematics(NamedTuple):
    """What the way out finds for a link; pdd and pdd_C are p̈ − g₀, as the base starts at −g₀."""

    omega: Vec3
    domega: Vec3
    pdd: Vec3
    pdd_C: Vec3


class Mount(NamedTuple):
    """A link that may carry rotors: how its internal axes lie in those of its motion."""

    R: Mat3
    motion: LinkKinematics


class RecursionSteps(NamedTuple):
    """All steps, one entry per segment: link axes in the base, the vectors' data, motions, rotors, joint wrenches, forces."""

    R: Sequence[Mat3]
    data: Sequence[LinkData]
    motions: Sequence[LinkKinematics]
    mounts: Sequence[Mount]
    wrenches: Sequence[Force]
    tau: Sequence[Any]


def link_data(tree: Tree) -> list[LinkData]:
    """The links' constants about the users' frames, in internal axes; s is in the parent's, and r is that at q = 0."""
    result = []
    for i, s in enumerate(tree.segments):
        origin, joint = tree.frames[i].p, tree.joints[i].p
        before = tree.frames[s.parent].p if s.parent >= 0 else ZERO
        point = s.p + s.R.third * joint.z  # the joint's point lies on its axis
        centre, I = _about_centre(s)
        lever = _without_dust(point - before, point, before)
        r, c = _without_dust(origin - joint, origin, joint), _without_dust(centre - origin, centre, origin)
        result.append(LinkData(Z_AXIS, lever, r, c, -origin, s.inertia.mass, I))
    return result


def _about_centre(s: Segment) -> tuple[Vec3, Sym3]:
    """Centre of mass and inertia tensor about it, of a segment with everything it carries: the augmented link."""
    body = s.inertia
    if body.mass == 0.0:
        if any(body.h):
            raise ModelError(
                f"joint {s.name!r}: what it moves has a first moment of mass but no mass, so there is no centre of mass to "
                "write equations about. Try formulation 'newton_euler'."
            )
        return ZERO, body.I
    limit = _DUST * max(map(abs, body.I))
    return body.centre, Sym3(*(0.0 if abs(x) <= limit else x for x in body.about_centre().I))


def _without_dust(difference: Vec3, *of: Vec3) -> Vec3:
    limit = _DUST * max(abs(x) for v in of for x in v)
    return Vec3(*(0.0 if abs(x) <= limit else x for x in difference))


def carried(link: LinkKinematics, x: Vec3) -> Vec3:
    """ẍ = ω̇ × x + ω × (ω × x): the acceleration of a link's point at x beyond that of its origin."""
    return link.domega.cross(x) + link.omega.cross(link.omega.cross(x))


def forward_step(s: Segment, parent: LinkKinematics, data: LinkData, qd: Any, qdd: Any) -> LinkKinematics:
    """One link on the way out, (1) to (4); the parent's motion and the data are in the same axes."""
    turn, slide = data.z * (qd * s.turn), data.z * (qd * s.slide)
    omega = parent.omega + turn  # (1)
    domega = parent.domega + data.z * (qdd * s.turn) + parent.omega.cross(turn)  # (2)
    at_joint = parent.pdd + carried(parent, data.s)
    link = LinkKinematics(omega, domega, at_joint, at_joint)
    pdd = at_joint + data.z * (qdd * s.slide) + omega.cross(slide) * 2.0 + carried(link, data.r)  # (3)
    return LinkKinematics(omega, domega, pdd, pdd + carried(link, data.c))  # (4)


def rotor_acceleration(s: Segment, mount: Mount, qd: Any, qdd: Any) -> Vec3:
    """(5), in the axes of the mount's motion."""
    assert s.spin is not None
    z_m = mount.R @ s.spin.axis
    return mount.motion.domega + (z_m * qdd + mount.motion.omega.cross(z_m) * qd) * s.ratio


def rotor_step(s: Segment, mount: Mount, qd: Any, qdd: Any) -> tuple[Any, Vec3]:
    """What a rotor adds to the torque of its own joint, in (9), and to the moment on its mount, in (7)."""
    assert s.spin is not None
    z_m = mount.R @ s.spin.axis
    torque = mount.motion.domega.dot(z_m) * s.spin.kI + qdd * s.spin.kkI  # the last term of (5) is normal to z_m
    return torque, (z_m * qdd + mount.motion.omega.cross(z_m) * qd) * s.spin.kI


def backward_step(
    s: Segment, outer: Force | None, data: LinkData, link: LinkKinematics, spin: Vec3 | None, load: Force | None
) -> tuple[Force, Force]:
    """One link on the way back, (6) to (8): what its joint transmits, and the same about the parent's origin.

    `outer` and `load` are what the links that follow and the surroundings demand, about the link's own origin.
    """
    F = link.pdd_C * data.mass
    f, mu = F, (data.r + data.c).cross(F) + data.I @ link.domega + link.omega.cross(data.I @ link.omega)
    if spin is not None:
        mu = mu + spin  # (7)
    for given in (outer, load):
        if given is not None:
            f, mu = f + given.f, mu + given.n + data.r.cross(given.f)  # (6), (8)
    return Force(f, mu), Force(f, mu + data.s.cross(f))


def drive_force(s: Segment, force: Any, spin: Any, qd: Any, qdd: Any, *, with_friction: bool) -> Any:
    """The rest of (9), and the inertia of a reflected rotor."""
    driven = force + spin + qdd * s.armature
    return driven + friction(s.friction, qd) if with_friction else driven


def base_motion(omega: Vec3, domega: Vec3, pdd: Vec3) -> LinkKinematics:
    """The base as a link; where its centre of mass is does not matter."""
    return LinkKinematics(omega, domega, pdd, pdd)


def in_base_axes(sweep: Unrolled, X: Sequence[Transform], q: Sequence[Any]) -> tuple[list[Mat3], list[LinkData]]:
    """Orientations of the links' internal frames in the base, and the links' data turned into its axes."""
    R: list[Mat3] = sweep.outward(lambda s, parent, X: parent.times(X.rotation()), IDENTITY, X)
    data = []
    for s, own, constants, position in zip(sweep.tree.segments, R, link_data(sweep.tree), q, strict=True):
        z = own.third
        lever = R[s.parent] @ constants.s if s.parent >= 0 else constants.s
        r = own @ constants.r + z * (position * s.slide)
        I = constants.I.rotated(own)
        data.append(LinkData(z, lever, r, own @ constants.c, own @ constants.place, constants.mass, I))
    return R, data


def recursion(
    sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkKinematics, loads: Any = None, *, with_friction: bool = True
) -> RecursionSteps:
    """All steps in the base's axes; `loads` as in the contract, at internal origins and in internal axes."""
    q, qd, qdd = sweep.expand(q), sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    R, data = in_base_axes(sweep, sweep.local(transform, q), q)
    motions = sweep.outward(forward_step, base, data, qd, qdd)
    mounts = [Mount(*pair) for pair in zip(R, motions, strict=True)]
    torques, spins = sweep.mounted(rotor_step, Mount(IDENTITY, base), mounts, qd, qdd)
    given = sweep.local(_turned, R, data, [None] * len(R) if loads is None else loads)
    wrenches = sweep.inward(backward_step, data, motions, spins, given)
    forces = [joint_force(s, d.z, w) for s, d, w in zip(sweep.tree.segments, data, wrenches, strict=True)]
    rows = zip(sweep.tree.segments, forces, torques, qd, qdd, strict=True)
    tau = [drive_force(*row, with_friction=with_friction) for row in rows]
    return RecursionSteps(R, data, motions, mounts, wrenches, tau)


def _turned(s: Segment, R: Mat3, data: LinkData, load: Force | None) -> Force | None:
    """A load at the internal origin, in the base's axes and about the link's origin."""
    if load is None:
        return None
    f = R @ load.f
    return Force(f, R @ load.n + data.place.cross(f))


def inverse_dynamics(
    sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: Any, loads: Any = None, *, with_friction: bool = True
) -> list[Any]:
    """Generalised forces per coordinate for a motion; `loads` are those the segments exert on the outside, if any."""
    start = base_motion(base.motion.w, base.motion.alpha, base.motion.a)
    return sweep.collect(recursion(sweep, q, qd, qdd, start, loads, with_friction=with_friction).tau)


def rotor_accelerations(sweep: Unrolled, steps: RecursionSteps, base: Mount, qd: Any, qdd: Any) -> list[Vec3]:
    """(5) for every joint; zero where no rotor spins as a body of its own."""
    rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    found = []
    for i, s in enumerate(sweep.tree.segments):
        if s.spin is None:
            found.append(ZERO)
            continue
        mount = steps.mounts[s.spin.mount] if s.spin.mount >= 0 else base
        found.append(rotor_acceleration(s, mount, rates[i], accelerations[i]))
    return found


MEANINGS = {
    "omega": "angular velocities ω_i of the links, (m, 3) [rad/s]",
    "domega": "angular accelerations ω̇_i of the links, (m, 3) [rad/s²]",
    "pdd": "accelerations p̈_i − g₀ of the links' origins, (m, 3) [m/s²]",
    "pdd_C": "accelerations p̈_Ci − g₀ of the centres of mass of the augmented links, (m, 3) [m/s²]",
    "domega_m": "angular accelerations ω̇_mi of the rotors, (m, 3) [rad/s²], in the axes of the link that carries each; "
    "zero where none spins as a body of its own",
    "f": "forces f_i of each joint's parent on its child, (m, 3) [N]",
    "mu": "moments μ_i likewise, about the joint's origin in the parent, (m, 3) [N m]",
    "tau": "generalised forces τ_i of the joints, (m,) [N m | N]",
}


def terms_of(trace: Callable[[Unrolled, Any, Any, Any], dict[str, Any]], axes: str) -> dict[str, FormulationTerm]:
    """The steps of a recursion as terms, in the order of the algorithm; `trace` gives them all."""

    def term(name: str) -> FormulationTerm:
        return FormulationTerm(f"{MEANINGS[name]}; in {axes}", lambda sweep, q, qd, qdd: trace(sweep, q, qd, qdd)[name])

    return {name: term(name) for name in MEANINGS}


def trace(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> dict[str, Any]:
    """The steps by name, with the base at rest."""
    base = base_motion(ZERO, ZERO, -sweep.tree.gravity)
    steps = recursion(sweep, q, qd, qdd, base)
    by_name = {name: [list(getattr(link, name)) for link in steps.motions] for name in LinkKinematics._fields}
    rotors = rotor_accelerations(sweep, steps, Mount(IDENTITY, base), qd, qdd)
    return by_name | {
        "domega_m": [list(v) for v in rotors],
        "f": [list(w.f) for w in steps.wrenches],
        "mu": [list(w.n) for w in steps.wrenches],
        "tau": list(steps.tau),
    }


FORMULATION = Formulation(
    name="newton_euler_base",
    reference="Siciliano, Eq. 7.93-7.106; Milicevic, Table 1",
    inverse_dynamics=inverse_dynamics,
    shows="the Newton-Euler recursion as it is derived: all vectors in the base frame, forces balanced at centres of mass",
    terms=terms_of(trace, "the base's axes"),
    moving_base=True,
)
