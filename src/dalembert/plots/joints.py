"""Joint quantities over time: torques, and the motion they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..wording import listed
from . import canvas

_NAMES = 14  # of a legend, one below the other


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

    Examples
    --------
    >>> import dalembert as dal
    >>> ax = dal.plots.torques([0.0, 0.5, 1.0], [[1.0, 2.0], [1.5, 0.0], [1.0, -2.0]], names=["shoulder", "elbow"])
    >>> ax.get_ylabel()
    'torque [N m]'
    """
    times, columns = canvas.series(t, "tau", tau)
    names = canvas.labels("names", names, numbered(columns))
    unit_of = canvas.units(units, names)
    mixed = len(set(unit_of)) > 1
    ncols = -(-len(names) // _NAMES)
    if ax is None:
        wider = canvas.legend_inches(names) * (ncols - 1)
        ax = canvas.new_axes(size=(6.4 + wider, 3.8))[0, 0]
    canvas.one_of_axes(ax)
    for i, name in enumerate(names):
        ax.plot(times, columns[:, i], label=f"{name} [{unit_of[i]}]" if mixed else name, **canvas.line_style(i))
    canvas.dress(ax, "time [s]", "joint torque or force" if mixed else f"{quantity(unit_of[0])} [{unit_of[0]}]")
    small = {"fontsize": "small"} if ncols > 1 else {}
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK, ncols=ncols, **small)
    return ax


def motion(
    t: ArrayLike,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tau: ArrayLike | None,
    *,
    qddd: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    units: str | Sequence[str] = "N m",
    axes: Any = None,
) -> Any:
    """A motion and its torques over time: positions, velocities, accelerations, torques, as in [Siciliano, Fig. 7.5].

    Jerks are drawn where they are given, torques left out where they are None.

    Parameters
    ----------
    t : array_like, shape (k,)
        Times [s].
    q, qd, qdd, tau, qddd : array_like, shape (k, n)
        The motion, its joint torques or None, and its jerks.
    names, units
        As in `torques`; a joint whose unit is "N" has its position in m, the others in rad.
    axes : array of matplotlib Axes, optional
        Where to draw, three and one more for torques and for jerks each; a new figure otherwise.

    Returns
    -------
    axes : ndarray of the Axes drawn on

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, times = dal.robots.pendulum(), [0.0, 0.5, 1.0, 1.5, 2.0]
    >>> m = dal.trajectory.triangular([0.0], [1.0], duration=2.0)(times)
    >>> axes = dal.plots.motion(m.t, m.q, m.qd, m.qdd, dal.inverse_dynamics(robot, m.q, m.qd, m.qdd))
    >>> [ax.get_ylabel() for ax in axes]
    ['position [rad]', 'velocity [rad/s]', 'acceleration [rad/s²]', 'torque [N m]']
    """
    asked = {name: values for name, values in (("qddd", qddd), ("tau", tau)) if values is not None}
    checked = {name: canvas.series(t, name, values) for name, values in ({"q": q, "qd": qd, "qdd": qdd} | asked).items()}
    names = canvas.labels("names", names, numbered(checked["q"][1]))
    label_of = _motion_labels(canvas.units(units, names))
    words = [label_of[name].split(" [")[0] for name in checked]
    panels = canvas.panels(len(checked), axes, f"one each for {listed(words)}", width=2 if len(checked) == 4 else 3)
    for ax, (name, (times, columns)) in zip(panels, checked.items(), strict=True):
        for i, width in enumerate(np.linspace(2.4, 1.4, len(names))):  # equal lines stay visible, one behind the other
            ax.plot(times, columns[:, i], label=names[i], **canvas.line_style(i) | {"linewidth": width})
        canvas.dress(ax, None, label_of[name], zero=name != "q")
    canvas.finish(panels)
    return panels


def _motion_labels(units: Sequence[str]) -> dict[str, str]:
    length = " | ".join(dict.fromkeys("m" if unit == "N" else "rad" for unit in units))
    names = " or ".join(dict.fromkeys(map(quantity, units)))
    rates = {"qd": ("velocity", "s"), "qdd": ("acceleration", "s²"), "qddd": ("jerk", "s³")}
    found = {name: f"{word} [{_per(length, power)}]" for name, (word, power) in rates.items()}
    return {"q": f"position [{length}]", **found, "tau": f"{names} [{' | '.join(dict.fromkeys(units))}]"}


def _per(units: str, time: str) -> str:
    return " | ".join(f"{unit}/{time}" for unit in units.split(" | "))


def numbered(columns: FloatArray) -> list[str]:
    """Names for joints that were given none."""
    return [f"joint {i + 1}" for i in range(columns.shape[1])]


def quantity(unit: str) -> str:
    """What a joint force of this unit is called."""
    return "force" if unit == "N" else "torque"
