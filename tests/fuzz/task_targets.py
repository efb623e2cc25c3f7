"""Tasks and what drives can do for them: how to call these functions well, and what their options may be."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal

from . import verdicts as may
from .function_targets import ARM, COUNT, Target
from .functions import robot
from .verdicts import Verdict

_REACH = {"directions": ("x", "y"), "attempts": 2}


def _search() -> dict[str, Verdict]:
    """Options of inverse kinematics; what it finds is told, and never an error."""
    found: dict[str, Verdict] = {"system": may.never, "pose": may.anything, "q0": may.optional(may.rows(2))}
    found |= {"link": may.optional(may.never), "frame": may.never, "directions": may.optional(may.never)}
    found |= {
        "limits": may.flag,
        "secondary": may.optional(may.never),
        "seeds": may.count(1),
        "continuous": may.anything,
        "jump": may.optional(may.never),
        "tolerance": may.anything,
    }
    found |= {"attempts": may.count(1), "length": may.optional(may.positive), "rng": may.optional(may.anything)}
    return found | {"threads": COUNT}


def _closed() -> dict[str, Verdict]:
    """Options of closed forms."""
    found: dict[str, Verdict] = {"system": may.never, "pose": may.anything, "link": may.optional(may.never)}
    return found | {"near": may.optional(may.rows(2)), "limits": may.flag, "threads": COUNT}


def task_targets() -> list[Target]:
    """Tasks of the planar arm, and what its drives can do."""
    arm = robot(ARM)
    at: dict[str, Verdict] = {
        "system": may.never,
        "q": may.rows(2),
        "qd": may.optional(may.rows(2)),
        "link": may.optional(may.never),
        "point": may.optional(may.rows(3)),
        "frame": may.never,
        "directions": may.never,
    }
    task = at | {"angles": may.optional(may.never), "coriolis": may.anything, "damping": may.optional(may.positive)}
    task |= {"out": may.optional(may.never), "threads": COUNT}
    several = {name: at[name] for name in ("system", "q", "qd")} | {"tasks": may.never, "damping": may.optional(may.positive)}
    ability = at | {"kind": may.never, "strength": may.rows(2)}
    good: dict[str, Any] = {"system": arm, "q": [0.3, 0.9]}
    xy = good | {"directions": ("x", "y")}
    pair = good | {"tasks": [{"directions": ("x",)}, {"directions": ("y",)}]}
    ability_out = {"out": may.optional(may.never)}
    ellipsoid = ability | ability_out | {"length": may.optional(may.never), "least_norm": may.flag, "threads": COUNT}
    polytope = ability | {"with_weight": lambda value: None if isinstance(value, (bool, np.bool_)) else False}
    return [
        Target("operational_space", dal.operational_space, xy, task),
        Target("prioritised_tasks", dal.prioritised_tasks, pair, several | {"threads": COUNT}),
        Target("manipulability", dal.manipulability, xy, ellipsoid),
        Target("inverse_branches", dal.inverse_branches, {"system": arm, "pose": np.eye(4)}, _closed()),
        Target("inverse_kinematics", dal.inverse_kinematics, {"system": arm, "pose": np.eye(4)} | _REACH, _search()),
        Target("manipulability_polytope", dal.manipulability_polytope, xy | {"strength": "unit"}, polytope),
    ]
