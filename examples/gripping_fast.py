"""How fast a hand can move what it holds: two fingers, four drives, and friction that must not be asked for too much.

    python examples/gripping_fast.py [figure.png]

With the body glued to the fingers, only torques limit the motion. Held by friction, the fingers have to squeeze, which takes up
torque, and the fastest motion has as much squeeze as it needs at every place. Prints the times for several coefficients of
friction; draws speeds and what is in use of limits.
"""

import sys

import numpy as np

import dalembert as dal

hand = dal.mechanisms.two_finger_hand()
way = [hand.q0, hand.q0 + np.array([0.01, 0.005, 0.05])]  # m, m, rad
given = {"torque": 0.5, "intervals": 200}  # torque in N m


def contacts(friction: float) -> dict[str, dal.Contact]:
    """Both fingers push inwards."""
    return {name: dal.Contact((x, 0, 0), friction) for name, x in (("contact1", 1), ("contact2", -1))}


glued = dal.fastest_timing(hand, way, **given)
print(f"glued           {1e3 * float(glued.duration):6.2f} ms")
for friction in (2.0, 1.0, 0.5, 0.25):
    held = dal.fastest_timing(hand, way, contacts=contacts(friction), **given)
    at = held.motion.sample(count=200)
    shared = dal.distribute_load(hand, at.q, at.qd, at.qdd, objective="ratio", limits=0.5, contacts=contacts(friction))
    squeeze = np.linalg.norm(shared.wrenches[:, :, :3], axis=-1).max()
    print(f"friction {friction:5.2f}  {1e3 * float(held.duration):6.2f} ms, forces up to {squeeze:4.1f} N")

if len(sys.argv) > 1:
    dal.plots.timing(held)[0].figure.savefig(sys.argv[1], dpi=130)
    print(f"the slowest of them is drawn in {sys.argv[1]}")
