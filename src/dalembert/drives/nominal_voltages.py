"""Currents and voltages that drive a motion, without feedback [Freeman, Eq. 2-238 to 2-240].

    i = k_t⁻¹ τ_m,   di/dt = k_t⁻¹ τ̇_m,   v = R i + L di/dt + k_e ω                                    (1)

with τ_m from the torques of inverse dynamics through the drive train, and τ̇_m from their rate along the motion, which needs the
third derivative of the coordinates.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import gravity_torque, inverse_dynamics, torque_rate
from ..dynamics.system import AnySystem
from ..errors import DalembertWarning, InfeasibleError, ShapeError
from ..model import DriveTrain
from ..wording import listed
from .driven import Driven, driven, friction_jumps, gear_gain

JUMP = "friction-jump"


@dataclass(frozen=True, eq=False)
class NominalVoltage:
    """What the motors need along a motion; every array has the shape (..., m) but `tau`, (..., n).

    Attributes
    ----------
    motors : tuple of str
        Their names, in order.
    voltage, current, current_rate : ndarray
        [V], [A], [A/s].
    torque, speed : ndarray
        Of the motors [N m], [rad/s].
    tau : ndarray
        At the coordinates [N m | N].
    drive : DriveTrain
        The motors themselves.
    """

    motors: tuple[str, ...]
    voltage: FloatArray
    current: FloatArray
    current_rate: FloatArray
    torque: FloatArray
    speed: FloatArray
    tau: FloatArray
    drive: DriveTrain

    def __repr__(self) -> str:
        return brief(self, "drive", within_limits=not self.exceeded)

    @property
    def exceeded(self) -> dict[str, list[str]]:
        """Motors that go beyond a limit, with the limits: 'voltage', 'current', 'speed'."""
        kinds = {"voltage": self.voltage, "current": self.current, "speed": self.speed}
        found: dict[str, list[str]] = {}
        for kind, values in kinds.items():
            for name, beyond in zip(self.motors, _peaks(values) > self.drive.column(f"{kind}_limit"), strict=True):
                if beyond:
                    found.setdefault(name, []).append(kind)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, in SI units."""
        arrays = ("voltage", "current", "current_rate", "torque", "speed", "tau")
        own = {name: getattr(self, name).tolist() for name in arrays}
        return {"motors": list(self.motors), **own, "exceeded": self.exceeded}


def _peaks(values: FloatArray) -> FloatArray:
    """The largest magnitude of each motor."""
    return np.abs(values).reshape(-1, values.shape[-1]).max(axis=0, initial=0.0)


def nominal_voltage(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike | None = None,
    *,
    t: ArrayLike | None = None,
    drive: DriveTrain | None = None,
    strict: bool = False,
    threads: int | None = None,
) -> NominalVoltage:
    """Currents and voltages of the motors along a motion: v = R i + L di/dt + k_e ω [Freeman, Eq. 2-240].

    Parameters
    ----------
    system : Robot or System
        With n coordinates, all of them driven.
    q, qd, qdd : array_like, shape (..., n)
        The motion; leading axes broadcast.
    qddd : array_like, shape (..., n), optional
        Its third derivative, on which the rate of the current depends; it may be left out if no motor has an inductance, or if
        `t` is given.
    t : array_like, shape (K,), optional
        Times [s] of samples (..., K, n): a third derivative that is left out is that of a cubic spline through `qdd`.
    drive : DriveTrain, optional
        The motors; those of the joints if left out.
    strict : bool
        Refuse a motion that goes beyond a limit of a motor; without it `exceeded` tells.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    NominalVoltage

    Raises
    ------
    ModelError
        If a joint has no motor, or a motor no resistance or torque constant.
    InfeasibleError
        Under `strict`, where a limit is exceeded; it says whether gravity alone does so.

    Warns
    -----
    DalembertWarning
        'friction-jump', where a joint with dry friction and a motor with inductance turns round: the current would have to jump.
        The voltages on either side are right; smooth the friction, `Friction(width=...)`, to have them in between.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal

    A pendulum that is held level by a motor with a gear of 50: i = 4.905 N m / (50 · 0.1 N m/A), v = R i.

    >>> robot = dal.robots.pendulum().with_motors({"pivot": dal.Motor(resistance=2.0, torque_constant=0.1, ratio=50.0)})
    >>> found = dal.nominal_voltage(robot, [np.pi / 2], [0.0], [0.0])
    >>> found.current.round(4), found.voltage.round(4)
    (array([0.981]), array([1.962]))
    """
    strict, use = checks.flag("strict", strict), driven(system, drive)
    R, L, k_t, k_e = (use.train.column(key) for key in ("resistance", "inductance", "torque_constant", "k_e"))
    tau = inverse_dynamics(use.plant, q, qd, qdd, threads=threads)
    torque, speed = use.train.motor_torques(tau), use.train.speeds(qd)
    per_torque = gear_gain(use.train, torque, speed) / k_t
    current, rate = torque * per_torque, np.zeros(torque.shape)
    if L.any():
        jerk = _third(qdd, qddd, t)
        rate = use.train.motor_torques(torque_rate(use.plant, q, qd, qdd, jerk, threads=threads)) * per_torque
        _warn_of_jumps(system, qd)
    voltage = R * current + L * rate + k_e * speed
    found = NominalVoltage(use.train.names, voltage, current, rate, torque, np.broadcast_to(speed, torque.shape), tau, use.train)
    if strict:
        _refuse_beyond(use, found, q)
    return found


def _third(qdd: ArrayLike, qddd: ArrayLike | None, t: ArrayLike | None) -> ArrayLike:
    """The third derivative, given or by a spline through the second."""
    if qddd is not None:
        return qddd
    if t is None:
        raise ShapeError(
            "qddd: neither it nor t found, but motors with inductance need the rate of their current. Give qddd, or the times t."
        )
    from scipy.interpolate import CubicSpline  # here, since it takes a while to load

    times, values = real("t", t, "(K,)"), real("qdd", qdd, "(..., K, n)")
    if times.ndim != 1 or values.ndim < 2 or values.shape[-2] != len(times) or len(times) < 2:
        raise ShapeError(f"t: shape {times.shape} found with qdd of shape {values.shape}; (K,) and (..., K, n) expected, K > 1.")
    if not (np.diff(times) > 0).all():
        raise ShapeError("t: times that rise from sample to sample are expected.")
    jerk: FloatArray = CubicSpline(times, values, axis=-2)(times, 1)
    return jerk


def _warn_of_jumps(system: AnySystem, qd: ArrayLike) -> None:
    jumps = friction_jumps(system, np.asarray(qd, dtype=float))
    if jumps:
        first = min(jumps.values())[0]
        warnings.warn(
            DalembertWarning(
                f"nominal_voltage: {listed(jumps)} turn round (first before sample {first}), where dry friction jumps, and so "
                "would the current through an inductance. Give Friction(width=...) to have it smooth.",
                JUMP,
            ),
            stacklevel=3,
        )


def _refuse_beyond(use: Driven, found: NominalVoltage, q: ArrayLike) -> None:
    """Name the first motor beyond a limit, where, and whether gravity alone is too much."""
    units = {"voltage": "V", "current": "A", "speed": "rad/s"}
    for name, kinds in found.exceeded.items():
        k, kind = found.motors.index(name), kinds[0]
        values = np.abs(getattr(found, kind)[..., k])
        at = np.unravel_index(int(np.argmax(values)), values.shape)
        limit = float(use.train.column(f"{kind}_limit")[k])
        held = use.train.motor_torques(gravity_torque(use.plant, q))[..., k] / use.train.column("torque_constant")[k]
        weight = float(np.abs(held).max()) * (use.train.column("resistance")[k] if kind == "voltage" else 1.0)
        why = f" Gravity alone takes {weight:.4g} {units[kind]}." if kind != "speed" and weight > limit else ""
        place = f" at sample {', '.join(map(str, at))}" if at else ""
        raise InfeasibleError(
            f"motor {name!r}: {values.max():.4g} {units[kind]} needed{place}, but its limit is {limit:.4g} {units[kind]}.{why} "
            f"Take a {'larger ratio or a ' if kind == 'current' else ''}stronger motor, or a slower motion."
        )


__all__ = ["NominalVoltage", "nominal_voltage"]
