"""Motors as functions of scalars, for the time loop: torques from currents, and the rates of the currents.

Numbers are captured as arrays, not as motors, so that two calls with equal motors find the same compiled loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..expr import ops
from ..model import DriveTrain

Function = Callable[..., Any]


def motor_laws(train: DriveTrain) -> tuple[Function, Function | None]:
    """The torque law of motors and the rates of their currents; without inductance there are no rates.

    Both find the voltage in p.v, and keep it within its limit. A motor with inductance has its current as a state, in p.i;
    without, its current follows from voltage and speed. At the limit of the current the drive lets it grow no further.
    """
    T = train.matrix
    R, L, k_t, k_e = (train.column(key) for key in ("resistance", "inductance", "torque_constant", "k_e"))
    top_voltage, top_current, eta = (train.column(key) for key in ("voltage_limit", "current_limit", "efficiency"))
    place = [int((L[:k] > 0).sum()) if L[k] > 0 else -1 for k in range(len(L))]

    def applied(p: Any) -> list[Any]:
        return [clipped(v, top) for v, top in zip(p.v, top_voltage, strict=True)]

    def currents(qd: Any, p: Any) -> list[Any]:
        if all(k >= 0 for k in place):
            return [p.i[k] for k in place]
        w, v = speeds(qd), applied(p)
        found = [clipped((v[k] - k_e[k] * w[k]) / R[k], top_current[k]) for k in range(len(L))]
        return [found[j] if k < 0 else p.i[k] for j, k in enumerate(place)]

    def speeds(qd: Any) -> list[Any]:
        return [_sum(T[k], qd) for k in range(len(L))]

    def law(t: Any, q: Any, qd: Any, p: Any) -> list[Any]:
        w, i = speeds(qd), currents(qd, p)
        torque = [k_t[k] * i[k] * passed(eta[k], i[k] * w[k]) for k in range(len(L))]
        return [_sum(T[:, j], torque) for j in range(T.shape[1])]

    def rates(t: Any, q: Any, qd: Any, p: Any) -> dict[str, list[Any]]:
        w, v = speeds(qd), applied(p)
        own = [k for k in range(len(L)) if place[k] >= 0]
        slopes = [(v[k] - R[k] * p.i[place[k]] - k_e[k] * w[k]) / L[k] for k in own]
        return {"i": [held(slope, p.i[place[k]], top_current[k]) for slope, k in zip(slopes, own, strict=True)]}

    return law, rates if any(k >= 0 for k in place) else None


def _sum(weights: Any, scalars: Any) -> Any:
    total: Any = 0.0
    for weight, scalar in zip(weights, scalars, strict=True):
        total = total + float(weight) * scalar
    return total


def clipped(x: Any, top: float) -> Any:
    """Within ± top."""
    return x if np.isinf(top) else ops.maximum(ops.minimum(x, float(top)), -float(top))


def held(slope: Any, current: Any, top: float) -> Any:
    """The slope of a current that is not to leave ± top."""
    if np.isinf(top):
        return slope
    over = ops.less_equal(float(top), current) * ops.less(0.0, slope)
    under = ops.less_equal(current, -float(top)) * ops.less(slope, 0.0)
    return ops.where(over + under, 0.0, slope)


def passed(eta: float, power: Any) -> Any:
    """The share of a motor's torque that arrives through the gear; more than all of it where the joint drives the motor."""
    if eta == 1.0:
        return 1.0
    return ops.where(ops.less(0.0, power), float(eta), ops.where(ops.less(power, 0.0), 1.0 / float(eta), 1.0))


__all__ = ["motor_laws"]
