"""Why a motion left the finite numbers: the first torque or wrench that is not a number, by its joint and time.

It is looked for only after a motion has failed, from the last state that was finite: there, and a little later along the
velocity, as a law may end (a square root of something that becomes negative) between two steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.system import AnySystem
from .acting_law import ActingLaw
from .laws import UNTRACED, InputRows, TorqueLaw, held_width
from .sample_times import rows_at

_LATER = (0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2)  # s after the last finite state


class LastState(NamedTuple):
    """Where a motion was last finite: its number, time, positions, velocities and further states."""

    motion: int
    t: float
    q: FloatArray
    qd: FloatArray
    z: FloatArray


class ActingRows(NamedTuple):
    """Rows of torques or signals (..., G, k), the times from which they count, what is between, and inputs."""

    times: FloatArray
    values: FloatArray
    between: str
    inputs: InputRows | None
    batch: tuple[int, ...]

    def at(self, t: float, motion: int) -> list[Any]:
        """The row at a time, of one motion."""
        values = rows_at(np.array([t]), self.times, self.values, self.between)[..., 0, :]
        return _of(values, motion, self.batch)


def _of(values: FloatArray, motion: int, batch: tuple[int, ...]) -> list[Any]:
    return list(np.broadcast_to(values, (*batch, values.shape[-1])).reshape(-1, values.shape[-1])[motion])


def fault_of(system: AnySystem, kind: str | TorqueLaw, rows: ActingRows, last: LastState) -> str | None:
    """A sentence about the first torque or wrench that is not finite, or None where none is found."""
    names = [f"torque of {coordinate.name!r}" for coordinate in engine.system_of(system).coordinates]
    for later in _LATER:
        t = last.t + later
        try:
            with np.errstate(all="ignore"):
                found = _acting(kind, names, rows, last, t, later)
        except UNTRACED:  # what a law asks of a mechanism needs positions that are not known here
            return None
        for label, value in found:
            if not math.isfinite(value):
                whose = f" of motion {last.motion}" if math.prod(rows.batch) > 1 else ""
                return f"The {label}{whose} is {'NaN' if value != value else 'infinite'} at t = {t:g} s."
    return None


def _acting(
    kind: str | TorqueLaw, names: Sequence[str], rows: ActingRows, last: LastState, t: float, later: float
) -> list[tuple[str, float]]:
    """What a controller commands, torques, and wrenches behind them; numbers are NumPy's, which divide by zero."""
    if isinstance(kind, str):
        return list(zip(names, rows.at(t, last.motion), strict=True))
    further = [_of(rows.inputs.values, last.motion, rows.batch)] if kind.inputs and rows.inputs is not None else []
    further += [rows.at(t, last.motion)] if kind.signals else []
    further += [list(last.z)] if kind.states else []
    q, qd, t = list(last.q + later * last.qd), list(last.qd), np.float64(t)
    p = kind.named(further)
    commands = names if kind.actuators is None else [f"{kind.words.noun} of {name!r}" for name in kind.actuators.names]
    wanted = kind.command(t, q, qd, p) if held_width(kind) or kind.actuators is not None else []
    frames = [f"wrench at {frame!r}" for frame in kind.wrenches for _ in range(6)] if isinstance(kind, ActingLaw) else []
    scalars = [x for part in kind.outputs(t, q, qd, p) for x in part]
    found = [*zip(commands, wanted, strict=False), *zip([*names, *frames], scalars, strict=True)]
    return [(label, float(x)) for label, x in found]


__all__ = ["ActingRows", "LastState", "fault_of"]
