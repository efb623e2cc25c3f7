"""What a motion asks of every drive of a robot, and which motor of a list would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..analysis.text_tables import number, text
from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import engine, inverse_dynamics, torque_rate
from ..dynamics.system import AnySystem
from ..errors import ModelError, ShapeError
from ..model import DriveTrain, Motor, Robot
from ..model.motors import ratio_of
from .driven import driven
from .motor_demand import Demand, Shaft, demand_of, rms

_HEADS = ("motor", "ratio", "torque", "rms", "speed", "power", "current", "rms", "voltage", "rise", "margin", "by")
_UNITS = ("", "", "N m", "N m", "rad/s", "W", "A", "A", "V", "K", "%", "")


@dataclass(frozen=True)
class JointDemand:
    """What a motion asks at one coordinate: peak and effective force [N m | N], peak speed and power."""

    name: str
    unit: str
    torque_peak: float
    torque_rms: float
    speed_peak: float
    power_peak: float


@dataclass(frozen=True, eq=False)
class MotorTable:
    """Demands along a motion: at the coordinates, on the motors that are there, and on those of a list.

    Attributes
    ----------
    joints : tuple of JointDemand
    motors : tuple of Demand
        On the motors of the robot or of the drive train; empty if there are none.
    choices : dict of str to tuple of Demand
        For each coordinate the motors of the list, those that do first, the one that is used best in front.
    """

    joints: tuple[JointDemand, ...]
    motors: tuple[Demand, ...]
    choices: Mapping[str, tuple[Demand, ...]]

    def chosen(self, joint: str) -> Demand | None:
        """The first motor of the list that does for a coordinate, if one does."""
        return next((d for d in checks.choice("joint", joint, self.choices) if d.fits), None)

    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Title, heads and rows of every table."""
        heads = ["joint", "torque", "rms", "speed", "power", ""]
        rows = [
            [j.name, *map(number, (j.torque_peak, j.torque_rms, j.speed_peak, j.power_peak)), f"{j.unit}, W"] for j in self.joints
        ]
        found = [("At the joints: peak and effective torque, peak speed and power", heads, rows)]
        if self.motors:
            found.append(("Motors", _headed(), [_cells(d) for d in self.motors]))
        for joint, demands in self.choices.items():
            found.append((f"Motors for {joint}", _headed(), [_cells(d) for d in demands]))
        return found

    def __str__(self) -> str:
        return "\n\n".join(text(*table) for table in self.tables())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, in SI units."""
        return {
            "joints": [vars(joint) for joint in self.joints],
            "motors": [_record(d) for d in self.motors],
            "choices": {joint: [_record(d) for d in demands] for joint, demands in self.choices.items()},
        }


def _headed() -> list[str]:
    return [f"{head} [{unit}]" if unit else head for head, unit in zip(_HEADS, _UNITS, strict=True)]


def _cells(d: Demand) -> list[str]:
    values = (d.ratio, d.torque_peak, d.torque_rms, d.speed_peak, d.power_peak, d.current_peak, d.current_rms, d.voltage_peak)
    margin = None if d.margin is None else 100 * d.margin
    return [d.motor, *map(number, (*values, d.temperature_rise, margin)), d.limiting or "–"]


def _record(d: Demand) -> dict[str, Any]:
    return {**d._asdict(), "fits": d.fits}


def motor_table(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    t: ArrayLike,
    *,
    qddd: ArrayLike | None = None,
    motors: Mapping[str, Motor] | Sequence[Motor] | None = None,
    drive: DriveTrain | None = None,
) -> MotorTable:
    """Peak and effective torque, speed, power, current, voltage and temperature along a motion, with the margin to each limit.

    Parameters
    ----------
    system : Robot or System
        With n coordinates; motors are not needed to choose from a list.
    q, qd, qdd : array_like, shape (K, n)
        The motion.
    t : array_like, shape (K,)
        Its times [s], rising. The motion is taken to be repeated for ever, for effective values and the temperature.
    qddd : array_like, shape (K, n), optional
        Its third derivative, for the voltage across an inductance; by differences of the torque if left out.
    motors : mapping of str to Motor, or sequence of Motor, optional
        A list to choose from, by name. A motor without a `ratio` gets that of the joint's rotor, or 1. Its inertia takes the
        place of that of the rotor which is there, and its damping is added to the joint's friction if there is no rotor.
    drive : DriveTrain, optional
        The motors that are there; those of the joints if left out.

    Returns
    -------
    MotorTable

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> t = np.linspace(0.0, 2.0, 201)
    >>> swing = 0.8 * np.sin(np.pi * t), 0.8 * np.pi * np.cos(np.pi * t), -0.8 * np.pi**2 * np.sin(np.pi * t)
    >>> small = dal.Motor(2.0, 0.05, ratio=30.0, voltage_limit=24.0, continuous_current=0.3, name="small")
    >>> large = dal.Motor(1.0, 0.1, ratio=30.0, voltage_limit=24.0, continuous_current=3.0, name="large")
    >>> table = dal.motor_table(dal.robots.pendulum(), *(x[:, None] for x in swing), t, motors=[small, large])
    >>> table.chosen("pivot").motor
    'large'
    """
    times, state = _motion(system, t, (q, qd, qdd))
    coordinates = engine.system_of(system).coordinates
    candidates = _candidates(motors)
    tau = inverse_dynamics(system, *state)
    jerk = None if qddd is None else real("qddd", qddd, f"(K, {len(coordinates)})")
    rate = _rate(system, times, state, tau, jerk)
    joints = tuple(
        _joint_demand(c.name, getattr(c, "turns", True), times, tau[:, k], state[1][:, k]) for k, c in enumerate(coordinates)
    )
    choices = {c.name: _choices(system, c.name, k, candidates, times, state, tau, rate) for k, c in enumerate(coordinates)}
    return MotorTable(joints, _present(system, drive, times, state, jerk), choices if candidates else {})


def _motion(system: AnySystem, t: ArrayLike, given: Sequence[ArrayLike]) -> tuple[FloatArray, list[FloatArray]]:
    n, times = engine.size(system), real("t", t, "(K,)")
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
        raise ShapeError(f"t: shape {times.shape} found; two or more times (K,), rising, are expected.")
    state = [np.asarray(real(name, x, f"(K, {n})"), dtype=float) for name, x in zip(("q", "qd", "qdd"), given, strict=True)]
    for name, x in zip(("q", "qd", "qdd"), state, strict=True):
        if x.shape != (len(times), n):
            raise ShapeError(f"{name}: shape {x.shape} found, ({len(times)}, {n}) expected: a row for each time in t.")
    return times, state


def _candidates(motors: Any) -> dict[str, Motor]:
    if motors is None:
        return {}
    if isinstance(motors, Mapping):
        return {name: checks.instance(f"motors: {name}", motor, Motor) for name, motor in motors.items()}
    found = checks.parts("motors", motors, Motor)
    names = [motor.name or f"motor {k}" for k, motor in enumerate(found, start=1)]
    checks.unique("motors", names)
    return dict(zip(names, found, strict=True))


def _joint_demand(name: str, turns: bool, t: FloatArray, tau: FloatArray, qd: FloatArray) -> JointDemand:
    peaks = (float(np.abs(x).max()) for x in (tau, qd, tau * qd))
    torque, speed, power = peaks
    return JointDemand(name, "N m, rad/s" if turns else "N, m/s", torque, rms(t, tau), speed, power)


def _rate(system: AnySystem, t: FloatArray, state: Sequence[FloatArray], tau: FloatArray, jerk: FloatArray | None) -> FloatArray:
    """The rate of the torque: exact where the jerk is known, else by differences."""
    q, qd, qdd = state
    return np.gradient(tau, t, axis=0) if jerk is None else torque_rate(system, q, qd, qdd, jerk)


def _present(
    system: AnySystem, drive: DriveTrain | None, t: FloatArray, state: Sequence[FloatArray], jerk: FloatArray | None
) -> tuple[Demand, ...]:
    """The demand on the motors that are there, if there are any."""
    robot = system if isinstance(system, Robot) else getattr(system, "robot", None)
    if drive is None and (robot is None or not robot.parameters.motors):
        return ()
    use = driven(system, drive)
    tau = inverse_dynamics(use.plant, *state)
    rate = _rate(use.plant, t, state, tau, jerk)
    shares = [use.train.motor_torques(x) for x in (tau, rate)]
    speed = use.train.speeds(state[1])
    found = []
    for k, (name, motor) in enumerate(use.train.motors.items()):
        ratio = float(np.abs(use.train.matrix[k]).max())
        label = f"{name}: {motor.name}" if motor.name else name
        found.append(demand_of(label, motor, ratio, Shaft(t, shares[0][:, k], shares[1][:, k], speed[:, k])))
    return tuple(found)


def _choices(
    system: Any, joint: str, k: int, motors: Mapping[str, Motor], t: FloatArray, state: Any, tau: FloatArray, rate: FloatArray
) -> tuple[Demand, ...]:
    """Every motor of the list at a coordinate, those that do first and, among them, the one that is used best."""
    robot = system if isinstance(system, Robot) else getattr(system, "robot", None)
    rotor = None if robot is None else robot.parameters.rotors.get(joint)
    found = []
    for name, motor in motors.items():
        ratio = ratio_of(motor, rotor)
        if rotor is not None and rotor.ratio != ratio and rotor.model == "full":
            raise ModelError(
                f"motors: {name!r} has the ratio {ratio:g}, but the full rotor of joint {joint!r} turns with {rotor.ratio:g} and "
                "acts on other joints too. Choose for a robot without it."
            )
        there = 0.0 if rotor is None else rotor.inertia * rotor.ratio**2
        own = motor.inertia * ratio**2 - there if motor.inertia else 0.0
        drag = motor.damping * ratio**2 if rotor is None else 0.0
        qd, qdd = state[1][:, k], state[2][:, k]
        jerk = np.gradient(qdd, t)
        torque, slope = tau[:, k] + own * qdd + drag * qd, rate[:, k] + own * jerk + drag * qdd
        found.append(demand_of(name, motor, ratio, Shaft(t, torque / ratio, slope / ratio, qd * ratio)))
    return tuple(sorted(found, key=lambda d: (not d.fits, abs(d.margin or 0.0))))


__all__ = ["JointDemand", "MotorTable", "motor_table"]
