"""A platform in the plane on three legs of four joints: more freedoms than the platform has [Freeman, Fig. 4-4]."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..mechanism import Mechanism
from ..model import Link, Robot, Tool
from ._pieces import bars, bent, on_circle, pin, planar_body
from ._planar import DOWN

# All numbers are ours: bars of a leg and circles of the pivots [m], bars of 2 kg per metre, platform [kg].
_BARS = (0.4, 0.35, 0.25)
_BASE_RADIUS, _TOP_RADIUS, _MASS = 0.8, 0.15, 1.5
_ANGLES = tuple(np.radians((-150.0, -30.0, 90.0)))
_BENT = 0.7  # [rad] of the first bar of a leg against the line to the middle, where it is assembled


@cache
def six_freedom_planar() -> Mechanism:
    """Three legs of four joints hold a platform in the plane; coordinates: the first joint of each leg, then the second.

    q = (₁φ₁, ₂φ₁, ₃φ₁, ₁φ₂, ₂φ₂, ₃φ₂) [Freeman, Fig. 4-4]. Twelve joints less two loops of three conditions leave six
    freedoms, three more than x, y and yaw of the platform need: `dal.transfer.resolve` chooses among the motions. The numbers
    are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> device = dal.mechanisms.six_freedom_planar()
    >>> task = dal.transfer.rows(dal.influence(device, device.q0, "platform"), [0, 1, 5])
    >>> dal.transfer.right_inverse(task).shape
    (6, 3)
    """
    links, joints = planar_body("platform", _MASS, _MASS * _TOP_RADIUS**2 / 2)
    pins, guess = [], [0.0, 0.0, 0.0]
    for k, angle in enumerate(_ANGLES, 1):
        own_links, own_joints = bars(f"leg{k}", "ground", on_circle(_BASE_RADIUS, angle), _BARS, [2 * length for length in _BARS])
        links, joints = links + own_links, joints + own_joints
        pins.append(pin(f"pin{k}", f"leg{k}_bar3", _BARS[2], "platform", on_circle(_TOP_RADIUS, angle)))
        guess += _bent_leg(angle)
    tree = Robot.from_parts("six_freedom_planar", [Link("ground"), *links], joints, gravity=DOWN, tool=Tool("platform"))
    chosen = [f"leg{k}_{i}" for i in (1, 2) for k in (1, 2, 3)]
    return Mechanism(tree.name, tree, pins, chosen, guess)


def _bent_leg(angle: float) -> list[float]:
    """The angles of a leg that reaches its corner of the platform in the middle: in its own axes x leads inwards."""
    elbow = _BARS[0] * np.cos(_BENT), _BARS[0] * np.sin(_BENT)
    second, third = bent((_BASE_RADIUS - _TOP_RADIUS - elbow[0], -elbow[1]), *_BARS[1:], -1.0)
    return [angle + np.pi + _BENT, second - _BENT, third]
