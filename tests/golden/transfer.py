"""Transfer of generalised coordinates [Freeman, Ch. III and IV], on arrays: what golden tests put on the library's coefficients.

`G[row, n]`, `H[row, m, n]`, `D[row, l, m, n]` are influence coefficients of the new coordinates over the old ones; I, P, T are an
effective inertia, an inertia power array and the generalised force of applied loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import dalembert as dal
from dalembert.model import Robot

Array = np.ndarray


class Model(NamedTuple):
    """T = I q̈ + q̇ᵀ P q̇ − T^L [Freeman, Eq. 2-145]."""

    I: Array
    P: Array
    T: Array

    def torque(self, qd: Array, qdd: Array) -> Array:
        return self.I @ qdd + quadratic(self.P, qd, qd) - self.T


def dot(A: Array, C: Array) -> Array:
    """([A] • [C])_p = Σ_n A_pn C_n: planes times numbers, summed [Freeman, App. A]."""
    return np.einsum("pn,n...->p...", A, C)


def congruent(D: Array, C: Array) -> Array:
    """[D]ᵀ [C] [D], plane by plane [Freeman, App. A]."""
    return D.T @ C @ D


def quadratic(C: Array, a: Array, b: Array) -> Array:
    """aᵀ [C] b, plane by plane [Freeman, App. A]."""
    return np.einsum("m,pmn,n->p", a, C, b)


def symmetric(P: Array) -> Array:
    """The part of a power array that acts."""
    return (P + np.swapaxes(P, -1, -2)) / 2


def inverse(G: Array, H: Array) -> tuple[Array, Array]:
    """G and H of the old coordinates over the new ones [Freeman, Eq. 3-15, 3-19]."""
    back = np.linalg.inv(G)
    return back, -congruent(back, dot(back, H))


def dependent(Gu: Array, Hu: Array, G: Array, H: Array) -> tuple[Array, Array]:
    """G and H of any dependent parameter u over the new coordinates [Freeman, Eq. 3-22, 3-26]."""
    back = np.linalg.inv(G)
    return Gu @ back, congruent(back, Hu - dot(Gu @ back, H))


def transferred(model: Model, G: Array, H: Array) -> Model:
    """The dynamic model in the new coordinates [Freeman, Eq. 3-34, 3-35, 3-36]."""
    back = np.linalg.inv(G)
    I = back.T @ model.I @ back
    return Model(I, congruent(back, dot(back.T, model.P) - dot(I, H)), back.T @ model.T)


def right_inverse(I: Array, G: Array) -> Array:
    """The inverse of a wide Jacobian that moves with least kinetic energy [Freeman, Eq. 4-70]."""
    return np.linalg.solve(I, G.T) @ np.linalg.inv(G @ np.linalg.solve(I, G.T))


def redundant(model: Model, G: Array, H: Array) -> Model:
    """Torques of superabundant joints from the motion of the task [Freeman, Eq. 4-73 to 4-75]; loads stay at the joints."""
    R = right_inverse(model.I, G)
    I = model.I @ R
    return Model(I, congruent(R, model.P - dot(I, H)), model.T)


def platform(mass: float, II: Array) -> tuple[Array, Array]:
    """I and P of a rigid body in terms of the velocity of its centre of mass and ω [Freeman, Eq. 4-50 to 4-53]."""
    I, P = np.zeros((6, 6)), np.zeros((6, 6, 6))
    I[:3, :3], I[3:, 3:] = mass * np.eye(3), II
    x, y, z, none = *II.T, np.zeros(3)
    P[3, 3:, 3:], P[4, 3:, 3:], P[5, 3:, 3:] = (np.column_stack(c) for c in ((none, z, -y), (-z, none, x), (y, -x, none)))
    return I, P


def open_chain(robot: Robot, q: Array) -> Model:
    """The library's I*, P*, T^L of gravity."""
    found = dal.terms(robot, q, formulation="influence", names=["I", "P", "T_gravity"])
    return Model(found["I"], found["P"], found["T_gravity"])


class Accelerated(NamedTuple):
    """Derivatives of u̇ and ü by the coordinates and their rates [Freeman, Eq. 2-20, 2-35, 2-43]."""

    dud_dq: Array
    dudd_dqd: Array
    dudd_dq: Array


def accelerated(H: Array, D: Array, qd: Array, qdd: Array) -> Accelerated:
    """Of a parameter with these coefficients, in a state of motion."""
    return Accelerated(
        np.einsum("cnm,m->cn", H, qd),
        np.einsum("m,cmn->cn", qd, H + np.swapaxes(H, 1, 2)),
        np.einsum("cnm,m->cn", H, qdd) + np.einsum("m,clmn,n->cl", qd, D, qd),
    )


def _cross(A: Array, v: Array) -> Array:
    """Columns of A times a vector, or a vector times columns (then v is the matrix)."""
    return np.cross(A.T, v.T).T if A.ndim == 2 or v.ndim == 2 else np.cross(A, v)


def angular_derivative(G: Array, H: Array, D: Array, II: Array, qd: Array, qdd: Array, *, transposed: bool = False) -> Array:
    """∂(Gᵀ L̇)/∂q of one link [Freeman, Eq. 2-224]; `transposed` as printed, with [H]ᵀ in II (q̇ᵀ H)."""
    w, Hw = G @ qd, quadratic(H, qd, qd)
    L, rate = II @ w, II @ (G @ qdd + Hw) + np.cross(w, II @ w)
    forward, turned = np.einsum("m,cmn->cn", qd, H), np.einsum("cnm,m->cn", H, qd)
    power = dot(G.T @ II, H) + np.einsum("cp,cnm->npm", II @ G, np.cross(G.T[:, None, :], G.T[None, :, :]).transpose(2, 0, 1))
    inner = _cross(G, II @ Hw) + _cross(turned, L)
    inner = inner + _cross(w, II @ (turned if transposed else forward) + _cross(G, L))
    inner = inner + II @ (np.einsum("m,clmn,n->cl", qd, D, qd) - _cross(G, Hw))
    return np.einsum("c,cnm->mn", rate, H) + np.einsum("p,npm->nm", qdd, power) + G.T @ inner


def linear_derivative(G: Array, H: Array, D: Array, mass: float, qd: Array, qdd: Array) -> Array:
    """∂(Gᵀ ṗ)/∂q of one centre of mass [Freeman, Eq. 2-216]."""
    rate = mass * (G @ qdd + quadratic(H, qd, qd))
    third = np.einsum("m,clmn,n->cl", qd, D, qd)
    return np.einsum("c,cnm->mn", rate, H) + np.einsum("p,npm->nm", qdd, mass * dot(G.T, H)) + mass * G.T @ third


def torque_by_position(robot: Robot, q: Array, qd: Array, qdd: Array, *, transposed: bool = False) -> Array:
    """∂T/∂q, link by link, gravity being a constant load at the centres of mass [Freeman, Eq. 2-208, 2-225]."""
    total = np.zeros((robot.n, robot.n))
    for link in robot.parameters.links[1:]:
        R = dal.forward_kinematics(robot, q, link.name)[:3, :3]
        G, H, D = dal.influence(robot, q, link.name, order=3, point=link.com)
        total += linear_derivative(G[:3], H[:3], D[:3], link.mass, qd, qdd)
        total += angular_derivative(G[3:], H[3:], D[3:], R @ link.inertia @ R.T, qd, qdd, transposed=transposed)
        total -= np.einsum("c,cnm->mn", link.mass * robot.gravity, H[:3])
    return total


class Motors(NamedTuple):
    """D-c motors seen from the joints [Freeman, Eq. 2-235 to 2-237]."""

    L: Array
    R: Array
    CE: Array
    CM: Array
    B: Array
    I: Array


def motors(data: dict[str, list[float]]) -> Motors:
    """Motor-side numbers, and the drive train φ̇ = Gqphi q̇, as matrices at the joints."""
    back = np.linalg.inv(np.array(data["Gqphi"], dtype=float))
    diagonal = {name: np.diag(data[name]) for name in ("L", "R", "CE", "CM", "B", "I")}
    return Motors(
        diagonal["L"],
        diagonal["R"],
        diagonal["CE"] @ back,
        back.T @ diagonal["CM"],
        back.T @ diagonal["B"] @ back,
        back.T @ diagonal["I"] @ back,
    )


def state_space(motor: Motors, dT: Sequence[Array]) -> tuple[Array, Array]:
    """F and G of (δφ, δφ̇, δi) from ∂T/∂φ, ∂T/∂φ̇, I* [Freeman, Eq. 2-244 to 2-252]."""
    dT_dq, dT_dqd, I = dT
    n = len(I)
    none, L = np.zeros((n, n)), np.linalg.inv(motor.L)
    inertia = np.linalg.inv(I + motor.I)
    F = np.block(
        [
            [none, np.eye(n), none],
            [-inertia @ dT_dq, -inertia @ (dT_dqd + motor.B), inertia @ motor.CM],
            [none, -L @ motor.CE, -L @ motor.R],
        ]
    )
    return F, np.vstack([none, none, L])


def transferred_state_space(F: Array, G: Array, by: Accelerated) -> Array:
    """F of (δu, δu̇, δi) for task coordinates u [Freeman, Eq. 3-53]."""
    n = len(G)
    block = [[F[n * i : n * (i + 1), n * j : n * (j + 1)] for j in range(3)] for i in range(3)]
    back = np.linalg.inv(G)
    turn = back @ by.dud_dq
    F21 = by.dudd_dq - by.dudd_dqd @ turn + G @ (block[1][0] - block[1][1] @ turn)
    return np.block(
        [
            block[0],
            [F21 @ back, (by.dudd_dqd + G @ block[1][1]) @ back, G @ block[1][2]],
            [-block[2][1] @ turn @ back, block[2][1] @ back, block[2][2]],
        ]
    )
