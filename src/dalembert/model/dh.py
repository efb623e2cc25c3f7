"""Robots from Denavit-Hartenberg tables, in either convention, which has to be named.

    standard:  A = Rz(θ) Tz(d) Tx(a) Rx(α)   frame i at the far end of link i   [DenavitHartenberg1955; Siciliano]      (1)
    modified:  A = Rx(α) Tx(a) Rz(θ) Tz(d)   frame i on joint axis i            [Craig2005, Eq. 3.6; Freeman]           (2)

A table without its convention is ambiguous, and the two give different arms, so there is no default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError, Part, UnknownNameError, about
from . import physical
from .motors import Motor
from .parts import Body, Friction, Joint, Limits, Link, Rotor, pose
from .robot import Robot
from .robot_data import STANDARD_GRAVITY, Tool

CONVENTIONS = {
    "standard": "A = Rz(theta) Tz(d) Tx(a) Rx(alpha)",
    "modified": "A = Rx(alpha) Tx(a) Rz(theta) Tz(d)",
}
COLUMNS = {
    "type": "'revolute' (default) or 'prismatic', also 'R' or 'P'",
    "theta": "joint angle [rad]; an offset in a revolute row",
    "d": "joint offset [m]; an offset in a prismatic row",
    "a": "link length [m]",
    "alpha": "link twist [rad]",
    "name": "name of the joint (default joint1, joint2 ...)",
    "link": "name of the link (default link1, link2 ...)",
    "mass": "[kg]",
    "com": "centre of mass in the link's DH frame [m]",
    "inertia": "about the centre of mass [kg m²], 3x3 or three diagonal values",
    "bodies": "further bodies fixed on the link",
    "friction": "a Friction",
    "rotor": "a Rotor",
    "motor": "a Motor",
    "limits": "a Limits",
    "home": "joint value at which q = 0",
}
DEGREES = {"theta_deg": "theta in degrees", "alpha_deg": "alpha in degrees"}
_TYPES = {"revolute": "revolute", "R": "revolute", "prismatic": "prismatic", "P": "prismatic"}
_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
_QUARTER_TOLERANCE = 1e-9  # [rad] tables print π/2 to ten digits or better; a real arm is never built that exactly

Row = Mapping[str, Any]


def dh_transform(convention: str, theta: float, d: float, a: float, alpha: float) -> FloatArray:
    """The 4x4 transform A of one row, equation (1) or (2); multiples of π/2 give exact zeros and ones."""
    checks.choice("convention", convention, CONVENTIONS)
    ct, st = _cos_sin(theta)
    ca, sa = _cos_sin(alpha)
    if convention == "standard":
        rows = [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d]]  # (1)
    else:
        rows = [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca]]  # (2)
    return np.array([*rows, [0, 0, 0, 1]], dtype=float) + 0.0  # no -0.0


def _cos_sin(angle: float) -> tuple[float, float]:
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) < _QUARTER_TOLERANCE:
        return _QUARTERS[quarters % 4]
    return math.cos(angle), math.sin(angle)


def from_dh(
    rows: Sequence[Row],
    *,
    convention: str,
    name: str = "robot",
    gravity: ArrayLike = STANDARD_GRAVITY,
    tool: Tool | ArrayLike | None = None,
    payload: Body | None = None,
    base: ArrayLike | None = None,
    strict: bool = False,
) -> Robot:
    """A serial robot from its Denavit-Hartenberg table, one mapping per joint, equations (1) and (2) above.

    Parameters
    ----------
    rows : sequence of mappings
        The columns, by name: `type`, `theta`, `d`, `a`, `alpha`, `name`, `link`, `mass`, `com`, `inertia`, `bodies`,
        `friction`, `rotor`, `motor`, `limits`, `home` (see `COLUMNS`). In a revolute row θ = q + theta, in a prismatic row
        d = q + d. Angles are in radians; in degrees they are called `theta_deg` and `alpha_deg`.
    convention : {"standard", "modified"}
        Which of the two products the table means.
    tool : Tool or array_like, shape (4, 4), optional
        Tool frame in the last link's frame.
    payload : Body, optional
        A body held in the tool frame.
    base : array_like, shape (4, 4), optional
        Where the table's frame 0 stands in the world.

    Raises
    ------
    UnknownNameError
        For an unknown convention, joint type or column.
    ModelError
        For a table without rows, an angle given twice or a value that has no meaning; under `strict=True` also for what is
        computable but unphysical, such as an angle beyond two turns, which otherwise only warns.

    Examples
    --------
    >>> from_dh([{"a": 1.0, "mass": 2.0, "com": (-0.5, 0, 0), "inertia": (0, 0, 0.2)}], convention="standard", name="arm")
    Robot 'arm': 1 joint (R), 2 links
    """
    checks.choice("convention", convention, CONVENTIONS)
    table = _checked_table(rows)
    doubts = physical.doubts_of_rows(table, strict=checks.flag("strict", strict))
    links, joints = [Link("base")], []
    place = np.eye(4) if base is None else pose("base", base)
    for number, row in enumerate(table, start=1):
        with about(Part("row", str(number))):
            links.append(_link(row))
            joints.append(_joint(row, convention, links[-2].name, links[-1].name, place))
        place = np.eye(4)  # only joint 1 stands on the base
    return Robot.from_parts(
        name,
        links,
        joints,
        friction={row["name"]: row["friction"] for row in table if "friction" in row},
        rotors={row["name"]: row["rotor"] for row in table if "rotor" in row},
        motors={row["name"]: row["motor"] for row in table if "motor" in row},
        notes=doubts,
        gravity=gravity,
        tool=tool if isinstance(tool, Tool) or tool is None else Tool(links[-1].name, pose("tool", tool)),
        payload=payload,
        strict=strict,
    )


def _checked_table(rows: Sequence[Row]) -> list[Row]:
    """Every row checked, with its default names filled in."""
    table: list[Row] = []
    for number, row in enumerate(checks.items("rows", rows, "a sequence of mappings, one per joint,"), start=1):
        with about(Part("row", str(number))):
            table.append(_checked_row(number, row))
    if not table:
        raise ModelError("rows: the table is empty; at least one joint is expected.")
    return table


def _checked_row(number: int, row: object) -> Row:
    """The row without its empty columns and with its default names, refused where it holds the wrong kind of thing."""
    if not isinstance(row, Mapping):
        found = checks.shown(row)
        raise ModelError(f"row {number}: {found} found; a mapping such as {{'d': 0.1, 'alpha': 0.0}} is expected.")
    for column in row:
        if column not in COLUMNS and column not in DEGREES:
            raise UnknownNameError.among(f"row {number}: column", column, [*COLUMNS, *DEGREES])
    kept = {column: value for column, value in row.items() if value is not None}
    for column in ("name", "link"):
        checks.name(f"row {number}: {column}", kept.setdefault(column, f"{column.replace('name', 'joint')}{number}"))
    kept |= _geometry(kept)
    for part, kind in (("friction", Friction), ("rotor", Rotor), ("motor", Motor), ("limits", Limits)):
        if part in kept:
            checks.instance(f"row {number}: {part}", kept[part], kind)
    kept["bodies"] = checks.parts(f"row {number}: bodies", kept.get("bodies", ()), Body)
    kept["type"] = checks.choice(f"row {number}: type", kept.get("type", "revolute"), _TYPES)
    return kept


def _geometry(row: Row) -> dict[str, float]:
    """The four numbers of a row, its angles in radians."""
    subject = f"joint {row['name']!r}"
    found = {key: checks.number(f"{subject}: {key}", row.get(key, 0.0)) for key in ("theta", "d", "a", "alpha")}
    for key in DEGREES:
        column = key.removesuffix("_deg")
        if key in row and column in row:
            raise ModelError(f"{subject}: {column!r} and {key!r} found; the angle is given twice. Keep one of the two.")
        if key in row:
            found[column] = math.radians(checks.number(f"{subject}: {key}", row[key]))
    return found


def _link(row: Row) -> Link:
    subject = f"link {row['link']!r}"
    expected = "a 3x3 tensor or its three diagonal values are expected"
    inertia = checks.numbers(f"{subject}: inertia", row.get("inertia", (0, 0, 0)), expected)
    if inertia.ndim == 1:
        inertia = np.diag(checks.array(f"{subject}: diagonal of inertia", inertia, (3,)))
    return Link(
        row["link"],
        mass=row.get("mass", 0.0),
        com=row.get("com", (0, 0, 0)),
        inertia=inertia,
        bodies=row["bodies"],
    )


def _joint(row: Row, convention: str, parent: str, child: str, placement: FloatArray) -> Joint:
    """The joint whose X_PB(q) is A(q).

    Rz and Tz commute, so the constant part stands as a whole before (modified) or after (standard) the motion about z.
    """
    name = row["name"]
    constant = dh_transform(convention, row["theta"], row["d"], row["a"], row["alpha"])
    modified = convention == "modified"
    return Joint(
        name,
        row["type"],
        parent,
        child,
        origin=placement @ constant if modified else placement,
        child_origin=np.eye(4) if modified else constant,
        home=row.get("home", 0.0),
        limits=row.get("limits", Limits()),
    )
