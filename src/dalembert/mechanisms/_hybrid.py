"""A parallel mechanism that carries a serial one [Freeman, Fig. 4-3]."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..mechanism import Mechanism
from ..model import Joint, Link, Robot, Tool
from ._pieces import bars, bent, on_circle, pin, planar_body, thin_rod
from ._planar import shift

# All numbers are ours: legs and circles of the pivots [m], bars of 4 kg per metre, platform [kg].
_BARS = (0.3, 0.3)
_BASE_RADIUS, _TOP_RADIUS, _MASS = 0.5, 0.12, 4.0
_ANGLES = tuple(np.radians((-150.0, -30.0, 90.0)))
# The arm on the platform: column, upper arm, forearm [m], links [kg].
_COLUMN, _UPPER, _FORE, _UPPER_MASS, _FORE_MASS, _HAND_MASS = 0.1, 0.35, 0.3, 1.5, 1.0, 0.4
_LIFTED = (-0.8, 1.2, 0.0)  # [rad] of the arm's joints where it is assembled
_Y = np.array([0.0, 1.0, 0.0])


@cache
def hybrid() -> Mechanism:
    """A platform on three legs in a level plane, with an arm of three joints on it; coordinates: ₁φ₁, ₂φ₁, ₃φ₁, φ₄, φ₅, φ₆.

    These are the coordinates of [Freeman, Fig. 4-3]: the first joint of each of three branches, then three joints in a row. The
    figure itself is not in the text; branches of three joints which leave three freedoms are parallel in a plane, as those of
    App. E. Legs turn about the upright z, so the platform moves in x, y and yaw; φ₄ and φ₅ lift the arm, φ₆ turns its hand.
    The numbers are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.mechanisms.hybrid(), dal.mechanisms.hybrid().q0).round(3) + 0.0
    array([ 0.   ,  0.   ,  0.   , -7.583, -2.44 ,  0.   ])
    """
    links, joints = planar_body("platform", _MASS, _MASS * _TOP_RADIUS**2 / 2)
    arm_links, arm_joints = _arm()
    links, joints = links + arm_links, joints + arm_joints
    pins, guess = [], [0.0, 0.0, 0.0, *_LIFTED]
    first, second = bent((_BASE_RADIUS - _TOP_RADIUS, 0.0), *_BARS, -1.0)
    for k, angle in enumerate(_ANGLES, 1):
        own_links, own_joints = bars(f"leg{k}", "ground", on_circle(_BASE_RADIUS, angle), _BARS, [4 * length for length in _BARS])
        links, joints = links + own_links, joints + own_joints
        pins.append(pin(f"pin{k}", f"leg{k}_bar2", _BARS[1], "platform", on_circle(_TOP_RADIUS, angle)))
        guess += [angle + np.pi + first, second]
    tree = Robot.from_parts("hybrid", [Link("ground"), *links], joints, tool=Tool("hand", shift(_FORE, 0)))
    chosen = ["leg1_1", "leg2_1", "leg3_1", "arm_4", "arm_5", "arm_6"]
    return Mechanism("hybrid", tree, pins, chosen, guess)


def _arm() -> tuple[list[Link], list[Joint]]:
    """Two joints about y, then one along the forearm; links are thin rods along x, the hand a small ball."""
    links = [
        Link("upper_arm", _UPPER_MASS, np.array([_UPPER / 2, 0, 0]), thin_rod(_UPPER_MASS, _UPPER, "x")),
        Link("forearm", _FORE_MASS, np.array([_FORE / 2, 0, 0]), thin_rod(_FORE_MASS, _FORE, "x")),
        Link("hand", _HAND_MASS, np.array([_FORE, 0, 0]), 4e-4 * np.eye(3)),
    ]
    joints = [
        Joint("arm_4", "continuous", "platform", "upper_arm", origin=shift(0, 0, _COLUMN), axis=_Y),
        Joint("arm_5", "continuous", "upper_arm", "forearm", origin=shift(_UPPER, 0), axis=_Y),
        Joint("arm_6", "continuous", "forearm", "hand", axis=np.array([1.0, 0, 0])),
    ]
    return links, joints
