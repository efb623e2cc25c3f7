"""First steps: load an arm, ask for torques and matrices, one state at a time or a hundred thousand."""

import numpy as np

import dalembert as dal

np.set_printoptions(precision=3, suppress=True)
robot = dal.load("puma560")
print(robot)

# One state. Arrays are (..., n): here n = 6 and there is no batch.
q = np.radians([0, 45, -90, 0, 30, 0])
qd = np.full(6, 0.5)
qdd = np.zeros(6)
print("torques        ", dal.inverse_dynamics(robot, q, qd, qdd), "N m")
print("against gravity", dal.gravity_torque(robot, q), "N m")

# The mass matrix is symmetric and positive definite.
M = dal.mass_matrix(robot, q)
print("eigenvalues of M", np.linalg.eigvalsh(M))

# Forward dynamics undoes inverse dynamics.
tau = dal.inverse_dynamics(robot, q, qd, qdd=np.ones(6))
print("accelerations  ", dal.forward_dynamics(robot, q, qd, tau))

# A batch: leading axes broadcast, so a hundred thousand states are one call.
rng = np.random.default_rng(0)
states = rng.uniform(-np.pi, np.pi, size=(3, 100_000, 6))
torques = dal.inverse_dynamics(robot, *states)
print("batch          ", torques.shape, "largest", np.abs(torques).max().round(1), "N m")

# The same arm holding two kilograms 10 cm in front of its flange, and on the Moon.
loaded = robot.with_payload(2.0, com=[0, 0, 0.1])
print("with payload   ", dal.gravity_torque(loaded, q), "N m")
print("on the Moon    ", dal.gravity_torque(robot.with_gravity([0, 0, -1.62]), q), "N m")
