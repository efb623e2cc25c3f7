"""What may be asked of the forces at closures while drives share a load: contacts that only push, forces that are held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError
from ..model.parts import unit_axis
from ..model.record import Record, put

AXES = {"place": None, "world": None}


@dataclass(frozen=True, eq=False)
class Contact(Record):
    """A closure that is a contact: it can push its second link along a normal, and hold it sideways by friction.

    Parameters
    ----------
    normal : array_like, shape (3,)
        The direction in which the second link can be pushed.
    friction : float, optional
        Coefficient μ of dry friction: |sideways force| ≤ μ · normal force. Without it, the sideways force is not looked at.
    least_normal : float
        The normal force is not smaller than this [N], 0 or more.
    axes : {'place', 'world'}
        Axes of the normal: those of the closure's place on its second link, which move with it, or those of the world.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.Contact(normal=(0, 0, 2), friction=0.5).normal.tolist()
    [0.0, 0.0, 1.0]
    """

    normal: Any
    friction: float | None = None
    least_normal: float = 0.0
    axes: str = field(default="place", kw_only=True)

    def __post_init__(self) -> None:
        put(self, normal=unit_axis("contact: normal", self.normal))
        put(self, least_normal=checks.number("contact: least_normal", self.least_normal))
        checks.choice("contact: axes", self.axes, AXES)
        if self.least_normal < 0:
            raise ModelError(f"contact: least_normal {self.least_normal:g} found; a contact cannot pull: 0 or more is expected.")
        if self.friction is None:
            return
        put(self, friction=checks.number("contact: friction", self.friction))
        if not self.friction > 0:
            raise ModelError(
                f"contact: friction {self.friction:g} found; a coefficient above 0 is expected. Where nothing is held sideways, "
                "use a closure that holds the normal direction alone."
            )


@dataclass(frozen=True, eq=False)
class HeldForce(Record):
    """A component of a closure's force on its second link, or of its moment, that is held at a value.

    Parameters
    ----------
    closure : str
        Its name.
    direction : array_like, shape (3,)
        Along which the component is taken.
    value : array_like, shape (...)
        [N], or [N m] of a moment; one number, or one for each row of a batch.
    moment : bool
        Hold the moment, about the closure's place.
    axes : {'place', 'world'}
        As for a `Contact`.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.HeldForce("left_hand", (1, 0, 0), 20.0).closure
    'left_hand'
    """

    closure: str
    direction: Any
    value: Any
    moment: bool = field(default=False, kw_only=True)
    axes: str = field(default="place", kw_only=True)

    def __post_init__(self) -> None:
        put(
            self,
            closure=checks.name("held force: closure", self.closure),
            direction=unit_axis("held force: direction", self.direction),
            value=_values("held force: value", self.value),
            moment=checks.flag("held force: moment", self.moment),
        )
        checks.choice("held force: axes", self.axes, AXES)


@dataclass(frozen=True, eq=False)
class Squeeze(Record):
    """The force with which two closures press on one link from both sides, held at a value.

    With e from the first place to the second, it is half of (f₁ − f₂) · e: what both forces have in common along the line that
    joins them, positive where they press.

    Parameters
    ----------
    first, second : str
        Names of two closures with the same second link.
    value : array_like, shape (...)
        [N]; one number, or one for each row of a batch.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.Squeeze("left_hand", "right_hand", 20.0).second
    'right_hand'
    """

    first: str
    second: str
    value: Any

    def __post_init__(self) -> None:
        put(
            self,
            first=checks.name("squeeze: closure", self.first),
            second=checks.name("squeeze: closure", self.second),
            value=_values("squeeze: value", self.value),
        )
        if self.first == self.second:
            raise ModelError(f"squeeze: closure {self.first!r} stands twice; two closures are expected that press on one link.")


def _values(subject: str, value: Any) -> FloatArray:
    found = checks.numbers(subject, value)
    return checks.array(subject, found, np.shape(found))


__all__ = ["Contact", "HeldForce", "Squeeze"]
