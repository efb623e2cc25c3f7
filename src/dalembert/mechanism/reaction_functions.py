"""Functions that users call for mechanisms only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..dynamics.engine import kernel
from ..dynamics.functions import forces_of
from .mechanism import Mechanism
from .reactions import CONSTRAINT_FORCES


class ConstraintForces(NamedTuple):
    """What the closures and the joints of a mechanism have to hold, in world axes.

    `closures`, shape (..., K, 6), has for each closure the force [N] and moment [N m] that it exerts on its second link, at its
    place on that link; zero for gears, belts and functions, which act at joints. `joints`, shape (..., m, 6), has what each
    moving joint of the tree transmits to its child link, as `link_wrenches` does. `multipliers`, shape (..., c), has the
    generalised force of each scalar condition; those that others hold already get none.
    """

    closures: FloatArray
    joints: FloatArray
    multipliers: FloatArray

    def __repr__(self) -> str:
        return brief(self)


def constraint_forces(
    system: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    threads: int | None = None,
) -> ConstraintForces:
    """Forces and moments at the closures and joints of a mechanism in motion.

    Parameters
    ----------
    system : Mechanism
        With n coordinates and K closures.
    q, qd, qdd : array_like, shape (..., n)
        Coordinates and their time derivatives; leading axes broadcast.
    wrenches, threads
        As in `inverse_dynamics`.

    Returns
    -------
    ConstraintForces
        With closures, shape (..., K, 6), joints, shape (..., m, 6), and multipliers, shape (..., c).

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.constraint_forces(dal.mechanisms.four_bar(), [0.5], [0.0], [0.0]).closures.shape
    (1, 6)
    """
    forces, extra = forces_of(wrenches, None, None, None)
    run: Any = kernel(system, CONSTRAINT_FORCES, forces)
    closures, *others = run(q, qd, qdd, *extra, threads=threads)
    return ConstraintForces(closures if system.closures else closures[..., None].repeat(6, -1), *others)


__all__ = ["ConstraintForces", "constraint_forces"]
