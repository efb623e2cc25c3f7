"""How strong drives are taken to be: as the model says, as numbers say, or all alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import ModelError, ShapeError
from ..wording import shown
from .ellipsoid_recipe import VELOCITY

FIELDS = {True: ("velocity", "rad/s", "m/s"), False: ("effort", "N m", "N")}


def drive_strength(system: AnySystem, given: Any, kind: str, subject: str = "strength") -> FloatArray:
    """The weight of each coordinate: 'unit', 'limits', or numbers of shape (n,)."""
    n = engine.size(system)
    if isinstance(given, str):
        if given == "unit":
            return np.ones(n)
        if given != "limits":
            raise ModelError(f"{subject}: {shown(given)} found; 'unit', 'limits' or {n} numbers expected.")
        return _limits(system, kind)
    found = real(subject, given, f"({n},)")
    if found.shape != (n,):
        raise ShapeError(f"{subject}: shape {found.shape} found, ({n},) expected: one for each coordinate of {system.name!r}.")
    if not (np.isfinite(found).all() and (found > 0.0).all()):
        raise ModelError(f"{subject}: {shown(found.tolist())} found; finite numbers above zero expected.")
    return found


def _limits(system: AnySystem, kind: str) -> FloatArray:
    """The limits of the model; a joint without one is named."""
    field, turning, sliding = FIELDS[kind == VELOCITY]
    found = []
    for joint in engine.system_of(system).coordinates:
        limits = getattr(joint, "limits", None)
        value = float("inf") if limits is None else float(getattr(limits, field))
        if not np.isfinite(value) or value == 0.0:
            what = "none" if not np.isfinite(value) else "zero"
            unit = turning if getattr(joint, "turns", True) else sliding
            raise ModelError(
                f"strength: joint {joint.name!r} of {system.name!r} has {what} for its limit of {field} [{unit}], which "
                f"strength='limits' needs. Set limits.{field} in the model, or give numbers: strength=[...]."
            )
        found.append(value)
    return np.array(found)


__all__ = ["drive_strength"]
