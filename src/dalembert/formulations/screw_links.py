"""The screws of each link, and what a link adds to M, C and g.

Screws are at the centre of mass of their link and in axes fixed in it. Components that are zero in all
configurations, because all axes are parallel for example, are found while tracing: products with them never become operations,
so that a planar arm is computed with the three components it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..algorithms.joint import own_screw, transform
from ..algorithms.sweep import Unrolled
from ..model.tree import Segment, Tree
from ..spatial import AT_REST, ZERO, Force, Inertia, Matrix, Sym3, Transform, Twist, Vec3, gyration, second_moment
from ..spatial.inertia import symmetric_shift
from ..spatial.nested import zeros

ColumnPlace = tuple[int, float]  # the column to which a joint's screw belongs, and its multiplier there


class LinkBody(NamedTuple):
    """A rigid body about a point, and its second moment E = ∫ r rᵀ dm."""

    inertia: Inertia
    E: Sym3

    def momentum(self, S: Twist) -> Force:
        """M̄ S: (m v, I ω) about a centre of mass [Laus, Eq. 9]."""
        return self.inertia.times(S)

    def gyration(self, V: Twist, S: Twist) -> Force:
        """G(V) S: (m ω × v_S, Eω × ω_S) about a centre of mass [theory: screws, Eq. 9]."""
        return gyration(self.inertia, self.E, V, S)


def body_about(inertia: Inertia, point: Vec3, *, centred: bool = False) -> LinkBody:
    """A body given about its frame's origin, about a point; `centred` if that is known to be its centre of mass."""
    I = inertia.I + symmetric_shift(-point, inertia.h + inertia.h - point * inertia.mass)
    h = ZERO if centred else inertia.h - point * inertia.mass
    return LinkBody(Inertia(inertia.mass, h, I), second_moment(I))


def has_centre(s: Segment) -> bool:
    """Whether the centre of mass is known: there is a mass, and it is a number. The screws serve any other point as well."""
    return isinstance(s.inertia.mass, float) and s.inertia.mass != 0.0


def centre(s: Segment) -> Vec3:
    """The centre of mass of a segment in its internal frame, or the frame's origin instead."""
    return s.inertia.centre if has_centre(s) else ZERO


def link_body(s: Segment) -> LinkBody:
    """The body of a segment about its centre of mass."""
    return body_about(s.inertia, centre(s), centred=has_centre(s))


class LinkScrews(NamedTuple):
    """The screws of one link: columns of J_i and their rates, by coordinate; twist and acceleration, gravity included."""

    columns: Mapping[int, Twist]
    rates: Mapping[int, Twist]
    twist: Twist
    acceleration: Twist


def base_link(upward: Vec3) -> LinkScrews:
    """The base: it has no screws; gravity acts as its acceleration upwards."""
    return LinkScrews({}, {}, AT_REST, Twist(upward, ZERO))


def carried(link: LinkScrews, down: Callable[[Twist], Twist]) -> LinkScrews:
    """The same link seen from another frame fixed in it."""
    columns = {a: down(S) for a, S in link.columns.items()}
    rates = {a: down(rate) for a, rate in link.rates.items()}
    return LinkScrews(columns, rates, down(link.twist), down(link.acceleration))


def beyond_joint(link: LinkScrews, own: Twist, place: ColumnPlace, qd: Any, qdd: Any) -> LinkScrews:
    """The link beyond a joint from the one before it, both in the frame of the former, where the joint's screw is constant.

    Ṡ_a ← Ṡ_a + [S_a, S q̇], and S and 0 for the joint's own.
    """
    passed, (key, multiplier) = own * qd, place
    columns = dict(link.columns)
    rates = {a: rate + columns[a].cross(passed) for a, rate in link.rates.items()}
    if multiplier:
        columns[key] = columns.get(key, AT_REST) + own * multiplier
        rates.setdefault(key, AT_REST)
    acceleration = link.acceleration + own * qdd + link.twist.cross(passed)
    return LinkScrews(columns, rates, link.twist + passed, acceleration)


def across(tree: Tree, i: int, X: Transform) -> Callable[[Twist], Twist]:
    """The screw transformation from the centre of mass of the parent to that of link i [Laus, Eq. 14]."""
    parent, point = tree.segments[i].parent, centre(tree.segments[i])
    shifted = X if parent < 0 else X._replace(p=X.p - centre(tree.segments[parent]))
    return lambda S: shifted.motion_down(S).at(point)


def central_screw(s: Segment) -> Twist:
    """The screw of a segment's own joint, at its centre of mass: constant."""
    return own_screw(s).at(centre(s))


def links_on(base: LinkScrews, sweep: Unrolled, places: Sequence[ColumnPlace], q: Any, qd: Any, qdd: Any) -> list[LinkScrews]:
    """All links of a tree whose base may have screws of its own; q, q̇ and q̈ are per segment."""

    def step(s: Segment, parent: LinkScrews, i: int, value: Any, rate: Any, acceleration: Any) -> LinkScrews:
        before = carried(parent, across(sweep.tree, i, transform(s, value)))
        return beyond_joint(before, central_screw(s), places[i], rate, acceleration)

    return sweep.outward(step, base, range(len(places)), q, qd, qdd)


def links(sweep: Unrolled, q: Any, qd: Any, qdd: Any, upward: Vec3) -> list[LinkScrews]:
    """All links of a robot. Columns are those of coordinates, so a coupled joint adds to the column it follows."""
    rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    return links_on(base_link(upward), sweep, places_of(sweep.tree), sweep.expand(q), rates, accelerations)


def places_of(tree: Tree) -> list[ColumnPlace]:
    """The coordinate of each joint, and how far the joint follows it."""
    return [(s.coordinate, s.multiplier) for s in tree.segments]


def inertia_matrix(body: LinkBody, link: LinkScrews, n: int) -> Matrix:
    """M_i = J_iᵀ M̄_i J_i, padded with zeros to n by n [Laus, Eq. 21]."""
    M: Matrix = zeros(n, n)
    for b, S_b in link.columns.items():
        momentum = body.momentum(S_b)
        for a, S_a in link.columns.items():
            if a <= b:
                M[a][b] = M[b][a] = momentum.power(S_a)
    return M


def coriolis_matrix(body: LinkBody, link: LinkScrews, n: int) -> Matrix:
    """C_i = J_iᵀ (M̄_i J̇_i + G_i(V) J_i), that of Christoffel symbols, padded with zeros to n by n [theory: screws, Eq. 10]."""
    C: Matrix = zeros(n, n)
    for b, S_b in link.columns.items():
        wrench = body.momentum(link.rates[b]) + body.gyration(link.twist, S_b)
        for a, S_a in link.columns.items():
            C[a][b] = wrench.power(S_a)
    return C


def torques(body: LinkBody, link: LinkScrews, n: int) -> list[Any]:
    """J_iᵀ (M̄_i A + G_i(V) V): what the body needs to move as its link does. At rest this is g_i [Laus, Eq. 36]."""
    wrench = body.momentum(link.acceleration) + body.gyration(link.twist, link.twist)
    return [wrench.power(link.columns[a]) if a in link.columns else 0.0 for a in range(n)]


def of_links(part: Callable[[LinkBody, LinkScrews, int], Any], tree: Tree, found: Sequence[LinkScrews], n: int) -> list[Any]:
    """One term per link, each padded to n coordinates."""
    return [part(link_body(s), link, n) for s, link in zip(tree.segments, found, strict=True)]
