"""Where the motions of an adaptive integration are, from one call of its kernel to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..checks import FloatArray


@dataclass
class Motions:
    """The fields of each motion, its vectors, its chart, and whether its first step there is to be chosen.

    The vectors are q, q̇ and their slopes, positions with theirs where they are `solved` for, further states with theirs where
    the state is `extended` by some, and what they carry for events, where they may wait (`waits`), or of earlier steps.
    """

    state: FloatArray
    vectors: list[FloatArray]
    chart: Any
    fresh: Any
    solved: bool = False
    extended: bool = False
    charts_differ: bool = False
    waits: bool = False

    @property
    def positions(self) -> list[FloatArray]:
        """Those that are solved for, if there are any."""
        return self.vectors[4:5] if self.solved else []

    @property
    def further(self) -> list[FloatArray]:
        """Further states, if there are any."""
        if not self.extended:
            return []
        return self.vectors[6:7] if self.solved else self.vectors[4:5]

    @property
    def events(self) -> FloatArray:
        """What they carry for events."""
        assert self.waits
        return self.vectors[-1]


__all__ = ["Motions"]
