"""A delta robot: where the platform is by three spheres, and what the motors need for a pick and place.

    python examples/delta.py [figure.png]

The elbows, moved inwards by the platform's radius, are the middles of three spheres with the rods' length as radius; the platform
is at the lower of the two points where they meet. Dimensions are those of an ABB FlexPicker, for which [Williams2016] prints the
motor angles of two poses.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

BASE, PLATFORM, ARM, ROD = 0.164, 0.044, 0.524, 1.244  # m
DIRECTIONS = np.radians([-90.0, 30.0, 150.0])
PUBLISHED = {(0.0, 0.0, -0.9): (-20.5, -20.5, -20.5), (0.3, 0.5, -1.1): (47.5, -11.6, 21.4)}  # point [m]: motors [deg]


def three_spheres(q: np.ndarray) -> np.ndarray:
    """The lower point at a rod's length from all three middles."""
    radius = BASE - PLATFORM + ARM * np.cos(q)
    middles = np.column_stack([radius * np.cos(DIRECTIONS), radius * np.sin(DIRECTIONS), -ARM * np.sin(q)])
    # |p − m|² = l² for three middles: differences are linear, p = foot + s · normal
    A = 2 * (middles[1:] - middles[0])
    b = (middles[1:] ** 2).sum(axis=1) - (middles[0] ** 2).sum()
    normal = np.cross(A[0], A[1])
    normal /= np.linalg.norm(normal)
    foot = np.linalg.lstsq(A, b, rcond=None)[0]
    d = foot - middles[0]
    roots = np.roots([1.0, 2 * d @ normal, d @ d - ROD**2])
    return min((foot + s * normal for s in roots.real), key=lambda p: p[2])


def gate(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times and motion of the platform from one side to the other over a height of 0.15 m, in half a second."""
    t, T = np.linspace(0, 0.5, count), 0.5
    s = t / T
    blend = 10 * s**3 - 15 * s**4 + 6 * s**5
    rate, second = (30 * s**2 - 60 * s**3 + 30 * s**4) / T, (60 * s - 180 * s**2 + 120 * s**3) / T**2
    x, z = 0.6 * blend - 0.3, 0.15 * 4 * blend * (1 - blend)
    point = np.column_stack([x, 0.1 * np.ones(count), z - 1.1])
    v = np.column_stack([0.6 * rate, np.zeros(count), 0.6 * rate * (1 - 2 * blend)])
    a = np.column_stack([0.6 * second, np.zeros(count), 0.6 * (second * (1 - 2 * blend) - 2 * rate**2)])
    return t, point, v, a


def main() -> None:
    robot, at_point = dal.mechanisms.delta(), dal.mechanisms.delta("point")
    for point, degrees in PUBLISHED.items():
        found = np.degrees(at_point.assemble(point).x[[3, 6, 9]])
        print(f"platform at {point}: motors {found.round(1)} deg, published {degrees}")
    q = np.array([0.1, 0.4, -0.2])
    show("Platform by three spheres (m)", {"p": (three_spheres(q), robot.assemble(q).x[:3])}, source="spheres")

    _, point, v, a = gate(201)
    x = at_point.assemble(point, continuous=True).x
    force = dal.inverse_dynamics(at_point, point, v, a)
    k = 60
    G = dal.influence(robot, x[k, [3, 6, 9]], "platform", order=1, kind="point").G
    motor = G.T @ force[k]
    print(f"after {k / 400:.2f} s the motors need {motor.round(2)} N m, while the platform moves at {v[k].round(2)} m/s")
    power = {"power": (force[k] @ v[k], motor @ np.linalg.solve(G, v[k]))}
    show("Power at the platform and at the motors (W)", power, source="platform")
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(robot, x[::10][:, [3, 6, 9]], trace="platform", ghosts=3)
        axes.set_title("A delta robot picks and places")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
