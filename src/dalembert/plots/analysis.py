"""What formulations cost, and what a simplified model leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis import Comparison, SimplifiedModel
from ..analysis.causes import CAUSES
from ..checks import FloatArray, instance
from . import canvas

_MANY = 16  # joints up to which numbers fit into the cells
_SHORT = 9  # letters of a name that stands beside others below an axis
_SMALL = 0.005  # parts of a torque below this are not worth a row of the figure


def comparison(result: Comparison, *, axes: Any = None) -> Any:
    """Operations and time of inverse dynamics by every formulation, as bars on logarithmic axes.

    Parameters
    ----------
    result : Comparison
        From `dal.compare`.
    axes : array of two matplotlib Axes, optional
        Where to draw operations and times; a new figure otherwise.

    Returns
    -------
    axes : ndarray of the Axes drawn on: two, or the first alone where no times were measured

    Examples
    --------
    >>> import dalembert as dal
    >>> axes = dal.plots.comparison(dal.compare(dal.robots.pendulum(), samples=10, time=False))
    >>> axes[0].get_ylabel()
    'multiplications and additions'
    """
    instance("result", result, Comparison, "dal.compare(robot)")
    timed = all(row.timing is not None for row in result.rows)
    if axes is None:
        axes = canvas.new_axes(1 + timed, 1, size=(7.6, 3.2 + 2.6 * timed))
    panels = canvas.panels(1 + timed, axes, "one for operations, one for times")
    names = [row.formulation for row in result.rows]
    _draw_operations(panels[0], result)
    if timed:
        times = [row.timing.call for row in result.rows if row.timing is not None]
        bars = panels[1].bar(range(len(names)), times, width=0.6, color=canvas.PALETTE[2], label="in a batch")
        panels[1].bar_label(bars, fmt="%.0f", fontsize="small", color=canvas.INK)
        panels[1].set_ylabel("ns per configuration", color=canvas.INK)
    for ax, room in zip(panels, (4.0, 1.5), strict=False):  # above the bars, the first for the legend
        _dress(ax, names, room)
    panels[0].set_title(f"Inverse dynamics of {result.robot}", loc="left", fontsize="medium", color=canvas.INK)
    return panels


def _draw_operations(ax: Any, result: Comparison) -> None:
    """Three bars per formulation; a count that does not exist leaves a gap."""
    kinds = {"published": "published", "as written": "written", "customised for this robot": "customised"}
    for k, (label, field) in enumerate(kinds.items()):
        counts = [getattr(row.operations, field) for row in result.rows]
        totals = [np.nan if c is None else float(c.mul + c.add) for c in counts]
        bars = ax.bar(np.arange(len(totals)) + 0.27 * (k - 1), totals, width=0.25, color=canvas.PALETTE[k], label=label)
        texts = ["" if np.isnan(total) else _short(total) for total in totals]
        ax.bar_label(bars, texts, fontsize="x-small", color=canvas.INK)
    ax.set_ylabel("multiplications and additions", color=canvas.INK)
    ax.legend(frameon=False, labelcolor=canvas.INK, loc="upper left", fontsize="small")


def _short(count: float) -> str:
    return f"{count / 1000:.0f}k" if count >= 10_000 else f"{count:.0f}"


def _dress(ax: Any, names: Sequence[str], room: float) -> None:
    """The common look, for bars from a logarithmic floor."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.set_ylim(10 ** np.floor(np.log10(low)), high * room)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(canvas.FAINT)
    ax.tick_params(color=canvas.FAINT, labelcolor=canvas.INK)
    ax.grid(visible=True, axis="y", color="#EBEBEB", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set_xticks(range(len(names)), [name.replace("_", "\n") for name in names], fontsize="small")


def simplification(model: SimplifiedModel, *, axes: Any = None) -> Any:
    """What the torques of a robot are made of, and the error of a simplified model, joint by joint.

    Parameters
    ----------
    model : SimplifiedModel
        From `dal.simplify_model`.
    axes : array of two matplotlib Axes, optional
        Where to draw the causes and the errors; a new figure otherwise.

    Returns
    -------
    axes : ndarray of the two Axes drawn on

    Examples
    --------
    >>> import dalembert as dal
    >>> axes = dal.plots.simplification(dal.simplify_model(dal.robots.two_link_planar(), tolerance=0.02))
    >>> axes[1].get_ylabel()
    'error [% of largest torque]'
    """
    instance("model", model, SimplifiedModel, "dal.simplify_model(robot)")
    shown = [k for k, row in enumerate(model.by_cause) if row.max(initial=0.0) > _SMALL]
    if axes is None:
        axes = canvas.new_axes(2, 1, size=(2.6 + 0.75 * max(6, len(model.joints)), 3.2 + 0.28 * len(shown)))
    upper, lower = canvas.panels(2, axes, "one for causes, one for errors")
    _draw_causes(upper, model.by_cause[shown], [CAUSES[k] for k in shown])
    _draw_errors(lower, model)
    before, after = (counts.flops for counts in model.operations)
    title = f"{model.robot} over {model.over}: {before} to {after} operations"
    upper.set_title(f"{title}\nlargest share of each cause in a joint's torque", loc="left", fontsize="medium", color=canvas.INK)
    return np.array([upper, lower])


def _draw_causes(ax: Any, sizes: FloatArray, names: Sequence[str]) -> None:
    """A cell per cause and joint: its largest share of the joint's largest torque."""
    ax.imshow(sizes, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.2)
    for (row, column), size in np.ndenumerate(sizes):
        if size > _SMALL and sizes.shape[1] <= _MANY:
            ink = "white" if size > 0.75 else canvas.INK
            ax.text(column, row, f"{size:.0%}", ha="center", va="center", fontsize="small", color=ink)
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.tick_params(length=0.0, labelcolor=canvas.INK)
    ax.spines[:].set_visible(False)


def _draw_errors(ax: Any, model: SimplifiedModel) -> None:
    places = np.arange(len(model.joints))
    ax.bar(places, 100.0 * model.error / model.scale, width=0.6, color=canvas.PALETTE[0], label="largest error found")
    ax.axhline(100.0 * model.tolerance, color=canvas.PALETTE[1], linewidth=1.6, linestyle="--", label="tolerance")
    canvas.dress(ax, None, "error [% of largest torque]")
    ax.set_xlim(-0.5, len(places) - 0.5)
    level = len(places) <= _MANY // 2 and max(map(len, model.joints)) <= _SHORT
    slope = {} if level else {"rotation": 50, "ha": "right", "rotation_mode": "anchor"}  # long names would cover each other
    ax.set_xticks(places, model.joints, fontsize="small", **slope)
    ax.grid(visible=False, axis="x")
    labels = ax.get_legend_handles_labels()[1]
    columns = canvas.legend_columns(labels, 0.75 * max(6, len(places)))
    ax.set_ylim(0.0, 100.0 * model.tolerance * (1.25 + 0.2 * -(-len(labels) // columns)))  # room for the legend
    ax.legend(frameon=False, labelcolor=canvas.INK, fontsize="small", loc="upper center", ncols=columns)
