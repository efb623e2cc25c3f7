"""What acted on a motion, after the run: constants, samples or a law, evaluated along times and states in one batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen import build
from ..dynamics import engine
from ..dynamics.system import AnySystem, Recipe, solves
from .acting_law import LIMITS, PARAMETERS
from .kept_loops import loop_kernel
from .laws import InputRows, TorqueLaw, place_of_field
from .torques import Torque


class Applied(NamedTuple):
    """What acts along a motion: torques (..., K, n), wrenches (..., K, 6) by frame, and other parameters (..., 1, p)."""

    tau: FloatArray
    wrenches: dict[str, FloatArray]
    parameters: FloatArray | None = None
    limits: FloatArray | None = None  # of the torques, (..., 1, n)

    @property
    def around(self) -> dict[str, Any]:
        """What functions of the dynamics take beside torques."""
        found: dict[str, Any] = {"wrenches": self.wrenches} if self.wrenches else {}
        return found if self.parameters is None else found | {"parameters": self.parameters}

    def rows(self, shape: tuple[int, ...]) -> Applied:
        """The same for states of this shape in one row."""
        return self._each(lambda part: np.broadcast_to(part, (*shape, part.shape[-1])).reshape(-1, part.shape[-1]))

    def taken(self, rows: Any) -> Applied:
        """What acts at some rows."""
        return self._each(lambda part: part[rows])

    def _each(self, change: Callable[[FloatArray], FloatArray]) -> Applied:
        parameters, limits = (None if part is None else change(part) for part in (self.parameters, self.limits))
        return Applied(change(self.tau), {frame: change(wrench) for frame, wrench in self.wrenches.items()}, parameters, limits)


def acting_along(
    system: AnySystem, torque: Torque, t: FloatArray, q: FloatArray, qd: FloatArray, x: FloatArray | None, z: FloatArray | None
) -> Applied:
    """What acts at times of shape (K,), or (..., K) where each motion has its own, and states (..., K, n).

    `x` are the positions of a mechanism's tree there and `z` further states, all side by side. At the time of a sample the one
    that begins there counts.
    """
    batch, kind = q.shape[:-2], torque.kind
    if isinstance(kind, TorqueLaw):
        return _by_law(system, kind, torque, t, q, qd, x, z)
    if kind == "held":
        values = torque.values.reshape(*torque.batch, q.shape[-1])[..., None, :]
    else:
        values = sampled(kind, torque.grid[0], torque.values, t, batch)
    return Applied(np.broadcast_to(values, q.shape).copy(), {})


def parameters_of(torque: Torque) -> FloatArray | None:
    """Parameters in the place of the model's own, (..., 1, p), if there are any."""
    law = torque.kind
    if not isinstance(law, TorqueLaw) or not law.forces.parameters or torque.inputs is None:
        return None
    return _for_all_times(torque.inputs)[..., place_of_field(law.inputs, PARAMETERS)]


def sampled(between: str, grid: FloatArray, values: FloatArray, t: FloatArray, batch: tuple[int, ...]) -> FloatArray:
    """Rows of samples (..., G, k) at times: those in force, or on the line to the next ones."""
    here = np.clip(np.searchsorted(grid, t, side="right") - 1, 0, len(grid) - 1)
    now = _rows(values, here, batch)
    if between != "linear":
        return now
    following = np.minimum(here + 1, len(grid) - 1)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isfinite(grid[following]), (t - grid[here]) / (grid[following] - grid[here]), 0.0)
    return now + (_rows(values, following, batch) - now) * share[..., None]


def _rows(values: FloatArray, which: Any, batch: tuple[int, ...]) -> FloatArray:
    """Rows by their numbers, the same for all motions or another choice for each."""
    if which.ndim == 1:
        found: FloatArray = values[..., which, :]
        return found
    return np.take_along_axis(np.broadcast_to(values, (*batch, *values.shape[-2:])), which[..., None], axis=-2)


def _by_law(
    system: AnySystem, law: TorqueLaw, torque: Torque, t: Any, q: Any, qd: Any, x: FloatArray | None, z: FloatArray | None
) -> Applied:
    given = [np.broadcast_to(t, q.shape[:-1]), q, qd]
    numbers = None if torque.inputs is None or not law.inputs else _for_all_times(torque.inputs)
    if numbers is not None:
        given.append(numbers)
    if law.signals:
        given.append(sampled(law.between, torque.grid[0], torque.values, t, q.shape[:-2]))
    if law.states:
        assert z is not None
        given.append(z)
    run: Any = loop_kernel(system, "simulate", law, ("torques",), lambda: _kernel(system, law))
    found = run(*given, *([] if x is None else [x]))
    tau, rows = found if law.forces.wrenches else (found, found)
    wrenches = {frame: rows[..., 6 * k : 6 * k + 6] for k, frame in enumerate(law.forces.wrenches)}
    own = {} if numbers is None else {f.name: numbers[..., place_of_field(law.inputs, f.name)] for f in law.inputs}
    return Applied(tau, wrenches, own.get(PARAMETERS), own.get(LIMITS))


def _for_all_times(inputs: InputRows) -> FloatArray:
    return inputs.values[..., None, :]


def _kernel(system: AnySystem, law: TorqueLaw) -> Any:
    """The law alone as a kernel; positions that the system solves for are its last input."""
    n = engine.size(system)
    widths = {"inputs": law.input_width, "signals": law.signal_width, "states": law.state_width}
    inputs: dict[str, tuple[int, ...]] = {"t": (), "q": (n,), "qd": (n,)} | {k: (w,) for k, w in widths.items() if w}

    def function(t: Any, q: Any, qd: Any, *further: Any) -> Any:
        found = law.outputs(t, q, qd, law.named(further))
        return found if len(found) > 1 else found[0]

    outputs = ["tau", *(["wrenches"] if law.forces.wrenches else [])]
    recipe, view = Recipe(function, inputs, outputs), engine.system_of(system)
    if solves(view):
        recipe = engine.with_solved(view, recipe)
    return build(engine.program_of(recipe, "torque_law"))


__all__ = ["Applied", "acting_along", "parameters_of", "sampled"]
