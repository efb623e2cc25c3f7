"""A platform on three legs: models of the legs summed in its coordinates, and brought to the base joints [Freeman, Appendix E].

    python examples/planar_3rrr.py [figure.png]

Only the base links have inertia: 1, 2 and 3 in their joints. So the model in the base joints q is known before, diagonal and
constant (E-2), while in the platform's coordinates w = (x, y, θ) it is full and has velocity torques (Table E-2). Both are the
same mechanism in two sets of coordinates. The coefficients G and H of Table E-2 say how the base links turn when the platform
moves. Numbers are printed in inches and pounds of force; the catalogue has them in SI units.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

INCH, POUND = 0.0254, 4.4482216152605  # m, N
ENERGY = INCH * POUND
UNITS = np.array([INCH, INCH, 1.0])  # of w
G = [[-0.637, 0.225, -0.513], [0.124, -0.665, -0.514], [0.513, 0.439, -0.513]]
H_1 = [[0.050, -0.105, 0.116], [-0.105, -0.439, 0.328], [0.116, 0.328, -0.665]]  # misprints as in docs/errata.md
I = [[1.225, 0.367, -0.589], [0.367, 1.513, -0.106], [-0.589, -0.106, 1.582]]
P_1 = [[-0.479, 0.432, 0.188], [0.432, 0.031, -0.629], [0.188, -0.629, -0.762]]


def main() -> None:
    platform, base = dal.mechanisms.planar_3rrr("platform"), dal.mechanisms.planar_3rrr()
    w = platform.q0
    turns = [dal.influence(platform, w, f"leg{leg}_link1") for leg in (1, 2, 3)]
    rows = {
        "G": (G, [turn.G[5] * UNITS for turn in turns]),
        "H_1": (H_1, turns[0].H[5] * np.outer(UNITS, UNITS)),
        "I": (I, dal.mass_matrix(platform, w) * np.outer(UNITS, UNITS) / ENERGY),
        "P_1": (P_1, dal.christoffel(platform, w)[0] * UNITS[0] * np.outer(UNITS, UNITS) / ENERGY),
    }
    show("In coordinates of the platform, Table E-2", rows, source="printed")

    q = np.array([0.2, -0.1, 0.15])  # away from the printed posture, where it holds as well
    rows = {
        "I": (np.diag([1, 2, 3]), dal.mass_matrix(base, q) / ENERGY),
        "P, largest": (0.0, np.abs(dal.christoffel(base, q)).max() / ENERGY),
    }
    show("In the base joints, (E-7)", rows)

    wd = np.array([0.1, -0.2, 1.5])
    qd = [turn.G[5] @ wd for turn in turns]
    rows = {"kinetic energy": (dal.energy(platform, w, wd).kinetic, dal.energy(base, base.q0, qd).kinetic)}
    show("One motion in both (J)", rows, source="platform")
    if len(sys.argv) > 1:
        from dalembert import plots

        s = np.linspace(0, 1, 9)
        path = np.stack([0.5 * INCH * np.sin(2 * s), 0.5 * INCH * s, 0.4 * s], axis=-1)
        plots.skeleton(platform, path, trace="tool").figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
