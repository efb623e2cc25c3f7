"""What acts on a system beside joint torques, as users give it: wrenches at links, other parameters, limits; checked once.

Each wrench is constant, or samples in time, or a function over scalars. All that is numbers becomes inputs and signals of one
law (`acting_law`), beside those that the user's functions take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.functions import WRENCHES
from ..dynamics.surroundings import Forces
from ..dynamics.system import AnySystem
from ..errors import ShapeError
from ..options import mapping
from .acting_law import LIMITS, PARAMETERS, TAU, ActingLaw, held_fields, wrench_name
from .commands import TORQUE, Actuators
from .dry_friction import Given, given_levels
from .laws import Field, InputRows, TorqueLaw, inputs_of, side_by_side, signals_of, states_of
from .python_law import PythonLaw
from .sample_times import merged, rows_at
from .sampling import Sampling, marks_at, marks_of_steps, sampling_of
from .states import rising_times, together
from .torques import BETWEEN, Torque, constant_torque, sampled_torque


class TimedRows(NamedTuple):
    """Rows of numbers (..., G, k) under a name, and their times."""

    name: str
    times: FloatArray
    rows: FloatArray


class Actions(NamedTuple):
    """What acts beside torques: wrenches by function, or by numbers (..., 6), or (..., G, 6) at `times`; parameters (..., p).

    `limits` (..., n) are those of the torques, and `sampling` tells when a law is evaluated; `dry` are the joints that have dry
    friction by those parameters, and `actuators` what is between a law and the torques.
    """

    wrenches: dict[str, Callable[..., Any] | FloatArray]
    times: FloatArray | None
    parameters: FloatArray | None
    limits: FloatArray | None
    sampling: Sampling | None
    in_python: bool
    dry: Given = None
    actuators: Actuators | None = None

    @property
    def functions(self) -> dict[str, Callable[..., Any] | None]:
        """The wrenches that are functions; None in the place of others."""
        return {frame: given if callable(given) else None for frame, given in self.wrenches.items()}

    def user(self, tau: Any) -> Any:
        """A function that could use inputs and signals, if there is any."""
        return next((f for f in (tau, *self.wrenches.values()) if callable(f)), None)

    def constants(self) -> list[tuple[str, FloatArray]]:
        """Numbers that stay the same during a motion, under their names."""
        named = ((PARAMETERS, self.parameters), (LIMITS, self.limits))
        found = [(name, array) for name, array in named if array is not None]
        return found + ([] if self.times is not None else self._arrays())

    def samples(self) -> list[TimedRows]:
        """Rows of numbers that change with time."""
        return [] if self.times is None else [TimedRows(name, self.times, rows) for name, rows in self._arrays()]

    def _arrays(self) -> list[tuple[str, FloatArray]]:
        return [(wrench_name(frame), given) for frame, given in self.wrenches.items() if not callable(given)]


def actions_of(
    system: AnySystem,
    wrenches: Any,
    wrench_times: Any,
    parameters: Any,
    saturate: Any,
    sample: Any,
    delay: Any,
    python: Any,
    tau: Any,
    actuators: Actuators | None = None,
) -> Actions | None:
    """What users give, checked; None where nothing acts but torques."""
    plain = wrenches is None and wrench_times is None and parameters is None and sample is None
    if plain and saturate is False and python is False and type(delay) is float and delay == 0.0:
        return None
    if wrenches is None and wrench_times is not None:
        raise ShapeError("wrench_times: found without wrenches, whose samples they would time. Give wrenches=...")
    times = None if wrench_times is None else rising_times("wrench_times", wrench_times, apart=True)
    given = {} if wrenches is None else mapping("wrenches", wrenches, WRENCHES)
    forces = Forces(tuple(given), False, parameters is not None)
    shapes = engine.system_of(system).recipe(engine.request_of("forward_dynamics", (forces,))).inputs  # names are looked at there
    acting = {frame: value if callable(value) else _wrench(frame, value, times) for frame, value in given.items()}
    if times is not None and all(callable(value) for value in acting.values()):
        raise ShapeError("wrench_times: found without samples among the wrenches. Leave it out, or give an array (..., G, 6).")
    phi = None if parameters is None else _parameters(parameters, shapes["parameters"][0])
    sampling = sampling_of(sample, delay, tau)
    if checks.flag("python", python) and sampling is None:
        option = (TORQUE if actuators is None else actuators.command).option
        raise ShapeError(
            f"python: True found without sample, the time between two calls of the function in {option}. Give sample=..."
        )
    dry = None if phi is None else given_levels(system, phi)
    return Actions(acting, times, phi, _limits(system, saturate), sampling, python, dry, actuators)


def _limits(system: AnySystem, saturate: Any) -> FloatArray | None:
    """Limits of the torques, (..., n), those of the model for True."""
    asked = isinstance(saturate, (bool, np.bool_))
    if saturate is None or (asked and not saturate):
        return None
    names = [coordinate.name for coordinate in engine.system_of(system).coordinates]
    if asked:
        found = np.array([coordinate.limits.effort for coordinate in engine.system_of(system).coordinates])
        if np.isinf(found).all():
            raise ShapeError(
                "saturate: True found, but no joint of the model has an effort limit. Give limits, an array (..., n)."
            )
        return found
    found = real("saturate", saturate, f"(..., {len(names)}), or True for the limits of the model")
    if found.ndim == 0 or found.shape[-1] != len(names):
        raise ShapeError(f"saturate: shape {found.shape} found, (..., {len(names)}) expected: a limit for each torque.")
    if not (found >= 0.0).all():
        worst = names[int(np.argwhere(~(found >= 0.0))[0][-1])]
        raise ShapeError(f"saturate: a limit of {worst!r} is negative or NaN; magnitudes are expected, inf where there is none.")
    return found


def _wrench(frame: str, value: Any, times: FloatArray | None) -> FloatArray:
    wanted = "(..., 6)" if times is None else f"(..., {len(times)}, 6)"
    found = real(f"wrenches[{frame!r}]", value, wanted)
    if found.ndim == 0 or found.shape[-1] != 6 or (times is not None and found.shape[-2:-1] != (len(times),)):
        hint = " Samples in time need wrench_times." if times is None else ""
        raise ShapeError(f"wrenches[{frame!r}]: shape {found.shape} found, {wanted} expected, or a function of (t, q, qd).{hint}")
    return found


def _parameters(value: Any, size: int) -> FloatArray:
    found = real("parameters", value, f"(..., {size})")
    if found.ndim == 0 or found.shape[-1] != size:
        raise ShapeError(f"parameters: shape {found.shape} found, (..., {size}) expected, as `parameter_names` lists them.")
    return found


def acting_torque(
    n: int,
    actions: Actions,
    tau: Any,
    times: Any,
    between: str,
    interval: tuple[float, float],
    given: tuple[Any, Any, Any, Any],
) -> Torque:
    """What acts during a motion with error control; `given` are inputs, signals, states and rates."""
    (t_start, t_end), (inputs, signals, states, rates) = interval, given
    user, between = actions.user(tau), checks.choice("tau_between", between, BETWEEN)
    grid = None if times is None else rising_times("tau_times", times, apart=True)
    numbers, sampled = inputs_of(inputs, user), signals_of(signals, user, None if grid is None else len(grid))
    further = states_of(states, rates, user, numbers, sampled)
    constants, samples = actions.constants(), actions.samples()
    if sampled.fields and grid is None:
        raise ShapeError("signals: found without tau_times, the times of their rows. Give tau_times=...")
    if tau is not None and not callable(tau):
        if grid is None:
            constants.append((TAU, constant_torque(n, tau)))
        else:
            samples.append(TimedRows(TAU, grid, sampled_torque(n, tau, len(grid))))
    elif grid is not None and not sampled.fields:
        raise ShapeError("tau_times: found without an array of samples in tau, or signals. Leave it out, or sample the torque.")
    numbers = _with(numbers, constants, 1)
    own_times = (np.array([t_start]), *actions.sampling.times(t_start, t_end)) if actions.sampling else ()
    whole = merged([*([] if grid is None else [grid]), *(part.times for part in samples), *own_times], t_start)
    rows = sampled
    if whole is not None:
        own = (
            sampled._replace(values=rows_at(whole, grid, sampled.values, between))
            if grid is not None and sampled.fields
            else sampled
        )
        rows = _with(own, [(part.name, rows_at(whole, part.times, part.rows, between)) for part in samples], 2)
    law = _law(n, tau if callable(tau) else None, actions, numbers, rows, between, further, rates)
    batch, further = together(together(numbers.batch, rows.batch), further.batch), _with_held(further, law)
    marks, python = None, None
    if actions.sampling and whole is not None:
        marks = marks_at(whole, actions.sampling, t_start, t_end)
        python = PythonLaw(tau, law, numbers, rows, whole, marks) if actions.in_python else None
        marks = np.zeros((1, marks.size)) if python else marks.reshape(1, -1)
    if whole is None:
        return Torque(law, np.zeros((1, 1)), np.zeros((1, 1)), batch, numbers, further)
    values = np.zeros((1, 1))
    if rows.fields:
        values = np.concatenate([rows.values, rows.values[..., -1:, :]], axis=-2)
        values = values if values.ndim == 2 else np.broadcast_to(values, (*batch, *values.shape[-2:]))
    return Torque(law, np.append(whole, np.inf)[None], values, batch, numbers, further, marks, python)


def _with_held(further: InputRows, law: ActingLaw) -> InputRows:
    """Further states with those that a sampled law holds; they are found at the first sample."""
    if not law.held:
        return further
    room = np.zeros((*further.batch, sum(field.size for field in law.held)))
    values = np.concatenate([further.values, room], axis=-1) if further.fields else room
    return InputRows(law.states, values, further.batch)


class ActingSteps(NamedTuple):
    """What acts during a rollout: the law, its rows (..., T, k), its inputs, further states and marks of its samples."""

    law: ActingLaw
    rows: InputRows
    numbers: InputRows
    further: InputRows
    marks: FloatArray | None
    python: PythonLaw | None


def acting_steps(
    n: int,
    actions: Actions,
    kind: str | TorqueLaw,
    torques: FloatArray,
    clock: tuple[int, float, float],
    given: tuple[InputRows, InputRows, InputRows, Any],
) -> ActingSteps:
    """What acts during a rollout under a law, or under `torques`, one row 'held' or 'rows' for each step.

    `clock` are the number of steps, the start and the step; `given` are inputs, signals, further states and rates.
    """
    numbers, sampled, further, rates = given
    constants = actions.constants() + ([(TAU, torques[0])] if kind == "held" else [])
    samples = [(part.name, _at_steps(part, *clock)) for part in actions.samples()]
    samples += [(TAU, torques)] if kind == "rows" else []
    numbers = _with(numbers, constants, 1)
    rows = _with(sampled, samples, 2)
    function = kind.function if isinstance(kind, TorqueLaw) else None
    law = _law(n, function, actions, numbers, rows, "hold", further, rates)
    count, t_start, dt = clock
    marks, python = None, None
    if actions.sampling:
        marks = marks_of_steps(count, dt, actions.sampling)
        times = t_start + dt * np.arange(len(marks))
        python = PythonLaw(function, law, numbers, rows, times, marks) if actions.in_python else None
        marks = np.zeros((1, marks.size)) if python else marks.reshape(1, -1)
    return ActingSteps(law, rows, numbers, _with_held(further, law), marks, python)


def _at_steps(part: TimedRows, count: int, t_start: float, dt: float) -> FloatArray:
    return rows_at(t_start + dt * np.arange(count, dtype=np.float64), part.times, part.rows, "hold")


def _with(rows: InputRows, further: Sequence[tuple[str, FloatArray]], core: int) -> InputRows:
    """Rows with further numbers behind them."""
    if not further:
        return rows
    fields = (*rows.fields, *(Field(name, array.shape[-1], False) for name, array in further))
    own = [("inputs" if core == 1 else "signals", rows.values)] if rows.fields else []
    return side_by_side("batch", fields, [array for _, array in (*own, *further)], core, [name for name, _ in (*own, *further)])


def _law(
    n: int, function: Any, actions: Actions, numbers: InputRows, rows: InputRows, between: str, further: InputRows, rates: Any
) -> ActingLaw:
    taken = {field.name for part in (numbers, rows, further) for field in part.fields}
    fields = numbers.fields, rows.fields, between, further.fields
    held = _held(n, actions, taken)
    return ActingLaw(function, actions.functions, *fields, rates, held, actions.in_python, actions.dry, actions.actuators)


def _held(n: int, actions: Actions, taken: set[str]) -> tuple[Field, ...]:
    """What a sampled law has among its states."""
    if actions.sampling is None:
        return ()
    name, size = (TORQUE.held, n) if (own := actions.actuators) is None else (own.command.held, len(own.names))
    if name in taken:
        raise ShapeError(f"{name}: the name of what a sampled law holds, found as that of an input, signal or state. Rename it.")
    return held_fields(name, size, actions.sampling.lag)


__all__ = ["Actions", "acting_steps", "acting_torque", "actions_of"]
