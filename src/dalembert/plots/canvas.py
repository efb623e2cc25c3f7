"""What all figures share: where axes come from, their colours, and the checks of what is drawn."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import MissingExtraError, ShapeError

# Told apart with any kind of colour vision, and in grey by their order of lightness; black is left for totals.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#8C6D31")
INK = "#222222"
FAINT = "#B8B8B8"
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))  # a new one each time the palette is used up


def new_axes(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 3.8)) -> Any:
    """Axes of a new figure, shape (rows, columns), or a sentence that names the extra."""
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise MissingExtraError.for_extra("plots: drawing", "matplotlib", "plots") from None
    _, axes = pyplot.subplots(rows, columns, sharex=True, squeeze=False, figsize=size, layout="constrained")
    return axes


def dress(ax: Any, xlabel: str | None = None, ylabel: str | None = None) -> None:
    """The common look: no box, a faint zero line and grid, labels with units."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(color=FAINT, labelcolor=INK)
    ax.grid(visible=True, color="#EBEBEB", linewidth=0.8)
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
    times, columns = np.asarray(t, dtype=float), np.asarray(values, dtype=float)
    if times.ndim != 1:
        raise ShapeError(f"t: shape {times.shape} found, (k,) expected: one time per sample.")
    if columns.ndim != 2 or len(columns) != len(times):
        raise ShapeError(f"{name}: shape {columns.shape} found, ({len(times)}, n) expected: one row per time in t.")
    return times, columns


def labels(subject: str, given: str | Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """One label per joint: those given, one for all, or the default."""
    if given is None:
        return list(default)
    found = [given] * len(default) if isinstance(given, str) else list(given)
    if len(found) != len(default):
        raise ShapeError(f"{subject}: {len(found)} found, {len(default)} expected: one per joint.")
    return found
