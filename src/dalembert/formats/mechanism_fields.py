"""The parts of a mechanism as nested plain values, as files hold them: what `mechanism_tables` reads, the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import FormatError, shown
from ..model import Limits, Robot
from ..model.closures import Closure
from ..model.mechanism_parts import MechanismParts
from ..model.position_functions import (
    WORLD,
    Chosen,
    Component,
    Cosine,
    Distance,
    JointFunction,
    JointSum,
    LinkAngle,
    PositionFunction,
    Thread,
)
from ..model.springs import Anchor, Damper, Spring
from .position_tables import turns_by_itself


def fields_of(parts: MechanismParts) -> dict[str, Any]:
    """Everything but the tree, by the keys of a file."""
    found: dict[str, Any] = {"coordinates": [c if isinstance(c, str) else c.name for c in parts.coordinates]}
    if np.any(parts.guess):
        found["guess"] = parts.guess
    if parts.actuated:
        found["actuated"] = list(parts.actuated)
    if parts.strict:
        found["strict"] = True
    if parts.robot.name != parts.name:
        found["tree"] = parts.robot.name
    described = [c for c in parts.coordinates if isinstance(c, Chosen) and not _is_joint(c, parts.robot)]
    found["coordinate"] = [_coordinate(chosen, parts.robot) for chosen in described]
    found["closure"] = list(map(_closure, parts.closures))
    found["spring"] = list(map(_spring, parts.springs))
    found["damper"] = list(map(_damper, parts.dampers))
    return found


def _is_joint(chosen: Chosen, robot: Robot) -> bool:
    """Whether the name of a joint says all of it."""
    joints = {joint.name: joint for joint in robot.structure.coordinates}
    joint = joints.get(chosen.name)
    return joint is not None and chosen == Chosen(joint.name, JointSum({joint.name: 1.0}), turns=joint.turns, limits=joint.limits)


def _coordinate(chosen: Chosen, robot: Robot) -> dict[str, Any]:
    fields = {"name": chosen.name, **_function(f"coordinate {shown(chosen.name)}", chosen.function)}
    if chosen.turns != turns_by_itself(chosen.function, robot):
        fields["turns"] = chosen.turns
    if chosen.limits != Limits():
        fields["limits"] = chosen.limits
    return fields


def _closure(closure: Closure) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": closure.name, "type": closure.type}
    if closure.type in ("gear", "belt"):
        assert closure.between is not None
        fields |= {key: {"joint": joint} for key, joint in zip("ab", closure.between, strict=True)}
    elif closure.between is not None:
        fields |= {key: place(*end) for key, end in zip("ab", closure.between, strict=True)}
    if closure.directions:
        fields["directions"] = list(closure.directions)
    fields |= {key: value for key in ("length", "pitch", "ratio") if (value := getattr(closure, key)) is not None}
    if closure.offset:
        fields["offset"] = closure.offset
    if closure.functions:
        subject = f"closure {shown(closure.name)}"
        fields["function"] = [{**_function(subject, f), "value": value} for f, value in closure.functions]
    return fields


def _spring(spring: Spring) -> dict[str, Any]:
    rest = {"rest": spring.rest} if spring.rest else {}
    return {"stiffness": spring.stiffness, **_where(spring), **rest}


def _damper(damper: Damper) -> dict[str, Any]:
    return {"coefficient": damper.coefficient, **_where(damper)}


def _where(element: Spring | Damper) -> dict[str, Any]:
    if element.between is None:
        return {"joint": element.joint}
    return {key: _anchor(end) for key, end in zip("ab", element.between, strict=True)}


def place(link: str, X: FloatArray) -> dict[str, Any]:
    """A pose in a link's frame; its rotation as a matrix, which reads back to the same bits."""
    fields: dict[str, Any] = {"link": link}
    if X[:3, 3].any():
        fields["xyz"] = X[:3, 3]
    if not np.array_equal(X[:3, :3], np.eye(3)):
        fields["rotation"] = X[:3, :3]
    return fields


def _anchor(end: Anchor) -> dict[str, Any]:
    link, point = end
    return {"link": link, "xyz": list(point)} if any(point) else {"link": link}


def _function(subject: str, function: PositionFunction) -> dict[str, Any]:
    """The type of a function, and the keys that belong to it."""
    if isinstance(function, JointFunction):
        raise FormatError(f"{subject}: a function in Python cannot be saved to a file. Use joints, points and angles of links.")
    if isinstance(function, JointSum):
        return {"type": "sum", "joints": dict(function.coefficients)}
    if isinstance(function, LinkAngle):
        return {"type": "angle", "link": function.link, "which": function.which}
    if isinstance(function, Component):
        return _component(function)
    if isinstance(function, Distance):
        return {"type": "distance", "a": _anchor(function.a), "b": _anchor(function.b)}
    if isinstance(function, Cosine):
        a, b = ({"link": link, "axis": list(axis)} for link, axis in (function.a, function.b))
        return {"type": "cosine", "a": a, "b": b}
    assert isinstance(function, Thread)
    return {"type": "thread", "a": place(*function.a), "b": place(*function.b), "pitch": function.pitch}


def _component(function: Component) -> dict[str, Any]:
    fields: dict[str, Any] = {"type": "component", "b": _anchor(function.b), "axis": function.axis}
    if function.a != (WORLD, (0.0, 0.0, 0.0)):
        fields["a"] = _anchor(function.a)
    if function.axes is None:
        fields["any_axes"] = True
    elif function.axes != WORLD:
        fields["axes"] = function.axes
    return fields


__all__ = ["fields_of", "place"]
