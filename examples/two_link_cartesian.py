"""Two sliding joints at a right angle, and at 45 degrees [Siciliano, §7.3.1, Problem 7.1].

At a right angle the arm is two independent masses: B is constant and diagonal, C = 0, and gravity loads the vertical slider
alone. Inclined, the second link is accelerated by both sliders: B stays constant, but m_l2 cos 45° couples them, and the second
slider now carries a share of its link's weight.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

m_l, m_m, I_m, k_r, g = 50.0, 5.0, 0.01, 100.0, 9.81  # both joints alike: the numbers of Example 7.2, the ratio in rad/m


def inclined(angle: float) -> dal.Robot:
    """The second axis at an angle with the first, which is vertical."""
    rotor = dal.Rotor(I_m, k_r, "full", mass=m_m)  # a spinning body on the link before
    first = {"type": "P", "theta": np.pi / 2, "alpha": angle, "mass": m_l, "rotor": rotor}
    second = {"type": "P", "mass": m_l, "rotor": rotor}
    return dal.from_dh([first, second], convention="standard", name="inclined", gravity=(0, 0, -g))


def compare(title: str, robot: dal.Robot, cosine: float, source: str) -> None:
    q, qd = [0.3, -0.8], [1.5, 2.5]
    B = [[2 * m_l + m_m + k_r**2 * I_m, m_l * cosine], [m_l * cosine, m_l + k_r**2 * I_m]]
    rows = {
        "B": (B, dal.mass_matrix(robot, q)),
        "C": (np.zeros((2, 2)), dal.coriolis_matrix(robot, q, qd)),
        "g": ([(2 * m_l + m_m) * g, m_l * g * cosine], dal.gravity_torque(robot, q)),
    }
    show(title, rows, source=source)


def main() -> None:
    compare("Right angle, §7.3.1 (kg, kg/s, N)", dal.robots.two_link_cartesian(), 0.0, "document")
    compare("45 degrees, Problem 7.1 (kg, kg/s, N)", inclined(np.pi / 4), np.sqrt(0.5), "closed form")


if __name__ == "__main__":
    main()
