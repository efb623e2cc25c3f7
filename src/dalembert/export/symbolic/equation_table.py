"""What equations can be asked for: names, meanings, and the functions of a tree to trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ...algorithms import regressor
from ...algorithms.sweep import Unrolled
from ...dynamics.engine import QUANTITIES


class Quantity(NamedTuple):
    """A quantity of the equations of motion: how it looks in LaTeX and in text, what it is, how to compute it in a sweep;
    in closed form either by its own function or out of `parts`.
    """

    latex: str
    text: str
    meaning: str
    function: Callable[[Unrolled, Any, Any, Any], Any]
    parts: tuple[str, ...] = ()


def _recipe(name: str, *arguments: int) -> Callable[[Unrolled, Any, Any, Any], Any]:
    def function(sweep: Unrolled, *state: Any) -> Any:
        return QUANTITIES[name](sweep.tree).function(sweep, *(state[k] for k in arguments))

    return function


def _kinetic(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
    return _recipe("energy", 0, 1)(sweep, q, qd, qdd)[0]


def _potential(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
    return _recipe("energy", 0, 1)(sweep, q, qd, qdd)[1]


def _parameters(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
    return regressor.parameter_values(sweep.tree, regressor.STANDARD)


EQUATIONS: dict[str, Quantity] = {
    "M": Quantity("M", "M", "mass matrix", _recipe("mass_matrix", 0)),
    "C": Quantity("C", "C", "Coriolis matrix by Christoffel symbols", _recipe("coriolis_matrix", 0, 1), ("c",)),
    "c": Quantity("c", "c", "Christoffel symbols of the first kind", _recipe("christoffel", 0)),
    "g": Quantity("g", "g", "gravity torque", _recipe("gravity_torque", 0)),
    "h": Quantity("h", "h", "bias C qd + g", _recipe("bias", 0, 1), ("c", "g")),
    "friction": Quantity("f", "f", "joint friction", _recipe("friction_torque", 1)),
    "tau": Quantity(r"\tau", "τ", "joint torques", _recipe("inverse_dynamics", 0, 1, 2), ("M", "c", "g", "friction")),
    "T": Quantity("T", "T", "kinetic energy", _kinetic),
    "U": Quantity("U", "U", "potential energy", _potential),
    "Y": Quantity("Y", "Y", "regressor, tau = Y phi", _recipe("regressor", 0, 1, 2)),
    "phi": Quantity(r"\varphi", "φ", "dynamic parameters", _parameters),
}


def sources(names: Iterable[str]) -> list[str]:
    """What has to be traced for closed forms of these quantities."""
    return list(dict.fromkeys(part for name in names for part in (EQUATIONS[name].parts or (name,))))


def together(names: Sequence[str]) -> Callable[..., Any]:
    """One function of a sweep and a state for several quantities."""

    def function(sweep: Unrolled, *state: Any) -> Any:
        results = tuple(EQUATIONS[name].function(sweep, *state) for name in names)
        return results if len(results) > 1 else results[0]

    return function
