"""The dynamics as the tip of an arm feels them [Siciliano, §7.8, Problems 7.9, 7.10], and a controller written in that space.

    python examples/tip_space.py

Two links: B_A, C_A, g_A of (7.134) to (7.136) and the skew symmetry of Problem 7.9. Three links: torques of (7.141), of which one
part moves the tip and another one does not. Then the arm is steered in the space of its tip, inside of one compiled loop.
"""

import numpy as np
from support.comparison import show
from support.planar_arms import XY, planar

import dalembert as dal


def two_links() -> None:
    arm, q, qd = planar(2), np.array([0.4, 0.9]), np.array([0.8, -1.3])
    task = dal.operational_space(arm, q, qd, directions=XY, coriolis=True)
    J, Jd = dal.jacobian(arm, q)[:2], dal.jacobian_dot(arm, q, qd)[:2]
    inverse = np.linalg.inv(J)
    B_A = inverse.T @ dal.mass_matrix(arm, q) @ inverse  # (7.134)
    C_A = inverse.T @ dal.coriolis_matrix(arm, q, qd) @ inverse - B_A @ Jd @ inverse
    g_A = inverse.T @ dal.gravity_torque(arm, q)  # (7.136)
    show("Two links, Problem 7.9", {"B_A": (B_A, task.Lambda), "C_A": (C_A, task.C), "g_A": (g_A, task.p)})
    step = 1e-5
    after, before = (dal.operational_space(arm, q + s * qd, directions=XY).Lambda for s in (step, -step))
    skew = (after - before) / (2 * step) - 2 * task.C
    show("The rate of B_A less 2 C_A", {"sum with its transpose": (np.zeros((2, 2)), np.round(skew + skew.T, 6))})


def three_links() -> None:
    arm, q, qd = planar(3), np.array([0.4, 0.9, -0.6]), np.array([0.8, -1.3, 0.5])
    gamma, tau0 = np.array([5.0, -4.0]), np.array([1.0, -2.0, 3.0])
    task = dal.operational_space(arm, q, qd, directions=XY)
    xdd = np.linalg.solve(task.Lambda, gamma - task.mu - task.p)  # (7.133)
    document = [-15.433473272095737, -6.4614820272019, -2.0198465147704017]
    show("Three links, Problem 7.10", {"torque (7.141)": (document, task.torque(xdd, tau0=tau0))})
    free = task.null_torque(tau0)
    moved = task.acceleration(task.torque(xdd) + 100.0 * free)
    show("A hundred times the free torques", {"tip acceleration": (xdd, moved)}, source="without them")


def steered() -> None:
    arm = planar(3)
    model = dal.inside(arm)

    def law(t, q, qd, p):  # type: ignore[no-untyped-def]
        task = model.operational_space(q, qd, directions=XY)
        x, v = model.forward_kinematics(q)[:2, 3], task.J @ qd
        return task.torque(p.kp * (p.goal - x) - p.kd * v, tau0=-p.calm * qd)

    gains = {"kp": 100.0, "kd": 20.0, "calm": 2.0, "goal": [0.3, 0.7]}
    motion = dal.simulate(arm, [0.4, 0.9, -0.6], [0.0] * 3, tau=law, inputs=gains, t_end=3.0)
    path = dal.forward_kinematics(arm, motion.q)[:, :2, 3]
    way = path[-1] - path[0]
    aside = np.abs((path - path[0]) @ np.array([-way[1], way[0]]) / np.linalg.norm(way)).max()
    missed = np.linalg.norm(path[-1] - gains["goal"])
    print(f"Steered, the tip ends {missed:.0e} m from its goal. On its way it leaves the straight line by {aside:.0e} m at most,")
    print("since the loads by gravity and velocities are compensated.")


def main() -> None:
    two_links()
    three_links()
    steered()


if __name__ == "__main__":
    main()
