"""Which torque is due to what, along a fast motion of the planar arm [Siciliano, Example 7.2, Figs 7.5, 7.6].

    python examples/torque_contributions.py [figure.png]

The book reads from its curves that the inertia torque of joint 2 by its own acceleration is piecewise constant, that the two
coupling torques are equal, that only joint 1 feels Coriolis torques, and that centrifugal and Coriolis torques mirror each other.
Here are the numbers at 0.2 s, by the terms of (7.82), and the curves if a path is given.
"""

import sys

import numpy as np
from support.comparison import show
from support.example_7_2 import motion

import dalembert as dal

a, l, m_l, I_l, k_r, m_m, I_m, g = 1.0, 0.5, 50.0, 10.0, 100.0, 5.0, 0.01, 9.81  # both links alike


def book(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """The terms of (7.82), for joint 1 and joint 2."""
    c2, h = np.cos(q[1]), -m_l * a * l * np.sin(q[1])
    b11 = 2 * I_l + m_l * l**2 + k_r**2 * I_m + I_m + m_m * a**2 + m_l * (a**2 + l**2 + 2 * a * l * c2)
    b12, b22 = I_l + m_l * (l**2 + a * l * c2) + k_r * I_m, I_l + m_l * l**2 + k_r**2 * I_m
    outer = m_l * g * l * np.cos(q.sum())
    return {
        "own inertia": np.array([b11 * qdd[0], b22 * qdd[1]]),
        "coupling inertia": b12 * qdd[::-1],
        "centrifugal": h * np.array([qd[1] ** 2, -(qd[0] ** 2)]),
        "Coriolis": np.array([2 * h * qd[0] * qd[1], 0.0]),
        "gravity": np.array([(m_l * l + m_m * a + m_l * a) * g * np.cos(q[0]) + outer, outer]),
    }


def main() -> None:
    robot = dal.robots.two_link_planar()
    state = [x[0] for x in motion(np.array([0.2]))]
    here = dal.contributions(robot, *state).by_cause
    show("Torques at 0.2 s, joint by joint (N m)", {name: (x, here[name]) for name, x in book(*state).items()})

    t = np.linspace(0, 0.5, 401)
    parts = dal.contributions(robot, *motion(t))
    levels = {"smallest": np.abs(parts.inertia_own[:, 1]).min(), "largest": np.abs(parts.inertia_own[:, 1]).max()}
    b22 = (I_l + m_l * l**2 + k_r**2 * I_m) * 8 * np.pi
    show("Inertia torque of joint 2 by its own acceleration, in size", {name: (b22, x) for name, x in levels.items()})
    if len(sys.argv) > 1:
        from dalembert import plots

        plots.contributions(t, parts, by="joint")[0].figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
