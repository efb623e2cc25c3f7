"""Several tasks in the order of their priority, as users call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.prioritised_result import PrioritisedTasks
from ..dynamics.recipes_operational import OPERATIONAL, task_slices
from ..dynamics.system import AnySystem
from ..dynamics.task_directions import check_count, several_tasks
from .operational_functions import damping_of, mark
from .task_conditions import judge


def prioritised_tasks(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    tasks: Sequence[Mapping[str, Any]],
    damping: float | None = None,
    threads: int | None = None,
) -> PrioritisedTasks:
    """The dynamics of several tasks, each in what those before it leave free; `torque` serves them all.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd
        As in `operational_space`.
    tasks : sequence of mappings
        Options of `operational_space` for each: link, point, frame, angles, directions. The first has the highest priority.
    damping
        As in `operational_space`, for all tasks.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    PrioritisedTasks

    Raises
    ------
    SingularError
        Where a task is singular in what those before it leave free. In a batch such rows are NaN, with a warning.

    Examples
    --------
    >>> import dalembert as dal
    >>> panda = dal.robots.panda()  # its hand holds its place; the elbow is lifted as far as that allows
    >>> hand, elbow = {"directions": ("x", "y", "z")}, {"link": "link4", "directions": ("z",)}
    >>> found = dal.prioritised_tasks(panda, [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0], tasks=[hand, elbow])
    >>> found.torque([[0.0, 0.0, 0.0], [1.0]]).shape
    (7,)
    """
    checked = several_tasks(tasks)
    n = engine.size(system)
    check_count(str(system.name), n, checked)
    size = None if damping is None else damping_of(damping)
    run = engine.kernel(system, OPERATIONAL, tuple(checked), qd is not None, False, size is not None)
    points = [real("point", task["point"], "(..., 3)") for task in tasks if task.get("point") is not None]
    arrays = run(q, *([] if qd is None else [qd]), *points, *([] if size is None else [size]), threads=threads)
    for k, (task, outputs) in enumerate(zip(checked, task_slices(checked, arrays), strict=True)):
        mobility, doubt = outputs[6:8]
        before = f" while {'the task' if k == 1 else 'the tasks'} before {'is' if k == 1 else 'are'} held" if k else ""
        mark(arrays, judge(system.name, task, doubt, mobility, before=before, damped=size is not None))
    return PrioritisedTasks.of(arrays, checked, size)


__all__ = ["prioritised_tasks"]
