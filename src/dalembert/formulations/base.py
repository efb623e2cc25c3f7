"""The contract of a formulation: one way to write the equations of motion of any tree of joints.

1. It is one module of pure functions over scalars (floats, batches, graph nodes) that end in a `Formulation` record.
2. `inverse_dynamics(sweep, q, qd, qdd, base, loads=None, *, with_friction=True)` returns the generalised forces per
   coordinate for a motion. Gravity enters as the upward acceleration of `base`; `loads` are the wrenches that segments exert
   on the outside, one `Force` or None each, at the segment's internal origin and in its axes.
3. It may offer what it computes directly: `mass_matrix(sweep, q)`, `christoffel(sweep, q)` and, where that is
   cheaper than through the symbols, their `coriolis_matrix(sweep, q, qd)`, in coordinates. What it does not offer follows
   from its inverse dynamics (`mass_matrix_of`, `christoffel_of`, `coriolis_of` below).
4. A formulation whose own result is the closed model (M, velocity products, gravity) hands a function that gives a `Model` to
   `closed`, which makes 2 and 3 of it and adds reflected rotors, friction and loads.
5. Rotors act in their three models, couplings are handled by `sweep.expand` and `sweep.collect`, branches by `tree.path`.
6. What is particular to it is offered as `terms`, by name, each with its meaning; frames seen by users are the links' own
   (`tree.frames`), never the internal ones.
7. It names its `reference` (a key of docs/references.bib) and, in a line, what it `shows`.
8. What it cannot serve it says by its flags (`moving_base`, `parameters`, `largest`); users are told which formulations can.
9. It is entered in the `FORMULATIONS` table, and so inherits every agreement and property test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..algorithms.graph_derivatives import from_christoffel
from ..algorithms.joint import friction, joint_force
from ..algorithms.kinematics import WORLD, pose_step
from ..algorithms.sweep import Unrolled
from ..model.tree import Tree
from ..spatial import Force, Matrix, Pose, Tensor, Vec3, ldl
from ..spatial.nested import dot, zeros


class FormulationTerm(NamedTuple):
    """A quantity particular to a formulation: `function(sweep, q, qd, qdd)` gives nested lists of scalars.

    Terms asked for together are traced together, so what they share is computed once.
    """

    meaning: str
    function: Callable[[Unrolled, Any, Any, Any], Any]


@dataclass(frozen=True)
class Formulation:
    """One way to write the equations of motion."""

    name: str
    reference: str
    inverse_dynamics: Callable[..., Any]
    shows: str = ""
    mass_matrix: Callable[[Unrolled, Any], Matrix] | None = None
    christoffel: Callable[[Unrolled, Any], Tensor] | None = None
    coriolis_matrix: Callable[[Unrolled, Any, Any], Matrix] | None = None
    terms: Mapping[str, FormulationTerm] = field(default_factory=dict)
    can_roll: bool = False  # written as steps for a sweep, so it can become a loop over joints
    regroup: bool = False  # correct with base parameters alone, where a link may have no mass
    moving_base: bool = False  # serves a base that moves
    parameters: bool = False  # serves masses and moments as inputs
    largest: int | None = None  # joints up to which it may be asked; beyond, it has too many operations


class Model(NamedTuple):
    """The closed model over segments: τ_i = Σ_j M_ij q̈_j + Σ_jk c_ijk q̇_j q̇_k + g_i, without armature and friction.

    Only the sum of c_ijk and c_ikj matters, so c need not be symmetric.
    """

    M: Matrix
    c: Tensor
    g: list[Any]


ModelFunction = Callable[[Unrolled, Any, Vec3], Model]


def closed(model: ModelFunction) -> dict[str, Callable[..., Any]]:
    """Inverse dynamics, mass matrix and Christoffel symbols of `model(sweep, q, gravity)`, q being per segment."""

    def inverse_dynamics(
        sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: Any, loads: Any = None, *, with_friction: bool = True
    ) -> list[Any]:
        rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
        M, c, g = model(sweep, sweep.expand(q), -base.motion.a)
        tau = [
            dot(M[i], accelerations) + dot([dot(row, rates) for row in c[i]], rates) + g[i] + s.armature * accelerations[i]
            for i, s in enumerate(sweep.tree.segments)
        ]
        if with_friction:
            tau = [t + friction(s.friction, rate) for t, s, rate in zip(tau, sweep.tree.segments, rates, strict=True)]
        if loads is not None:
            tau = [t + load for t, load in zip(tau, load_torques(sweep, q, loads), strict=True)]
        return sweep.collect(tau)

    def mass_matrix(sweep: Unrolled, q: Any) -> Matrix:
        M = model(sweep, sweep.expand(q), sweep.tree.gravity).M
        for i, s in enumerate(sweep.tree.segments):
            M[i][i] = M[i][i] + s.armature
        return condensed(sweep.tree, M)

    def christoffel(sweep: Unrolled, q: Any) -> Tensor:
        return symmetric(condensed_tensor(sweep.tree, model(sweep, sweep.expand(q), sweep.tree.gravity).c))

    return {"inverse_dynamics": inverse_dynamics, "mass_matrix": mass_matrix, "christoffel": christoffel}


def closed_terms(model: ModelFunction, M: str, c: str, g: str) -> dict[str, FormulationTerm]:
    """The closed model's matrix, velocity coefficients and gravity as terms, each with its meaning."""
    native = closed(model)

    def gravity(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> list[Any]:
        return sweep.collect(model(sweep, sweep.expand(q), sweep.tree.gravity).g)

    return {
        "M": FormulationTerm(M, lambda sweep, q, qd, qdd: native["mass_matrix"](sweep, q)),
        "c": FormulationTerm(c, lambda sweep, q, qd, qdd: native["christoffel"](sweep, q)),
        "g": FormulationTerm(g, gravity),
    }


def condensed(tree: Tree, M: Matrix) -> Matrix:
    """A matrix over segments as one over coordinates: Tᵀ M T with q_segments = T q + offsets."""
    result: Matrix = zeros(tree.n, tree.n)
    for i, a in enumerate(tree.segments):
        for j, b in enumerate(tree.segments):
            row = result[a.coordinate]
            row[b.coordinate] = row[b.coordinate] + M[i][j] * (a.multiplier * b.multiplier)
    return result


def condensed_tensor(tree: Tree, c: Tensor) -> Tensor:
    """A tensor over segments as one over coordinates."""
    result: Tensor = zeros(tree.n, tree.n, tree.n)
    for a, plane in zip(tree.segments, c, strict=True):
        own = condensed(tree, plane)
        for j in range(tree.n):
            row = result[a.coordinate][j]
            result[a.coordinate][j] = [x + y * a.multiplier for x, y in zip(row, own[j], strict=True)]
    return result


def symmetric(c: Tensor) -> Tensor:
    """½(c_ijk + c_ikj): as coefficients of a quadratic form in q̇ they are unique, so these are the Christoffel symbols."""
    n = range(len(c))
    return [[[c[i][j][k] if j == k else (c[i][j][k] + c[i][k][j]) * 0.5 for k in n] for j in n] for i in n]


def load_torques(sweep: Unrolled, q: Any, loads: Sequence[Force | None]) -> list[Any]:
    """Generalised forces per segment of what the segments exert on the outside: z·(n + (p_i − p_j) × f), or z·f."""
    poses = world_poses(sweep, sweep.expand(q))
    result = [0.0] * len(poses)
    for i, load in enumerate(loads):
        if load is None:
            continue
        f, n = poses[i].R @ load.f, poses[i].R @ load.n
        for j in sweep.tree.path(i):
            s, z = sweep.tree.segments[j], poses[j].R.third
            arm = poses[i].p - poses[j].p
            result[j] = result[j] + joint_force(s, z, Force(f, n + arm.cross(f)))
    return result


def world_poses(sweep: Unrolled, q: Any) -> list[Pose]:
    """World poses of the segments' internal frames, q being per segment."""
    return sweep.outward(pose_step, WORLD, q)


def spin_model(tree: Tree, poses: Sequence[Pose]) -> tuple[Matrix, Tensor]:
    """What the spin of full rotors adds to M and c, over segments; `poses` are theirs in the world.

    A rotor of joint j on mount m has the spin momentum k I q̇_j z, with z fixed in m, beside its inertia at rest, which is
    part of m. From T = k I q̇_j z·ω_m + ½ k² I q̇_j², with a_k the axes of the turning joints up to m (k before l):

        M_jj += k² I,  M_jk, M_kj += k I z·a_k             (1)  [Siciliano, Eq. 7.27, 7.32]
        c_jkl += k I z·(a_k × a_l)                         (2)  from z·α_m
        c_kjl += k I a_k·(a_l × z)                         (3)  from the turning of the momentum with its mount
    """
    size = len(tree.segments)
    axes = [pose.R.third for pose in poses]
    M, c = zeros(size, size), zeros(size, size, size)
    for j, s in enumerate(tree.segments):
        if s.spin is None:
            continue
        M[j][j] = M[j][j] + s.spin.kkI  # (1)
        if s.spin.mount < 0:
            continue
        z = poses[s.spin.mount].R @ (s.spin.axis * s.spin.kI)
        before = [k for k in reversed(tree.path(s.spin.mount)) if tree.segments[k].turn]
        for place, k in enumerate(before):
            M[j][k] = M[j][k] + z.dot(axes[k])  # (1)
            M[k][j] = M[k][j] + z.dot(axes[k])
            for l in before[place + 1 :]:
                c[j][k][l] = c[j][k][l] + z.dot(axes[k].cross(axes[l]))  # (2)
            for l in before:
                c[k][j][l] = c[k][j][l] + axes[k].dot(axes[l].cross(z))  # (3)
    return M, c


def mass_matrix_of(method: Formulation, sweep: Unrolled, q: Any, still_base: Any) -> Matrix:
    """M: the formulation's own, or column j as ID(q, 0, e_j) − ID(q, 0, 0), with `still_base` free of gravity."""
    if method.mass_matrix is not None:
        return method.mass_matrix(sweep, q)
    n = sweep.tree.n
    rest = [0.0] * n
    columns = [
        method.inverse_dynamics(sweep, q, rest, [1.0 if i == j else 0.0 for i in range(n)], still_base, with_friction=False)
        for j in range(n)
    ]
    return [[columns[j][i] if i <= j else columns[i][j] for j in range(n)] for i in range(n)]


def christoffel_of(method: Formulation, sweep: Unrolled, q: Any, still_base: Any) -> Tensor:
    """c_ijk: the formulation's own, or by polarisation of the quadratic form C q̇, which has no other symmetric coefficients."""
    if method.christoffel is not None:
        return method.christoffel(sweep, q)
    n = sweep.tree.n
    rest = [0.0] * n

    def products(*moving: int) -> list[Any]:
        rates = [1.0 if i in moving else 0.0 for i in range(n)]
        return method.inverse_dynamics(sweep, q, rates, rest, still_base, with_friction=False)

    own = [products(j) for j in range(n)]
    c: Tensor = zeros(n, n, n)
    for j in range(n):
        for k in range(j):
            both = products(j, k)
            for i in range(n):
                c[i][j][k] = c[i][k][j] = (both[i] - own[j][i] - own[k][i]) * 0.5
        for i in range(n):
            c[i][j][j] = own[j][i]
    return c


def coriolis_of(method: Formulation, sweep: Unrolled, q: Any, qd: Any, still_base: Any) -> Matrix:
    """C of the Christoffel symbols: the formulation's own, or their sum along q̇."""
    if method.coriolis_matrix is not None:
        return method.coriolis_matrix(sweep, q, qd)
    return from_christoffel(christoffel_of(method, sweep, q, still_base), qd)


def forward_dynamics_of(
    method: Formulation, sweep: Unrolled, q: Any, qd: Any, tau: Any, base: Any, still_base: Any, loads: Any = None
) -> list[Any]:
    """q̈ = M⁻¹ (τ − h), all of the formulation's own [Freeman, Eq. 2-199]."""
    h = method.inverse_dynamics(sweep, q, qd, [0.0] * sweep.tree.n, base, loads)
    return ldl.solve(mass_matrix_of(method, sweep, q, still_base), [t - b for t, b in zip(tau, h, strict=True)])
