"""Progressive screw formulation: each link adds its own term, M = M_1 ‡ M_2 ‡ … ‡ M_n [Laus].

With S_a the columns of J_i, the screws of the joints at the centre of mass of link i and in its axes, M̄_i its generalized
mass matrix, V = J_i q̇ its twist and $_g the acceleration of gravity as a screw:

    M_i = J_iᵀ M̄_i J_i                                       (1)  [Laus, Eq. 21]
    C_i = J_iᵀ (M̄_i J̇_i + G_i(V) J_i)                        (2)  [Laus, Eq. 35; theory: screws, Eq. 10]
    g_i = −J_iᵀ M̄_i $_g                                      (3)  [Laus, Eq. 36]
    τ   = Σ_i J_iᵀ (M̄_i (J_i q̈ + J̇_i q̇ − $_g) + G_i(V) V)   (4)  [Laus, Eq. 32]

The rates J̇_i are screw products of the columns, so nothing is differentiated and all of this runs on plain numbers. The sum ‡
pads each term with zeros: a new link changes none of the terms that are there (screw_links.py, screw_growth.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algorithms.composite_bodies import composite_step
from ..algorithms.joint import friction, transform
from ..algorithms.sweep import Unrolled
from ..spatial import ZERO, Matrix, Tensor, Twist, Vec3
from ..spatial.nested import sum_of, zeros
from . import screw_jacobians as jacobians
from . import screw_rotors
from .base import (
    Formulation,
    FormulationTerm,
    condensed_tensor,
    load_torques,
    spin_model,
    symmetric,
    world_poses,
)
from .screw_links import (
    LinkBody,
    LinkScrews,
    base_link,
    body_about,
    centre,
    coriolis_matrix,
    inertia_matrix,
    links,
    links_on,
    of_links,
    places_of,
    torques,
)


def link_inertias(sweep: Unrolled, q: Any) -> list[Matrix]:
    """The M_i (1)."""
    return of_links(inertia_matrix, sweep.tree, _at_rest(sweep, q, ZERO), sweep.tree.n)


def link_coriolis(sweep: Unrolled, q: Any, qd: Any) -> list[Matrix]:
    """The C_i (2)."""
    return of_links(coriolis_matrix, sweep.tree, links(sweep, q, qd, [0.0] * sweep.tree.n, ZERO), sweep.tree.n)


def link_gravity(sweep: Unrolled, q: Any) -> Matrix:
    """The g_i (3)."""
    return of_links(torques, sweep.tree, _at_rest(sweep, q, -sweep.tree.gravity), sweep.tree.n)


def _at_rest(sweep: Unrolled, q: Any, upward: Vec3) -> list[LinkScrews]:
    still = [0.0] * sweep.tree.n
    return links(sweep, q, still, still, upward)


def mass_matrix(sweep: Unrolled, q: Any) -> Matrix:
    """M = M_1 ‡ … ‡ M_n, and what rotors add."""
    tree, found = sweep.tree, _at_rest(sweep, q, ZERO)
    own = of_links(inertia_matrix, tree, found, tree.n)
    return sum_of(*own, screw_rotors.inertia(tree, found, places_of(tree), tree.n))


def coriolis(sweep: Unrolled, q: Any, qd: Any) -> Matrix:
    """C = C_1 ‡ … ‡ C_n, and what rotors add."""
    tree, rates = sweep.tree, sweep.expand(qd, rate=True)
    found = links(sweep, q, qd, [0.0] * tree.n, ZERO)
    own = of_links(coriolis_matrix, tree, found, tree.n)
    return sum_of(*own, screw_rotors.coriolis(tree, found, places_of(tree), rates, tree.n))


def inverse_dynamics(
    sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: Any, loads: Any = None, *, with_friction: bool = True
) -> list[Any]:
    """τ (4), and what rotors, friction and loads add."""
    tree = sweep.tree
    rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    found = links(sweep, q, qd, qdd, base.motion.a)
    tau = of_links(torques, tree, found, tree.n)
    tau.append(screw_rotors.torques(tree, found, places_of(tree), rates, accelerations, tree.n))
    if with_friction:
        tau.append(sweep.collect([friction(s.friction, rate) for s, rate in zip(tree.segments, rates, strict=True)]))
    if loads is not None:
        tau.append(sweep.collect(load_torques(sweep, q, loads)))
    return sum_of(*tau)


def christoffel(sweep: Unrolled, q: Any) -> Tensor:
    """c_abk = Σ_i S_a · G_i(S_k) S_b, k nearer to the base than b, with the sum taken first [theory: screws, Eq. 11].

    The links beyond the outermost of the three joints move as one body there.
    """
    tree, X = sweep.tree, sweep.local(transform, sweep.expand(q))
    bodies = [body_about(I, centre(s)) for I, s in zip(sweep.inward(composite_step, X), tree.segments, strict=True)]
    size = len(tree.segments)
    still, c = [0.0] * size, zeros(size, size, size)
    found = links_on(base_link(ZERO), sweep, [(i, 1.0) for i in range(size)], sweep.expand(q), still, still)
    for e, (body, link) in enumerate(zip(bodies, found, strict=True)):
        _enter_symbols(c, body, link.columns, e)
    if tree.has_spin:
        poses = world_poses(sweep, sweep.expand(q))
        c = sum_of(c, symmetric(spin_model(tree, poses)[1]))
    return condensed_tensor(tree, c)


def _enter_symbols(c: Tensor, body: LinkBody, columns: Mapping[int, Twist], e: int) -> None:
    """Those c_abk whose outermost joint is e; parents have smaller numbers, so the smaller one is nearer to the base."""
    for k, S_k in columns.items():
        wrench = body.gyration(S_k, columns[e])
        for a, S_a in columns.items():
            c[a][e][k] = c[a][k][e] = wrench.power(S_a)
        for b, S_b in columns.items():
            if k <= b < e:
                c[e][b][k] = c[e][k][b] = body.gyration(S_k, S_b).power(columns[e])


_ORDER = "six components, linear part first; one row of the array per moving joint and the link it moves"
TERMS = {
    "principal_screws": FormulationTerm(
        f"S_C in link axes: in rows the principal screws of inertia, M̄ = ½ m S_Cᵀ S_C (Eq. 10), NaN if there are none; {_ORDER}",
        lambda sweep, q, qd, qdd: jacobians.principal_screws(sweep.tree),
    ),
    "Mbar": FormulationTerm(
        f"generalized mass matrix at the centre of mass, in link axes (Eq. 9); {_ORDER}",
        lambda sweep, q, qd, qdd: jacobians.mass_matrices(sweep.tree),
    ),
    "T": FormulationTerm(
        f"screw transformation from base to centre of mass and link axes (Eq. 14); {_ORDER}",
        lambda sweep, q, qd, qdd: jacobians.transformations(sweep, q),
    ),
    "J0": FormulationTerm(
        f"screws of the joints at the base origin, in base axes (Eq. 23); {_ORDER}",
        lambda sweep, q, qd, qdd: jacobians.at_base(sweep, q),
    ),
    "Jbar": FormulationTerm(
        f"Jacobian of the centre of mass in base axes (Eq. 30); {_ORDER}",
        lambda sweep, q, qd, qdd: jacobians.at_centre(sweep, q),
    ),
    "J": FormulationTerm(
        f"Jacobian of the centre of mass in link axes (Eq. 24, 28, 31); {_ORDER}",
        lambda sweep, q, qd, qdd: jacobians.directly(sweep, q),
    ),
    "M_links": FormulationTerm("M_i, each link's own mass matrix (Eq. 21)", lambda sweep, q, qd, qdd: link_inertias(sweep, q)),
    "C_links": FormulationTerm(
        "C_i, each link's own Coriolis matrix (Eq. 35)", lambda sweep, q, qd, qdd: link_coriolis(sweep, q, qd)
    ),
    "g_links": FormulationTerm("g_i, each link's own gravity torques (Eq. 36)", lambda sweep, q, qd, qdd: link_gravity(sweep, q)),
    "M": FormulationTerm("mass matrix: the sum of M_links, with the rotors", lambda sweep, q, qd, qdd: mass_matrix(sweep, q)),
    "C": FormulationTerm(
        "Coriolis matrix: the sum of C_links, with the rotors", lambda sweep, q, qd, qdd: coriolis(sweep, q, qd)
    ),
    "g": FormulationTerm("gravity torques: the sum of g_links", lambda sweep, q, qd, qdd: sum_of(*link_gravity(sweep, q))),
}

FORMULATION = Formulation(
    name="screw",
    reference="Laus, §2",
    inverse_dynamics=inverse_dynamics,
    shows="each link's own share in a sum that grows with the chain: M_i, C_i, g_i from screws and their products",
    mass_matrix=mass_matrix,
    christoffel=christoffel,
    coriolis_matrix=coriolis,
    terms=TERMS,
    largest=40,  # operations of M grow with n³: 70 000 for 30 joints, ten seconds to compile
)
