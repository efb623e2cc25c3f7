"""A torque law with what acts beside it: wrenches on links, other parameters of the model; limits of the torques, and samples.

A law that is sampled has the command that it holds, and what waits, among its states: numbers that stay the same between samples.
Numbers that come with all of this stand among the inputs and signals of the law, under names that no user's function can write.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from ..dynamics.surroundings import Forces
from ..errors import ExprError
from ..expr import ops
from .commands import Actuators
from .dry_friction import Given
from .fingerprint import fingerprint
from .laws import UNTRACED, Field, TorqueFunction, TorqueLaw, scalars_of, symbols

TAU, PARAMETERS, LIMITS = "(tau)", "(parameters)", "(limits)"
WAITING = "(waiting)"


def wrench_name(frame: str) -> str:
    """The name under which the numbers of a wrench stand."""
    return f"(wrench at {frame})"


class ActingLaw(TorqueLaw):
    """Torques by a function, or from rows of numbers, and wrenches at frames likewise: None where there is no function.

    Of a law that is sampled, the last states are what it holds, and what waits if there is a delay. A function that is Python
    code is not looked at here. `dry` are the joints that have dry friction by parameters among the inputs.
    """

    def __init__(
        self,
        function: TorqueFunction | None,
        wrenches: Mapping[str, TorqueFunction | None],
        inputs: Sequence[Field],
        signals: Sequence[Field],
        between: str,
        states: Sequence[Field] = (),
        rates: TorqueFunction | None = None,
        held: Sequence[Field] = (),
        in_python: bool = False,
        dry: Given = None,
        actuators: Actuators | None = None,
    ) -> None:
        own = _none if in_python else function or _none
        super().__init__(own, inputs, signals, between, (*states, *held), rates, actuators)
        self.integrated, self.held, self.in_python, self.dry = tuple(states), tuple(held), in_python, dry
        self.wrenches = dict(wrenches)
        self.forces = Forces(tuple(wrenches), False, any(field.name == PARAMETERS for field in inputs))
        self.limited = any(field.name == LIMITS for field in inputs)
        hidden = {TAU, PARAMETERS, LIMITS, *(field.name for field in held), *map(wrench_name, wrenches)}
        seen = any(field.name not in hidden for field in (*self.inputs, *self.signals, *self.states))
        self.has_arguments = seen or actuators is not None

    @cached_property
    def key(self) -> tuple[Any, ...] | None:
        """Equal for laws that do the same, wrenches included; None where that cannot be known."""
        own = super().key
        found = [None if function is None else fingerprint(function) for function in self.wrenches.values()]
        known = all((function is None) or key is not None for function, key in zip(self.wrenches.values(), found, strict=True))
        return (own, self.forces, self.held, self.dry, *found) if own is not None and known else None

    def named(self, further: Sequence[Sequence[Any]]) -> tuple[SimpleNamespace, ...]:
        """As that of a plain law; always one namespace."""
        return super().named(further) or (SimpleNamespace(),)

    def outputs(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[list[Any]]:
        """Torques, and [f; m] of all wrenches one after the other, if there are any."""
        wrenches = [x for frame in self.wrenches for x in self._wrench(frame, t, q, qd, p)]
        return [self.torques(t, q, qd, p), *([wrenches] if wrenches else [])]

    def torques(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """Those in force: held, of the rows, of the function or of actuators; within the limits, if there are any."""
        found = super().torques(t, q, qd, p)
        if not self.limited:
            return found
        return [within(x, top) for x, top in zip(found, getattr(p[0], LIMITS), strict=True)]

    def in_force(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """The command that is held, of a law that is sampled."""
        return list(getattr(p[0], self.words.held)) if self.held else self.command(t, q, qd, p)

    def command(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """Of the rows or of the function, before it is held."""
        if self.in_python:  # held from outside of the loop
            return self.in_force(t, q, qd, p)
        if self.function is _none:
            return list(getattr(p[0], TAU, [0.0] * len(q)))
        return super().command(t, q, qd, p if self.has_arguments else ())

    def rates_at(self, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        """Slopes of the user's states; what is held has none."""
        own = super().rates_at(t, q, qd, p) if self.integrated else []
        return [*own, *[0.0] * sum(field.size for field in self.held)]

    def _wrench(self, frame: str, t: Any, q: Sequence[Any], qd: Sequence[Any], p: tuple[SimpleNamespace, ...]) -> list[Any]:
        function = self.wrenches[frame]
        if function is None:
            return list(getattr(p[0], wrench_name(frame)))
        try:
            found = scalars_of(function(t, symbols(q), symbols(qd), *(p if _takes(function, 4) else ())))
        except UNTRACED as error:
            raise ExprError(
                f"wrenches[{frame!r}]: the function could not be traced ({error}). Write it over scalars with arithmetic and "
                "dalembert.expr.ops, or give samples with wrench_times."
            ) from error
        if len(found) != 6:
            raise ExprError(f"wrenches[{frame!r}]: the function returned {len(found)} numbers; 6 are expected, force and moment.")
        return found


def within(x: Any, top: Any) -> Any:
    """x, or the nearer one of ± top; over scalars."""
    return x if isinstance(top, float) and math.isinf(top) else ops.maximum(ops.minimum(x, top), -top)


def held_fields(name: str, size: int, lag: int | None) -> tuple[Field, ...]:
    """The states of a law that is sampled: what it holds, and what waits for so many samples, if there is a delay."""
    return Field(name, size, False), *(() if lag is None else (Field(WAITING, (lag + 1) * size, False),))


def _takes(function: Any, count: int) -> bool:
    """Whether a function takes so many arguments."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


def _none(*arguments: Any) -> Any:
    """In the place of a torque function, where torques are rows of numbers."""
    raise AssertionError("torques are rows of numbers")


__all__ = ["LIMITS", "PARAMETERS", "TAU", "WAITING", "ActingLaw", "held_fields", "within", "wrench_name"]
