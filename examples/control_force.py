"""Motion along a wall and force on it at once, in operational space, with the wall inside of the compiled loop.

    python examples/control_force.py [figure.png]

The tip of a two-link arm is lowered onto a stiff floor, presses with 30 N and moves along it. Along x the law asks for an
acceleration that follows a path, along y for one that corrects the force: M J⁻¹ (a − J̇ q̇) + h moves the tip with a
[Siciliano, Eq. 7.140], and the measured force is carried by Jᵀ. The floor only pushes; its stiffness, the gains and the force
wanted are inputs.
"""

import sys

import numpy as np
from support.quintic import quintic

import dalembert as dal
from dalembert.expr import ops

arm = dal.robots.pelican()
arm = arm.replace(parameters=arm.parameters.replace(friction={}))
model = dal.inside(arm)
start = np.array([0.9, 0.8])
x0, y0 = dal.forward_kinematics(arm, start)[:2, 3]
floor = y0 - 0.002  # m


def contact(q, p):
    """The force of the floor on the tip [N]: it pushes as far as it is pressed in."""
    return p.stiffness * ops.maximum(floor - model.forward_kinematics(q)[1, 3], 0.0)


def law(t, q, qd, p):
    """Torques of the drives, and, since torques are all that a law can give, those of the floor on the arm."""
    X, J = model.forward_kinematics(q), model.jacobian(q)[:2]
    Jd, push = model.jacobian_dot(q, qd)[:2], contact(q, p)
    rate = J @ qd
    path, path_rate, path_acceleration = quintic(t - 1.0, 1.5, x0, x0 + p.way)
    along = path_acceleration + 2.0 * p.bandwidth * (path_rate - rate[0]) + p.bandwidth * p.bandwidth * (path - X[0, 3])
    normal = p.force_gain * (push - p.force + p.integral * p.deficit) - p.damping * rate[1]
    a = np.array([along, normal]) - Jd @ qd
    inverse = np.array([[J[1, 1], -J[0, 1]], [-J[1, 0], J[0, 0]]]) / (J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0])
    reaction = J.T @ np.array([0.0, push])
    drives = model.mass_matrix(q) @ (inverse @ a) + model.bias(q, qd) - reaction
    return drives + reaction


def deficit(t, q, qd, p):
    """The integral of what the force is off."""
    return {"deficit": contact(q, p) - p.force}


times = np.linspace(0, 3, 301)
inputs = {"stiffness": 2e4, "force": 30.0, "way": 0.1, "bandwidth": 20.0, "force_gain": 0.05, "integral": 5.0, "damping": 60.0}
loop = {"tau": law, "rates": deficit, "inputs": inputs, "states": {"deficit": 0.0}}
motion = dal.simulate(arm, start, np.zeros(2), **loop, t_eval=times, rtol=1e-8, atol=1e-10, max_steps=10**6)
tip = dal.forward_kinematics(arm, motion.q)[:, :2, 3]
force = inputs["stiffness"] * np.maximum(floor - tip[:, 1], 0.0)
wanted = np.array([quintic(t - 1.0, 1.5, x0, x0 + 0.1)[0] for t in times], dtype=float)
moving = times > 1.0
print(f"force from 1 s on: {force[moving].min():.2f} to {force[moving].max():.2f} N, 30 N wanted")
print(f"largest error along the floor: {1e3 * np.abs(tip[:, 0] - wanted).max():.3f} mm of 100 mm")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, figsize=(7, 5), sharex=True, layout="constrained")
    above.plot(times, force)
    above.axhline(30.0, color="0.6", linestyle="--")
    above.set(ylabel="force on the floor [N]", title="Pressing on a floor while moving along it")
    below.plot(times, 1e3 * (tip[:, 0] - x0), label="tip")
    below.plot(times, 1e3 * (wanted - x0), "--", label="wanted")
    below.set(xlabel="t [s]", ylabel="way along the floor [mm]")
    below.legend()
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(sys.argv[1], dpi=150)
