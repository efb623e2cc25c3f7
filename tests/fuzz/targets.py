"""Everything public with options: how to call it well, and what each of its options may be."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

import dalembert as dal

from . import verdicts as may
from .function_targets import ARM, COUNT, Target, of_function
from .functions import FUNCTIONS, robot
from .linear_targets import linear_targets
from .mechanism_targets import mechanism_targets
from .motor_targets import motor_targets
from .task_targets import task_targets
from .timing_targets import timing_targets
from .verdicts import Verdict


def _others() -> list[Target]:
    arm, state = {"system": robot(ARM)}, np.zeros(2)
    samples = {"samples": may.count(1), "rng": may.optional(may.anything)}
    export = dict.fromkeys(("quantity", "language", "dtype"), may.never) | {"formulation": may.optional(may.never)}
    export |= {"link": may.empty_or(may.never), "frame": may.optional(may.never), "angles": may.optional(may.never)}
    export |= {"name": may.optional(may.text), "moving_base": may.optional(may.flag), "parameters": may.optional(may.flag)}
    export |= {"path": may.anything, "wrenches": may.empty_or(may.never), "symbols": may.empty_or(may.never)}
    columns = dict.fromkeys(("rotor", "friction", "offset"), may.flag)
    quick = {"samples": 20, "tolerance": 0.5}
    return [
        Target("parameters", dal.parameters, arm, {"system": may.never} | columns),
        Target("parameter_names", dal.parameter_names, arm, {"system": may.never} | columns),
        Target("inside", dal.inside, arm, {"system": may.never}),
        Target("progressive", dal.progressive, {"robot": robot(ARM)}, {"robot": may.never}),
        Target(
            "kernel",
            dal.kernel,
            {"source": robot(ARM), "what": ("M",)},
            {
                "source": may.never,
                "what": may.never,
                "outputs": may.anything,
                "dtype": may.never,
                "fixed": may.empty_or(may.never),
            },
        ),
        Target(
            "Kernel.__call__",
            partial(dal.kernel(robot(ARM), ["M"]), state),
            {},
            {"out": may.optional(may.place), "threads": COUNT},
        ),
        Target(
            "compare", partial(dal.compare, time=False), arm | {"samples": 2}, {"system": may.never, "time": may.flag} | samples
        ),
        Target("complexity", dal.complexity, arm, {"system": may.count(1)}),
        Target(
            "properties",
            dal.properties,
            arm | {"samples": 5},
            {"system": may.never, "threads": COUNT, "proved": may.flag, "seconds": may.positive_or_infinity} | samples,
        ),
        Target(
            "bounds",
            dal.bounds,
            arm | {"seconds": 1.0},
            dict.fromkeys(("q", "qd", "qdd", "tau", "payload"), may.anything)
            | {
                "system": may.never,
                "quantity": may.never,
                "which": may.anything,
                "rtol": may.positive_or_infinity,
                "seconds": may.positive_or_infinity,
                "progress": may.optional(may.function),
            },
        ),
        Target(
            "simplify_model",
            dal.simplify_model,
            arm | quick,
            {
                "system": may.never,
                "tolerance": may.number,
                "form": may.never,
                "trajectory": may.optional(may.never),
                "workspace": may.optional(may.never),
                "samples": may.count(1),
                "rng": may.optional(may.anything),
                "proved": may.flag,
                "seconds": may.positive_or_infinity,
            },
        ),
        Target(
            "equations",
            dal.equations,
            arm | {"quantity": "g"},
            {
                "system": may.never,
                "quantity": may.empty_or(may.never),
                "symbols": may.empty_or(may.never),
                "form": may.optional(may.never),
                "progress": may.optional(may.function),
            },
        ),
        Target("export_code", dal.export_code, arm, {"system": may.never} | export),
        Target("load", dal.load, {"source": ARM}, {"source": may.never, "strict": may.flag}),
        Target("save", dal.save, {"system": robot(ARM), "path": "arm.toml"}, {"system": may.never, "path": may.never}),
        Target(
            "attach",
            dal.attach,
            {"robot": robot(ARM), "part": dal.Body("box", 1.0)},
            {"robot": may.never, "part": may.never, "joint": may.optional(may.never), "parent": may.optional(may.never)},
        ),
        Target(
            "detach",
            dal.detach,
            {"robot": dal.attach(robot(ARM), dal.Body("box", 1.0)), "name": "box"},
            {"robot": may.never, "name": may.never},
        ),
    ]


_PART_FIELDS: dict[str, Verdict] = {
    "name": may.text,
    "mass": may.number,
    "com": may.array(3),
    "inertia": may.array(3, 3),
}
_POSE = may.array(4, 4)


def _numbers(*names: str) -> dict[str, Verdict]:
    return dict.fromkeys(names, may.number)


def _parts() -> list[Target]:
    joint = {"name": "j", "type": "revolute", "parent": "a", "child": "b"}
    rows = [{"a": 1.0, "mass": 1.0}]
    dh = {"rows": rows, "convention": "standard"}
    arm = robot(ARM)
    friction = _numbers("viscous", "coulomb", "stribeck_velocity", "width")
    friction |= {name: may.optional(may.number) for name in ("coulomb_negative", "breakaway")}
    return [
        Target("Body", dal.Body, {"name": "a"}, _PART_FIELDS),
        Target("Link", dal.Link, {"name": "a"}, _PART_FIELDS | {"bodies": may.empty_or(may.never), "virtual": may.flag}),
        Target(
            "Joint",
            dal.Joint,
            joint,
            dict.fromkeys(("name", "parent", "child"), may.text)
            | {
                "type": may.never,
                "origin": _POSE,
                "child_origin": _POSE,
                "axis": may.array(3),
                "home": may.number,
                "limits": may.never,
                "mimic": may.optional(may.never),
            },
        ),
        Target("Limits", dal.Limits, {}, dict.fromkeys(("lower", "upper", "velocity", "effort"), may.number_or_infinity)),
        Target("Mimic", dal.Mimic, {"joint": "j"}, {"joint": may.text} | _numbers("multiplier", "offset")),
        Target(
            "Rotor",
            dal.Rotor,
            {"inertia": 1.0, "model": "full"},
            _numbers("inertia", "ratio", "mass", "transverse_inertia")
            | {"model": may.never, "position": may.array(3), "axis": may.array(3), "mount": may.optional(may.text)},
        ),
        Target("Friction", dal.Friction, {"viscous": 1.0, "coulomb": 1.0, "stribeck_velocity": 0.1}, friction),
        Target("Tool", dal.Tool, {"link": "a"}, {"link": may.text, "pose": _POSE}),
        Target(
            "Spring",
            dal.Spring,
            {"stiffness": 1.0, "joint": "j"},
            _numbers("stiffness", "rest") | {"joint": may.text, "between": may.optional(may.never)},
        ),
        Target(
            "Damper",
            dal.Damper,
            {"coefficient": 1.0, "joint": "j"},
            {"coefficient": may.number, "joint": may.text, "between": may.optional(may.never)},
        ),
        Target(
            "from_dh",
            dal.from_dh,
            dh,
            {
                "rows": may.never,
                "convention": may.never,
                "name": may.text,
                "gravity": may.array(3),
                "tool": may.optional(_POSE),
                "payload": may.optional(may.never),
                "base": may.optional(_POSE),
                "strict": may.flag,
            },
        ),
        Target(
            "from_dh row",
            _one_row,
            {},
            dict.fromkeys(("theta", "d", "a", "alpha", "home", "mass"), may.optional(may.number))
            | {
                "type": may.optional(may.never),
                "name": may.optional(may.text),
                "link": may.optional(may.text),
                "com": may.optional(may.array(3)),
                "friction": may.optional(may.never),
                "rotor": may.optional(may.never),
                "limits": may.optional(may.never),
                "bodies": may.empty_or(may.never),
            },
        ),
        Target(
            "Robot.from_parts",
            dal.Robot.from_parts,
            {
                "name": "r",
                "links": [dal.Link("a"), dal.Link("b", 1.0, (0.1, 0.0, 0.0))],
                "joints": [dal.Joint("j", "revolute", "a", "b")],
            },
            {
                "name": may.text,
                "links": may.never,
                "joints": may.never,
                "friction": may.empty_or(may.never),
                "rotors": may.empty_or(may.never),
                "gravity": may.array(3),
                "tool": may.optional(may.never),
                "payload": may.optional(may.never),
                "strict": may.flag,
            },
        ),
        Target("Robot.with_gravity", arm.with_gravity, {}, {"gravity": may.array(3)}),
        Target(
            "Robot.with_payload",
            arm.with_payload,
            {"mass": 1.0},
            {"mass": may.number, "com": may.array(3), "inertia": may.optional(may.array(3, 3))},
        ),
        Target("Robot.with_tool", arm.with_tool, {"pose": np.eye(4)}, {"pose": _POSE, "link": may.optional(may.never)}),
        Target("Robot.link", arm.link, {"name": arm.link_names[0]}, {"name": may.never}),
    ]


def _one_row(**columns: Any) -> dal.Robot:
    return dal.from_dh([{"a": 1.0, "mass": 1.0} | columns], convention="standard")


@cache
def targets() -> tuple[Target, ...]:
    """All of them."""
    functions = [of_function(function, ARM) for function in FUNCTIONS.values() if not function.closed]
    further = (*mechanism_targets(), *task_targets(), *motor_targets(), *timing_targets(), *linear_targets())
    return (*functions, *_others(), *_parts(), *further)
