"""Bricard's linkage: six joints in a loop that count to no freedom, and yet it moves [Freeman, Appendix D].

    python examples/bricard.py [figure.png]

Six equal bars, each joint at a right angle to the next. The Jacobian of the six joints has rank 5 (D-1): the screw of joint 6
depends on those of joints 1 to 5, and (D-2) gives the rates of these by that of joint 6. With threefold symmetry the two angles
of the loop obey cos θ + cos φ + cos θ cos φ = 0. The document gives no dimensions.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal


def screws(linkage: dal.Mechanism, x: np.ndarray) -> np.ndarray:
    """What each of the six joints does to the end of the open chain, as twists."""
    robot, (_, (link, place)) = linkage.robot, linkage.closures[0].between
    axis = (dal.forward_kinematics(robot, x, link) @ place)[:3, 2]
    return np.column_stack([dal.jacobian(robot, x, link, point=place[:3, 3]), [0, 0, 0, *axis]])


def main() -> None:
    linkage = dal.mechanisms.bricard()
    q, qd = np.array([1.0]), np.array([0.8])
    x = linkage.assemble(q).x
    J = screws(linkage, x)
    values = np.linalg.svd(J, compute_uv=False)
    print(f"{linkage}\nsingular values of the six screws: {np.array2string(values, precision=3, suppress_small=True)}\n")

    by_joint_6 = np.linalg.lstsq(J[:, :5], -J[:, 5], rcond=None)[0]  # (D-2), with all six rows
    bars = [dal.link_motion(linkage, q, qd, link=f"bar{k}").velocity[3:] for k in range(1, 6)]
    axes = dal.forward_kinematics(linkage.robot, x, [f"bar{k}" for k in range(1, 6)])[:, :3, 2]
    rates = np.einsum("ki,ki->k", np.diff(bars, axis=0, prepend=0.0), axes)
    show("Rates of the joints by that of the first, (D-2)", {"G": (by_joint_6 / by_joint_6[0], rates / qd)})

    th = np.linspace(0.5, 1.7, 5)
    other = linkage.assemble(th[:, None]).x[:, 1]
    show("The other angle of the loop (rad)", {"phi": (-np.arccos(-np.cos(th) / (1 + np.cos(th))), other)}, source="formula")

    tau = dal.inverse_dynamics(linkage, q, qd, [2.0])
    rows = {"qdd": ([2.0], dal.forward_dynamics(linkage, q, qd, tau))}
    show("Accelerations from the torque that they need", rows, source="given")
    if len(sys.argv) > 1:
        from dalembert import plots

        axes = plots.skeleton(linkage, np.linspace(0.5, 1.5, 5)[:, None], view=(25, -60))
        axes.figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
