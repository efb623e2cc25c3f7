"""`.json` descriptions of mechanisms: open chains on one ground, closures and coordinates as scalar functions of all joints.

    {"chains": [{...}, {...}], "closures": [{"type": "diff", ...}], "coordinates": [{"type": "joint", "index": 0}], "x0": [...]}

A chain is a robot description with an optional 4x4 `base`; joints are numbered through all chains. Links and joints get the name
of their chain in front: joint 2 of the first chain is `chain1_joint2`. In a file of sample cases the first three keys stand as
`input.mechanism`, and `x0` as `input.x0`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray, choice
from ..errors import Part, reading
from ..model import Robot
from ..model.closures import Closure
from ..model.gather import gather
from ..model.mechanism_parts import MechanismParts
from ..model.position_functions import WORLD, Chosen, Component, Cosine, JointSum, PositionFunction
from ..model.robot_data import STANDARD_GRAVITY
from .dh_links import read_dh_links
from .mechanism_tables import places_in
from .position_tables import turns_by_itself
from .tables import Document, Table

_FUNCTION_KEYS = {
    "joint": ("index",),
    "linear": ("coef",),
    "point": ("a", "axis"),
    "diff": ("a", "b", "axis"),
    "dot": ("a", "b"),
}


class _Scaled(NamedTuple):
    """A function whose directions have length one, and what it is to be multiplied with."""

    function: PositionFunction
    scale: float = 1.0


class _Tree(NamedTuple):
    """The chains as one tree, and the names of each one's links."""

    robot: Robot
    links: list[list[str]]


def read_chains(table: Table, around: Table, name: str, *, strict: bool) -> MechanismParts:
    """The mechanism of a table with `chains`; `x0` stands there or in the table around it."""
    table.refuse_other_keys("name", "chains", "closures", "coordinates", "x0")
    for key in ("chains", "coordinates"):
        table.require(key)
    name = table.text("name", name)
    tree = _tree(table, name, strict)
    closures = tuple(_closure(row, tree, k) for k, row in enumerate(table.tables("closures"), 1))
    coordinates = tuple(_coordinate(row, tree, k) for k, row in enumerate(table.tables("coordinates"), 1))
    start = table if "x0" in table.values else around
    guess = start.array("x0", (tree.robot.n,), default=np.zeros(tree.robot.n))
    return MechanismParts(name, tree.robot, closures, coordinates, guess, strict=strict, place_of=places_in(table.document))


def _tree(table: Table, name: str, strict: bool) -> _Tree:
    rows = table.tables("chains")
    if not rows:
        raise table.error("chains: the list is empty; at least one chain is expected.", "chains")
    chains = {f"chain{k}": _chain(row, f"chain{k}", strict) for k, row in enumerate(rows, 1)}
    poses = {part: row.array("base", (4, 4), default=np.eye(4)) for part, row in zip(chains, rows, strict=True)}
    with table.building():
        robot = gather(name, chains, poses=poses, gravity=_gravity(rows))
    return _Tree(robot, [[f"{part}_{link}" for link in chain.link_names] for part, chain in chains.items()])


def _chain(row: Table, name: str, strict: bool) -> Robot:
    """One chain, in a document of its own, since its rows are numbered from one again; its base is a pose on the ground."""
    whole = row.document
    document = Document(whole.source, whole.text, lambda _text: whole.lines)
    values = {key: value for key, value in row.values.items() if key != "base"}
    own = Table.of_robot(document, values, row.path)
    with reading(document.place_of):
        return read_dh_links(own, name, strict=strict)


def _gravity(rows: list[Table]) -> FloatArray:
    """That of all chains: they stand in one world."""
    found = [row.array("gravity", (3,), default=np.array(STANDARD_GRAVITY)) for row in rows]
    for row, gravity in zip(rows, found, strict=True):
        if not np.array_equal(gravity, found[0]):
            raise row.error(
                "gravity differs from that of the first chain; they stand in one world. Give all the same.", "gravity"
            )
    return found[0]


def _closure(row: Table, tree: _Tree, number: int) -> Closure:
    name = row.text("name", f"closure{number}")
    row.belongs_to(Part("closure", name))
    found = _function(row, tree, "value")
    with row.building():
        return Closure(name, "function", functions=((found.function, row.number("value", 0.0) / found.scale),))


def _coordinate(row: Table, tree: _Tree, number: int) -> str | Chosen:
    found = _function(row, tree)
    if found.scale != 1.0:
        raise row.error(f"a direction of length {found.scale:.6g} found; a coordinate needs directions of length 1.")
    if row.text("type") == "joint":
        return tree.robot.joint_names[_index(row, "index", tree.robot.n, "joints")]
    name = row.text("name", f"y{number}")
    row.belongs_to(Part("coordinate", name))
    with row.building():
        return Chosen(name, found.function, turns=turns_by_itself(found.function, tree.robot))


def _function(row: Table, tree: _Tree, *more: str) -> _Scaled:
    with row.building():
        kind = row.text("type")
        row.refuse_other_keys("type", "name", *choice("type", kind, _FUNCTION_KEYS), *more)
        if kind == "joint":
            return _Scaled(JointSum({tree.robot.joint_names[_index(row, "index", tree.robot.n, "joints")]: 1.0}))
        if kind == "linear":
            return _Scaled(JointSum(_coefficients(row, tree.robot)))
        if kind == "dot":
            (a, n), (b, m) = (_direction(row, key, tree) for key in ("a", "b"))
            return _Scaled(Cosine(a, b), n * m)
        axis, length = _unit(row, "axis")
        start = (WORLD, (0.0, 0.0, 0.0)) if kind == "point" else _end(row, "b", "point", tree)
        return _Scaled(Component(_end(row, "a", "point", tree), axis, start), length)


def _coefficients(row: Table, robot: Robot) -> dict[str, float]:
    """Joints are numbered, and numbers are text where they are keys."""
    table = row.inner("coef")
    found = {}
    for key in table.values:
        if not (key.isascii() and key.isdigit() and int(key) < robot.n):
            raise table.error(f"{key!r} found; the number of a joint, 0 to {robot.n - 1}, is expected.", key)
        found[robot.joint_names[int(key)]] = table.number(key)
    return found


def _end(row: Table, key: str, what: str, tree: _Tree) -> tuple[str, Any]:
    """A point or direction on a link of a chain, or on the ground."""
    table = row.inner(key)
    if "ground" in table.values:
        table.refuse_other_keys("ground")
        return WORLD, table.array("ground", (3,))
    table.refuse_other_keys("chain", "link", what)
    links = tree.links[_index(table, "chain", len(tree.links), "chains")]
    return links[_index(table, "link", len(links), "links")], table.array(what, (3,))


def _direction(row: Table, key: str, tree: _Tree) -> tuple[tuple[str, Any], float]:
    link, vector = _end(row, key, "dir", tree)
    length = _length(row, key, vector)
    return (link, vector), length


def _unit(row: Table, key: str) -> tuple[FloatArray, float]:
    axis = row.array(key, (3,))
    return axis, _length(row, key, axis)


def _length(row: Table, key: str, vector: FloatArray) -> float:
    """The length of a direction; one up to rounding is one."""
    length = float(np.linalg.norm(vector))
    if not 1e-9 < length < 1e9:
        raise row.error(f"{key}: a direction of length {length:.3g} found; one of length 1 is expected.", key)
    return 1.0 if abs(length - 1.0) < 1e-15 else length


def _index(table: Table, key: str, count: int, what: str) -> int:
    value = table.require(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise table.error(f"{key} = {value!r:.40} found; there are {count} {what}, numbered from 0.", key)
    return value


__all__ = ["read_chains"]
