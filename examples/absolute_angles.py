"""The planar arm in other words: absolute angles, and another Coriolis matrix [Siciliano, Problems 7.2, 7.6].

Counted from the base, φ1 = θ1 and φ2 = θ1 + θ2: the links no longer drive each other by Coriolis torques, only by centrifugal
ones, and each feels its own gravity; the price is that the forces on φ are τ1 − τ2 and τ2. The map φ(θ) is linear, and
`transfer.transferred` takes inertia, velocity torques and gravity to it. Problem 7.2: a matrix C that collects velocity
products differently gives the same torques, and q̇ᵀ N q̇ = 0 still holds (7.49), but N = Ḃ − 2C is no longer skew (7.48).
"""

import numpy as np
from support.comparison import show

import dalembert as dal
from dalembert import transfer

a, l, m_l, I_l, k_r, m_m, I_m, g = 1.0, 0.5, 50.0, 10.0, 100.0, 5.0, 0.01, 9.81  # Example 7.2, both links alike
ABSOLUTE = transfer.linear([[1.0, 0.0], [1.0, 1.0]])  # φ over θ


def main() -> None:
    robot = dal.robots.two_link_planar()
    phi, dphi = np.array([0.4, 1.1]), np.array([1.3, -0.6])
    q, qd = np.linalg.solve(ABSOLUTE.G, phi), np.linalg.solve(ABSOLUTE.G, dphi)
    b11 = I_l + m_l * l**2 + k_r**2 * I_m + I_m * (1 - k_r) ** 2 + a**2 * (m_l + m_m)
    b12 = I_m * k_r * (1 - k_r) + m_l * a * l * np.cos(phi[0] - phi[1])
    centrifugal = m_l * a * l * np.sin(phi[0] - phi[1]) * np.array([dphi[1] ** 2, -(dphi[0] ** 2)])
    gravity = g * np.array([(m_l * l + m_m * a + m_l * a) * np.cos(phi[0]), m_l * l * np.cos(phi[1])])
    here = transfer.transferred(transfer.open_chain(robot, q), ABSOLUTE)
    rows = {
        "B": ([[b11, b12], [b12, I_l + m_l * l**2 + k_r**2 * I_m]], here.I),
        "C qd": (centrifugal, transfer.quadratic(here.P, dphi, dphi)),
        "g": (gravity, -here.T),
    }
    show("Absolute angles, Problem 7.6", rows, source="closed form")

    h = -m_l * a * l * np.sin(q[1])
    other = np.array([[2 * h * qd[1], h * qd[1]], [-h * qd[0], 0]])
    C = dal.coriolis_matrix(robot, q, qd)
    rate = dal.second_derivatives(robot, q, qd, np.zeros(2)).dM_dq @ qd  # Ḃ
    N, N_other = rate - 2 * C, rate - 2 * other
    rows = {
        "C qd": (other @ qd, C @ qd),
        "qd N qd": ([0.0, 0.0], [qd @ N @ qd, qd @ N_other @ qd]),
        "N + N'": (np.zeros((2, 2)), N + N.T),
    }
    show("Another C, Problem 7.2", rows, source="closed form")
    print("for the other matrix N + N' =", (N_other + N_other.T).round(3).tolist())


if __name__ == "__main__":
    main()
