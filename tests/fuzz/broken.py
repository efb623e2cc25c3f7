"""A campaign whose cases misbehave in every way, on purpose: what the runner has to notice."""

from __future__ import annotations

import os
import time

import numpy as np

from .campaign import KINDS, Fault, answer

LIMIT = 2.0
QUICK = FULL = len(KINDS) + 2  # one fault of each kind, between two good cases


def draw(rng: np.random.Generator, number: int) -> str:
    """One of the kinds of fault, in order."""
    return ("fine", *KINDS, "fine at last")[number]


def judge(case: str) -> None:
    """Misbehave as the case says."""
    if case == "crash":
        os.abort()
    if case == "hang":
        time.sleep(60.0)
    if case == "foreign":
        answer(lambda: 1 / 0)
    if case in KINDS:
        raise Fault(case, "on purpose")
