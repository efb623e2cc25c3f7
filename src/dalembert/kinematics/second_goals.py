"""Second goals of redundant arms: which there are, what they ask for, and solutions moved towards them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray, choice
from ..codegen import Kernel, build
from ..dynamics import engine
from ..dynamics.system import AnySystem, Request
from ..dynamics.task_directions import TaskDirections
from ..errors import ModelError
from .search_starts import Range, with_solved
from .self_motion import self_motion

_SHARPER, _SHARPEST = 1e-3, 1e-10  # of the tolerance, and least: values of two positions compare only at the same pose
GOALS = {"near": "near", "limits": "near", "manipulability": "manipulability"}


class SecondGoal(NamedTuple):
    """How one of several solutions is chosen."""

    secondary: str | None
    seeds: int


def check_secondary(secondary: Any, q0: Any, task: TaskDirections, n: int, *, continuous: bool) -> None:
    """Refuse a second goal that has no meaning here."""
    if secondary is None:
        return
    choice("secondary", secondary, GOALS)
    if continuous:
        raise ModelError(
            "secondary: found with continuous=True, where each row stays near the one before. Leave one of them out."
        )
    if len(task.rows) >= n:
        raise ModelError(
            f"secondary: {secondary!r} found, but {len(task.rows)} directions take all of the {n} coordinates, so none is left "
            "for a second goal. Leave it out, or free some directions."
        )
    if secondary == "near" and q0 is None:
        raise ModelError("secondary: 'near' found without q0, so it is not known what to stay near to. Give q0.")


def improved(
    system: AnySystem,
    task: TaskDirections,
    space: Range,
    tolerance: tuple[float, float],
    secondary: str | None,
    poses: FloatArray,
    goals: FloatArray,
    q: FloatArray,
    state: FloatArray,
    threads: int | None,
) -> Any:
    """The value of each solution, the lowest being the best; with a second goal, solutions are moved towards it first."""
    if secondary is None:
        return np.abs(q - goals).max(axis=-1)
    found = np.flatnonzero(state[:, 0] > 0.5)
    value = np.full(len(q), np.inf)
    if not len(found):
        return value
    wanted, weights = (goals[found], np.ones(q.shape[1])) if secondary == "near" else (space.middle, _weights(space))
    settings = np.square(np.minimum(tolerance, np.maximum(_SHARPER * np.array(tolerance), _SHARPEST)))
    run = _kernel(system, task, GOALS[secondary])
    start = with_solved(system, q[found])
    moved, report = run(settings, *space.ends, poses[found].reshape(-1, 16), start, wanted, weights, threads=threads)
    better = report[:, 0] < 1e299  # what is not reached again stays as it was
    q[found[better]] = moved[better]
    state[found[better], 1:3] = report[better, 1:3]
    state[found, 3] += report[:, 3]
    value[found] = report[:, 0]
    return value


def _weights(space: Range) -> FloatArray:
    """1 / half² of each range, the largest being one."""
    half = np.maximum((space.box.upper - space.box.lower) / 2, 1e-6)
    found: FloatArray = (half.min() / half) ** 2
    return found


def _kernel(system: AnySystem, task: TaskDirections, goal: str) -> Kernel:
    return engine.kept(system, Request("inverse_kinematics", (task, goal)), lambda: build(self_motion(system, task, goal)))


__all__ = ["GOALS", "SecondGoal", "check_secondary", "improved"]
