"""Limits of a batch of motions: all at the same instants, in blocks; each at those where it comes near a limit of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import FloatArray
from . import limit_check
from .limit_check import LimitCheck

_BLOCK = 500_000  # numbers of a block, positions of all its motions at all instants

CheckOf = Callable[[Any, FloatArray], LimitCheck]
"""What a motion, or a batch of shape (b, n), uses of its limits at some instants."""


def check(motion: Any, t: FloatArray, check_of: CheckOf) -> LimitCheck:
    """What a motion uses of its limits at instants t, and around its peaks; of a batch of any shape, what each motion uses."""
    batch = motion.shape[:-1]
    if not batch:
        return _closer(motion, t, check_of(motion, t), check_of)
    numbers = np.arange(math.prod(batch))
    size = max(1, _BLOCK // (len(t) * motion.n))
    found: list[LimitCheck] = []
    for begin in range(0, len(numbers), size):
        some = numbers[begin : begin + size]
        rows = _rows(check_of(motion.rows(some), t))
        found += [_closer(motion.rows(np.asarray(k)), t, row, check_of) for k, row in zip(some, rows, strict=True)]
    return _side_by_side(found, batch) if found else check_of(motion, t)


def _closer(motion: Any, t: FloatArray, found: LimitCheck, check_of: CheckOf) -> LimitCheck:
    """A single motion, looked at again around its peaks."""
    closer = np.setdiff1d(limit_check.around_peaks(found, t), t)
    return limit_check.together(found, check_of(motion, closer)) if len(closer) else found


def _rows(found: LimitCheck) -> Iterator[LimitCheck]:
    """The motions of a batch of shape (b,), one after another."""
    for k, passed in enumerate(found.passed):
        own = tuple(one._replace(row=()) for one in found.exceeded if one.row == (k,))
        use, t = ({name: values[k] for name, values in part.items()} for part in (found.use, found.t))
        yield replace(found, passed=bool(passed), exceeded=own, use=use, t=t)


def _side_by_side(found: Sequence[LimitCheck], batch: tuple[int, ...]) -> LimitCheck:
    """What single motions use, as a batch; of a quantity that only some have, the others use nothing."""
    names = {quantity: axes for one in found for quantity, axes in one.names.items()}

    def gathered(part: str, quantity: str) -> FloatArray:
        nothing = np.zeros(len(names[quantity]))
        return np.array([getattr(one, part).get(quantity, nothing) for one in found]).reshape(*batch, -1)

    places = list(np.ndindex(batch))
    every = [one._replace(row=place) for place, row in zip(places, found, strict=True) for one in row.exceeded]
    return LimitCheck(
        np.array([one.passed for one in found]).reshape(batch),
        tuple(sorted(every, key=lambda one: -limit_check.excess(one))),
        names,
        {quantity: gathered("use", quantity) for quantity in names},
        {quantity: gathered("t", quantity) for quantity in names},
        max(one.samples for one in found),
    )


__all__ = ["check"]
