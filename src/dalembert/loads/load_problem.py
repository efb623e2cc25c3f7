"""A load as a problem to solve: all torques that carry it, and the conditions on them; all rows of a batch at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..errors import ModelError
from ..mechanism.assembled import Assembled
from .admissible_torques import RANK, Admissible, admissible, aligned, balance, held
from .carried_sets import Conditions
from .closure_forces import Cones, Terms, contact_cones, held_rows, spread_value
from .load_conditions import Contact, HeldForce, Squeeze


class Task(NamedTuple):
    """What is asked, checked."""

    objective: str
    weights: FloatArray
    limits: FloatArray
    contacts: Mapping[str, Contact]
    internal: Sequence[HeldForce | Squeeze]
    times: FloatArray | None
    batch: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(np.prod(self.batch, dtype=int))

    def where(self, row: int) -> str:
        """A row of the batch in words."""
        place = ", ".join(map(str, np.unravel_index(row, self.batch))) if self.batch else "0"
        return f"row {place}" + ("" if self.times is None else f" (t = {self.times[row]:.6g})")

    def inside(self, row: int) -> str:
        """The same as part of a sentence, nothing for one configuration."""
        return f" in {self.where(row)}" if self.batch else ""


class Problem(NamedTuple):
    """Rows that have positions, by their numbers; what the kernel gives there; internal directions; torques u* + Y y; conditions
    on y, where forces count in parts of `force`; and the contact that each condition on forces belongs to.
    """

    rows: Any
    terms: Terms
    directions: FloatArray
    ways: Admissible
    conditions: Conditions
    force: FloatArray
    owners: list[int]


def problem_of(mechanism: Assembled, terms: Terms, A0: FloatArray, task: Task) -> Problem:
    """The problem; A0, the rows of the drives at the seed, tells the order and the signs of the internal directions."""
    rows = np.flatnonzero(np.isfinite(terms.tau).all(axis=1) & np.isfinite(terms.A).all(axis=(1, 2)))
    part = Terms(*(array[rows] for array in terms))
    ground = balance(part.tau, part.A)
    _refuse_lost(mechanism, ground.lost, rows, task)
    N = aligned(ground.N, balance(np.zeros((1, A0.shape[2])), A0).N[0])
    ways = _with_held(mechanism, part, admissible(ground._replace(N=N), _weights(task)), rows, task)
    cones = contact_cones(mechanism, part, task.contacts)
    force = np.maximum(np.abs(part.at(ways.u)[:, :, :3]).max(axis=(1, 2), initial=0.0), 1e-12)
    owners = [*cones.linear_of, *cones.cone_of]
    return Problem(rows, part, N, ways, _conditions(ways, task, cones, force[:, None]), force, owners)


def _weights(task: Task) -> FloatArray:
    """Of the norm; for ratios, those of the norm that decides between equal ones."""
    if task.objective == "norm":
        return task.weights
    if not np.isfinite(task.limits).all():
        raise ModelError(
            "objective: 'ratio' compares torques with limits, and some drives have none. Give them with limits=, or effort= in "
            "the model."
        )
    return np.diag(1.0 / task.limits**2)


def _refuse_lost(mechanism: Assembled, lost: FloatArray, rows: Any, task: Task) -> None:
    """Refuse poses in which the drives together cannot push in some direction of the coordinates."""
    bad = np.flatnonzero(np.abs(lost).max(axis=1, initial=0.0) > 0)
    if not len(bad):
        return
    direction = lost[bad[0]] / np.abs(lost[bad[0]]).max()
    words = " ".join(f"{d:+.2f} {name}" for d, name in zip(direction, mechanism.joint_names, strict=True) if abs(d) > RANK)
    raise ModelError(
        f"distribute_load: the drives of {mechanism.name!r} cannot push along {words}{task.inside(rows[bad[0]])}: whatever their "
        "torques, that motion stays free. Drive another joint, or leave out such poses."
    )


def _with_held(mechanism: Assembled, terms: Terms, ways: Admissible, rows: Any, task: Task) -> Admissible:
    """The admissible torques with everything held that is to be held."""
    if not task.internal:
        return ways
    r = ways.Y.shape[2]
    if len(task.internal) > r:
        raise ModelError(
            f"internal: {len(task.internal)} forces are held, but {len(mechanism.actuated)} drives for {mechanism.n} freedoms "
            f"leave {r} to choose. Hold fewer."
        )
    entries = [entry.replace(value=spread_value(entry, task.batch)[rows]) for entry in task.internal]
    found, reach = held(ways, *held_rows(mechanism, terms, entries, (len(rows),)))
    bad = np.flatnonzero(~(reach > RANK))
    if len(bad):
        raise ModelError(
            f"internal: the drives cannot set what is held{task.inside(rows[bad[0]])}: it follows from the motion, or from the "
            "other forces that are held. Hold another component."
        )
    return found


def _conditions(ways: Admissible, task: Task, cones: Cones, force: FloatArray) -> Conditions:
    """Limits and contacts as conditions on y: torques against limits, forces against their size at u*."""
    limited = np.flatnonzero(np.isfinite(task.limits))
    Y, u = ways.Y[:, limited] / task.limits[limited, None], ways.u[:, limited] / task.limits[limited]
    forces = (cones.linear0 + np.einsum("rkm,rm->rk", cones.linear, ways.u)) / force
    return Conditions(
        np.concatenate([Y, -Y, -(cones.linear @ ways.Y) / force[..., None]], axis=1),
        np.concatenate([-u, u, forces], axis=1),
        np.repeat([1.0, 0.0], [2 * len(limited), forces.shape[1]]),
        np.einsum("rjcm,rmy->rjcy", cones.cone, ways.Y) / force[..., None, None],
        (cones.cone0 + np.einsum("rjcm,rm->rjc", cones.cone, ways.u)) / force[..., None],
    )


__all__ = ["Problem", "Task", "problem_of"]
