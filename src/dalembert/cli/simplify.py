"""`dalembert simplify`: inverse dynamics of a robot without the terms that do not matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import analysis, plots
from ..analysis.causes import CAUSES
from ..analysis.simplify import dropped_table, error_table
from ..loading import load
from . import outputs, terminal
from .sheets import Sheet, print_sheets, print_title, sheet


def run(source: str, *, tolerance: float, form: str, samples: int, seed: int, json: bool, figure: str | None) -> None:
    """Print what a model within the tolerance leaves out, what that saves and how wrong it is."""
    picture = outputs.picture("simplify", figure)
    robot = load(source)
    model = analysis.simplify_model(robot, tolerance=tolerance, form=form, samples=samples, rng=np.random.default_rng(seed))
    if json:
        terminal.print_json(record(model))
    else:
        print_title(model.summary())
        print_sheets(cause_table(model), sheet(*error_table(model)), sheet(*dropped_table(model), left=3))
    if picture is not None:
        outputs.save_figure(draw(model), picture)


def cause_table(model: analysis.SimplifiedModel) -> Sheet:
    """What the exact torques are made of: the largest share of each cause in each joint's largest torque."""
    rows = [[name, *(f"{size:.1%}" for size in sizes)] for name, sizes in zip(CAUSES, model.by_cause, strict=True) if sizes.any()]
    return sheet("Largest size of each cause, relative to the joint's largest torque", ["cause", *model.joints], rows)


def draw(model: analysis.SimplifiedModel) -> Any:
    """The figure."""
    figure = outputs.new_figure((2.6 + 0.75 * max(6, len(model.joints)), 6.6), layout="constrained")
    plots.simplification(model, axes=figure.subplots(2, 1, sharex=True, height_ratios=[3, 2]))
    return figure


def record(model: analysis.SimplifiedModel) -> dict[str, Any]:
    """Everything that was found, for other programs."""
    return {
        "robot": model.robot,
        "joints": model.joints,
        "torque_units": model.units,
        "form": model.form,
        "over": model.over,
        "tolerance": model.tolerance,
        "samples": model.samples,
        "largest_torque": model.scale,
        "error": model.error,
        "operations": {name: counts._asdict() for name, counts in model.operations._asdict().items()},
        "dropped": [piece._asdict() for piece in model.dropped],
        "contributions": [piece._asdict() for piece in model.contributions],
    }
