"""Feedforward of a PUMA 560 by models that are left smaller and smaller, and what that costs in accuracy.

    python examples/control_feedforward.py [figure.png]

A controller that cannot compute the whole model at its rate takes a simpler one (`dal.simplify_model`) for feedforward and leaves
the rest to feedback. Torques along the reference are signals, one row for each step of 1 ms; the loop is sampled and compiled.
"""

import sys

import numpy as np
from support.quintic import quintic

import dalembert as dal

robot = dal.robots.puma560()
robot = robot.replace(parameters=robot.parameters.replace(friction={}))
start, end, duration, dt = np.zeros(6), np.array([0.8, -0.6, 0.9, 0.5, 0.4, -0.7]), 1.0, 1e-3
times = np.arange(0, 1.2, dt)
q, qd, qdd = (np.array(part, dtype=float) for part in zip(*(quintic(t, duration, start, end) for t in times), strict=True))


def law(t, q, qd, p):
    """Torques of the reference, and PD around it."""
    return p.feedforward + p.kp * (p.q - q) + p.kd * (p.qd - qd)


models = {"no model": None, "gravity alone": dal.gravity_torque(robot, q)}
operations = {"no model": 0, "gravity alone": "-"}
for tolerance in (0.2, 0.05, 0.01):
    simple = dal.simplify_model(robot, trajectory=(q, qd, qdd), tolerance=tolerance)
    name = f"within {100 * tolerance:.0f} %"
    models[name], operations[name] = simple.inverse_dynamics(q, qd, qdd), simple.operations[1].flops
models["whole model"], operations["whole model"] = dal.inverse_dynamics(robot, q, qd, qdd), simple.operations[0].flops

print("feedforward          operations   largest error on the way [rad]")
errors = {}
for name, torques in models.items():
    signals = {"feedforward": np.zeros_like(q) if torques is None else torques, "q": q, "qd": qd}
    gains = {"kp": [900.0, 900.0, 400.0, 80.0, 80.0, 80.0], "kd": [60.0, 60.0, 30.0, 6.0, 6.0, 6.0]}
    motion = dal.rollout(robot, start, np.zeros(6), law, dt=dt, method="rk4", inputs=gains, signals=signals)
    errors[name] = np.abs(motion.q[:-1] - q).max(axis=1)
    print(f"{name:<20}{operations[name]:>11}{errors[name].max():>20.5f}")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, error in errors.items():
        axes.semilogy(times, np.maximum(error, 1e-7), label=name)
    axes.set(xlabel="t [s]", ylabel="largest joint error [rad]", title="PUMA 560, feedforward and PD at 1 kHz")
    axes.grid(alpha=0.3)
    axes.legend(ncols=2)
    figure.savefig(sys.argv[1], dpi=150)
