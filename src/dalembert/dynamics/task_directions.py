"""What a task is: directions of motion of a frame or a point in it, in which axes, or as which angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..checks import choice
from ..errors import ModelError, ShapeError, UnknownNameError
from ..options import several_names
from ..wording import listed, shown

DIRECTIONS: dict[str | None, tuple[str, ...]] = {
    None: ("x", "y", "z", "rx", "ry", "rz"),
    "rpy": ("x", "y", "z", "roll", "pitch", "yaw"),
    "zyz": ("x", "y", "z", "phi", "theta", "psi"),
}
OPTIONS = ("link", "point", "frame", "angles", "directions")
FRAMES = {"world": 0, "body": 0}


class TaskDirections(NamedTuple):
    """A checked task; the key of its kernels."""

    link: str | None = None
    frame: str = "world"
    angles: str | None = None
    rows: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    with_point: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The directions."""
        return _names(self.angles, self.rows)

    @property
    def turns(self) -> bool:
        """Whether angles of the orientation are among the directions, so that a representation can be singular."""
        return self.angles is not None and any(row > 2 for row in self.rows)


@cache
def _names(angles: str | None, rows: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(DIRECTIONS[angles][row] for row in rows)


def task_directions(
    link: str | None = None,
    frame: str = "world",
    angles: str | None = None,
    directions: Any = None,
    *,
    with_point: bool = False,
) -> TaskDirections:
    """A task from what users give; every wrong option has its sentence."""
    if link is not None and not isinstance(link, str):
        raise UnknownNameError(f"link: {shown(link)} found; a link's name is expected.")
    choice("frame", frame, FRAMES)
    if angles is not None:
        choice("angles", angles, {name: 0 for name in DIRECTIONS if name is not None})
        if frame != "world":
            raise ModelError(f"frame: {frame!r} found with angles={angles!r}, whose positions are in world axes. Leave one out.")
    return TaskDirections(link, frame, angles, _rows(directions, DIRECTIONS[angles]), with_point)


def _rows(directions: Any, known: tuple[str, ...]) -> tuple[int, ...]:
    if directions is None:
        return tuple(range(len(known)))
    groups = {"position": known[:3], "orientation": known[3:], "pose": known}
    given = several_names("directions", directions, f"names such as {known[:2]}")
    names = tuple(name for word in given for name in groups.get(word, (word,)))
    for name in names:
        if name not in known:
            raise UnknownNameError.among("directions", name, [*known, *groups])
    if not names or len(set(names)) < len(names):
        raise ShapeError(f"directions: {shown(names)} found; each at most once is expected, and one at least.")
    return tuple(known.index(name) for name in names)


def check_count(name: str, n: int, tasks: Sequence[TaskDirections]) -> None:
    """Refuse more directions than a system has coordinates: no inertia belongs to all of them."""
    count = sum(len(task.rows) for task in tasks)
    if count > n:
        names = [direction for task in tasks for direction in task.names]
        raise ModelError(
            f"directions: {count} found ({listed(names)}), but {name!r} has {n} coordinate{'s' if n != 1 else ''}, which "
            f"move at most {n} of them independently. Choose some, as in directions={tuple(names[: max(1, min(n, 2))])}."
        )


def several_tasks(tasks: Any) -> list[TaskDirections]:
    """Two tasks or more from what users give: mappings of options."""
    if isinstance(tasks, (str, Mapping)) or not isinstance(tasks, Sequence) or len(tasks) < 2:
        raise ShapeError(f"tasks: {shown(tasks)} found; two or more mappings expected. For one task, try dal.operational_space.")
    return [_task(k, task) for k, task in enumerate(tasks)]


def _task(k: int, task: Any) -> TaskDirections:
    if not isinstance(task, Mapping):
        raise ShapeError(f"tasks: {shown(task)} found as number {k}; a mapping expected, such as {{'directions': ('x', 'y')}}.")
    unknown = [name for name in task if name not in OPTIONS]
    if unknown:
        raise ModelError(f"tasks: {shown(unknown[0])} found in number {k}; known are {listed(OPTIONS)}.")
    options = {name: value for name, value in task.items() if name != "point"}
    return task_directions(**options, with_point=task.get("point") is not None)


__all__ = ["DIRECTIONS", "FRAMES", "TaskDirections", "check_count", "several_tasks", "task_directions"]
