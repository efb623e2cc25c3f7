"""Several tasks in the order of their priority, as a result: arrays, or scalars inside of a function that is compiled.

Each is served in what those before it leave free [SentisKhatib2005]. With q̈₀ = −M⁻¹ h, the acceleration without torques, and
J_k|, Λ_k|, J̄_k| of task k as in task_dynamics.py,

    a_k = ẍ_k − J̇_k q̇ − J_k q̈_{k−1},    q̈_k = q̈_{k−1} + J̄_k| a_k,    τ = Σ J_k|ᵀ Λ_k| a_k + Nᵀ τ₀                (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..brief import brief
from ..errors import ShapeError
from .operational_result import applied, turned
from .recipes_operational import task_slices
from .task_directions import TaskDirections


@dataclass(frozen=True, eq=False, repr=False)
class PrioritisedTask:
    """One of several tasks: as `OperationalSpace`, in what the tasks before it leave free.

    Attributes
    ----------
    Lambda, mu, p, J_bar
        As in `OperationalSpace`, with J N of the tasks before in the place of J.
    J : ndarray, shape (..., m, n)
        The task's own Jacobian, whatever comes before.
    Jdot_qd : ndarray, shape (..., m)
        Its acceleration without joint accelerations.
    directions : tuple of str
        What the rows are.
    """

    Lambda: Any
    mu: Any
    p: Any
    J: Any
    J_bar: Any
    Jdot_qd: Any
    directions: tuple[str, ...]

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False, repr=False)
class PrioritisedTasks:
    """Tasks in the order of their priority, and what all of them leave free.

    Attributes
    ----------
    tasks : tuple of PrioritisedTask
        The first has the highest priority.
    N : ndarray, shape (..., n, n)
        What all tasks leave free of joint velocities; of torques, Nᵀ.
    qdd_free : ndarray, shape (..., n)
        The acceleration of the joints without torques.
    damping : float or None
        That of damped tasks.
    """

    tasks: tuple[PrioritisedTask, ...]
    N: Any
    qdd_free: Any
    damping: Any = None

    def __repr__(self) -> str:
        return brief(
            self, "tasks", *([] if self.damped else ["damping"]), directions=tuple(task.directions for task in self.tasks)
        )

    @property
    def damped(self) -> bool:
        """Whether these are damped tasks, an approximation."""
        return self.damping is not None

    @classmethod
    def of(cls, arrays: Sequence[Any], tasks: Sequence[TaskDirections], damping: Any = None) -> PrioritisedTasks:
        """From the outputs of the kernel of several tasks."""
        found = []
        for task, outputs in zip(tasks, task_slices(tasks, arrays), strict=True):
            Lambda, mu, p, J, J_bar, turning = outputs[:6]
            found.append(PrioritisedTask(Lambda, mu, p, J, J_bar, turning, task.names))
        return cls(tuple(found), arrays[-2], arrays[-1], damping)

    def torque(self, accelerations: Sequence[Any], *, tau0: Any = None) -> Any:
        """τ with which each task has its acceleration, as far as those before it leave it free [(1)]; friction is not in it.

        Parameters
        ----------
        accelerations : sequence of array_like, each of shape (..., m)
            What each task shall do, the first with the highest priority.
        tau0 : array_like, shape (..., n), optional
            Torques that move what all tasks leave free.

        Returns
        -------
        ndarray, shape (..., n)
        """
        if len(accelerations) != len(self.tasks):
            raise ShapeError(f"accelerations: {len(accelerations)} found, {len(self.tasks)} expected: one for each task.")
        qdd = self.qdd_free
        tau: Any = 0.0 if tau0 is None else applied(turned(self.N), tau0)
        free = np.eye(qdd.shape[-1])
        for task, wanted in zip(self.tasks, accelerations, strict=True):
            a = np.asarray(wanted) - task.Jdot_qd - applied(task.J, qdd)
            J_free = task.J @ free
            tau = tau + applied(turned(J_free), applied(task.Lambda, a))
            qdd = qdd + applied(task.J_bar, a)
            free = free - task.J_bar @ J_free
        return tau


__all__ = ["PrioritisedTask", "PrioritisedTasks"]
