"""What is public for mechanisms, with options: how to call it well, and what each of its options may be."""

from __future__ import annotations

import dalembert as dal

from . import verdicts as may
from .function_targets import COUNT, Target, of_function
from .functions import AT_POSITIONS, FUNCTIONS, robot
from .verdicts import Verdict

MECHANISM = "crank_rocker"
_MOTION = ("q", "qd", "qdd")
_ASKED = (
    *("inverse_dynamics", "forward_dynamics", "friction_torque", "link_wrenches", "jacobian", "applied_torque", "evaluate"),
    *("rollout", "simulate"),
)
"""Functions of robots that mechanisms answer in their own way, by options."""
_NONE_OR_EMPTY = may.empty_or(may.never)


def mechanism_targets() -> list[Target]:
    """All of them."""
    return [*_functions(), *_methods(), *_models(), *_elsewhere(), *_parts(), *_loads()]


def _functions() -> list[Target]:
    asked = [of_function(FUNCTIONS[name], MECHANISM) for name in (*_ASKED, "constraint_forces")]
    frame = {"q": robot(MECHANISM).q0}  # which friction of a mechanism needs
    return [target._replace(good=target.good | (frame if target.name == "friction_torque" else {})) for target in asked]


def _methods() -> list[Target]:
    """Positions of a mechanism."""
    shown = robot(MECHANISM)
    rows = {"near": may.empty_or(may.rows(shown.robot.n)), "x": may.rows(shown.robot.n)}  # None asks for the seed, or for x
    near = {"system": shown, "q": shown.q0, "near": shown.seed}
    return [
        Target(
            "Mechanism.assemble",
            shown.assemble,
            {"q": [shown.q0]},
            {"q": may.rows(1), "near": rows["near"], "continuous": may.flag, "threads": COUNT},
        ),
        Target("Mechanism.residual", shown.residual, {"x": shown.seed}, {"x": rows["x"]}),
        Target("Mechanism.at", shown.at, {}, {"x": may.empty_or(rows["x"]), "near": may.empty_or(rows["x"])}),
        Target("at near", AT_POSITIONS["at near"], near, {"near": rows["near"], "q": may.rows(1), "threads": COUNT}),
        Target(
            "mobility",
            dal.mobility,
            {"system": shown},
            {
                "system": may.never,
                "closures": _NONE_OR_EMPTY,
                "q": may.optional(may.rows(1)),
                "x": may.optional(may.never),
                "guess": may.optional(may.rows(3)),
                "coordinates": _NONE_OR_EMPTY,
                "actuated": _NONE_OR_EMPTY,
            },
        ),
    ]


def _models() -> list[Target]:
    """Mechanisms, and the robots they are made of."""
    shown = robot(MECHANISM)
    return [
        Target(
            "Mechanism",
            dal.Mechanism,
            {
                "name": "m",
                "robot": shown.robot,
                "closures": shown.closures,
                "coordinates": ("joint1",),
                "guess": shown.guess,
            },
            {
                "name": may.text,
                "robot": may.never,
                "closures": may.never,
                "coordinates": may.never,
                "guess": may.empty_or(may.array(3)),
                "springs": _NONE_OR_EMPTY,
                "dampers": _NONE_OR_EMPTY,
                "actuated": _NONE_OR_EMPTY,
                "strict": may.flag,
            },
        ),
        Target(
            "free_body",
            dal.free_body,
            {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)},
            {
                "mass": may.number,
                "com": may.array(3),
                "inertia": lambda value: None if may.array(3)(value) is None else may.optional(may.array(3, 3))(value),
                "planar": may.flag,
                "name": may.text,
            },
        ),
        Target(
            "gather",
            dal.gather,
            {"name": "pair", "parts": {"a": robot("pendulum"), "b": robot("pendulum")}},
            {"name": may.text, "parts": may.never, "poses": _NONE_OR_EMPTY, "gravity": may.array(3)},
        ),
        Target("point_of", dal.point_of, {"link": "a"}, {"link": may.text, "point": may.array(3), "axes": may.never}),
        Target("pose_of", dal.pose_of, {"link": "a"}, {"link": may.text, "point": may.array(3)}),
    ]


def _elsewhere() -> list[Target]:
    """Functions of robots that are no dynamics, asked of a mechanism."""
    shown = robot(MECHANISM)
    system = {"system": shown}
    return [
        Target("load", dal.load, {"source": MECHANISM}, {"source": may.never, "strict": may.flag}),
        Target("save", dal.save, {"system": shown, "path": "m.toml"}, {"system": may.never, "path": may.never}),
        Target("save", dal.save, {"system": shown, "path": "m.urdf"}, {"system": may.never, "path": may.never}),
        Target(
            "kernel",
            dal.kernel,
            {"source": shown, "what": ("M",)},
            {"source": may.never, "what": may.never, "outputs": may.anything, "dtype": may.never, "fixed": _NONE_OR_EMPTY},
        ),
        Target(
            "export_code",
            dal.export_code,
            system,
            dict.fromkeys(("quantity", "language", "dtype"), may.never)
            | {"name": may.optional(may.text), "parameters": may.optional(may.flag), "wrenches": _NONE_OR_EMPTY},
        ),
    ]


def _parts() -> list[Target]:
    """Closures and coordinates."""
    ends = ("a", "world")
    lists = {"directions": _NONE_OR_EMPTY, "functions": _NONE_OR_EMPTY}
    numbers: dict[str, Verdict] = {"length": may.anything, "pitch": may.anything, "ratio": may.anything, "offset": may.number}
    common = {"name": may.text, "type": may.never, "between": may.never, "axis": may.optional(may.array(3))} | numbers | lists
    return [
        Target("Closure", dal.Closure, {"name": "c", "type": "revolute", "between": ends}, common),
        Target(
            "Closure", dal.Closure, {"name": "c", "type": "screw", "between": ends, "pitch": 0.1}, common | {"pitch": may.number}
        ),
        Target(
            "Closure",
            dal.Closure,
            {"name": "c", "type": "distance", "between": ends, "length": 0.1},
            common | {"length": may.positive},
        ),
        Target(
            "Closure",
            dal.Closure,
            {"name": "c", "type": "gear", "between": ("a", "b"), "ratio": 2.0},
            common | {"ratio": may.number, "axis": may.optional(may.anything)},
        ),
        Target(
            "Closure",
            dal.Closure,
            {"name": "c", "type": "directions", "between": ends, "directions": ("x",)},
            common | {"directions": may.never},
        ),
        Target(
            "Chosen",
            dal.Chosen,
            {"name": "c", "function": robot(MECHANISM).coordinates[0].function},
            {"name": may.text, "function": may.never, "turns": may.flag, "limits": may.never},
        ),
    ]


def _loads() -> list[Target]:
    """Sharing a load, by a four-bar of two drives."""
    shared = dal.mechanisms.four_bar().replace(actuated=("joint1", "joint3"))
    options = {
        "mechanism": may.never,
        "objective": may.never,
        "weights": may.empty_or(may.rows(2)),
        "limits": lambda value: None if may.number_or_infinity(value) is None else may.empty_or(may.rows(2))(value),
        "contacts": may.empty_or(may.never),
        "internal": may.empty_or(may.never),
        "t": lambda value: None if value is None or isinstance(value, float) else may.optional(may.number)(value),  # for messages
        "wrenches": may.empty_or(may.never),
        "threads": COUNT,
    }
    good = {"mechanism": shared, "q": [1.2], "qd": [1.5], "qdd": [-0.7]}
    held = {"closure": may.text, "direction": may.array(3), "value": may.anything, "moment": may.flag, "axes": may.never}
    return [
        Target("distribute_load", dal.distribute_load, good, options | dict.fromkeys(("q", "qd", "qdd"), may.rows(1))),
        Target(
            "Contact",
            dal.Contact,
            {"normal": (0, 0, 1)},
            {"normal": may.array(3), "friction": may.optional(may.positive), "axes": may.never, "least_normal": may.number},
        ),
        Target("HeldForce", dal.HeldForce, {"closure": "pin", "direction": (0, 0, 1), "value": 1.0}, held),
        Target(
            "Squeeze",
            dal.Squeeze,
            {"first": "a", "second": "b", "value": 1.0},
            {"first": may.text, "second": may.text, "value": may.anything},
        ),
    ]
