"""A parallel mechanism that carries a serial one: Freeman's way, branch by branch, and as a mechanism [Freeman, Fig. 4-3].

    python examples/hybrid.py [figure.png]

Each branch is an open chain of a leg's three joints and φ4, φ5, φ6, from the ground to the hand. The inertia of platform, arm and
hand must count once: the document puts it into one branch, here each branch has a third. All branches are transferred to the
velocity w of the hand and added, and the sum is transferred to q = (₁φ₁, ₂φ₁, ₃φ₁, φ4, φ5, φ6). The mechanism closes its loops by
itself.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

SHARED = ("platform", "upper_arm", "forearm", "hand")


def branch(mechanism: dal.Mechanism, k: int) -> dal.Robot:
    """One leg, then platform, arm and hand as a robot; the pin on the platform is its third joint."""
    tree = mechanism.robot
    joints = {joint.name: joint for joint in tree.structure.joints}
    (bar, end), (_, corner) = next(closure.between for closure in mechanism.closures if closure.name == f"pin{k}")
    pin = dal.Joint(f"leg{k}_3", "continuous", bar, "platform", origin=end, child_origin=np.linalg.inv(corner))
    links = [link for link in tree.parameters.links if link.name.startswith(f"leg{k}") or link.name in SHARED]
    links = [link.replace(mass=link.mass / 3, inertia=link.inertia / 3) if link.name in SHARED else link for link in links]
    chain = [joints[f"leg{k}_1"], joints[f"leg{k}_2"], pin, joints["arm_4"], joints["arm_5"], joints["arm_6"]]
    return dal.Robot.from_parts(f"branch{k}", [dal.Link("ground"), *links], chain, tool=tree.tool)


def main() -> None:
    mechanism = dal.mechanisms.hybrid()
    q = mechanism.q0 + np.array([0.06, -0.04, 0.05, 0.2, -0.1, 0.4])
    x = dict(zip(mechanism.robot.joint_names, mechanism.assemble(q).x, strict=True))
    I, T, rows = np.zeros((6, 6)), np.zeros(6), []
    for k in (1, 2, 3):
        robot = branch(mechanism, k)
        yaw = x["platform_yaw"] - x[f"leg{k}_1"] - x[f"leg{k}_2"]
        phi = [x[f"leg{k}_1"], x[f"leg{k}_2"], yaw, x["arm_4"], x["arm_5"], x["arm_6"]]
        back = np.linalg.inv(dal.jacobian(robot, phi))  # φ by w (4-43)
        I += back.T @ dal.mass_matrix(robot, phi) @ back  # (4-45), (4-48)
        T += back.T @ dal.gravity_torque(robot, phi)  # (4-47), (4-49)
        rows += [back[0]] if k > 1 else [back[0], *back[3:]]
    G = np.array([rows[0], rows[4], rows[5], *rows[1:4]])  # q by w (4-59)
    w_by_q = np.linalg.inv(G)
    found = {
        "I": (w_by_q.T @ I @ w_by_q, dal.mass_matrix(mechanism, q)),  # (4-62)
        "gravity": (w_by_q.T @ T, dal.gravity_torque(mechanism, q)),
    }
    show("Parallel-serial mechanism at its six coordinates", found)
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(mechanism, q)
        axes.set_title("Three legs in a plane carry an arm of three joints")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
