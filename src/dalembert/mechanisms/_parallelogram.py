"""The parallelogram arm, whose closures are linear in its joints."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..mechanism import Mechanism
from ..model import Link, Robot
from ..model.closures import Closure
from ..model.position_functions import JointSum
from ._planar import DOWN, Bar, hang

SIDES = (0.5, 0.4)  # a1' = a3' and a1'' = a2' [m]; opposite sides are alike


@cache
def parallelogram(*, decoupled: bool = False, pinned: bool = False) -> Mechanism:
    """The parallelogram arm, cut open at its last joint; coordinates: the angles of both cranks [Siciliano, §7.3.3].

    The document has symbols alone; the numbers are ours. Its links 1', 2', 3', 1'' are `link1` to `link4` here, the last one on
    a joint of its own beside the first. The loop is closed by θ2' = θ1'' − θ1' and θ3' = π − θ1'' + θ1', which is linear, so
    that `dal.equations` has a closed form.

    Parameters
    ----------
    decoupled : bool
        Choose the mass of link 3' so that m3' (l3' − a1') / (m2' l2') = a1' / a1'': then the arm's inertia is constant and
        decoupled, and there are no Coriolis torques.
    pinned : bool
        Close the loop by the pin that was cut, between links 3' and 1'', and not by angles: the same arm, whose
        `constraint_forces` are those at the pin, but no closed form.

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.mechanisms.parallelogram(decoupled=True)
    >>> bool(abs(dal.coriolis_matrix(arm, [1.1, 0.3], [2.0, 3.0])).max() < 1e-12)
    True
    """
    a1, a2 = SIDES
    mass3 = 5.0 * 0.15 * a1 / (a2 * (0.7 - a1)) if decoupled else 2.0
    bars = [
        Bar("link1", "joint1", (0, 0), 6.0, (0.2, 0), 0.3),
        Bar("link2", "joint2", (a1, 0), 5.0, (0.15, 0), 0.2),
        Bar("link3", "joint3", (a2, 0), mass3, (0.7, 0), 0.1),
    ]
    crank = Bar("link4", "joint4", (0, 0), 3.0, (0.25, 0), 0.15)
    links, joints = hang("ground", bars)
    joints.append(crank.joint_on("ground"))
    name = "decoupled_parallelogram" if decoupled else "parallelogram"
    tree = Robot.from_parts(name, [Link("ground"), *links, crank.link()], joints, gravity=DOWN)
    return Mechanism(name, tree, (_pin() if pinned else _angles(),), ("joint1", "joint4"), (1.1, -0.8, np.pi + 0.8, 0.3))


def _angles() -> Closure:
    turns = (
        (JointSum({"joint1": 1.0, "joint2": 1.0, "joint4": -1.0}), 0.0),
        (JointSum({"joint2": 1.0, "joint3": 1.0}), np.pi),
    )
    return Closure("loop", "function", functions=turns)


def _pin() -> Closure:
    ends = ("link4", (SIDES[1], 0, 0)), ("link3", (SIDES[0], 0, 0))
    return Closure("pin", "directions", ends, directions=("x", "y"))
