"""A pendulum with its motor [Siciliano, Example 7.1]: energies, equation of motion, and its swing.

    python examples/pendulum.py [figure.png]

The motor turns k_r times as fast as the arm, so its inertia and its friction count k_r² times:

    (I + I_m k_r²) θ̈ + (F + F_m k_r²) θ̇ + m g l sin θ = τ

The book gives symbols only; the numbers are chosen here.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

m, l, I, g = 2.0, 0.4, 0.45, 9.81  # kg, m, kg m² about the axis, m/s²
I_m, k_r = 2e-5, 50.0  # kg m², gear ratio
F, F_m = 0.05, 4e-5  # N m s/rad at the joint and at the motor


def build() -> dal.Robot:
    """θ = 0 hangs down: gravity is along x of the first frame."""
    rod = {"mass": m, "com": (l, 0, 0), "inertia": (0, 0, I - m * l**2)}  # Steiner: the library counts about the centre of mass
    drive = {"rotor": dal.Rotor(I_m, k_r), "friction": dal.Friction(F + F_m * k_r**2)}
    return dal.from_dh([rod | drive], convention="standard", name="pendulum", gravity=(g, 0, 0))


def main() -> None:
    robot = build()
    th, dth, ddth = 0.7, -1.3, 2.0
    inertia, friction = I + I_m * k_r**2, F + F_m * k_r**2
    energy, hanging = dal.energy(robot, [th], [dth]), dal.energy(robot, [0.0], [0.0])
    rows = {
        "T": (inertia * dth**2 / 2, energy.kinetic),
        "U": (m * g * l * (1 - np.cos(th)), energy.potential - hanging.potential),
        "tau": (inertia * ddth + friction * dth + m * g * l * np.sin(th), dal.inverse_dynamics(robot, [th], [dth], [ddth])[0]),
    }
    show("Pendulum with motor, Example 7.1 (J, J, N m)", rows)
    swing = dal.simulate(robot, [2.5], [0.0], t_eval=np.linspace(0, 4, 401))
    print(f"let go at 2.5 rad, after 4 s against friction it is at {swing.q[-1, 0]:.4f} rad")
    if len(sys.argv) > 1:
        draw(swing, sys.argv[1])


def draw(swing: dal.Simulation, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot(swing.t, swing.q[:, 0])
    axes.set(xlabel="time [s]", ylabel="angle [rad]", title="A pendulum with the friction of its motor")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
