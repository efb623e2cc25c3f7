"""What may happen in a motion, and where each motion carries what it has to know of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from .dry_friction import DryFriction


class Happenings(NamedTuple):
    """What a time loop with events has to look for, the same for all motions of a kernel."""

    friction: DryFriction
    stops: tuple[bool, ...]  # the coordinates that have any
    locks: bool  # whether coordinates may be locked
    functions: tuple[Any, ...]  # of (t, q, q̇, p) over scalars, whose sign changes
    directions: tuple[int, ...]

    @property
    def held(self) -> list[bool]:
        """Which coordinates may have to be held."""
        return [dry or stop or self.locks for dry, stop in zip(self.friction.acts, self.stops, strict=True)]


class EventFields(NamedTuple):
    """Where the fields of a motion are in the vector that goes from call to call; n coordinates, m functions."""

    n: int
    m: int

    @property
    def mode(self) -> slice:
        """1 and −1 where a coordinate slides, 0 where it is held."""
        return slice(0, self.n)

    @property
    def before(self) -> slice:
        """The modes before they were decided last."""
        return slice(self.n, 2 * self.n)

    @property
    def locked(self) -> slice:
        """1 where a coordinate is locked."""
        return slice(2 * self.n, 3 * self.n)

    @property
    def stopped(self) -> slice:
        """1 where a coordinate has come to a stop."""
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
    def size(self) -> int:
        """Of the vector."""
        return self.settle + 1


__all__ = ["EventFields", "Happenings"]
