"""Limits as they are given: one number for all, one of each, or by name; those of the model where nothing is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..drives.driven import driven, driving_train
from ..dynamics import engine
from ..errors import ModelError, ShapeError
from ..mechanism.joint_motion import loop_joints
from ..model import DriveTrain
from ..model import Limits as JointLimits
from ..options import numbers_by_name
from .limit_rows import DriveLimits, Limit, TimingLimits
from .shared_drives import drives_limit

KINDS = ("torque", "velocity", "acceleration", "power")
_NONE = JointLimits()


def read_limits(system: Any, motors: Any, given: Mapping[str, Any], gripped: bool = False) -> tuple[Any, TimingLimits]:
    """The system with what its motors add, and all limits; `given` has what was given for each of `KINDS`."""
    coordinates = engine.system_of(system).coordinates
    names = tuple(coordinate.name for coordinate in coordinates)
    turns = [getattr(coordinate, "turns", True) for coordinate in coordinates]
    own = limits_of(coordinates)
    defaults = {"torque": [limit.effort for limit in own], "velocity": [limit.velocity for limit in own]}
    units = {
        "torque": ("N m", "N"),
        "velocity": ("rad/s", "m/s"),
        "acceleration": ("rad/s²", "m/s²"),
        "power": ("W", "W"),
    }
    found: dict[str, Any] = {}
    drives, of_drives = drives_limit(system, given["torque"], gripped), None
    if drives is not None:
        of_drives = _drive_limits(system, drives, given["power"], motors)
        given, motors = {**given, "torque": np.inf, "power": None}, False
    joints = _loop_speeds(system, given["velocity"], names)
    if isinstance(given["velocity"], Mapping):
        within = {joint.name for joint in loop_joints(system).values()}
        given = {**given, "velocity": {name: size for name, size in given["velocity"].items() if name not in within}}
    for kind in KINDS:
        default = np.array(defaults.get(kind, [np.inf] * len(names)))
        unit = tuple(units[kind][not turn] for turn in turns)
        found[kind] = Limit(kind, names, unit, sizes_of(kind, given[kind], names, default))
    plant, train = _motors(system, motors)
    return plant, TimingLimits(**found, **_motor_limits(train), drives=drives, joints=joints, of_drives=of_drives)


def _drive_limits(system: Any, drives: Limit, power: Any, motors: Any) -> DriveLimits:
    """Powers and motors of drives that are not the coordinates."""
    names = drives.names
    sizes = sizes_of("power", power, names, np.full(len(names), np.inf))
    train = None
    if motors is not False and motors is not None:
        train = driving_train(system, None if motors is True else _drive_train(motors), names)
    return DriveLimits(Limit("power", names, ("W",) * len(names), sizes), **_motor_limits(train))


def _loop_speeds(system: Any, given: Any, coordinates: tuple[str, ...]) -> Limit | None:
    """Speeds of joints within loops: those of the model, others by name; one number for all coordinates is not for them, but inf.

    Only those with a limit are told; None where there are none.
    """
    joints = list(loop_joints(system).values())
    names = tuple(joint.name for joint in joints)
    own = np.array([joint.limits.velocity for joint in joints])
    if isinstance(given, Mapping):
        of_all = numbers_by_name(
            "velocity", "joint", given, (*coordinates, *names), np.append(np.full(len(coordinates), 1.0), own)
        )
        own = of_all[len(coordinates) :]
    elif given is not None and np.ndim(given) == 0 and given == np.inf:
        own = np.full(len(joints), np.inf)
    kept = [k for k, size in enumerate(own) if size != np.inf]
    if not kept:
        return None
    units = tuple("rad/s" if joints[k].turns else "m/s" for k in kept)
    chosen = tuple(names[k] for k in kept)
    return Limit("velocity", chosen, units, sizes_of("velocity", own[kept], chosen, own[kept]))


def limits_of(coordinates: Sequence[Any]) -> list[JointLimits]:
    """The limits that the model has."""
    return [getattr(coordinate, "limits", _NONE) for coordinate in coordinates]


def _motors(system: Any, motors: Any) -> tuple[Any, DriveTrain | None]:
    if motors is False or motors is None:
        return system, None
    use = driven(system, None if motors is True else _drive_train(motors))
    return use.plant, use.train


def _drive_train(motors: Any) -> DriveTrain:
    if not isinstance(motors, DriveTrain):
        raise ModelError(
            f"motors: {checks.shown(motors)} found; True for the motors of the joints, or a DriveTrain, is expected."
        )
    return motors


def _motor_limits(train: DriveTrain | None) -> dict[str, Any]:
    """What bounds the motors; constants are asked for only where a limit needs them."""
    if train is None:
        return {}
    found: dict[str, Any] = {"train": train}
    for kind, unit, key in (
        ("current", "A", "current_limit"),
        ("voltage", "V", "voltage_limit"),
        ("speed", "rad/s", "speed_limit"),
    ):
        label = "motor speed" if kind == "speed" else kind
        found[kind] = Limit(label, train.names, (unit,) * len(train.names), train.column(key))
    return found


def sizes_of(kind: str, given: Any, names: tuple[str, ...], default: FloatArray) -> FloatArray:
    """One magnitude for each name."""
    if given is None:
        found = default
    elif isinstance(given, Mapping):
        found = numbers_by_name(kind, "joint", given, names, default)
    else:
        numbers = checks.numbers(kind, given)
        if numbers.shape not in ((), (len(names),)):
            raise ShapeError(
                f"{kind}: shape {numbers.shape} found, () or ({len(names)},) expected: one for all, or one for each joint."
            )
        found = np.broadcast_to(numbers, (len(names),))
    for name, value in zip(names, found, strict=True):
        if not value > 0:
            raise ModelError(
                f"{kind}: {name!r} has a limit of {value:g}; a magnitude above 0 is expected, inf where there is no limit."
            )
    return np.array(found, dtype=float)


__all__ = ["limits_of", "read_limits", "sizes_of"]
