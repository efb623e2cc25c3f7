"""The planar arm with motors: its model, its regressor, and how few parameters it has [Siciliano, §7.3.2, Problem 7.4].

The 22 parameters of two links with rotors reduce to eight that act (7.83), and these to five combinations (footnote 6):
the stacked regressor has rank five. Without gravity, or without a gear on the second joint, it has rank four.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

a, l, m_l, I_l, k_r, m_m, I_m, g = 1.0, 0.5, 50.0, 10.0, 100.0, 5.0, 0.01, 9.81  # Example 7.2, both links alike
EIGHT = [f"joint{i}.{name}" for i in (1, 2) for name in ("m", "mx", "Izz", "Im")]


def planar(k_r2: float = k_r, gravity: float = g) -> dal.Robot:
    link = {"a": a, "mass": m_l, "com": (l - a, 0, 0), "inertia": (0, 0, I_l)}
    rotors = [dal.Rotor(I_m, k, "full", mass=m_m) for k in (k_r, k_r2)]
    return dal.from_dh([link | {"rotor": r} for r in rotors], convention="standard", gravity=(0, -gravity, 0))


def rank(robot: dal.Robot) -> int:
    """Of the regressor at fifty states, one below the other."""
    states = np.random.default_rng(1).uniform(-2, 2, (3, 50, 2))
    chosen = [dal.parameter_names(robot, friction=False).index(name) for name in EIGHT]
    Y = dal.regressor(robot, *states, friction=False)[..., chosen].reshape(100, 8)
    return int(np.linalg.matrix_rank(Y, tol=1e-9 * np.linalg.norm(Y)))


def book(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The torques (7.82) and the regressor (7.84) for a1 = a2 = a."""
    c1, c2, s2, c12 = np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q.sum())
    b11 = 2 * I_l + m_l * l**2 + k_r**2 * I_m + I_m + m_m * a**2 + m_l * (a**2 + l**2 + 2 * a * l * c2)
    b12, b22 = I_l + m_l * (l**2 + a * l * c2) + k_r * I_m, I_l + m_l * l**2 + k_r**2 * I_m
    h = -m_l * a * l * s2
    velocity = np.array([h * qd[1] * (2 * qd[0] + qd[1]), -h * qd[0] ** 2])
    gravity = g * np.array([(m_l * l + m_m * a + m_l * a) * c1 + m_l * l * c12, m_l * l * c12])
    y25 = (a**2 * c2 + a**2) * qdd[0] + a**2 * qdd[1] + a**2 * s2 * qd[0] ** 2 + a * g * c12
    y26 = (a * c2 + 2 * a) * qdd[0] + 2 * a * qdd[1] + a * s2 * qd[0] ** 2 + g * c12
    y28 = k_r * qdd[0] + k_r**2 * qdd[1]
    return np.array([[b11, b12], [b12, b22]]) @ qdd + velocity + gravity, np.array([0, 0, 0, 0, y25, y26, qdd.sum(), y28])


def five(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """The torques by five parameters, each a combination of the eight."""
    c1, c2, s2, c12 = np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q.sum())
    b1, b2 = a * (m_l + m_m) + l * m_l, I_l + k_r**2 * I_m + I_m + a**2 * (m_l + m_m) + l**2 * m_l
    y13 = a * (2 * qdd[0] + qdd[1]) * c2 - a * (2 * qd[0] + qd[1]) * qd[1] * s2 + g * c12
    y23 = a * qdd[0] * c2 + a * qd[0] ** 2 * s2 + g * c12
    Y = [[g * c1, qdd[0], y13, qdd.sum(), k_r * qdd[1]], [0, 0, y23, qdd.sum(), k_r * qdd[0] + k_r**2 * qdd[1]]]
    return np.array(Y) @ [b1, b2, l * m_l, I_l + l**2 * m_l, I_m]


def main() -> None:
    robot, (q, qd, qdd) = dal.robots.two_link_planar(), np.array([[0.3, 0.9], [1.2, -0.7], [2.0, 1.5]])
    chosen = [dal.parameter_names(robot, friction=False).index(name) for name in EIGHT]
    pi = [m_l + m_m, m_l * (l - a), I_l + m_l * (l - a) ** 2 + I_m, I_m, m_l, m_l * (l - a), I_l + m_l * (l - a) ** 2, I_m]
    tau, y2 = book(q, qd, qdd)
    rows = {
        "tau": (tau, dal.inverse_dynamics(robot, q, qd, qdd)),
        "tau by five": (five(q, qd, qdd), dal.inverse_dynamics(robot, q, qd, qdd)),
        "pi": (pi, dal.parameters(robot, friction=False)[chosen]),
        "y2": (y2, dal.regressor(robot, q, qd, qdd, friction=False)[1, chosen]),
    }
    show("Torques (7.82), parameters (7.83), second row of the regressor (7.84)", rows)
    counts = {"gear and gravity": (5, rank(planar()))}
    counts |= {"no gear": (4, rank(planar(k_r2=1.0))), "no gravity": (4, rank(planar(gravity=0.0)))}
    show("How many combinations of the eight act (footnote 6)", counts, source="expected")


if __name__ == "__main__":
    main()
