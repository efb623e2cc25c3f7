"""Motors of joints: the electrical side of a drive, and what of its mechanical side the joint has to have.

A direct-current motor, or one that a drive makes look like one, obeys [Freeman, Eq. 2-228]

    L di/dt + R i + k_e ω = v                                                                          (1)
    J ω̇ + B ω + τ_m = k_t i                                                                            (2)

with the speed ω of its shaft and the torque τ_m that it delivers. Nothing is counted twice: the mechanics of a robot are its
links, `Rotor`s and `Friction`, and J and B act there; a motor that names them has to find them there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from .. import checks
from ..errors import ModelError, Part
from .parts import Friction, Rotor
from .record import Record, put

_PRINTED = 1e-9  # by which two numbers that mean the same may differ
_MAGNITUDES = ("inductance", "inertia", "damping")
_UNKNOWN = ("resistance", "torque_constant", "back_emf_constant", "thermal_resistance", "thermal_time")
_LIMITS = ("voltage_limit", "current_limit", "continuous_current", "speed_limit", "temperature_limit")


@dataclass(frozen=True, eq=False)
class Motor(Record):
    """A motor with its gear.

    Parameters
    ----------
    resistance : float, optional
        R of the armature [Ω]; None where it is not known.
    torque_constant : float, optional
        k_t [N m/A].
    back_emf_constant : float, optional
        k_e [V s/rad]; equal to k_t where it is left out, as it is in SI units for a motor without losses in its iron.
    inductance : float
        L [H]; with 0 the current follows the voltage at once.
    ratio : float, optional
        Turns of the motor for one of the joint, negative where they are opposite; for a sliding joint radians per metre. Left
        out, that of the joint's `Rotor`, or 1.
    efficiency : float
        Of the gear, above 0 up to 1: the share of the motor's power that arrives, or of the joint's where it drives the motor.
    inertia, damping : float
        J [kg m²] and B [N m s/rad] of the motor alone. They act through the joint's `Rotor` and `Friction`, which contain them;
        `Robot.with_motors` puts them there.
    voltage_limit, current_limit, continuous_current, speed_limit : float
        Magnitudes [V], [A], [A] and [rad/s] of the motor; infinite where there are none. A motor without a
        `continuous_current` bears its `current_limit` for ever.
    thermal_resistance, thermal_time, temperature_limit : float, optional
        From the winding to the air [K/W], the time constant of the winding [s], and how much warmer it may become [K].
    name : str
        What it is called in a list.

    Examples
    --------
    >>> import dalembert as dal
    >>> motor = dal.Motor(resistance=2.0, torque_constant=0.1, ratio=50.0, voltage_limit=48.0)
    >>> motor.k_e, motor.stall_torque
    (0.1, 2.4000000000000004)
    """

    resistance: float | None = None
    torque_constant: float | None = None
    back_emf_constant: float | None = None
    inductance: float = 0.0
    ratio: float | None = None
    efficiency: float = 1.0
    inertia: float = 0.0
    damping: float = 0.0
    voltage_limit: float = math.inf
    current_limit: float = math.inf
    continuous_current: float = math.inf
    speed_limit: float = math.inf
    thermal_resistance: float | None = None
    thermal_time: float | None = None
    temperature_limit: float = math.inf
    name: str = ""

    def __post_init__(self) -> None:
        for key in _UNKNOWN:
            if getattr(self, key) is not None:
                put(self, **{key: self._positive(key)})
        for key in _MAGNITUDES:
            put(self, **{key: self._positive(key, zero=True)})
        for key in _LIMITS:
            put(self, **{key: self._positive(key, infinite=True)})
        put(self, efficiency=self._positive("efficiency"), name=self._checked_name())
        if self.ratio is not None:
            put(self, ratio=checks.number("motor: ratio", self.ratio))
            if abs(self.ratio) < checks.SMALLEST:
                raise ModelError("motor: ratio 0 found; a motor that does not turn with its joint drives nothing.")
        if self.efficiency > 1.0:
            raise ModelError(f"motor: efficiency {self.efficiency:g} found; a share above 0 up to 1 is expected, 0.9 for 90 %.")
        if self.current_limit < self.continuous_current < math.inf:
            raise ModelError(
                f"motor: continuous_current {self.continuous_current:g} A is above current_limit {self.current_limit:g} A. "
                "Are they exchanged?"
            )

    def _checked_name(self) -> str:
        return "" if isinstance(self.name, str) and not self.name else checks.name("motor: name", self.name)

    def _positive(self, key: str, *, zero: bool = False, infinite: bool = False) -> float:
        value = checks.number(f"motor: {key}", getattr(self, key), infinite=infinite)
        if value < 0 or (not zero and value < checks.SMALLEST):
            wanted = "zero or a positive number" if zero else "a positive number"
            raise ModelError(f"motor: {key} {value:g} found; {wanted} is expected.")
        return value

    @property
    def k_e(self) -> float | None:
        """The back-EMF constant that acts [V s/rad]."""
        return self.torque_constant if self.back_emf_constant is None else self.back_emf_constant

    @property
    def lasting_current(self) -> float:
        """The current that it bears for ever [A], as an effective value."""
        return min(self.continuous_current, self.current_limit)

    @property
    def stall_torque(self) -> float:
        """What it gives at rest within its limits of voltage and current [N m]; infinite without limits."""
        if self.torque_constant is None:
            return math.inf
        by_voltage = math.inf if self.resistance is None else self.voltage_limit / self.resistance
        return self.torque_constant * min(by_voltage, self.current_limit)


def ratio_of(motor: Motor, rotor: Rotor | None) -> float:
    """The gear ratio that acts at a joint."""
    if motor.ratio is not None:
        return motor.ratio
    return 1.0 if rotor is None else rotor.ratio


def check_motors(motors: Mapping[str, Motor], rotors: Mapping[str, Rotor], friction: Mapping[str, Friction]) -> None:
    """Refuse motors whose mechanical side is not that of their joints."""
    for joint, motor in motors.items():
        rotor = rotors.get(joint)
        subject, part = f"motor of joint {joint!r}", Part("joint", joint)
        if rotor is not None and motor.ratio is not None and not math.isclose(motor.ratio, rotor.ratio, rel_tol=_PRINTED):
            raise ModelError(
                f"{subject}: ratio {motor.ratio:g} found, but the joint's rotor has {rotor.ratio:g}. Give it once, at the rotor.",
                part=part,
            )
        if motor.inertia and motor.inertia > (0.0 if rotor is None else rotor.inertia) * (1 + _PRINTED):
            found = "no rotor" if rotor is None else f"a rotor of {rotor.inertia:g} kg m²"
            raise ModelError(
                f"{subject}: inertia {motor.inertia:g} kg m² found, but the joint has {found}, so that it would not act. "
                "Give the joint a Rotor, or add motors by robot.with_motors(...), which does so.",
                part=part,
            )
        viscous = friction[joint].viscous if joint in friction else 0.0
        least = ratio_of(motor, rotor) ** 2 * motor.damping
        if motor.damping and least > viscous * (1 + _PRINTED):
            raise ModelError(
                f"{subject}: damping {motor.damping:g} N m s/rad found, {least:g} at the joint, but its viscous friction is "
                f"{viscous:g}. Add it there, or add motors by robot.with_motors(...), which does so.",
                part=part,
            )


MOTOR_FIELDS = tuple(field.name for field in fields(Motor))

__all__ = ["MOTOR_FIELDS", "Motor", "check_motors", "ratio_of"]
