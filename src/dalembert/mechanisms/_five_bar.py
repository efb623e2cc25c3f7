"""The planar five-bar linkage."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..checks import FloatArray, choice
from ..mechanism import Mechanism
from ..model import Joint, Link, Robot, Tool
from ..model.closures import Closure
from ..model.position_functions import Chosen, JointSum
from ._planar import INCH, POUND_FORCE, Bar, shift, with_massless_links

# Lengths of links 1 to 4 and the posture, read from Tables C-1 and C-2 [Freeman, Appendix C].
LENGTHS = tuple(length * INCH for length in (12.0, 24.0, 24.0, 12.0))
POSTURE = (70.0, -35.0, -100.0, -25.0)  # φ1 ... φ4 [deg]
# Fitted to the printed digits of Tables C-2 and C-3: link 2 has 2 lb in its middle, links 3 and 4 have no mass.
MASS_2 = 0.00517556 * POUND_FORCE / INCH  # printed in lbf s²/in
MOMENT_1, MOMENT_2 = 0.000234 * POUND_FORCE * INCH, 0.0621986 * POUND_FORCE * INCH  # of link 1 about its joint, lbf s² in
JOINTS = ("joint1", "joint2", "joint3", "joint4", "joint5")


@cache
def five_bar(coordinates: tuple[str, str] = ("joint1", "joint5")) -> Mechanism:
    """The planar five-bar linkage of Tables C-1 to C-3, driven at any two of its joints [Freeman, Appendix C].

    The numbers are those of the document, in inches and pounds of force there, in SI units here; without gravity. Links 1 to 4
    hang one on the other; the end of link 4 is pinned to the ground at h. Joints 1 to 4 are the relative angles φ, and joint 5,
    at h, is the angle of link 4 in the plane, θ of (C-2).

    Parameters
    ----------
    coordinates : pair of str
        Two of 'joint1' ... 'joint5'.

    Examples
    --------
    >>> import dalembert as dal
    >>> linkage = dal.mechanisms.five_bar()
    >>> inch_pound = 0.0254 * 4.4482216  # N m
    >>> (dal.inverse_dynamics(linkage, linkage.q0, [2, 3], [1, 0.5]) / inch_pound).round(5)
    array([ 0.05077, -0.82592])
    """
    for joint in coordinates:
        choice("coordinate: joint", joint, dict.fromkeys(JOINTS))
    angle_4 = Chosen("joint5", JointSum(dict.fromkeys(JOINTS[:4], 1.0)))
    chosen = tuple(angle_4 if joint == "joint5" else joint for joint in coordinates)
    posture = np.radians(POSTURE)
    pin = Closure("h", "directions", (("world", (*_end(posture), 0)), ("link4", (LENGTHS[3], 0, 0))), directions=("x", "y"))
    return Mechanism("five_bar", _chain(), (pin,), chosen, posture)


def _chain() -> Robot:
    """The open chain, its tool at h."""
    # The first link turns about a fixed axis: its mass, which has no effect in the middle of it, only makes it a body.
    first = Bar("link1", JOINTS[0], (0, 0), MASS_2, (0, 0), MOMENT_1)
    second = Bar("link2", JOINTS[1], (LENGTHS[0], 0), MASS_2, (LENGTHS[1] / 2, 0), MOMENT_2)
    joints = [first.joint_on("ground"), second.joint_on("link1")]
    for k in (3, 4):
        joints.append(Joint(JOINTS[k - 1], "continuous", f"link{k - 1}", f"link{k}", origin=shift(LENGTHS[k - 2], 0)))
    links = [Link("ground"), first.link(), second.link(), Link("link3", virtual=True), Link("link4", virtual=True)]
    return with_massless_links("five_bar", links, joints, gravity=(0, 0, 0), tool=Tool("link4", shift(LENGTHS[3], 0)))


def _end(posture: FloatArray) -> tuple[float, float]:
    """Where h is in this posture."""
    angles = np.cumsum(posture)
    return float(np.dot(LENGTHS, np.cos(angles))), float(np.dot(LENGTHS, np.sin(angles)))
