"""Passivity-based control of a two-link arm, and the same with its parameters adapted while it moves [SlotineLi1987].

    python examples/control_adaptive.py [figure.png]

With v the rate of the reference plus a share of the error, a its derivative and s = v − q̇, the law is
τ = Y(q, q̇, v, a) φ̂ + K s, and the estimates follow dφ̂/dt = Γ Yᵀ s. They are further states of the simulation, so the whole
loop is one kernel. Without adaptation a payload that the controller does not know leaves an error; with it the error goes to
zero, whether or not the estimates become the true parameters.
"""

import sys

import numpy as np

import dalembert as dal
from dalembert.expr import ops

arm = dal.robots.two_link_planar()
loaded = arm.replace(parameters=arm.parameters.replace(payload=dal.Body("crate", 15.0, (0, 0, 0), np.diag([0.1, 0.1, 0.1]))))
model = dal.inside(arm)
known = dal.parameters(arm, friction=False)


def reference(t):
    """Slow swings of both joints, with rates and accelerations."""
    position = [0.6 * ops.sin(1.5 * t), 0.8 + 0.5 * ops.sin(2.1 * t)]
    rate = [0.9 * ops.cos(1.5 * t), 1.05 * ops.cos(2.1 * t)]
    acceleration = [-1.35 * ops.sin(1.5 * t), -2.205 * ops.sin(2.1 * t)]
    return tuple(np.array(x, dtype=object) for x in (position, rate, acceleration))


def sliding(t, q, qd, p):
    """s, and the regressor of M a + C v + g at the rates v and accelerations a that s is measured against."""
    position, rate, acceleration = reference(t)
    v = rate + p.slope * (position - q)
    a = acceleration + p.slope * (rate - qd)
    return v - qd, model.tracking_regressor(q, qd, v, a)


def law(t, q, qd, p):
    """Feedforward by the estimates, and feedback of s."""
    s, Y = sliding(t, q, qd, p)
    return Y @ p.estimates + p.K * s


def adaptation(t, q, qd, p):
    """dφ̂/dt = Γ Yᵀ s; with Γ = 0 nothing is adapted."""
    s, Y = sliding(t, q, qd, p)
    return {"estimates": p.gain * (Y.T @ s)}


times = np.linspace(0, 20, 2001)
errors = {}
print("largest error in the first and in the last five seconds [rad], with a payload of 15 kg that the controller does not know")
for name, gain in {"passivity-based": 0.0, "adaptive": 100.0}.items():
    inputs = {"slope": 8.0, "K": [400.0, 150.0], "gain": gain}
    states = {"estimates": known}
    start = np.array([0.0, 0.8])
    motion = dal.simulate(
        loaded,
        start,
        [0.9, 1.05],
        tau=law,
        rates=adaptation,
        inputs=inputs,
        states=states,
        t_eval=times,
        rtol=1e-6,
        atol=1e-8,
        max_steps=10**6,
    )
    goal = np.array([[0.6 * np.sin(1.5 * t), 0.8 + 0.5 * np.sin(2.1 * t)] for t in times])
    errors[name] = np.abs(motion.q - goal).max(axis=1)
    print(f"{name:<18}{errors[name][times < 5].max():10.4f}{errors[name][times > 15].max():10.5f}")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, error in errors.items():
        axes.plot(times, 1e3 * error, label=name)
    axes.set(xlabel="t [s]", ylabel="largest joint error [mrad]", title="An unknown payload of 15 kg")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(sys.argv[1], dpi=150)
