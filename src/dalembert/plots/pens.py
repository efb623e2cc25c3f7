"""How a stick figure is drawn: lines, plates and marks on plane axes or in space."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..checks import FloatArray
from . import canvas
from .stick_figure import Maker, Mark, StickFigure, Stroke

PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
_BODY, _PLATE, _DRIVEN, _CLOSURE = "#44546A", "#A9B8CC", canvas.PALETTE[1], canvas.PALETTE[2]
_ROOM = 0.05  # of the longest side: how far numbers stay away from a corner in which axes in space meet
_TRIAD = ("#C1272D", "#2E8B3D", "#1F4FBF")
_LABELS = {
    "revolute": "turning joint",
    "prismatic": "sliding joint",
    "slider": "slider",
    "ball": "ball or universal joint",
    "closure": "closure",
    "ground": "ground",
    "mass": "centre of mass",
    "tool": "tool",
    "point": "point of coordinates",
}
_SHAPES: dict[str, dict[str, Any]] = {
    "revolute": {"marker": "o", "markersize": 8.0},
    "prismatic": {"marker": "s", "markersize": 8.0},
    "slider": {"marker": "s", "markersize": 13.0},
    "ball": {"marker": "o", "markersize": 10.5},
    "closure": {"marker": "D", "markersize": 7.0, "markeredgecolor": _CLOSURE},
    "ground": {"markersize": 19.0, "markeredgewidth": 1.1, "zorder": 2},
    "mass": {"marker": "o", "markersize": 6.0, "markerfacecolor": canvas.INK},
    "tool": {"marker": "X", "markersize": 8.5, "markerfacecolor": canvas.PALETTE[0], "markeredgecolor": "white"},
    "point": {"marker": "P", "markersize": 9.0, "markeredgecolor": "white"},
}


class Pen:
    """Draws points of space on axes; what differs between a plane and space is left to its two kinds."""

    ax: Any
    own: bool

    def __init__(self, maker: Maker) -> None:
        self.maker = maker

    def seen(self, points: FloatArray) -> list[FloatArray]:
        """The coordinates of points, shape (..., 3), that the axes take."""
        raise NotImplementedError

    def fill(self, corners: FloatArray, **look: Any) -> None:
        """A filled polygon."""
        raise NotImplementedError

    def axis(self, mark: Mark, k: int, alpha: float) -> None:
        """The axis of a joint, where it can be seen."""

    def draw(self, figure: StickFigure, k: int, *, faint: bool) -> None:
        """The figure at a configuration."""
        alpha = 0.22 if faint else 1.0
        for line in figure.lines:
            self._line(line, line.points[k], alpha)
        for mark in figure.marks:
            if not faint:
                self.axis(mark, k, alpha)
                self.ax.plot(*self.seen(mark.at[k : k + 1]), **_look(mark))
            elif mark.kind in ("revolute", "ball", "closure", "prismatic", "slider"):
                small = {"markersize": 3.5, "marker": "o", "zorder": 3, "alpha": alpha}
                self.ax.plot(*self.seen(mark.at[k : k + 1]), color=_BODY, linestyle="none", **small)

    def _line(self, line: Stroke, points: FloatArray, alpha: float) -> None:
        if line.kind == "base":
            if alpha == 1.0 and self.ax.name == "3d":
                self.fill(points, color=canvas.FAINT, alpha=0.25, zorder=1)
            return
        if line.closed:
            self.fill(points, color=_PLATE, alpha=0.55 * alpha**1.3, zorder=2)
            points = np.concatenate([points, points[:1]])
        width = 3.2 if alpha == 1.0 else 1.2 if line.closed else 2.0
        look: dict[str, Any] = {"color": _BODY, "linewidth": width, "zorder": 4 if alpha == 1.0 else 3}
        if line.kind == "rod":
            look |= {"color": _CLOSURE, "linewidth": 2.0}
        elif line.kind == "rail":
            look |= {"color": canvas.INK, "linewidth": 1.0, "linestyle": (0, (6, 2, 1.5, 2))}
        elif line.kind == "closure":
            look |= {"color": _CLOSURE, "linewidth": 1.2, "linestyle": (0, (4, 2))}
        self.ax.plot(*self.seen(points), alpha=alpha, solid_capstyle="round", solid_joinstyle="round", **look)

    def trace(self, path: FloatArray) -> None:
        """The path of a point."""
        self.ax.plot(*self.seen(path), color=canvas.PALETTE[0], linewidth=1.6, linestyle=(0, (5, 1.5)), zorder=5, label="path")
        self.ax.plot(*self.seen(path[-1:]), color=canvas.PALETTE[0], marker="o", markersize=4.5, zorder=8)

    def triad(self, at: FloatArray, axes: FloatArray, length: float) -> None:
        """A frame: its x, y and z axis, rows of `axes`, in red, green and blue."""
        for axis, colour in zip(axes, _TRIAD, strict=True):
            ends = np.array([at, at + length * axis])
            self.ax.plot(*self.seen(ends), color=colour, linewidth=2.0, solid_capstyle="round", zorder=7)

    def write_names(self, figure: StickFigure) -> None:
        """Names of links in the middle of plates, and of the longest of their lines."""
        longest: dict[str, tuple[float, FloatArray]] = {}
        for line in figure.lines:
            points = line.points[-1]
            steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
            k = int(np.argmax(steps))
            middle = points.mean(axis=0) if line.closed else points[k : k + 2].mean(axis=0)
            if line.name and steps[k] > longest.get(line.name, (0.0, middle))[0]:
                longest[line.name] = float(steps[k]), middle
        for name, (_, middle) in longest.items():
            self._write(name, middle)

    def _write(self, name: str, at: FloatArray) -> None:
        paper = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        look: dict[str, Any] = {"fontsize": "small", "color": canvas.INK, "ha": "center", "va": "center", "zorder": 10}
        self.ax.text(*(float(c[0]) for c in self.seen(at[None])), name, bbox=paper, **look)

    def explain(self, figure: StickFigure) -> None:
        """A legend of the marks that occur, beside the axes."""
        for mark in {(mark.kind, mark.driven): mark for mark in figure.marks}.values():
            told = " (driven)" if mark.driven and self.maker.mechanism is not None and mark.kind != "point" else ""
            look = _look(mark)
            look["markersize"] = min(look["markersize"], 10.5)
            self.ax.plot(*([np.nan] for _ in self.seen(np.zeros((1, 3)))), label=_LABELS[mark.kind] + told, **look)
        common: dict[str, Any] = {"frameon": False, "labelcolor": canvas.INK, "fontsize": "small"}
        if self.own and self.ax.name == "3d":
            self.ax.figure.legend(loc="outside right center", **common)
        else:
            self.ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), **common)


class PlanePen(Pen):
    """Draws the projection on a plane of two world axes."""

    def __init__(self, ax: Any, everything: FloatArray, plane: str, maker: Maker) -> None:
        super().__init__(maker)
        self.axes = PLANES[plane]
        low, high = _box(everything[:, self.axes])
        self.own = ax is None
        if ax is None:
            ax = _drawn_to_scale(high - low)
        self.ax = ax
        canvas.dress(ax, f"{plane[0]} [m]", f"{plane[1]} [m]")
        for line in ax.get_lines():  # a zero line has no meaning in a drawing
            line.remove()
        ax.margins(0.0)
        ax.update_datalim([low, high])
        ax.set_aspect("equal")

    def seen(self, points: FloatArray) -> list[FloatArray]:
        """As said above."""
        return [points[..., k] for k in self.axes]

    def fill(self, corners: FloatArray, **look: Any) -> None:
        """As said above."""
        self.ax.fill(*self.seen(corners), linewidth=0.0, **look)


class SpacePen(Pen):
    """Draws in space, the same length alike in all directions."""

    def __init__(self, ax: Any, everything: FloatArray, look: Any, maker: Maker) -> None:
        super().__init__(maker)
        low, high = _box(everything)
        self.reach = 0.06 * float((high - low).max())
        self.own = ax is None
        if ax is None:
            ax = canvas.new_axes(size=(7.4, 5.4), projection="3d")[0, 0]
            ax.view_init(*look)
        self.ax = ax
        ax.computed_zorder = False  # marks stay above the lines they sit on
        for name, k in zip("xyz", range(3), strict=True):
            getattr(ax, f"set_{name}lim")(low[k], high[k])
            getattr(ax, f"set_{name}label")(f"{name} [m]", color=canvas.INK, labelpad=8.0 if name == "z" else 4.0)
            side = getattr(ax, f"{name}axis")
            side.set_pane_color((1.0, 1.0, 1.0, 0.0))
            side.line.set_color(canvas.FAINT)
            side._axinfo["grid"].update(color="#EBEBEB", linewidth=0.8)
            side.set_major_locator(_steps(name, low[k], high[k], float((high - low).max())))
        ax.tick_params(color=canvas.FAINT, labelcolor=canvas.INK, labelsize="small")
        ax.set_box_aspect(high - low, zoom=_zoom(high - low, *look))

    def seen(self, points: FloatArray) -> list[FloatArray]:
        """As said above."""
        return [points[..., k] for k in range(3)]

    def fill(self, corners: FloatArray, **look: Any) -> None:
        """As said above."""
        collection = importlib.import_module("mpl_toolkits.mplot3d.art3d").Poly3DCollection
        colour = look.pop("color")
        self.ax.add_collection3d(collection([corners], facecolor=colour, edgecolor="none", **look))

    def axis(self, mark: Mark, k: int, alpha: float) -> None:
        """A short line on both sides of the joint."""
        if mark.axis is None:
            return
        ends = mark.at[k] + np.outer([-self.reach, self.reach], mark.axis[k])
        colour = _DRIVEN if mark.driven else _BODY
        self.ax.plot(*self.seen(ends), color=colour, linewidth=1.6, alpha=alpha, zorder=5)


def _zoom(extent: FloatArray, elevation: float, azimuth: float) -> float:
    """How much larger a box may be drawn than matplotlib does, which looks at its diagonal and not at the page."""
    up, round_ = np.deg2rad([elevation, azimuth])
    level = np.abs([np.sin(round_), np.cos(round_), 0.0])
    rising = np.abs([np.sin(up) * np.cos(round_), np.sin(up) * np.sin(round_), np.cos(up)])
    return float(0.74 * np.linalg.norm(extent) / max(level @ extent, rising @ extent))


def _steps(name: str, low: float, high: float, longest: float) -> Any:
    """Round numbers along an axis; none near the corner where x ends and y begins, unless a single one were left."""
    locator, room = importlib.import_module("matplotlib.ticker").MaxNLocator, _ROOM * longest

    class Apart(locator):  # type: ignore[misc, valid-type]  # its base is there only where matplotlib is
        def tick_values(self, vmin: float, vmax: float) -> Any:
            values = super().tick_values(vmin, vmax)
            inside = values[(values >= vmin) & (values <= vmax)]
            apart = inside[(inside >= vmin + room * (name == "y")) & (inside <= vmax - room * (name == "x"))]
            return apart if len(apart) > 1 else inside

    return Apart(max(2, round(5 * (high - low) / longest)))


def _look(mark: Mark) -> dict[str, Any]:
    """Lines and fill of a mark."""
    basic = {"linestyle": "none", "markeredgecolor": _BODY, "markeredgewidth": 1.8, "markerfacecolor": "white", "zorder": 6}
    look = basic | _SHAPES[mark.kind]
    if mark.kind == "ground":
        look["marker"] = _ground_sign()
    if mark.driven:
        look["markerfacecolor"] = _DRIVEN
    if mark.kind == "tool":
        look |= {"markeredgewidth": 0.8}
    return look


def _ground_sign() -> Any:
    """A foot on hatched ground, its tip at the point."""
    Path = importlib.import_module("matplotlib.path").Path
    strokes = [[(0, 0), (-0.5, -0.62), (0.5, -0.62), (0, 0)], [(-0.9, -0.62), (0.9, -0.62)]]
    strokes += [[(a, -0.62), (a - 0.3, -1.0)] for a in np.linspace(-0.6, 0.9, 6)]
    corners = [corner for stroke in strokes for corner in stroke]
    codes = [Path.LINETO if k else Path.MOVETO for stroke in strokes for k in range(len(stroke))]
    return Path(corners, codes)


def _box(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper corner of what is shown: the points with room around, and no side much shorter than the others."""
    low, high = points.min(axis=0), points.max(axis=0)
    longest = float((high - low).max()) or 1.0
    half = np.maximum((high - low) / 2 + 0.1 * longest, 0.22 * longest)
    middle = (low + high) / 2
    return middle - half, middle + half


def _drawn_to_scale(extent: FloatArray) -> Any:
    """Plane axes of a new figure, with just the room that a drawing of this extent needs, labels and a legend beside it."""
    width, height = extent * min(4.8 / extent[0], 4.2 / extent[1])
    left, bottom, right, top = 0.8, 0.6, 2.3, 0.35  # inches
    paper = float(left + width + right), float(bottom + height + top)
    ax = canvas.new_axes(size=paper)[0, 0]
    ax.figure.set_layout_engine("none")  # it would not know how equal scales change the axes
    ax.set_position((left / paper[0], bottom / paper[1], width / paper[0], height / paper[1]))
    return ax


__all__ = ["PLANES", "Pen", "PlanePen", "SpacePen"]
