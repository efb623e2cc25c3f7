"""Bricard's linkage: six bars in a loop that moves though counting says it should not."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..checks import FloatArray
from ..mechanism import Mechanism
from ..model import Joint, Link, Robot
from ..model.closures import Closure

BAR = 1.0  # [m]
MASS, THICKNESS = 10.0, 0.1  # of a bar with square section [kg], [m]


@cache
def bricard() -> Mechanism:
    """Bricard's trihedral linkage of six equal bars, over-closed but mobile; coordinate: its first joint [Freeman, Appendix D].

    Six revolute joints, each at a right angle to the next (twists +90° and −90° in turn), with bars of 1 m between them and no
    offsets along the axes. Such a loop has a freedom, though six links and six joints in space count to none: of the five
    conditions that its last joint holds, one depends on the others. The document gives no dimensions; the masses are ours.

    Five bars hang one on the other, and the sixth is the ground. The end of the fifth turns about the last axis.

    Examples
    --------
    >>> import dalembert as dal
    >>> linkage = dal.mechanisms.bricard()
    >>> linkage.n, len(linkage.rows), len(linkage.plan.dependent)
    (1, 5, 1)
    """
    inertia = np.diag([2 * THICKNESS**2, BAR**2 + THICKNESS**2, BAR**2 + THICKNESS**2]) * MASS / 12
    names = [f"bar{k}" for k in range(1, 6)]
    links = [Link(name, MASS, np.array([BAR / 2, 0, 0]), inertia) for name in names]
    joints = [
        Joint(f"joint{k}", "continuous", parent, child, origin=_step(k) if k > 1 else np.eye(4))
        for k, (parent, child) in enumerate(zip(["ground", *names], names, strict=False), 1)
    ]
    tree = Robot.from_parts("bricard", [Link("ground"), *links], joints)
    # The ground is the sixth bar: the last axis is where a step back from the first one leads.
    last = Closure("joint6", "revolute", (("world", np.linalg.inv(_step(1))), ("bar5", _step(6))))
    return Mechanism("bricard", tree, (last,), ("joint1",), np.radians([60, -109.5, 60, -109.5, 60]))


def _step(k: int) -> FloatArray:
    """From the axis of joint k − 1 to that of joint k: along a bar, and a quarter of a turn about it, this way or that."""
    X = np.eye(4)
    sign = 1.0 if k % 2 == 0 else -1.0
    X[1:3, 1:3] = [[0.0, -sign], [sign, 0.0]]
    X[0, 3] = BAR
    return X
