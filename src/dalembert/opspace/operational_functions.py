"""The dynamics of a system in the directions of a task, as users call it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import flag, instance, number
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.operational_result import ARRAYS, OperationalSpace
from ..dynamics.recipes_operational import OPERATIONAL
from ..dynamics.system import AnySystem
from ..dynamics.task_directions import TaskDirections, check_count, task_directions
from ..errors import ModelError, ShapeError
from .task_conditions import judge


def operational_space(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    link: str | None = None,
    point: ArrayLike | None = None,
    frame: str = "world",
    angles: str | None = None,
    directions: Sequence[str] | None = None,
    coriolis: bool = False,
    damping: float | None = None,
    out: OperationalSpace | None = None,
    threads: int | None = None,
) -> OperationalSpace:
    """The dynamics as a task feels them: Λ ẍ + μ + p = γ, with τ = Jᵀ γ + Nᵀ τ₀ [Siciliano, Eq. 7.127 to 7.141].

    Redundant arms are served: what the task leaves free is in `N`. Friction of the joints is not in it; add
    `dal.friction_torque` to torques.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    qd : array_like, shape (..., n), optional
        Velocities; at rest if left out.
    link : str, optional
        The link that has the task; the tool if left out.
    point : array_like, shape (..., 3), optional
        A point in the link's frame; its origin if left out.
    frame : {'world', 'body'}
        Whose axes: those of the world, or of the link itself.
    angles : {'rpy', 'zyz'}, optional
        Angles in place of angular velocity, by the analytical Jacobian; geometric if left out.
    directions : sequence of str, optional
        Which of 'x', 'y', 'z', 'rx', 'ry', 'rz' make the task, all if left out; with angles, the last three are 'roll', 'pitch',
        'yaw' or 'phi', 'theta', 'psi'.
    coriolis : bool
        Whether the matrix C_A is wanted too.
    damping : float, optional
        Serve singular tasks by a damped inverse, (J M⁻¹ Jᵀ + damping² S)⁻¹, with S the mobility of the directions where they are
        easy: 0.05 limits Λ to some 400 times what it is there. The result says that it is damped.
    out : OperationalSpace, optional
        An earlier result for as many rows, whose arrays are written over: in a batch, to find new memory takes longer than the
        work itself.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    OperationalSpace

    Raises
    ------
    SingularError
        Where the task, or the angles, are singular. In a batch such rows are NaN, with a warning.

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.two_link_planar()
    >>> task = dal.operational_space(arm, [0.3, 0.9], [1.0, -0.5], directions=("x", "y"))
    >>> task
    OperationalSpace(Lambda: (2, 2), mu: (2,), p: (2,), J: (2, 2), J_bar: (2, 2), N: (2, 2), directions=('x', 'y'))
    >>> tau = task.torque([1.0, 0.0])
    >>> task.acceleration(tau).round(12) + 0.0
    array([1., 0.])
    """
    task = _task_of(system, (link, frame, angles, directions, point is not None))
    if flag("coriolis", coriolis) and qd is None:
        raise ShapeError("qd: nothing found, but coriolis=True needs it; shape (..., n) expected.")
    size = None if damping is None else damping_of(damping)
    run = engine.kernel(system, OPERATIONAL, (task,), qd is not None, coriolis, size is not None)
    given: list[Any] = [q, *([] if qd is None else [qd]), *([] if point is None else [real("point", point, "(..., 3)")])]
    places = None if out is None else _places(out, coriolis)
    arrays = run(*given, *([] if size is None else [size]), out=places, threads=threads)
    found = out if out is not None and out.is_like(task.names, size, coriolis) else OperationalSpace.of(arrays, task.names, size)
    mark(arrays, judge(system.name, task, found.doubt, found.mobility, damped=found.damped))
    return found


def _task_of(system: AnySystem, chosen: tuple[Any, ...]) -> TaskDirections:
    """The checked task, kept beside the system under what was chosen; not if that has a list, which may change."""
    with suppress(*engine.NO_KERNEL):
        found: TaskDirections = system.kernels[OPERATIONAL, "task", chosen]
        return found
    link, frame, angles, directions, with_point = chosen
    task = task_directions(link, frame, angles, directions, with_point=with_point)
    n = engine.size(system)
    check_count(str(system.name), n, [task])
    with suppress(TypeError):
        system.kernels[OPERATIONAL, "task", chosen] = task
    return task


def _places(out: Any, coriolis: bool) -> tuple[Any, ...]:
    """The arrays of an earlier result, to be written over."""
    earlier = instance("out", out, OperationalSpace, "dal.operational_space(...)")
    return tuple(getattr(earlier, name) for name in ARRAYS if name != "C" or coriolis)


def damping_of(value: Any) -> float:
    """A damping, a positive number."""
    size = number("damping", value)
    if size <= 0.0:
        raise ModelError(f"damping: {size:g} found; a positive number expected, such as 0.05. Leave it out for the exact model.")
    return size


def mark(arrays: Sequence[Any], lost: Any) -> None:
    """NaN in the rows of a batch that are singular, if there are any."""
    if lost is not None:
        rows = lost.nonzero()  # few: a mask would be read once for each array
        for array in arrays:
            array[rows] = np.nan


__all__ = ["damping_of", "mark", "operational_space"]
