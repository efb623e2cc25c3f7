"""Motors at work, and motions drawn: how to call these functions well, and what their options may be."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal

from . import verdicts as may
from .function_targets import COUNT, OPTIONS, Target
from .functions import robot
from .verdicts import Verdict

ARM = "two_link_planar"


def motor_targets() -> list[Target]:
    """The planar arm with the motors of the catalogue."""
    arm, state = robot(ARM), np.zeros(2)
    at: dict[str, Verdict] = {"system": may.never, "drive": may.optional(may.never), "threads": COUNT}
    at |= {"q": may.rows(2), "qd": may.rows(2), "qdd": may.rows(2)}
    good: dict[str, Any] = {"system": arm, "q": state, "qd": state, "qdd": state}
    course = {name: np.zeros((5, 2)) for name in ("q", "qd", "qdd")} | {"t": np.arange(5.0)}
    samples = dict.fromkeys(("q", "qd", "qdd", "t"), may.never) | {"qddd": may.optional(may.never)}
    motion = {"system": arm, "q0": state, "qd0": state, "voltage": state, "t_end": 0.01, "max_steps": 50}
    steps = (
        "rtol",
        "atol",
        "max_step",
        "max_steps",
        "t_start",
        "t_end",
        "t_eval",
        "inputs",
        "threads",
        "progress",
        "wrench_times",
        "parameters",
        "sample",
        "delay",
        "python",
        "events",
        "stops",
        "method",
        "dense",
    )
    electric = {name: OPTIONS[name] for name in steps} | {"system": may.never, "drive": may.optional(may.never)}
    electric |= {"voltage_times": may.optional(may.never), "voltage_between": may.anything, "inputs": may.empty_or(may.anything)}
    electric |= {"voltage": lambda value: None if callable(value) else may.rows(2)(value), "current": may.optional(may.rows(2))}
    electric |= {"wrenches": may.empty_or(may.never)}
    electric |= {"q0": may.rows(2), "qd0": may.rows(2), "t_end": may.positive}
    nominal = at | {"qddd": may.rows(2), "t": may.anything, "strict": may.flag}
    table = samples | {"system": may.never, "drive": may.optional(may.never), "motors": may.empty_or(may.never)}
    linear = at | {name: may.optional(may.rows(2)) for name in ("qd", "qdd")}
    shown = dal.simulate(arm, state, state, t_end=0.02)
    drawn = dict.fromkeys(("fps", "speed", "dpi", "system", "which", "view", "trace"), may.anything)
    drawn |= {"motion": may.never, "path": may.never, "frames": may.empty_or(may.never), "progress": may.optional(may.function)}
    return [
        Target("animate", dal.animate, {"motion": shown, "path": "swing.gif", "fps": 20.0, "dpi": 30}, drawn),
        Target("nominal_voltage", dal.nominal_voltage, good | {"qddd": state}, nominal),
        Target("motor_table", dal.motor_table, {"system": arm} | course, table),
        Target("linearize_motors", dal.linearize_motors, good, linear),
        Target("simulate_motors", dal.simulate_motors, motion, electric),
    ]
