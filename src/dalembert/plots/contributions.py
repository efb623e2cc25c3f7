"""What joint torques are made of, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray, choice
from ..dynamics.contributions import SPLITS, Contributions
from ..errors import ShapeError
from ..wording import shown
from . import canvas
from .joints import numbered, quantity


def contributions(
    t: ArrayLike,
    parts: Contributions | Mapping[str, ArrayLike],
    *,
    by: str = "cause",
    names: Sequence[str] | None = None,
    units: str | Sequence[str] | None = None,
    axes: Any = None,
) -> Any:
    """What each joint torque is made of: one panel per joint, a line for each part and a bold one for their sum.

    Parameters
    ----------
    t : array_like, shape (k,)
        Times [s].
    parts : Contributions, or mapping of str to array_like, shape (k, n)
        What `dal.contributions` returns along a motion; or parts of one's own, such as {"inertia": ..., "gravity": ...}, in the
        order of the legend.
    by : {'cause', 'joint', 'nature', 'link'}
        Which split of a `Contributions` to draw, as in [Siciliano, Fig. 7.6] for 'joint'; parts that are zero are left out.
    names, units
        As in `torques`, for the titles and labels of the panels; a `Contributions` knows its own.
    axes : array of at least n matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    axes : ndarray of the n Axes drawn on

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, times = dal.robots.two_link_planar(), [0.0, 0.5, 1.0, 1.5, 2.0]
    >>> m = dal.trajectory.triangular([0.0, 0.0], [1.0, 0.5], duration=2.0)(times)
    >>> axes = dal.plots.contributions(m.t, dal.contributions(robot, m.q, m.qd, m.qdd))
    >>> [ax.get_title(loc="left") for ax in axes]
    ['joint1', 'joint2']
    """
    if isinstance(parts, Contributions):
        names = parts.coordinates if names is None else names
        units = parts.units if units is None else units
        parts = _that_act(choice("by", by, SPLITS)(parts))
    if not isinstance(parts, Mapping):
        raise ShapeError(f"parts: {shown(parts)} found; Contributions or a mapping of names to arrays expected.")
    if not parts:
        raise ShapeError("parts: none found; at least one array by name is expected.")
    times, columns = _stacked(t, parts)
    names = canvas.labels("names", names, numbered(columns[0]))
    unit_of = canvas.units(units, names)
    panels = canvas.panels(len(names), axes, "one per joint")
    for i, ax in enumerate(panels):
        _draw_parts(ax, times, dict(zip(parts, columns[:, :, i], strict=True)))
        ax.set_title(names[i], loc="left", fontsize="medium", color=canvas.INK)
        canvas.dress(ax)
    _label(panels, unit_of)
    canvas.finish(panels)
    return panels


def _that_act(parts: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The parts that are not zero all the time, or all of them if nothing acts at all."""
    acting = {name: values for name, values in parts.items() if np.any(values != 0.0)}
    return acting or dict(parts)


def _stacked(t: ArrayLike, parts: Mapping[str, ArrayLike]) -> tuple[FloatArray, FloatArray]:
    """Times and the parts, shape (parts, k, n)."""
    checked = [canvas.series(t, f"parts[{name!r}]", values) for name, values in parts.items()]
    widths = {name: columns.shape[1] for name, (_, columns) in zip(parts, checked, strict=True)}
    if len(set(widths.values())) > 1:
        listing = ", ".join(f"{name} {width}" for name, width in widths.items())
        raise ShapeError(f"parts: different numbers of joints found: {listing}. All need the same.")
    return checked[0][0], np.array([columns for _, columns in checked])


def _draw_parts(ax: Any, times: FloatArray, parts: Mapping[str, FloatArray]) -> None:
    for number, (name, values) in enumerate(parts.items()):
        ax.plot(times, values, label=name, **canvas.line_style(number))
    if len(parts) > 1:
        ax.plot(times, sum(parts.values()), color=canvas.INK, linewidth=2.2, label="total", zorder=3)


def _label(panels: Any, units: Sequence[str]) -> None:
    """Torques beside the first panels of each row, or beside all where units differ."""
    mixed = len(set(units)) > 1
    for i, ax in enumerate(panels):
        place = ax.get_subplotspec()
        if place is None or place.is_first_col() or mixed:
            ax.set_ylabel(f"{quantity(units[i])} [{units[i]}]", color=canvas.INK)
