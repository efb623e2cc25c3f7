"""Two arms carry a bar: six drives share the load of a motion with three freedoms.

    python examples/sharing_a_load.py [figure.png]

All torques that meet [Freeman, Eq. 4-80] move the bar alike; they differ in how the arms push against each other through it. The
least norm [Freeman, Eq. 4-86] is compared with limits at the drives, with the least largest torque, and with a squeeze.
"""

import sys

import numpy as np

import dalembert as dal
from dalembert import plots


def place(x: float, y: float = 0.0, *, turned: bool = False) -> np.ndarray:
    X = np.diag([-1.0, -1.0, 1.0, 1.0]) if turned else np.eye(4)
    X[:2, 3] = x, y
    return X


def arm(lengths: tuple[float, ...]) -> dal.Robot:
    """Uniform rods of 2 kg per metre, drives of 8 N m."""
    links, joints, before, parent = [dal.Link("base")], [], 0.0, "base"
    for k, length in enumerate(lengths, 1):
        mass = 2.0 * length
        links.append(dal.Link(f"rod{k}", mass, (length / 2, 0, 0), np.diag([0, 1, 1]) * mass * length**2 / 12))
        limits = dal.Limits(effort=8.0)
        joints.append(dal.Joint(f"joint{k}", "continuous", parent, f"rod{k}", origin=place(before), limits=limits))
        before, parent = length, f"rod{k}"
    return dal.Robot.from_parts("arm", links, joints)


bar = dal.free_body(3.0, inertia=(0.01, 0.1, 0.1), planar=True, name="bar")
parts = {"left": arm((0.5, 0.4, 0.2)), "right": arm((0.5, 0.4, 0.2)), "object": bar}
tree = dal.gather("arms", parts, poses={"left": place(-0.6), "right": place(0.6)}, gravity=(0, -9.81, 0))
ends = {"left": place(-0.25), "right": place(0.25, turned=True)}
hands = [
    dal.Closure(f"{side}_hand", "directions", ((f"{side}_rod3", place(0.2)), ("object_bar", end)), directions=("x", "y", "rz"))
    for side, end in ends.items()
]
drives = [f"{side}_joint{k}" for side in ends for k in (1, 2, 3)]
guess = [1.9, -1.3, -0.6, np.pi - 1.9, 1.3, 0.6, 0.0, 0.7, 0.0]
arms = dal.Mechanism("two_arms", tree, hands, ("object_x", "object_y", "object_yaw"), guess, actuated=drives)

t = np.linspace(0, 0.5, 251)
start, end = arms.q0 + np.array([-0.1, -0.1, -0.1]), arms.q0 + np.array([0.15, 0.05, 0.2])
move = dal.trajectory.trapezoidal(start, end, duration=0.5, acceleration_time=0.2)(t)
motion = move.q, move.qd, move.qdd
ways = {
    "least norm": dal.distribute_load(arms, *motion, limits=np.inf),
    "within 8 N m": dal.distribute_load(arms, *motion),
    "least largest": dal.distribute_load(arms, *motion, objective="ratio"),
    "squeeze 30 N": dal.distribute_load(arms, *motion, limits=np.inf, internal=dal.Squeeze("left_hand", "right_hand", 30.0)),
}

print(f"{'':14}{'largest torque':>16}{'mean of u²':>12}{'rows at a limit':>17}{'force, left hand':>18}")
for name, shared in ways.items():
    force = np.linalg.norm(shared.wrenches[:, 0, :3], axis=1).max()
    figures = np.abs(shared.torques).max(), (shared.torques**2).sum(axis=1).mean(), shared.at_limit.any(axis=1).sum(), force
    print(f"{name:14}{figures[0]:>12.2f} N m{figures[1]:>12.1f}{figures[2]:>17}{figures[3]:>16.1f} N")

if len(sys.argv) > 1:
    ax = plots.torques(t, ways["within 8 N m"].torques, names=drives)
    ax.figure.savefig(sys.argv[1], dpi=150)
    print(f"torques within limits are drawn in {sys.argv[1]}")
