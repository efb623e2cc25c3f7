"""Joint accelerations from those of the wrist: transfer of coordinates [Freeman, Appendix B].

Influence coefficients are derivatives of geometry, free of time: u̇ = G φ̇, ü = G φ̈ + φ̇ᵀ H φ̇. Those of the inverse map, from wrist
point to joints, need no inverse kinematics: they are G⁻¹ and, plane by plane,

    H_pp = −G⁻ᵀ (G⁻¹ • H_φφ) G⁻¹          (3-19)

For this arm the first joint is θ1 = atan2(y, x) of the wrist, so both can be written down and compared (Table B-1, B-6 to B-9;
signs as in docs/errata.md). The lengths are chosen here.
"""

import numpy as np
from support.comparison import show

import dalembert as dal
from dalembert import transfer

s11, a23, a34 = 0.6, 0.45, 0.4  # m: shoulder height, upper arm, forearm to the wrist point
GEOMETRY = ({"d": s11}, {"alpha": np.pi / 2}, {"a": a23})  # modified frames: z along the joint axis, x along the link
ROWS = [row | {"mass": 2.0, "inertia": (0.02, 0.02, 0.02)} for row in GEOMETRY]  # masses play no part here


def table_b1(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G and the planes of H for x, y, z of the wrist."""
    (s1, s2, s23), (c1, c2, c23) = np.sin([q[0], q[1], q[1] + q[2]]), np.cos([q[0], q[1], q[1] + q[2]])
    r, z, a = a23 * c2 + a34 * c23, a23 * s2 + a34 * s23, a34
    G = np.array([[-r * s1, -z * c1, -a * s23 * c1], [r * c1, -z * s1, -a * s23 * s1], [0, r, a * c23]])
    Hx = [[-r * c1, z * s1, a * s23 * s1], [z * s1, -r * c1, -a * c23 * c1], [a * s23 * s1, -a * c23 * c1, -a * c23 * c1]]
    Hy = [[-r * s1, -z * c1, -a * s23 * c1], [-z * c1, -r * s1, -a * c23 * s1], [-a * s23 * c1, -a * c23 * s1, -a * c23 * s1]]
    Hz = [[0, 0, 0], [0, -z, -a * s23], [0, -a * s23, -a * s23]]
    return G, np.array([Hx, Hy, Hz])


def main() -> None:
    robot = dal.from_dh(ROWS, convention="modified", name="wrist_partitioned")
    q, wrist = np.array([0.5, 0.4, -1.1]), [a34, 0, 0]
    here = dal.influence(robot, q, "link3", order=2, point=wrist, kind="point")
    G, H = table_b1(q)
    show("Wrist point by the joints, Table B-1", {"G": (G, here.G), "H": (H, here.H)})

    back = transfer.inverse(here, new=["x", "y", "z"], old=robot.joint_names)
    r, s1, c1 = a23 * np.cos(q[1]) + a34 * np.cos(q[1] + q[2]), np.sin(q[0]), np.cos(q[0])
    sine, cosine = np.sin(2 * q[0]) / r**2, np.cos(2 * q[0]) / r**2
    rows = {
        "G, joint 1": ([-s1 / r, c1 / r, 0], back.G[0]),
        "H, joint 1": ([[sine, -cosine, 0], [-cosine, -sine, 0], [0, 0, 0]], back.H[0]),
    }
    show("First joint by the wrist point, (B-6) and (B-8)", rows)

    qd, qdd = np.array([1.2, -0.7, 0.9]), np.array([0.5, 2.0, -1.5])
    motion = dal.link_motion(robot, q, qd, qdd, link="link3", point=wrist)
    found = transfer.rates(back, motion.velocity[:3], motion.acceleration[:3])
    show("Joint accelerations recovered from the wrist's motion", {"qdd": (qdd, found.acceleration)}, source="given")


if __name__ == "__main__":
    main()
