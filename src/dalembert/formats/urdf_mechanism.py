"""The element <dalembert> of a URDF file: closures and coordinates, which URDF itself has no words for.

    <dalembert>
      <closure name="pin" type="revolute"><a link="rocker" xyz="0.5 0 0"/><b link="world" xyz="0.9 0.1 0"/></closure>
      <coordinate joint="crank"/>
      <guess joint="crank" value="1.2"/>
    </dalembert>

It is turned into the tables that a TOML file has (`mechanism_tables`), each value by the kind its key has there, so that both
formats say the same in the same words. Other programs that read URDF ignore the element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import shown
from ..model import Robot
from ..model.mechanism_parts import MechanismParts
from .mechanism_tables import KEYS, read_mechanism
from .places import KeyPath
from .tables import Document, Table
from .urdf_fields import Context
from .xml_tree import Element

TAG = "dalembert"
_NUMBERS = ("length", "pitch", "ratio", "offset", "value", "stiffness", "coefficient", "rest")
_LIMITS = ("lower", "upper", "velocity", "effort")
_ARRAYS: dict[str, tuple[tuple[int, ...], ...]] = {
    **dict.fromkeys(("xyz", "rpy", "rpy_deg"), ((3,),)),
    "rotation": ((3, 3),),
    "axis": ((3,), (2, 3)),
}
_DEEPEST = 12  # keys and numbers of a path: three levels have seven
_FLAGS = ("strict", "turns", "any_axes")
_LISTS = ("closure", "coordinate", "spring", "damper", "function")
_MAPPED = {"guess": ("guess", "value"), "term": ("joints", "coefficient")}
"""Elements that stand for one entry of a mapping from joints to numbers: the key of the mapping, and the attribute."""


def read_extension(context: Context, element: Element, robot: Robot, *, strict: bool) -> MechanismParts:
    """The parts of the mechanism whose tree is the robot."""
    context.part = None
    lines: dict[KeyPath, int] = {}
    values = _table(context, element, (TAG,), lines)
    if "closure" in values:
        values.setdefault("coordinates", [])  # a structure without freedoms has none
    document = Document(context.source, "", lambda _text: lines)
    table = Table.of_robot(document, values, (TAG,))
    table.refuse_other_keys("name", *(key for key in KEYS if key != "tree"))
    return read_mechanism(table, robot, table.text("name", robot.name), strict=strict)


def _table(context: Context, element: Element, path: KeyPath, lines: dict[KeyPath, int]) -> dict[str, Any]:
    """Attributes and children as the keys of a table; `lines` learns where they stand."""
    if element.text.strip():
        raise context.error(element, f"<{element.tag}>: text {shown(element.text.strip())} found; attributes are expected.")
    if len(path) > _DEEPEST:
        raise context.error(
            element, f"<{element.tag}>: elements inside of <{TAG}> are nested too deeply; three levels are enough."
        )
    lines[path] = element.line
    values: dict[str, Any] = {}
    for name in element.attributes:
        values[name] = _value(context, element, name)
    for child in element.children:
        _add(context, child, values, path, lines)
    return values


def _add(context: Context, child: Element, values: dict[str, Any], path: KeyPath, lines: dict[KeyPath, int]) -> None:
    """One child: an entry of a list, of a mapping, or a table."""
    tag = child.tag
    if tag in _MAPPED:
        _add_entry(context, child, values, path, lines)
    elif tag == "actuated" or (tag == "coordinate" and set(child.attributes) == {"joint"} and not child.children):
        _add_name(context, child, values, "actuated" if tag == "actuated" else "coordinates", path, lines)
    elif tag in _LISTS:
        rows = values.setdefault(tag, [])
        rows.append(_table(context, child, (*path, tag, len(rows)), lines))
        if tag == "coordinate":
            values.setdefault("coordinates", []).append(rows[-1].get("name", ""))
    elif tag in values:
        raise context.error(child, f"<{tag}>: given twice, or as an attribute and an element. Remove one of them.")
    else:
        values[tag] = _table(context, child, (*path, tag), lines)


def _add_entry(context: Context, child: Element, values: dict[str, Any], path: KeyPath, lines: dict[KeyPath, int]) -> None:
    key, number = _MAPPED[child.tag]
    _only(context, child, "joint", number)
    entries, joint = values.setdefault(key, {}), context.attribute(child, "joint", f"<{child.tag}>")
    if joint in entries:
        raise context.error(child, f"<{child.tag}>: joint {shown(joint)} stands twice. Remove one of them.")
    entries[joint] = context.number(child, number, f"<{child.tag}>")
    lines[(*path, key, joint)] = child.line
    lines.setdefault((*path, key), child.line)


def _add_name(
    context: Context, child: Element, values: dict[str, Any], key: str, path: KeyPath, lines: dict[KeyPath, int]
) -> None:
    _only(context, child, "joint")
    values.setdefault(key, []).append(context.attribute(child, "joint", f"<{child.tag}>"))
    lines.setdefault((*path, key), child.line)


def _only(context: Context, element: Element, *attributes: str) -> None:
    """Refuse what such an element does not have."""
    context.refuse_unknown_attributes(element, attributes, f"<{element.tag}>")
    if element.children or element.text.strip():
        raise context.error(element, f"<{element.tag}>: something inside found; attributes alone are expected.")


def _value(context: Context, element: Element, name: str) -> Any:
    """An attribute as the kind of value that its key has in a table."""
    subject, text = f"<{element.tag}>", element.attributes[name]
    if name in _NUMBERS:
        return context.number(element, name, subject)
    if name in _LIMITS and element.tag == "limits":
        return context.number(element, name, subject, infinite=True)
    if name in _ARRAYS:
        return _array(context, element, name)
    if name in _FLAGS:
        if text not in ("true", "false"):
            raise context.error(element, f"{subject}: {name}={shown(text)} found, true or false expected.")
        return text == "true"
    return text.split() if name == "directions" else text


def _array(context: Context, element: Element, name: str) -> Any:
    """As many numbers, separated by spaces, as one of the shapes has."""
    words = context.numbers(element, name, f"<{element.tag}>")
    for shape in _ARRAYS[name]:
        if len(words) == np.prod(shape):
            return np.reshape(words, shape).tolist()
    expected = " or ".join(str(int(np.prod(shape))) for shape in _ARRAYS[name])
    raise context.error(element, f"<{element.tag}>: {name} has {len(words)} numbers, {expected} expected.")


__all__ = ["TAG", "read_extension"]
