"""How limits bound the factor of a trajectory that is scaled in time: of torques of coordinates, of drives, and of speeds.

With r = c t torques are τ = c² τ_s + c v + d + g [scaling, Eq. 1]. A row a with a limit h on aᵀ τ then bounds c by a quadratic;
the largest c up to which every slower motion keeps it is

    c = 2 h′ / (aᵀv + √((aᵀv)² + 4 aᵀτ_s h′)),   h′ = h − aᵀ(d + g)                                           (1)

Rows are the coordinates themselves, or, where other joints are driven, the facets of all τ that their drives can make together
[mechanism/torque_sets, Eq. 1]: those that the torques of a factor point to bound it, and tell the next one, until none is passed.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..checks import FloatArray
from ..mechanism.torque_sets import Drives, Filled, filled, largest
from ..trajectory.motion import Rates
from . import timing_refusals as refusals
from .gripped_drives import Grip, sharing_of
from .limit_rows import TimingLimits
from .path_torques import PathTorques
from .shared_drives import SharedDrives

_STEPS = 30  # from facet to facet; one or two are usual
_ROUNDING = 1e-12  # of a factor
_KEPT = 1e-8  # of limits is not used where contacts hold something, so that rounding makes nothing slip


class TrajectoryParts(NamedTuple):
    """A trajectory at instants r, shape (K,), and the parts of its torques; arrays (B, K, n) of a batch B. `speeds` are those of
    all that has a limit: q′, and x′ of joints within loops. `rows` are what drives that are not the coordinates push along,
    (B, K, m, n), in parts of their limits, and `asked` what they have to make: the torques, and forces that are asked for.
    """

    r: FloatArray
    q: FloatArray
    q1: FloatArray
    q2: FloatArray
    speeds: FloatArray
    torques: PathTorques
    rows: FloatArray | None
    asked: PathTorques


class TorqueLimits(Protocol):
    """Torques that are limited: of coordinates, or of drives."""

    names: tuple[tuple[str, str], ...]  # kinds and names of all that has a limit
    drives: tuple[str, ...]
    acts: bool

    def rows(self, q: FloatArray) -> FloatArray | None:
        """What drives push along at configurations."""

    def asked(self, path: Rates, parts: PathTorques) -> PathTorques:
        """What drives have to make along a path."""

    def wanted(self, motion: Rates, tau: FloatArray) -> FloatArray:
        """The same along a motion that takes τ."""

    def factors(self, parts: TrajectoryParts) -> FloatArray:
        """The largest factors by (1), of each sample and row, (B, K, rows); for one that is not the least, a bound of it."""

    def use(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        """Shares of limits in use, (B, K, names)."""

    def too_weak(self, parts: TrajectoryParts) -> dict[int, str]:
        """Sentences for those of a batch that no factor helps: gravity and dry friction alone are beyond a limit."""

    def of_drives(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        """The torques of the drives, (B, K, drives)."""


def torque_limits(system: Any, limits: TimingLimits, grip: Grip, threads: int | None) -> TorqueLimits:
    """Of the drives of a mechanism where these are not its coordinates, or hold something."""
    sharing = sharing_of(system, limits, grip, threads)
    return OwnTorques(limits) if sharing is None else DriveTorques(sharing, limits)


class OwnTorques:
    """Every coordinate has its own drive."""

    def __init__(self, limits: TimingLimits) -> None:
        self.limit = limits.torque
        self.names = tuple(("torque", name) for name in self.limit.names)
        self.drives, self.acts = self.limit.names, self.limit.acts

    def rows(self, q: FloatArray) -> None:
        """There are none."""

    def asked(self, path: Rates, parts: PathTorques) -> PathTorques:
        """The torques."""
        return parts

    def wanted(self, motion: Rates, tau: FloatArray) -> FloatArray:
        """τ itself."""
        return tau

    def factors(self, parts: TrajectoryParts) -> FloatArray:
        """By (1) with the rows 1 and −1 of each coordinate."""
        A, V, D = parts.torques.motion, parts.torques.viscous, parts.torques.still
        return np.minimum(_first_root(A, V, self.limit.size - D), _first_root(-A, -V, self.limit.size + D))

    def use(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        """|τ| / limit."""
        found: FloatArray = np.abs(wanted) / self.limit.size
        return found

    def too_weak(self, parts: TrajectoryParts) -> dict[int, str]:
        """The joint that lacks most."""
        still, size, found = parts.torques.still, self.limit.size, {}
        over = np.abs(still) / size
        for row in np.flatnonzero((over >= 1).any(axis=(1, 2))):
            k, i = np.unravel_index(np.argmax(over[row]), over[row].shape)
            name, unit = self.drives[i], self.limit.units[i]
            found[int(row)] = refusals.still_too_much(name, still[row, k, i], size[i], unit, parts.r[k], parts.q[row, k])
        return found

    def of_drives(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        """τ itself."""
        return wanted


class DriveTorques:
    """Other joints are driven, or more, or hold something: they share τ so that the largest share of a limit is the least."""

    def __init__(self, sharing: SharedDrives, limits: TimingLimits) -> None:
        self.sharing, self.limits = sharing, limits
        self.names, self.drives = sharing.results, sharing.limit.names
        free = len(self.drives) - len(sharing.limited)
        self.acts = bool(sharing.limited) and free < sharing.equations  # as many drives without a limit carry anything
        self.most = 1.0 - (_KEPT if sharing.slack else 0.0)

    def rows(self, q: FloatArray) -> FloatArray:
        """A in parts of limits."""
        return self.sharing.scaled(q)

    def asked(self, path: Rates, parts: PathTorques) -> PathTorques:
        """The torques, and what is asked of forces."""
        return self.sharing.parts(path, parts)

    def wanted(self, motion: Rates, tau: FloatArray) -> FloatArray:
        """The same along a motion."""
        return self.sharing.wanted(motion, tau)

    def factors(self, parts: TrajectoryParts) -> FloatArray:
        """By (1) with facets as rows, (B, K, 1): first those that the fastest motions point to."""
        best = np.full((*parts.q.shape[:-1], 1), np.inf)
        if not self.acts:
            return best
        for part in (parts.asked.viscous, parts.asked.motion):
            facets = self._filled(parts, part)
            best = np.minimum(best, self._by_facets(parts, facets))
        c = best.min(axis=1, keepdims=True)
        for _ in range(_STEPS):
            facets = self._filled(parts, parts.asked.at(np.where(np.isfinite(c), c, 0.0), 0.0), facets.facet)
            best = np.minimum(best, self._by_facets(parts, facets))
            least = best.min(axis=1, keepdims=True)
            if not (least < c * (1 - _ROUNDING)).any():
                break
            c = least
        return best

    def _by_facets(self, parts: TrajectoryParts, facets: Filled) -> FloatArray:
        """(1) with the facet of each sample for a row, (B, K, 1)."""
        normal, asked = facets.normal.reshape(parts.asked.motion.shape), parts.asked
        A, V, D = ((normal * part).sum(axis=-1, keepdims=True) for part in (asked.motion, asked.viscous, asked.still))
        return _first_root(A, V, np.maximum(self.most - D, 0.0))

    def _filled(self, parts: TrajectoryParts, wanted: FloatArray, start: Drives | None = None) -> Filled:
        """By how much it fills what drives can make, of all samples in one row."""
        assert parts.rows is not None
        rows = parts.rows.reshape(-1, *parts.rows.shape[-2:])
        return filled(rows, wanted.reshape(-1, wanted.shape[-1]), start, self.sharing.slack)

    def use(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        """|u| / limit of the drives that have one, and of contacts that are about to slip."""
        return self.sharing.told_of(np.abs(self._shares(parts, wanted)))

    def _shares(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        return self._filled(parts, wanted).use.reshape(*wanted.shape[:-1], -1)

    def too_weak(self, parts: TrajectoryParts) -> dict[int, str]:
        """The drives, and contacts, that lack most, together."""
        if not self.acts:
            return {}
        facets = self._filled(parts, parts.asked.still)
        over, found = facets.ratio.reshape(parts.q.shape[:-1]), {}
        for row in np.flatnonzero((over >= self.most).any(axis=1)):
            k = int(np.argmax(over[row]))
            at = facets.facet.reshape(*over.shape, -1)[row, k].tolist()
            place = refusals.instant(parts.r[k], parts.q[row, k])
            found[int(row)] = refusals.drives_at_rest(self.limits, self.sharing.names_of(at), over[row, k], place)
        return found

    def of_drives(self, parts: TrajectoryParts, wanted: FloatArray) -> FloatArray:
        """Those of the least largest share; without limits, those with the least Σ u²."""
        if self.sharing.limited:
            return self._shares(parts, wanted)[..., : len(self.drives)] * largest(self.sharing.limit.size)
        S = self.sharing.split(parts.q).S
        found: FloatArray = self.sharing.sizes * (S @ wanted[..., None])[..., 0]
        return found


def _first_root(A: FloatArray, V: FloatArray, h: FloatArray) -> FloatArray:
    """The first c > 0 with A c² + V c = h > 0; infinite where there is none, or no limit."""
    with np.errstate(invalid="ignore", divide="ignore"):
        D = V * V + 4 * A * h
        below = V + np.sqrt(np.maximum(D, 0.0))
        found = np.where((D >= 0) & (below > 0) & np.isfinite(h), 2 * h / below, np.inf)
    return found


__all__ = ["TorqueLimits", "TrajectoryParts", "torque_limits"]
