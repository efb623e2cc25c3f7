"""A six-joint arm in coordinates of its tool: transfer of the dynamic model [Freeman, Eq. 3-33 to 3-36].

For the PUMA 560 the new coordinates are the position of the tool and its rotation, whose velocity is the twist [v; ω]. Their
influence coefficients over the joints, G and H, take I*, P* and the weight of the links to the tool, and the motion of the tool
back to the joints. The wrench found there, brought to the joints by Gᵀ, has to be the torque of inverse dynamics; the apparent
inertia at the tool has to be (G M⁻¹ Gᵀ)⁻¹; and the kinetic energy is the same in both coordinates.
"""

import numpy as np
from support.comparison import show

import dalembert as dal
from dalembert import transfer


def main() -> None:
    robot, q = dal.robots.puma560(), np.array([0.1, 0.7, -0.4, 0.3, 0.9, 0.2])
    tool = dal.influence(robot, q)
    joints = transfer.open_chain(robot, q)
    model = transfer.transferred(joints, tool, new=["x", "y", "z", "rx", "ry", "rz"], old=robot.joint_names)

    twist, rate = np.array([0.3, -0.2, 0.4, 0.5, -1.0, 0.8]), np.array([1.0, 2.0, -1.0, 3.0, 0.5, -2.0])
    motion = transfer.rates(transfer.inverse(tool), twist, rate)
    qd, qdd = motion.velocity, motion.acceleration
    back = dal.link_motion(robot, q, qd, qdd)
    show(
        "Motion of the tool, given and from the joints",
        {"v": (twist, back.velocity), "a": (rate, back.acceleration)},
        source="given",
    )

    M, friction = dal.mass_matrix(robot, q), dal.friction_torque(robot, qd)
    rows = {
        "I, diagonal": (np.diag(np.linalg.inv(tool.G @ np.linalg.solve(M, tool.G.T))), np.diag(model.I)),
        "kinetic energy": (dal.energy(robot, q, qd).kinetic, twist @ model.I @ twist / 2),
        "torque": (dal.inverse_dynamics(robot, q, qd, qdd), tool.G.T @ model.torque(twist, rate) + friction),
    }
    show("The model at the tool, and the torque of this motion", rows, source="at the joints")


if __name__ == "__main__":
    main()
