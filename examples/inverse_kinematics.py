"""Joint positions for poses: a thousand at once, all branches of one, a drill that may turn, a circle drawn by a Panda.

    python examples/inverse_kinematics.py [figure.png]

The search is one compiled kernel with a lane for each pose; arms whose axes show a known kind also have closed forms. The figure
shows the eight branches of a PUMA 560, and the Panda along its circle.
"""

import sys
import warnings

import numpy as np

import dalembert as dal


def many_poses(arm: dal.Robot) -> None:
    """Random reachable poses, and two that are not."""
    ends = [(joint.limits.lower, joint.limits.upper) for joint in arm.structure.coordinates]
    q = np.random.default_rng(0).uniform(*np.transpose(ends), (1000, arm.n))
    wanted = dal.forward_kinematics(arm, q)
    wanted[10, :3, 3], wanted[20, 0, 0] = [2.0, 0.0, 0.0], np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)  # the message below says the same
        found = dal.inverse_kinematics(arm, wanted)
    print(f"{np.count_nonzero(found.success)} of 1000 poses reached, {found.turns.mean():.0f} turns and", end=" ")
    print(f"{found.attempts.mean():.1f} starts for each")
    for row in (10, 20):
        print(f"row {row}: {found.row_message(row)}")


def all_branches(arm: dal.Robot) -> dal.Branches:
    """Every solution of one pose of an arm with a spherical wrist."""
    found = dal.inverse_branches(arm, dal.forward_kinematics(arm, [0.4, -0.6, 0.3, 0.5, 0.9, -0.2]), limits=False)
    print(f"\n{arm.name}: {found.kind}, {found.count} branches [deg]")
    for row in np.degrees(found.q[found.valid]):
        print("".join(f"{angle:9.2f}" for angle in row))
    return found


def circle(arm: dal.Robot) -> np.ndarray:
    """A drill along a circle, which may turn about its own axis; then the same path with the tool held."""
    start = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.6, 0.8])
    home = dal.forward_kinematics(arm, start)
    angle = np.linspace(0.0, 2.0 * np.pi, 121)
    path = np.tile(home, (121, 1, 1))
    path[:, 0, 3] += 0.12 * (np.cos(angle) - 1.0)
    path[:, 1, 3] += 0.12 * np.sin(angle)
    for title, directions in (("drill", ("x", "y", "z", "rx", "ry")), ("held tool", None)):
        found = dal.inverse_kinematics(arm, path, q0=start, continuous=True, frame="body", directions=directions)
        step = np.abs(np.diff(found.q, axis=0)).max()
        print(f"{title:>10}: {found.message} largest step {step:.4f} rad, ends {np.abs(found.q[-1] - start).max():.3f} rad away")
    return found.q


def second_goals(arm: dal.Robot) -> None:
    """What seven joints do with their freedom at one pose."""
    ready = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.6, 0.8])
    wanted = dal.forward_kinematics(arm, [0.5, 0.2, -0.3, -1.5, 0.4, 1.9, 0.1])
    print("\nsecond goal       distance from the start   manipulability")
    for goal in (None, "near", "limits", "manipulability"):
        q = dal.inverse_kinematics(arm, wanted, q0=ready, secondary=goal).q
        J = dal.jacobian(arm, q)
        print(f"{goal or 'none':<16}{np.linalg.norm(q - ready):>25.4f}{np.sqrt(np.linalg.det(J @ J.T)):>17.4f}")


def main() -> None:
    panda, puma = dal.robots.panda(), dal.robots.puma560()
    many_poses(panda)
    branches = all_branches(puma)
    print("\na circle of the Panda")
    q = circle(panda)
    second_goals(panda)
    if len(sys.argv) > 1:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(12, 5.5))
        left, right = (figure.add_subplot(1, 2, k, projection="3d") for k in (1, 2))
        dal.plots.skeleton(puma, branches.q, view=(25.0, -60.0), legend=False, ax=left)
        dal.plots.skeleton(panda, q, view=(25.0, -60.0), trace="tool", legend=False, ghosts=6, ax=right)
        left.set_title("PUMA 560: all branches of a pose")
        right.set_title("Panda: a circle with the tool held")
        figure.savefig(sys.argv[1], dpi=110)


if __name__ == "__main__":
    main()
