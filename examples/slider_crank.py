"""Slider-cranks: in the plane by its textbook formulas, in space with a freedom that moves nothing else [Freeman, Appendix D].

    python examples/slider_crank.py [figure.png]

In the plane s = r cos θ + √(l² − r² sin² θ). In space, the coupler between two spherical joints can spin about itself: the
linkage has two freedoms, though the slider follows the crank alone. The document keeps the spin θ5 in all sets of coordinates;
the other choice is to hold it. Both are shown. The document gives no dimensions.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

r, l = 0.05, 0.15  # m: crank and rod in the plane
R, L, e = 0.1, 0.4, 0.15  # m: crank and coupler in space, and the slider's line beside the plane of the crank


def main() -> None:
    th, w, alpha = 1.0, 7.0, -3.0
    planar = dal.mechanisms.slider_crank()
    root = np.sqrt(l**2 - (r * np.sin(th)) ** 2)
    first = -r * np.sin(th) - r**2 * np.sin(th) * np.cos(th) / root
    second = -r * np.cos(th) - r**2 * np.cos(2 * th) / root - (r**2 * np.sin(2 * th)) ** 2 / (4 * root**3)
    motion = dal.link_motion(planar, [th], [w], [alpha], link="slider")
    push = {"slider": [100.0, 0, 0, 0, 0, 0]}
    torque = dal.inverse_dynamics(planar, [th], [0.0], [0.0], wrenches=push) - dal.gravity_torque(planar, [th])
    rows = {
        "s": (r * np.cos(th) + root, planar.assemble([th]).x[2]),
        "velocity": (first * w, motion.velocity[0]),
        "acceleration": (second * w**2 + first * alpha, motion.acceleration[0]),
        "torque against 100 N": (-100 * first, torque[0]),
    }
    show("In the plane", rows, source="formula")

    free, locked = dal.mechanisms.spatial_slider_crank(), dal.mechanisms.spatial_slider_crank(locked=True)
    s = R * np.sin(th) + np.sqrt(L**2 - e**2 - (R * np.cos(th)) ** 2)
    rows = {f"s, spin {spin}": (s, free.assemble([th, spin]).x[4]) for spin in (0.0, 0.9, -2.0)}
    show(
        f"In space: {', '.join(free.joint_names)} are the coordinates, and the slider does not see the spin",
        rows,
        source="formula",
    )

    M, coupler = dal.mass_matrix(free, [th, 0.9]), free.robot.parameters.links[4]
    rows = {"M, spin": (coupler.inertia[2, 2], M[1, 1]), "gravity, spin": (0.0, dal.gravity_torque(free, [th, 0.9])[1])}
    show("What the spin has of its own: the coupler's moment about its axis", rows, source="coupler")

    tau = dal.inverse_dynamics(free, [th, 0.0], [w, 0.0], [alpha, 0.0])
    rows = {"torque at the crank": (tau[0], dal.inverse_dynamics(locked, [th], [w], [alpha])[0])}
    show(f"Spin at rest, and held by a closure: coordinate {', '.join(locked.joint_names)}", rows, source="free, at rest")
    if len(sys.argv) > 1:
        from dalembert import plots

        path = np.stack([np.linspace(0, 2, 7), np.zeros(7)], axis=-1)
        axes = plots.skeleton(free, path, trace=("coupler", (0, 0, L / 2)))
        axes.figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
