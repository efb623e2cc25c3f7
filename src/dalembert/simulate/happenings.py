"""What may happen in a motion, and where each motion carries what it has to know of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from .axes import Axes
from .dry_friction import DryFriction


class Happenings(NamedTuple):
    """What a time loop with events has to look for, the same for all motions of a kernel."""

    axes: Axes
    friction: DryFriction
    stops: tuple[bool, ...]  # the axes that have any
    locks: bool  # whether axes may be locked
    functions: tuple[Any, ...]  # of (t, q, q̇, p) over scalars, whose sign changes
    directions: tuple[int, ...]
    layout: EventFields

    @property
    def held(self) -> list[bool]:
        """Which axes may have to be held."""
        return [dry or stop or self.locks for dry, stop in zip(self.friction.acts, self.stops, strict=True)]


class EventFields(NamedTuple):
    """Where the fields of a motion are in the vector that goes from call to call; n axes, m functions.

    `looped` is n where axes may be no coordinates, and 0 elsewhere.
    """

    n: int
    m: int
    looped: int = 0

    @property
    def mode(self) -> slice:
        """1 and −1 where an axis slides, 0 where it is held."""
        return slice(0, self.n)

    @property
    def before(self) -> slice:
        """The modes before they were decided last."""
        return slice(self.n, 2 * self.n)

    @property
    def locked(self) -> slice:
        """1 where an axis is locked."""
        return slice(2 * self.n, 3 * self.n)

    @property
    def stopped(self) -> slice:
        """1 where an axis has come to a stop."""
        return slice(3 * self.n, 4 * self.n)

    @property
    def signs(self) -> slice:
        """1 where a function has changed its sign."""
        return slice(4 * self.n, 4 * self.n + self.m)

    @property
    def clock(self) -> int:
        """The time at which the motion is to wait."""
        return 4 * self.n + self.m

    @property
    def settle(self) -> int:
        """Whether modes have to be decided anew."""
        return self.clock + 1

    @property
    def hold(self) -> slice:
        """What held each axis at the start of the step."""
        return slice(self.settle + 1, self.settle + 1 + self.n)

    @property
    def rest(self) -> slice:
        """Where an axis that is no coordinate was when modes were decided last: held ones stay there."""
        return self._further(0)

    @property
    def speed(self) -> slice:
        """How fast axes moved at the start of the step."""
        return self._further(1)

    @property
    def pull(self) -> slice:
        """Their accelerations there."""
        return self._further(2)

    def _further(self, k: int) -> slice:
        begin = self.hold.stop + k * self.looped
        return slice(begin, begin + self.looped)

    @property
    def size(self) -> int:
        """Of the vector."""
        return self.hold.stop + 3 * self.looped


__all__ = ["EventFields", "Happenings"]
