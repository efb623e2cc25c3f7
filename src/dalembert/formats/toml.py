"""The `.toml` robot file: everything a `Robot` holds, written so that a person can read and edit it.

    name = "pendulum"

    [[link]]
    name = "base"

    [[link]]
    name = "rod"
    mass = 1.2
    com = [0.0, 0.0, -0.4]
    inertia = [0.06, 0.06, 0.001]

    [[joint]]
    name = "pivot"
    type = "revolute"
    parent = "base"
    child = "rod"
    axis = [1, 0, 0]
    friction = { viscous = 0.02 }

A serial arm may be given by its Denavit-Hartenberg rows instead, `convention` and one `[[dh]]` table per joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import Part, reading, shown
from ..model import Body, Friction, Joint, Limits, Link, Mimic, Robot, Rotor, Tool
from ..model.dh import COLUMNS, from_dh
from ..model.robot_data import STANDARD_GRAVITY
from .places import toml_lines
from .poses import make_pose, rotation_from_rpy
from .tables import CHOICES, Document, Table
from .text import decoded
from .toml_parse import parse_toml

FORMAT = "dalembert-robot-1"
_SHARED_KEYS = ("format", "name", "gravity", "notes", "tool", "payload")
_BODY_KEYS = ("name", "mass", "com", "inertia")
_JOINT_KEYS = (
    "name",
    "type",
    "parent",
    "child",
    "origin",
    "axis",
    "child_origin",
    "home",
    "limits",
    "mimic",
    "friction",
    "rotor",
)
_POSE_KEYS = ("xyz", "rpy", "rpy_deg", "rotation", "pose")
_ANGLES_DEG = ("theta_deg", "alpha_deg")


def read_toml(text: str | bytes, *, source: str = "<string>", strict: bool = False) -> Robot:
    """The robot a TOML text describes; `source` is the file's name in messages.

    Raises
    ------
    FormatError
        `source:line: table: what was found, what was expected`; under `strict=True` also for what is merely unphysical.
    """
    document = Document(source, decoded(text, source), toml_lines)
    table = Table.of_robot(document, parse_toml(document.text, source))
    file_format = table.text("format", FORMAT)
    if file_format != FORMAT:
        wanted = f"{FORMAT!r} expected. Was it written by a newer dalembert?"
        raise table.error(f"format {shown(file_format)} found, {wanted}", "format")
    with reading(document.place_of):
        if "dh" in table.values:
            return _read_dh(table, strict)
        return _read_parts(table, strict)


def _read_parts(table: Table, strict: bool) -> Robot:
    table.refuse_other_keys(*_SHARED_KEYS, "link", "joint", "dh", "convention", "base")
    if "convention" in table.values or "base" in table.values:
        key = "convention" if "convention" in table.values else "base"
        raise table.error("'convention' and 'base' belong to a robot given by [[dh]] rows; none found.", key)
    joints = table.tables("joint")
    tool = table.table("tool")
    if tool is not None:
        tool.belongs_to(Part("tool", ""))
    return Robot.from_parts(
        table.text("name"),
        [_link(row) for row in table.tables("link")],
        [_joint(row) for row in joints],
        friction={row.text("name"): _friction(part) for row in joints if (part := row.table("friction"))},
        rotors={row.text("name"): _rotor(part) for row in joints if (part := row.table("rotor"))},
        gravity=table.array("gravity", (3,), default=np.array(STANDARD_GRAVITY)),
        tool=None if tool is None else _tool(tool, tool.text("link")),
        payload=_payload(table),
        strict=strict,
        notes=_notes(table),
    )


def _notes(table: Table) -> list[str]:
    notes = table.values.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise table.error(f"notes = {shown(notes)} found, a list of strings expected.", "notes")
    return notes


def _tool(table: Table, link: str) -> Tool:
    table.refuse_other_keys("link", *_POSE_KEYS)
    with table.building():
        return Tool(link, pose_of(table))


def _payload(table: Table) -> Body | None:
    body = table.table("payload")
    if body is None:
        return None
    body.belongs_to(Part("payload", ""))
    body.refuse_other_keys(*_BODY_KEYS)
    return _body(body, body.text("name", "payload"))


def _body(table: Table, name: str) -> Body:
    with table.building():
        return Body(name, *_inertial(table))


def _inertial(table: Table) -> tuple[float, FloatArray, FloatArray]:
    return table.number("mass", 0.0), table.array("com", (3,), default=np.zeros(3)), table.inertia()


def _link(table: Table) -> Link:
    table.belongs_to(Part("link", table.text("name")))
    table.refuse_other_keys(*_BODY_KEYS, "virtual", "body")
    bodies = _bodies(table)
    with table.building():
        return Link(table.text("name"), *_inertial(table), bodies=bodies, virtual=table.flag("virtual"))


def _bodies(table: Table) -> tuple[Body, ...]:
    rows = table.tables("body")
    for row in rows:
        row.refuse_other_keys(*_BODY_KEYS)
    return tuple(_body(row, row.text("name")) for row in rows)


def _joint(table: Table) -> Joint:
    table.belongs_to(Part("joint", table.text("name")))
    table.refuse_other_keys(*_JOINT_KEYS)
    with table.building():
        return Joint(
            table.text("name"),
            table.text("type"),
            table.text("parent"),
            table.text("child"),
            _pose(table, "origin"),
            table.array("axis", (3,), default=np.array([0.0, 0.0, 1.0])),
            _pose(table, "child_origin"),
            table.number("home", 0.0),
            _limits(table),
            _mimic(table),
        )


def _pose(table: Table, key: str) -> FloatArray:
    part = table.table(key)
    if part is None:
        return np.eye(4)
    part.refuse_other_keys(*_POSE_KEYS)
    return pose_of(part)


def pose_of(table: Table) -> FloatArray:
    """A pose written as `xyz` with one of `rpy`, `rpy_deg` and `rotation` (3x3), or as one 4x4 `pose`."""
    ways = [key for key in ("rpy", "rpy_deg", "rotation", "pose") if key in table.values]
    if len(ways) > 1 or ("pose" in ways and "xyz" in table.values):
        raise table.error("the orientation is given twice. Keep xyz with one of rpy, rpy_deg and rotation, or pose alone.")
    if ways == ["pose"]:
        return table.array("pose", (4, 4))
    xyz = table.array("xyz", (3,), default=np.zeros(3))
    if ways == ["rotation"]:
        return make_pose(xyz, table.array("rotation", (3, 3)))
    if ways:
        angles = table.array(ways[0], (3,))
        return make_pose(xyz, rotation_from_rpy(np.radians(angles) if ways == ["rpy_deg"] else angles))
    return make_pose(xyz)


def _limits(table: Table) -> Limits:
    part = table.table("limits")
    if part is None:
        return Limits()
    part.refuse_other_keys("lower", "upper", "velocity", "effort")
    with part.building():
        return Limits(**part.given_numbers("lower", "upper", "velocity", "effort", infinite=True))


def _mimic(table: Table) -> Mimic | None:
    part = table.table("mimic")
    if part is None:
        return None
    part.refuse_other_keys("joint", "multiplier", "offset")
    with part.building():
        return Mimic(part.text("joint"), **part.given_numbers("multiplier", "offset"))


def _friction(table: Table) -> Friction:
    keys = ("viscous", "coulomb", "coulomb_negative", "breakaway", "stribeck_velocity", "width")
    table.refuse_other_keys(*keys)
    with table.building():
        return Friction(**table.given_numbers(*keys))


def _rotor(table: Table) -> Rotor:
    numbers = ("ratio", "mass", "transverse_inertia")
    table.refuse_other_keys("inertia", *numbers, "model", "position", "axis", "mount")
    with table.building():
        return Rotor(
            table.number("inertia"),
            model=table.text("model", "reflected"),
            position=table.array("position", (3,), default=np.zeros(3)),
            axis=table.array("axis", (3,), default=np.array([0.0, 0.0, 1.0])),
            mount=table.text("mount") if "mount" in table.values else None,
            **table.given_numbers(*numbers),
        )


def _read_dh(table: Table, strict: bool) -> Robot:
    for key in ("link", "joint"):
        if key in table.values:
            raise table.error(
                f"[[dh]] rows and [[{key}]] tables found; the rows already make the links and joints. Keep one of the two.", key
            )
    table.refuse_other_keys(*_SHARED_KEYS, "dh", "convention", "base")
    rows = [_dh_row(row, number) for number, row in enumerate(table.tables("dh"), start=1)]
    if not rows:
        raise table.error("dh: the list is empty; at least one row is expected.", "dh")
    robot = from_dh(
        rows,
        convention=table.text("convention", choices=CHOICES),
        name=table.text("name"),
        gravity=table.array("gravity", (3,), default=np.array(STANDARD_GRAVITY)),
        tool=_dh_tool(table, rows),
        payload=_payload(table),
        base=_pose(table, "base"),
        strict=strict,
    )
    return robot.replace(notes=(*_notes(table), *robot.notes))


def _dh_tool(table: Table, rows: list[dict[str, Any]]) -> Tool | None:
    tool = table.table("tool")
    if tool is not None:
        tool.belongs_to(Part("tool", ""))
    return None if tool is None else _tool(tool, tool.text("link", rows[-1].get("link", f"link{len(rows)}")))


def _dh_row(table: Table, number: int) -> dict[str, Any]:
    """The columns `from_dh` expects; angles may be in degrees under their own name."""
    table.belongs_to_row(number, joint=table.text("name", f"joint{number}"), link=table.text("link", f"link{number}"))
    table.refuse_other_keys(*(key for key in COLUMNS if key != "bodies"), "body", *_ANGLES_DEG)
    row: dict[str, Any] = table.given_numbers("d", "a", "mass", "home") | table.given_angles("theta", "alpha")
    row |= {key: table.text(key) for key in ("type", "name", "link") if key in table.values}
    if "com" in table.values:
        row["com"] = table.array("com", (3,))
    row |= {"inertia": table.inertia(), "bodies": _bodies(table), "limits": _limits(table)}
    if friction := table.table("friction"):
        row["friction"] = _friction(friction)
    if rotor := table.table("rotor"):
        row["rotor"] = _rotor(rotor)
    return row
