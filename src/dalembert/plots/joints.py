"""Joint quantities over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ShapeError
from . import canvas


def torques(
    t: ArrayLike,
    tau: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    units: str | Sequence[str] = "N m",
    ax: Any = None,
) -> Any:
    """Joint torques over time, one line per joint, on one pair of axes.

    Parameters
    ----------
    t : array_like, shape (k,)
        Times [s].
    tau : array_like, shape (k, n)
        Joint torques [N m | N]. A NaN leaves a gap.
    names : sequence of n str, optional
        For the legend, such as `robot.joint_names`.
    units : str or sequence of n str
        "N m" for turning joints, "N" for sliding ones.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    ax : the axes drawn on
    """
    times, columns = canvas.series(t, "tau", tau)
    names = canvas.labels("names", names, _numbered(columns))
    unit_of = canvas.labels("units", units, names)
    mixed = len(set(unit_of)) > 1
    ax = canvas.new_axes()[0, 0] if ax is None else ax
    for i, name in enumerate(names):
        ax.plot(times, columns[:, i], label=f"{name} [{unit_of[i]}]" if mixed else name, **canvas.line_style(i))
    canvas.dress(ax, "time [s]", "joint torque or force" if mixed else f"{_quantity(unit_of[0])} [{unit_of[0]}]")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)
    return ax


def contributions(
    t: ArrayLike,
    parts: Mapping[str, ArrayLike],
    *,
    names: Sequence[str] | None = None,
    units: str | Sequence[str] = "N m",
    axes: Any = None,
) -> Any:
    """What each joint torque is made of: one panel per joint, a line for each part and a bold one for their sum.

    Parameters
    ----------
    t : array_like, shape (k,)
        Times [s].
    parts : mapping of str to array_like, shape (k, n)
        The parts by name, such as {"inertia": ..., "gravity": ...}, in the order of the legend.
    names, units
        As in `torques`, for the titles and labels of the panels.
    axes : array of at least n matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    axes : ndarray of the n Axes drawn on
    """
    if not parts:
        raise ShapeError("parts: none found; at least one array by name is expected.")
    times, columns = _stacked(t, parts)
    names = canvas.labels("names", names, _numbered(columns[0]))
    unit_of = canvas.labels("units", units, names)
    panels = _panels(len(names), axes)
    for i, ax in enumerate(panels):
        _draw_parts(ax, times, dict(zip(parts, columns[:, :, i], strict=True)))
        ax.set_title(names[i], loc="left", fontsize="medium", color=canvas.INK)
        canvas.dress(ax)
        ax.locator_params(axis="x", nbins=4)  # panels are narrow: five numbers would touch
    _label(panels, unit_of)
    return panels


def _numbered(columns: FloatArray) -> list[str]:
    return [f"joint {i + 1}" for i in range(columns.shape[1])]


def _quantity(unit: str) -> str:
    return "force" if unit == "N" else "torque"


def _stacked(t: ArrayLike, parts: Mapping[str, ArrayLike]) -> tuple[FloatArray, FloatArray]:
    """Times and the parts, shape (parts, k, n)."""
    checked = [canvas.series(t, f"parts[{name!r}]", values) for name, values in parts.items()]
    widths = {name: columns.shape[1] for name, (_, columns) in zip(parts, checked, strict=True)}
    if len(set(widths.values())) > 1:
        listing = ", ".join(f"{name} {width}" for name, width in widths.items())
        raise ShapeError(f"parts: different numbers of joints found: {listing}. All need the same.")
    return checked[0][0], np.array([columns for _, columns in checked])


def _panels(count: int, axes: Any) -> Any:
    if axes is None:
        width = min(3, count)
        rows = math.ceil(count / width)
        axes = canvas.new_axes(rows, width, size=(3.2 * width, 0.6 + 2.2 * rows))
    found = np.ravel(np.asarray(axes, dtype=object))
    if len(found) < count:
        raise ShapeError(f"axes: {len(found)} found, {count} expected: one per joint.")
    for spare in found[count:]:
        spare.set_visible(False)
    return found[:count]


def _draw_parts(ax: Any, times: FloatArray, parts: Mapping[str, FloatArray]) -> None:
    for number, (name, values) in enumerate(parts.items()):
        ax.plot(times, values, label=name, **canvas.line_style(number))
    if len(parts) > 1:
        ax.plot(times, sum(parts.values()), color=canvas.INK, linewidth=2.2, label="total", zorder=3)


def _label(panels: Any, units: Sequence[str]) -> None:
    """Times under the lowest panels, torques beside the first ones (or all, where units differ), one legend above."""
    mixed = len(set(units)) > 1
    for i, ax in enumerate(panels):
        place = ax.get_subplotspec()
        if place is None or place.is_last_row():
            ax.set_xlabel("time [s]", color=canvas.INK)
        if place is None or place.is_first_col() or mixed:
            ax.set_ylabel(f"{_quantity(units[i])} [{units[i]}]", color=canvas.INK)
    panels[0].figure.align_ylabels(panels)
    handles, names = panels[0].get_legend_handles_labels()
    panels[0].figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False, labelcolor=canvas.INK)
