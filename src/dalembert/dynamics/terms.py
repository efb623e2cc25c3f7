"""What is particular to a formulation, as arrays by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.sweep import Unrolled
from ..checks import FloatArray, choice
from ..errors import ModelError, UnknownNameError
from ..model import Robot
from ..options import several_names
from .engine import tree
from .quantities import FREE, method_of
from .shaped import Shaped, kept, shaped


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
    asked = tuple(method.terms) if names is None else tuple(dict.fromkeys(several_names("names", names, "names of terms")))
    if not asked:
        raise UnknownNameError(f"names: none found; one or more of {', '.join(method.terms)} expected.")
    run = kept(system, ("terms", formulation, asked), lambda: _compile(system, formulation, asked))
    still = np.zeros(segments.n)
    return run(q, still if qd is None else qd, still if qdd is None else qdd, threads=threads)


def _compile(system: Robot, formulation: str, asked: tuple[str, ...]) -> Shaped:
    segments = tree(system)
    method = method_of(segments, formulation, FREE)
    chosen = [choice("terms", name, method.terms) for name in asked]

    def function(q: Any, qd: Any, qdd: Any) -> list[Any]:
        sweep = Unrolled(segments)
        return [term.function(sweep, q, qd, qdd) for term in chosen]

    return shaped(function, dict.fromkeys(("q", "qd", "qdd"), (segments.n,)), asked, "terms")
