"""Timing along paths: how to call these functions well, and what their options may be."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal

from . import verdicts as may
from .function_targets import COUNT, Target
from .functions import robot
from .verdicts import Verdict

ARM = "two_link_planar"


def timing_targets() -> list[Target]:
    """The planar arm on a short path."""
    limits: dict[str, Verdict] = dict.fromkeys(
        ("torque", "velocity", "acceleration", "power", "jerk", "torque_rate"), may.anything
    )
    grip: dict[str, Verdict] = dict.fromkeys(("contacts", "internal"), may.empty_or(may.never))
    fastest = limits | grip
    fastest |= {
        "system": may.never,
        "path": may.anything,
        "motors": may.anything,
        "end_speeds": may.anything,
        "intervals": may.anything,
        "threads": COUNT,
    }
    good: dict[str, Any] = {"system": robot(ARM), "path": np.array([[0.0, 0.0], [0.5, 0.3], [1.0, 0.0]]), "torque": 1e4}
    scaled = dict.fromkeys(("torque", "velocity", "law", "samples", "factor"), may.anything)
    scaled |= grip | {"system": may.never, "motion": may.never, "threads": COUNT}
    motion = dal.trajectory.quintic([0.0, 0.0], [1.0, 0.5], duration=1.0)
    return [
        Target(
            "scale_trajectory",
            dal.scale_trajectory,
            {"system": robot(ARM), "motion": motion, "torque": 1e4, "samples": 20},
            scaled,
        ),
        Target("fastest_timing", dal.fastest_timing, good | {"intervals": 20}, fastest),
        Target("fastest_timing", dal.fastest_timing, good | {"intervals": 20, "jerk": 100.0, "torque_rate": 1e5}, fastest),
    ]
