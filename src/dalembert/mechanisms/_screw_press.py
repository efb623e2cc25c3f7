"""A press whose ram is driven by a motor over belt, gear and screw."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..mechanism import Mechanism
from ..model import Friction, Joint, Link, Robot, Tool
from ..model.closures import Closure
from ._planar import shift

# All numbers are ours: ratios of belt and gear, lead of the thread per turn [m].
BELT, GEAR, LEAD = 2.5, 3.0, 0.012


@cache
def screw_press() -> Mechanism:
    """A press: a motor drives a countershaft by a belt, this the spindle by gears, and the spindle a ram; coordinate: the motor.

    One turn of the spindle moves the ram by 12 mm: the motor turns 2.5 · 3 times for it. The ram slides in the guides of the
    frame, which hold four directions that the thread holds as well: these are left out by themselves. The numbers are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> press = dal.mechanisms.screw_press()
    >>> (1e3 * press.assemble([7.5]).x[3]).round(6)  # the ram goes down [mm]
    np.float64(-1.909859)
    """
    shafts = (("motor", -0.4, 0.002, 0.5), ("countershaft", -0.2, 0.02, 3.0), ("spindle", 0.0, 0.05, 12.0))
    links, joints = [Link("frame")], []
    for name, x, moment, mass in shafts:
        links.append(Link(f"{name}_wheel", mass, np.zeros(3), np.diag([moment / 2, moment / 2, moment])))
        joints.append(Joint(name, "continuous", "frame", f"{name}_wheel", origin=shift(x, 0, 0.8)))
    links.append(Link("ram", 60.0, np.zeros(3), np.diag([0.8, 0.8, 0.5])))
    joints.append(Joint("slide", "prismatic", "frame", "ram", origin=shift(0, 0, 0.5)))
    friction = {"slide": Friction(viscous=400.0), "spindle": Friction(viscous=0.2)}
    tree = Robot.from_parts("screw_press", links, joints, friction=friction, tool=Tool("ram"))
    closures = [
        Closure("belt", "belt", ("motor", "countershaft"), ratio=BELT),
        Closure("gears", "gear", ("countershaft", "spindle"), ratio=-GEAR),
        Closure("thread", "screw", (("spindle_wheel", (0, 0, -0.3)), "ram"), pitch=-LEAD),
    ]
    return Mechanism("screw_press", tree, closures, ["motor"])
