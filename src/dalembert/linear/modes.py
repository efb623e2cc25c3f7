"""Modes of a linear model: poles, how fast and how damped, which states take part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..brief import brief
from ..checks import FloatArray

_DUST = 1e-12  # of the fastest pole: what rounding leaves of a real part that is zero


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes of a linear model, each array with the mode as its last axis, the slowest to decay first.

    `poles` (..., m) [1/s]; `frequency` |λ| [rad/s]; `damping` −Re λ / |λ|: 1 for a mode that does not oscillate, negative for one
    that grows, NaN for λ = 0. `shapes` (..., m, m): columns are right eigenvectors of length one. `participation` (..., m, m):
    the share of state k in mode i, |w_k v_k| with left and right eigenvectors, each column summing to one [PerezArriaga1982].
    `condition` (..., m): 1 / |wᴴ v| of unit eigenvectors, how far a pole moves per change of A. It is very large, or infinite,
    where modes coincide and A has too few eigenvectors, as for a joint that nothing holds: shares mean little there.
    """

    poles: Any
    frequency: FloatArray
    damping: FloatArray
    shapes: Any
    participation: FloatArray
    condition: FloatArray
    states: tuple[str, ...]

    def __repr__(self) -> str:
        return brief(self, "states")

    def __str__(self) -> str:
        if self.poles.ndim > 1:
            return repr(self)
        lines = [f"{'pole [1/s]':>24}  {'rad/s':>9}  {'damping':>8}  states that take part"]
        for real, imag, frequency, damping, most in self.rows():
            text = f"{real:.5g} {imag:+.5g}j"
            lines.append(f"{text:>24}  {frequency:9.4g}  {damping:8.3g}  {most}")
        return "\n".join(lines)

    def rows(self) -> Iterator[tuple[float, float, float, float, str]]:
        """Of each mode: real and imaginary part, frequency, damping, and the states that take part most, to be read."""
        dust = _DUST * self.frequency.max(initial=0.0)
        for i, pole in enumerate(self.poles):
            real, share = (0.0 if abs(pole.real) < dust else float(pole.real)), np.nan_to_num(self.participation[:, i])
            most = [
                f"{self.states[k]} {share[k]:.0%}" for k in np.argsort(-np.round(share, 6), kind="stable")[:3] if share[k] >= 0.05
            ]
            damping = float(self.damping[i]) if real or not self.frequency[i] else 0.0
            yield real, float(pole.imag), float(self.frequency[i]), damping, ", ".join(most)


def decay_order(poles: Any) -> Any:
    """The order of poles by how soon they decay, the slowest first; pairs stand side by side."""
    fastest = np.maximum(np.abs(poles).max(axis=-1, keepdims=True), 1e-300)
    real, imag = np.round(poles.real / fastest, 9), poles.imag / fastest
    return np.lexsort((-imag, np.round(np.abs(imag), 9), -real), axis=-1)


def eigenvalues(A: FloatArray) -> Any:
    """Eigenvalues of each of a batch; NaN where A is not finite, which LAPACK would refuse for all of them."""
    finite: Any = np.isfinite(A).all(axis=(-2, -1))
    found = np.linalg.eigvals(np.where(finite[..., None, None], A, 0.0)).astype(complex)
    return np.where(finite[..., None], found, np.nan)


def modes_of(A: FloatArray, states: tuple[str, ...]) -> Modes:
    """The modes of A, or of each of a batch."""
    m = A.shape[-1]
    found = [_modes(one) for one in A.reshape(-1, m, m)]
    poles, shapes, participation, condition = (
        np.array([row[k] for row in found]).reshape(*A.shape[:-2], *found[0][k].shape) for k in range(4)
    )
    size = np.abs(poles)
    with np.errstate(invalid="ignore", divide="ignore"):
        damping = np.where(size > 0.0, -poles.real / size, np.nan)
    return Modes(poles, size, damping, shapes, participation, condition, states)


def _modes(A: FloatArray) -> tuple[Any, Any, FloatArray, FloatArray]:
    from scipy.linalg import eig

    if not np.isfinite(A).all():
        lost = np.full(len(A), np.nan)
        return lost + 0j, np.full(A.shape, np.nan) + 0j, np.full(A.shape, np.nan), lost
    found: Any = eig(A, left=True, right=True)
    poles, left, right = found
    order = decay_order(poles)
    poles, left, right = poles[order], left[:, order], right[:, order]
    product = np.abs(left.conj() * right)
    with np.errstate(invalid="ignore", divide="ignore"):
        participation = product / product.sum(axis=0)
        condition = 1.0 / np.abs((left.conj() * right).sum(axis=0))
    return poles, right, participation, condition


__all__ = ["Modes", "decay_order", "eigenvalues", "modes_of"]
