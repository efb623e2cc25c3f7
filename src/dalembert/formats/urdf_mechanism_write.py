"""The parts of a mechanism as the element <dalembert> of a URDF file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..model import Limits
from ..model.closures import Closure
from ..model.mechanism_parts import MechanismParts
from ..model.position_functions import Chosen, Component, Cosine, Distance, PositionFunction, Thread
from ..model.springs import Anchor
from .mechanism_fields import fields_of
from .urdf_fields import UNBOUNDED
from .urdf_mechanism import TAG
from .urdf_text import number, quoted

_INSIDE = ("a", "b", "limits", "function")


def extension_lines(parts: MechanismParts, frame_of: Mapping[str, FloatArray]) -> Iterator[str]:
    """The element; `frame_of` has the frames of links that stand elsewhere in URDF, each in URDF's frame of that link."""
    fields = fields_of(_moved(parts, frame_of))
    names = {"name": parts.name} if parts.name != parts.robot.name else {}
    yield f"  <{TAG}{_attributes(names | {key: True for key in ('strict',) if parts.strict})}>"
    described = {row["name"]: row for row in fields["coordinate"]}
    for closure in fields["closure"]:
        yield from _element("closure", closure, 2)
    for name in fields["coordinates"]:
        yield from _element("coordinate", described.get(name, {"joint": name}), 2)
    for joint, value in zip(parts.robot.joint_names, parts.guess.tolist(), strict=True):
        yield from _element("guess", {"joint": joint, "value": value}, 2) if value else ()
    for key in ("spring", "damper"):
        for row in fields[key]:
            yield from _element(key, row, 2)
    for joint in parts.actuated:
        yield from _element("actuated", {"joint": joint}, 2)
    yield f"  </{TAG}>"


def _element(tag: str, fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    """A table as an element: tables inside of it are its children, everything else its attributes."""
    above = {key: value for key, value in fields.items() if key not in _INSIDE and key != "joints"}
    inside = [line for key in _INSIDE if key in fields for line in _children(key, fields[key], depth + 1)]
    for joint, coefficient in fields.get("joints", {}).items():
        inside += _element("term", {"joint": joint, "coefficient": coefficient}, depth + 1)
    blank = "  " * depth
    if not inside:
        yield f"{blank}<{tag}{_attributes(above)}/>"
        return
    yield f"{blank}<{tag}{_attributes(above)}>"
    yield from inside
    yield f"{blank}</{tag}>"


def _children(key: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, Limits):
        bounds = {name: getattr(value, name) for name in ("lower", "upper", "velocity", "effort")}
        value = {name: math.copysign(min(abs(bound), UNBOUNDED), bound) for name, bound in bounds.items()}
    for row in value if isinstance(value, list) else [value]:
        yield from _element(key, row, depth)


def _attributes(fields: Mapping[str, Any]) -> str:
    return "".join(f" {key}={_text(value)}" for key, value in fields.items())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return '"true"' if value else '"false"'
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        return f'"{number(value)}"'
    words = np.ravel(value).tolist() if not isinstance(value, Sequence) or not isinstance(value[0], str) else value
    return f'"{" ".join(word if isinstance(word, str) else number(word) for word in words)}"'


def _moved(parts: MechanismParts, frame_of: Mapping[str, FloatArray]) -> MechanismParts:
    """The parts with their places in URDF's frames."""
    move = _Move(frame_of)
    return parts._replace(
        closures=tuple(map(move.closure, parts.closures)),
        coordinates=tuple(map(move.coordinate, parts.coordinates)),
        springs=tuple(s if s.between is None else s.replace(between=move.anchors(s.between)) for s in parts.springs),
        dampers=tuple(d if d.between is None else d.replace(between=move.anchors(d.between)) for d in parts.dampers),
    )


class _Move:
    """From frames of links to URDF's frames of the same links."""

    def __init__(self, frame_of: Mapping[str, FloatArray]) -> None:
        self.frame_of = {link: X for link, X in frame_of.items() if not np.array_equal(X, np.eye(4))}

    def closure(self, closure: Closure) -> Closure:
        """A closure between the same places."""
        if closure.functions:
            return closure.replace(functions=tuple((self.function(function), value) for function, value in closure.functions))
        if not closure.links:
            return closure
        assert closure.between is not None
        return closure.replace(between=tuple(map(self.place, closure.between)))

    def coordinate(self, chosen: str | Chosen) -> str | Chosen:
        """The same coordinate."""
        return chosen if isinstance(chosen, str) else chosen.replace(function=self.function(chosen.function))

    def function(self, function: PositionFunction) -> PositionFunction:
        """The same function of positions."""
        if isinstance(function, Component):
            axis = self.direction((function.axes or "", tuple(function.axis.tolist())))[1]
            return function.replace(a=self.anchor(function.a), b=self.anchor(function.b), axis=axis)
        if isinstance(function, Distance):
            return Distance(self.anchor(function.a), self.anchor(function.b))
        if isinstance(function, Cosine):
            return Cosine(self.direction(function.a), self.direction(function.b))
        if isinstance(function, Thread):
            return function.replace(a=self.place(function.a), b=self.place(function.b))
        return function

    def place(self, end: tuple[str, FloatArray]) -> tuple[str, FloatArray]:
        """A pose in a link's frame."""
        link, X = end
        return (link, self.frame_of[link] @ X) if link in self.frame_of else end

    def anchor(self, end: Anchor) -> Anchor:
        """A point in a link's frame."""
        link, point = end
        X = self.frame_of.get(link)
        return end if X is None else (link, tuple((X[:3, :3] @ point + X[:3, 3]).tolist()))

    def anchors(self, ends: tuple[Anchor, Anchor]) -> tuple[Anchor, Anchor]:
        """Two of them."""
        return self.anchor(ends[0]), self.anchor(ends[1])

    def direction(self, end: tuple[str, tuple[float, float, float]]) -> tuple[str, Any]:
        """A direction in a link's frame."""
        link, vector = end
        X = self.frame_of.get(link)
        return end if X is None else (link, tuple((X[:3, :3] @ vector).tolist()))


__all__ = ["extension_lines"]
