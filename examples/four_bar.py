"""A crank-rocker: positions by Freudenstein's equation, and one turn of the crank.

    python examples/four_bar.py [figure.png]

With crank a, coupler b, rocker c and pivots d apart, the rocker's angle ψ follows from the crank's θ by

    d/a cos ψ − d/c cos θ + (a² − b² + c² + d²) / (2 a c) = cos(θ − ψ)

and, by its derivative, the rate of the rocker. The torque at the crank that holds a torque at the rocker is then known too. Over
one turn at constant speed, all work that gravity and inertia ask for comes back.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

a, b, c, d = 0.2, 0.5, 0.4, 0.5  # m


def freudenstein(th: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rocker's angle, and its derivative by the crank's."""
    A, B = np.sin(th), np.cos(th) - d / a
    C = (a**2 - b**2 + c**2 + d**2) / (2 * a * c) - d / c * np.cos(th)
    psi = 2 * np.arctan2(A - np.sqrt(A**2 + B**2 - C**2), B + C)
    return psi, (np.sin(th - psi) + d / c * np.sin(th)) / (np.sin(th - psi) + d / a * np.sin(psi))


def main() -> None:
    linkage = dal.mechanisms.crank_rocker()
    th = np.array([0.4, 1.3, 2.2, 4.0, 5.5])
    psi, slope = freudenstein(th)
    # The rocker hangs on the coupler and ends at the ground: from the ground it looks the other way.
    angle = linkage.assemble(th[:, None]).x.sum(axis=-1) + np.pi
    rate = dal.link_motion(linkage, th[:, None], [1.0], link="rocker").velocity[:, 5]
    rows = {"psi": (np.cos(psi), np.cos(angle)), "slope": (slope, rate)}
    show("Rocker by crank: cos ψ and dψ/dθ", rows, source="Freudenstein")

    load, rest = {"rocker": [0, 0, 0, 0, 0, 3.0]}, [0.0]
    torque = dal.inverse_dynamics(linkage, th[:, None], rest, rest, wrenches=load) - dal.gravity_torque(linkage, th[:, None])
    show("Torque at the crank against 3 N m at the rocker (N m)", {"torque": (-3.0 * slope, torque[:, 0])}, source="Freudenstein")

    turn = np.arange(64)[:, None] * (2 * np.pi / 64)
    work = dal.inverse_dynamics(linkage, turn, [6.0], [0.0]).mean() * 2 * np.pi
    show("Work of one turn at 6 rad/s (J)", {"work": (0.0, work)}, source="expected")
    if len(sys.argv) > 1:
        from dalembert import plots

        axes = plots.skeleton(linkage, np.linspace(0, 2 * np.pi, 73)[:, None], trace=("coupler", (0.25, 0.1, 0)))
        axes.figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
