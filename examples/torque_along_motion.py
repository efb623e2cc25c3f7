"""Joint torques along a motion, and what they are made of.

    python examples/torque_along_motion.py [figure.png]

The PUMA 560 goes from one pose to another and rests before and after. Friction breaks loose as the arm starts to move; gravity
takes over at the shoulder as the arm stretches out.
"""

import sys

import numpy as np

import dalembert as dal
from dalembert import plots

robot = dal.load("puma560")
start = np.radians([0, 90, -90, 0, 0, 0])
end = np.radians([75, 20, -20, 60, 45, -90])
duration, rest = 1.2, 0.15  # s

# A quintic from rest to rest; outside of its time the robot rests. A motion is a batch along time.
t = np.linspace(0, duration + 2 * rest, 601)
move = dal.trajectory.quintic(start, end, duration=duration)(t - rest)
q, qd, qdd = move.q, move.qd, move.qdd

tau = dal.inverse_dynamics(robot, q, qd, qdd)
h = dal.bias(robot, q, qd)
gravity = dal.gravity_torque(robot, q)
inertia = np.einsum("kij,kj->ki", dal.mass_matrix(robot, q), qdd)
parts = {"inertia": inertia, "Coriolis": h - gravity, "gravity": gravity, "friction": tau - h - inertia}

axes = plots.contributions(t, parts, names=robot.joint_names)
path = sys.argv[1] if len(sys.argv) > 1 else "torque_along_motion.png"
axes[0].figure.savefig(path, dpi=150)
print(f"peak torques {np.abs(tau).max(axis=0).round(2)} N m, drawn in {path}")
