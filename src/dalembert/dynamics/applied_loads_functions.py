"""Generalised forces of what is applied to a robot from outside, as users call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..checks import FloatArray, flag
from ..errors import ShapeError
from ..model.springs import Anchor, Damper, Spring, anchor
from ..options import mapping
from .engine import kernel
from .functions import WRENCHES
from .system import AnySystem


def applied_torque(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    wrenches: Mapping[str | Anchor, ArrayLike] | None = None,
    springs: Sequence[Spring] = (),
    dampers: Sequence[Damper] = (),
    gravity: bool = False,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Joint torques that applied loads exert, by virtual work: T = Σ Gᵀ f + springs + dampers + gravity [Freeman, Eq. 2-147].

    They push the joints as motors do: the motors then have to give `inverse_dynamics(...) − applied_torque(...)`, and
    `forward_dynamics` takes their torques plus these. (Gravity is in both already: leave it out here.)

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    qd : array_like, shape (..., n), optional
        Velocities; dampers need them.
    wrenches : mapping of anchor to array_like, shape (..., 6)
        Force and moment [f; m] on the robot in world axes. An anchor is a link's name, 'tool', or (name, point in its frame).
    springs, dampers : sequence of Spring, of Damper
        At joints or between two points; their numbers are folded into the kernel.
    gravity : bool
        Whether the weight of every link counts as an applied load: minus `gravity_torque`.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    tau : ndarray, shape (..., n), [N m | N]

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.two_link_planar()
    >>> spring = dal.Spring(200.0, between=("tool", ("world", (1.0, 0.0, 0.0))), rest=0.3)
    >>> dal.applied_torque(arm, [0.3, 0.5], springs=[spring]).shape
    (2,)
    """
    acting = {} if wrenches is None else mapping("wrenches", wrenches, WRENCHES)
    anchors = tuple(anchor("wrenches", key) for key in acting)
    springs, dampers, gravity = _all("springs", springs, Spring), _all("dampers", dampers, Damper), flag("gravity", gravity)
    if dampers and qd is None:
        raise ShapeError("qd: nothing found, but dampers need it; shape (..., n) expected.")
    moving = qd is not None  # then an input in any case, so that a wrong one is refused and its batch axes count
    run = kernel(system, "applied_torque", anchors, springs, dampers, gravity, moving)
    return run(q, *([qd] if moving else []), *acting.values(), out=out, threads=threads)


def _all(subject: str, elements: Any, kind: type) -> tuple[Any, ...]:
    found = tuple(elements) if isinstance(elements, Sequence) and not isinstance(elements, str) else (elements,)
    for element in found:
        if not isinstance(element, kind):
            raise ShapeError(
                f"{subject}: {type(element).__name__} found, a {kind.__name__} expected. Try dal.{kind.__name__}(...)."
            )
    return found


__all__ = ["applied_torque"]
