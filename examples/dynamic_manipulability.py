"""What unit torques do at the tip of an arm: the dynamic manipulability ellipsoid [Siciliano, §7.9, Fig. 7.15, Problem 7.11].

    python examples/dynamic_manipulability.py [figure.png]

The figure shows three links in a vertical plane, as Fig. 7.15 does: gravity moves the ellipsoid down. Around it is the polytope
of each drive within its own limit; beside it, the ellipsoid along a path.
"""

import sys

import numpy as np
from support.comparison import show
from support.planar_arms import XY, planar

import dalembert as dal

LIMITS = [60.0, 30.0, 10.0]  # N m
POSE = [0.9, 0.6, -1.2]


def problem_7_11() -> None:
    """w_d = w / det B for an arm that is not redundant."""
    arm, q = planar(2), [0.4, 0.9]
    found, kinematic = (dal.manipulability(arm, q, kind=kind, directions=XY) for kind in ("dynamic", "velocity"))
    B, J = dal.mass_matrix(arm, q), dal.jacobian(arm, q)[:2]
    core = np.linalg.inv(J).T @ B.T @ B @ np.linalg.inv(J)  # (7.149)
    measure = kinematic.measure / np.linalg.det(B)
    shift = -J @ np.linalg.solve(B, dal.gravity_torque(arm, q))
    show(
        "Two links, Problem 7.11", {"core": (core, found.core), "centre": (shift, found.centre), "w_d": (measure, found.measure)}
    )


def redundant() -> None:
    """(7.148) takes accelerations of least norm; torques can do more."""
    arm, q = planar(3), [0.4, 0.9, -0.6]
    B, J = dal.mass_matrix(arm, q), dal.jacobian(arm, q)[:2]
    K = B @ np.linalg.pinv(J)
    least, everything = (dal.manipulability(arm, q, directions=XY, least_norm=flag) for flag in (True, False))
    show("Three links, (7.148)", {"core": (K.T @ K, least.core)})
    print(f"Product of half axes: {least.measure:.4f} by accelerations of least norm, {everything.measure:.4f} by all torques.\n")


def weightless(arm: dal.Robot) -> dal.Robot:
    """The same arm without gravity."""
    return arm.replace(parameters=arm.parameters.replace(gravity=(0.0, 0.0, 0.0)))


def draw(path: str) -> None:
    """Fig. 7.15, and the ellipsoids along a path."""
    from matplotlib.figure import Figure

    arm, options = planar(3), {"directions": XY, "strength": LIMITS}
    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    results = [dal.manipulability(weightless(arm), POSE, **options), dal.manipulability(arm, POSE, **options)]
    results.append(dal.manipulability_polytope(arm, POSE, **options))
    dal.plots.ellipsoid(
        arm, POSE, results, labels=["without gravity", "with gravity", "each drive within its limit"], view="xy", ax=left
    )
    way = np.linspace([0.2, 0.6, 0.5], [1.9, 0.9, 0.8], 80)
    dal.plots.manipulability_map(
        arm, way, dal.manipulability(arm, way, **options), ellipsoids=7, measure="hold", view="xy", ax=right
    )
    figure.savefig(path, dpi=150)


def main() -> None:
    problem_7_11()
    redundant()
    found = dal.manipulability(planar(3), POSE, directions=XY, strength=LIMITS)
    up, down = (float(found.reach(d)) for d in ([0.0, 1.0], [0.0, -1.0]))
    print(f"With {LIMITS} N m, the tip goes up with {up:.1f} m/s² and down with {down:.1f} m/s²; {found.hold:.0%} hold it still.")
    if len(sys.argv) > 1:
        draw(sys.argv[1])


if __name__ == "__main__":
    main()
