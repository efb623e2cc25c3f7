"""A screw press: a belt, gears and a thread in one mechanism.

    python examples/screw_press.py [figure.png]

The ram moves by the thread's lead for each turn of the spindle, and gears and belt turn the motor 3 · 2.5 times as often. A force
at the ram and the masses on the way are felt at the motor through these ratios and their squares.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

BELT, GEAR, LEAD = 2.5, 3.0, 0.012  # ratios, m per turn
PER_MOTOR = np.array([1.0, 1 / BELT, -1 / (BELT * GEAR), -LEAD / (2 * np.pi * BELT * GEAR)])  # motor, countershaft, spindle, ram
INERTIA = np.array([0.002, 0.02, 0.05, 60.0])  # kg m², the ram in kg


def main() -> None:
    press = dal.mechanisms.screw_press()
    q, force = 5.0, 2e5  # rad, N
    positions = press.assemble([q]).x
    gravity = dal.gravity_torque(press, [q])
    loaded = dal.inverse_dynamics(press, [q], [0.0], [0.0], wrenches={"ram": [0, 0, force, 0, 0, 0]})
    rows = {
        "positions": (q * PER_MOTOR, positions),
        "inertia": (INERTIA @ PER_MOTOR**2, dal.mass_matrix(press, [q])[0, 0]),
        "gravity": (60 * 9.81 * PER_MOTOR[3], gravity[0]),
        "torque to press": (-force * PER_MOTOR[3], (loaded - gravity)[0]),
    }
    show("Screw press at its motor (rad and m, kg m², N m, N m)", rows, source="ratios")
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(press, [q], names=True, view="xz")
        axes.set_title("Motor, countershaft, spindle and ram")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
