"""A robot or a mechanism as a stick figure, at one configuration or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray, choice, flag, whole_number
from ..codegen.arguments import real
from ..errors import ModelError, ShapeError, UnknownNameError
from ..mechanism import Mechanism, PlacedMechanism
from ..mechanism.closed_kernel import Given
from ..mechanism.refusals import unreachable
from ..model import Robot
from ..model.position_functions import WORLD
from ..model.springs import Anchor, anchor
from ..wording import shown
from . import canvas
from .pens import PLANES, Pen, PlanePen, SpacePen
from .stick_figure import Maker, StickFigure

_ALIGNED = 1e-6  # of an axis of length one: what may be missing from a right angle
_TRIAD = 0.1  # of the size of the figure: the length of the axes of a frame
_LOOK = (20.0, -60.0)  # elevation and azimuth from which a figure in space is seen [deg]


def skeleton(
    system: Any,
    q: ArrayLike | None = None,
    *,
    view: str | tuple[float, float] | None = None,
    trace: Any = None,
    names: bool = False,
    legend: bool = True,
    ghosts: int = 8,
    frames: Any = (),
    ax: Any = None,
) -> Any:
    """A robot or mechanism as a stick figure: links as lines, joints and closures as marks.

    Links with three points or more are plates. Filled marks are joints behind coordinates, or with a drive.

    Parameters
    ----------
    system : Robot, Mechanism
        What is drawn; a mechanism is assembled first.
    q : array_like, shape (n,) or (K, n), optional
        A configuration; or several, of which all but the last are faint: a path, along which a mechanism keeps its branch. Left
        out: where a mechanism was assembled, or a robot with all its joints at zero.
    view : {'xy', 'xz', 'yz'} or pair of float, optional
        The plane to look at; or elevation and azimuth [deg] of a figure in space. Left out: the plane of motion, if there is
        one that two axes of the world span, and in space otherwise.
    trace : str or (str, point), optional
        A link, 'tool', or a link and a point in its frame, whose path through all configurations is drawn.
    names : bool
        Write the names of the links beside them.
    legend : bool
        Say what the marks mean.
    ghosts : int
        How many of the configurations before the last are drawn, evenly among them.
    frames : str or sequence of str
        Links whose frames are drawn at the last configuration, 'tool' among them, or 'all': x in red, y in green, z in blue.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    ax : the axes drawn on, in metres

    Examples
    --------
    >>> import dalembert as dal
    >>> ax = dal.plots.skeleton(dal.mechanisms.crank_rocker(), [[0.0], [0.5], [1.0]], trace=("coupler", (0.25, 0.1, 0)))
    >>> ax.get_xlabel()
    'x [m]'
    """
    robot, mechanism = parts_of(system)
    x = positions_of_tree(system, q)
    traced = None if trace is None else traced_point(robot, trace)
    framed = framed_links(robot, frames)
    maker = Maker(robot, x, mechanism, traced)
    figure = maker.figure()
    path = None if traced is None else maker.places.point(*traced)
    pen = pen_for(maker, figure, view, ax, path)
    whole_number("ghosts", ghosts, least=0)
    for k in _faint(len(x), ghosts):
        pen.draw(figure, k, faint=True)
    if path is not None:
        pen.trace(path)
    pen.draw(figure, len(x) - 1, faint=False)
    draw_frames(pen, framed, len(x) - 1)
    if flag("names", names):
        pen.write_names(figure)
    if flag("legend", legend):
        pen.explain(figure)
    return pen.ax


def parts_of(system: Any) -> tuple[Robot, Mechanism | None]:
    """The tree that is drawn, and the mechanism over it."""
    if isinstance(system, Robot):
        return system, None
    mechanism = system.mechanism if isinstance(system, PlacedMechanism) else system
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"system: {shown(system)} found; a Robot or a Mechanism expected, since links are drawn.")
    return mechanism.robot, mechanism


def positions_of_tree(system: Any, q: ArrayLike | None) -> FloatArray:
    """Positions of all joints of the tree, shape (K, N), without the configurations that have none."""
    if q is None:
        if isinstance(system, PlacedMechanism) and isinstance(system.finder, Given):
            return np.atleast_2d(system.finder.x)
        return np.zeros((1, system.n)) if isinstance(system, Robot) else np.array([system.seed])
    given = real("q", q, f"({system.n},) or (K, {system.n})")
    if given.ndim not in (1, 2) or given.shape[-1] != system.n or given.size == 0:
        raise ShapeError(
            f"q: shape {given.shape} found, ({system.n},) or (K, {system.n}) expected: one configuration or several."
        )
    if isinstance(system, Robot):
        rows = np.atleast_2d(given)
        known = np.isfinite(rows).all(axis=-1)
        if not known.any():
            joint = system.joint_names[int(np.argmin(np.isfinite(rows[-1])))]
            raise ShapeError(f"q: NaN or infinity found for joint {joint!r}; there is no configuration that could be drawn.")
        return rows[known]
    if isinstance(system, PlacedMechanism):
        x = np.atleast_2d(system.finder.many(given))
    else:
        x = system.assemble(np.atleast_2d(given), continuous=True).x
    lost = np.isnan(x).any(axis=-1)
    if lost.any():
        unreachable(system, np.atleast_2d(given)[-1] if lost.all() else given, np.all(lost) if lost.all() else lost)
    return x[~lost]


def _faint(count: int, most: int) -> list[int]:
    """Which configurations before the last are drawn."""
    return sorted({int(k) for k in np.linspace(0, count - 1, min(most, count - 1) + 1)[:-1]})


def traced_point(robot: Robot, trace: Any) -> Anchor:
    """A link and a point in its frame."""
    link, point = anchor("trace", trace)
    known = ("tool", *robot.link_names)
    if link not in (WORLD, *known):
        raise UnknownNameError.among("trace: link", link, known)
    if link == "tool" and robot.tool is None and link not in robot.link_names:
        raise ModelError("trace: this tree has several tips and no tool. Name a link, or give the robot a tool.")
    return link, point


def framed_links(robot: Robot, frames: Any) -> list[str]:
    """The links whose frames are wanted."""
    known = [*robot.link_names, *(["tool"] if robot.tool is not None else [])]
    if isinstance(frames, str):
        frames = known if frames == "all" else [frames]
    if not isinstance(frames, Sequence) or not all(isinstance(name, str) for name in frames):
        raise ShapeError(f"frames: {shown(frames)} found; names of links expected, such as ['tool'], or 'all'.")
    for name in frames:
        if name not in known:
            raise UnknownNameError.among("frames: link", name, known)
    return list(frames)


def draw_frames(pen: Pen, links: Sequence[str], k: int) -> None:
    """The frames of links at a configuration."""
    places, length = pen.maker.places, _TRIAD * pen.maker.size
    for link in links:
        axes = np.array([places.direction(link, axis)[k] for axis in np.eye(3)])
        pen.triad(places.point(link)[k], axes, length)


def _plane(maker: Maker) -> str | None:
    """The plane of two world axes in which everything moves, if there is one."""
    for name, axes in PLANES.items():
        (out,) = {0, 1, 2} - set(axes)
        turning = [np.abs(j.axis[:, out]) for j in maker.joints if j.joint.turns]
        sliding = [1.0 - np.abs(j.axis[:, out]) for j in maker.joints if not j.joint.turns]
        if all((along > 1.0 - _ALIGNED).all() for along in (*turning, *sliding)):
            return name
    return None


def pen_for(
    maker: Maker,
    figure: StickFigure,
    view: Any,
    ax: Any,
    path: FloatArray | None,
    make: Callable[[bool], Any] | None = None,
) -> Pen:
    """What draws in a plane or in space, on axes given or made for it: those of `make`, or of a new figure."""
    points = [line.points.reshape(-1, 3) for line in figure.lines] + [mark.at for mark in figure.marks]
    everything = np.concatenate(points if path is None else [*points, path])
    solid = ax is not None and getattr(canvas.one_of_axes(ax), "name", "") == "3d"
    if isinstance(view, str):
        choice("view", view, PLANES)
    elif view is not None:
        look = real("view", view, "'xy', 'xz', 'yz', or elevation and azimuth [deg]")
        if look.shape != (2,):
            raise ShapeError(f"view: {shown(view)} found; 'xy', 'xz' or 'yz' expected, or elevation and azimuth [deg].")
    plane = view if isinstance(view, str) else None if view is not None or solid else _plane(maker)
    if solid and plane is not None:
        raise ShapeError(f"view: {view!r} found for axes in space. Leave it out, or give plane axes.")
    if ax is not None and not solid and plane is None:
        raise ShapeError("axes: plane ones found for a figure in space. Try view='xz', or figure.add_subplot(projection='3d').")
    if make is not None:
        ax = make(plane is None)
    if plane is not None:
        return PlanePen(ax, everything, plane, maker)
    angles = _LOOK if view is None else view
    if make is not None:
        ax.view_init(*angles)
    return SpacePen(ax, everything, angles, maker)


__all__ = ["draw_frames", "framed_links", "parts_of", "pen_for", "positions_of_tree", "skeleton", "traced_point"]
