"""Tables of a motion in files: columns with names and units, as CSV or Parquet, read and written.

    t [s], q_joint1 [rad], q_joint2 [rad], qd_joint1 [rad/s], ...

A motion needs t and q of every coordinate; rates that are left out are those of a spline of fifth order through q. Angles may be
in degrees, which the unit says. Parquet is read and written by pyarrow, the extra `data`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..errors import FormatError, Place, ShapeError, UnknownNameError, shown
from ..table_files import read_columns, table_format, write_columns
from ..trajectory import septic
from ..wording import counted, listed
from .outputs import confirm
from .systems import Loaded, coordinates_of

_HEAD = re.compile(r"\s*(?P<name>.+?)\s*(?:\[(?P<unit>[^\]]*)\])?\s*")
_RATES = ("q", "qd", "qdd", "qddd")
_POWERS = ("", "/s", "/s²", "/s³")
_PLAIN = {"": "", "/s": "/s", "/s2": "/s²", "/s^2": "/s²", "/s²": "/s²", "/s3": "/s³", "/s^3": "/s³", "/s³": "/s³"}
TIMES = {"": 1.0, "s": 1.0, "ms": 1e-3}
_ORDER = 5  # of the spline: its third derivative has no corners


class MotionTable(NamedTuple):
    """A motion at samples: t (K,), and q with three rates, (K, n) each."""

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    qddd: FloatArray


def read_motion(path: str, robot: Loaded) -> MotionTable:
    """The motion of a file, in SI units."""
    table = _named(path, robot, ["t"])
    t = column(path, table, "t", TIMES)
    rising(path, t, _ORDER + 1)
    q = _states(path, table, robot, "q")
    assert q is not None
    found = [_states(path, table, robot, name) for name in _RATES[1:]]
    if any(x is None for x in found):
        from scipy.interpolate import make_interp_spline

        spline = make_interp_spline(t, q, k=_ORDER)
        found = [spline(t, k) if x is None else x for k, x in enumerate(found, start=1)]
    return MotionTable(t, q, *found)  # type: ignore[arg-type]


def read_states(path: str, robot: Loaded, rates: Sequence[str]) -> dict[str, FloatArray]:
    """States of a file in SI units, by name, shape (K, n): those of the rates it has, q always, and t if it has one."""
    table = _named(path, robot, [])
    found = {rate: _states(path, table, robot, rate) for rate in rates}
    for rate, values in found.items():
        if values is None and any(f"{rate}_{c.name}" in table for c in coordinates_of(robot)):
            missing = next(name for c in coordinates_of(robot) if (name := f"{rate}_{c.name}") not in table)
            raise FormatError(f"no column {missing!r} found beside others of its kind; give all or none.", place=Place(path))
    times = {"t": column(path, table, "t", TIMES)} if "t" in table else {}
    return {name: values for name, values in found.items() if values is not None} | times


def named_columns(path: str, *, gaps: bool = False) -> dict[str, tuple[str, FloatArray]]:
    """The columns of a file by name, each with its unit; numbers that are not finite only where there may be gaps."""
    heads, columns = read_columns(Path(path), gaps=gaps)
    found: dict[str, tuple[str, FloatArray]] = {}
    for (name, unit), column in zip(map(_parsed, heads), columns, strict=True):
        if name in found:
            raise FormatError(f"column {shown(name)}: found twice; which is meant? Leave one out.", place=Place(path))
        found[name] = unit, column
    return found


def _named(path: str, robot: Loaded, needed: list[str]) -> dict[str, tuple[str, FloatArray]]:
    """The columns of a file by name, each with its unit; q of every coordinate is among them."""
    table = named_columns(path)
    _refuse_unknown(path, table, robot, needed)
    return table


def read_points(path: str, robot: Loaded) -> tuple[FloatArray, FloatArray]:
    """Times and positions of a file, two rows or more, in SI units."""
    table = _named(path, robot, ["t"])
    t, q = column(path, table, "t", TIMES), _states(path, table, robot, "q")
    assert q is not None
    rising(path, t, 2)
    return t, q


def rising(path: str, t: FloatArray, least: int) -> None:
    """Refuse too few times, or some that do not rise."""
    if len(t) < least:
        raise FormatError(f"t: {counted(len(t), 'time')} found; {least} or more are expected.", place=Place(path))
    if not (rise := np.diff(t) > 0).all():
        k = int(np.argmin(rise))
        pair = f"{t[k]:g} s in row {k + 1} and {t[k + 1]:g} s in row {k + 2}"
        raise FormatError(f"t: {pair} found; times have to rise. Sort the rows, and leave out repeated ones.", place=Place(path))


def read_torques(path: str, robot: Loaded) -> tuple[FloatArray, FloatArray]:
    """Times (G,) and torques (G, n) of a file with columns t and tau_<name>; other columns are left alone."""
    table = named_columns(path)
    names = [f"tau_{c.name}" for c in coordinates_of(robot)]
    for name in ("t", *names):
        if name not in table:
            raise FormatError(f"no column {name!r} found; {listed(['t', *names])} are expected.", place=Place(path))
    t = column(path, table, "t", TIMES)
    rising(path, t, 1)
    units = [{"": 1.0, "N m": 1.0, "Nm": 1.0} if c.turns else {"": 1.0, "N": 1.0} for c in coordinates_of(robot)]
    return t, np.column_stack([column(path, table, name, unit) for name, unit in zip(names, units, strict=True)])


def smooth_motion(start: FloatArray, end: FloatArray, duration: float, samples: int) -> MotionTable:
    """From rest to rest by a polynomial of order 7, whose jerk is zero at both ends."""
    if not duration > 0:
        raise ShapeError(f"--time: {duration:g} s found, a positive duration is expected.")
    at = septic(start, end, duration=duration).sample(count=samples)
    return MotionTable(at.t, at.q, at.qd, at.qdd, at.qddd)


def _parsed(head: str) -> tuple[str, str]:
    match = _HEAD.fullmatch(head)
    return (match["name"], (match["unit"] or "").strip()) if match else (head, "")


def _refuse_unknown(path: str, table: Mapping[str, Any], robot: Loaded, needed: list[str]) -> None:
    """A misspelled joint would silently be left out."""
    joints = [c.name for c in coordinates_of(robot)]
    expected = [*needed, *(f"q_{name}" for name in joints)]
    for name in table:
        rate, _, joint = name.partition("_")
        if rate in _RATES and joint not in joints:
            raise UnknownNameError.among(f"{path}: column {shown(name)}: coordinate", joint, joints)
    missing = [name for name in expected if name not in table]
    if missing:
        raise FormatError(f"no column {missing[0]!r} found; {listed(expected)} are expected.", place=Place(path))


def _states(path: str, table: Mapping[str, Any], robot: Loaded, rate: str) -> FloatArray | None:
    """Positions or rates of all coordinates; None where some are left out."""
    names = [f"{rate}_{c.name}" for c in coordinates_of(robot)]
    if any(name not in table for name in names):
        return None
    power = _POWERS[_RATES.index(rate)]
    columns = []
    for c, name in zip(coordinates_of(robot), names, strict=True):
        units = {"rad": 1.0, "deg": np.pi / 180, "°": np.pi / 180} if c.turns else {"m": 1.0, "mm": 1e-3}
        columns.append(column(path, table, name, {"": 1.0} | {f"{unit}{power}": size for unit, size in units.items()}))
    return np.column_stack(columns)


def column(path: str, table: Mapping[str, Any], name: str, units: Mapping[str, float]) -> FloatArray:
    """A column in SI units, by the sizes of the units it may have."""
    unit, values = table[name]
    base, _, power = unit.partition("/")
    written = f"{base}{_PLAIN.get(f'/{power}' if power else '', power)}"
    if written not in units:
        known = listed([known for known in units if known])
        raise FormatError(f"column {name!r}: unit {unit!r} found; {known} is expected.", place=Place(path))
    return np.asarray(values, dtype=float) * units[written]


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns under their names, and say so."""
    write_columns(path, columns)
    confirm(path)


def motion_columns(robot: Loaded, motion: MotionTable) -> dict[str, FloatArray]:
    """A motion as columns with units."""
    return state_columns(robot, dict(zip(_RATES, motion[1:], strict=True)), motion.t)


def state_columns(robot: Loaded, states: Mapping[str, FloatArray], t: FloatArray | None = None) -> dict[str, FloatArray]:
    """States, by the names of their rates, as columns with units."""
    found = {} if t is None else {"t [s]": t}
    for rate, values in states.items():
        power = _POWERS[_RATES.index(rate)]
        for k, c in enumerate(coordinates_of(robot)):
            found[f"{rate}_{c.name} [{'rad' if c.turns else 'm'}{power}]"] = values[:, k]
    return found


__all__ = [
    "TIMES",
    "MotionTable",
    "column",
    "motion_columns",
    "named_columns",
    "read_motion",
    "read_points",
    "read_states",
    "read_torques",
    "rising",
    "smooth_motion",
    "state_columns",
    "table_format",
    "write_table",
]
