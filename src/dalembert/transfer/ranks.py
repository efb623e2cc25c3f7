"""Rank of a Jacobian, and its inverse where it has one: what vanishes is named, and nothing is hidden by a pseudo-inverse."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..brief import brief
from ..checks import FloatArray, number
from ..errors import DalembertWarning, ModelError, ShapeError, SingularError
from ..options import several_names
from .given import Map, influence_of

SINGULAR = 1e-12
"""Singular values below this, relative to the largest, count as zero: what is left of a zero after some rounding."""
DOUBTFUL = 1e8
"""A condition beyond which half of all digits are lost, so that it is said."""
_SHOWN, _SMALL = 4, 0.005  # how many coordinates of a direction a message names, and which are too small for it


@dataclass(frozen=True, eq=False)
class RankAnalysis:
    """What a matrix G of r rows over n columns can and cannot do, for each entry of a batch.

    `rank` (...,), `singular_values` (..., min(r, n)), largest first, and `condition` (...,), the ratio of the largest to the
    least. Columns of `null_space` (..., n, k) are motions of the old coordinates that move no new one; columns of
    `left_null_space` (..., r, l) are directions of the new coordinates in which nothing moves them. In a batch of different
    ranks, columns that an entry does not have are zero.
    """

    rank: NDArray[np.intp]
    singular_values: FloatArray
    condition: FloatArray
    null_space: FloatArray
    left_null_space: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class CoordinateNames(NamedTuple):
    """Of the new coordinates (rows) and of the old ones (columns)."""

    new: tuple[str, ...]
    old: tuple[str, ...]


def rank(G: Map, *, tolerance: float = SINGULAR) -> RankAnalysis:
    """Rank, singular values, condition, and the directions that vanish.

    Parameters
    ----------
    G : Influence or array_like, shape (..., r, n)
        A map, of which the first order counts, or any matrix.
    tolerance : float
        Singular values below this part of the largest count as zero. They are compared as they are: where rows are metres and
        radians side by side, scale them first.

    Returns
    -------
    RankAnalysis

    Examples
    --------
    >>> import dalembert as dal
    >>> stretched = dal.jacobian(dal.robots.two_link_planar(), [0.3, 0.0])[:2]
    >>> found = dal.transfer.rank(stretched)
    >>> int(found.rank), found.left_null_space.round(3).ravel().tolist()  # along the arm nothing moves the tip
    (1, [0.955, 0.296])
    """
    least = number("tolerance", tolerance)
    if not 0 <= least < 1:
        raise ModelError(f"tolerance: {least:g} found; a part of the largest singular value, from 0 to below 1, is expected.")
    return analysed(influence_of("G", G).G, least)


def analysed(G: FloatArray, tolerance: float = SINGULAR) -> RankAnalysis:
    """The analysis by singular values; an entry with NaN or infinity has rank 0 and NaN for the rest."""
    finite = np.asarray(np.isfinite(G).all((-1, -2)))
    U, s, Vt = np.linalg.svd(np.where(finite[..., None, None], G, 0.0))
    largest = s[..., :1] if s.shape[-1] else np.zeros((*s.shape[:-1], 1))
    found = np.sum((s > tolerance * largest) & (s > 0), axis=-1)
    least = s[..., -1] if s.shape[-1] else np.zeros(s.shape[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.where(least > 0, largest[..., 0] / least, np.inf)
    s, condition = np.where(finite[..., None], s, np.nan), np.where(finite, condition, np.nan)
    return RankAnalysis(found, s, condition, _vanishing(Vt.swapaxes(-1, -2), found), _vanishing(U, found))


def _vanishing(vectors: FloatArray, rank: NDArray[np.intp]) -> FloatArray:
    """The columns beyond the rank; zero where an entry of the batch has none."""
    n = vectors.shape[-1]
    first = int(rank.min(initial=n))
    there = np.arange(first, n) >= rank[..., None]
    return np.where(there[..., None, :], _upright(vectors[..., first:]), 0.0)


def _upright(columns: FloatArray) -> FloatArray:
    """Columns with their largest component positive, so that the sign does not depend on how they were found."""
    if not columns.size:
        return columns
    largest = np.take_along_axis(columns, np.abs(columns).argmax(-2, keepdims=True), -2)
    return columns * np.where(largest < 0, -1.0, 1.0)


def names_of(G: FloatArray, new: Sequence[str] | None, old: Sequence[str] | None) -> CoordinateNames:
    """Names for messages; u1, u2, ... and q1, q2, ... where none are given."""
    r, n = G.shape[-2:]
    return CoordinateNames(_named("new", new, r, "u"), _named("old", old, n, "q"))


def _named(subject: str, names: Sequence[str] | None, count: int, letter: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{letter}{k}" for k in range(1, count + 1))
    found = several_names(subject, names, "names of coordinates")
    if len(found) != count:
        raise ShapeError(f"{subject}: {len(found)} names found for {count} coordinates; one for each is expected.")
    return found


def square(subject: str, G: FloatArray) -> None:
    """Refuse a Jacobian with another number of rows than of columns, and say what to use."""
    r, n = G.shape[-2:]
    found = f"{subject}: G has {r} rows over {n} coordinates, but {n} are expected, since {r} new coordinates"
    if r < n:
        raise ShapeError(
            f"{found} do not determine {n} old ones. Add {n - r} (transfer.stack), or choose one motion of many by "
            "transfer.right_inverse, with a weight or without."
        )
    if r > n:
        raise ShapeError(
            f"{found} depend on each other. Keep {n} of them (transfer.rows); transfer.rank shows what nothing moves."
        )


def inverted(subject: str, G: FloatArray, names: CoordinateNames, *, wide: bool = False) -> FloatArray:
    """The inverse of a square Jacobian, NaN for singular entries of a batch; a single singular one is an error.

    `wide` says that G stands for a matrix with more columns than rows, whose motions are not the columns' own.
    """
    try:
        back = np.asarray(np.linalg.inv(G), float)
        bound = np.linalg.norm(G, axis=(-1, -2)) * np.linalg.norm(back, axis=(-1, -2))  # not below the condition
        if (bound < DOUBTFUL).all():
            return back
    except np.linalg.LinAlgError:
        pass
    found = analysed(G)
    if G.ndim == 2 and _singular(found):
        raise SingularError(f"{subject}: {_lost(found, names, (), wide)} {_REMEDY[wide]}")
    _warn(subject, G, found, names, wide)
    lost = (_singular(found) | np.isnan(found.condition))[..., None, None]
    return np.where(lost, np.nan, np.linalg.inv(np.where(lost, np.eye(G.shape[-1]), G)))


_REMEDY = {
    False: "Choose other coordinates here, or move away from this configuration.",
    True: "Leave a row out that is not needed (transfer.rows), or move away from this configuration.",
}


def _warn(subject: str, G: FloatArray, found: RankAnalysis, names: CoordinateNames, wide: bool) -> None:
    """One warning for the entries that are singular, else one for those that nearly are."""
    singular, near = _singular(found), found.condition > DOUBTFUL
    if singular.any():
        first = _place(singular)
        text = f"{int(singular.sum())} of {singular.size} entries are singular and NaN in the result, the first at {first}"
        _say(f"{subject}: {text}: {_lost(found, names, first, wide)}", "singular")
    elif near.any():
        worst = _place(found.condition == found.condition[near].max())
        where = f"{int(near.sum())} of {near.size} entries are nearly singular, the worst at {worst}: " if near.ndim else ""
        weakest = combination(_upright(np.linalg.svd(G[worst])[0])[:, -1], names.new)
        digits = f"some {np.log10(found.condition[worst]):.0f} of 16 digits are lost"
        text = f"condition {found.condition[worst]:.2g}, since hardly anything moves {weakest}: {digits}."
        _say(f"{subject}: {where}{text} {_REMEDY[wide]}", "near-singular")


def _singular(found: RankAnalysis) -> NDArray[np.bool_]:
    """Which entries are; those with NaN are something else."""
    return np.asarray((found.rank < found.singular_values.shape[-1]) & ~np.isnan(found.condition))


def _place(which: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argwhere(which)[0])


def _say(message: str, code: str) -> None:
    warnings.warn(DalembertWarning(message, code), stacklevel=_outside())


def _lost(found: RankAnalysis, names: CoordinateNames, where: tuple[int, ...], wide: bool) -> str:
    """What a singular entry lacks, in a sentence."""
    s = found.singular_values[where]
    unmoved = combination(found.left_null_space[where][:, -1], names.new)
    idle = "" if wide else f", and {combination(found.null_space[where][:, -1], names.old)} moves none of the new coordinates"
    text = f"G has rank {int(found.rank[where])} where {len(s)} is needed (least singular value {s[-1]:.2g}, largest {s[0]:.2g})"
    return f"{text}: no motion gives {unmoved}{idle}."


def combination(direction: FloatArray, names: Sequence[str]) -> str:
    """A direction in words, its largest components first: '0.71 x - 0.71 y'."""
    order = [k for k in np.argsort(-np.round(np.abs(direction), 6), kind="stable") if abs(direction[k]) > _SMALL]
    terms = [f"{'+-'[int(direction[k] < 0)]} {abs(direction[k]):.2g} {names[k]}" for k in order[:_SHOWN]]
    return " ".join(terms + ["+ ..."] * (len(order) > _SHOWN)).removeprefix("+ ")


def _outside() -> int:
    """The `stacklevel` for whoever called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(__package__):
        level, frame = level + 1, frame.f_back
    return level


__all__ = ["CoordinateNames", "RankAnalysis", "analysed", "combination", "inverted", "names_of", "rank", "square"]
