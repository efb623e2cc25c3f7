"""Functions of a robot or mechanism as targets of the options campaign: good arguments, and what each option may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import verdicts as may
from .functions import Function, clean, keywords, robot
from .verdicts import Verdict

ARM = "two_link_planar"


class Target(NamedTuple):
    """A function, good values for all it needs, and verdicts for what may be put in their place."""

    name: str
    call: Callable[..., Any]
    good: dict[str, Any]
    options: dict[str, Verdict]


COUNT = may.optional(may.count(1))
OPTIONS: dict[str, Verdict] = {
    "system": may.never,
    "threads": COUNT,
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
    "inputs": may.empty_or(may.never),  # for a torque that is a function
    "signals": may.empty_or(may.never),
    "states": may.empty_or(may.never),
    "rates": may.optional(may.never),  # without states
    "tau_between": may.never,
    "rtol": may.positive,
    "atol": may.number,
    "max_step": may.positive_or_infinity,
    "first_step": may.optional(may.positive),
    "max_steps": may.count(1),
    "dense": may.flag,
    "progress": may.optional(may.function),
    "wrench_times": may.optional(may.never),  # without wrenches
    "saturate": may.anything,
    "sample": may.optional(may.never),  # for a torque that is a function
    "delay": may.zero,  # without samples
    "python": may.no,
    "events": may.empty_or(may.never),
    "stops": may.empty_or(may.number),
}


_UNUSED: dict[str, Verdict] = {"qdd": may.anything, "tau": may.anything}  # what nobody asked for needs no inputs


def of_function(function: Function, name: str) -> Target:
    """A function of the table, asked of this robot or mechanism."""
    rng = np.random.default_rng(1)
    arrays = keywords({array: clean(rng, name, array, ()) for array in function.arrays})
    names = ("system", *arrays, *function.options, *function.further, *(["out"] if function.takes_out else []))
    good = {"system": robot(name)} | arrays | function.fixed
    table = OPTIONS | (_UNUSED if function.name == "evaluate" else {}) | (_of_rows(robot(name).n) if robot(name).n == 1 else {})
    return Target(function.name, function.call, good, {option: table.get(option, _array) for option in names})


def _of_rows(n: int) -> dict[str, Verdict]:
    """With one coordinate, values of the table have the shape of a motion."""
    motion = ("q", "qd", "qdd", "q0", "qd0", "tau", "qddd")
    return dict.fromkeys(motion, lambda value: _array(value) if value is None or callable(value) else may.rows(n)(value))


def _array(value: Any) -> bool | None:
    """No value of the table has the right shape; some functions do without one array or the other, or take a function."""
    return None if value is None or callable(value) else False
