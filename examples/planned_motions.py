"""Three planned motions of the planar arm and their torques [Siciliano, Example 7.2, Figs 7.5-7.11, Problem 7.7].

    python examples/planned_motions.py [figure.png]

Triangular velocities of equal duration; trapezoidal ones, each joint at its own; and a straight line of the tip from (0.2, 0) m
to (1.8, 0) m, taken to the joints by inverse kinematics. In Problem 7.7 the tip pushes its surroundings with (500, 500) N on the
way. The book shows curves; the document's column is (7.82) along closed forms of the motions, at 0.1 s.
"""

import sys
from typing import Any

import numpy as np
from support.comparison import show

import dalembert as dal

ROBOT = dal.robots.two_link_planar()
PUSH = {"tool": [-500.0, -500.0, 0, 0, 0, 0]}  # what the surroundings exert on the arm
START = 2 * np.arccos(0.1) * np.array([-0.5, 1.0])  # the tip at (0.2, 0) m, elbow below
END = 2 * np.arccos(0.9) * np.array([-0.5, 1.0])  # at (1.8, 0) m
SPEED, RISE = 5.0, 0.15  # rad/s or m/s, s


def tip_at(x: float) -> np.ndarray:
    return np.array([[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def planned() -> dict[str, Any]:
    """The motions of Figs 7.5, 7.7 and 7.10."""
    T = dal.trajectory.duration_at(START, END, velocity=SPEED, acceleration_time=RISE)
    T_line = dal.trajectory.duration_at([0.2], [1.8], velocity=SPEED, acceleration_time=RISE)
    share = dal.trajectory.trapezoidal([0.0], [1.0], duration=T_line, acceleration_time=RISE)
    line = dal.trajectory.line(tip_at(0.2), tip_at(1.8), timing=share)
    return {
        "triangular": dal.trajectory.triangular(START, START + np.pi / 2, duration=0.5),
        "trapezoidal": dal.trajectory.trapezoidal(START, END, duration=T, acceleration_time=RISE),
        "straight line": dal.trajectory.follow(ROBOT, line, start=START, directions=("x", "y")),
    }


def book_motion(name: str, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇, q̈ while the velocity still rises, in closed form."""
    if name != "straight line":
        rate = np.full(2, 8 * np.pi) if name == "triangular" else np.sign(END - START) * SPEED / RISE
        return START + rate * t**2 / 2, rate * t, rate
    a = SPEED / RISE
    x, xd, xdd = 0.2 + a * t**2 / 2, a * t, a
    root = np.sqrt(4 - x**2)  # q₂ = 2 arccos(x/2), q₁ = −q₂/2
    half = np.array([-0.5, 1.0])
    return 2 * np.arccos(x / 2) * half, -2 * xd / root * half, -2 * (xdd / root + x * xd**2 / root**3) * half


def book_torque(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """(7.82) with the data of the example."""
    c2, h, c12 = np.cos(q[1]), -25 * np.sin(q[1]), np.cos(q.sum())
    b12 = 10 + 50 * (0.25 + 0.5 * c2) + 1
    b11 = 20 + 12.5 + 100 + 0.01 + 5 + 50 * (1.25 + c2)
    velocity = h * np.array([qd[1] ** 2 + 2 * qd[0] * qd[1], -(qd[0] ** 2)])
    gravity = 9.81 * np.array([80 * np.cos(q[0]) + 25 * c12, 25 * c12])
    return np.array([b11 * qdd[0] + b12 * qdd[1], b12 * qdd[0] + 122.5 * qdd[1]]) + velocity + gravity


def book_push(q: np.ndarray) -> np.ndarray:
    """Jᵀ f."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-s1 - s12, c1 + c12], [-s12, c12]]) @ [500.0, 500.0]


def torques(motion: Any, t: np.ndarray, wrenches: dict[str, list[float]] | None = None) -> np.ndarray:
    at = motion(t)
    return dal.inverse_dynamics(ROBOT, at.q, at.qd, at.qdd, wrenches=wrenches)


def draw(motions: dict[str, Any]) -> Any:
    """A column for each motion: the tip (Fig. 7.9), the joints (7.5, 7.7, 7.10), parts of the torques (7.6, 7.8, 7.11)."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    rows = ["tip", "tip velocity", "tip acceleration", "position", "velocity", "acceleration", "torque", "joint 1", "joint 2"]
    units = ["m", "m/s", "m/s²", "rad", "rad/s", "rad/s²", "kN m", "kN m", "kN m"]
    figure = Figure(figsize=(11.5, 17.5), layout="constrained")
    panels = figure.subplots(len(rows), len(motions), sharex="col", sharey="row", squeeze=False)
    for column, (name, motion) in zip(panels.T, motions.items(), strict=True):
        at = motion.sample(count=601)
        tip = dal.link_motion(ROBOT, at.q, at.qd, at.qdd)
        parts = dal.contributions(ROBOT, at.q, at.qd, at.qdd)
        pushing = dal.inverse_dynamics(ROBOT, at.q, at.qd, at.qdd, wrenches=PUSH)
        place = dal.forward_kinematics(ROBOT, at.q)[:, :2, 3]
        for ax, values in zip(column, (place, tip.velocity[:, :2], tip.acceleration[:, :2], at.q, at.qd, at.qdd), strict=False):
            for k, label in enumerate(("x", "y") if ax in column[:3] else ("joint 1", "joint 2")):
                ax.plot(at.t, values[:, k], color=f"C{k}", linewidth=2.4 - k, label=label)  # equal lines one behind the other
        for k in range(2):
            column[6].plot(at.t, parts.tau[:, k] / 1e3, color=f"C{k}", label=f"joint {k + 1}")
            column[6].plot(at.t, pushing[:, k] / 1e3, color=f"C{k}", linestyle=":", label=f"joint {k + 1}, pushing")
            for number, (part, values) in enumerate(parts.by_cause.items()):
                if values[:, k].any():
                    column[7 + k].plot(at.t, values[:, k] / 1e3, color=f"C{number}", label=part)
        column[0].set_title(name)
        column[-1].set_xlabel("time [s]")
    for row, (label, unit) in zip(panels, zip(rows, units, strict=True), strict=True):
        row[0].set_ylabel(f"{label} [{unit}]")
        row[0].legend(fontsize="x-small", loc="best")
        for ax in row:
            ax.grid(alpha=0.3)
    return figure


def main() -> None:
    motions, t = planned(), np.array([0.1])
    for name, motion in motions.items():
        q, qd, qdd = book_motion(name, 0.1)
        at, free = motion(t), book_torque(q, qd, qdd)
        rows = {"q": (q, at.q[0]), "qd": (qd, at.qd[0]), "qdd": (qdd, at.qdd[0]), "tau": (free, torques(motion, t)[0])}
        rows["tau, pushing"] = (free + book_push(q), torques(motion, t, PUSH)[0])
        show(f"{name.capitalize()}, {motion.duration:.4g} s in all, at 0.1 s", rows)
    if len(sys.argv) > 1:
        draw(motions).savefig(sys.argv[1], dpi=110)


if __name__ == "__main__":
    main()
