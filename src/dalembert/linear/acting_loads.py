"""What acts on a system beside its drives: springs, dampers, wrenches, and functions of position and velocity of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ..dynamics.system import Request
from ..errors import ModelError
from ..expr.differentiate import jacobian
from ..model.springs import Anchor, Damper, Spring, anchor
from ..options import mapping
from .own_functions import OwnFunction

Scalars = list[Any]
Matrix = list[list[Any]]
Ask = Callable[[Request], Callable[..., Any]]
"""From a request to the function of scalars that a system has for it."""


class Acting(NamedTuple):
    """Options of a kernel: springs and dampers, functions, and the places where wrenches act."""

    springs: tuple[Spring, ...] = ()
    dampers: tuple[Damper, ...] = ()
    functions: tuple[OwnFunction, ...] = ()
    anchors: tuple[Anchor, ...] = ()

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """The inputs of a kernel that are wrenches."""
        return {f"wrench {k} at {name!r}": (6,) for k, (name, _) in enumerate(self.anchors, 1)}


class ActingForces(NamedTuple):
    """Generalised forces and their slopes by q, by q̇ and by the wrenches, over scalars."""

    values: Scalars
    by_q: Matrix
    by_qd: Matrix
    by_wrench: Matrix


NOTHING = Acting()


def acting_of(loads: Any, wrenches: Mapping[Any, ArrayLike] | None = None) -> tuple[Acting, list[Any]]:
    """What users give, sorted; and the arrays of the wrenches."""
    given = tuple(loads) if isinstance(loads, (list, tuple)) else (() if loads is None else (loads,))
    for load in given:
        if not isinstance(load, (Spring, Damper)) and not callable(load):
            raise ModelError(
                f"loads: {type(load).__name__} found; a Spring, a Damper or a function of (q, qd) is expected. "
                "Try dal.Spring(200.0, joint='elbow')."
            )
    at = {} if wrenches is None else mapping("wrenches", wrenches, "{'tool': [fx, fy, fz, mx, my, mz]}")
    return Acting(
        tuple(load for load in given if isinstance(load, Spring)),
        tuple(load for load in given if isinstance(load, Damper)),
        tuple(OwnFunction("loads", load) for load in given if not isinstance(load, (Spring, Damper))),
        tuple(anchor("wrenches", key) for key in at),
    ), list(at.values())


def forces_of(ask: Ask, acting: Acting, q: Scalars, qd: Scalars, wrenches: Sequence[Scalars]) -> ActingForces | None:
    """The generalised forces of all that acts, with slopes [Freeman, Eq. 2-208, 2-226, 2-227]; None where nothing acts."""
    if acting == NOTHING:
        return None
    n, values = len(q), exerted(ask, acting, q, qd, wrenches)
    given = [entry for wrench in wrenches for entry in wrench]
    rows = jacobian(values, [*q, *qd, *given])
    return ActingForces(values, *([row[a:b] for row in rows] for a, b in ((0, n), (n, 2 * n), (2 * n, None))))


def exerted(ask: Ask, acting: Acting, q: Scalars, qd: Scalars, wrenches: Sequence[Scalars]) -> Scalars:
    """The generalised forces alone."""
    total: Scalars = [0.0] * len(q)
    springs, dampers, functions, anchors = acting
    if springs or dampers or anchors:
        applied = ask(Request("applied_torque", (anchors, springs, dampers, False, True)))
        total = applied(q, qd, *wrenches)
    for function in functions:
        total = [a + b for a, b in zip(total, function.forces(q, qd), strict=True)]
    return total


__all__ = ["NOTHING", "Acting", "ActingForces", "Ask", "acting_of", "exerted", "forces_of"]
