"""A SCARA with motors on its links [Siciliano, Problem 7.3]: R-R-P-R with vertical axes.

Gravity loads the quill alone. A motor sits on the link before its joint, so it turns with the joints before: I_m k_r couples
the quill and the wrist with both arms, which the usual k_r² I_m on the diagonal leaves out. Numbers are chosen here.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

a, l = np.array([0.5, 0.4]), np.array([0.2, 0.15])  # m
m, I = np.array([5.0, 4.0, 2.0, 1.0]), np.array([0.2, 0.1, 0.02, 0.01])  # kg, kg m² about the centres of mass
m_m, I_m = np.array([1.0, 0.8, 0.6, 0.4]), np.array([4e-3, 3e-3, 2e-3, 1e-3])  # rotors
k, g = np.array([50.0, 40.0, 30.0, 20.0]), 9.81


def build() -> dal.Robot:
    rows = [{"mass": m[i], "inertia": (0, 0, I[i]), "rotor": dal.Rotor(I_m[i], k[i], "full", mass=m_m[i])} for i in range(4)]
    for row, length, centre in zip(rows, a, l, strict=False):
        row |= {"a": length, "com": (centre - length, 0, 0)}
    rows[2] |= {"type": "prismatic"}
    return dal.from_dh(rows, convention="standard", name="scara", gravity=(0, 0, -g))


def model(q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """B, C q̇ and g in closed form."""
    c2, tip = np.cos(q[1]), m[2] + m[3] + m_m[2] + m_m[3]  # what rides at the end of the second link
    outer = I[1:].sum() + I_m[2:].sum() + m[1] * l[1] ** 2 + a[1] ** 2 * tip
    reach = a[0] * (m[1] * l[1] + a[1] * tip)
    b11 = I[0] + m[0] * l[0] ** 2 + k[0] ** 2 * I_m[0] + I_m[1] + a[0] ** 2 * (m_m[1] + m[1] + tip) + outer + 2 * reach * c2
    b12, b13, b14 = outer + k[1] * I_m[1] + reach * c2, k[2] * I_m[2], I[3] + k[3] * I_m[3]
    b22, b33, b44 = outer + k[1] ** 2 * I_m[1], m[2] + m[3] + m_m[3] + k[2] ** 2 * I_m[2], I[3] + k[3] ** 2 * I_m[3]
    B = np.array([[b11, b12, b13, b14], [b12, b22, b13, b14], [b13, b13, b33, 0], [b14, b14, 0, b44]])
    h = -reach * np.sin(q[1])
    return B, np.array([h * qd[1] * (2 * qd[0] + qd[1]), -h * qd[0] ** 2, 0, 0]), np.array([0, 0, g * (m[2] + m[3] + m_m[3]), 0])


def main() -> None:
    robot = build()
    q, qd = np.array([0.4, -0.9, 0.1, 0.7]), np.array([1.0, -0.5, 0.3, 2.0])
    B, C_qd, gravity = model(q, qd)
    here = dal.evaluate(robot, ["M", "g", "h"], q, qd)
    rows = {"B": (B, here["M"]), "C qd": (C_qd, here["h"] - here["g"]), "g": (gravity, here["g"])}
    show("SCARA, Problem 7.3 (SI units)", rows, source="closed form")


if __name__ == "__main__":
    main()
