"""Which integrator: time against accuracy, on an easy motion and on two stiff ones.

    python examples/integrators.py [figure.png]

A Panda swings freely; it is held by a PD controller with high gains while its target moves; and it is driven by motors whose
currents settle in 10 µs. Each motion runs by every method of `simulate` at tolerances from 1e-3 to 1e-10.
"""

import sys
import time
import warnings

import numpy as np

import dalembert as dal
from dalembert.expr import ops

panda = dal.load("panda")
robot = panda.replace(parameters=panda.parameters.replace(friction=dict.fromkeys(panda.joint_names, dal.Friction(viscous=0.1))))
pose = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.79])
times = np.linspace(0.0, 2.0, 21)
TOLERANCES = 10.0 ** -np.arange(3.0, 10.5)


def pd(t, q, qd):
    return 2e3 * ((pose - q) + 0.1 * ops.sin(2.0 * t)) - 2e2 * qd


def motor_torque(t, q, qd, p):
    return 10.0 * p.current


def motor_rates(t, q, qd, p):
    return {"current": (100.0 * (pose - q) - p.current - 10.0 * qd) / 1e-5}


motors = {"tau": motor_torque, "states": {"current": np.zeros(7)}, "rates": motor_rates}
motions = {"free swing": {}, "PD control, gains 2000 and 200": {"tau": pd}, "motors, time constant 10 µs": motors}
methods = {"dop853": ("#0072b2", "o"), "adams": ("#d55e00", "s"), "rosenbrock": ("#009e73", "D")}


def run(method, tolerance, **law):
    """The motion, and the least time of a few runs, or of one that takes long."""
    options = {"t_eval": times, "rtol": tolerance, "atol": tolerance, "method": method, "max_steps": 100_000, "threads": 1}
    taken = []
    while not taken or (len(taken) < 7 and max(taken) < 50.0):
        begin = time.process_time()
        motion = dal.simulate(robot, pose + 0.2, np.zeros(7), **options, **law)
        taken.append(1e3 * (time.process_time() - begin))
    return motion, min(taken)


def main(path):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    warnings.simplefilter("ignore", dal.DalembertWarning)  # the explicit methods give up on the stiff motions
    figure, axes = pyplot.subplots(1, 3, figsize=(12.0, 3.8), layout="constrained", sharex=True, sharey=True)
    for ax, (name, law) in zip(axes, motions.items(), strict=True):
        exact = run("dop853" if not law else "rosenbrock", 1e-13, **law)[0].q
        for method, (color, marker) in methods.items():
            served = run(method, 1e-3, **law)[0].success  # compiles; one that gives up here is not asked for more
            found = [run(method, tolerance, **law) for tolerance in TOLERANCES] if served else []
            points = [(ms, np.abs(motion.q - exact).max()) for motion, ms in found if motion.success]
            fastest = f"{min(ms for ms, _ in points):.2f} ms" if points else "gave up"
            print(f"{name}: {method}, {len(points)} of {len(TOLERANCES)} tolerances, from {fastest}")
            label = method if points else f"{method}: none within 100,000 steps"
            ax.loglog(*zip(*points, strict=True) if points else ([], []), marker=marker, ms=5, color=color, label=label)
        ax.set_title(name, fontsize=11)
        ax.set_xlabel("time [ms]")
        ax.grid(color="0.8", linewidth=0.5)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=9, loc="upper right")
    axes[0].set_ylabel("largest error of a joint [rad]")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "integrators.png")
