"""The parallelogram arm: cut open into a tree, closed again by a constant map [Siciliano, §7.3.3].

Links 1', 2', 3' hang on one branch and 1'' on the other. With θ2' = θ1'' − θ1' and θ3' = π − θ1'' + θ1' the loop is closed,
so that q̇ = U q̇_a with a constant U, and B_a = Uᵀ B U, g_a = Uᵀ g. If m3' l̄3' / (m2' l2') = a1' / a1'', where l̄3' = l3' − a1',
the arm's inertia is constant and decoupled: no Coriolis torques at all, which no masses give the open two-link arm.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

U = np.array([[1, 0], [-1, 1], [1, -1], [0, 1]])
a1, a2 = 0.5, 0.4  # a1' and a1'' [m]; opposite sides are alike
length = {"1'": a1, "2'": a2, "3'": 0.0, "1''": 0.0}  # where the next joint sits on a link
l, m, I = (0.2, 0.15, 0.7, 0.25), (6.0, 5.0, 2.0, 3.0), (0.3, 0.2, 0.1, 0.15)
g = 9.81


def tree(m: tuple[float, ...]) -> dal.Robot:
    links = [dal.Link(name, m[i], np.array([l[i], 0, 0]), np.diag([0, 0, I[i]])) for i, name in enumerate(length)]
    joints = []
    for parent, child in (("base", "1'"), ("1'", "2'"), ("2'", "3'"), ("base", "1''")):
        origin = np.eye(4)
        origin[0, 3] = length.get(parent, 0.0)
        joints.append(dal.Joint(f"to {child}", "revolute", parent, child, origin=origin))
    return dal.Robot.from_parts("tree", [dal.Link("base"), *links], joints, gravity=(0, -g, 0))


def model(m: tuple[float, ...], th: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B_a and g_a of the book, with its misprints corrected (docs/errata.md)."""
    bar = l[2] - a1
    b11 = I[0] + m[0] * l[0] ** 2 + m[1] * a1**2 + I[2] + m[2] * bar**2
    b12 = (a1 * m[1] * l[1] - a2 * m[2] * bar) * np.cos(th[0] - th[1])
    b22 = I[3] + m[3] * l[3] ** 2 + I[1] + m[1] * l[1] ** 2 + m[2] * a2**2
    g1, g2 = m[0] * l[0] + m[1] * a1 - m[2] * bar, m[3] * l[3] + m[1] * l[1] + m[2] * a2
    return np.array([[b11, b12], [b12, b22]]), g * np.array([g1, g2]) * np.cos(th)


def main() -> None:
    th = np.array([1.1, 0.3])
    q = U @ th + [0, 0, np.pi, 0]
    decoupled = (*m[:2], m[1] * l[1] * a1 / (a2 * (l[2] - a1)), m[3])
    for title, masses in (("Parallelogram, §7.3.3", m), ("The same, decoupled by the mass of link 3'", decoupled)):
        B, gravity = model(masses, th)
        robot = tree(masses)
        rows = {"B_a": (B, U.T @ dal.mass_matrix(robot, q) @ U), "g_a": (gravity, U.T @ dal.gravity_torque(robot, q))}
        show(title, rows)


if __name__ == "__main__":
    main()
