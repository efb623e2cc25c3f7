"""Forward dynamics by articulated bodies, in three passes and O(n) operations [Featherstone2008, §7.3].

Velocities go out, articulated inertias and bias forces come in, accelerations go out. All quantities are in link frames, the
acceleration is that of the link's origin (classical, not spatial), so the bias terms are those of Newton and Euler:

    outwards   the motion with q̈ = 0, and the load p_A on each link that goes with it
    inwards    D = z·I_A z,  u = τ − z·p_A,  I_a = I_A − U Uᵀ/D,  p_a = p_A + U u/D
    outwards   q̈ = (u − U·δ')/D,  δ = δ' + z q̈,  with δ' the parent's acceleration beyond the motion of the first pass
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..expr import ops
from ..model.tree import Segment
from ..spatial import AT_REST, ArticulatedInertia, Force, Mat3, Sym3, Transform, Twist, Vec3, outer
from .joint import along_axis, transform, with_rate
from .newton_euler_recursion import LinkState, drive_step, outward_step
from .sweep import Sweep


class Sweeping(NamedTuple):
    """What the way in leaves for the last way out."""

    U: Force
    u: Any
    inverse_d: Any


class ArticulatedBody(NamedTuple):
    """An articulated body and its bias force, as the parent receives them."""

    inertia: ArticulatedInertia
    bias: Force

    def __add__(self, other: ArticulatedBody) -> ArticulatedBody:  # type: ignore[override]
        return ArticulatedBody(self.inertia + other.inertia, self.bias + other.bias)


class Acceleration(NamedTuple):
    """Acceleration of a segment beyond the bias motion, and the joint's own share."""

    beyond: Twist
    qdd: Any


def inward_step(
    s: Segment, children: ArticulatedBody | None, X: Transform, state: LinkState, tau: Any
) -> tuple[Sweeping, ArticulatedBody]:
    """Eliminate one joint. `state` is the motion with q̈ = 0, whose load is the whole bias force of the rigid body.

    Since every link already moves with its bias acceleration, the unknown is only what q̈ adds.
    """
    inertia = ArticulatedInertia.of(s.inertia)
    bias = state.load
    if children is not None:
        inertia, bias = inertia + children.inertia, bias + children.bias
    U = _times_axis(s, inertia)
    inverse_d = ops.divide(1.0, along_axis(s, U) + s.armature)
    u = tau - along_axis(s, bias)
    passed = ArticulatedBody(_eliminated(inertia, U, inverse_d).up(X), X.force_up(bias + U * (u * inverse_d)))
    return Sweeping(U, u, inverse_d), passed


def acceleration_step(s: Segment, parent: Acceleration, X: Transform, left: Sweeping) -> Acceleration:
    """The joint's acceleration, now that the parent's is known."""
    carried = X.motion_down(parent.beyond)
    qdd = (left.u - left.U.power(carried)) * left.inverse_d
    return Acceleration(with_rate(s, carried, qdd), qdd)


def forward_dynamics(sweep: Sweep, q: Any, qd: Any, tau: Any, base: LinkState, loads: Any = None) -> Any:
    """q̈ for given joint forces; for plain trees (no coupling, no full rotor)."""
    q, qd, tau = sweep.expand(q), sweep.expand(qd, rate=True), sweep.expand(tau, rate=True)
    still = sweep.local(_nothing)
    X = sweep.local(transform, q)
    states = sweep.outward(outward_step, base, X, qd, still)
    if loads is not None:
        states = sweep.local(_loaded, states, loads)
    driving = sweep.local(_without_friction, tau, qd)
    left = sweep.inward(inward_step, X, states, driving)
    result = sweep.outward(acceleration_step, Acceleration(AT_REST, 0.0), X, left)
    return sweep.collect(sweep.local(_qdd, result))


def _times_axis(s: Segment, inertia: ArticulatedInertia) -> Force:
    """I_A z: the last column of the rotational (turning) or translational (sliding) blocks."""
    H, I, M = inertia.H, inertia.I, inertia.M
    f = H.third * s.turn + Vec3(M.xz, M.yz, M.zz) * s.slide
    n = Vec3(I.xz, I.yz, I.zz) * s.turn + H.z * s.slide
    return Force(f, n)


def _eliminated(inertia: ArticulatedInertia, U: Force, inverse_d: Any) -> ArticulatedInertia:
    """I_A − U Uᵀ / D."""
    f, n = U.f * inverse_d, U.n * inverse_d
    return ArticulatedInertia(inertia.M - _symmetric(f, U.f), Mat3(*inertia.H) - outer(U.f, n), inertia.I - _symmetric(n, U.n))


def _symmetric(a: Vec3, b: Vec3) -> Sym3:
    return Sym3(a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z)


def _nothing(s: Segment) -> float:
    return 0.0


def _loaded(s: Segment, state: LinkState, load: Force | None) -> LinkState:
    return state if load is None else state._replace(load=state.load + load)


def _without_friction(s: Segment, tau: Any, qd: Any) -> Any:
    return tau - drive_step(s, 0.0, qd, 0.0)


def _qdd(s: Segment, result: Acceleration) -> Any:
    return result.qdd
