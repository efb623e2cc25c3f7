"""Bodies in the plane that two chains of two joints hold or carry: four drives for three freedoms [Freeman, Fig. 4-5]."""

from __future__ import annotations

from functools import cache

from ..mechanism import Mechanism
from ..model import Link, Robot, Tool
from ._pieces import bars, bent, pin, planar_body
from ._planar import DOWN


@cache
def two_finger_hand() -> Mechanism:
    """Two fingers of two joints hold an object at two points; coordinates: x, y, yaw of the object [Freeman, Fig. 4-5].

    The contacts are pins, as long as both fingers press [Freeman, Ch. IV]. Four joints are driven, q = (₁φ₁, ₁φ₂, ₂φ₁, ₂φ₂)
    [Freeman, Eq. 4-76], for three freedoms: how they share the load is one's choice. The plane is upright and the numbers are
    ours: knuckles 60 mm apart, fingers of 50 and 40 mm, an object of 50 g that is 40 mm wide.

    Examples
    --------
    >>> import dalembert as dal
    >>> hand = dal.mechanisms.two_finger_hand()
    >>> hand.joint_names, hand.actuated
    (('object_x', 'object_y', 'object_yaw'), ('finger1_1', 'finger1_2', 'finger2_1', 'finger2_2'))
    """
    apart, lengths, width, mass, height = 0.06, (0.05, 0.04), 0.04, 0.05, 0.075
    links, joints = planar_body("object", mass, mass * width**2 / 6)
    contacts, guess = [], [0.0, height, 0.0]
    for k, side in ((1, -1.0), (2, 1.0)):
        own_links, own_joints = bars(f"finger{k}", "ground", (side * apart / 2, 0.0), lengths, (0.03, 0.02))
        links, joints = links + own_links, joints + own_joints
        contacts.append(pin(f"contact{k}", f"finger{k}_bar2", lengths[1], "object", (side * width / 2, 0)))
        guess += bent((side * (width - apart) / 2, height), *lengths, side)
    tree = Robot.from_parts("two_finger_hand", [Link("ground"), *links], joints, gravity=DOWN, tool=Tool("object"))
    drives = [f"finger{k}_{i}" for k in (1, 2) for i in (1, 2)]
    return Mechanism(tree.name, tree, contacts, ["object_x", "object_y", "object_yaw"], guess, actuated=drives)


@cache
def walking_machine() -> Mechanism:
    """A body on two legs whose feet stand still; coordinates: x, y, yaw of the body [Freeman, Fig. 4-5].

    Hips and knees are driven, q = (₁φ₂, ₁φ₃, ₂φ₂, ₂φ₃), while the feet turn freely on the ground: four drives for three
    freedoms. The numbers are ours: a body of 20 kg and 0.8 m, legs of 0.35 and 0.35 m on hips 0.6 m apart.

    Examples
    --------
    >>> import dalembert as dal
    >>> machine = dal.mechanisms.walking_machine()
    >>> dal.gravity_torque(machine, machine.q0).round(2)[1]  # the weight of the body and a part of that of the legs [N]
    np.float64(227.76)
    """
    length, mass, lengths, height = 0.8, 20.0, (0.35, 0.35), 0.6
    links, joints = planar_body("body", mass, mass * length**2 / 12)
    feet, guess = [], [0.0, height, 0.0]
    for k, (hip, foot) in enumerate(((-0.3, -0.25), (0.3, 0.35)), 1):
        own_links, own_joints = bars(f"leg{k}", "body", (hip, 0.0), lengths, (2.0, 1.0))
        links, joints = links + own_links, joints + own_joints
        feet.append(pin(f"foot{k}", f"leg{k}_bar2", lengths[1], "world", (foot, 0)))
        guess += bent((foot - hip, -height), *lengths, -1.0)
    tree = Robot.from_parts("walking_machine", [Link("ground"), *links], joints, gravity=DOWN, tool=Tool("body"))
    drives = [f"leg{k}_{i}" for k in (1, 2) for i in (2, 1)]  # knee, then hip, as the leg is counted from the ground
    return Mechanism(tree.name, tree, feet, ["body_x", "body_y", "body_yaw"], guess, actuated=drives)
