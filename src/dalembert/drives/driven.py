"""Which motors drive a system: those of its joints, or a drive train that is given; and the system with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.system import AnySystem, Request, solves
from ..errors import ModelError, Part
from ..model import DriveTrain, Robot
from ..model.drive_trains import diagonal_train
from ..model.motors import ratio_of
from ..wording import listed
from .driven_system import DrivenSystem


class Driven(NamedTuple):
    """A system that has the inertia of its motors in it, and these motors."""

    plant: Any
    train: DriveTrain


def driven(system: AnySystem, drive: DriveTrain | None) -> Driven:
    """The motors of a system, and the system with what they add."""
    view = engine.system_of(system)
    names = [coordinate.name for coordinate in view.coordinates]
    engine.size(system)
    if drive is None:
        return Driven(system, _of_joints(system, names))
    train = checks.instance("drive", drive, DriveTrain)
    if list(train.coordinates) != names:
        raise ModelError(
            f"drive: coordinates {listed(train.coordinates)} found, but {system.name!r} has {listed(names)}, in this order."
        )
    if not (train.inertia.any() or train.damping.any()):
        return Driven(system, train)
    _refuse_inertia_twice(system, train)
    if solves(view):
        _refuse_inertia_of_loops(system)
    known: dict[Any, DrivenSystem] = engine.kept(system, Request("driven", ()), dict)
    return Driven(known.setdefault(train, DrivenSystem(view, train)), train)


def driving_train(system: Any, drive: DriveTrain | None, names: tuple[str, ...]) -> DriveTrain:
    """The motors of the driven joints of a mechanism, by names; their inertia is that of the rotors of these joints."""
    if drive is None:
        return _of_joints(system, list(names))
    if drive.coordinates != names:
        raise ModelError(
            f"drive: coordinates {listed(drive.coordinates)} found, but {system.name!r} is driven at {listed(names)}, in this "
            "order."
        )
    if drive.inertia.any() or drive.damping.any():
        _refuse_inertia_of_loops(system)
    return drive


def _refuse_inertia_of_loops(system: Any) -> None:
    raise ModelError(
        f"drive: inertia or damping of motors found, but {system.name!r} solves for its positions. Give the joints of its tree "
        "Rotors and Friction, and the drive train added=False."
    )


def _tree_robot(system: Any) -> Robot | None:
    """The robot that has the joints: the system itself, or the tree of a mechanism."""
    found = system if isinstance(system, Robot) else getattr(system, "robot", None)
    return found if isinstance(found, Robot) else None


def _of_joints(system: Any, names: list[str]) -> DriveTrain:
    robot = _tree_robot(system)
    motors = {} if robot is None else dict(robot.parameters.motors)
    missing = [name for name in names if name not in motors]
    if missing:
        raise ModelError(
            f"joint {missing[0]!r}: no motor found, but all of {listed(names)} need one here. Give "
            "robot.with_motors({...}), or drive=DriveTrain(...).",
            part=Part("joint", missing[0]),
        )
    idle = [name for name in motors if name not in names]
    if idle:
        raise ModelError(
            f"joint {idle[0]!r}: it has a motor, but is none of the coordinates {listed(names)}, so that its motor would not "
            "act. Choose driven joints as coordinates, or give drive=DriveTrain(...).",
            part=Part("joint", idle[0]),
        )
    assert robot is not None
    ratios = {name: ratio_of(motors[name], robot.parameters.rotors.get(name)) for name in names}
    return diagonal_train({name: motors[name] for name in names}, ratios)


def _refuse_inertia_twice(system: Any, train: DriveTrain) -> None:
    robot = _tree_robot(system)
    rotors = (
        {}
        if robot is None
        else {name: r for name, r in robot.parameters.rotors.items() if r.inertia and name in train.coordinates}
    )
    if rotors and train.inertia.any():
        raise ModelError(
            f"drive: its motors have inertia, and so have the rotors of {listed(rotors)}: one of the two would count twice. Give "
            "added=False if the rotors are those of the motors."
        )


def gear_gain(train: DriveTrain, torque: FloatArray, speed: FloatArray) -> FloatArray:
    """Torque of the motor for one that arrives: more where it drives through a gear with losses, less where it is driven."""
    eta = train.column("efficiency")
    power = torque * speed
    return np.where(power > 0, 1.0 / eta, np.where(power < 0, eta, 1.0))


def friction_jumps(system: Any, qd: FloatArray) -> dict[str, list[int]]:
    """Joints of a robot whose dry friction jumps along a motion (..., K, n), with the samples before which it does."""
    view = engine.system_of(system)
    if qd.ndim < 2 or solves(view) or not hasattr(view, "tree"):
        return {}
    found = {}
    for segment in view.tree.segments:
        law = segment.friction
        if law is not None and law.dry and not law.smooth and segment.coordinate < qd.shape[-1]:
            speed = qd[..., segment.coordinate]
            turns = np.flatnonzero((speed[..., 1:] * speed[..., :-1] < 0).reshape(-1, speed.shape[-1] - 1).any(0))
            if turns.size:
                found[segment.name] = [int(k) + 1 for k in turns]
    return found


__all__ = ["Driven", "driven", "driving_train", "friction_jumps", "gear_gain"]
