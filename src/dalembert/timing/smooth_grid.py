"""Grids for profiles with continuous s̈: rests first, between them points as even in s as in time, closer where the path turns.

Where q′ or q″ jumps, so would the velocity or the acceleration of a joint that passes: a jerk without bound. Such places are
passed at rest. Out of rest s goes with t³, so that points even in time lie as cubes do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..trajectory.motion import Rates
from .loop_joints import JointRates
from .path_grid import WITHIN, BoolArray, Grid, before_jumps, exact_turns, just_before, move_to, move_to_turns, rates_of, turning
from .path_shapes import Paths

_JUMP = 1e-5  # of q′ or q″, relative to the largest along the path, that is one
_OF_PIECE, _OF_WAY = 6, 20  # intervals at least between breaks, and from rest to rest: of fewer, some took five times as long
_TABLE = 4001
_FINE = 8  # times as many places tell how far the path has turned
_BENT, _MUCH = 0.5, 10.0  # the share of grid points that follow the turning of a path at most; half of it at so many rad
_FULL = 0.7  # the share of grid points that follow what crowds at most


class Crowding(NamedTuple):
    """Places of a path, and how many grid points what happens up to each of them asks for, beside ways and turns."""

    s: FloatArray
    much: FloatArray

    @property
    def whole(self) -> float:
        """How many are asked for in all."""
        return float(self.much[-1])

    def among(self, even: FloatArray) -> FloatArray:
        """The places between rests that stand first and last in even ones, but not beside them: there a path may turn back."""
        return self.s[(self.s > even[1]) & (self.s < even[-2])]

    def from_first(self, places: FloatArray) -> FloatArray:
        """How many grid points are asked for from the first of some places on."""
        found: FloatArray = np.interp(places, self.s, self.much)
        return found - found[0]


def smooth_grid(
    path: Paths,
    intervals: int,
    resting_ends: tuple[bool, bool],
    hidden: JointRates | None = None,
    crowding: Crowding | None = None,
) -> Grid:
    """A grid for one path; `corners` tells where inside it is passed at rest. `hidden` joints turn round at grid points, too."""
    S = float(path.ends[0])
    breaks = path.breaks[0][np.isfinite(path.breaks[0])]
    rests = breaks[:0] if path.smooth else breaks[_jumps(path, breaks)]
    N = max(intervals, _OF_PIECE * (len(breaks) + 1), _OF_WAY * (len(rests) + 1))
    s = _spread(path, np.concatenate([[0.0], rests, [S]]), N, resting_ends, crowding)[None]
    corners = np.isin(s, rests)
    taken = corners.copy()
    move_to(s[0], taken[0], breaks[~np.isin(breaks, rests)])
    nodes = path.at(s)
    if hidden is not None:
        move_to(s[0], taken[0], exact_turns(path, s, *hidden(path.at(s)), hidden)[1])
        nodes = path.at(s)
    if move_to_turns(path, nodes, s, taken):
        nodes = path.at(s)
    right = before_jumps(path, s, np.isin(s, breaks), rates_of(tuple(part[:, 1:] for part in nodes)))
    resting = corners.copy()
    resting[0, [0, -1]] |= resting_ends
    shares = _shares(resting)
    lengths = np.diff(s, axis=1)
    between = (s[:, :-1, None] + lengths[..., None] * shares).reshape(1, -1)
    return Grid(s, lengths, _first(nodes), right, path.at(between), corners, shares)


def _first(nodes: Rates) -> Rates:
    return rates_of(tuple(part[:, :-1] for part in nodes))


def _jumps(path: Paths, breaks: FloatArray) -> BoolArray:
    """Which breaks are jumps of q′ or of q″."""
    places = breaks[None]
    before, after = path.at(just_before(path, places, np.ones(places.shape, dtype=bool))), path.at(places)
    even = path.at(np.linspace(0.0, 1.0, 201)[None] * path.ends[:, None])
    found = np.zeros(len(breaks), dtype=bool)
    for order in (1, 2):
        floor = np.abs(even[1]).max() / float(path.ends[0]) ** (order - 1)
        size = np.maximum(np.abs(even[order]).max(), floor)
        found |= np.abs(after[order] - before[order])[0].max(axis=-1) > _JUMP * size
    return found


def _spread(path: Paths, rests: FloatArray, N: int, resting_ends: tuple[bool, bool], crowding: Crowding | None) -> FloatArray:
    """N + 1 places, those of rests among them."""
    fine, measures = _measured(path, rests, N, resting_ends, crowding)
    counts = np.maximum(np.floor(np.array([measure[-1] for measure in measures]) * N).astype(int), 3)
    counts[np.argmax(counts)] += N - counts.sum()
    found = [np.zeros(1)]
    for k, (count, measure) in enumerate(zip(counts, measures, strict=True)):
        places = np.interp(np.linspace(0.0, measure[-1], count + 1), measure, fine[k])
        places[-1] = rests[k + 1]
        found.append(places[1:])
    return np.concatenate(found)


def _measured(
    path: Paths, rests: FloatArray, N: int, resting_ends: tuple[bool, bool], crowding: Crowding | None
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Places of each way from rest to rest, and the share of grid points up to each of them: by its length and time, by its
    turning, and by what crowds there.
    """
    lengths = np.diff(rests)
    resting = [resting_ends[0], *[True] * (len(lengths) - 1), resting_ends[1]]
    fine, steady, turned = [], [], []
    for k, (start, length) in enumerate(zip(rests[:-1], lengths, strict=True)):
        even = start + length * _graded(max(_FINE * N // len(lengths), 50), *resting[k : k + 2])
        fine.append(even if crowding is None else np.union1d(even, crowding.among(even)))
        steady.append(np.interp(fine[-1], even, np.linspace(0.0, 1.0, len(even))))
        turned.append(np.interp(fine[-1], even, _turning(path, even)))
    crowded = [np.zeros(len(places)) if crowding is None else crowding.from_first(places) for places in fine]
    whole, much = (max(sum(float(one[-1]) for one in parts), 1e-300) for parts in (turned, crowded))
    full = min(_FULL, much / N)
    bent = (1 - full) * _BENT * whole / (whole + _MUCH)
    shares = (1 - bent - full) * (lengths / lengths.sum() + np.cbrt(lengths) / np.cbrt(lengths).sum()) / 2
    ways = zip(shares, steady, turned, crowded, strict=True)
    return fine, [share * one + bent * two / whole + full * three / much for share, one, two, three in ways]


def _turning(path: Paths, places: FloatArray) -> FloatArray:
    """By which angle in joint space the direction of a path has turned since the first of some places [rad], but for the last
    place itself: what turns there is a corner, and is passed at rest.
    """
    last = np.arange(len(places)) == len(places) - 1
    q1 = path.at(just_before(path, places[None], last[None]))[1][0]
    return np.concatenate([[0.0], np.cumsum(turning(q1))])


def _graded(count: int, from_rest: bool, to_rest: bool) -> FloatArray:
    """From 0 to 1, half as even in s and half as even in t, where t³ goes with the distance from a rest."""
    p = np.linspace(0.0, 1.0, _TABLE)
    if from_rest and to_rest:
        sigma = np.where(p < 0.5, 4 * p**3, 1 - 4 * (1 - p) ** 3)
    elif from_rest or to_rest:
        sigma = p**3 if from_rest else 1 - (1 - p) ** 3
    else:
        sigma = p
    at = np.interp(np.linspace(0.0, 1.0, count + 1), (sigma + p) / 2, p)
    if from_rest and to_rest:
        return np.where(at < 0.5, 4 * at**3, 1 - 4 * (1 - at) ** 3)
    if from_rest or to_rest:
        return at**3 if from_rest else 1 - (1 - at) ** 3
    return at


def _shares(resting: BoolArray) -> FloatArray:
    """Which part of an interval lies before each of its places; beside rest they are even in time."""
    even = np.arange(1, WITHIN + 1) / (WITHIN + 1)
    from_rest, to_rest = resting[:, :-1, None], resting[:, 1:, None]
    found: FloatArray = np.where(from_rest, even**3, np.where(to_rest, 1 - (1 - even) ** 3, even))
    return found


__all__ = ["Crowding", "smooth_grid"]
