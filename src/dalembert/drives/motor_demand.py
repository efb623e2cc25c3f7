"""What a motion asks of one motor: peaks, effective values, temperature, and how far these are from its limits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..model import Motor


class Shaft(NamedTuple):
    """Torque [N m] and its rate, and speed [rad/s], of a motor at samples of a motion, shape (K,) each."""

    t: FloatArray
    torque: FloatArray
    rate: FloatArray
    speed: FloatArray


class Demand(NamedTuple):
    """What a motion asks of a motor; None where the motor does not say enough.

    `margin` is the least of 1 − used / limit over all limits that are known, and `limiting` says which that is; negative means
    that the motor will not do.
    """

    motor: str
    ratio: float
    torque_peak: float
    torque_rms: float
    speed_peak: float
    power_peak: float
    current_peak: float | None
    current_rms: float | None
    voltage_peak: float | None
    temperature_rise: float | None
    margin: float | None
    limiting: str | None

    @property
    def fits(self) -> bool | None:
        """Whether the motor stays within its limits; None where it names none."""
        return None if self.margin is None else self.margin >= 0.0


def rms(t: FloatArray, values: FloatArray) -> float:
    """The effective value over the time of the motion, by the trapezoidal rule."""
    squares = values**2
    return float(np.sqrt(((squares[1:] + squares[:-1]) / 2 * np.diff(t)).sum() / (t[-1] - t[0])))


def demand_of(name: str, motor: Motor, ratio: float, shaft: Shaft) -> Demand:
    """The demand on a motor whose shaft moves in this way; torque contains what its own rotor takes."""
    power = shaft.torque * shaft.speed
    eta = motor.efficiency
    needed = shaft.torque * np.where(power > 0, 1 / eta, np.where(power < 0, eta, 1.0))
    k_t, R, k_e = motor.torque_constant, motor.resistance, motor.k_e
    current = None if k_t is None else needed / k_t
    voltage = None
    if current is not None and R is not None and k_t is not None and k_e is not None:
        voltage = R * current + motor.inductance * shaft.rate / k_t + k_e * shaft.speed
    rise = None if current is None else temperature_rise(motor, shaft.t, current)
    peaks = {
        "voltage": (_peak(voltage), motor.voltage_limit),
        "current": (_peak(current), motor.current_limit),
        "lasting current": (None if current is None else rms(shaft.t, current), motor.lasting_current),
        "speed": (_peak(shaft.speed), motor.speed_limit),
        "temperature": (rise, motor.temperature_limit),
    }
    margins = {kind: 1.0 - used / limit for kind, (used, limit) in peaks.items() if used is not None and np.isfinite(limit)}
    limiting = min(margins, key=lambda kind: margins[kind]) if margins else None
    return Demand(
        motor=name,
        ratio=ratio,
        torque_peak=float(np.abs(shaft.torque).max()),
        torque_rms=rms(shaft.t, shaft.torque),
        speed_peak=float(np.abs(shaft.speed).max()),
        power_peak=float(np.abs(power).max()),
        current_peak=_peak(current),
        current_rms=peaks["lasting current"][0],
        voltage_peak=_peak(voltage),
        temperature_rise=rise,
        margin=None if limiting is None else margins[limiting],
        limiting=limiting,
    )


def _peak(values: FloatArray | None) -> float | None:
    return None if values is None else float(np.abs(values).max())


def temperature_rise(motor: Motor, t: FloatArray, current: FloatArray) -> float | None:
    """How much warmer the winding becomes than the air [K], the motion being repeated for ever; a proxy, by one time constant.

    Θ̇ = (R_th R i² − Θ) / T_th. Without a time constant it is the mean, R_th R i_rms²; with one, the largest value of the periodic
    solution, R i² being constant between two samples.
    """
    if motor.thermal_resistance is None or motor.resistance is None:
        return None
    final = motor.thermal_resistance * motor.resistance * (current[1:] ** 2 + current[:-1] ** 2) / 2
    steps = np.diff(t)
    if motor.thermal_time is None:
        return float((final * steps).sum() / steps.sum())
    decay = np.exp(-steps / motor.thermal_time)
    end = _run(0.0, final, decay)[-1]
    start = end / -np.expm1(-steps.sum() / motor.thermal_time)  # Θ(0) = Θ(T)
    return float(max(start, _run(float(start), final, decay).max()))


def _run(start: float, final: FloatArray, decay: FloatArray) -> Any:
    found, theta = [], start
    for goal, share in zip(final.tolist(), decay.tolist(), strict=True):
        theta = goal + (theta - goal) * share
        found.append(theta)
    return np.array(found)


__all__ = ["Demand", "Shaft", "demand_of", "rms"]
