"""Two UR5 hold one beam: what its weight asks of twelve motors [Freeman, Ch. IV].

    python examples/cooperating_arms.py [figure.png]

In the coordinates of the beam, T_u is the load of beam and arms together. The joints of an arm follow the beam: J times their
rates is the twist of the grip. So the least torques are T_q = G (Gᵀ G)⁻¹ T_u (4-85); each arm holds itself and its part of the
beam. Pressing the beam between the hands costs torque and moves nothing: six such torques are independent.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal


def rates_of_arms(arms: dal.Mechanism, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """All joint rates by those of the beam's coordinates, arm by arm: J⁻¹ times what the grip's twist is by them."""
    robot, found = dal.robots.ur5(), []
    for k, closure in enumerate(arms.closures):
        base = next(joint.origin for joint in arms.robot.structure.joints if joint.name == f"arm{k + 1}_mount")
        grip = dal.influence(arms, q, closure.between[1][0], order=1, point=closure.between[1][1][:3, 3]).G
        own = np.kron(np.eye(2), base[:3, :3].T) @ grip  # in the axes of the arm's base
        found.append(np.linalg.solve(dal.jacobian(robot, x[6 + 6 * k : 12 + 6 * k]), own))
    return np.vstack(found)


def main() -> None:
    arms = dal.mechanisms.two_arms()
    q = np.array([0.02, -0.03, 0.42, 0.05, -0.04, 0.1])
    x = arms.assemble(q).x
    G = rates_of_arms(arms, q, x)
    rest = np.zeros(6)
    T_u = dal.inverse_dynamics(arms, q, rest, rest)
    T_q = dal.distribute_load(arms, q, rest, rest).torques
    show("Least torques of twelve motors (4-85) (N m)", {"T_q": (G @ np.linalg.solve(G.T @ G, T_u), T_q)})
    # The arms alone: what their own links need. The rest of the torques, brought to the grips, has to carry the beam.
    robot, forces = dal.robots.ur5(), []
    for k in range(2):
        phi = x[6 + 6 * k : 12 + 6 * k]
        at_grip = np.linalg.solve(dal.jacobian(robot, phi).T, T_q[6 * k : 6 * k + 6] - dal.gravity_torque(robot, phi))
        base = next(joint.origin for joint in arms.robot.structure.joints if joint.name == f"arm{k + 1}_mount")
        forces.append(base[:3, :3] @ at_grip[:3])
    show("Forces of both hands together carry the beam of 5 kg (N)", {"force": ([0, 0, 5 * 9.81], sum(forces))}, source="weight")
    print("independent torques that only press the beam:", len(T_q) - np.linalg.matrix_rank(G))
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(arms, [arms.q0, q])
        axes.set_title("Two arms hold a beam")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
