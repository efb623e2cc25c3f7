"""A platform held by six arms of six joints: Freeman's way, leg by leg, and as a mechanism [Freeman, Eq. 4-42 to 4-62].

    python examples/six_joint_legs.py [figure.png]

Each leg is modelled by itself in its six joints φ, and transferred to the velocity w of the platform's centre. There all legs and
the platform add up, and the sum is transferred to the coordinates of one's choice, here the first joint of each leg (4-55):

    I_ww = I + Σ G⁻ᵀ I_φφ G⁻¹          I_qq = G_wq⁻ᵀ I_ww G_wq⁻¹

and so on for P* and the loads. The mechanism has the same legs welded to the platform, and knows nothing of this.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal
from dalembert import transfer


def leg(mechanism: dal.Mechanism) -> dal.Robot:
    """The second leg by itself, its base turned so that x leads outwards; all legs are alike."""
    names = [f"leg2_{i}" for i in range(1, 7)]
    joints = [joint for joint in mechanism.robot.structure.joints if joint.name in names]
    origin = np.eye(4)
    origin[0, 3] = np.hypot(*joints[0].origin[:2, 3])
    links = [link for link in mechanism.robot.parameters.links if link.name.startswith("leg2")]
    return dal.Robot.from_parts("leg", [dal.Link("base"), *links], [joints[0].replace(origin=origin), *joints[1:]])


def turned(angle: float) -> np.ndarray:
    """[v; ω] in the world from those in the axes of a leg's base."""
    c, s = np.cos(angle), np.sin(angle)
    return np.kron(np.eye(2), [[c, -s, 0], [s, c, 0], [0, 0, 1]])


def shifted(r: np.ndarray) -> dal.Influence:
    """[v; ω] of a point that is r away from another of the same body: v + ω × r, and ω × (ω × r) in the acceleration."""
    e, G, H = np.eye(3), np.eye(6), np.zeros((6, 6, 6))
    G[:3, 3:] = np.cross(e, r).T
    H[:3, 3:, 3:] = np.array([[np.cross(e[n], np.cross(e[m], r)) for n in range(3)] for m in range(3)]).transpose(2, 0, 1)
    return dal.Influence(G, H)


def main() -> None:
    mechanism = dal.mechanisms.stewart_six_joint_legs()
    q = mechanism.q0 + np.array([0.05, -0.03, 0.04, 0.06, -0.05, 0.02])
    phi = mechanism.assemble(q).x.reshape(6, 6)
    pose = dal.forward_kinematics(mechanism, q)  # of the platform's centre
    robot = leg(mechanism)
    alone, hand = transfer.open_chain(robot, phi), dal.influence(robot, phi)  # all six legs at once
    disc = next(link for link in mechanism.robot.parameters.links if link.name == "platform")
    whole = transfer.platform(disc.mass, pose[:3, :3] @ disc.inertia @ pose[:3, :3].T, gravity=mechanism.robot.gravity)
    firsts = []
    places = [np.zeros(3), *(closure.between[1][1][:3, 3] for closure in mechanism.closures)]
    starts = [joint.origin for joint in mechanism.robot.structure.joints if joint.name.endswith("_1")]
    for k in range(6):
        r = pose[:3, :3] @ (disc.com - places[k])  # from the hand to the centre
        angle = np.arctan2(starts[k][1, 0], starts[k][0, 0])
        w = transfer.compose(shifted(r), transfer.compose(transfer.linear(turned(angle)), (hand.G[k], hand.H[k])))
        own = transfer.DynamicModel(alone.I[k], alone.P[k], alone.T[k])
        whole = whole + transfer.transferred(own, w)  # (4-48), (4-49)
        firsts.append(transfer.rows(transfer.inverse(w), [0]))  # (4-59), (4-60)
    model = transfer.transferred(whole, transfer.stack(*firsts))  # (4-62)

    qd, qdd = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2]), np.array([1.0, 0.5, -2.0, 0.3, 0.0, 1.5])
    rest = np.zeros(6)
    gravity, pushed = dal.inverse_dynamics(mechanism, q, rest, [rest, [1, 0, 0, 0, 0, 0]])
    rows = {
        "I, first column": (model.I[:, 0], pushed - gravity),
        "gravity": (-model.T, gravity),
        "torque": (model.torque(qd, qdd), dal.inverse_dynamics(mechanism, q, qd, qdd)),
    }
    show("Six arms on one platform, at their first joints", rows)
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(mechanism, q)
        axes.set_title("Six arms of six joints hold a platform")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
