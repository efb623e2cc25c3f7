"""`bounds`: proven enclosures of a quantity over a box of states."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..dynamics.system import AnySystem
from ..options import function
from . import attained
from .attained import Aim
from .bounds_result import Bounds, ProvedExtreme
from .box_search import BoxSearch
from .input_ranges import masses, positive, ranges_of
from .posing import subject as pose
from .subjects import Subject

_SLICE = 0.5  # [s] of search between two reports of progress
_BUDGET = 0.1  # of what is allowed: the share that highest harmonics may take
_LEAST = 1e-290  # what is not worth a search, whatever the scale
_NOTHING = 1e-6  # of the largest entry: what counts as zero
_LOOK_STARTS, _LOOK_SWEEPS, _LOOK_STEP = 8, 10, 0.1


class Progress(float):
    """How far a search is: the share of it that is over, as a number; and the entry it is at, 'maximum' or 'minimum', what is
    attained and what is proved of it, its boxes, and seconds so far.
    """

    entry: str
    side: str
    attained: float
    bound: float
    boxes: int
    seconds: float


def bounds(
    system: AnySystem,
    quantity: Any = "inverse_dynamics",
    *,
    q: ArrayLike | None = None,
    qd: ArrayLike | float | None = None,
    qdd: ArrayLike | float | None = None,
    tau: ArrayLike | float | None = None,
    payload: ArrayLike | float | None = None,
    which: Any = None,
    rtol: float = 0.05,
    seconds: float = 60.0,
    progress: Callable[[Progress], None] | None = None,
) -> Bounds:
    """The largest and the least value of each entry of a quantity over a box of states, proved.

    Nothing in the box is outside of the enclosures that come back, rounding included; how wide they are beside values that are
    attained is stated with them. The search ends when the gap of every entry is small, when time is up, or at Ctrl-C: what it
    has found by then is valid. The same call gives the same numbers, unless time is what ends it.

    Parameters
    ----------
    system : Robot or System
        With n coordinates; one whose positions are found by iteration is refused.
    quantity : str or SimplifiedModel
        A quantity such as 'inverse_dynamics', 'gravity_torque', 'mass_matrix', 'jacobian', 'energy'; 'eigenvalues' of M;
        'gravity_norm', the largest |g|; 'coriolis_norm', the least k with |C(q, q̇)| ≤ k |q̇| for Christoffel's C; or a model
        of `simplify_model`, whose error is bounded.
    q, qd, qdd, tau : pair of array_like, optional
        Lower and upper ends, numbers or of shape (n,); one number for both sides of zero. The limits of the system if left
        out, and where it has none those of `Workspace.of`. A joint that can turn fully is looked at over one turn.
    payload : pair of float or float, optional
        The least and the largest mass [kg] of a point at the tool, or the largest, from 0 on.
    which : int or str or sequence of them, optional
        Entries by number or by name; all if left out.
    rtol : float
        The gap, relative to the entry's largest size, at which the search for it ends.
    seconds : float
        How long it may take; what was begun is finished, so it may be somewhat more.
    progress : function, optional
        Called about twice a second with the share that is over, a number that also tells the entry, what is attained and what
        is proved of it.

    Returns
    -------
    Bounds
        With `upper`, `lower` and `size`, shape (entries,); `print` it for a table.

    Examples
    --------
    >>> import dalembert as dal
    >>> found = dal.bounds(dal.robots.two_link_planar(), "gravity_torque", rtol=0.01)
    >>> bool((found.upper >= found.maximum.attained).all() and (found.gap <= 0.01).all())
    True
    """
    rtol, seconds = positive("rtol", rtol), positive("seconds", seconds)
    function("progress", progress)
    ranges = ranges_of(system, {"q": q, "qd": qd, "qdd": qdd, "tau": tau})
    found = pose(system, quantity, ranges, None if payload is None else masses(payload), which)
    return run(system.name, found, rtol, seconds, progress)


def run(name: str, subject: Subject, rtol: float, seconds: float, progress: Callable[[Progress], None] | None = None) -> Bounds:
    """Search for the extremes of all entries of a subject."""
    start = time.monotonic()
    aims = [Aim(e.high, 1.0) for e in subject.entries] + [Aim(e.low, -1.0) for e in subject.entries]
    best = attained.search(subject.evaluate, subject.lo, subject.hi, aims, np.random.default_rng(0))
    work = _Work(subject, best.value.copy(), best.place.copy(), rtol, start, start + seconds, progress)
    finished = work.run()
    return work.result(name, finished)


class _Work:
    """All searches for one subject: first the maxima of its entries, then the minima."""

    def __init__(
        self,
        subject: Subject,
        value: FloatArray,
        place: FloatArray,
        rtol: float,
        start: float,
        deadline: float,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.subject, self.value, self.place, self.rtol = subject, value, place, rtol
        self.start, self.deadline, self.progress = start, deadline, progress
        self.searches: dict[int, BoxSearch | None] = {}
        self.rng = np.random.default_rng(1)

    @property
    def count(self) -> int:
        """How many entries there are; search k and k + count are about the same one."""
        return len(self.subject.entries)

    def run(self) -> bool:
        """All searches, each with its share of the time, then those not done with what is left; False if interrupted."""
        try:
            for k in range(2 * self.count):
                self.searches[k] = self._begun(k)
            for _ in range(2):
                left = [k for k in self.searches if not self.done(k)]
                for place, k in enumerate(left):
                    now = time.monotonic()
                    self._advance(k, now + max(self.deadline - now, 0.0) / (len(left) - place))
        except KeyboardInterrupt:
            return False
        return True

    def _begun(self, k: int) -> BoxSearch | None:
        entry, sign = self.subject.entries[k % self.count], 1.0 if k < self.count else -1.0
        problem = entry.posed(sign, _BUDGET * self.allowed(k))
        return None if problem is None else BoxSearch(problem, float(self.value[k]))

    def allowed(self, k: int) -> float:
        """The gap at which a search ends."""
        return self.rtol * float(self.scale()[k]) + _LEAST

    def scale(self) -> FloatArray:
        """What gaps are measured by: the largest size of the entry, or of the side where sides are apart; not less than a small
        part of the largest entry, beside which an entry is zero.
        """
        m = self.count
        sizes = np.where(np.isfinite(self.value), np.abs(self.value), 0.0)
        apart = np.array([entry.apart for entry in self.subject.entries])
        both = np.where(apart, sizes.reshape(2, m), sizes.reshape(2, m).max(axis=0))
        return np.maximum(both, _NOTHING * sizes.max(initial=0.0)).ravel()

    def done(self, k: int) -> bool:
        """Whether nothing is left to do."""
        search = self.searches.get(k)
        return search is None or search.bound <= search.floor + self.allowed(k)

    def _advance(self, k: int, until: float) -> None:
        search = self.searches[k]
        while search is not None and not self.done(k) and time.monotonic() < until:
            before = search.boxes
            search.run(self.allowed(k), min(until, time.monotonic() + _SLICE), lambda lo, hi: self._look(k, (lo, hi)))
            self._report(k, search)
            if search.boxes == before and search.boxes:
                break  # nothing can be halved any more

    def _look(self, k: int, box: tuple[FloatArray, FloatArray]) -> float:
        """Search for a larger value near the best place so far, and in the box with the largest bound."""
        entry, sign = self.subject.entries[k % self.count], 1.0 if k < self.count else -1.0
        lo, hi = self.subject.lo, self.subject.hi
        shape = (_LOOK_STARTS, len(lo))
        anywhere = self.rng.uniform(lo, hi, shape)
        corners = np.where(self.rng.uniform(size=shape) < 0.5, lo, hi)
        near = np.where(self.rng.uniform(size=shape) < 0.3, anywhere, self.place[k])
        inside = np.where(self.rng.uniform(size=shape) < 0.3, anywhere, corners)
        search = self.searches[k]
        assert search is not None
        for column, name in enumerate(search.problem.inputs):
            inside[:, self.subject.columns[name]] = 0.5 * (box[0][column] + box[1][column])
        aim = [Aim(entry.high if sign > 0 else entry.low, sign)]
        starts = np.concatenate([near, inside])
        found = attained.climb(self.subject.evaluate, lo, hi, aim, starts, _LOOK_STEP, _LOOK_SWEEPS, self.rng)
        if found.value[0] > self.value[k]:
            self.value[k], self.place[k] = found.value[0], found.place[0]
        return float(self.value[k])

    def _report(self, k: int, search: BoxSearch) -> None:
        if self.progress is None:
            return
        over = sum(self.done(j) for j in self.searches) / len(self.searches)
        elapsed = time.monotonic() - self.start
        now = Progress(min(1.0, max(over, elapsed / (self.deadline - self.start))))
        now.side, sign = ("maximum", 1.0) if k < self.count else ("minimum", -1.0)
        now.entry = self.subject.entries[k % self.count].name
        now.attained, now.bound = sign * float(self.value[k]), sign * search.bound
        now.boxes, now.seconds = search.boxes, elapsed
        self.progress(now)

    def bound(self, k: int) -> float:
        """What was proved, with the sign of the search; a search that was not begun proves nothing."""
        search = self.searches.get(k)
        if search is not None:
            return max(search.bound, float(self.value[k]))
        return 0.0 if k in self.searches else math.inf  # without a problem: what is never negative

    def result(self, name: str, finished: bool) -> Bounds:
        """Everything in one record."""
        m, entries = self.count, self.subject.entries
        bounds = np.array([self.bound(k) for k in range(2 * m)])
        places = self.subject.split(self.place)
        maximum = ProvedExtreme(self.value[:m], bounds[:m], {key: x[:m] for key, x in places.items()})
        minimum = ProvedExtreme(0.0 - self.value[m:], 0.0 - bounds[m:], {key: x[m:] for key, x in places.items()})
        lower, upper = self.subject.split(self.subject.lo), self.subject.split(self.subject.hi)
        box = {key: (lower[key], upper[key]) for key in lower}
        return Bounds(
            robot=name,
            quantity=self.subject.quantity,
            names=tuple(e.name for e in entries),
            units=tuple(e.unit for e in entries),
            maximum=maximum,
            minimum=minimum,
            box=box,
            scale=self.scale().reshape(2, m),
            rtol=self.rtol,
            boxes=sum(s.boxes for s in self.searches.values() if s is not None),
            seconds=time.monotonic() - self.start,
            finished=finished and all(self.done(k) for k in range(2 * m)),
        )
