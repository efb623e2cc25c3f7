"""Kernels of one's own: several quantities that share their work, functions of one's own, inputs that stay fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import Kernel, portable, thread_count
from ..codegen.arguments import batch_of, real
from ..errors import ShapeError, UnknownNameError
from ..expr import Slot, trace
from ..model import Robot
from ..options import mapping, several_names
from .engine import NO_KERNEL, built, request_of, system_of
from .own import function_recipe
from .quantities import NAMES
from .system import AnySystem, Composition, Kernels, Recipe, Shapes, System

STATE = ("q", "qd", "qdd", "tau")
_EVALUATE = "evaluate"


def evaluate(
    system: AnySystem,
    names: Sequence[str],
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    out: Mapping[str, FloatArray] | None = None,
    threads: int | None = None,
) -> dict[str, FloatArray]:
    """Several quantities at once, by one kernel that shares what they have in common.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    names : sequence of str
        Such as ['M', 'h', 'J']; see `dal.NAMES` for all of them.
    q, qd, qdd, tau : array_like, shape (..., n)
        The inputs these quantities need; leading axes broadcast.
    out : mapping of name to ndarray, optional
        Where to put each result, of the shape it would have; all of them, if any.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    dict
        An array for each name, shaped as the function of that quantity returns it.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> found = dal.evaluate(dal.robots.pendulum(), ["M", "g"], [np.pi / 2])
    >>> found["g"].round(6)
    array([4.905])
    """
    asked = names if type(names) is tuple else _listed(names)
    try:
        run, pick, spare = system.kernels[_EVALUATE, asked]
    except NO_KERNEL:
        run, pick, spare = _evaluation(system, asked)
    given = (q, qd, qdd, tau)
    for place in spare:
        if given[place] is not None:
            _look_at(STATE[place], given[place], len(system_of(system).coordinates))
    arrays = pick(given)
    results = run.single(*arrays) if out is None and (threads is None or thread_count(threads)) else NotImplemented
    if results is NotImplemented:
        for slot, array in zip(run.inputs, arrays, strict=True):
            _needed(slot.name, array, asked)
        results = run(*arrays, out=_targets(asked, out), threads=threads)
    return dict(zip(asked, results)) if len(asked) > 1 else {asked[0]: results}


def _evaluation(system: AnySystem, asked: tuple[str, ...]) -> tuple[Kernel, Callable[[Any], tuple[Any, ...]], tuple[int, ...]]:
    """The kernel of some names, kept with the system, what picks its inputs out of q, q̇, q̈, τ, and the places of the others."""
    run = built(system, _combined(system_of(system), _listed(asked)), "kernel")
    places = [STATE.index(slot.name) for slot in run.inputs]
    one = slice(places[0], places[0] + 1)  # a slice gives a tuple even of one
    pick: Callable[[Any], tuple[Any, ...]] = itemgetter(*places) if len(places) > 1 else itemgetter(one)
    found = run, pick, tuple(k for k in range(len(STATE)) if k not in places)
    system.kernels[_EVALUATE, asked] = found
    return found


def _look_at(name: str, value: Any, n: int) -> None:
    """Refuse a wrong array also where no result depends on it."""
    batch_of([Slot(name, (n,))], [real(name, value, f"(..., {n})")])


def _targets(asked: tuple[str, ...], out: Mapping[str, FloatArray] | None) -> Any:
    """Where the results go, in their order."""
    if out is None:
        return None
    mapping("out", out, f"{{{asked[0]!r}: np.empty(...)}}")
    if set(out) != set(asked):
        found = ", ".join(map(str, out)) or "nothing"
        raise ShapeError(f"out: arrays for {found} found; one for each of {', '.join(asked)} is expected.")
    targets = tuple(out[name] for name in asked)
    return targets if len(asked) > 1 else targets[0]


def _listed(names: Any, subject: str = "names") -> tuple[str, ...]:
    asked = several_names(subject, names, f"some of {', '.join(NAMES)}")
    if not asked:
        raise ShapeError(f"{subject}: none found; one or more of {', '.join(NAMES)} are expected.")
    return asked


def _needed(name: str, value: ArrayLike | None, asked: tuple[str, ...]) -> None:
    if value is None:
        raise ShapeError(f"{name}: nothing found, but {', '.join(asked)} need it; shape (..., n) expected.")


def kernel(
    source: AnySystem | Callable[..., Any],
    what: Sequence[str] | Mapping[str, tuple[int, ...]],
    *,
    outputs: Sequence[str] = ("y",),
    fixed: Mapping[str, ArrayLike] | None = None,
    dtype: str = "float64",
) -> Kernel:
    """Compile a function of one's own, or quantities of a robot, into a kernel of arrays.

    Parameters
    ----------
    source : Robot or callable
        A robot, or a function written over scalars: it receives, for each input, a scalar or nested lists of them, and
        returns such nests, one per output. Branch with `dalembert.expr.ops.where`, take sines from `dalembert.expr.ops`.
    what : sequence of str, or mapping of name to shape
        Names as in `evaluate`, for a robot; inputs with their shapes, for a function.
    outputs : sequence of str
        Names of a function's outputs.
    fixed : mapping of input name to array, optional
        Inputs that stay the same: their numbers are folded into the code, and the kernel takes the others only.
    dtype : {'float64', 'float32'}
        What the kernel takes, computes in and returns; single precision is nearly twice as fast.

    Returns
    -------
    Kernel
        A callable of arrays with leading batch axes, by place or by name, with `out=` and `threads=`; it prints its inputs and
        outputs.

    Examples
    --------
    >>> import dalembert as dal
    >>> from dalembert.expr import ops
    >>> norm = dal.kernel(lambda v: ops.sqrt(v[0] * v[0] + v[1] * v[1]), {"v": (2,)})
    >>> float(norm([3.0, 4.0]))
    5.0
    """
    if isinstance(source, Robot | System):
        recipe = _combined(system_of(source), _listed(what, "what"))
    elif not callable(source):
        raise ShapeError(f"kernel: {type(source).__name__} found; a Robot or a function of scalars is expected.")
    else:
        recipe = function_recipe(source, what, several_names("outputs", outputs, "names of outputs"))
    stays = {} if fixed is None else mapping("fixed", fixed, "{'qd': [0.0, 0.0]}")
    return portable(trace(*_with_fixed(recipe, stays), name="kernel"), dtype)


def _with_fixed(recipe: Recipe, fixed: Mapping[str, ArrayLike]) -> tuple[Callable[..., Any], dict[str, Any], list[str]]:
    """The recipe's function of its free inputs, with the fixed ones filled in as numbers."""
    for name in fixed:
        checks.choice("fixed", name, recipe.inputs)
    values = {name: checks.array(f"fixed: {name}", value, recipe.inputs[name]).tolist() for name, value in fixed.items()}
    free = {name: shape for name, shape in recipe.inputs.items() if name not in values}

    def function(*inputs: Any) -> Any:
        given = values | dict(zip(free, inputs, strict=True))
        return recipe.function(*(given[name] for name in recipe.inputs))

    return function, free, list(recipe.outputs)


def _combined(system: System, names: tuple[str, ...]) -> Recipe:
    """One recipe for several quantities; hash consing shares what they have in common.

    Where straight code of one of them would be too long, each is asked for by itself.
    """
    for name in names:
        if name not in NAMES:
            raise UnknownNameError.among("evaluate", name, NAMES)
    recipes = {name: system.recipe(request_of(name)) for name in dict.fromkeys(NAMES[name] for name in names)}
    needed = {key for recipe in recipes.values() for key in recipe.inputs}
    inputs = {key: (len(system.coordinates),) for key in STATE if key in needed}

    def function(*values: Any) -> Any:
        given = dict(zip(inputs, values, strict=True))
        return _picked(names, recipes, lambda name, recipe: recipe.function(*(given[key] for key in recipe.inputs)))

    way = "straight" if all(recipe.way == "straight" for recipe in recipes.values()) else "composed"
    return Recipe(function, inputs, list(names), way, composed=partial(_one_by_one, names, recipes, inputs))


def _picked(names: tuple[str, ...], recipes: Mapping[str, Recipe], run: Callable[[str, Recipe], Any]) -> Any:
    """The results of some names out of those of all recipes; a bare one if there is a single name."""
    found: dict[str, Any] = {}
    for quantity, recipe in recipes.items():
        results = run(quantity, recipe)
        found |= dict(zip(recipe.outputs, results if len(recipe.outputs) > 1 else (results,), strict=True))
    return tuple(found[name] for name in names) if len(names) > 1 else found[names[0]]


def _one_by_one(names: tuple[str, ...], recipes: Mapping[str, Recipe], inputs: Shapes, source: Kernels) -> Composition:
    kernels = {quantity: source.kernel(quantity) for quantity in recipes}
    shapes = {slot.name: slot.shape for run in kernels.values() for slot in run.outputs}

    def function(*arrays: Any) -> tuple[Any, ...]:
        given = dict(zip(inputs, arrays, strict=True))
        results = _picked(names, recipes, lambda name, recipe: kernels[name](*(given[key] for key in recipe.inputs)))
        return results if len(names) > 1 else (results,)

    return Composition(function, [shapes[name] for name in names])


__all__ = ["evaluate", "kernel"]
