"""Derivatives of inverse dynamics by composite bodies: a product of two screws per pair or triple of joints.

All vectors are in the base frame about its origin. With s_j the screw of joint j, V and A the motion of the link that carries
it, and

    u_j = V × s_j,    w_j = A × s_j − u_j × V,

turning joint j carries everything beyond it along with s_j, except that its velocities gain u_j and its accelerations
w_j + u_j × V_l. So the wrench of what lies beyond changes by I w_j + B u_j + s_j × F, where I, B and F are sums over these
links. B is linear in their velocities, does not depend on ξ, and is by blocks [Singh2022; SinghSecond2022]

    B (ξ, θ) = (2 θ × p, −2 N θ),    p = Σ (m v − h × ω),    N = Σ ([ω]× J + [h]× [v]×),    J = ½ tr(I) 1 − I.

That gives first derivatives; the same rule once more gives second ones. Of three joints on one path let c be the outermost: for
each pair of c with another, `turned` and `carried` hold wrenches whose products with the screws of the third are the entries;
which one, depends on the order of the other two. Joints that are not on one path have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..expr.differentiate import derivative
from ..model.tree import Segment, Tree
from ..spatial import AT_REST, ZERO, Force, Inertia, Mat3, Pose, Sym3, Twist, Vec3, gyration, second_moment, skew
from ..spatial.inertia import symmetric_shift, upper
from .composite_bodies import mass_matrix
from .joint import friction, joint_screw
from .kinematics import segment_poses
from .sweep import Entry, Sweep, TensorTerm


class Travel(NamedTuple):
    """How a link moves, and its joint's screw with u and w."""

    V: Twist
    A: Twist
    s: Twist
    u: Twist
    w: Twist


class Beyond(NamedTuple):
    """A link and all that it carries: inertia, N, momentum and wrench."""

    body: Inertia
    N: Mat3
    p: Vec3
    F: Force

    def __add__(self, other: Beyond) -> Beyond:  # type: ignore[override]
        return Beyond(self.body + other.body, self.N + other.N, self.p + other.p, self.F + other.F)


class Change(NamedTuple):
    """How inertia, N and momentum beyond a joint change when it turns."""

    body: Inertia  # without mass, which does not change
    N: Mat3
    p: Vec3

    def inertia(self, x: Twist) -> Force:
        """∂I x."""
        return self.body.times(x)

    def B(self, x: Twist) -> Force:
        """∂B x."""
        return _B(self.N, self.p, x)


class OutermostJoint(NamedTuple):
    """What the outermost joint of three contributes: its screws, the body beyond it, and wrenches."""

    s: Twist
    body: Inertia
    J: Sym3
    change: Change
    P: Force  # I s
    Q: Force  # ∂F/∂q̇ = 2 I u + B s
    G: Force  # ∂F/∂q = I w + B u + s × F
    own: Vec3  # half of Bᵀ s, which has no linear part


class TurnedWrenches(NamedTuple):
    """What happens when c turns: with joint j, wrenches on the joints before c."""

    inner: Force  # of ∂²τ/∂q_j∂q_c, on joints from j on
    outer: Force  # and on those before
    rate: Force  # of ∂²τ/∂q̇_j∂q_c
    slope: Force  # of ∂M_j/∂q_c


class CarriedWrenches(NamedTuple):
    """Wrenches of c when joint j, before it or c itself, turns."""

    alpha: Force  # of ∂M_c/∂q_j; ∂²τ_c/∂q_j∂q_i = α·w_i + β·ω(u_i) for i up to j
    beta: Vec3
    gamma: Force  # ∂²τ_c/∂q_j∂q̇_i = γ·s_i for i beyond j
    inner: Force  # of ∂²τ/∂q_j∂q̇_c, on joints from j on
    outer: Force  # and on those before


def travel_step(s: Segment, carrier: Travel, pose: Pose, qd: Any, qdd: Any) -> Travel:
    """From the motion of the link before to that of this one."""
    screw = joint_screw(s, pose.R.third, -pose.p)
    V, A = carrier.V, carrier.A
    u = V.cross(screw)
    return Travel(V + screw * qd, A + screw * qdd + u * qd, screw, u, A.cross(screw) - u.cross(V))


def beyond_step(s: Segment, carried: Beyond | None, pose: Pose, link: Travel) -> tuple[Beyond, Beyond]:
    """A link's own share, and that of those it carries."""
    body = s.inertia.placed(pose)
    momentum = body.times(link.V)
    total = Beyond(body, _N(body, link.V), momentum.f, body.times(link.A) + link.V.carries(momentum))
    if carried is not None:
        total = total + carried
    return total, total


def joint_step(s: Segment, beyond: Beyond, link: Travel) -> OutermostJoint:
    """What a joint contributes that does not depend on another joint."""
    body, screw, u, w = beyond.body, link.s, link.u, link.w
    return OutermostJoint(
        screw,
        body,
        second_moment(body.I),
        _change(beyond, screw, u),
        body.times(screw),
        body.times(u) * 2.0 + _B(beyond.N, beyond.p, screw),
        body.times(w) + _B(beyond.N, beyond.p, u) + screw.carries(beyond.F),
        beyond.p.cross(screw.v) - beyond.N.T @ screw.w,
    )


def _change(beyond: Beyond, screw: Twist, u: Twist) -> Change:
    """The change when everything is carried along by s and gains the velocity u."""
    body = beyond.body
    half = skew(screw.w).times(body.I.matrix())
    N = skew(screw.w).times(beyond.N) - beyond.N.times(skew(screw.w)) + skew(screw.v).times(skew(beyond.p))
    h = screw.w.cross(body.h) + screw.v * body.mass
    I = upper(half + half.T) + symmetric_shift(body.h, screw.v).scaled(2.0)
    return Change(Inertia(0.0, h, I), N + _N(body, u), screw.w.cross(beyond.p) + body.times(u).f)


def _N(body: Inertia, V: Twist) -> Mat3:
    return skew(V.w).times(second_moment(body.I).matrix()) + skew(body.h).times(skew(V.v))


def _B(N: Mat3, p: Vec3, x: Twist) -> Force:
    return Force(x.w.cross(p), -(N @ x.w)) * 2.0


def turned(c: OutermostJoint, j: Travel) -> TurnedWrenches:
    """Wrenches with joint j when the outermost joint c turns."""
    change = c.change
    inner = change.inertia(j.w) + change.B(j.u)
    return TurnedWrenches(inner, inner + j.s.carries(c.G), change.inertia(j.u) * 2.0 + change.B(j.s), change.inertia(j.s))


def carried(c: OutermostJoint, j: Travel) -> CarriedWrenches:
    """Wrenches of the outermost joint c when joint j carries it along."""
    body, s, u = c.body, c.s, j.u
    momentum = body.times(u).f
    across = c.J @ u.w.cross(s.w) + u.v.cross(s.w.cross(body.h)) + momentum.cross(s.v)
    inner = (body.times(u.cross(s)) + gyration(body, c.J, s, u)) * 2.0
    gamma = Force(ZERO, across) + -u.carries(c.P)
    return CarriedWrenches(j.s.carries(c.P), (j.s.w.cross(c.own) + across) * 2.0, gamma * 2.0, inner, inner + j.s.carries(c.Q))


def first_derivatives(sweep: Sweep, q: Any, qd: Any, qdd: Any, gravity: Vec3) -> tuple[Any, Any, Any]:
    """∂τ/∂q, ∂τ/∂q̇ and M, for trees without full rotors.

    M is I s_c · s_j too, but what is small at the end of a long chain is more exact in link frames.
    """
    rates = sweep.expand(qd, rate=True)
    links, joints = _bodies(sweep, q, rates, sweep.expand(qdd, rate=True), gravity)
    by_q, by_rate = (sweep.tensor(2, [_first(sweep.tree, joints, rule) for rule in rules], links) for rules in FIRST)
    return by_q, sweep.with_diagonal(by_rate, sweep.local(slope, rates)), mass_matrix(sweep, q)


def coriolis_matrix(sweep: Sweep, q: Any, qd: Any) -> Any:
    """C by Christoffel symbols: half of ∂(C q̇)/∂q̇."""
    links, joints = _bodies(sweep, q, sweep.expand(qd, rate=True), sweep.expand([0.0] * sweep.tree.n, rate=True), ZERO)
    return sweep.tensor(2, [_first(sweep.tree, joints, rule) for rule in CORIOLIS], links)


def christoffel(sweep: Sweep, q: Any) -> Any:
    """c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) [Siciliano, Eq. 7.45]."""
    rest = sweep.expand([0.0] * sweep.tree.n, rate=True)
    slopes = _tensors(sweep, *_bodies(sweep, q, rest, rest, ZERO), (2,))[0]
    return sweep.christoffel(slopes, 0.5)


def second_derivatives(sweep: Sweep, q: Any, qd: Any, qdd: Any, gravity: Vec3) -> tuple[Any, Any, Any, Any]:
    """∂²τ/∂q∂q, ∂²τ/∂q∂q̇, ∂²τ/∂q̇∂q̇ and ∂M/∂q, the first index being that of τ, for trees without full rotors."""
    rates = sweep.expand(qd, rate=True)
    bodies = _bodies(sweep, q, rates, sweep.expand(qdd, rate=True), gravity)
    by_q, mixed, slopes = _tensors(sweep, *bodies, (0, 1, 2))
    return by_q, mixed, sweep.with_diagonal(sweep.christoffel(slopes, 1.0), sweep.local(curvature, rates)), slopes


def _bodies(sweep: Sweep, q: Any, qd: Any, qdd: Any, gravity: Vec3) -> tuple[Any, Any]:
    """How links move, and what each joint carries."""
    poses = segment_poses(sweep, q)
    base = Travel(AT_REST, Twist(-gravity, ZERO), AT_REST, AT_REST, AT_REST)
    links = sweep.outward(travel_step, base, poses, qd, qdd)
    return links, sweep.local(joint_step, sweep.inward(beyond_step, poses, links), links)


def _tensors(sweep: Sweep, links: Any, joints: Any, numbers: tuple[int, ...]) -> list[Any]:
    """Some of the tensors of second derivatives."""
    records = {step: sweep.pairs(step, list(_pairs(sweep.tree)), joints, links) for step in RULES}
    return [sweep.tensor(3, list(_terms(sweep.tree, records, number)), links) for number in numbers]


def slope(s: Segment, qd: Any) -> Any:
    """The derivative of friction."""
    if s.friction is None or not s.friction.dry:
        return 0.0 if s.friction is None else s.friction.viscous
    return derivative(partial(friction, s.friction), qd)


def curvature(s: Segment, qd: Any) -> Any:
    """The second derivative of friction."""
    if s.friction is None or not s.friction.dry:
        return 0.0
    return derivative(partial(friction, s.friction), qd, 2)


class Rule(NamedTuple):
    """Entries of one tensor: which joints i of the path of c and j make one, by their places on it, how, and where to put it."""

    tensor: int
    applies: Callable[[int, int, int], bool]
    read: Callable[[Any, Travel], Any]
    place: str
    mirror: str


RULES: dict[Callable[[OutermostJoint, Travel], Any], tuple[Rule, ...]] = {
    turned: (
        Rule(0, lambda i, j, c: i < j, lambda t, x: t.outer.power(x.s), "ijc", "icj"),
        Rule(0, lambda i, j, c: j <= i < c, lambda t, x: t.inner.power(x.s), "ijc", "icj"),
        Rule(1, lambda i, j, c: i < c > j, lambda t, x: t.rate.power(x.s), "icj", "icj"),
        Rule(2, lambda i, j, c: i <= j < c, lambda t, x: t.slope.power(x.s), "ijc", "jic"),
    ),
    carried: (
        Rule(0, lambda i, j, c: i <= j, lambda t, x: t.alpha.power(x.w) + t.beta.dot(x.u.w), "cij", "cji"),
        Rule(1, lambda i, j, c: i <= j, lambda t, x: t.alpha.power(x.u) * 2.0 + t.beta.dot(x.s.w), "cji", "cji"),
        Rule(1, lambda i, j, c: i > j, lambda t, x: t.gamma.power(x.s), "cji", "cji"),
        Rule(1, lambda i, j, c: i < j, lambda t, x: t.outer.power(x.s), "ijc", "ijc"),
        Rule(1, lambda i, j, c: j <= i < c, lambda t, x: t.inner.power(x.s), "ijc", "ijc"),
        Rule(2, lambda i, j, c: i < j, lambda t, x: t.alpha.power(x.s), "icj", "cij"),
    ),
}


class First(NamedTuple):
    """Entries made of the outermost joint c of two and the screws of the other, j, or of c itself where it makes one."""

    own: bool
    read: Callable[[OutermostJoint, Travel], Any]
    turned: bool  # whether the row is that of j


FIRST = (
    (First(True, lambda c, j: c.P.power(j.w) + c.own.dot(j.u.w) * 2.0, False), First(False, lambda c, j: c.G.power(j.s), True)),
    (First(True, lambda c, j: _half_rate(c, j) * 2.0, False), First(False, lambda c, j: c.Q.power(j.s), True)),
)


def _half_rate(c: OutermostJoint, j: Travel) -> Any:
    return c.P.power(j.u) + c.own.dot(j.s.w)


CORIOLIS = (First(True, _half_rate, False), First(False, lambda c, j: c.Q.power(j.s) * 0.5, True))


def _first(tree: Tree, joints: Any, rule: First) -> TensorTerm:
    """A rule with all the entries it makes."""
    places = [(c, j, (j, c) if rule.turned else (c, j)) for c, j in _pairs(tree) if rule.own or c != j]
    return TensorTerm(rule.read, joints, tuple(Entry(c, j, place, place) for c, j, place in places))


def _terms(tree: Tree, records: dict[Any, Any], tensor: int) -> Iterator[TensorTerm]:
    """The rules of a tensor, each with all the entries it makes."""
    for step, rules in RULES.items():
        for rule in rules:
            if rule.tensor == tensor:
                yield TensorTerm(rule.read, records[step], tuple(_entries(tree, rule)))


def _pairs(tree: Tree) -> Iterator[tuple[int, int]]:
    """Every segment with each on its path, itself last."""
    return ((c, j) for c in range(len(tree.segments)) for j in reversed(tree.path(c)))


def _entries(tree: Tree, rule: Rule) -> Iterator[Entry]:
    """What a rule makes of every pair, in the order of `_pairs`, and a third joint."""
    order = [["ijc".index(letter) for letter in letters] for letters in (rule.place, rule.mirror)]
    number = 0
    for c in range(len(tree.segments)):
        path = tree.path(c)[::-1]
        for at_j, j in enumerate(path):
            for at_i, i in enumerate(path):
                if rule.applies(at_i, at_j, len(path) - 1):
                    joints = (i, j, c)
                    place, mirror = (tuple(joints[k] for k in axes) for axes in order)
                    yield Entry(number, i, place, mirror)
            number += 1
