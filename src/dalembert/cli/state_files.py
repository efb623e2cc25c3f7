"""Tables of states in files, as commands take and give them: a row for each state, columns with names and units.

    q_joint1 [rad], q_joint2 [rad], qd_joint1 [rad/s], ...

Rates that are left out are zero; a column t [s] is kept. What a command finds stands beside the states in the table it
writes, and on the screen as the least and the largest of each.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..errors import ShapeError
from . import outputs
from .digits import number
from .dynamics import GivenState, state_of
from .motion_files import read_states, state_columns, table_format, write_table
from .sheets import Sheet, sheet
from .systems import Loaded


class StateRows(NamedTuple):
    """One state, or the rows of a table of them, whose times are known or not."""

    state: GivenState
    many: bool
    t: FloatArray | None = None

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.state.q) if self.many else 1

    def columns(self, robot: Loaded, *rates: str) -> dict[str, FloatArray]:
        """The states as columns with units."""
        return state_columns(robot, {rate: np.atleast_2d(getattr(self.state, rate)) for rate in rates}, self.t)


def rows_of(robot: Loaded, given: Namespace, *rates: str, finite: bool = False) -> StateRows:
    """The state that options give, or those of a file, which are finite."""
    values = {rate: getattr(given, rate) for rate in rates}
    if given.states is None:
        return StateRows(state_of(robot, values, degrees=given.degrees, finite=finite), many=False)
    for rate, value in values.items():
        if value:
            raise ShapeError(f"--states: found together with --{rate}, but the file has the states. Leave one of them out.")
    found = read_states(given.states, robot, rates)
    zero = np.zeros_like(found["q"])
    return StateRows(GivenState(*(found.get(rate, zero) for rate in GivenState._fields)), many=True, t=found.get("t"))


def target_of(given: str | None) -> Any:
    """Where a table goes, if one is wanted and can be written."""
    if given is None:
        return None
    table_format("--output", given)
    return outputs.destination("--output", given)


def write_rows(target: Any, states: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """What was found beside the states, if a table is wanted."""
    if target is not None:
        write_table(target, {**states, **{name: np.atleast_1d(values) for name, values in found.items()}})


def entries(name: str, rows: Sequence[str], columns: Sequence[str], units: Any, values: FloatArray) -> dict[str, FloatArray]:
    """The entries of matrices (..., m, n) as columns; `units` is a function of both places."""
    return {
        f"{name} {row} by {column} [{units(i, j)}]": values[..., i, j]
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    }


def extremes(title: str, found: Mapping[str, FloatArray]) -> Sheet:
    """The least and the largest of what many states gave, and the rows where they are, the first being row 1."""
    rows = [(name, *_extreme(values, np.nanargmin), *_extreme(values, np.nanargmax)) for name, values in found.items()]
    return sheet(title, ["", "least", "in row", "largest", "in row"], rows)


def _extreme(values: FloatArray, place: Any) -> tuple[str, str]:
    if np.isnan(values).all():
        return "–", "–"
    k = int(place(values))
    return number(float(values[k])), str(k + 1)


__all__ = ["StateRows", "entries", "extremes", "rows_of", "target_of", "write_rows"]
