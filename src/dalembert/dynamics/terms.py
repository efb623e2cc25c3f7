"""What is particular to a formulation, as arrays by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ModelError, UnknownNameError
from ..options import several_names
from .engine import kernel, tree
from .surroundings import method_of
from .system import AnySystem


def terms(
    system: AnySystem,
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
    system : Robot or System
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

    Examples
    --------
    >>> import dalembert as dal
    >>> found = dal.terms(dal.robots.two_link_planar(), [0.3, -0.2], formulation="lagrange_euler", names=["D"])
    >>> found["D"].shape
    (2, 2)
    """
    method = method_of(tree(system), formulation)
    if not method.terms:
        raise ModelError(f"terms: formulation {formulation!r} has none of its own. Ask for link_wrenches or another formulation.")
    asked = tuple(method.terms) if names is None else tuple(dict.fromkeys(several_names("names", names, "names of terms")))
    if not asked:
        raise UnknownNameError(f"names: none found; one or more of {', '.join(method.terms)} expected.")
    run = kernel(system, "terms", formulation, asked)
    still = np.zeros(run.inputs[0].shape)
    found = run(q, still if qd is None else qd, still if qdd is None else qdd, threads=threads)
    return dict(zip(asked, found if len(asked) > 1 else (found,), strict=True))


__all__ = ["terms"]
