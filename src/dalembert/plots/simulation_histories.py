"""A simulated motion over time: positions, velocities, torques, energies, power by cause, and its energy balance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics.engine import system_of
from ..errors import ShapeError
from ..simulate.power import CAUSES
from ..simulate.results import MotionResult
from ..wording import shown
from . import canvas
from .joints import quantity

_NAMES = 14  # of a legend, one below the other
_PANELS = 6
_BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
_ABOVE: dict[str, Any] = {
    "loc": "lower left",
    "bbox_to_anchor": (0.0, 1.0),
    "ncols": 3,
    "borderaxespad": 0.2,
    "columnspacing": 1.2,
}
_ABOVE |= {"handlelength": 1.4}
_COLOURS = dict(zip(CAUSES.values(), canvas.PALETTE, strict=False))  # a cause has its colour, whatever else acts


def simulation(result: Any, *, which: Any = None, axes: Any = None) -> Any:
    """A simulated motion over time: q, q̇, torques; energies, power by cause, and what is left of the energy balance.

    Areas above zero are power that speeds the motion up, areas below it power that slows it down; the line is their sum, the rate
    of kinetic energy. Dashed upright lines are events, where the result has any.

    Parameters
    ----------
    result : Simulation or Rollout
        What `simulate` or `rollout` returned.
    which : int or tuple of int, optional
        Which motion of a batch.
    axes : array of six matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    axes : ndarray of the six Axes drawn on

    Examples
    --------
    >>> import dalembert as dal
    >>> swing = dal.simulate(dal.robots.two_link_planar(), [0.3, 0.2], [0.0, 0.0], t_end=1.0, dense=True)
    >>> [ax.get_ylabel() for ax in dal.plots.simulation(swing)][3:]
    ['energy [J]', 'power [W]', 'energy balance [J]']
    """
    row = chosen(result, which)
    panels = canvas.panels(_PANELS, axes, "two rows of three") if axes is not None else _new()
    t, coordinates = result.t, system_of(result.system).coordinates
    names = [c.name for c in coordinates]
    turning = [bool(c.turns) for c in coordinates]
    lengths, forces = _units(turning, "rad", "m"), _units(turning, "N m", "N")
    kinds = " or ".join(dict.fromkeys(quantity(unit) for unit in forces.split(" | ")))
    _lines(panels[0], t, dict(zip(names, result.q[row].T, strict=True)), f"position [{lengths}]", zero=False)
    _lines(panels[1], t, dict(zip(names, result.qd[row].T, strict=True)), f"velocity [{_per_second(lengths)}]")
    _lines(panels[2], t, dict(zip(names, result.tau[row].T, strict=True)), f"{kinds} [{forces}]")
    energies = result.energies
    parts = {"kinetic": energies.kinetic, "potential": energies.potential, "total": energies.total}
    _lines(panels[3], t, {name: values[row] for name, values in parts.items()}, "energy [J]")
    _areas(panels[4], t, {name: values[row] for name, values in result.power.by_cause.items()})
    panels[5].plot(t, result.balance.residual[row], color=canvas.INK, linewidth=1.4)
    canvas.dress(panels[5], None, "energy balance [J]")
    _finish(panels, result, row)
    return panels


def chosen(result: Any, which: Any) -> tuple[int, ...]:
    """The motion that is meant, as an index into the batch."""
    if not isinstance(result, MotionResult):
        raise ShapeError(f"result: {shown(result)} found; what dal.simulate or dal.rollout returns is expected.")
    row = () if which is None else which if isinstance(which, tuple) else (which,)
    if not all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in row) or len(row) != len(result.batch):
        raise ShapeError(f"which: {shown(which)} found for a batch {result.batch}; as many numbers as it has axes are expected.")
    for k, size in zip(row, result.batch, strict=True):
        if not -size <= k < size:
            raise ShapeError(f"which: {shown(which)} found, but the batch is {result.batch}.")
    return tuple(int(k) for k in row)


def _new() -> Any:
    return canvas.new_axes(2, 3, size=(12.0, 5.8)).ravel()


def _units(turning: list[bool], angle: str, length: str) -> str:
    return " | ".join(dict.fromkeys(angle if turns else length for turns in turning))


def _per_second(units: str) -> str:
    return " | ".join(f"{unit}/s" for unit in units.split(" | "))


def _lines(ax: Any, t: FloatArray, columns: Mapping[str, FloatArray], label: str, *, zero: bool = True) -> None:
    for k, (name, values) in enumerate(columns.items()):
        bold = {"color": canvas.INK, "linewidth": 2.0} if name == "total" else {}
        ax.plot(t, values, label=name, **canvas.line_style(k) | bold)
    canvas.dress(ax, None, label, zero=zero)


def _areas(ax: Any, t: FloatArray, parts: Mapping[str, FloatArray]) -> None:
    """Powers piled up, those that speed up above zero, the others below."""
    floor, ceiling = np.zeros(len(t)), np.zeros(len(t))
    for name, values in parts.items():
        up, down = np.maximum(np.nan_to_num(values), 0.0), np.minimum(np.nan_to_num(values), 0.0)
        look = {"color": _COLOURS[name], "linewidth": 0.0, "alpha": 0.6}
        ax.fill_between(t, ceiling, ceiling + up, label=name, **look)
        ax.fill_between(t, floor, floor + down, **look)
        ceiling, floor = ceiling + up, floor + down
    if parts:
        ax.plot(t, sum(parts.values()), color=canvas.INK, linewidth=1.4, label="sum")
    canvas.dress(ax, None, "power [W]")


def _finish(panels: Any, result: Any, row: tuple[int, ...]) -> None:
    """Times below, legends where they differ, events as upright lines, and how well the balance closes."""
    share = float(np.asarray(result.balance.relative)[row])
    panels[5].set_title(f"largest: {share:.1e} of the energy turned over", loc="left", fontsize="small", color=canvas.INK)
    look = {"frameon": False, "labelcolor": canvas.INK, "fontsize": "small"}
    for k in (2, 3, 4):
        handles, names = panels[k].get_legend_handles_labels()
        if names:
            panels[k].legend(handles[:_NAMES], names[:_NAMES], **look, **(_BESIDE if k == 2 else _ABOVE))
    for k, ax in enumerate(panels):
        for time in _event_times(result, row):
            ax.axvline(time, color=canvas.FAINT, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        if k > 2:
            ax.set_xlabel("time [s]", color=canvas.INK)


def _event_times(result: Any, row: tuple[int, ...]) -> FloatArray:
    """When events happened to this motion."""
    found = getattr(result, "events", None)
    events = found[row] if isinstance(found, np.ndarray) else found
    return np.array([float(event.t) for event in events or ()])


__all__ = ["chosen", "simulation"]
