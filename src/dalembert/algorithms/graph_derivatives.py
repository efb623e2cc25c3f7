"""Derivatives of the dynamics, by differentiating the traced graph: exact, and sparse where the mechanism is.

Forward mode carries a tangent per coordinate only to the links beyond its joint, so for arms it costs less than analytical
formulas (composite_derivatives.py, docs/develop/decisions.md). Two identities save a fifth of the rest: ∂τ/∂q̈ is the mass
matrix, and ∂(C q̇)/∂q̇ is twice the Christoffel form of the Coriolis matrix, which follows from ∂M/∂q.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..expr.differentiate import gradient, jacobian, jvp
from ..spatial import Matrix, Tensor, ldl
from ..spatial.nested import dot, transposed
from .composite_bodies import mass_matrix
from .forward_by_mass_matrix import forward_dynamics
from .joint import friction
from .newton_euler_recursion import LinkState, inverse_dynamics
from .regressor import Options, regressor
from .sweep import Unrolled


def inverse_derivatives(sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkState) -> tuple[Matrix, Matrix, Matrix]:
    """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M, friction included."""
    tau = inverse_dynamics(sweep, q, qd, qdd, base, with_friction=False)
    M = mass_matrix(sweep, q)
    return jacobian(tau, q), _by_velocity(sweep, mass_slopes(M, q), qd), M


def _by_velocity(sweep: Unrolled, slopes: Slopes, qd: Any) -> Matrix:
    """∂τ/∂q̇ = 2C + the slope of friction: C q̇ is a quadratic form in q̇ with the Christoffel symbols as coefficients.

    Summed over k first, 2C = Ṁ + P − Pᵀ with P_ij = Σ_k ∂M_ik/∂q_j q̇_k, which takes fewer operations than the symbols.
    """
    n = range(slopes.n)
    P = [[_sum(slopes(i, k, j) * qd[k] for k in n) for j in n] for i in n]
    rate = [[_sum(slopes(i, j, k) * qd[k] for k in n) for j in range(i + 1)] for i in n]
    friction_slopes = jacobian(friction_forces(sweep, qd), qd)
    return [[rate[max(i, j)][min(i, j)] + (P[i][j] - P[j][i]) + friction_slopes[i][j] for j in n] for i in n]


def _sum(terms: Iterable[Any]) -> Any:
    return sum(terms, 0.0)


def with_acceleration(by_q: Matrix, slopes: Slopes, qdd: Any) -> Matrix:
    """∂τ/∂q = ∂h/∂q + Σ_k ∂M_ik/∂q_j q̈_k.

    τ is not differentiated with q̈ held: q̈ is computed from q here, and its nodes may be shared with what uses them.
    """
    n = len(qdd)
    return [[by_q[i][j] + sum((slopes(i, k, j) * qdd[k] for k in range(n)), 0.0) for j in range(n)] for i in range(n)]


def friction_forces(sweep: Unrolled, qd: Any) -> list[Any]:
    """Friction per coordinate."""
    return sweep.collect(sweep.local(lambda s, rate: friction(s.friction, rate), sweep.expand(qd, rate=True)))


def forward_derivatives(sweep: Unrolled, q: Any, qd: Any, tau: Any, base: LinkState) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = −M⁻¹ ∂τ/∂q̇ and ∂q̈/∂τ = M⁻¹, with ∂τ taken at the acceleration that τ causes.

    From differentiating τ(q, q̇, q̈(q, q̇, τ)) = τ [Carpentier2018, §III].
    """
    n = len(q)
    M = mass_matrix(sweep, q)
    slopes = mass_slopes(M, q)
    qdd = forward_dynamics(sweep, q, qd, tau, base)
    by_q = with_acceleration(jacobian(inverse_dynamics(sweep, q, qd, [0.0] * n, base, with_friction=False), q), slopes, qdd)
    factors = ldl.factor(M)
    inverse = ldl.inverse(factors)
    # What is computed last is traced last: the order of the graph is that of the code, and of what waits in registers.
    return minus_solved(factors, by_q), minus_solved(factors, _by_velocity(sweep, slopes, qd)), inverse


def minus_solved(factors: Any, A: Matrix) -> Matrix:
    """−M⁻¹ A, column by column, from the factors of M."""
    return transposed([ldl.solve_factored(factors, [-x for x in column]) for column in zip(*A, strict=True)])


def forward_parameter_derivatives(sweep: Unrolled, q: Any, qd: Any, tau: Any, base: LinkState, options: Options) -> Matrix:
    """∂q̈/∂φ = −M⁻¹ Y, with Y taken at the acceleration that τ causes: τ = Y φ does not change with φ."""
    Y = regressor(sweep, q, qd, forward_dynamics(sweep, q, qd, tau, base), base, options)
    return minus_solved(ldl.factor(mass_matrix(sweep, q)), Y)


def coriolis_matrix(sweep: Unrolled, q: Any, qd: Any) -> Matrix:
    """C(q, q̇) by Christoffel symbols: C_ij = Σ_k c_ijk q̇_k; Ṁ − 2C is skew-symmetric [Siciliano, Eq. 7.44, 7.47]."""
    return from_christoffel(christoffel(sweep, q), qd)


def from_christoffel(c: Tensor, qd: Any) -> Matrix:
    """C_ij = Σ_k c_ijk q̇_k [Siciliano, Eq. 7.44]."""
    return [[dot(row, qd) for row in plane] for plane in c]


def christoffel(sweep: Unrolled, q: Any) -> Tensor:
    """c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) [Siciliano, Eq. 7.45], symmetric in j and k."""
    return christoffel_of(mass_slopes(mass_matrix(sweep, q), q))


class Slopes:
    """∂M_ij/∂q_k, each pair (i, j) stored once."""

    def __init__(self, n: int, rows: dict[tuple[int, int], list[Any]]) -> None:
        self.n = n
        self.rows = rows

    def __call__(self, i: int, j: int, k: int) -> Any:
        """∂M_ij/∂q_k."""
        return self.rows[max(i, j), min(i, j)][k]


def mass_slopes(M: Matrix, q: Any) -> Slopes:
    """The derivatives of a mass matrix traced from q."""
    lower = [(i, j) for i in range(len(q)) for j in range(i + 1)]
    return Slopes(len(q), dict(zip(lower, jacobian([M[i][j] for i, j in lower], q), strict=True)))


def christoffel_of(dM: Slopes) -> Tensor:
    """The Christoffel symbols from the derivatives of the mass matrix."""
    n = range(dM.n)
    return [[[(dM(i, j, k) + dM(i, k, j) - dM(j, k, i)) * 0.5 for k in n] for j in n] for i in n]


def energy_gradient(kinetic: Any, potential: Any, q: Any, qd: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """∂T/∂q, ∂T/∂q̇ (the momentum) and ∂U/∂q, by reverse mode."""
    n = len(q)
    by_state = gradient(kinetic, [*q, *qd])
    return by_state[:n], by_state[n:], gradient(potential, q)


def along(outputs: Matrix, q: Any, qd: Any) -> Matrix:
    """The time derivative of a matrix that depends on q."""
    flat = jvp([entry for row in outputs for entry in row], q, qd)
    width = len(outputs[0])
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def torque_along(tau: Any, q: Any, qd: Any, qdd: Any, qddd: Any) -> list[Any]:
    """dτ/dt of torques traced from q, q̇ and q̈."""
    return list(jvp(tau, [*q, *qd, *qdd], [*qd, *qdd, *qddd]))


def second_derivatives(sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkState) -> tuple[Any, Any, Any, Any]:
    """∂²τ/∂q∂q, ∂²τ/∂q∂q̇, ∂²τ/∂q̇∂q̇ and ∂M/∂q, each n by n by n; the first index is that of τ."""
    return second_slopes(inverse_dynamics(sweep, q, qd, qdd, base), mass_matrix(sweep, q), q, qd)


def second_slopes(tau: Any, M: Matrix, q: Any, qd: Any) -> tuple[Any, Any, Any, Any]:
    """The same of torques and a mass matrix traced from q, q̇ and q̈."""
    n = len(q)
    first = jacobian(tau, [*q, *qd])
    by_q = [jacobian(row[:n], [*q, *qd]) for row in first]
    by_rate = [jacobian(row[n:], qd) for row in first]
    return (
        [[row[:n] for row in block] for block in by_q],
        [[row[n:] for row in block] for block in by_q],
        by_rate,
        [jacobian(row, q) for row in M],
    )
