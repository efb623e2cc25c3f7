"""Torques as a function of time, state and inputs: what users give, checked, and how it is called on symbols.

Inputs are numbers that a law may use and that are not compiled in: gains, targets, coefficients of a path. Each is a number or a
vector, the same for all motions or another for each; `signals` also change with time, one row per sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics.surroundings import FREE, Forces
from ..errors import DalembertError, ExprError, ShapeError
from ..expr import Expr
from ..options import mapping
from ..wording import shown
from .commands import TORQUE, Actuators
from .fingerprint import fingerprint

TorqueFunction = Callable[..., Any]


class Field(NamedTuple):
    """An input by its name: how many numbers it has, and whether it is one bare number."""

    name: str
    size: int
    bare: bool


class TorqueLaw:
    """A torque function with the inputs and signals it takes; `between` says how signals go on between their samples.

    `states` are further states of the integration, which it takes too, and `rates` the function that gives their slopes. With
    `actuators` the function commands them, and torques and rates follow from its command. `forces` are those from around the
    robot, for a law that has any.
    """

    forces: Forces = FREE
    integrated: tuple[Field, ...]  # those of the states that have rates
    held: tuple[Field, ...]  # the others, of a law that is sampled

    def __init__(
        self,
        function: TorqueFunction,
        inputs: Sequence[Field] = (),
        signals: Sequence[Field] = (),
        between: str = "hold",
        states: Sequence[Field] = (),
        rates: TorqueFunction | None = None,
        actuators: Actuators | None = None,
    ) -> None:
        self.function, self.inputs, self.signals, self.between = function, tuple(inputs), tuple(signals), between
        self.states, self.rates, self.actuators = tuple(states), rates, actuators
        self.words = TORQUE if actuators is None else actuators.command
        self.integrated, self.held = self.states, ()

    @property
    def input_width(self) -> int:
        """Numbers of all inputs together."""
        return sum(field.size for field in self.inputs)

    @property
    def signal_width(self) -> int:
        """Numbers in one row of signals."""
        return sum(field.size for field in self.signals)

    @property
    def state_width(self) -> int:
        """Numbers of all further states together."""
        return sum(field.size for field in self.states)

    @cached_property
    def key(self) -> tuple[Any, ...] | None:
        """Equal for laws that do the same; None where that cannot be known."""
        found = fingerprint(self.function)
        others = [f for f in (self.rates, None if self.actuators is None else self.actuators.torques) if f is not None]
        beside = [fingerprint(function) for function in others]
        if found is None or None in beside:
            return None
        return (found, self.inputs, self.signals, self.between, self.states, self.words, *beside)

    def named(self, further: Sequence[Sequence[Any]]) -> tuple[SimpleNamespace, ...]:
        """Inputs, signals and further states by name, in the one argument that a function with any of them takes."""
        kinds = [fields for fields in (self.inputs, self.signals, self.states) if fields]
        given: dict[str, Any] = {}
        for fields, scalars in zip(kinds, further, strict=True):
            given |= _named(fields, scalars)
        return (SimpleNamespace(**given),) if given or self.actuators is not None else ()

    def outputs(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[list[Any]]:
        """What acts at a point: torques, and what a law with more has beside them."""
        return [self.torques(t, q, qd, p)]

    def torques(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """The command in force, or what actuators make of it."""
        if self.actuators is None:
            return self.in_force(t, q, qd, p)
        return scalars_of(self.actuators.torques(t, symbols(q), symbols(qd), *self._told(t, q, qd, p)))

    def in_force(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """The command at a point: that of the moment, for a law that is not sampled."""
        return self.command(t, q, qd, p)

    def _told(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> tuple[SimpleNamespace, ...]:
        """What a function finds in p, with the command among it where it is for actuators."""
        if self.actuators is None:
            return p
        return (SimpleNamespace(**vars(p[0]) | {self.words.held: symbols(self.in_force(t, q, qd, p))}),)

    def command(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """The scalars that the function returns for symbols; a refusal with a way out if it cannot be traced."""
        (option, noun, owners, _), count = self.words, self.command_width(len(q))
        try:
            scalars = scalars_of(self.function(t, symbols(q), symbols(qd), *p))
        except UNTRACED as error:
            raise ExprError(
                f"{option}: the function could not be traced ({error}). Write it over scalars with arithmetic and "
                "dalembert.expr.ops, sample it and give an array to rollout or simulate, or have it called as Python code at "
                "samples, which is slow: python=True, sample=..."
            ) from error
        if len(scalars) != count:
            raise ExprError(
                f"{option}: the function returned {len(scalars)} {noun}s; one for each of the {count} {owners} is expected."
            )
        return scalars

    def command_width(self, n: int) -> int:
        """How many numbers the function returns, for n coordinates."""
        return n if self.actuators is None else len(self.actuators.names)

    def rates_at(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """The slopes of the further states, one after the other."""
        assert self.rates is not None
        given = self._told(t, q, qd, p)
        try:
            returned = self.rates(t, symbols(q), symbols(qd), *given)
            found = returned if isinstance(returned, Mapping) else {self.integrated[0].name: returned}
            slopes = {name: scalars_of(value) for name, value in found.items()}
        except UNTRACED as error:
            raise ExprError(
                f"rates: the function cannot be traced ({error}). Write it over scalars with arithmetic and dalembert.expr.ops."
            ) from error
        for name, size, _ in self.integrated:
            if len(slopes.get(name, [])) != size:
                raise ExprError(
                    f"rates: {len(slopes.get(name, []))} slopes of {name!r} found; {size} expected, as many as it has numbers. "
                    f"Return a mapping such as {{{name!r}: ...}} with every state."
                )
        return [slope for name, _, _ in self.integrated for slope in slopes[name]]


def scalars_of(returned: Any) -> list[Any]:
    """What a function returned, as a list of scalars."""
    scalars = list(np.asarray(returned, dtype=object).ravel()) if np.ndim(returned) else [returned]
    return [_scalar(x) for x in scalars]


UNTRACED = (DalembertError, TypeError, ValueError, AttributeError, ArithmeticError)


def _named(fields: Sequence[Field], scalars: Sequence[Any]) -> dict[str, Any]:
    found, start = {}, 0
    for name, size, bare in fields:
        found[name] = scalars[start] if bare else symbols(scalars[start : start + size])
        start += size
    return found


def place_of_field(fields: Sequence[Field], name: str) -> slice:
    """Where the numbers of a field stand among those of all."""
    start = 0
    for field in fields:
        if field.name == name:
            return slice(start, start + field.size)
        start += field.size
    raise AssertionError(name)


def _scalar(x: Any) -> Any:
    if isinstance(x, Expr):
        return x
    if isinstance(x, Real):
        return float(x)
    raise TypeError(f"it returned {type(x).__name__} in the place of a scalar")


def symbols(scalars: Sequence[Any]) -> Any:
    """Symbols in an array, so that K * (target - q) works with arrays of gains."""
    array = np.empty(len(scalars), dtype=object)
    array[:] = scalars
    return array


class InputRows(NamedTuple):
    """Arrays side by side in rows: what stands in them, the numbers (..., width), and the batch axes."""

    fields: tuple[Field, ...]
    values: FloatArray
    batch: tuple[int, ...]


NO_STATES = InputRows((), np.zeros(1), ())
_NO_SIGNALS = InputRows((), np.zeros((1, 1)), ())


def inputs_of(inputs: Mapping[str, Any] | None, tau: Any) -> InputRows:
    """Inputs of a law: each a number, or (..., k) with leading batch axes."""
    if inputs is None:
        return NO_STATES
    arrays = _arrays("inputs", inputs, tau, least=0)
    fields = tuple(Field(name, a.shape[-1] if a.ndim else 1, a.ndim == 0) for name, a in arrays.items())
    return side_by_side("inputs", fields, [a if a.ndim else a[None] for a in arrays.values()], core=1)


def signals_of(signals: Mapping[str, Any] | None, tau: Any, rows: int | None) -> InputRows:
    """Signals of a law: each (..., T, k), a row for each sample."""
    if signals is None:
        return _NO_SIGNALS
    arrays = _arrays("signals", signals, tau, least=2)
    for name, a in arrays.items():
        if rows is not None and a.shape[-2] != rows:
            raise ShapeError(f"signals: {name!r} has {a.shape[-2]} rows, but {rows} times are given: (..., {rows}, k) expected.")
    fields = tuple(Field(name, a.shape[-1], False) for name, a in arrays.items())
    return side_by_side("signals", fields, list(arrays.values()), core=2)


def states_of(states: Mapping[str, Any] | None, rates: Any, tau: Any, *others: InputRows) -> InputRows:
    """Further states at the start: each a number, or (..., k) with leading batch axes."""
    if states is None and rates is None:
        return NO_STATES
    given = {} if states is None else mapping("states", states, "{'sum': [0.0, 0.0]}")
    if given and rates is None:
        raise ShapeError("states: found without rates, the function of (t, q, qd, p) that gives their slopes. Give rates=...")
    if rates is not None and not callable(rates):
        raise ShapeError(f"rates: {shown(rates)} found, a function of (t, q, qd, p) is expected.")
    if rates is not None and not given:
        raise ShapeError("rates: found without states, whose slopes they would be. Give states={'name': value at the start}.")
    arrays = _arrays("states", given, tau, least=0)
    for name in arrays:
        if any(name == field.name for row in others for field in row.fields):
            raise ShapeError(f"states: {name!r} is the name of an input or signal too. Rename one of them.")
    fields = tuple(Field(name, a.shape[-1] if a.ndim else 1, a.ndim == 0) for name, a in arrays.items())
    return side_by_side("states", fields, [a if a.ndim else a[None] for a in arrays.values()], core=1)


def by_name(fields: Sequence[Field], values: FloatArray) -> dict[str, FloatArray]:
    """Numbers of further states (..., width), each state for itself; one that is a bare number has no axis of its own."""
    found, start = {}, 0
    for name, size, bare in fields:
        found[name] = values[..., start] if bare else values[..., start : start + size]
        start += size
    return found


def held_width(law: Any) -> int:
    """How many of the last states a law holds, if it is sampled."""
    return sum(field.size for field in law.held)


def _arrays(subject: str, given: Mapping[str, Any] | None, tau: Any, least: int) -> dict[str, FloatArray]:
    if given is None:
        return {}
    mapping(subject, given, "{'kp': 100.0}")
    if given and not callable(tau):
        raise ShapeError(f"{subject}: found without a function in tau that could use them. Give tau a function of (t, q, qd, p).")
    found = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ShapeError(f"{subject}: {name!r} found as a name; one that Python can write after a dot is expected.")
        found[name] = real(f"{subject}: {name}", value, "(..., k)" if least < 2 else "(..., T, k)")
        if found[name].ndim < least or 0 in found[name].shape[-1:]:
            raise ShapeError(
                f"{subject}: {name!r} has the shape {found[name].shape}; (..., T, k), a row per sample, is expected."
            )
    return found


def side_by_side(
    subject: str, fields: tuple[Field, ...], arrays: list[FloatArray], core: int, labels: Sequence[str] = ()
) -> InputRows:
    """Arrays with `core` axes of their own, one beside the other, their leading axes broadcast; `labels` say what they are."""
    if not arrays:
        return InputRows((), np.zeros((1,) * core), ())
    try:
        batch = np.broadcast_shapes(*(a.shape[:-core] for a in arrays))
        rows = np.broadcast_shapes(*(a.shape[-core:-1] for a in arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in zip(labels or [f.name for f in fields], arrays, strict=True))
        raise ShapeError(f"{subject}: leading axes do not broadcast together: {shapes}.") from None
    return InputRows(fields, np.concatenate([np.broadcast_to(a, (*batch, *rows, a.shape[-1])) for a in arrays], axis=-1), batch)


__all__ = [
    "NO_STATES",
    "UNTRACED",
    "Field",
    "InputRows",
    "TorqueFunction",
    "TorqueLaw",
    "by_name",
    "held_width",
    "inputs_of",
    "place_of_field",
    "scalars_of",
    "side_by_side",
    "signals_of",
    "states_of",
    "symbols",
]
