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

A serial arm may be given by its Denavit-Hartenberg rows instead, `convention` and one `[[dh]]` table per joint. With closures and
coordinates beside the tree the file holds a mechanism (`mechanism_tables`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import FormatError, Part, listed, reading, shown
from ..model import Body, Friction, Joint, Link, Mimic, Robot, Rotor, Tool
from ..model.dh import COLUMNS, from_dh
from ..model.mechanism_parts import MechanismParts
from ..model.robot_data import STANDARD_GRAVITY
from .mechanism_tables import KEYS as MECHANISM_KEYS
from .mechanism_tables import is_mechanism, read_mechanism
from .motor_lists import motor_of
from .part_tables import POSE_KEYS, limits_of, pose_in
from .places import toml_lines
from .tables import CHOICES, Document, Table
from .text import decoded
from .toml_parse import parse_toml

FORMAT = "dalembert-robot-1"
MECHANISM_FORMAT = "dalembert-mechanism-1"
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
    "motor",
)
_ANGLES_DEG = ("theta_deg", "alpha_deg")


def read_toml(text: str | bytes, *, source: str = "<string>", strict: bool = False) -> Robot | MechanismParts:
    """The robot a TOML text describes, or the parts of a mechanism; `source` is the file's name in messages.

    Raises
    ------
    FormatError
        `source:line: table: what was found, what was expected`; under `strict=True` also for what is merely unphysical.
    """
    document = Document(source, decoded(text, source), toml_lines)
    table = Table.of_robot(document, parse_toml(document.text, source))
    mechanism = is_mechanism(table.values)
    expected = MECHANISM_FORMAT if mechanism else FORMAT
    file_format = table.text("format", expected)
    if file_format != expected:
        raise _other_format(table, file_format)
    with reading(document.place_of):
        robot = _read_dh(table, strict) if "dh" in table.values else _read_parts(table, strict)
        return read_mechanism(table, robot, table.text("name"), strict=strict) if mechanism else robot


def _other_format(table: Table, found: str) -> FormatError:
    if found == MECHANISM_FORMAT:
        return table.error("a mechanism without 'coordinates' found. Add them, as many as it has freedoms.", "format")
    if found == FORMAT:
        named = listed([key for key in MECHANISM_KEYS if key in table.values])
        return table.error(f"format {found!r} found, but {named} make a mechanism, {MECHANISM_FORMAT!r}. Change it.", "format")
    wanted = f"{FORMAT!r} or {MECHANISM_FORMAT!r} expected. Was it written by a newer dalembert?"
    return table.error(f"format {shown(found)} found, {wanted}", "format")


def _tree_name(table: Table) -> str:
    """The name of the tree, which for a mechanism may differ from the name of the whole."""
    return table.text("tree", table.text("name"))


def _read_parts(table: Table, strict: bool) -> Robot:
    table.refuse_other_keys(*_SHARED_KEYS, "link", "joint", "dh", "convention", "base", *MECHANISM_KEYS)
    if "convention" in table.values or "base" in table.values:
        key = "convention" if "convention" in table.values else "base"
        raise table.error("'convention' and 'base' belong to a robot given by [[dh]] rows; none found.", key)
    joints = table.tables("joint")
    tool = table.table("tool")
    if tool is not None:
        tool.belongs_to(Part("tool", ""))
    return Robot.from_parts(
        _tree_name(table),
        [_link(row) for row in table.tables("link")],
        [_joint(row) for row in joints],
        friction={row.text("name"): _friction(part) for row in joints if (part := row.table("friction"))},
        rotors={row.text("name"): _rotor(part) for row in joints if (part := row.table("rotor"))},
        motors={row.text("name"): motor_of(part) for row in joints if (part := row.table("motor"))},
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
    table.refuse_other_keys("link", *POSE_KEYS)
    with table.building():
        return Tool(link, pose_in(table))


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
            limits_of(table),
            _mimic(table),
        )


def _pose(table: Table, key: str) -> FloatArray:
    part = table.table(key)
    if part is None:
        return np.eye(4)
    part.refuse_other_keys(*POSE_KEYS)
    return pose_in(part)


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
    table.refuse_other_keys(*_SHARED_KEYS, "dh", "convention", "base", *MECHANISM_KEYS)
    rows = [_dh_row(row, number) for number, row in enumerate(table.tables("dh"), start=1)]
    if not rows:
        raise table.error("dh: the list is empty; at least one row is expected.", "dh")
    robot = from_dh(
        rows,
        convention=table.text("convention", choices=CHOICES),
        name=_tree_name(table),
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
    row |= {"inertia": table.inertia(), "bodies": _bodies(table), "limits": limits_of(table)}
    if friction := table.table("friction"):
        row["friction"] = _friction(friction)
    if rotor := table.table("rotor"):
        row["rotor"] = _rotor(rotor)
    if motor := table.table("motor"):
        row["motor"] = motor_of(motor)
    return row
