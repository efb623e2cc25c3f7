"""Parts of a mechanism from a file that names too little: as many coordinates as freedoms, and a guess from which it closes."""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray
from ..dynamics.robot_system import RobotSystem
from ..errors import DalembertWarning, tell
from ..model.closures import Closure
from ..model.mechanism_parts import MechanismParts
from ..wording import listed
from .half_turns import turned
from .numeric import Nearest, NumericEquations, nearest, rank_of, telling_joints

_CLOSED = 1e-9  # [m | rad]


def extended(parts: MechanismParts) -> MechanismParts:
    """The parts with as many more joints for coordinates as the mechanism has further freedoms, near closed positions.

    Those are taken that move most while the others rest, so that they are far from depending on them. A warning names them.
    """
    parts = parts._replace(guess=_unturned_guess(parts))
    found = _closed_near(parts)
    if np.abs(found.residual).max(initial=0.0) > _CLOSED:
        return parts  # it cannot be closed, which will be said when it is built
    first = [str(name) for name in parts.coordinates]
    more = _further_joints(parts, found.x, first)
    if more:
        _warn(parts, first, more)
    return parts._replace(coordinates=(*first, *more))


def _unturned_guess(parts: MechanismParts) -> FloatArray:
    """The guess, with half a turn at one end of each closure that would otherwise be met with its frames half a turn apart."""
    x = _closed_near(parts).x
    guess = np.array(parts.guess, dtype=float)
    for closure in parts.closures:
        if turned(RobotSystem(parts.robot).tree, closure, x):
            _turn_one_end(parts, closure, guess)
    return guess


def _turn_one_end(parts: MechanismParts, closure: Closure, guess: FloatArray) -> None:
    """Half a turn at the joint that carries one of its links, if that turns."""
    carriers = {joint.child: joint.name for joint in parts.robot.structure.joints if joint.turns}
    names = [carriers[link] for link in closure.links if carriers.get(link) in parts.robot.joint_names]
    if names:
        guess[parts.robot.joint_names.index(names[0])] += np.pi


def _equations(parts: MechanismParts) -> tuple[NumericEquations, FloatArray]:
    rows = [row for closure in parts.closures for row in closure.rows]
    functions = [row.function for row in rows]
    return NumericEquations(RobotSystem(parts.robot).tree, functions), np.array([row.value for row in rows])


def _closed_near(parts: MechanismParts) -> Nearest:
    equations, values = _equations(parts)
    return nearest(equations, values, parts.guess)


def _further_joints(parts: MechanismParts, x: FloatArray, first: list[str]) -> list[str]:
    """Joints that tell what the first ones leave open."""
    names = list(parts.robot.joint_names)
    J = _equations(parts)[0](x)[1]
    more = telling_joints(rank_of(J).lost_columns, [names.index(name) for name in first])
    return [names[k] for k in more]


def _warn(parts: MechanismParts, first: list[str], more: list[str]) -> None:
    tell(
        DalembertWarning(
            f"mechanism {parts.name!r}: {len(first) + len(more)} freedoms found, but {len(first)} joints with a drive "
            f"({listed(first)}), so {listed(more)} became {'a coordinate' if len(more) == 1 else 'coordinates'} too.",
            "added-coordinates",
        )
    )


__all__ = ["extended"]
