"""Ellipsoids and polytopes at the tool of a stick figure, and maps of their measures."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray, choice, number, whole_number
from ..codegen.arguments import real
from ..ellipsoids import Manipulability, ManipulabilityPolytope
from ..ellipsoids.manipulability_functions import UNITS
from ..errors import ModelError, ShapeError
from ..wording import listed, shown
from . import canvas
from .pens import PLANES
from .skeleton import skeleton

AXES = ("x", "y", "z")
MEASURES = {"measure": "product of half axes", "isotropy": "shortest by longest half axis", "hold": "share of strength to hold"}
_SIZE = 0.3  # of the figure: the largest half axis, where no scale is given
Result = Manipulability | ManipulabilityPolytope


def ellipsoid(
    system: Any,
    q: ArrayLike,
    results: Any,
    *,
    labels: Sequence[str] | None = None,
    scale: float | None = None,
    view: str | tuple[float, float] | None = None,
    ax: Any = None,
) -> Any:
    """Ellipsoids and polytopes of `manipulability` at the tool, beside the stick figure [Siciliano, Fig. 7.15].

    Parameters
    ----------
    system : Robot, Mechanism
        What is drawn.
    q : array_like, shape (n,)
        Its configuration.
    results : Manipulability, ManipulabilityPolytope, or a sequence of them
        Of this configuration, of one kind, in linear directions of the world.
    labels : sequence of str, optional
        What each result is called.
    scale : float, optional
        Length on the figure for one unit of the results [m]; chosen if left out, and always written below.
    view, ax
        As in `skeleton`. Left out, results in two directions are seen in their plane.

    Returns
    -------
    ax : the axes drawn on, in metres

    Examples
    --------
    >>> import dalembert as dal
    >>> arm, q = dal.robots.two_link_planar(), [0.6, 1.2]
    >>> ax = dal.plots.ellipsoid(arm, q, dal.manipulability(arm, q, directions=("x", "y")))
    >>> ax.get_xlabel()
    'x [m]'
    """
    found = _checked(results)
    names = canvas.labels("labels", labels, [f"{result.kind} {_noun(result)}" for result in found])
    plane = "".join(found[0].directions)
    ax = skeleton(system, q, view=plane if view is None and ax is None and plane in PLANES else view, legend=False, ax=ax)
    size = _scale(found, ax) if scale is None else number("scale", scale)
    for k, (result, label) in enumerate(zip(found, names, strict=True)):
        _draw(ax, result, size, canvas.PALETTE[k % len(canvas.PALETTE)], label)
    ax.legend(frameon=False, labelcolor=canvas.INK, loc="best", fontsize="small")
    _fit(ax, found, size)
    unit = UNITS[found[0].kind][0]
    ax.set_title(f"1 m is {1.0 / size:.10g} {unit}", loc="left", fontsize="small", color=canvas.INK)
    return ax


def manipulability_map(
    system: Any,
    q: ArrayLike,
    result: Manipulability,
    *,
    measure: str = "measure",
    ellipsoids: int = 0,
    view: str | tuple[float, float] | None = None,
    ax: Any = None,
) -> Any:
    """A measure of ellipsoids over a workspace, or along a path, as colours where the tool is; the last pose as a stick figure.

    Parameters
    ----------
    system : Robot, Mechanism
        What is drawn.
    q : array_like, shape (K, n)
        The configurations.
    result : Manipulability
        Of all of them.
    measure : {'measure', 'isotropy', 'hold'}
        What the colours are.
    ellipsoids : int
        How many of the ellipsoids are drawn too, evenly among them.
    view, ax
        As in `skeleton`.

    Returns
    -------
    ax : the axes drawn on, in metres

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> arm, q = dal.robots.two_link_planar(), np.random.default_rng(0).uniform(-3, 3, (200, 2))
    >>> ax = dal.plots.manipulability_map(arm, q, dal.manipulability(arm, q, directions=("x", "y")))
    >>> ax.get_ylabel()
    'y [m]'
    """
    choice("measure", measure, MEASURES)
    (found,) = _checked(result, batch=True)
    count = whole_number("ellipsoids", ellipsoids, least=0)
    poses = real("q", q, "(K, n)")
    if poses.ndim != 2 or found.position.shape[:-1] != poses.shape[:1]:
        raise ShapeError(
            f"q: shape {poses.shape} found for a result of shape {found.position.shape[:-1]}; one row each expected."
        )
    plane = "".join(found.directions)
    ax = skeleton(system, poses[-1], view=plane if view is None and ax is None and plane in PLANES else view, legend=False, ax=ax)
    values = getattr(found, measure)
    at = _onto(ax, found.position)
    dots = ax.scatter(*at.T, c=values, s=12, cmap="viridis", zorder=1.5, linewidths=0)
    bar = ax.figure.colorbar(dots, ax=ax, shrink=0.8)
    bar.set_label(f"{MEASURES[measure]}, {found.kind}", color=canvas.INK)
    chosen = [_row(found, int(k)) for k in np.linspace(0, len(poses) - 1, count)]
    if chosen:
        size = _scale(chosen, ax) * min(1.0, 3.0 / count)
        for one in chosen:
            _draw(ax, one, size, canvas.INK, None)
        _fit(ax, chosen, size)
    _fit(ax, [found], 0.0)
    return ax


def _checked(results: Any, *, batch: bool = False) -> list[Any]:
    """Results that can be drawn in the world."""
    given = [results] if isinstance(results, Manipulability | ManipulabilityPolytope) else results
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ShapeError(f"results: {shown(results)} found; one of dal.manipulability or several are expected.")
    for result in given:
        if not isinstance(result, Manipulability | ManipulabilityPolytope):
            raise ShapeError(
                f"results: {type(result).__name__} found, a Manipulability expected. Try dal.manipulability(robot, q)."
            )
        if not set(result.directions) <= set(AXES) or len(result.directions) < 2 or result.frame != "world":
            raise ModelError(
                f"results: directions {listed(result.directions)} of the {result.frame} found; two or three of x, y, z of the "
                "world are drawn."
            )
        if (result.position.ndim == 1) == batch:
            what = "a batch of shape (K,)" if batch else "one configuration"
            raise ShapeError(f"results: shape {result.position.shape[:-1]} found, {what} expected.")
    if len({result.kind for result in given}) > 1:
        raise ModelError(f"results: {listed(sorted({r.kind for r in given}))} found together; they have different units.")
    return list(given)


def _noun(result: Result) -> str:
    return "polytope" if isinstance(result, ManipulabilityPolytope) else "ellipsoid"


def _row(result: Manipulability, k: int) -> Manipulability:
    """One row of a batch."""
    arrays = {name: value[k] for name, value in vars(result).items() if isinstance(value, np.ndarray)}
    return dataclasses.replace(result, **arrays)


def _plane_of(ax: Any) -> tuple[int, int] | None:
    """The world axes of plane axes, by their labels; None in space."""
    if getattr(ax, "name", "") == "3d":
        return None
    return AXES.index(ax.get_xlabel()[0]), AXES.index(ax.get_ylabel()[0])


def _onto(ax: Any, points: FloatArray) -> FloatArray:
    """Points of the world on the axes of a figure."""
    plane = _plane_of(ax)
    return points if plane is None else points[..., list(plane)]


def _in_world(result: Result, x: FloatArray, size: float) -> FloatArray:
    """Where values are drawn."""
    world = np.zeros((*x.shape[:-1], 3))
    world[..., [AXES.index(name) for name in result.directions]] = x * size
    return world + result.position


def _scale(results: Sequence[Any], ax: Any) -> float:
    """Metres for one unit, so that the largest is a share of the figure."""
    spans = [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()), *([np.ptp(ax.get_zlim())] if _plane_of(ax) is None else [])]
    largest = max(float(np.abs(_values(result) - result.centre).max()) for result in results)
    found = float(_SIZE * max(spans) / max(largest, 1e-300))
    step = 10.0 ** np.floor(np.log10(found))
    return float(step * max(k for k in (1.0, 2.0, 5.0) if k * step <= found))


def _values(result: Result) -> FloatArray:
    """Points whose hull is the result, or nearly so."""
    if isinstance(result, ManipulabilityPolytope):
        return result.vertices
    return result.boundary(_directions(len(result.directions)))


def _directions(m: int, count: int = 72) -> FloatArray:
    """Unit vectors all around; in space on a grid of latitudes and longitudes."""
    a = np.linspace(0.0, 2.0 * np.pi, count + 1)
    if m == 2:
        return np.column_stack([np.cos(a), np.sin(a)])
    b = np.linspace(0.0, np.pi, count // 4 + 1)[:, None]
    return np.stack([np.sin(b) * np.cos(a), np.sin(b) * np.sin(a), np.cos(b) * np.ones_like(a)], axis=-1).reshape(-1, 3)


def _draw(ax: Any, result: Any, size: float, colour: str, label: str | None) -> None:
    points = _in_world(result, _values(result), size)
    if _plane_of(ax) is not None:
        outline = _hull(_onto(ax, points))
        ax.fill(*outline.T, facecolor=colour, alpha=0.12, zorder=1)
        ax.plot(*np.vstack([outline, outline[:1]]).T, color=colour, linewidth=1.6, label=label, zorder=4)
    else:
        _draw_in_space(ax, result, points, size, colour, label)
    middle = _in_world(result, result.centre, size)
    line = np.array([result.position, middle])
    ax.plot(*_onto(ax, line).T, color=colour, linewidth=1.0, linestyle=(0, (2, 1.5)), marker=None, zorder=4)
    ax.plot(*_onto(ax, middle[None]).T, color=colour, marker="+", linestyle="none", zorder=5)
    if isinstance(result, Manipulability):
        for k in range(len(result.lengths)):
            half = result.axes[:, k] * result.lengths[k]
            ends = _in_world(result, np.array([result.centre - half, result.centre + half]), size)
            ax.plot(*_onto(ax, ends).T, color=colour, linewidth=0.7, alpha=0.7, zorder=3)


def _draw_in_space(ax: Any, result: Any, points: FloatArray, size: float, colour: str, label: str | None) -> None:
    if len(result.directions) == 2:
        ring = points if isinstance(result, Manipulability) else np.vstack([points, points[:1]])
        ax.plot(*ring.T, color=colour, linewidth=1.6, label=label)
    elif isinstance(result, ManipulabilityPolytope):
        faces = importlib.import_module("mpl_toolkits.mplot3d.art3d").Poly3DCollection(
            [points[list(face)] for face in result.faces], facecolor=colour, edgecolor=colour, alpha=0.12, linewidths=0.6
        )
        ax.add_collection3d(faces)
        ax.plot([], [], [], color=colour, label=label)
    else:
        grid = points.reshape(19, 73, 3)
        ax.plot_surface(*np.moveaxis(grid, -1, 0), color=colour, alpha=0.18, linewidth=0)
        ax.plot_wireframe(*np.moveaxis(grid, -1, 0), color=colour, alpha=0.35, linewidth=0.4, rcount=7, ccount=13)
        ax.plot([], [], [], color=colour, label=label)


def _hull(points: FloatArray) -> FloatArray:
    """The corners of the convex polygon around points, in their order."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found: FloatArray = points[ConvexHull(points).vertices]
    except QhullError:  # flat, as at a singular pose: a line
        order = np.argsort((points - points.mean(axis=0)) @ np.linalg.svd(points - points.mean(axis=0))[2][0])
        found = points[order[[0, -1]]]
    return found


def _fit(ax: Any, results: Sequence[Any], size: float) -> None:
    """Let everything be seen."""
    points = [_in_world(r, _values(r), size) if size else r.position for r in results]
    seen = _onto(ax, np.concatenate([p.reshape(-1, 3) for p in points]))
    room = 0.04 * np.ptp(ax.get_xlim())
    if _plane_of(ax) is not None:
        for get, put, values in zip((ax.get_xlim, ax.get_ylim), (ax.set_xlim, ax.set_ylim), seen.T, strict=True):
            low, high = get()
            put(min(low, values.min() - room), max(high, values.max() + room))
        return
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    low, high = np.minimum(limits[:, 0], seen.min(axis=0)), np.maximum(limits[:, 1], seen.max(axis=0))
    middle, half = (low + high) / 2, (high - low).max() / 2
    for put, m in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), middle, strict=True):
        put(m - half, m + half)


__all__ = ["ellipsoid", "manipulability_map"]
