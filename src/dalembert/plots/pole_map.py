"""Poles of a linear model in the complex plane, and which states take part in each mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import instance
from ..errors import ShapeError
from ..linear import LinearModel
from . import canvas

_MANY = 16  # modes up to which shares are written into the cells
_SMALL = 0.05  # shares below this are not written


def poles(model: LinearModel, *, axes: Any = None) -> Any:
    """Poles of a linear model and the shares of states in its modes; of a batch, the poles alone, along the batch.

    Parameters
    ----------
    model : LinearModel
        From `dal.linearize`.
    axes : array of matplotlib Axes, optional
        Two, for the poles and the shares; one for a batch. A new figure otherwise.

    Returns
    -------
    axes : ndarray of the Axes drawn on

    Examples
    --------
    >>> import dalembert as dal
    >>> axes = dal.plots.poles(dal.linearize(dal.robots.pendulum(), [0.0]))
    >>> axes[0].get_xlabel()
    'real part [1/s]'
    """
    instance("model", model, LinearModel, "dal.linearize(robot, q)")
    if model.dt is not None:
        raise ShapeError("model: one in steps of time found, whose poles are others; the continuous one is expected.")
    count = 1 if model.batch else 2
    if axes is None:
        figure = canvas.new_axes(size=(4.8 * count, 4.2))[0, 0].figure
        figure.clear()
        axes = figure.subplots(1, count)  # which share no axis
    panels = canvas.panels(count, axes, "one for the poles, one for the shares of states")
    _draw_poles(panels[0], model)
    if count == 2:
        _draw_shares(panels[1], model)
    return panels


def _draw_poles(ax: Any, model: LinearModel) -> None:
    canvas.dress(ax, "real part [1/s]", "imaginary part [rad/s]")
    ax.axvline(0.0, color=canvas.FAINT, linewidth=0.8, zorder=1)
    found = model.poles.reshape(-1, model.n)
    if len(found) == 1:
        ax.plot(found[0].real, found[0].imag, "x", color=canvas.PALETTE[0], markersize=8, markeredgewidth=1.8)
    else:
        place = np.repeat(np.arange(len(found)), model.n)
        ax.scatter(found.real.ravel(), found.imag.ravel(), c=place, cmap="viridis", s=9)
    ax.margins(x=0.1, y=0.1)
    if np.abs(found.imag).max() == 0.0:
        ax.set_ylim(-1.0, 1.0)  # else rounding would be magnified
    name = model.name or "the model"
    ax.set_title(f"Poles of {name}", loc="left", fontsize="medium", color=canvas.INK)


def _draw_shares(ax: Any, model: LinearModel) -> None:
    modes = model.modes()
    shares = np.nan_to_num(modes.participation)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    numbers = range(model.n)
    ax.set_xticks(numbers, [_short(pole) for pole in modes.poles], rotation=90, fontsize="small", color=canvas.INK)
    ax.set_yticks(numbers, [state.name for state in model.states], fontsize="small", color=canvas.INK)
    ax.set_xlabel("pole [1/s]", color=canvas.INK)
    ax.set_title("Shares of states in each mode", loc="left", fontsize="medium", color=canvas.INK)
    if model.n <= _MANY:
        for (row, column), share in np.ndenumerate(shares):
            if share >= _SMALL:
                ink = "white" if share > 0.6 else canvas.INK
                ax.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize="x-small", color=ink)


def _short(pole: complex) -> str:
    return f"{pole.real:.3g}" if pole.imag == 0 else f"{pole.real:.3g}{pole.imag:+.3g}j"
