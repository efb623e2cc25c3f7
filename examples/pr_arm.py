"""A slider carrying a link, then holding a payload [Siciliano, Problems 7.5, 7.8].

With a point mass at the tip the model is linear in three parameters (the slider is horizontal):

    τ1 = π1 d̈ − π2 (sin θ θ̈ + cos θ θ̇²)          π1 = m_l1 + m_l2 + m_m2 + m_L + k_r1² I_m1
    τ2 = −π2 (sin θ d̈ − g cos θ) + π3 θ̈            π2 = m_l2 l2 + m_L a2,  π3 = I_l2 + m_l2 l2² + m_L a2² + k_r2² I_m2

Problem 7.8 asks for the same by the Newton-Euler recursion: every formulation gives these numbers.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

a, l, m_l, I_l, k_r, m_m, I_m, g = 1.0, 0.5, 50.0, 10.0, 100.0, 5.0, 0.01, 9.81  # Example 7.2, both links alike


def parameters(m_L: float) -> np.ndarray:
    return np.array(
        [2 * m_l + m_m + m_L + k_r**2 * I_m, m_l * l + m_L * a, I_l + m_l * l**2 + m_L * a**2 + k_r**2 * I_m],
    )


def regressor(th: float, dth: float, dd1: float, ddth: float) -> np.ndarray:
    s, c = np.sin(th), np.cos(th)
    return np.array([[dd1, -s * ddth - c * dth**2, 0], [0, -s * dd1 + g * c, ddth]])


def main() -> None:
    q, qd, qdd = [0.2, 0.8], [0.5, -1.5], [1.0, 2.0]
    for m_L in (0.0, 12.0):
        arm = dal.robots.pr_arm()
        robot = arm.with_payload(m_L) if m_L else arm
        pi = parameters(m_L)
        b12 = -pi[1] * np.sin(q[1])
        tau = regressor(q[1], qd[1], *qdd) @ pi
        rows = {"B": ([[pi[0], b12], [b12, pi[2]]], dal.mass_matrix(robot, q))}
        for name in dal.FORMULATIONS:
            rows[f"tau {name}"] = (tau, dal.inverse_dynamics(robot, q, qd, qdd, formulation=name))
        show(f"Slider and arm, payload {m_L:g} kg (N, N m)", rows, source="closed form")


if __name__ == "__main__":
    main()
