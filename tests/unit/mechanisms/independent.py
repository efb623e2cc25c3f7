"""What the tests of the catalogue compare with: positions, closures and energy of a mechanism's tree in plain NumPy."""

from __future__ import annotations

import numpy as np

import dalembert as dal
from tests.link_poses import link_poses


def poses(mechanism: dal.Mechanism, x: np.ndarray) -> dict[str, np.ndarray]:
    """X_WB of every link at positions of the tree, and that of the world."""
    return {"world": np.eye(4)} | link_poses(mechanism.robot, dict(zip(mechanism.robot.joint_names, x, strict=True)))


def gap(mechanism: dal.Mechanism, x: np.ndarray) -> float:
    """How far the points apart are that closures hold together, and how much rods differ from their length [m]."""
    X = poses(mechanism, x)
    worst = 0.0
    for closure in mechanism.closures:
        if closure.links:
            a, b = (X[link] @ place[:, 3] for link, place in closure.between)
            d = (b - a)[:3]
            off = abs(np.linalg.norm(d) - closure.length) if closure.type == "distance" else _held(closure, X, d)
            worst = max(worst, off)
    return worst


def _held(closure: dal.Closure, X: dict[str, np.ndarray], d: np.ndarray) -> float:
    """The part of the gap along the directions that are held; a screw lets the links slide along its axis."""
    link, place = closure.between[0]
    local = (X[link] @ place)[:3, :3].T @ d
    free = {"directions": [k for k, name in enumerate("xyz") if name not in closure.directions], "screw": [2]}
    local[free.get(closure.type, [])] = 0.0
    return float(np.abs(local).max())


def energy(mechanism: dal.Mechanism, x: np.ndarray, before: np.ndarray, after: np.ndarray, dt: float) -> float:
    """Kinetic and potential energy at x, velocities by the difference of positions `dt` before and after."""
    here, past, later = (poses(mechanism, each) for each in (x, before, after))
    total = 0.0
    for link in mechanism.robot.parameters.links:
        for body in (link, *link.bodies):
            c, past_c, later_c = (X[link.name] @ [*body.com, 1.0] for X in (here, past, later))
            R, past_R, later_R = (X[link.name][:3, :3] for X in (here, past, later))
            spin = R.T @ (later_R - past_R) / (2 * dt)
            w = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]) / 2
            v = (later_c - past_c)[:3] / (2 * dt)
            total += body.mass * (v @ v) / 2 + w @ body.inertia @ w / 2 - body.mass * mechanism.robot.gravity @ c[:3]
    return total


def influence_of_joints(mechanism: dal.Mechanism, q: np.ndarray, joints: tuple[str, ...], h: float = 1e-5) -> np.ndarray:
    """∂x/∂q of some joints of the tree, by central differences of assembled positions."""
    columns = [mechanism.robot.joint_names.index(name) for name in joints]
    steps = h * np.eye(mechanism.n)
    ahead, behind = mechanism.assemble(q + steps).x, mechanism.assemble(q - steps).x
    return ((ahead - behind)[:, columns] / (2 * h)).T
