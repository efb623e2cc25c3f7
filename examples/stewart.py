"""A Stewart platform along a motion: lengths and forces of its legs [Freeman, Fig. 4-2].

    python examples/stewart.py [figure.png]

The platform goes to and fro along a slant line, as in Tsai's paper on this platform: x = -1.5 + 0.2 sin ωt, y = 0.2 sin ωt,
z = 1 + 0.2 sin ωt [m] with ω = 3 rad/s. A leg is as long as its ends are apart, which needs nothing but vectors. The forces along
the legs do the work of the forces at the pose: Gᵀ f = T, where G has the lengths by the pose.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal

OMEGA = 3.0  # rad/s


def motion(t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Pose x, y, z, roll, pitch, yaw of the platform and its rates."""
    along, start = np.array([0.2, 0.2, 0.2, 0, 0, 0]), np.array([-1.5, 0, 1, 0, 0, 0])
    s, c = np.sin(OMEGA * t)[:, None], np.cos(OMEGA * t)[:, None]
    return start + s * along, OMEGA * c * along, -(OMEGA**2) * s * along


def legs(platform: dal.Mechanism, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths and directions of the legs while the platform is not turned."""
    lower = np.array([joint.origin[:3, 3] for joint in platform.robot.structure.joints if joint.name.endswith("_x")][1:])
    upper = pose[:3] + [closure.between[1][1][:3, 3] for closure in platform.closures]
    d = upper - lower
    length = np.linalg.norm(d, axis=1)
    return length, d / length[:, None]


def main() -> None:
    platform, driven = dal.mechanisms.stewart("pose"), dal.mechanisms.stewart()
    pose, rate, second = motion(np.linspace(0, 2 * np.pi / OMEGA, 101))
    x = platform.assemble(pose, continuous=True).x
    columns = [driven.robot.joint_names.index(name) for name in driven.joint_names]
    k = 20
    length, u = legs(platform, pose[k])
    show(f"Legs at the pose {pose[k, :3].round(4)}, by vectors (m)", {"length": (length, x[k, columns])}, source="vectors")

    # l̇ = u · v and l̈ = u · a + (v² − l̇²) / l of a point that moves as the platform does, which does not turn
    v, a = rate[k, :3], second[k, :3]
    ld = u @ v
    ldd = u @ a + (v @ v - ld**2) / length
    forces = dal.inverse_dynamics(driven, length, ld, ldd)
    wrench = dal.inverse_dynamics(platform, pose[k], rate[k], second[k])
    show(
        "Forces along the legs do the work of the force at the platform (N)", {"force": (wrench[:3], u.T @ forces)}, source="pose"
    )
    print("along the legs (N):", forces.round(3))
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(platform, pose[:26], trace="platform", ghosts=3)
        axes.set_title("A Stewart platform on its way up")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
