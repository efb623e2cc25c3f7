"""How drives share the load of a motion: what users call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..dynamics.engine import kernel
from ..dynamics.functions import forces_of
from ..errors import ModelError
from ..mechanism.mechanism import Mechanism, PlacedMechanism
from .closure_forces import Terms
from .load_conditions import Contact, HeldForce, Squeeze
from .load_options import OBJECTIVES, contacts_of, drives_of, held_of, times_of, torque_limits, weight_matrix
from .load_problem import Task, problem_of
from .sharing import Shared, share
from .sharing_recipe import SHARING


@dataclass(frozen=True, eq=False)
class LoadDistribution:
    """Torques of the drives of a mechanism that together carry a load.

    Attributes
    ----------
    names : tuple of m str
        The driven joints.
    torques : ndarray, shape (..., m)
        u [N m | N]; NaN where the load cannot be carried.
    limits : ndarray, shape (m,)
        The largest torques that were allowed.
    closures : tuple of K str
        Names of the closures.
    wrenches : ndarray, shape (..., K, 6)
        Force and moment of each closure on its second link, at its place there and in world axes.
    internal : ndarray, shape (..., r)
        Parts of u that move nothing, along `directions`.
    directions : ndarray, shape (..., m, r)
        An orthonormal basis of the torques that move nothing; it turns with q without jumps near the mechanism's seed.
    objective : ndarray, shape (...)
        uᵀ W u, or the largest |u| / limit.
    at_limit : ndarray of bool, shape (..., m)
        The drives at their limits.
    contacts : tuple of C str
        Names of the contacts.
    at_contact : ndarray of bool, shape (..., C)
        The contacts about to slip, or at their least normal force.
    feasible : ndarray of bool, shape (...)
        Whether the load can be carried.
    undetermined : tuple of str
        Closures whose wrenches are one choice among many, because closures hold what others hold already.
    """

    names: tuple[str, ...]
    torques: FloatArray
    limits: FloatArray
    closures: tuple[str, ...]
    wrenches: FloatArray
    internal: FloatArray
    directions: FloatArray
    objective: FloatArray
    at_limit: Any
    contacts: tuple[str, ...]
    at_contact: Any
    feasible: Any
    undetermined: tuple[str, ...]

    @property
    def ratios(self) -> FloatArray:
        """|u| / limit of each drive, shape (..., m)."""
        return np.abs(self.torques) / self.limits

    def __repr__(self) -> str:
        return brief(self, "names", "limits", "closures", "contacts", "undetermined")


def distribute_load(
    mechanism: Mechanism | PlacedMechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    objective: Literal["norm", "ratio"] = "norm",
    weights: ArrayLike | Mapping[str, float] | None = None,
    limits: ArrayLike | Mapping[str, float] | None = None,
    contacts: Mapping[str, Contact] | None = None,
    internal: HeldForce | Squeeze | Iterable[HeldForce | Squeeze] = (),
    wrenches: Mapping[str, ArrayLike] | None = None,
    t: ArrayLike | None = None,
    threads: int | None = None,
) -> LoadDistribution:
    """Torques of more drives than freedoms that together produce a motion, the best of all that do.

    With τ the forces at the coordinates and A the rows of ∂x/∂q of the driven joints, all torques u with Aᵀ u = τ produce the
    same motion [Freeman, Eq. 4-80]. They differ in what they press against each other through the closures.

    Parameters
    ----------
    mechanism : Mechanism
        With n coordinates, K closures, and m driven joints (`actuated`), m ≥ n.
    q, qd, qdd : array_like, shape (..., n)
        Coordinates and their time derivatives; leading axes broadcast.
    objective : {'norm', 'ratio'}
        What is made small: uᵀ W u, or the largest |u| / limit (and then, if there is a choice, Σ (u / limit)²).
    weights : array_like, shape (m,) or (m, m), or mapping of joint to float
        W, or its diagonal; 1 for drives that are not named. Without it, the sum of squares [Freeman, Eq. 4-86].
    limits : mapping of joint to float, array_like, shape (m,), or float
        The largest torques [N m | N]; those of the model (`Limits.effort`) for drives that are not named.
    contacts : mapping of closure to Contact
        Closures that only push, within their cones of friction.
    internal : HeldForce, Squeeze, or several of them
        Forces at closures that are held at values.
    wrenches, threads
        As in `inverse_dynamics`.
    t : array_like, shape (...)
        The time of each row, for messages.

    Returns
    -------
    LoadDistribution
        With torques, shape (..., m), and the wrenches at the closures, shape (..., K, 6).

    Raises
    ------
    InfeasibleError
        If one configuration cannot be carried; with the drive that is too weak, and the factor it lacks. Rows of a batch are
        marked instead, with one warning (`load-infeasible`).

    Notes
    -----
    Where no limit and no contact binds, the result is a closed form over the whole batch. Other rows are quadratic or
    second-order-cone programmes and need the extra `loads`.

    Examples
    --------
    >>> import dalembert as dal
    >>> four_bar = dal.mechanisms.four_bar()
    >>> both = four_bar.replace(actuated=("joint1", "joint3"))
    >>> shared = dal.distribute_load(both, [1.2], [1.5], [-0.7])
    >>> alone = dal.inverse_dynamics(four_bar, [1.2], [1.5], [-0.7])
    >>> bool(shared.objective < alone[0] ** 2)
    True
    """
    placed = mechanism.mechanism if isinstance(mechanism, PlacedMechanism) else mechanism
    if not isinstance(placed, Mechanism):
        raise ModelError(
            f"distribute_load: {checks.shown(placed)} found; a Mechanism is expected, whose closures let drives share."
        )
    names = drives_of(placed)
    checks.choice("objective", objective, OBJECTIVES)
    if objective == "ratio" and weights is not None:
        raise ModelError("weights: they have no effect on the objective 'ratio', which weighs by limits. Leave them out.")
    forces, extra = forces_of(wrenches, None, None, None)
    run: Any = partial(kernel(mechanism, SHARING, forces), threads=threads)
    found = [np.asarray(array, dtype=float) for array in run(q, qd, qdd, *extra)]
    batch = found[0].shape[:-1]
    task = Task(
        objective,
        weight_matrix(weights, names),
        torque_limits(limits, placed, names),
        contacts_of(contacts),
        held_of(internal),
        times_of(t, batch),
        batch,
    )
    shared = share(placed, problem_of(placed, Terms.of(found, batch), _seed_terms(placed).A, task), task)
    return _result(placed, names, task, shared, batch)


def _seed_terms(mechanism: Mechanism) -> Terms:
    rest = np.zeros(mechanism.n)
    run: Any = kernel(mechanism, SHARING, forces_of(None, None, None, None)[0])
    return Terms.of([np.asarray(array) for array in run(mechanism.q0, rest, rest)], ())


def _result(mechanism: Mechanism, names: tuple[str, ...], task: Task, shared: Shared, batch: tuple[int, ...]) -> LoadDistribution:
    def whole(array: Any) -> Any:
        return array.reshape((*batch, *array.shape[1:]))

    return LoadDistribution(
        names=names,
        torques=whole(shared.u),
        limits=task.limits,
        closures=tuple(closure.name for closure in mechanism.closures),
        wrenches=whole(shared.wrenches),
        internal=whole(shared.internal),
        directions=whole(shared.directions),
        objective=whole(shared.objective),
        at_limit=whole(np.abs(shared.u) >= task.limits * (1 - 1e-7)),
        contacts=tuple(task.contacts),
        at_contact=whole(shared.at_contact),
        feasible=whole(shared.feasible),
        undetermined=shared.undetermined,
    )


__all__ = ["LoadDistribution", "distribute_load"]
