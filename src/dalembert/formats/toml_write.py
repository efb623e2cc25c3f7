"""A `Robot`, or the parts of a mechanism, as the text of a `.toml` file; reading it back gives an equal one, to the last bit."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..model import Friction, Joint, Link, Robot
from ..model.mechanism_parts import MechanismParts
from ..model.physical import SourceNote, findings
from ..model.record import Record
from .mechanism_fields import fields_of
from .toml import FORMAT, MECHANISM_FORMAT

_TABLES = ("coordinate", "closure", "spring", "damper")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)} | {ord('"'): '\\"', ord("\\"): "\\\\"}


def write_toml(content: Robot | MechanismParts) -> str:
    """The robot or mechanism as TOML text, every field of it."""
    if isinstance(content, Robot):
        return "\n".join([*_lines({"format": FORMAT, "name": content.name}), *_tree(content)]) + "\n"
    fields = fields_of(content)
    above = {key: value for key, value in fields.items() if key not in _TABLES}
    lines = _lines({"format": MECHANISM_FORMAT, "name": content.name, **above})
    lines += _tree(content.robot)
    for key in _TABLES:
        for row in fields[key]:
            lines += _rows(key, row)
    return "\n".join(lines) + "\n"


def _rows(key: str, row: Mapping[str, Any]) -> Iterator[str]:
    """A table of a list; the functions of a closure are tables of their own."""
    yield from ("", f"[[{key}]]", *_lines({name: value for name, value in row.items() if name != "function"}))
    for function in row.get("function", ()):
        yield from _rows(f"{key}.function", function)


def _tree(robot: Robot) -> list[str]:
    """All of a robot but its name."""
    parameters = robot.parameters
    lines = _lines({"gravity": parameters.gravity, **_notes(robot)})
    if robot.tool is not None:
        lines += ["", "[tool]", *_lines({"link": robot.tool.link, **_pose(robot.tool.pose)})]
    if parameters.payload is not None:
        lines += ["", "[payload]", *_lines(_given(parameters.payload))]
    for link in parameters.links:
        lines += _link(link)
    for joint in robot.structure.joints:
        lines += ["", "[[joint]]", *_lines(_joint(robot, joint))]
    return lines


def _notes(robot: Robot) -> dict[str, Any]:
    """The notes of the source; what building the robot adds to them is found again when the file is read, and warned of."""
    of_source = {note for note in robot.notes if isinstance(note, SourceNote)}  # they cannot be found again when the file is read
    found_when_built = {finding.message for finding in findings(robot)} - of_source
    notes = [note for note in robot.notes if note not in found_when_built]
    return {"notes": notes} if notes else {}


def _link(link: Link) -> Iterator[str]:
    fields = _given(link)
    fields.pop("bodies", None)
    yield from ("", "[[link]]", *_lines(fields))
    for body in link.bodies:
        yield from ("", "[[link.body]]", *_lines(_given(body)))


def _joint(robot: Robot, joint: Joint) -> dict[str, Any]:
    fields = _given(joint)
    for key in ("origin", "child_origin"):
        if key in fields:
            fields[key] = _pose(fields[key])
    parameters = robot.parameters
    for key, table in (("friction", parameters.friction), ("rotor", parameters.rotors), ("motor", parameters.motors)):
        if joint.name in table:
            fields[key] = table[joint.name]
    return fields


def _pose(X: FloatArray) -> dict[str, FloatArray]:
    """Position and rotation matrix: roll, pitch and yaw would be shorter, but would not read back to the same bits."""
    fields = {}
    if X[:3, 3].any():
        fields["xyz"] = X[:3, 3]
    if not np.array_equal(X[:3, :3], np.eye(3)):
        fields["rotation"] = X[:3, :3]
    return fields


def _given(record: Record) -> dict[str, Any]:
    """The fields of a part that differ from their defaults, so that no field can be forgotten here."""
    fields = {}
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        if not _same(value, default):
            fields[field.name] = value
    if isinstance(record, Friction) and record.coulomb_negative == record.coulomb:
        del fields["coulomb_negative"]  # filled in from coulomb when it is not given
    return fields


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray):
        return np.array_equal(value, default)
    return type(value) is type(default) and bool(value == default)


def _lines(fields: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in fields.items()]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, np.ndarray):
        return _value(value.tolist())
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    fields = value if isinstance(value, Mapping) else _given(value)
    inner = ", ".join(f"{key if _BARE.fullmatch(key) else _value(key)} = {_value(item)}" for key, item in fields.items())
    return f"{{ {inner} }}" if inner else "{}"
