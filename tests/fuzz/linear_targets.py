"""Linear models and equilibria: how to call these functions well, and what their options may be."""

from __future__ import annotations

from typing import Any

import dalembert as dal

from . import verdicts as may
from .function_targets import ARM, COUNT, Target
from .functions import robot
from .verdicts import Verdict


def linear_targets() -> list[Target]:
    """Linear models of the planar arm, and what holds it."""
    state = may.rows(2)
    loads: dict[str, Verdict] = {"loads": may.anything, "wrenches": may.empty_or(may.never)}
    # One number stands for all coordinates, and of q, tau and near one or two are needed.
    model = {"system": may.never, "q": state} | dict.fromkeys(("qd", "qdd", "tau"), may.anything)
    model |= loads | {"outputs": may.anything, "threads": COUNT}
    held = {"system": may.never} | dict.fromkeys(("q", "tau", "near"), may.anything) | loads
    good: dict[str, Any] = {"system": robot(ARM), "q": [0.3, 0.9]}
    return [Target("linearize", dal.linearize, good, model), Target("equilibrium", dal.equilibrium, good, held)]
