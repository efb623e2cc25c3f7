"""The fastest way along a path: the Panda between points within its torques, with friction as it is.

    python examples/timing_a_path.py [figure.png]

Prints the time, which limit binds for how long, and what friction costs; draws the phase plane and the torques.
"""

import sys

import numpy as np

import dalembert as dal

POINTS = [
    [0.0, 0.0, 0.0, -1.6, 0.0, 1.6, 0.0],
    [0.8, 0.5, -0.4, -1.2, 0.6, 2.0, 0.5],
    [0.2, 0.9, 0.3, -2.0, -0.4, 1.2, 1.0],
    [-0.9, 0.4, 0.6, -1.4, 0.3, 1.9, -0.6],
]


def with_friction(robot: dal.Robot) -> dal.Robot:
    """Dry and viscous friction of about the size that is measured on such arms."""
    strong, weak = dal.Friction(viscous=5.0, coulomb=9.0), dal.Friction(viscous=1.0, coulomb=1.2)
    laws = {name: strong if k < 4 else weak for k, name in enumerate(robot.joint_names)}
    return robot.replace(parameters=robot.parameters.replace(friction=laws))


def main() -> None:
    """Time the path, and show it."""
    robot = with_friction(dal.robots.panda())
    free = dal.fastest_timing(dal.robots.panda(), POINTS, velocity=np.inf)
    found = dal.fastest_timing(robot, POINTS, velocity=np.inf)
    print(f"least time {float(found.duration):.4f} s, without friction {float(free.duration):.4f} s")
    for start, end, limit in found.binding_parts():
        if end - start > 0.03:
            print(f"  s = {start:.3f} to {end:.3f}: {limit}")
    motion = found.motion.sample(count=2000)
    tau = dal.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd)
    print(f"largest share of a torque limit {(np.abs(tau) / found.torque_limits).max():.6f}")
    slow = dal.trajectory.quintic(POINTS[0], POINTS[1], duration=1.0)
    scaled = dal.scale_trajectory(robot, slow)
    print(f"a quintic of 1 s can run {float(scaled.factor):.3f} times as fast; the {scaled.limit} of {scaled.joint} binds")
    if len(sys.argv) > 1:
        dal.plots.timing(found)[0].figure.savefig(sys.argv[1], dpi=130)


if __name__ == "__main__":
    main()
