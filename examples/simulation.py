"""What a simulated motion tells: torques, power by cause, energy balance; a table, a figure and moving pictures of it.

    python examples/simulation.py [figure.png [moving.gif]]

A Panda with friction in its joints is brought to a pose by computed torque, which does not know of the friction.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid

import dalembert as dal

HOME = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])  # rad
POSE = np.array([0.9, 0.3, -0.3, -1.4, 0.4, 2.2, 0.2])
FREQUENCY = 6.0  # rad/s, of the closed loop


def arm_with_friction() -> dal.Robot:
    arm = dal.robots.panda()
    sizes = dict(zip(arm.joint_names, [1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.02], strict=True))  # the wrist has small gears
    laws = {name: dal.Friction(viscous=0.6 * size, coulomb=0.5 * size, width=0.02) for name, size in sizes.items()}
    return arm.replace(parameters=arm.parameters.replace(friction=laws))


def main() -> None:
    arm = arm_with_friction()
    model = dal.inside(arm)

    def computed_torque(t, q, qd, p):
        return model.mass_matrix(q) @ (p.w**2 * (p.target - q) - 2.0 * p.w * qd) + model.bias(q, qd)

    motion = dal.simulate(
        arm,
        HOME,
        np.zeros(7),
        tau=computed_torque,
        inputs={"w": FREQUENCY, "target": POSE},
        t_eval=np.linspace(0.0, 1.6, 161),
        rtol=1e-9,
        dense=True,
    )
    print(motion)
    print(f"{motion.message} {int(motion.accepted)} steps")
    print(f"off the pose by {np.rad2deg(np.abs(motion.q[-1] - POSE).max()):.3f} degrees: friction is not compensated")
    print(f"largest torques {np.abs(motion.tau).max(axis=0).round(1)} N m")
    print(f"energy balance closes to {motion.balance.relative:.0e} of the energy turned over")
    for cause, power in motion.power.by_cause.items():
        print(f"  {cause:16s} {trapezoid(power, motion.t) + 0.0:8.3f} J")

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "motion.csv"
        motion.save(table)
        heads = table.read_text(encoding="utf-8").splitlines()[0].split(",")
        print(f"a table of {len(motion.t)} rows and {len(heads)} columns: {heads[0]}, {heads[1]}, ..., {heads[-1]}")

    if len(sys.argv) > 1:
        dal.plots.simulation(motion)[0].figure.savefig(sys.argv[1], dpi=80)
        print(f"written: {sys.argv[1]}")
    if len(sys.argv) > 2:
        dal.animate(motion, sys.argv[2], fps=20, trace="tool", frames=["tool"], dpi=64)
        print(f"written: {sys.argv[2]}")


if __name__ == "__main__":
    main()
