"""The vectors and general formulas of [Lee, §2], written out as printed (corrected where docs/errata.md says so), and its arm.

Indices count from 1 as in the paper: z[j] is the axis of joint j + 1, p[j] the origin of frame j, and lists of links begin with
an unused entry. Nothing here is taken from the library but the poses of the link frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import dalembert as dal
from dalembert.model import Robot
from dalembert.model.dh import from_dh

NONE = np.zeros(3)


@dataclass(frozen=True)
class Vectors:
    """z_j, p_j, c̄_s, r̄_s in base axes; R_s^0 from base to link axes; I_s about the centres of mass in link axes."""

    n: int
    g: np.ndarray
    z: list[np.ndarray]
    p: list[np.ndarray]
    R: list[np.ndarray]
    c: list[np.ndarray]
    r: list[np.ndarray]
    m: list[float]
    I: list[np.ndarray]

    def p_star(self, k: int) -> np.ndarray:
        """p_k*: from the origin of frame k − 1 to that of frame k."""
        return self.p[k] - self.p[k - 1]

    def arm(self, i: int, s: int) -> np.ndarray:
        """z_{i−1} × (r̄_s − p_{i−1}), Eq. 12."""
        return np.cross(self.z[i - 1], self.r[s] - self.p[i - 1])

    def turned(self, s: int, j: int) -> np.ndarray:
        """R_s^0 z_{j−1}."""
        return self.R[s] @ self.z[j - 1]


def vectors(robot: Robot, q: np.ndarray) -> Vectors:
    """The paper's vectors of a serial arm in standard DH frames."""
    names = [f"link{s}" for s in range(1, robot.n + 1)]
    T = [np.eye(4), *dal.forward_kinematics(robot, q, names)]
    links = [None, *(link for link in robot.parameters.links if link.name in names)]
    p, z = [X[:3, 3] for X in T], [X[:3, 2] for X in T]
    r = [NONE] + [T[s][:3, :3] @ links[s].com + p[s] for s in range(1, robot.n + 1)]
    return Vectors(
        n=robot.n,
        g=np.array(robot.gravity),
        z=z,
        p=p,
        R=[X[:3, :3].T for X in T],
        c=[NONE] + [r[s] - p[s - 1] for s in range(1, robot.n + 1)],
        r=r,
        m=[0.0] + [link.mass for link in links[1:]],
        I=[np.eye(3)] + [link.inertia for link in links[1:]],
    )


def omega(v: Vectors, s: int, qd: np.ndarray) -> np.ndarray:
    """Eq. 6."""
    return sum((qd[j - 1] * v.z[j - 1] for j in range(1, s + 1)), NONE)


def coriolis_spin(v: Vectors, s: int, qd: np.ndarray) -> np.ndarray:
    """Σ_{p=2}^{s} (Σ_{q<p} θ̇_q z_{q−1}) × θ̇_p z_{p−1}: the angular acceleration without joint accelerations."""
    return sum((np.cross(omega(v, p - 1, qd), qd[p - 1] * v.z[p - 1]) for p in range(2, s + 1)), NONE)


def acceleration(v: Vectors, s: int, qd: np.ndarray) -> np.ndarray:
    """The velocity terms of v̇_s, Eq. 16."""

    def of(arm: np.ndarray, k: int) -> np.ndarray:
        w = omega(v, k, qd)
        return np.cross(w, np.cross(w, arm)) + np.cross(coriolis_spin(v, k, qd), arm)

    return sum((of(v.p_star(k), k) for k in range(1, s)), NONE) + of(v.c[s], s)


def D_tran(v: Vectors, i: int, j: int, first: int | None = None) -> float:
    """The second sum of Eq. 30, from link `first` (j, if not given) on; i ≤ j."""
    return sum(v.m[s] * v.arm(j, s) @ v.arm(i, s) for s in range(j if first is None else first, v.n + 1))


def D_rot(v: Vectors, i: int, j: int, first: int | None = None) -> float:
    """The first sum of Eq. 30."""
    return sum(v.turned(s, i) @ v.I[s] @ v.turned(s, j) for s in range(j if first is None else first, v.n + 1))


def H_tran(v: Vectors, i: int, qd: np.ndarray) -> float:
    """Eq. 31."""
    return sum(v.m[s] * acceleration(v, s, qd) @ v.arm(i, s) for s in range(i, v.n + 1))


def H_rot(v: Vectors, i: int, qd: np.ndarray) -> float:
    """Eq. 32."""
    total = 0.0
    for s in range(i, v.n + 1):
        turns = [qd[j - 1] * v.turned(s, j) for j in range(1, s + 1)]
        w = sum(turns, NONE)
        products = sum((np.cross(turns[j], sum(turns[j + 1 :], NONE)) for j in range(s)), NONE)
        total += v.turned(s, i) @ v.I[s] @ products + np.cross(v.turned(s, i), w) @ v.I[s] @ w
    return total


def G(v: Vectors, i: int) -> float:
    """Eq. 33."""
    return -v.g @ np.cross(v.z[i - 1], sum(v.m[s] * (v.r[s] - v.p[i - 1]) for s in range(i, v.n + 1)))


def symmetric(entry, n: int) -> np.ndarray:
    """The matrix of entry(i, j), i ≤ j."""
    return np.array([[entry(min(i, j), max(i, j)) for j in range(1, n + 1)] for i in range(1, n + 1)])


def random_arm(rng: np.random.Generator, n: int = 5) -> Robot:
    """n turning joints in general position."""
    rows = []
    for _ in range(n):
        A = rng.normal(size=(3, 3)) * 0.3
        theta, d, a, alpha = rng.uniform(-1, 1, 4)
        row = {"theta": theta, "d": d, "a": a, "alpha": alpha, "mass": rng.uniform(1, 5), "com": rng.uniform(-0.3, 0.3, 3)}
        rows.append(row | {"inertia": np.trace(A @ A.T) * np.eye(3) - A @ A.T})
    return from_dh(rows, convention="standard", gravity=rng.uniform(-9, 9, 3))


def puma(values: Mapping[str, float], coms: list[np.ndarray]) -> Robot:
    """The first three links of the PUMA, with `coms` in link axes and diagonal tensors."""
    table = [(0.0, 0.0, -np.pi / 2), (values["a2"], values["d2"], 0.0), (values["a3"], 0.0, np.pi / 2)]
    rows = [
        {"a": a, "d": d, "alpha": alpha, "mass": values[f"m{s}"], "com": com, "inertia": [values[f"I{s}{x}{x}"] for x in "xyz"]}
        for s, (a, d, alpha), com in zip((1, 2, 3), table, coms, strict=True)
    ]
    return from_dh(rows, convention="standard", gravity=(0.0, 0.0, values["g"]))


def puma_at(inputs: Mapping[str, float]) -> Robot:
    """The PUMA whose centres of mass are where r̄_s in base axes says, in the configuration of `inputs`."""
    q = [inputs[f"th{s}"] for s in (1, 2, 3)]
    bare = puma(inputs, [NONE] * 3)
    coms = []
    for s, X in zip((1, 2, 3), dal.forward_kinematics(bare, q, ["link1", "link2", "link3"]), strict=True):
        coms.append(X[:3, :3].T @ (np.array([inputs[f"r{s}{x}"] for x in "xyz"]) - X[:3, 3]))
    return puma(inputs, coms)


@dataclass(frozen=True)
class State:
    """A PUMA in motion: the library's robot, the paper's vectors and the values of the paper's symbols."""

    robot: Robot
    q: np.ndarray
    qd: np.ndarray
    v: Vectors
    values: dict[str, float]


def puma_state(rng: np.random.Generator, d2: float = 0.14909) -> State:
    """A PUMA of random masses in a random state; link lengths of Figure 3, d2 as wanted."""
    values = {"a2": 0.4318, "a3": -0.02032, "d2": d2, "g": -9.8062}
    values |= {f"m{s}": rng.uniform(2, 8) for s in (1, 2, 3)}
    for s in (1, 2, 3):
        second = rng.uniform(0.1, 1, 3)  # ∫x² dm and so on, so that the tensor is one of a body
        values |= {f"I{s}{x}{x}": second.sum() - second[k] for k, x in enumerate("xyz")}
    robot = puma(values, list(rng.uniform(-0.4, 0.4, (3, 3))))
    q, qd = rng.uniform(-2, 2, 3), rng.uniform(0.5, 2, 3) * rng.choice([-1.0, 1.0], 3)  # every joint moves
    v = vectors(robot, q)
    named = {"c": v.c, "r": v.r, "p": [NONE, *(v.p_star(k) for k in (1, 2, 3))]}
    values |= {f"{name}{s}{x}": float(w[s][k]) for name, w in named.items() for s in (1, 2, 3) for k, x in enumerate("xyz")}
    values |= {f"th{s}": q[s - 1] for s in (1, 2, 3)} | {f"dth{s}": qd[s - 1] for s in (1, 2, 3)}
    return State(robot, q, qd, v, values)


def dalembert(state: State) -> dict[str, np.ndarray]:
    """The terms of the library's formulation."""
    return dal.terms(state.robot, state.q, state.qd, formulation="generalized_dalembert", names=NAMES)


NAMES = ("D", "D_rot", "D_tran", "H_rot", "H_tran", "G")
