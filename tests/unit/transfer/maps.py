"""Maps that tests of the transfer share: two functions that undo each other, and a curved one of any number of coordinates."""

from __future__ import annotations

from typing import Any

from dalembert.dynamics import engine
from dalembert.dynamics.system import Coordinate
from dalembert.dynamics.transferred import Transferred
from dalembert.expr import ops
from dalembert.model import Robot
from dalembert.transfer import CoordinateMap

SPHERICAL = CoordinateMap(
    lambda p: [
        ops.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]),
        ops.atan2(ops.sqrt(p[0] * p[0] + p[1] * p[1]), p[2]),
        ops.atan2(p[1], p[0]),
    ],
    3,
)
CARTESIAN = CoordinateMap(
    lambda s: [
        s[0] * ops.sin(s[1]) * ops.cos(s[2]),
        s[0] * ops.sin(s[1]) * ops.sin(s[2]),
        s[0] * ops.cos(s[1]),
    ],
    3,
)


def bent(u: Any) -> list[Any]:
    """Old coordinates of new ones: each with a share of the square of the next, so that nothing is linear or separate."""
    n = len(u)
    return [u[k] + 0.2 * u[(k + 1) % n] * u[(k + 1) % n] + 0.1 * u[k] * u[k - 1] for k in range(n)]


def in_new_coordinates(robot: Robot) -> Transferred:
    """The robot as a system in coordinates u with q = bent(u), compiled in them."""
    return Transferred(engine.tree_system(robot), [Coordinate(f"u{k}") for k in range(robot.n)], bent)


def end_of(robot: Robot) -> str:
    """The last link of a chain, which every joint moves; a random robot has its tool anywhere."""
    return robot.parameters.links[-1].name
