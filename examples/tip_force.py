"""Pushing while moving: the planar arm along a trajectory with a force at its tip [Siciliano, Example 7.2, Problem 7.7].

    python examples/tip_force.py [figure.png]

Both joints turn by 90 degrees within half a second on a triangular velocity profile, from the tip at (0.2, 0) m with the elbow
below. The tip pushes its surroundings with (500, 500) N, so that these push the arm with the opposite. The book shows curves;
the numbers beside are those of its equations (7.82).
"""

import sys

import numpy as np
from support.comparison import show
from support.example_7_2 import motion

import dalembert as dal

TIMES = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])  # s
FREE = [
    [3873.168, 3078.153],
    [3841.173, 3017.662],
    [4634.213, 2688.598],
    [-2450.189, -3964.243],
    [-3864.858, -3702.195],
    [-4485.976, -3568.871],
]
PUSHING = [
    [3973.168, 2630.659],
    [3870.844, 2448.071],
    [4627.524, 1986.555],
    [-2016.775, -4186.729],
    [-3054.995, -3404.916],
    [-3590.989, -3121.378],
]


def main() -> None:
    robot = dal.robots.two_link_planar()
    push = {"tool": [-500.0, -500.0, 0, 0, 0, 0]}  # what the surroundings exert on the arm
    rows = {
        "tau, free": (FREE, dal.inverse_dynamics(robot, *motion(TIMES))),
        "tau, pushing": (PUSHING, dal.inverse_dynamics(robot, *motion(TIMES), wrenches=push)),
    }
    show("Torques at 0, 0.1 ... 0.5 s (N m)", rows)
    if len(sys.argv) > 1:
        from dalembert import plots

        t = np.linspace(0, TIMES[-1], 401)
        tau = dal.inverse_dynamics(robot, *motion(t), wrenches=push)
        plots.torques(t, tau, names=robot.joint_names).figure.savefig(sys.argv[1], dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
