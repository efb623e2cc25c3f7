"""Three controllers of a PUMA 560 compiled into its simulation, and ten thousand tunings of one of them at once.

    python examples/control_joint_space.py [figure.png]

PD with gravity compensation reaches its target; computed torque follows a motion; with a model that is 30 % too light it lags.
Gains are inputs: changing them compiles nothing [Siciliano, §8.5].
"""

import sys
import time

import numpy as np
from support.quintic import quintic

import dalembert as dal

robot = dal.robots.puma560()
robot = robot.replace(parameters=robot.parameters.replace(friction={}))
links = tuple(link.replace(mass=0.7 * link.mass) for link in robot.parameters.links)
light = robot.replace(parameters=robot.parameters.replace(links=links))
start, end, duration = np.zeros(6), np.array([0.8, -0.6, 0.9, 0.5, 0.4, -0.7]), 1.0


def pd_with_gravity(model):
    """The reference is its end: a step, and gravity is carried."""
    return lambda t, q, qd, p: p.kp * (p.end - q) - p.kd * qd + model.gravity_torque(q)


def computed_torque(model):
    """Linear and decoupled errors: ë + kd ė + kp e = 0, if the model is right."""

    def law(t, q, qd, p):
        position, rate, acceleration = quintic(t, duration, p.start, p.end)
        wanted = acceleration + p.kd * (rate - qd) + p.kp * (position - q)
        return model.mass_matrix(q) @ wanted + model.bias(q, qd)

    return law


LAWS = {
    "PD with gravity": (pd_with_gravity(dal.inside(robot)), {"kp": 300.0, "kd": [60.0, 60.0, 40.0, 3.0, 3.0, 3.0]}),
    "computed torque": (computed_torque(dal.inside(robot)), {"kp": 400.0, "kd": 40.0}),
    "with a wrong model": (computed_torque(dal.inside(light)), {"kp": 400.0, "kd": 40.0}),
}
times = np.linspace(0, 2, 201)
reference = np.array([quintic(t, duration, start, end)[0] for t in times], dtype=float)
errors = {}
print("largest error on the way, and at the end [rad]")
for name, (law, gains) in LAWS.items():
    inputs = {**gains, "start": start, "end": end}
    motion = dal.simulate(robot, start, np.zeros(6), tau=law, inputs=inputs, t_eval=times, rtol=1e-8, atol=1e-10)
    errors[name] = np.abs(motion.q - reference).max(axis=1)
    print(f"{name:<20}{errors[name].max():12.2e}{errors[name][-1]:12.2e}")

kp = np.geomspace(50, 2000, 10_000)[:, None]
inputs = {"kp": kp, "kd": 2 * np.sqrt(kp), "start": start, "end": end}
law = LAWS["with a wrong model"][0]
dal.rollout(robot, start, np.zeros(6), law, dt=1e-3, steps=10, inputs=inputs)  # compiles
begin = time.perf_counter()
tuned = dal.rollout(robot, start, np.zeros(6), law, dt=1e-3, steps=1000, every=1000, inputs=inputs)
seconds = time.perf_counter() - begin
left = np.abs(tuned.q[:, -1] - end).max(axis=1)
print(
    f"10,000 tunings with the wrong model, 1 s of each in {seconds:.2f} s: error at the end {left[0]:.3f} to {left[-1]:.4f} rad"
)

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, error in errors.items():
        axes.semilogy(times, np.maximum(error, 1e-12), label=name)
    axes.set(xlabel="t [s]", ylabel="largest joint error [rad]", title="PUMA 560, from rest to rest in 1 s")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(sys.argv[1], dpi=150)
