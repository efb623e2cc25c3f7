"""Equilibria: the torques that hold a pose, and the poses that torques hold."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import DalembertWarning, InfeasibleError, ModelError, ShapeError
from .acting_loads import acting_of
from .modes import eigenvalues
from .state_recipe import STATE_MATRICES

TURNS = 200
HELD = 1e-10  # of the largest torque met: a pose is held if what is missing is smaller
_STEP = 1.0  # rad or m that a coordinate moves in one turn at most
_DAMPING = (1e-3, 1e-15, 1e12)  # of Levenberg and Marquardt, relative to the stiffness: first, least, and where it is given up
_STILL = 1e-6  # of the fastest pole: slower ones are taken for zero, since double poles are known to half the digits
STABILITY = ("unstable", "neutral", "stable", "asymptotically stable", "unknown")


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A pose at rest, `q` (..., n), the drives' torques that hold it, `tau` (..., n), and what happens nearby.

    `poles` (..., 2n) are those of the linear model there, and `stability` (...) says what they mean: 'asymptotically stable'
    (deviations fade), 'stable' (they swing, undamped), 'neutral' (in some direction nothing brings them back), 'unstable' (they
    grow), or 'unknown' where the pose is none. `residual` (..., n) is what is missing in τ. Dry friction would hold a pose within
    a band of torques and is left out.
    """

    q: FloatArray
    tau: FloatArray
    residual: FloatArray
    poles: Any
    stability: Any

    def __repr__(self) -> str:
        fact = {"stability": self.stability} if isinstance(self.stability, str) else {}
        return brief(self, "stability", **fact)


def equilibrium(
    system: AnySystem,
    q: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    near: ArrayLike | None = None,
    loads: Any = (),
    wrenches: Mapping[Any, ArrayLike] | None = None,
) -> Equilibrium:
    """Which torques hold a pose (given `q`), or which pose some torques hold (given `tau` and a pose `near` it).

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        The pose, for the torques; or
    tau, near : array_like, shape (..., n)
        the torques, and where to begin to look for the pose: Newton's method with exact slopes, damped, leads to one in the
        neighbourhood, stable or not.
    loads, wrenches
        What else acts, as in `linearize`.

    Returns
    -------
    Equilibrium

    Raises
    ------
    InfeasibleError
        If no pose near there is held by these torques; the joint that lacks most is named.

    Examples
    --------
    >>> import dalembert as dal
    >>> pendulum = dal.robots.pendulum()
    >>> dal.equilibrium(pendulum, [0.5]).tau.round(4)
    array([2.3516])
    >>> found = dal.equilibrium(pendulum, tau=[2.3516], near=[0.0])
    >>> found.q.round(3), found.stability
    (array([0.5]), 'stable')
    """
    n = engine.size(system)
    acting, arrays = acting_of(loads, wrenches)
    run = engine.kernel(system, STATE_MATRICES, True, acting)
    still = np.zeros(n)

    def held(pose: Any) -> _Held:
        return _Held(pose, *run(pose, still, still, *arrays))

    if (q is None) == (tau is None):
        raise ModelError("equilibrium: give q for the torques that hold it, or tau and near for a pose; one of the two.")
    if tau is None:
        found = held(real("q", q, f"(..., {n})"))
        wanted = found.tau
    else:
        if near is None:
            raise ModelError("equilibrium: near is missing: a pose, of shape (..., n), from which to look. Try near=[0, ...].")
        wanted = real("tau", tau, f"(..., {n})")
        found = _search(system, held, real("near", near, f"(..., {n})"), wanted)
    poles = eigenvalues(found.A)
    pose = np.broadcast_to(found.q, found.tau.shape)
    return Equilibrium(pose, np.broadcast_to(wanted, found.tau.shape), wanted - found.tau, poles, stability_of(poles))


class _Held(NamedTuple):
    """A pose with the torques that hold it, and the linear model there."""

    q: Any
    A: FloatArray
    B: FloatArray
    tau: FloatArray

    def stiffness(self) -> Any:
        """∂τ/∂q = −M A₂₁."""
        n = self.tau.shape[-1]
        return -np.linalg.solve(self.B[..., n:, :n], self.A[..., n:, :n])


def _search(system: AnySystem, held: Any, start: FloatArray, tau: FloatArray) -> _Held:
    """Newton's method, damped as by Levenberg and Marquardt, for each row of a batch by itself."""
    n = tau.shape[-1]
    if start.shape[-1:] != (n,):
        raise ShapeError(f"near: shape {start.shape} found, (..., {n}) expected.")
    batch = np.broadcast_shapes(start.shape[:-1], tau.shape[:-1])
    q, tau = (np.broadcast_to(x, (*batch, n)).reshape(-1, n).copy() for x in (start, tau))
    damping = np.full(len(q), _DAMPING[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # poses tried on the way may not exist; the one found does
        at = held(q)
        scale = np.maximum(np.abs(tau).max(axis=-1), np.abs(at.tau).max(axis=-1))
        for _ in range(TURNS):
            missing = tau - at.tau
            open_ = ~(np.abs(missing).max(axis=-1) <= HELD * scale) & (damping < _DAMPING[2])
            if not open_.any():
                break
            trial = held(at.q + np.where(open_[:, None], _step(at.stiffness(), missing, damping), 0.0))
            scale = np.fmax(scale, np.abs(trial.tau).max(axis=-1))
            better = open_ & (np.linalg.norm(tau - trial.tau, axis=-1) < np.linalg.norm(missing, axis=-1))
            damping = np.where(better, np.maximum(0.1 * damping, _DAMPING[1]), np.where(open_, 10.0 * damping, damping))
            at = _Held(*(np.where(better.reshape(-1, *[1] * (a.ndim - 1)), b, a) for a, b in zip(at, trial, strict=True)))
    _refuse_unheld(system, tau - at.tau, scale)
    return _Held(*(x.reshape(*batch, *x.shape[1:]) for x in at))


def _step(K: FloatArray, missing: FloatArray, damping: FloatArray) -> FloatArray:
    """(KᵀK + λ 1) δq = Kᵀ (τ − τ(q)), no coordinate moving far at once."""
    turned = K.swapaxes(-1, -2)
    normal = turned @ K
    size = np.maximum(np.trace(normal, axis1=-2, axis2=-1), 1e-300)
    step = np.linalg.solve(normal + (damping * size)[:, None, None] * np.eye(K.shape[-1]), (turned @ missing[..., None]))[..., 0]
    longest = np.abs(step).max(axis=-1, keepdims=True)
    return step * np.minimum(1.0, _STEP / np.maximum(longest, 1e-300))


def _refuse_unheld(system: AnySystem, missing: FloatArray, scale: FloatArray) -> None:
    lost = ~(np.abs(missing).max(axis=-1) <= np.maximum(1e3 * HELD * scale, 1e-300))
    if not lost.any():
        return
    row = int(np.argmax(lost))
    k = int(np.nanargmax(np.abs(missing[row]))) if np.isfinite(missing[row]).any() else 0
    coordinate = engine.system_of(system).coordinates[k]
    where = "" if len(missing) == 1 else f" in {int(lost.sum())} of {len(missing)} cases, the first of which is number {row}"
    raise InfeasibleError(
        f"equilibrium: no pose near the one given is held by these torques{where}: at the closest one found, "
        f"{coordinate.name!r} is out of balance by {missing[row, k]:.3g} {coordinate.force_unit}. Begin elsewhere with near=..., "
        "or look whether weight and loads can balance these torques at all."
    )


def stability_of(poles: Any) -> Any:
    """What poles mean, for each of a batch."""
    lost = np.isnan(poles).any(axis=-1)
    fastest = np.maximum(np.abs(poles).max(axis=-1, keepdims=True), 1e-300)
    real, size = poles.real / fastest, np.abs(poles) / fastest
    growing, idle, swinging = real > _STILL, size < _STILL, np.abs(real) <= _STILL
    kind = np.select([lost, growing.any(-1), idle.any(-1), swinging.any(-1)], [4, 0, 1, 2], 3)
    found = np.array(STABILITY)[kind]
    return str(found) if found.ndim == 0 else found


__all__ = ["Equilibrium", "equilibrium"]
