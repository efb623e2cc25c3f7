"""What is particular to a formulation, as arrays by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.sweep import Unrolled
from ..checks import FloatArray, choice
from ..codegen import Kernel, build
from ..errors import ModelError
from ..expr import trace
from ..model import Robot
from .engine import tree
from .quantities import FREE, method_of


class _Compiled(NamedTuple):
    run: Kernel
    shapes: dict[str, tuple[int, ...]]


def terms(
    system: Robot,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    formulation: str,
    names: Sequence[str] | None = None,
    threads: int | None = None,
) -> dict[str, FloatArray]:
    """What a formulation computes on its way, by the names its document uses.

    `dal.FORMULATIONS[formulation].terms` lists them with their meaning.

    Parameters
    ----------
    system : Robot
        With n coordinates.
    q, qd, qdd : array_like, shape (..., n)
        Positions and their time derivatives; those left out are zero. Leading axes broadcast.
    formulation : str
        A name from `dal.FORMULATIONS`.
    names : sequence of str, optional
        The terms wanted; all of the formulation's, if left out.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    dict
        An array of shape (..., *) for each name.

    Raises
    ------
    ModelError
        For a formulation that has no terms of its own.
    """
    segments = tree(system)
    method = method_of(segments, formulation, FREE)
    if not method.terms:
        raise ModelError(f"terms: formulation {formulation!r} has none of its own. Ask for link_wrenches or another formulation.")
    asked = tuple(method.terms) if names is None else (names,) if isinstance(names, str) else tuple(names)
    compiled = system.kernels.get(("terms", formulation, asked))
    if compiled is None:
        compiled = _compile(system, formulation, asked)
        system.kernels["terms", formulation, asked] = compiled
    still = np.zeros(segments.n)
    results = compiled.run(q, still if qd is None else qd, still if qdd is None else qdd, threads=threads)
    flat = dict(zip(asked, results if len(asked) > 1 else (results,), strict=True))
    return {name: flat[name].reshape(flat[name].shape[:-1] + shape) for name, shape in compiled.shapes.items()}


def _compile(system: Robot, formulation: str, asked: tuple[str, ...]) -> _Compiled:
    segments = tree(system)
    method = method_of(segments, formulation, FREE)
    chosen = [choice("terms", name, method.terms) for name in asked]
    shapes: dict[str, tuple[int, ...]] = {}

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        sweep = Unrolled(segments)
        rows = []
        for name, term in zip(asked, chosen, strict=True):
            shapes[name], row = _flattened(term.function(sweep, q, qd, qdd))
            rows.append(row)
        return rows if len(rows) > 1 else rows[0]

    program = trace(function, dict.fromkeys(("q", "qd", "qdd"), (segments.n,)), list(asked), name="terms")
    return _Compiled(build(program), shapes)


def _flattened(nest: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested sequences of scalars, and their entries in one row."""
    if not isinstance(nest, (list, tuple)):
        return (), [nest]
    inner = [_flattened(entry) for entry in nest]
    return (len(inner), *inner[0][0]), [scalar for _, row in inner for scalar in row]
