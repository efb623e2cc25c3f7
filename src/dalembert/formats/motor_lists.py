"""Lists of motors in `.toml` files: one `[[motor]]` table each, with the keys that the motor of a joint has.

[[motor]]
name = "small"
resistance = 2.0
torque_constant = 0.05
ratio = 30.0
voltage_limit = 24.0
"""

from __future__ import annotations

from ..model.motors import MOTOR_FIELDS, Motor
from .places import toml_lines
from .tables import Document, Table
from .text import decoded
from .toml_parse import parse_toml


def motor_of(table: Table) -> Motor:
    """The motor that a table describes."""
    table.refuse_other_keys(*MOTOR_FIELDS)
    numbers = table.given_numbers(*(key for key in MOTOR_FIELDS if key != "name"), infinite=True)
    with table.building():
        return Motor(**numbers, name=table.text("name", ""))


def read_motors(text: str | bytes, *, source: str = "<string>") -> dict[str, Motor]:
    """The motors of a list by name; `source` is the file's name in messages."""
    document = Document(source, decoded(text, source), toml_lines)
    top = Table.of_robot(document, parse_toml(document.text, source))
    top.refuse_other_keys("motor")
    rows = top.tables("motor")
    if not rows:
        raise top.error("no [[motor]] found; at least one is expected.")
    found: dict[str, Motor] = {}
    for row in rows:
        name = row.text("name")
        if name in found:
            raise row.error(f"the name {name!r} stands twice. Rename one of them.", "name")
        found[name] = motor_of(row)
    return found


__all__ = ["motor_of", "read_motors"]
