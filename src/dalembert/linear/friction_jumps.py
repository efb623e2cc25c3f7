"""Where dry friction has no derivative: which joints stand still, and what a linear model makes of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algorithms.sweep import Unrolled
from ..dynamics import engine
from ..dynamics.quantity import Output, Quantity, plain
from ..dynamics.system import AnySystem, TreeSystem
from ..errors import DalembertWarning
from ..wording import listed

JUMP = "dry-friction-jump"
STEEP = "dry-friction-steep"
_STILL = 1e-9  # rad/s or m/s: a joint slower than that stands


def _rates(sweep: Unrolled, q: Any, qd: Any) -> Any:
    return [rate + 0.0 for rate in sweep.expand(qd, rate=True)]


JOINT_RATES = Quantity("joint_rates", (Output("rates"),), plain(_rates, "q", "qd", outputs=["rates"], can_roll=False))


def warn_of_friction(what: str, system: AnySystem, q: Any, qd: Any, level: int) -> None:
    """Warn if a joint with dry friction stands still, or is slower than the width over which its friction is smoothed."""
    view = engine.system_of(system)
    if not isinstance(view, TreeSystem):
        return
    dry = [(k, s.name, s.friction) for k, s in enumerate(view.tree.segments) if s.friction is not None and s.friction.dry]
    if not dry:
        return
    slowest = np.abs(engine.kernel(system, JOINT_RATES)(q, qd)).reshape(-1, len(view.tree.segments)).min(axis=0, initial=np.inf)
    jumping = [name for k, name, law in dry if not law.smooth and slowest[k] <= _STILL]
    steep = [name for k, name, law in dry if law.smooth and slowest[k] < law.width2**0.5]
    if jumping:
        _warn(
            f"{what}: {_said(jumping)} where friction jumps from one sign to the other and has no derivative; the linear "
            "model leaves dry friction out there, as for a joint that slips. Give qd, or Friction(width=...).",
            JUMP,
            level,
        )
    if steep:
        _warn(
            f"{what}: {_said(steep)} or nearly so, where smoothed friction is as steep as coulomb / width; the linear model "
            "holds for deviations slower than the width alone.",
            STEEP,
            level,
        )


def _said(names: Sequence[str]) -> str:
    joints = listed(names)
    return f"joint {joints} stands still," if len(names) == 1 else f"joints {joints} stand still,"


def _warn(message: str, code: str, level: int) -> None:
    warnings.warn(DalembertWarning(message, code), stacklevel=level + 2)


__all__ = ["JUMP", "STEEP", "warn_of_friction"]
