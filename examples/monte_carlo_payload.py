"""Ten thousand UR5 arms, each with another payload, under one sampled controller that knows none of them.

    python examples/monte_carlo_payload.py [figure.png]

The controller has the model of the empty arm inside, is evaluated every 4 ms, comes into force 4 ms later, and its torques are
kept within the limits of the joints. Mass and place of the payload are drawn at random; they enter by the dynamic parameters of
the last link, an input of the compiled loop, so nothing is compiled for any of them. A push at the tool comes after the motion.
"""

import sys
import time

import numpy as np

import dalembert as dal
from dalembert.expr import ops

robot = dal.robots.ur5()
model, n, count = dal.inside(robot), 6, 10_000
start, end, duration = np.array([0.0, -1.6, 1.6, -1.6, -1.6, 0.0]), np.array([1.2, -0.6, 0.9, -1.2, -1.2, 0.6]), 0.6


def law(t, q, qd, p):
    """Computed torque towards a line that is followed in `duration` seconds, with the model of the empty arm."""
    share = ops.minimum(t / duration, 1.0)
    s = share * share * share * (10.0 - 15.0 * share + 6.0 * share * share)
    sd = 30.0 * share * share * (1.0 - share) * (1.0 - share) / duration
    sdd = 60.0 * share * (1.0 - share) * (1.0 - 2.0 * share) / duration**2
    way = p.end - p.start
    wanted = sdd * way + p.kd * (sd * way - qd) + p.kp * (p.start + s * way - q)
    return model.mass_matrix(q) @ wanted + model.bias(q, qd)


def loaded(mass, centre):
    """Parameters of the arm with payloads (k,), (k, 3): those of the last link grow by those of a point mass in its frame."""
    own = np.tile(dal.parameters(robot), (len(mass), 1))
    names = dal.parameter_names(robot)
    last = names[-1].split(".")[0]
    x, y, z = centre.T
    more = {
        "m": mass,
        "mx": mass * x,
        "my": mass * y,
        "mz": mass * z,
        "Ixx": mass * (y * y + z * z),
        "Iyy": mass * (x * x + z * z),
        "Izz": mass * (x * x + y * y),
        "Ixy": -mass * x * y,
        "Ixz": -mass * x * z,
        "Iyz": -mass * y * z,
    }
    for name, value in more.items():
        own[:, names.index(f"{last}.{name}")] += value
    return own


rng = np.random.default_rng(1)
mass, centre = rng.uniform(0.0, 5.0, count), rng.normal([0.0, 0.0, 0.08], [0.02, 0.02, 0.03], (count, 3))
times, push = np.array([0.0, 0.7, 0.75]), np.zeros((3, 6))
push[1, 2] = -80.0  # N, downwards for 50 ms
given = {
    "inputs": {"kp": 400.0, "kd": 40.0, "start": start, "end": end},
    "parameters": loaded(mass, centre),
    "wrenches": {"tool": push},
    "wrench_times": times,
    "saturate": True,
    "sample": 0.004,
    "delay": 0.004,
    "dt": 0.002,
    "steps": 600,
    "every": 10,
}
dal.rollout(robot, start, np.zeros(n), law, **given | {"steps": 10, "parameters": loaded(mass[:2], centre[:2])})  # compiles
begin = time.perf_counter()
motion = dal.rollout(robot, start, np.zeros(n), law, **given)
spent = time.perf_counter() - begin

tip = dal.forward_kinematics(robot, motion.q[:, -1])[:, :3, 3]
off = 1e3 * np.linalg.norm(tip - dal.forward_kinematics(robot, end)[:3, 3], axis=-1)
print(f"{count} motions of {motion.t[-1]} s in {spent:.2f} s; all finite: {bool(np.all(motion.finite))}")
print(f"tool off its target at the end: median {np.median(off):.1f} mm, 1 in 100 more than {np.quantile(off, 0.99):.1f} mm")
for name, share in zip(robot.joint_names, motion.saturated.any(axis=1).mean(axis=0), strict=True):
    print(f"motions in which {name} was at its torque limit: {100 * share:.1f} %")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lag = np.degrees(motion.q[..., 1] - motion.q[np.argmin(mass), :, 1])
    bands = np.quantile(lag, [0.01, 0.25, 0.5, 0.75, 0.99], axis=0)
    left.fill_between(motion.t, bands[0], bands[4], alpha=0.2, color="tab:blue", label="98 % of the payloads")
    left.fill_between(motion.t, bands[1], bands[3], alpha=0.4, color="tab:blue", label="half of them")
    left.plot(motion.t, bands[2], color="tab:blue", label="median")
    left.axvspan(times[1], times[2], color="0.85", zorder=0, label="push at the tool")
    left.set(xlabel="t [s]", ylabel="joint 2 beside the empty arm [deg]")
    left.legend(fontsize=8, loc="upper left")
    dots = right.scatter(mass, off, c=1e3 * centre[:, 2], s=2, cmap="viridis")
    right.set(xlabel="payload [kg]", ylabel="tool off its target at the end [mm]")
    figure.colorbar(dots, label="height of its centre over the flange [mm]")
    figure.savefig(sys.argv[1], dpi=150)
