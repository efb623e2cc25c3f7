"""Axes of a motion: what can stick, hit a stop or be locked; the coordinates, and behind them joints within loops.

An axis y that is no coordinate is a function of the positions, with ẏ = R q̇ and ÿ = R q̈ + c; a coordinate is one with a row of
the unit matrix for R. In the coordinates of a chart, those that the user chose are functions of the positions as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..codegen import build
from ..dynamics import engine
from ..dynamics.surroundings import Forces
from ..dynamics.system import AnySystem, LoopSystem, MovingValue, Recipe, Request, solves
from ..model.position_functions import Chosen, JointSum, PositionFunction

DEPTH = 1e-11  # rad or m: as far as rounding may take a joint within a loop from its stop; only coordinates stand exactly there


class Axes(NamedTuple):
    """The axes of a system: their names, how many of them are its coordinates, and what functions they are, if known."""

    names: tuple[str, ...]
    own: int
    functions: tuple[PositionFunction | None, ...]

    @property
    def beside(self) -> range:
        """The numbers of those that are no coordinates of the system."""
        return range(self.own, len(self.names))

    def moving(self, view: Any, q: Sequence[Any], qd: Sequence[Any]) -> list[MovingValue]:
        """How they move at a state of the system, over scalars."""
        units = [[1.0 if i == k else 0.0 for i in range(len(q))] for k in range(self.own)]
        own = [MovingValue(q[k], units[k], qd[k], 0.0) for k in range(self.own)]
        return [*own, *(view.moving(self.functions[self.own :], q, qd) if self.beside else [])]


def axes_of(system: AnySystem, beside: Sequence[str] = ()) -> Axes:
    """The axes of a system: its coordinates as the user chose them, and joints within loops by their names."""
    view: Any = engine.system_of(system)
    original: Any = getattr(view, "original", None)
    seen = view.coordinates if original is None else original.coordinates
    names = (*(coordinate.name for coordinate in seen), *beside)
    functions = (*map(_function, seen), *(JointSum({name: 1.0}) for name in beside))
    return Axes(names, len(seen) if original is None else 0, functions)


def _function(coordinate: Any) -> PositionFunction | None:
    return coordinate.function if isinstance(coordinate, Chosen) else None


def joints_beside(system: AnySystem) -> tuple[Any, ...]:
    """The joints of a mechanism that are none of its coordinates."""
    view = engine.system_of(system)
    return view.axes_beside if isinstance(view, LoopSystem) else ()


class AxesAt(NamedTuple):
    """Positions (..., K) and speeds of axes, their rows (..., K, n), accelerations at q̈ = 0, and the mass matrix, as numbers."""

    y: Any
    w: Any
    rows: Any
    bias: Any
    M: Any


def axes_kernel(system: AnySystem, axes: Axes, given: bool) -> Any:
    """The kernel of `AxesAt` at q, q̇, given dynamic parameters if there are any, and positions where they are solved for."""
    return engine.kept(system, Request("axes", (axes.names, axes.own, given)), lambda: _kernel(system, axes, given))


def _kernel(system: AnySystem, axes: Axes, given: bool) -> Any:
    view: Any = engine.system_of(system)
    mass = view.recipe(engine.request_of("mass_matrix", (Forces(parameters=True),) if given else ()))

    def function(q: Any, qd: Any, *phi: Any) -> Any:
        moving, M = axes.moving(view, q, qd), mass.function(q, *phi)
        full = [[M[max(i, j)][min(i, j)] for j in range(len(q))] for i in range(len(q))]
        return (*([getattr(one, name) for one in moving] for name in ("value", "rate", "row", "bias")), full)

    inputs = {"q": mass.inputs["q"], "qd": mass.inputs["q"]} | {k: v for k, v in mass.inputs.items() if k != "q"}
    recipe = Recipe(function, inputs, list(AxesAt._fields))
    return build(engine.program_of(engine.with_solved(view, recipe) if solves(view) else recipe, "axes"))


__all__ = ["DEPTH", "Axes", "AxesAt", "axes_kernel", "axes_of", "joints_beside"]
