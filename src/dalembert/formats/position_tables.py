"""Functions of positions out of tables: what coordinates and closures of the type 'function' are made of."""

from __future__ import annotations

from collections.abc import Callable

from ..checks import FloatArray, choice
from ..model import Robot
from ..model.mechanism_parts import check_function
from ..model.position_functions import (
    WORLD,
    Component,
    Cosine,
    Direction,
    Distance,
    JointSum,
    LinkAngle,
    PositionFunction,
    Thread,
)
from ..model.springs import Anchor
from .part_tables import POSE_KEYS, pose_in
from .tables import Table

FUNCTION_KEYS = ("joints", "a", "b", "axis", "axes", "any_axes", "pitch", "link", "which")
_LENGTHS = (Component, Distance)


def position_function(table: Table, robot: Robot) -> PositionFunction:
    """The function that `type` and the keys of its own describe; names are those of the robot."""
    with table.building():
        reader, keys = choice("type", table.text("type"), FUNCTIONS)
        for key in FUNCTION_KEYS:
            if key in table.values and key not in keys:
                raise table.error(f"{key!r} has no effect on the type {table.text('type')!r}. Leave it out.", key)
        function = reader(table)
        check_function(robot, function)
    return function


def turns_by_itself(function: PositionFunction, robot: Robot) -> bool:
    """Whether a coordinate is an angle, where the file does not say it: lengths and sums of sliding joints are not."""
    if isinstance(function, JointSum):
        joints = {joint.name: joint for joint in robot.structure.joints}
        return any(joints[name].turns for name in function.coefficients)
    return not isinstance(function, _LENGTHS)


def place_of(table: Table) -> tuple[str, FloatArray]:
    """A link and a pose in its frame."""
    table.refuse_other_keys("link", *POSE_KEYS)
    return table.text("link"), pose_in(table)


def anchor_of(table: Table) -> Anchor:
    """A link and a point in its frame."""
    table.refuse_other_keys("link", "xyz")
    return table.text("link"), _three(table, "xyz") if "xyz" in table.values else (0.0, 0.0, 0.0)


def _direction_of(table: Table) -> Direction:
    table.refuse_other_keys("link", "axis")
    return table.text("link"), _three(table, "axis")


def _three(table: Table, key: str) -> tuple[float, float, float]:
    x, y, z = table.array(key, (3,)).tolist()
    return x, y, z


def _sum(table: Table) -> JointSum:
    named = table.inner("joints")
    coefficients = {str(joint): named.number(joint) for joint in named.values}
    for joint, coefficient in coefficients.items():
        if coefficient == 0:
            raise named.error(f"{joint} = 0 found; a joint without a part in the sum is left out.", joint)
    return JointSum(coefficients)


def _component(table: Table) -> Component:
    if table.flag("any_axes") and "axes" in table.values:
        raise table.error("'axes' and 'any_axes' found; one of the two says in whose axes. Keep one.", "axes")
    axes = None if table.flag("any_axes") else table.text("axes", WORLD)
    start = anchor_of(table.inner("a")) if "a" in table.values else (WORLD, (0.0, 0.0, 0.0))
    return Component(anchor_of(table.inner("b")), table.array("axis", (3,)), start, axes)


def _cosine(table: Table) -> Cosine:
    return Cosine(_direction_of(table.inner("a")), _direction_of(table.inner("b")))


def _distance(table: Table) -> Distance:
    return Distance(anchor_of(table.inner("a")), anchor_of(table.inner("b")))


def _thread(table: Table) -> Thread:
    return Thread(place_of(table.inner("a")), place_of(table.inner("b")), table.number("pitch"))


def _angle(table: Table) -> LinkAngle:
    return LinkAngle(table.text("link"), table.text("which"))


FUNCTIONS: dict[str, tuple[Callable[[Table], PositionFunction], tuple[str, ...]]] = {
    "sum": (_sum, ("joints",)),
    "component": (_component, ("a", "b", "axis", "axes", "any_axes")),
    "cosine": (_cosine, ("a", "b")),
    "distance": (_distance, ("a", "b")),
    "thread": (_thread, ("a", "b", "pitch")),
    "angle": (_angle, ("link", "which")),
}
"""The types by name: what reads them, and their keys."""

__all__ = ["FUNCTIONS", "FUNCTION_KEYS", "anchor_of", "place_of", "position_function", "turns_by_itself"]
