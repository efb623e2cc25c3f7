"""What an inverse kinematics search found: positions, how near they come, and a sentence for each row that failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..brief import brief
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.kinematics_functions import jacobian
from ..dynamics.system import AnySystem, LoopSystem
from ..dynamics.task_directions import TaskDirections
from ..wording import listed
from .wanted_poses import FINE, REASONS

REACHED, NOT_A_POSE, NOT_REACHED, JUMPED = 0, 1, 2, 3
_AT_LIMIT = 1e-9  # of a joint's range
_SINGULAR = 0.03  # of the largest singular value: at the nearest pose of one out of reach, J loses a direction


@dataclass(frozen=True, eq=False, repr=False)
class InverseKinematics:
    """Joint positions for wanted poses; rows that failed hold the nearest position found.

    Attributes
    ----------
    q : ndarray, shape (..., n)
        Positions [rad | m]; NaN where what was asked for is not a pose.
    success : ndarray of bool, shape (...)
        Whether each pose was reached within the tolerance.
    pose : ndarray, shape (..., 4, 4)
        The pose at q: the nearest one found where the search failed.
    position_error, rotation_error : ndarray, shape (...)
        What is left in the directions that were asked for [m], [rad].
    turns, attempts : ndarray of int, shape (...)
        Steps of the search, and starts it took.
    status : ndarray of int, shape (...)
        0 reached, 1 not a pose, 2 not reached, 3 reached by a jump of a joint.
    """

    q: FloatArray
    success: Any
    pose: FloatArray
    position_error: FloatArray
    rotation_error: FloatArray
    turns: Any
    attempts: Any
    status: Any
    system: AnySystem = field(repr=False)
    task: TaskDirections = field(default=TaskDirections(), repr=False)
    limits: bool = field(default=True, repr=False)
    jumps: Any = field(default=None, repr=False)
    kinds: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        return brief(self, all_reached=bool(np.all(self.success)))

    @property
    def message(self) -> str:
        """How it went, in a sentence."""
        return summary(self)

    def row_message(self, *row: int) -> str:
        """How one row went, by its index; a result without leading axes has none."""
        return row_message(self, row)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def summary(found: InverseKinematics) -> str:
    """How many poses were reached, how near the others came, and what to try."""
    failed, total = int(np.size(found.success) - np.count_nonzero(found.success)), np.size(found.success)
    if not failed:
        return "Every pose was reached."
    if total == 1 and found.success.ndim == 0:
        return row_message(found, ())
    status, parts = np.asarray(found.status), []
    if lost := int(np.sum(status == NOT_A_POSE)):
        parts.append(f"{lost} {'is not a pose' if lost == 1 else 'are not poses'}")
    if lost := int(np.sum(status == NOT_REACHED)):
        worst = np.where(status == NOT_REACHED, found.position_error, 0.0).max()
        turn = np.where(status == NOT_REACHED, found.rotation_error, 0.0).max()
        parts.append(f"{lost} {_were(lost)} not reached, the farthest left {worst:.3g} m and {turn:.3g} rad away")
    if lost := int(np.sum(status == JUMPED)):
        parts.append(f"{lost} {_were(lost)} reached by a jump of a joint only")
    first = tuple(int(k) for k in np.argwhere(~np.asarray(found.success))[0])
    return f"{failed} of {total} poses failed: {', '.join(parts)}. Row {_name(first)}: {row_message(found, first)}"


def _name(row: tuple[int, ...]) -> str:
    return str(row[0]) if len(row) == 1 else str(row)


def row_message(found: InverseKinematics, row: tuple[int, ...]) -> str:
    """What happened to one row, and one thing to try."""
    status = int(np.asarray(found.status)[row])
    if status == REACHED:
        return "reached."
    if status == NOT_A_POSE:
        return f"{REASONS[int(np.asarray(found.kinds)[row])]}, so nothing was looked for."
    if status == JUMPED:
        return _jump(found, row)
    near = f"{float(found.position_error[row]):.3g} m and {float(found.rotation_error[row]):.3g} rad"
    return f"not reached; the nearest pose found is {near} away{_why(found, row)}"


def _jump(found: InverseKinematics, row: tuple[int, ...]) -> str:
    step = np.asarray(found.jumps)[row]
    k = int(np.argmax(np.abs(step)))
    c = engine.system_of(found.system).coordinates[k]
    return (
        f"reached only by a jump of joint {c.name!r} by {step[k]:.3g} {c.unit} from the row before. The path passes near a "
        "singularity or changes branch: give more rows, another q0, or free a direction."
    )


def _why(found: InverseKinematics, row: tuple[int, ...]) -> str:
    """Which joints stand at limits, whether the arm is singular there, and what to try."""
    q, coordinates = found.q[row], engine.system_of(found.system).coordinates
    at = [c.name for c, x in (*zip(coordinates, q, strict=True), *_beside(found, q)) if found.limits and _at_end(x, c.limits)]
    if at:
        names = f"joint {at[0]!r} is" if len(at) == 1 else f"joints {listed(at)} are"
        return f", where {names} at the limit. Try limits=False to see whether limits are the reason, or more attempts."
    J = np.asarray(jacobian(found.system, q, found.task.link, frame=found.task.frame))[list(found.task.rows)]
    if not np.isfinite(J).all():
        return ". Start nearer, with q0."
    values = np.linalg.svd(J, compute_uv=False)
    if values[-1] < _SINGULAR * values[0]:
        return ", where the arm is singular: it is stretched out or an axis is lost, so the pose is likely out of reach."
    return ". Free some directions if they do not matter, start nearer with q0, or allow more attempts."


def _beside(found: InverseKinematics, q: FloatArray) -> list[tuple[Any, float]]:
    """Joints within loops that are no coordinates, and where they stand."""
    view = engine.system_of(found.system)
    return list(zip(view.axes_beside, view.motion_beside(q, 0 * q)[0], strict=True)) if isinstance(view, LoopSystem) else []


def _at_end(x: float, limits: Any) -> bool:
    room = _AT_LIMIT * max(1.0, abs(x))
    return bool(x - limits.lower <= room or limits.upper - x <= room)


__all__ = ["FINE", "JUMPED", "NOT_A_POSE", "NOT_REACHED", "REACHED", "InverseKinematics", "row_message", "summary"]
