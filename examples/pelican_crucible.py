"""A two-link arm picks up a crucible [Laus, §3]: each link adds its own term, and what was there stays.

The crucible hangs on the last link by a passive joint, so the arm becomes one of three joints. In the screw formulation the model
is a sum over links, M = M_1 ‡ M_2 ‡ M_3, where ‡ pads with zeros: attaching the crucible computes M_3, C_3, g_3 and leaves the
others alone. The paper's closed forms are taken with the corrections of docs/errata.md. It leaves the numbers open: the arm's are
those of the catalogue's Pelican, the crucible's are chosen here.
"""

import numpy as np
from support.comparison import show

import dalembert as dal

a1, a2, g = 0.26, 0.26, 9.81  # the Pelican
m3, l3, I3 = 1.5, 0.11, 0.02  # kg, m from its joint to its centre of mass, kg m² about that
TERMS = ("M_links", "C_links", "g_links")


def third_link(q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
    """M_3 (58), C_3 (59) and g_3 (61)."""
    s2, s3, s23 = np.sin([q[1], q[2], q[1] + q[2]])
    c2, c3, c23 = np.cos([q[1], q[2], q[1] + q[2]])
    c1, c12, c123 = np.cos(np.cumsum(q))
    M33, M23, M13 = I3 + m3 * l3**2, I3 + m3 * l3 * (l3 + a2 * c3), I3 + m3 * l3 * (l3 + a2 * c3 + a1 * c23)
    M22 = I3 + m3 * (a2**2 + l3**2 + 2 * a2 * l3 * c3)
    M12 = M22 + m3 * a1 * (a2 * c2 + l3 * c23)
    M11 = I3 + m3 * ((a1 * s23 + a2 * s3) ** 2 + (a1 * c23 + a2 * c3 + l3) ** 2)
    swing, sway, elbow = m3 * l3 * (a1 * s23 + a2 * s3), m3 * l3 * a2 * s3, m3 * a1 * (a2 * s2 + l3 * s23)
    _, w2, w3 = np.cumsum(qd)
    C1 = [-elbow * qd[1] - swing * qd[2], -elbow * w2 - swing * qd[2], -swing * w3]
    C2 = [elbow * qd[0] - sway * qd[2], -sway * qd[2], -sway * w3]
    C3 = [(swing - sway) * qd[0] + sway * w2, sway * w2, 0]
    weight = m3 * g * np.array([a1 * c1 + a2 * c12 + l3 * c123, a2 * c12 + l3 * c123, l3 * c123])
    return {
        "M_links": np.array([[M11, M12, M13], [M12, M22, M23], [M13, M23, M33]]),
        "C_links": np.array([C1, C2, C3]),
        "g_links": weight,
    }


def main() -> None:
    arm = dal.robots.pelican()
    crucible = dal.Link("crucible", m3, np.array([l3, 0, 0]), np.diag([0, 0, I3]))
    passive = dal.Joint("handle", "revolute", "link2", "crucible", limits=dal.Limits(effort=0.0))
    holding = dal.attach(arm, crucible, joint=passive)
    print(f"{arm.joint_names} becomes {holding.joint_names}\n")

    q, qd = np.array([0.4, -0.9, 1.3]), np.array([0.7, -1.1, 0.6])
    before = dal.terms(arm, q[:2], qd[:2], formulation="screw", names=TERMS)
    after = dal.terms(holding, q, qd, formulation="screw", names=TERMS)
    show(
        "What the crucible adds, (58), (59), (61)", {f"{name[0]}_3": (x, after[name][2]) for name, x in third_link(q, qd).items()}
    )
    kept = {name: after[name][:2, :2] for name in TERMS}
    kept["M_links"], kept["C_links"] = kept["M_links"][..., :2], kept["C_links"][..., :2]
    show("What was there stays", {f"{name[0]}_i": (before[name], kept[name]) for name in TERMS}, source="before")
    whole = {"M": dal.mass_matrix(holding, q), "C": dal.coriolis_matrix(holding, q, qd), "g": dal.gravity_torque(holding, q)}
    show("The whole model, (62) to (64)", {x: (after[f"{x}_links"].sum(0), whole[x]) for x in whole}, source="sum of links")


if __name__ == "__main__":
    main()
