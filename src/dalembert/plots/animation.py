"""A motion as moving pictures of a stick figure."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..dynamics.system import AnySystem
from ..errors import MissingExtraError, ShapeError
from ..mechanism import Mechanism, PlacedMechanism
from ..options import function
from ..simulate.results import MotionResult
from ..wording import shown
from . import canvas
from .moving_pictures import writer_of
from .simulation_histories import chosen
from .skeleton import draw_frames, framed_links, parts_of, pen_for, positions_of_tree, traced_point
from .stick_figure import Maker

_MOST = 5000  # pictures of one file
_FINEST = 400  # dots per inch
_INCHES = (6.0, 5.0)


class _Course(NamedTuple):
    """What is shown: times of the pictures, and positions of all joints of the tree at them."""

    system: Any
    t: FloatArray
    x: FloatArray


def animate(
    motion: Any,
    path: str | os.PathLike[str],
    *,
    system: AnySystem | None = None,
    which: Any = None,
    fps: float = 25.0,
    speed: float = 1.0,
    view: str | tuple[float, float] | None = None,
    trace: Any = None,
    frames: Any = (),
    dpi: int = 80,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a motion as moving pictures of a stick figure, at the pace of the motion, with its time.

    All pictures have the same view and equal scales along all axes. The file is complete, or it is not there.

    Parameters
    ----------
    motion : Simulation, Rollout, or samples with t, shape (K,), and q, shape (K, n); or a function of time with a `duration`
        What is shown: a result, a `Trajectory`, or a motion of `dal.trajectory`.
    path : str or path
        The file: `.gif`, or `.mp4` where the program ffmpeg is found.
    system : Robot or Mechanism, optional
        What moves; a result knows it.
    which : int or tuple of int, optional
        Which motion of a batch.
    fps : float
        Pictures a second.
    speed : float
        Times the pace of the motion: 0.5 is slow motion.
    view, trace, frames
        As in `plots.skeleton`; the path of `trace` grows with the motion.
    dpi : int
        Dots per inch of pictures of 6 by 5 inches.
    progress : function, optional
        Called now and then with the fraction done.

    Examples
    --------
    >>> import os, tempfile
    >>> import dalembert as dal
    >>> swing = dal.simulate(dal.robots.pendulum(), [0.5], [0.0], t_end=0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dal.animate(swing, os.path.join(folder, "swing.gif"), fps=10)
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ShapeError(f"path: {shown(path)} found, the name of a .gif or .mp4 file expected.")
    rate, pace = _positive("fps", fps), _positive("speed", speed)
    write, progress = writer_of("path", path, rate), function("progress", progress)
    course = _course(motion, system, which, pace / rate)
    scene = _Scene(course, view, trace, frames, _dots(dpi))
    write(Path(path), scene.pictures(pace, progress), rate)


def _positive(name: str, value: Any) -> float:
    number = checks.number(name, value)
    if not 0.0 < number < np.inf:
        raise ShapeError(f"{name}: {number:g} found, a number above 0 is expected.")
    return number


def _dots(value: Any) -> int:
    dpi = checks.whole_number("dpi", value, 20)
    if dpi > _FINEST:
        raise ShapeError(f"dpi: {dpi} found, at most {_FINEST} expected: all pictures have to be kept.")
    return dpi


def _course(motion: Any, system: Any, which: Any, step: float) -> _Course:
    """States at the times of the pictures."""
    if isinstance(motion, MotionResult):
        return _of_result(motion, chosen(motion, which), step)
    if system is None:
        raise ShapeError("system: nothing found; the Robot or Mechanism that moves is expected, unless motion is a result.")
    if callable(motion) and hasattr(motion, "duration"):
        t = _times(0.0, float(motion.duration), step)
        at = motion(t)
        if not hasattr(at, "q"):
            raise ShapeError(f"motion: {shown(motion)} found, which has no positions of joints. Try dal.trajectory.follow first.")
        q = np.asarray(at.q, dtype=float)
    else:
        t, q = _of_samples(motion, step)
    if q.ndim != 2:
        raise ShapeError(f"motion: q of shape {q.shape} found, (K, n) expected: one motion, a row for each time. Try motion[0].")
    if not np.isfinite(q).all():
        lost = t[int(np.argmin(np.isfinite(q).all(axis=-1)))]
        raise ShapeError(f"motion: NaN or infinity found among q at t = {lost:g} s. Show the part of the motion before it.")
    return _Course(system, t, positions_of_tree(system, q))


def _of_result(motion: MotionResult, row: tuple[int, ...], step: float) -> _Course:
    """A result as far as it has numbers; a mechanism where its tree is."""
    good = np.isfinite(motion.q[row]).all(-1)
    reached = motion.t[np.flatnonzero(good)[-1]] if good[0] else motion.t[0]
    t = _times(motion.t[0], reached, step)
    system = motion.system
    q = motion.at(t)[0]
    x = motion.tree_positions(t) if isinstance(system, (Mechanism, PlacedMechanism)) else None
    return _Course(system, t, (q if x is None else x)[row])


def _of_samples(motion: Any, step: float) -> tuple[FloatArray, FloatArray]:
    """Samples with times, on cubics where velocities are known and on lines otherwise."""
    if not hasattr(motion, "t") or not hasattr(motion, "q"):
        raise ShapeError(f"motion: {shown(motion)} found; a result of simulate, or samples with t and q are expected.")
    t, q = canvas.series(motion.t, "q", motion.q)
    times = _times(t[0], t[-1], step)
    if getattr(motion, "qd", None) is not None and len(t) > 1 and np.isfinite(q).all() and np.isfinite(motion.qd).all():
        from scipy.interpolate import CubicHermiteSpline

        return times, np.asarray(CubicHermiteSpline(t, q, motion.qd)(times))
    return times, np.stack([np.interp(times, t, column) for column in q.T], axis=-1)


def _times(start: float, end: float, step: float) -> FloatArray:
    count = int(np.floor((end - start) / step * (1 + 1e-12))) + 1
    if count > _MOST:
        raise ShapeError(
            f"fps: {count} pictures asked for, at most {_MOST} are drawn. Take a lower fps, a higher speed, or a shorter motion."
        )
    return np.minimum(start + step * np.arange(count), end)


class _Scene:
    """One figure, in which only what moves is drawn anew."""

    def __init__(self, course: _Course, view: Any, trace: Any, frames: Any, dpi: int) -> None:
        self.t = course.t
        robot, mechanism = parts_of(course.system)
        self.traced = None if trace is None else traced_point(robot, trace)
        self.framed = framed_links(robot, frames)
        maker = Maker(robot, course.x, mechanism, self.traced)
        self.figure = maker.figure()
        self.path = None if self.traced is None else maker.places.point(*self.traced)
        self.pen = pen_for(maker, self.figure, view, None, self.path, _blank_axes(dpi))
        self.label = self.pen.ax.set_title("", loc="left", fontsize="medium", color=canvas.INK)

    def pictures(self, pace: float, progress: Callable[[float], None] | None) -> Iterator[Any]:
        """The pictures one after the other, as bytes: what moves is drawn over axes that were drawn once."""
        ax, page = self.pen.ax, self.pen.ax.figure.canvas
        page.draw()
        empty, still = page.copy_from_bbox(ax.figure.bbox), set(ax.get_children())
        slow = "" if pace == 1.0 else f"  (× {pace:g})"
        for k, time in enumerate(self.t):
            page.restore_region(empty)
            self.label.set_text(f"t = {time:.2f} s{slow}")
            self._draw(k)
            moving = [artist for artist in ax.get_children() if artist not in still]
            for artist in sorted([*moving, self.label], key=lambda artist: artist.get_zorder()):
                if hasattr(artist, "do_3d_projection"):
                    artist.do_3d_projection()
                ax.draw_artist(artist)
            yield np.asarray(page.buffer_rgba())[..., :3].copy()
            for artist in moving:
                artist.remove()
            if progress is not None:
                progress((k + 1) / len(self.t))

    def _draw(self, k: int) -> None:
        """What moves, at one time."""
        if self.path is not None:
            self.pen.trace(self.path[: k + 1])
        self.pen.draw(self.figure, k, faint=False)
        draw_frames(self.pen, self.framed, k)


def _blank_axes(dpi: int) -> Callable[[bool], Any]:
    """Axes of a figure that has no window, in a plane or in space."""

    def make(solid: bool) -> Any:
        try:
            canvas_of = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg
            figure = importlib.import_module("matplotlib.figure").Figure(figsize=_INCHES, dpi=dpi)
        except ImportError:
            raise MissingExtraError.for_extra("animate: drawing", "matplotlib", "plots") from None
        canvas_of(figure)
        if solid:
            return figure.add_axes((0.02, 0.02, 0.9, 0.9), projection="3d")
        return figure.add_axes((0.13, 0.11, 0.83, 0.81))

    return make


__all__ = ["animate"]
