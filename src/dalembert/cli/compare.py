"""`dalembert compare`: all formulations on one robot, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import analysis, plots
from ..analysis.comparison import cost_table, difference_table
from ..loading import load
from . import outputs, terminal
from .sheets import Sheet, print_sheets, sheet


def run(source: str, *, samples: int, seed: int, json: bool, figure: str | None) -> None:
    """Print differences, operations, times and properties; draw operations and times where a file is named."""
    picture = outputs.picture("compare", figure)
    found = analysis.compare(load(source), samples=samples, rng=np.random.default_rng(seed))
    if json:
        terminal.print_json(record(found))
    else:
        _print(found)
    if picture is not None:
        outputs.save_figure(draw(found), picture)


def _print(found: analysis.Comparison) -> None:
    sheets = [sheet(*content) for content in (difference_table(found), cost_table(found))]
    print_sheets(*sheets, property_table(found.properties))
    if found.too_long_for:
        terminal.remark(f"left out, since the robot has too many joints for them: {', '.join(found.too_long_for)}")


def property_table(found: analysis.Properties) -> Sheet:
    """The properties of the model, with what they say."""
    return sheet(*found.table(), left=2)


def draw(found: analysis.Comparison) -> Any:
    """The figure."""
    figure = outputs.new_figure((7.6, 5.8), layout="constrained")
    plots.comparison(found, axes=figure.subplots(2, 1, sharex=True))
    return figure


def record(found: analysis.Comparison) -> dict[str, Any]:
    """Everything that was found, for other programs."""
    return {
        "robot": found.robot,
        "samples": found.samples,
        "formulations": {row.formulation: _row(row) for row in found.rows},
        "too_long_for": found.too_long_for,
        "properties": _properties(found.properties),
    }


def _row(row: Any) -> dict[str, Any]:
    counts = row.operations
    return {
        "differences": row.differences._asdict(),
        "operations": {name: value and value._asdict() for name, value in counts._asdict().items() if name != "formulation"},
        "ns_per_call": row.timing and row.timing.call,
        "compile_s": row.timing and row.timing.compile,
    }


def _properties(found: analysis.Properties) -> dict[str, Any]:
    eigenvalues = {"smallest": found.smallest, "largest": found.largest}
    return {
        "samples": found.samples,
        "hold": found.hold,
        "residuals": found.residuals,
        "eigenvalues_of_M": {name: extreme._asdict() for name, extreme in eigenvalues.items()},
    }
