"""The first three links of a PUMA by the generalized d'Alembert equations [Lee, §4].

The formulation keeps apart what comes from the translation of links and what from their rotation, so that one sees which part a
simpler model may leave out. The report gives closed forms in the vectors of the arm; with the misprints of docs/errata.md
corrected they are the library's terms. Geometry is that of its Figure 3; masses and moments, left open there, are chosen here.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

g = -9.8062  # along z [m/s²]
GEOMETRY = ({"alpha": -np.pi / 2}, {"a": 0.4318, "d": 0.14909}, {"a": -0.02032, "alpha": np.pi / 2})
m1, m2, m3 = m = np.array([10.0, 17.4, 4.8])  # kg
COM = np.array([[0.0, 0.05, 0.02], [-0.36, 0.01, 0.08], [0.01, -0.02, 0.07]])  # m, in the link frames
I1, I2, I3 = I = np.array([[0.3, 0.35, 0.2], [0.13, 0.52, 0.54], [0.07, 0.09, 0.03]])  # kg m², principal moments


def rotation(q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
    """What the moments of inertia do: D and H of the turning links."""
    (S2, S23), (C2, C23) = np.sin([q[1], q[1] + q[2]]), np.cos([q[1], q[1] + q[2]])
    D11 = I1[1] + S2**2 * I2[0] + C2**2 * I2[1] + S23**2 * I3[0] + C23**2 * I3[2]
    second, third = S2 * C2 * (I2[0] - I2[1]), S23 * C23 * (I3[0] - I3[2])
    H1 = 2 * qd[0] * (qd[1] * second + (qd[1] + qd[2]) * third)
    D = np.array([[D11, 0, 0], [0, I2[2] + I3[1], I3[1]], [0, I3[1], I3[1]]])
    return {"D_rot": D, "H_rot": np.array([H1, -(qd[0] ** 2) * (second + third), -(qd[0] ** 2) * third])}


def translation(robot: dal.Robot, q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
    """What the masses do, by r̄ from the base and c̄ from frame s − 1 to the centres of mass, along the arm, across and up."""
    X = [np.eye(4), *(dal.forward_kinematics(robot, q, f"link{s}") for s in (1, 2, 3))]
    axes = np.array([[np.cos(q[0]), np.sin(q[0]), 0], [-np.sin(q[0]), np.cos(q[0]), 0], [0, 0, 1]])
    r = np.array([axes @ (X[s + 1] @ [*COM[s], 1])[:3] for s in range(3)])
    c = r - np.array([axes @ X[s][:3, 3] for s in range(3)])
    p2 = axes @ X[2][:3, 3]
    D12, D13 = -m2 * r[1, 2] * r[1, 1] - m3 * r[2, 2] * r[2, 1], -m3 * c[2, 2] * r[2, 1]
    D22 = m2 * (c[1, 2] ** 2 + c[1, 0] ** 2) + m3 * (r[2, 2] ** 2 + r[2, 0] ** 2)
    D23, D33 = m3 * (c[2, 2] * r[2, 2] + c[2, 0] * r[2, 0]), m3 * (c[2, 2] ** 2 + c[2, 0] ** 2)
    D11 = m @ (r[:, 0] ** 2 + r[:, 1] ** 2)
    H3 = m3 * (-c[2, 2] * r[2, 0] * qd[0] ** 2 + (p2[2] * c[2, 0] - c[2, 2] * p2[0]) * qd[1] ** 2)
    G = g * np.array([0, m2 * r[1, 0] + m3 * r[2, 0], m3 * c[2, 0]])
    return {"D_tran": np.array([[D11, D12, D13], [D12, D22, D23], [D13, D23, D33]]), "H_tran[3]": H3, "G": G}


def main() -> None:
    rows = [row | {"mass": m[i], "com": COM[i], "inertia": I[i]} for i, row in enumerate(GEOMETRY)]
    robot = dal.from_dh(rows, convention="standard", name="puma", gravity=(0, 0, g))
    q, qd = np.array([0.5, -0.9, 1.8]), np.array([-1.9, 1.3, 1.7])
    here = dal.terms(robot, q, qd, formulation="generalized_dalembert")
    here["H_tran[3]"] = here["H_tran"][2]
    closed = rotation(q, qd) | translation(robot, q, qd)
    show("Three links of a PUMA by generalized d'Alembert", {name: (value, here[name]) for name, value in closed.items()})


if __name__ == "__main__":
    main()
