"""More joints than the task needs: least norm, least energy, weights, and motions the task does not notice [Freeman, Ch. IV].

    python examples/redundant.py [figure.png]

u̇ = G q̇ has many solutions. Of these q̇ = W⁻¹ Gᵀ (G W⁻¹ Gᵀ)⁻¹ u̇ has the least q̇ᵀ W q̇; with W = I* the kinetic energy is least
(4-70). What is left, N = 1 − R G, moves the joints and not the task. Three systems: a planar arm of four joints, a Panda, and the
six-freedom planar device of Fig. 4-4, which is a mechanism. The figure shows the last one while its platform rests.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal
from dalembert import transfer


def solutions(title: str, system: dal.Robot | dal.Mechanism, q: np.ndarray, link: str | None, rows: list[int]) -> None:
    """Energy and norm of three solutions, and the pseudo-inverse (4-70) written out."""
    task = transfer.rows(dal.influence(system, q, link), rows)
    ud, M = np.linspace(0.3, -0.2, len(rows)), dal.mass_matrix(system, q)
    n = len(q)
    weights = {"least norm": np.eye(n), "least energy": M, "first joint dear": np.diag([100.0, *[1.0] * (n - 1)])}
    print(f"{title}: {n} joints for {len(rows)} coordinates\n{'':<18}{'norm':>10}{'energy':>10}{'joint 1':>10}")
    for name, W in weights.items():
        qd = transfer.resolve(task, ud, weight=W).velocity
        print(f"{name:<18}{np.linalg.norm(qd):>10.5f}{qd @ M @ qd / 2:>10.5f}{qd[0]:>10.5f}")
    written_out = np.linalg.solve(M, task.G.T) @ np.linalg.inv(task.G @ np.linalg.solve(M, task.G.T))  # (4-70)
    free = transfer.null_projector(task, weight=M) @ np.ones(n)
    moved = dal.link_motion(system, q, free, link=link).velocity[rows]
    pairs = {"qd": (written_out @ ud, transfer.resolve(task, ud, weight=M).velocity), "ud at rest": (np.zeros(len(rows)), moved)}
    show("(4-70), and a motion that the task does not notice", pairs)


def standing_still(device: dal.Mechanism, steps: int) -> np.ndarray:
    """Coordinates along a motion of the legs that leaves the platform where it is, by small steps."""
    q, path = device.q0, [device.q0]
    for _ in range(steps):
        task = transfer.rows(dal.influence(device, q, "platform", order=1), [0, 1, 5])
        q = q + transfer.null_projector(task) @ np.array([0.02, 0.02, 0.02, 0, 0, 0])
        path.append(q)
    return np.array(path)


def main() -> None:
    solutions("Planar arm", dal.robots.four_joint_planar(), np.array([0.3, 0.5, -0.8, 0.6]), None, [0, 1, 5])
    solutions("Panda", dal.robots.panda(), np.array([0.1, 0.5, -0.3, -1.5, 0.2, 1.8, 0.4]), None, list(range(6)))
    device = dal.mechanisms.six_freedom_planar()
    solutions("Six-freedom planar device", device, device.q0, "platform", [0, 1, 5])
    path = standing_still(device, 60)
    x = device.assemble(path, continuous=True).x
    joints = list(device.robot.joint_names)
    place = x[:, [joints.index(f"platform_{name}") for name in ("x", "y", "yaw")]]
    moved = np.abs(path[-1] - path[0]).max()
    print(f"joints turn by up to {moved:.3f} rad while the platform stays within {np.abs(place).max():.4f} m and rad")
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(device, path, ghosts=4)
        axes.set_title("The legs move, the platform rests")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
