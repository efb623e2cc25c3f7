"""How drives that share a load bound the torques of a path, whichever way they share it.

There are torques of the drives within their limits if τ is within a set with facets [mechanism/torque_sets, Eq. 1], each of which
is a row for timing,

    |νᵀ τ| ≤ 1,    ν(q) a normal of the set                                                                  (1)

so that the time found is the least of all ways to share. Of some hundred facets a path meets ten or twenty: with the first of
them a timing is found, which tells those that it is beyond of, until it is beyond of none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..mechanism.torque_sets import Drives, every_facet, filled, normals
from ..trajectory.motion import Rates
from .fastest_profile import Profile, ProfileSolver
from .limit_rows import DriveRows, LimitRows, RowMaker
from .path_grid import rates_of
from .path_shapes import Paths
from .path_torques import PathTorques
from .shared_drives import SharedDrives

_ALL = 24  # facets that are taken all at once
_MARKS = 65  # places along a path at which the first ones are looked for, and where normals are followed
_PADDED = 8  # numbers of facets are multiples of this, so that few kernels are compiled
_LOST, _BESIDE = 1e-6, 1e-4  # of what rows span, below which a place beside is taken; how far it is, of a coordinate
_REMEMBERED = 20_000_000  # numbers at most
_KEPT = 2e-6  # of a limit is not used: with what timings may exceed, there are torques within limits still
_NEAR = 0.9  # of a limit: facets that are not used so far are left out
_BEYOND = 2e-7  # of a limit, above the rest of it, from which on a facet counts


class Facets:
    """Facets (1) for one path: all of them where there are few, else those that its timings have met."""

    def __init__(self, drives: SharedDrives, maker: RowMaker, path: Paths) -> None:
        self.drives = drives
        m, n = len(drives.limit.names) + drives.slack, drives.width
        every = every_facet(m, n, _ALL)
        self.complete, self.first = every is not None, True
        self.chosen: Drives = np.zeros((0, n - 1), dtype=np.intp) if every is None else every
        self._find_marks(path)
        if not self.complete:
            self._add_first(drives.parts(self.marks, maker.torques(self.marks)))

    def _find_marks(self, path: Paths) -> None:
        """Places at which the mechanism has positions: of a path that leaves them, the timing tells."""
        marks = path.at(np.linspace(0.0, 1.0, _MARKS)[None] * path.ends[0])
        at_marks = self.drives.scaled(marks[0])
        there = np.isfinite(at_marks[0]).all(axis=(1, 2))
        self.marks, self.at_marks = rates_of(tuple(part[:, there] for part in marks)), at_marks[:, there]

    def _add_first(self, parts: PathTorques) -> None:
        """Those that hold a motion at rest back, and those in the way of acceleration, at marks along the path."""
        (A,) = self.at_marks
        most = _to_boundary(A, parts.inertia[0], self.drives.slack)
        for tau in (parts.still[0], parts.still[0] + most, parts.still[0] - most):
            self._add(filled(A, tau, slack=self.drives.slack).facet)

    def _add(self, facets: Drives) -> None:
        self.chosen = np.unique(np.concatenate([self.chosen, np.sort(facets, axis=1)]), axis=0)

    @property
    def padded(self) -> Drives:
        """Those of the rows: the first one stands several times, so that their number is a round one."""
        more = 0 if self.complete else -len(self.chosen) % _PADDED
        return np.concatenate([self.chosen, self.chosen[:1].repeat(more, axis=0)])

    def rows(self) -> DriveRows:
        """The facets as rows."""
        chosen = self.padded
        sides = _Sides.along(self.marks[0][0], self._normals(self.marks, chosen)[0], self.at_marks[0])

        normals_at = _Remembered(lambda path: sides.of(path[0], self._normals(path, chosen)))

        def rows(path: Rates, parts: PathTorques) -> LimitRows:
            nu = normals_at(path)
            m, c, g, v, d = (np.einsum("...fn,...n->...f", nu, part) for part in self.drives.parts(path, parts))
            most = np.full(1, 1.0 - _KEPT)
            return LimitRows(m, c, v, g, d, np.broadcast_to(-most, m.shape), np.broadcast_to(most, m.shape))

        return DriveRows(rows, tuple(map(self.drives.names_of, chosen.tolist())), facets=True)

    def _normals(self, path: Rates, facets: Drives) -> FloatArray:
        """At samples (..., n) of the path, (..., F, n). Where the rows of a facet lose a direction just there, as in a pose with
        a symmetry, its normal is that of a place beside it.
        """
        A = self.drives.scaled(path[0])
        nu, span = normals(A, facets, self.drives.slack)
        lost = (span < _LOST).any(axis=-1)
        if lost.any():
            q, q1 = path[0][lost], path[1][lost]
            beside = q + _BESIDE / np.maximum(np.abs(q1).max(axis=-1, keepdims=True), 1e-300) * q1
            other = normals(self.drives.scaled(beside), facets, self.drives.slack).nu
            h = np.abs(A[lost][:, None] @ other[..., None]).sum(axis=(-2, -1))
            nu[lost] = np.where((span[lost] < _LOST)[..., None], other / np.where(h > 0, h, 1.0)[..., None], nu[lost])
        return nu

    def grown(self, base: ProfileSolver, inside: tuple[FloatArray, FloatArray], profile: Profile) -> bool:
        """Add the facets that a timing is beyond of, or its top speeds; whether there are any. `inside` are ṡ and s̈ within.

        The first time, those of the first ones that are far from all of it are left out.
        """
        if self.complete:
            return False
        before, start, beyond, use = self.chosen, self.padded, [], np.zeros(len(self.chosen))
        for q, tau, rows in self._places(base, inside, profile):
            found = filled(self.drives.scaled(q), tau, start[np.argmax(rows[:, : len(start)], axis=-1)], self.drives.slack)
            beyond.append(found.facet[found.ratio > 1 - _KEPT + _BEYOND])
            use = np.maximum(use, rows[:, : len(use)].max(axis=0))
        self._add(np.concatenate(beyond))
        grown = len(self.chosen) > len(before)
        if grown and self.first:
            self.first, self.chosen = False, before[use > _NEAR]
            self._add(np.concatenate(beyond))
        return grown

    def _places(
        self, base: ProfileSolver, inside: tuple[FloatArray, FloatArray], profile: Profile
    ) -> list[tuple[FloatArray, ...]]:
        """q and τ (K, n) at the places of one timing and of its top speeds, with shares of limits in use (K, R)."""
        grid, n = base.grid, base.parts.dry.shape[-1]
        dry = base.parts.dry.reshape(base.P, base.N, grid.within, n)
        first, last = base.left_parts._replace(dry=dry[:, :, 0]), base.right_parts._replace(dry=dry[:, :, -1])
        z, top = np.sqrt(profile.x), np.sqrt(profile.tops)
        rise = np.diff(profile.tops, axis=1) / (2 * grid.lengths)
        places = [
            (grid.inside, base.parts, base.inside, *inside),
            (grid.left, first, base.left, z[:, :-1], profile.u + profile.w),
            (grid.right, last, base.right, z[:, 1:], profile.u - profile.w),
            (grid.left, first, base.left, top[:, :-1], rise),
        ]
        return [
            (path[0][0], self.drives.parts(path, parts).at(sd[..., None], sdd[..., None])[0], np.abs(rows.value(sd, sdd)[0]))
            for path, parts, rows, sd, sdd in places
        ]

    def use(self, base: ProfileSolver, inside: tuple[FloatArray, FloatArray]) -> FloatArray:
        """How much of limits is used at most in each interval where drives share best, (1, N, drives)."""
        within = base.grid.within
        at = slice(within // 2, None, within) if self.drives.dear else slice(None)
        q, q1, q2, _ = (part[0, at] for part in base.grid.inside)
        z, u = (rate[0, at, None] for rate in inside)
        found = self.drives.use(q, q1 * z, q2 * z * z + q1 * u)
        most: FloatArray = found.reshape(1, base.N, -1, found.shape[-1]).max(axis=2)
        return most


class _Remembered:
    """What a function of samples has given last, for the same samples: friction that bends asks for it again and again."""

    def __init__(self, of: Callable[[Rates], FloatArray]) -> None:
        self.of = of
        self.last: tuple[FloatArray, FloatArray] | None = None

    def __call__(self, path: Rates) -> FloatArray:
        last = self.last
        if last is not None and last[0] is path[0]:
            return last[1]
        found = self.of(path)
        self.last = (path[0], found) if found.size < _REMEMBERED else None
        return found


class _Sides(NamedTuple):
    """Which way normals of facets point. Where n − 1 rows of A lose a direction, their normal turns round at once; its facet does
    not, and a row that changes its sign within an interval would not be one. At marks (K, n) the normals (K, F, n) go on from
    one to the next; those elsewhere point to the side of the nearest mark.
    """

    q: FloatArray
    at: FloatArray
    weights: FloatArray

    @staticmethod
    def along(q: FloatArray, at: FloatArray, A: FloatArray) -> _Sides:
        """From mark to mark."""
        weights = (A * A).sum(axis=(0, 1))
        turns = np.einsum("kfn,kfn,n->kf", at[1:], at[:-1], weights) < 0
        signs = np.cumprod(np.where(turns, -1.0, 1.0), axis=0)
        return _Sides(q, np.concatenate([at[:1], at[1:] * signs[..., None]]), weights)

    def of(self, q: FloatArray, nu: FloatArray) -> FloatArray:
        """Normals (..., F, n) at configurations (..., n), on their sides."""
        distance = (self.q * self.q).sum(axis=1) - 2.0 * (q @ self.q.T)  # but for what all marks share
        nearest = self.at[np.argmin(distance, axis=-1)]
        other = np.einsum("...fn,...fn,n->...f", nu, nearest, self.weights) < 0
        return np.where(other[..., None], -nu, nu)


def _to_boundary(A: FloatArray, part: FloatArray, slack: int) -> FloatArray:
    """A part of the torque (K, n), as long as drives can make it."""
    ratio = filled(A, part, slack=slack).ratio
    found: FloatArray = part / np.where(ratio > 0, ratio, 1.0)[:, None]
    return found


__all__ = ["Facets"]
