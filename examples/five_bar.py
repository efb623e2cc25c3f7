"""The planar five-bar by transfer of coordinates: a loop opened, modelled, and closed again [Freeman, Appendix C].

    python examples/five_bar.py [figure.png]

The open chain has four joints φ. In w = (φ1, x, y, θ), the first joint and the pose of its end h, closing the loop means that x
and y rest: the model in w (Table C-3) holds the torques at the two inputs φ1 and θ and the forces that the pin at h exerts. As a
mechanism that is closed, the same linkage gives these torques in its inputs, and the forces as those of its closure; and any two
of its five joints may be the inputs. Numbers are printed in inches and pounds of force; the catalogue has them in SI units.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal
from dalembert import transfer

INCH, POUND = 0.0254, 4.4482216152605  # m, N
ENERGY = INCH * POUND
UNITS = np.array([1.0, INCH, INCH, 1.0])  # of w
JOINTS = ("joint1", "joint2", "joint3", "joint4", "joint5")
RATES, ACCELERATIONS = (2.0, 3.0), (1.0, 0.5)  # of φ1 and θ, rad/s and rad/s²
G = [[1, 0, 0, 0], [8.71, 19.98, 33.75, 12.0], [33.91, 29.8, 10.14, 0.0], [1, 1, 1, 1]]
I = [  # Table C-3, as printed, in thousandths
    [411.24, -5.73, 12.29, 68.79],
    [-5.73, 0.26, -0.55, -3.10],
    [12.29, -0.55, 1.19, 6.64],
    [68.79, -3.10, 6.64, 37.17],
]
T = [50.77, 68.83, -147.60, -825.92]


def main() -> None:
    linkage = dal.mechanisms.five_bar()
    chain, q = linkage.robot, linkage.q0
    w = transfer.stack(transfer.linear(np.eye(4)[:1]), transfer.rows(dal.influence(chain, linkage.seed), [0, 1, 5]))
    inertia = transfer.open_chain(chain, linkage.seed).I[:2, :2] / ENERGY
    rows = {"G": (G, w.G / UNITS[:, None]), "I": ([[2.774, 1.418], [1.418, 0.808]], inertia)}
    show("Open chain, Table C-2", rows, source="printed")

    end = dal.point_of("link4", point=(12 * INCH, 0, 0), axes="xy")
    opened = dal.Mechanism("opened five-bar", chain, [], ["joint1", *end, linkage.coordinates[1]], linkage.seed)
    force = dal.inverse_dynamics(opened, opened.q0, [2, 0, 0, 3], [1, 0, 0, 0.5])
    rows = {
        "I_ww": (I, 1000 * dal.mass_matrix(opened, opened.q0) * np.outer(UNITS, UNITS) / ENERGY),
        "T_w": (T, 1000 * force * UNITS / ENERGY),
    }
    show("In inputs and constraints, Table C-3 (in thousandths)", rows, source="printed")

    tau = dal.inverse_dynamics(linkage, q, RATES, ACCELERATIONS) / ENERGY
    pin = dal.constraint_forces(linkage, q, RATES, ACCELERATIONS).closures[0, :2] / POUND
    motion = dal.link_motion(linkage, q, RATES, ACCELERATIONS, link="link2")
    rows = {
        "v_A": ([-22.55, 8.21], motion.velocity[:2] / INCH),
        "alpha_2": (-3.405, motion.acceleration[5]),
        "F_H": ([0.07, -0.15], pin),
        "T_1, T_2": ([0.05, -0.83], tau),
    }
    show("The closed linkage, Table C-1 (sign of T_2 as in the errata)", rows, source="printed")

    spins = [dal.link_motion(linkage, q, RATES, link=f"link{k}").velocity[5] for k in (1, 2, 3, 4)]
    rate = dict(zip(JOINTS, [*np.diff(spins, prepend=0.0), spins[3]], strict=True))
    energy, rows = dal.energy(linkage, q, RATES).kinetic / ENERGY, {}
    for pair in (("joint1", "joint2"), ("joint1", "joint4"), ("joint2", "joint5"), ("joint3", "joint4")):
        other = dal.mechanisms.five_bar(pair)
        rows[", ".join(pair)] = energy, dal.energy(other, other.q0, [rate[joint] for joint in pair]).kinetic / ENERGY
    show("Kinetic energy of this motion, driven at any two joints", rows, source="joint1, joint5")
    if len(sys.argv) > 1:
        from dalembert import plots

        arm = dal.mechanisms.five_bar(("joint1", "joint2"))
        path = arm.q0 + np.linspace(0, 1, 9)[:, None] * [0.4, -0.6]
        plots.skeleton(arm, path, trace="link3", names=True).figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
