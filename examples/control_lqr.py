"""LQR along a motion: linear models at every millisecond, gains by the Riccati recursion, and the closed loop compiled.

    python examples/control_lqr.py

A two-link arm follows a fast motion from a start that is off. The gains K(t) change with the pose; they, the reference and its
torques are signals of the law, so the loop is one kernel.
"""

import numpy as np
from scipy.linalg import solve_discrete_are
from support.quintic import quintic

import dalembert as dal

arm = dal.robots.two_link_planar()
start, end, duration, dt = np.array([-0.5, 1.0]), np.array([1.2, -0.4]), 0.8, 1e-3
times = np.arange(0, 1.0, dt)
q, qd, qdd = (np.array(part, dtype=float) for part in zip(*(quintic(t, duration, start, end) for t in times), strict=True))

model = dal.linearize(arm, q, qd, qdd).discretised(dt)  # A and B of every sample
A, B = model.A, model.B
Q, R = np.diag([2e4, 2e4, 20.0, 20.0]), np.diag([1e-3, 1e-3])
gains, P = np.empty((len(times), 2, 4)), solve_discrete_are(A[-1], B[-1], Q, R)  # after the motion the arm is held where it is
for k in reversed(range(len(times))):
    gains[k] = np.linalg.solve(R + B[k].T @ P @ B[k], B[k].T @ P @ A[k])
    P = Q + A[k].T @ P @ (A[k] - B[k] @ gains[k])


def law(t, q, qd, p):
    """Torques of the reference, and K(t) times the error of the state."""
    error = np.concatenate([p.q - q, p.qd - qd])
    return p.tau + np.reshape(p.K, (2, 4)) @ error


signals = {"q": q, "qd": qd, "tau": dal.inverse_dynamics(arm, q, qd, qdd)}
print("gains                cost of the deviation   error at the end [rad]")
for name, K in {"along the motion": gains, "of the first pose": np.broadcast_to(gains[0], gains.shape)}.items():
    given = {**signals, "K": K.reshape(len(times), 8)}
    motion = dal.rollout(arm, start + np.array([0.15, -0.1]), np.zeros(2), law, dt=dt, method="rk4", signals=given)
    error = np.concatenate([q - motion.q[:-1], qd - motion.qd[:-1]], axis=1)
    torque = np.einsum("kij,kj->ki", K, error)
    cost = np.einsum("ki,ij,kj->", error, Q, error) + np.einsum("ki,ij,kj->", torque, R, torque)
    print(f"{name:<20}{cost:>18.0f}{np.abs(error[-1, :2]).max():>22.2e}")
