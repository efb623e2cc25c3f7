"""What is integrated: the forward dynamics of a robot and the joint torques on it, as stages of a time loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import DalembertError, ExprError, ModelError
from ..expr import Expr
from ..expr.loops import Step
from .assembly import Assembly, Cells

TorqueFunction = Callable[[Any, Any, Any], Any]


class StateCells(NamedTuple):
    """Where time, positions and velocities of the point in question are."""

    t: Cells
    q: Cells
    qd: Cells


def acceleration(assembly: Assembly, system: AnySystem, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
    """Stages that compute q̈ at a point."""
    recipe = engine.system_of(system).recipe(engine.request_of("forward_dynamics"))
    if recipe.way == "composed":
        raise ModelError(
            f"system: {system.name!r} has {engine.size(system)} coordinates with full rotors or couplings, whose forward "
            "dynamics is not one kernel. Integrate dal.forward_dynamics with scipy.integrate.solve_ivp instead."
        )
    return assembly.embed(engine.program_of(recipe, "forward_dynamics"), [at.q, at.qd, tau], [qdd])


def control(assembly: Assembly, system: AnySystem, function: TorqueFunction, at: StateCells, tau: Cells) -> list[Step]:
    """Stages that compute τ(t, q, q̇) at a point, by a user's function of scalars."""

    def traced(t: list[Expr], q: list[Expr], qd: list[Expr]) -> list[list[Any]]:
        return [trace_torque(function, t[0], q, qd)]

    return assembly.once(traced, [at.t, at.q, at.qd], [tau])


def trace_torque(function: TorqueFunction, t: Any, q: Sequence[Any], qd: Sequence[Any]) -> list[Any]:
    """The scalars a torque function returns for symbols; a refusal with a way out if it cannot be traced."""
    try:
        returned = function(t, _symbols(q), _symbols(qd))
        scalars = list(np.asarray(returned, dtype=object).ravel()) if np.ndim(returned) else [returned]
        scalars = [_scalar(x) for x in scalars]
    except (DalembertError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ExprError(
            f"tau: the function could not be traced ({error}). Write it over scalars with arithmetic and dalembert.expr.ops, "
            "sample it and give an array to rollout or simulate, or integrate with scipy.integrate.solve_ivp."
        ) from error
    if len(scalars) != len(q):
        raise ExprError(
            f"tau: the function returned {len(scalars)} torques; one for each of the {len(q)} coordinates is expected."
        )
    return scalars


def _scalar(x: Any) -> Any:
    if isinstance(x, Expr):
        return x
    if isinstance(x, Real):
        return float(x)
    raise TypeError(f"it returned {type(x).__name__} in the place of a scalar")


def _symbols(scalars: Sequence[Any]) -> Any:
    """Symbols in an array, so that K * (target - q) works with arrays of gains."""
    array = np.empty(len(scalars), dtype=object)
    array[:] = scalars
    return array
