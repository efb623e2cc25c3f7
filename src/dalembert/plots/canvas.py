"""What all figures share: where axes come from, their colours, and the checks of what is drawn."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import MissingExtraError, ShapeError
from ..wording import shown

# Distinct for every kind of colour vision, and in grey by their lightness; black is for totals.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#8C6D31")
INK = "#222222"
FAINT = "#B8B8B8"
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))  # a new one each time the palette is used up


def new_axes(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 3.8), projection: str | None = None) -> Any:
    """Axes of a new figure, shape (rows, columns), in space with projection='3d'; without matplotlib, an error that names
    the extra.
    """
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise MissingExtraError.for_extra("plots: drawing", "matplotlib", "plots") from None
    kind = {"projection": projection}
    shared = projection is None
    _, axes = pyplot.subplots(rows, columns, sharex=shared, squeeze=False, figsize=size, layout="constrained", subplot_kw=kind)
    return axes


def dress(ax: Any, xlabel: str | None = None, ylabel: str | None = None, *, zero: bool = True) -> None:
    """The common look: no box, a faint zero line and grid, labels with units; without `zero`, its line only where it is among
    what is drawn, as zero is no special position.
    """
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(color=FAINT, labelcolor=INK)
    ax.grid(visible=True, color="#EBEBEB", linewidth=0.8)
    low, high = ax.dataLim.intervaly
    if zero or low <= 0.0 <= high:
        ax.axhline(0.0, color=FAINT, linewidth=0.8, zorder=1)
    ax.margins(x=0.0)
    ax.set_axisbelow(True)
    if xlabel:
        ax.set_xlabel(xlabel, color=INK)
    if ylabel:
        ax.set_ylabel(ylabel, color=INK)


def line_style(number: int) -> dict[str, Any]:
    """Colour and dashes of the line with this number."""
    turn, colour = divmod(number, len(PALETTE))
    return {"color": PALETTE[colour], "linestyle": DASHES[turn % len(DASHES)], "linewidth": 1.6}


def series(t: ArrayLike, name: str, values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Times, shape (k,), and the values at them, shape (k, n)."""
    times, columns = _numbers("t", t, "times of shape (k,)"), _numbers(name, values, "shape (k, n)")
    if times.ndim != 1:
        raise ShapeError(f"t: shape {times.shape} found, (k,) expected: one time per sample.")
    if columns.ndim != 2 or len(columns) != len(times):
        raise ShapeError(f"{name}: shape {columns.shape} found, ({len(times)}, n) expected: one row per time in t.")
    return times, columns


def _numbers(subject: str, value: ArrayLike, expected: str) -> FloatArray:
    return checks.numbers(subject, value, f"{expected} expected", ShapeError)


def labels(subject: str, given: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """One label per joint: those given, or the default."""
    if given is None:
        return list(default)
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(label, str) for label in given):
        raise ShapeError(f"{subject}: {shown(given)} found, a list of {len(default)} texts expected: one per joint.")
    found = list(given)
    if len(found) != len(default):
        raise ShapeError(f"{subject}: {len(found)} found, {len(default)} expected: one per joint.")
    return found


def units(given: str | Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """The unit of each joint: one for all, or one each; N m where none is given."""
    one = "N m" if given is None else given
    return [one] * len(names) if isinstance(one, str) else labels("units", one, names)


def one_of_axes(ax: Any) -> Any:
    """Axes to draw on; anything else is refused."""
    if not hasattr(ax, "plot") or not hasattr(ax, "get_subplotspec"):
        raise ShapeError(f"axes: {shown(ax)} found, Axes of matplotlib expected. Try figure.subplots().")
    return ax


def panels(count: int, axes: Any, what: str, *, width: int = 3) -> Any:
    """The first `count` of the axes given, or of a new figure with up to `width` panels in a row; spare ones are hidden."""
    if axes is None:
        width = min(width, count)
        rows = math.ceil(count / width)
        axes = new_axes(rows, width, size=(3.2 * max(width, 2), 0.6 + 2.2 * rows))
    found = np.ravel(np.asarray(axes, dtype=object))
    for ax in found:
        one_of_axes(ax)
    if len(found) < count:
        raise ShapeError(f"axes: {len(found)} found, {count} expected: {what}.")
    for spare in found[count:]:
        spare.set_visible(False)
    return found[:count]


def finish(panels: Any) -> None:
    """Times under the lowest panels, and one legend above all, in as many columns as fit."""
    lowest = {_column(ax): ax for ax in panels}  # panels go row by row, so the last one of a column wins
    for ax in panels:
        if lowest[_column(ax)] is ax:
            ax.set_xlabel("time [s]", color=INK)
            ax.tick_params(labelbottom=True)
        ax.locator_params(axis="x", nbins=4)  # panels are narrow: five numbers would touch
    figure = panels[0].figure
    figure.align_ylabels(panels)
    handles, names = panels[0].get_legend_handles_labels()
    columns = legend_columns(names, figure.bbox.width / figure.dpi)
    figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False, labelcolor=INK)


def _column(ax: Any) -> Any:
    """The column of a panel in its grid; a panel outside of any grid is a column of its own."""
    place = ax.get_subplotspec()
    return ax if place is None else place.colspan.start


def legend_inches(names: Sequence[str]) -> float:
    """The width of a legend in one column: a handle, a gap and the longest name."""
    return 0.55 + 0.075 * max(map(len, names), default=0)


def legend_columns(names: Sequence[str], inches: float) -> int:
    """How many columns of a legend, filled evenly, fit into a width."""
    entries = np.array([legend_inches([name]) for name in names])
    fits = (count for count in range(len(names), 1, -1) if sum(c.max() for c in np.array_split(entries, count)) <= inches)
    rows = math.ceil(len(names) / next(fits, 1))
    return math.ceil(len(names) / rows)  # no more columns than these rows need
