"""Outputs of a linear model: states, accelerations, displacements of frames, functions of one's own; as rows of C and D."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import dynamics as dyn
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.system import AS_IT_IS, AnySystem, Reading, Recipe, TreeSystem
from ..errors import ModelError, UnknownNameError
from ..expr.differentiate import jacobian
from ..model.tree import Tree
from .own_functions import OwnFunction
from .signals import Signal

AXES = (("x", "m"), ("y", "m"), ("z", "m"), ("rx", "rad"), ("ry", "rad"), ("rz", "rad"))


def _slopes(function: OwnFunction, q: Any, qd: Any) -> Any:
    """∂y/∂(q, q̇)."""
    return jacobian(function(q, qd), [*q, *qd])


def _over_tree(tree: Tree, function: OwnFunction) -> TreeRecipe:
    def slopes(sweep: Any, q: Any, qd: Any) -> Any:
        return _slopes(function, q, qd)

    return TreeRecipe(slopes, dict.fromkeys(("q", "qd"), (tree.n,)), ["C"], can_roll=False)


def _derived(system: Any, function: OwnFunction, *, reading: Reading = AS_IT_IS) -> Recipe:
    return Recipe(partial(_slopes, function), dict.fromkeys(("q", "qd"), (len(system.coordinates),)), ["C"])


OUTPUT_SLOPES = Quantity("output_slopes", (Output("C"),), _over_tree, derived=_derived, exported=False)


class Made(NamedTuple):
    """A and B with the motion they are made at, for what follows from them."""

    q: Any
    qd: Any
    A: FloatArray
    B: FloatArray


class OutputRows(NamedTuple):
    """Rows of C and D with their names; no D means zero."""

    signals: Sequence[Signal]
    C: FloatArray
    D: FloatArray | None = None


def outputs_of(system: AnySystem, outputs: Any, states: Sequence[Signal], made: Made) -> OutputRows:
    """Names, C and D of what was asked for; the states if nothing was."""
    m, p = made.B.shape[-2:]
    batch = made.A.shape[:-2]
    if outputs is None:
        return OutputRows(states, _same(np.eye(m), batch), _same(np.zeros((m, p)), batch))
    asked = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    if not asked:
        raise ModelError("outputs: none found; names such as 'q' or 'tool', or functions of (q, qd), are expected.")
    rows = [_rows(system, one, states, made) for one in asked]
    signals = [signal for part in rows for signal in part.signals]
    C = np.concatenate([np.broadcast_to(part.C, (*batch, *part.C.shape[-2:])) for part in rows], axis=-2)
    if all(part.D is None for part in rows):
        return OutputRows(signals, C, _same(np.zeros((len(signals), p)), batch))
    D = [_same(np.zeros((len(part.signals), p)), batch) if part.D is None else part.D for part in rows]
    return OutputRows(signals, C, np.concatenate(D, axis=-2))


def _same(matrix: FloatArray, batch: tuple[int, ...]) -> FloatArray:
    """One matrix for the whole batch, without copies."""
    return np.broadcast_to(matrix, (*batch, *matrix.shape))


def _rows(system: AnySystem, asked: Any, states: Sequence[Signal], made: Made) -> OutputRows:
    n, m = len(states) // 2, len(states)
    if callable(asked):
        C = engine.kernel(system, OUTPUT_SLOPES, OwnFunction("outputs", asked))(made.q, made.qd)
        count, name = C.shape[-2], getattr(asked, "__name__", "y").strip("<>")
        return OutputRows([Signal(name if count == 1 else f"{name}_{k}") for k in range(1, count + 1)], C)
    names = [signal.name.removeprefix("q_") for signal in states[:n]]
    if isinstance(asked, str) and asked == "qdd":
        signals = [Signal(f"qdd_{name}", f"{state.unit}/s²") for name, state in zip(names, states[:n], strict=True)]
        return OutputRows(signals, made.A[..., n:, :], made.B[..., n:, :])
    chosen = {"q": slice(n), "qd": slice(n, m), **{name: slice(k, k + 1) for k, name in enumerate(names)}}
    if isinstance(asked, str) and asked in chosen:
        return OutputRows(states[chosen[asked]], np.eye(m)[chosen[asked]])
    return _frame(system, asked, [*chosen, "qdd"], made)


def _frame(system: AnySystem, asked: Any, known: Sequence[str], made: Made) -> OutputRows:
    """The displacement of a frame: position of its origin, and its turn as a small vector, in world axes."""
    view = engine.system_of(system)
    links = ["tool", *view.tree.links] if isinstance(view, TreeSystem) else []
    if not isinstance(asked, str) or asked not in links:
        raise UnknownNameError.among("outputs", asked, [*known, *links])
    J = dyn.jacobian(system, made.q, asked)
    return OutputRows([Signal(f"{asked}_{axis}", unit) for axis, unit in AXES], np.concatenate([J, np.zeros_like(J)], axis=-1))


__all__ = ["Made", "outputs_of"]
