"""The fastest timing along a path: its speeds below those that limits allow, and how much of each torque it uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from . import canvas

_MANY = 12  # limits that are drawn at most, so that they can be told apart


def timing(found: Any, *, row: int = 0, axes: Any = None) -> Any:
    """The phase plane of a timing, ṡ over s below the largest speed, and torques over s in shares of their limits.

    The largest speed is that without limits of jerk and torque rate. Where coordinates have no limits of torque, as those of
    drives that share a load or of motors, all limits are drawn that are used by more than a half somewhere.

    Parameters
    ----------
    found : FastestTiming
        From `fastest_timing`.
    row : int
        Which path of a batch.
    axes : two matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    axes : ndarray of two Axes

    Examples
    --------
    >>> import dalembert as dal
    >>> rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    >>> axes = dal.plots.timing(dal.fastest_timing(rod, [[0.0], [3.0]], torque=2.0, intervals=50))
    >>> axes[0].get_ylabel()
    'path speed [1/s]'
    """
    N = found.s.shape[-1] - 1
    s, sd, top = (getattr(found, name).reshape(-1, N + 1) for name in ("s", "sd", "top_speed"))
    if not (isinstance(row, int) and 0 <= row < len(s)) or found.messages[row]:
        raise ModelError(f"row: {row} found, which has no timing; one of the {len(s)} paths that has is expected.")
    panels = canvas.panels(2, canvas.new_axes(1, 2, size=(9.6, 3.8)) if axes is None else axes, "speeds and torques", width=2)
    _phase_plane(panels[0], s[row], sd[row], top[row], "largest speed, rates aside" if found.jumps else "largest speed")
    if np.isfinite(found.torque_limits).any():
        _torques(panels[1], found, s[row], found.tau.reshape(len(s), N + 1, -1)[row])
    else:
        _uses(panels[1], found.limits, s[row], found.use.reshape(len(s), N, -1)[row])
    return panels


def _phase_plane(ax: Any, s: Any, sd: Any, top: Any, label: str) -> None:
    limit = np.minimum(top, 1.6 * sd.max())  # it may rise without end where nothing limits
    ax.fill_between(s, limit, 1.65 * sd.max(), color=canvas.FAINT, alpha=0.35, linewidth=0.0)
    ax.plot(s, limit, color=canvas.INK, linewidth=1.0, linestyle=(0, (4, 2)), label=label)
    ax.plot(s, sd, label="fastest timing", **canvas.line_style(0))
    canvas.dress(ax, "path parameter s", "path speed [1/s]")
    ax.set_ylim(0.0, 1.65 * sd.max())
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, labelcolor=canvas.INK)


def _uses(ax: Any, names: Any, s: Any, use: Any) -> None:
    """Shares of limits in use, in each interval; those that matter most."""
    most = use.max(axis=0)
    chosen = np.sort([k for k in np.argsort(-most)[:_MANY] if most[k] > 0.5])
    for colour, k in enumerate(chosen):
        ax.plot((s[1:] + s[:-1]) / 2, 100 * use[:, k], label=names[k].replace("'", ""), **canvas.line_style(colour))
    ax.axhline(100.0, color=canvas.INK, linewidth=0.8, linestyle=(0, (4, 2)))
    canvas.dress(ax, "path parameter s", "in use [% of the limit]")
    ax.set_ylim(0.0, 105.0)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)


def _torques(ax: Any, found: Any, s: Any, tau: Any) -> None:
    finite = np.isfinite(found.torque_limits)
    for k, name in enumerate(found.joints):
        if finite[k]:
            ax.plot(s, 100 * tau[:, k] / found.torque_limits[k], label=name, **canvas.line_style(k))
    for edge in (-100.0, 100.0):
        ax.axhline(edge, color=canvas.INK, linewidth=0.8, linestyle=(0, (4, 2)))
    canvas.dress(ax, "path parameter s", "torque [% of its limit]")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)


__all__ = ["timing"]
