"""Two fingers hold an object: four drives for three freedoms [Freeman, Eq. 4-76 to 4-85].

    python examples/two_finger_hand.py [figure.png]

A finger follows the object at its contact: J φ̇ = v + θ̇ × r, so that G = J⁻¹ [1, ẑ × r] has the joint rates by those of the object
(4-78). The load T_u at the object can be shared in many ways, Gᵀ T_q = T_u; the least squares are T_q = G (Gᵀ G)⁻¹ T_u (4-85).
What is left is a torque that presses the object and moves nothing. The same is shown for the walking machine.
"""

import sys

import numpy as np
from support.comparison import show

import dalembert as dal


def finger_rates(q1: float, q2: float, first: float, second: float, r: np.ndarray) -> np.ndarray:
    """G of one finger of two bars, its contact at r from the object's origin."""
    s1, s12, c1, c12 = np.sin(q1), np.sin(q1 + q2), np.cos(q1), np.cos(q1 + q2)
    J = np.array([[-first * s1 - second * s12, -second * s12], [first * c1 + second * c12, second * c12]])
    return np.linalg.solve(J, [[1, 0, -r[1]], [0, 1, r[0]]])


def joint_rates(mechanism: dal.Mechanism, q: np.ndarray, chain: str, root: str | None) -> np.ndarray:
    """G of a chain of two bars from the rotations of its links."""
    turn = [dal.influence(mechanism, q, f"{chain}_bar{i}", order=1).G[5] for i in (1, 2)]
    base = 0.0 if root is None else dal.influence(mechanism, q, root, order=1).G[5]
    return np.array([turn[0] - base, turn[1] - turn[0]])


def main() -> None:
    hand = dal.mechanisms.two_finger_hand()
    u, ud, udd = np.array([0.003, 0.077, 0.1]), np.array([0.02, 0.05, -0.3]), np.array([0.5, 1.0, 4.0])
    x = hand.assemble(u).x
    c, s = np.cos(u[2]), np.sin(u[2])
    by_hand = [
        finger_rates(*x[3 + 2 * k : 5 + 2 * k], 0.05, 0.04, side * 0.02 * np.array([c, s])) for k, side in ((0, -1), (1, 1))
    ]
    document = np.vstack(by_hand)
    G = np.vstack([joint_rates(hand, u, f"finger{k}", None) for k in (1, 2)])
    T_u = dal.inverse_dynamics(hand, u, ud, udd)
    least = document @ np.linalg.solve(document.T @ document, T_u)  # (4-85)
    T_q = dal.distribute_load(hand, u, ud, udd).torques
    show("Two-finger hand: G (4-78), least drives (4-85) in N m", {"G": (document, G), "T_q": (least, T_q)})
    squeeze = np.linalg.svd(G.T)[2][-1]
    print(f"load at the object {T_u.round(4)} N, N, N m; a torque along {squeeze.round(3)} only presses it")

    machine = dal.mechanisms.walking_machine()
    q = machine.q0
    G = np.vstack([joint_rates(machine, q, f"leg{k}", "body")[::-1] for k in (1, 2)])  # knee and hip
    weight = dal.gravity_torque(machine, q)
    drives = dal.distribute_load(machine, q, np.zeros(3), np.zeros(3)).torques
    show("Walking machine at rest: its drives carry the weight", {"T_u": (weight, G.T @ drives)}, source="weight")
    print(f"knees and hips: {drives.round(2)} N m")
    if len(sys.argv) > 1:
        axes = dal.plots.skeleton(hand, [hand.q0, u], names=True)
        axes.set_title("Two fingers turn an object")
        axes.figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
