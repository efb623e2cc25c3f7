"""The Newton-Euler recursions as the documents print them, transcribed with NumPy for standard Denavit-Hartenberg arms.

Independent of the library: frames come from the rows of a golden file, and nothing is simplified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Z0 = np.array([0.0, 0.0, 1.0])
Row = Mapping[str, Any]
Steps = dict[str, np.ndarray]


def turns(link: Row) -> bool:
    return link["type"] == "R"


def frame(link: Row, q: complex) -> tuple[np.ndarray, np.ndarray]:
    """R and p of frame i in frame i − 1: Rz(θ) Tz(d) Tx(a) Rx(α)."""
    theta = link["theta"] + (q if turns(link) else 0.0)
    d = link["d"] + (0.0 if turns(link) else q)
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(link["alpha"]), np.sin(link["alpha"])
    R = np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0, sa, ca]])
    return R, np.array([link["a"] * c, link["a"] * s, d])


def friction(link: Row, qd: float) -> float:
    return link.get("viscous", 0.0) * qd + link.get("coulomb", 0.0) * np.sign(qd)


def centrifugal(w: np.ndarray, dw: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.cross(dw, r) + np.cross(w, np.cross(w, r))


def table_1(robot: Row, q: Any, qd: Any, qdd: Any, *, dv0: np.ndarray | None = None, printed: bool = False) -> Steps:
    """[Milicevic, Table 1]: all vectors in the base frame. `printed`: v̇_i of a rotary link as the text has it (E003-03)."""
    links, n = robot["links"], len(robot["links"])
    R, p, z = np.eye(3), [], []
    axes = []
    for link, position in zip(links, q, strict=True):
        own, step = frame(link, position)
        z.append(R @ Z0)
        p.append(R @ step)
        R = R @ own
        axes.append(R)
    s = [axes[i] @ np.array(links[i]["com"]) for i in range(n)]
    I = [axes[i] @ np.array(links[i]["inertia"]) @ axes[i].T for i in range(n)]
    w, dw = np.zeros(3), np.zeros(3)
    dv = -np.array(robot["gravity"]) if dv0 is None else dv0
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("omega", "domega", "pdd", "pdd_C")}
    for i, link in enumerate(links):
        if turns(link):
            dw_before = dw + z[i] * qdd[i] + np.cross(w, z[i] * qd[i])
            w, dw = w + z[i] * qd[i], dw_before
            dv = dw_before if printed else centrifugal(w, dw, p[i]) + dv
        else:
            dv = z[i] * qdd[i] + 2 * np.cross(w, z[i] * qd[i]) + centrifugal(w, dw, p[i]) + dv
        for name, value in zip(rows, (w, dw, dv, centrifugal(w, dw, s[i]) + dv), strict=True):
            rows[name].append(value)
    f, mu, tau = np.zeros((n + 1, 3)), np.zeros((n + 1, 3)), np.zeros(n)
    for i in reversed(range(n)):
        F = links[i]["mass"] * rows["pdd_C"][i]
        N = I[i] @ rows["domega"][i] + np.cross(rows["omega"][i], I[i] @ rows["omega"][i])
        f[i] = F + f[i + 1]
        mu[i] = mu[i + 1] + np.cross(p[i], f[i + 1]) + np.cross(p[i] + s[i], F) + N
        tau[i] = (mu[i] if turns(links[i]) else f[i]) @ z[i] + friction(links[i], qd[i])
    return {name: np.array(values) for name, values in rows.items()} | {"f": f[:n], "mu": mu[:n], "tau": tau}


def table_2(robot: Row, q: Any, qd: Any, qdd: Any) -> Steps:
    """[Milicevic, Table 2], from ā_i on as restored by E003-04: all vectors in their own link's frame."""
    links, n = robot["links"], len(robot["links"])
    pairs = [frame(link, position) for link, position in zip(links, q, strict=True)]
    R, p = [pair[0] for pair in pairs], [pair[0].T @ pair[1] for pair in pairs]
    w, dw, dv = np.zeros(3), np.zeros(3), -np.array(robot["gravity"])
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("omega", "domega", "pdd", "pdd_C")}
    for i, link in enumerate(links):
        down, s = R[i].T, np.array(link["com"])
        if turns(link):
            w, dw = down @ (w + Z0 * qd[i]), down @ (dw + Z0 * qdd[i] + np.cross(w, Z0 * qd[i]))
            dv = centrifugal(w, dw, p[i]) + down @ dv
        else:
            w, dw = down @ w, down @ dw
            dv = down @ (Z0 * qdd[i] + dv) + centrifugal(w, dw, p[i]) + 2 * np.cross(w, down @ Z0 * qd[i])
        for name, value in zip(rows, (w, dw, dv, centrifugal(w, dw, s) + dv), strict=True):
            rows[name].append(value)
    f, mu, tau = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    outer_f, outer_mu = np.zeros(3), np.zeros(3)  # of link i + 1, in frame i
    for i in reversed(range(n)):
        s, I, w, dw = np.array(links[i]["com"]), np.array(links[i]["inertia"]), rows["omega"][i], rows["domega"][i]
        F = links[i]["mass"] * rows["pdd_C"][i]
        f[i] = outer_f + F
        mu[i] = outer_mu + np.cross(p[i], outer_f) + np.cross(p[i] + s, F) + I @ dw + np.cross(w, I @ w)
        axis = R[i].T @ Z0
        tau[i] = (mu[i] if turns(links[i]) else f[i]) @ axis + friction(links[i], qd[i])
        outer_f, outer_mu = R[i] @ f[i], R[i] @ mu[i]
    return {name: np.array(values) for name, values in rows.items()} | {"f": f, "mu": mu, "tau": tau}


def augmented(robot: Row, i: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and tensor about it of link i with rotor i + 1 (and the payload, for the last) [Siciliano, Eq. 7.62-7.64]."""
    link = robot["links"][i]
    bodies = [(link["mass"], np.array(link["com"]), np.array(link["inertia"]))]
    if i + 1 < len(robot["links"]):
        rotor = robot["links"][i + 1]["rotor"]
        spin = np.outer(axis_of(rotor), axis_of(rotor))
        bodies.append((rotor["mass"], np.array(rotor["position"]), rotor["Izz"] * spin + rotor["Ixx"] * (np.eye(3) - spin)))
    elif "payload" in robot:
        T, load = np.array(robot["tool"]), robot["payload"]
        R, com = T[:3, :3], T[:3, :3] @ np.array(load["com"]) + T[:3, 3]
        bodies.append((load["mass"], com, R @ np.array(load["inertia"]) @ R.T))
    m = sum(body[0] for body in bodies)
    c = sum(body[0] * body[1] for body in bodies) / m
    I = sum(T + mass * ((r - c) @ (r - c) * np.eye(3) - np.outer(r - c, r - c)) for mass, r, T in bodies)
    return m, c, I


def axis_of(rotor: Row) -> np.ndarray:
    return np.array(rotor["axis"]) / np.linalg.norm(rotor["axis"])


def link_recursion(robot: Row, q: Any, qd: Any, qdd: Any, he: Any = None, *, gyroscopic: int = 1) -> Steps:
    """[Siciliano, Eq. 7.107-7.114] with rotors, friction and h_e at the tool; `gyroscopic` = 2 as 7.113 is printed (E001-09)."""
    links, n = robot["links"], len(robot["links"])
    pairs = [frame(link, position) for link, position in zip(links, q, strict=True)]
    R, r = [pair[0] for pair in pairs], [pair[0].T @ pair[1] for pair in pairs]
    bodies = [augmented(robot, i) for i in range(n)]
    w, dw, a = np.zeros(3), np.zeros(3), -np.array(robot["gravity"])
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("omega", "domega", "pdd", "pdd_C", "domega_m")}
    for i, link in enumerate(links):
        down, k, z_m = R[i].T, link["rotor"]["ratio"], axis_of(link["rotor"])
        dw_m = dw + k * qdd[i] * z_m + k * qd[i] * np.cross(w, z_m)  # (7.111)
        if turns(link):
            w, dw = down @ (w + qd[i] * Z0), down @ (dw + qdd[i] * Z0 + qd[i] * np.cross(w, Z0))  # (7.107), (7.108)
            a = down @ a + centrifugal(w, dw, r[i])  # (7.109)
        else:
            w, dw = down @ w, down @ dw
            a = down @ (a + qdd[i] * Z0) + 2 * qd[i] * np.cross(w, down @ Z0) + centrifugal(w, dw, r[i])
        for name, value in zip(rows, (w, dw, a, a + centrifugal(w, dw, bodies[i][1]), dw_m), strict=True):  # (7.110)
            rows[name].append(value)
    f, mu, tau = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    outer_f, outer_mu = tip(robot, R, he)
    for i in reversed(range(n)):
        (m, c, I), w, dw = bodies[i], rows["omega"][i], rows["domega"][i]
        f[i] = outer_f + m * rows["pdd_C"][i]  # (7.112)
        mu[i] = -np.cross(f[i], r[i] + c) + outer_mu + np.cross(outer_f, c) + I @ dw + gyroscopic * np.cross(w, I @ w)  # (7.113)
        if i + 1 < n:
            rotor = links[i + 1]["rotor"]
            kI, z_m = rotor["ratio"] * rotor["Izz"], axis_of(rotor)
            mu[i] += kI * (qdd[i + 1] * z_m + qd[i + 1] * np.cross(w, z_m))
        rotor = links[i]["rotor"]
        spin = rotor["ratio"] * rotor["Izz"] * rows["domega_m"][i] @ axis_of(rotor)
        tau[i] = (mu[i] if turns(links[i]) else f[i]) @ (R[i].T @ Z0) + spin + friction(links[i], qd[i])  # (7.114)
        outer_f, outer_mu = R[i] @ f[i], R[i] @ mu[i]
    return {name: np.array(values) for name, values in rows.items()} | {"f": f, "mu": mu, "tau": tau}


def tip(robot: Row, R: list[np.ndarray], he: Any) -> tuple[np.ndarray, np.ndarray]:
    """f_{n+1} and μ_{n+1} about the origin of frame n and in its axes, from h_e at the tool in base axes."""
    if he is None:
        return np.zeros(3), np.zeros(3)
    down = np.linalg.multi_dot([np.eye(3), *R]).T
    f, mu = down @ np.array(he[:3]), down @ np.array(he[3:])
    return f, mu + np.cross(np.array(robot["tool"])[:3, 3], f)


def heights(robot: Row, q: Any) -> Any:
    """Σ m_j gᵀ (⁰A_j r̄_j), the last term of the Lagrangian [Milicevic, Eq. 2.3]."""
    R, p, total = np.eye(3), np.zeros(3), 0.0
    for link, position in zip(robot["links"], q, strict=True):
        own, step = frame(link, position)
        R, p = R @ own, p + R @ step
        total = total + link["mass"] * np.array(robot["gravity"]) @ (R @ np.array(link["com"]) + p)
    return total
