"""Closures, coordinates, guess, springs and dampers out of tables: what makes a mechanism of the tree that a file describes.

The tables are those of a TOML file, or what `urdf_mechanism` makes of the element <dalembert>.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..checks import FloatArray, choice
from ..errors import Part, Place, PlaceOf, UnknownNameError, listed, shown
from ..model import Robot
from ..model.closures import TYPES, Closure
from ..model.mechanism_parts import MechanismParts, check_elements, check_function
from ..model.position_functions import Chosen, PositionFunction
from ..model.springs import Anchor, Damper, Spring
from .part_tables import limits_of
from .position_tables import FUNCTION_KEYS, anchor_of, place_of, position_function, turns_by_itself
from .tables import Document, Table

KEYS = ("coordinates", "coordinate", "closure", "guess", "spring", "damper", "actuated", "strict", "tree")
"""What stands beside the keys of a robot."""
_CLOSURE_KEYS = ("name", "type", "a", "b", "axis", "directions", "length", "pitch", "ratio", "offset", "function")


def is_mechanism(values: Mapping[str, object]) -> bool:
    """Whether a file describes more than a robot."""
    return any(key in values for key in KEYS)


def read_mechanism(table: Table, robot: Robot, name: str, *, strict: bool) -> MechanismParts:
    """The mechanism whose tree has been read already."""
    return MechanismParts(
        name,
        robot,
        tuple(_closure(row, robot) for row in table.tables("closure")),
        _coordinates(table, robot),
        _guess(table, robot),
        tuple(_spring(row, robot) for row in table.tables("spring")),
        tuple(_damper(row, robot) for row in table.tables("damper")),
        _joints(table, robot, "actuated"),
        table.flag("strict") or strict,
        place_of=places_in(table.document),
    )


def places_in(document: Document) -> PlaceOf:
    """Where the parts stand that a sentence about the mechanism names."""

    def place(part: Part | None, sentence: str) -> Place:
        for known, table in document.tables.items():
            if known is not None and known.kind == "closure" and str(known) in sentence:
                return document.place(table.path)
        top = document.tables[None]
        if "coordinates" in sentence and "coordinates" in top.values:
            return document.place((*top.path, "coordinates"))
        return document.place_of(part, sentence)

    return place


def _closure(row: Table, robot: Robot) -> Closure:
    row.belongs_to(Part("closure", row.text("name")))
    row.refuse_other_keys(*_CLOSURE_KEYS)
    with row.building():
        kind = row.text("type")
        choice("type", kind, TYPES)
        closure = Closure(
            row.text("name"),
            kind,
            _ends(row, kind),
            row.array("axis", (3,), (2, 3)) if "axis" in row.values else None,
            directions=_words(row, "directions"),
            functions=tuple(_held(part, robot) for part in row.tables("function")),
            **row.given_numbers("length", "pitch", "ratio", "offset"),
        )
        for condition in closure.rows:
            check_function(robot, condition.function)
    return closure


def _ends(row: Table, kind: str) -> tuple[object, object] | None:
    given = [key for key in ("a", "b") if key in row.values]
    if kind == "function":
        if given:
            raise row.error("a and b have no effect on the type 'function'. Leave them out.", given[0])
        return None
    a, b = row.inner("a"), row.inner("b")
    if kind in ("gear", "belt"):
        for end in (a, b):
            end.refuse_other_keys("joint")
        return a.text("joint"), b.text("joint")
    return place_of(a), place_of(b)


def _held(row: Table, robot: Robot) -> tuple[PositionFunction, float]:
    """A function of positions and the value it is held at."""
    row.refuse_other_keys("type", "value", *FUNCTION_KEYS)
    return position_function(row, robot), row.number("value", 0.0)


def _coordinates(table: Table, robot: Robot) -> tuple[str | Chosen, ...]:
    defined: dict[str, Chosen] = {}
    for row in table.tables("coordinate"):
        chosen = _chosen(row, robot)
        defined[chosen.name] = chosen
    names = _words(table, "coordinates") if "coordinates" in table.values else tuple(defined)
    if not names and "coordinates" not in table.values:
        raise table.error(
            "'coordinates' is missing: names of joints, or of [[coordinate]] tables, as many as the mechanism has freedoms. "
            f"Joints: {listed(robot.joint_names)}."
        )
    for name in defined:
        if name not in names:
            sentence = f"coordinate {shown(name)} is described and not in the list. Add it, or leave it out."
            raise table.error(sentence, "coordinates")
    for name in names:
        if name not in defined and name not in robot.joint_names:
            error = UnknownNameError.among("coordinates", name, (*defined, *robot.joint_names))
            raise table.error(error.sentence, "coordinates")
    return tuple(defined.get(name, name) for name in names)


def _chosen(row: Table, robot: Robot) -> Chosen:
    row.belongs_to(Part("coordinate", row.text("name")))
    row.refuse_other_keys("name", "turns", "limits", "type", *FUNCTION_KEYS)
    with row.building():
        function = position_function(row, robot)
        turns = row.flag("turns") if "turns" in row.values else turns_by_itself(function, robot)
        return Chosen(row.text("name"), function, turns=turns, limits=limits_of(row))


def _guess(table: Table, robot: Robot) -> FloatArray:
    """The positions of all joints in order, or those of some by their names."""
    given = table.values.get("guess")
    if given is None:
        return np.zeros(robot.n)
    if not isinstance(given, Mapping):
        return table.array("guess", (robot.n,))
    named = table.inner("guess")
    named.refuse_other_keys(*robot.joint_names)
    return np.array([named.number(name, 0.0) for name in robot.joint_names])


def _spring(row: Table, robot: Robot) -> Spring:
    row.refuse_other_keys("stiffness", "joint", "a", "b", "rest")
    with row.building():
        spring = Spring(row.number("stiffness"), rest=row.number("rest", 0.0), joint=_joint(row), between=_anchors(row))
        check_elements(robot, spring)
    return spring


def _damper(row: Table, robot: Robot) -> Damper:
    row.refuse_other_keys("coefficient", "joint", "a", "b")
    with row.building():
        damper = Damper(row.number("coefficient"), joint=_joint(row), between=_anchors(row))
        check_elements(robot, damper)
    return damper


def _joint(row: Table) -> str | None:
    return row.text("joint") if "joint" in row.values else None


def _anchors(row: Table) -> tuple[Anchor, Anchor] | None:
    if "a" not in row.values and "b" not in row.values:
        return None
    return anchor_of(row.inner("a")), anchor_of(row.inner("b"))


def _joints(table: Table, robot: Robot, key: str) -> tuple[str, ...]:
    names = _words(table, key)
    for name in names:
        if name not in robot.joint_names:
            raise table.error(UnknownNameError.among(f"{key}: joint", name, robot.joint_names).sentence, key)
    return names


def _words(table: Table, key: str) -> tuple[str, ...]:
    words = table.values.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise table.error(f"{key} = {shown(words)} found, a list of strings expected.", key)
    return tuple(words)


__all__ = ["KEYS", "is_mechanism", "places_in", "read_mechanism"]
