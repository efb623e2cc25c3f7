"""A SCARA arm of the Adept Cobra 600's size."""

from __future__ import annotations

from functools import cache
from math import pi, radians
from typing import Any

from ..model import Limits, Robot
from ..model.dh import from_dh
from ._shapes import box, cylinder

# Standard DH and strokes [AdeptCobra600]: reach 0.325 + 0.275 m, quill stroke 0.21 m; z3 points down, along the quill.
_HEIGHT, _INNER, _OUTER, _STROKE = 0.387, 0.325, 0.275, 0.21

# Link masses are not published. These are chosen here, solid boxes and rods of plausible size: good for examples and tests, not
# for the machine.
_BODIES: tuple[dict[str, Any], ...] = (
    {"mass": 10.0, "com": (-_INNER / 2, 0, 0), "inertia": box(10.0, 0.42, 0.14, 0.12)},
    {"mass": 9.0, "com": (-_OUTER / 2, 0, 0), "inertia": box(9.0, 0.38, 0.14, 0.12)},
    {"mass": 1.5, "com": (0, 0, -0.15), "inertia": cylinder(1.5, 0.01, 0.4, "z")},
    {"mass": 0.5, "com": (0, 0, -0.02), "inertia": cylinder(0.5, 0.03, 0.04, "z")},
)


@cache
def scara() -> Robot:
    """A SCARA: two revolute joints, a vertical quill and its rotation (RRPR), standard DH, prismatic joint pointing down.

    Dimensions of the Adept Cobra 600 [AdeptCobra600]; its masses are not published, so those here are an illustration.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.robots.scara(), [0.0, 0.0, 0.1, 0.0]).round(2)
    array([  0.  ,   0.  , -19.62,   0.  ])
    """
    geometry: tuple[dict[str, Any], ...] = (
        {"d": _HEIGHT, "a": _INNER, "limits": Limits(-radians(50), radians(50))},
        {"a": _OUTER, "alpha": pi, "limits": Limits(-radians(88), radians(88))},
        {"type": "prismatic", "limits": Limits(0.0, _STROKE)},
        {"limits": Limits(-pi, pi)},
    )
    rows = [{**place, **body} for place, body in zip(geometry, _BODIES, strict=True)]
    return from_dh(rows, convention="standard", name="scara")
