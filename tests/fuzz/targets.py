"""Everything public with options: how to call it well, and what each of its options may be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal

from . import verdicts as may
from .functions import FUNCTIONS, Function, clean, keywords, robot
from .verdicts import Verdict

ARM = "two_link_planar"


class Target(NamedTuple):
    """A function, good values for all it needs, and verdicts for what may be put in their place."""

    name: str
    call: Callable[..., Any]
    good: dict[str, Any]
    options: dict[str, Verdict]


_COUNT = may.optional(may.count(1))
_OPTIONS: dict[str, Verdict] = {
    "system": may.never,
    "threads": _COUNT,
    "out": may.optional(may.place),
    "formulation": may.never,
    "wrenches": may.empty_or(may.never),
    "base_velocity": may.optional(may.rows(6)),
    "base_acceleration": may.optional(may.rows(6)),
    "parameters": may.optional(may.never),
    "point": may.optional(may.rows(3)),
    "frame": may.never,
    "angles": may.never,
    "kind": may.never,
    "order": may.among((1, 2, 3)),
    "link": may.empty_or(may.never),
    "springs": may.empty_or(may.never),
    "dampers": may.empty_or(may.never),
    "gravity": may.flag,
    "rotor": may.flag,
    "friction": may.flag,
    "offset": may.flag,
    "names": may.empty_or(may.never),
    "dt": may.positive,
    "steps": may.anything,
    "method": may.never,
    "every": may.anything,
    "t_start": may.number,
    "t_end": may.optional(may.positive),
    "t_eval": may.empty_or(may.array(-1)),
    "tau_times": may.optional(may.never),
    "tau_between": may.never,
    "rtol": may.positive,
    "atol": may.number,
    "max_step": may.positive_or_infinity,
    "first_step": may.optional(may.positive),
    "max_steps": may.count(1),
    "dense": may.flag,
    "progress": may.optional(may.function),
}


_UNUSED: dict[str, Verdict] = {"qdd": may.anything, "tau": may.anything}  # what nobody asked for needs no inputs


def _of_function(function: Function) -> Target:
    rng = np.random.default_rng(1)
    arrays = keywords({name: clean(rng, ARM, name, ()) for name in function.arrays})
    names = ("system", *arrays, *function.options, *function.further, *(["out"] if function.takes_out else []))
    good = {"system": robot(ARM)} | arrays | function.fixed
    table = _OPTIONS | (_UNUSED if function.name == "evaluate" else {})
    return Target(function.name, function.call, good, {name: table.get(name, _array) for name in names})


def _array(value: Any) -> bool | None:
    """No value of the table has the right shape; some functions do without one array or the other, or take a function."""
    return None if value is None or callable(value) else False


def _functions() -> list[Target]:
    return [_of_function(function) for function in FUNCTIONS.values()]


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
            {"out": may.optional(may.place), "threads": _COUNT},
        ),
        Target(
            "compare", partial(dal.compare, time=False), arm | {"samples": 2}, {"system": may.never, "time": may.flag} | samples
        ),
        Target("complexity", dal.complexity, arm, {"system": may.count(1)}),
        Target("properties", dal.properties, arm | {"samples": 5}, {"system": may.never, "threads": _COUNT} | samples),
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
        Target("save", dal.save, {"robot": robot(ARM), "path": "arm.toml"}, {"robot": may.never, "path": may.never}),
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
    return (*_functions(), *_others(), *_parts())
