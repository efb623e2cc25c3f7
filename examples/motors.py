"""The motor of a pendulum [Siciliano, Example 7.1; Freeman, Eq. 2-228 to 2-252]: voltage, motion without feedback, poles, choice.

    python examples/motors.py [figure.png]

The pendulum of the book with its motor's inertia and friction,

    (I + I_m k_r²) θ̈ + (F + F_m k_r²) θ̇ + m g l sin θ = τ,

and the electrical side of that motor, τ = k_r k_t i and v = R i + L di/dt + k_e k_r θ̇. The book gives symbols; the numbers are
chosen here. Voltages are written out by hand beside those of the library; they are then fed to the electrical simulation.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

m, l, I, g = 2.0, 0.4, 0.45, 9.81  # kg, m, kg m² about the axis, m/s²
k_r, F = 50.0, 0.05  # gear ratio; friction at the joint [N m s/rad]
MOTOR = dal.Motor(1.2, 0.08, inductance=2e-3, ratio=k_r, inertia=2e-5, damping=4e-5, voltage_limit=48.0, continuous_current=4.0)


def build() -> dal.Robot:
    """θ = 0 hangs down; `with_motors` adds the motor's inertia and damping to the joint."""
    rod = {"mass": m, "com": (l, 0, 0), "inertia": (0, 0, I - m * l**2), "friction": dal.Friction(F)}
    pendulum = dal.from_dh([rod], convention="standard", name="pendulum", gravity=(g, 0, 0))
    return pendulum.with_motors({"joint1": MOTOR})


def swing_up(t: np.ndarray) -> list[np.ndarray]:
    """θ and three derivatives from 0 to π in a second and a half, by a polynomial whose jerk is zero at both ends."""
    share = np.polynomial.Polynomial([0, 0, 0, 0, 35, -84, 70, -20])
    return [np.pi * (share.deriv(k) if k else share)(t / 1.5)[:, None] / 1.5**k for k in range(4)]


def by_hand(th: np.ndarray, dth: np.ndarray, ddth: np.ndarray, dddth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Current and voltage, the equation of motion differentiated once."""
    inertia, friction = I + MOTOR.inertia * k_r**2, F + MOTOR.damping * k_r**2
    tau = inertia * ddth + friction * dth + m * g * l * np.sin(th)
    rate = inertia * dddth + friction * ddth + m * g * l * np.cos(th) * dth
    current = tau / (k_r * 0.08)
    return current, 1.2 * current + 2e-3 * rate / (k_r * 0.08) + 0.08 * k_r * dth


def main() -> None:
    robot = build()
    t = np.linspace(0.0, 1.5, 3001)
    motion = swing_up(t)
    found = dal.nominal_voltage(robot, *motion)
    current, voltage = by_hand(*motion)
    at = [500, 1500, 2500]
    show("Pendulum with motor (A, V) at 0.25, 0.75, 1.25 s", {
        "current": (current[at, 0], found.current[at, 0]),
        "voltage": (voltage[at, 0], found.voltage[at, 0]),
    })  # fmt: skip
    moved = dal.simulate_motors(robot, motion[0][0], motion[1][0], voltage=found.voltage, voltage_times=t, t_eval=t[::100])
    print(f"fed without feedback, it is off by at most {np.abs(moved.q - motion[0][::100]).max():.1e} rad")
    top, bottom = (dal.linearize_motors(robot, [angle]).poles for angle in (np.pi, 0.0))
    print(f"poles standing {np.round(top.real, 2)}, hanging {np.round(bottom.real, 2)} 1/s")
    small = dal.Motor(4.0, 0.04, inductance=1e-3, ratio=k_r, voltage_limit=24.0, continuous_current=1.0, name="small")
    medium = MOTOR.replace(name="medium")
    table = dal.motor_table(robot, *motion[:3], t, qddd=motion[3], motors=[small, medium])
    for demand in table.choices["joint1"]:
        print(f"motor {demand.motor}: {100 * demand.margin:.0f} % left to its limit of {demand.limiting}")
    if len(sys.argv) > 1:
        draw(t, found, sys.argv[1])


def draw(t: np.ndarray, found: dal.NominalVoltage, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, layout="constrained")
    above.plot(t, found.voltage)
    above.set(ylabel="voltage [V]", title="A pendulum swings up: its motor")
    below.plot(t, found.current)
    below.set(xlabel="time [s]", ylabel="current [A]")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
