"""The same graph as a function of JAX arrays: for `jit`, `vmap`, `grad`, on whatever device JAX runs.

**Derivatives where an arm of `where` is not taken.** Reverse mode hands the arm not taken the adjoint 0, and 0 times an infinite
partial derivative is NaN: the gradient of where(x > 0, sqrt(x), 0) at 0 would be NaN although neither side of it is. The way
out is a second `where` in front: sqrt(where(x > 0, x, 1)). The walk puts it there by itself, in front of every division, root
and arctangent that only matters when some arm is taken (`_arms`). Values do not change, since such a result is selected away.

**Compile time.** XLA's compiler for processors fuses a flat graph of scalars by computing shared values again and again; its
time grows faster than the graph. The page docs/howto/export.md gives figures and the option that avoids it.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

from ..dynamics.system import AnySystem
from ..errors import DalembertWarning, MissingExtraError
from ..expr import Expr, Program, Slot
from ..expr.interpret import batch_shape
from ..options import text
from .choose import programs

_GUARDED = {"sqrt": 0, "div": 1, "atan2": 1}  # which argument keeps the derivative finite when it is 1
_told: set[str] = set()


def readings(jnp: Any) -> dict[str, Callable[..., Any]]:
    """Each primitive in JAX, given the module `jax.numpy`."""
    return {
        "add": jnp.add,
        "sub": jnp.subtract,
        "mul": jnp.multiply,
        "div": jnp.true_divide,
        "neg": jnp.negative,
        "sqrt": jnp.sqrt,
        "sin": jnp.sin,
        "cos": jnp.cos,
        "atan2": jnp.arctan2,
        "abs": jnp.abs,
        "sign": jnp.sign,
        "min": jnp.minimum,
        "max": jnp.maximum,
        "lt": lambda a, b: jnp.where(a < b, 1.0, 0.0),
        "le": lambda a, b: jnp.where(a <= b, 1.0, 0.0),
        "eq": lambda a, b: jnp.where(a == b, 1.0, 0.0),
        "where": lambda condition, a, b: jnp.where(condition != 0.0, a, b),
    }


def to_jax(
    system: AnySystem,
    quantity: str = "inverse_dynamics",
    *,
    formulation: str | None = None,
    link: str | Sequence[str] | None = None,
    frame: str | None = None,
    angles: str | None = None,
    wrenches: Sequence[str] | None = None,
    moving_base: bool | None = None,
    parameters: bool | None = None,
) -> Callable[..., Any]:
    """A quantity as a function of JAX arrays: compiled by XLA, and open to `jit`, `vmap`, `grad`, `jacfwd`.

    Use it inside programs written in JAX. For NumPy arrays the functions of this package are faster, and so are their
    derivatives. JAX computes in single precision unless told otherwise: call
    `jax.config.update("jax_enable_x64", True)` at the start of the program.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    quantity : str
        What to compute, named like the function of this package: 'inverse_dynamics', 'mass_matrix', 'jacobian', ...
    formulation, link, frame, angles
        As in the function of the quantity.
    wrenches : sequence of str, optional
        Links (or 'tool') on which a wrench acts; each becomes an argument of shape (..., 6).
    moving_base : bool, optional
        Whether velocity and acceleration of the base are arguments, each of shape (..., 6).
    parameters : bool, optional
        Whether the dynamic parameters are an argument of shape (..., p), in the order of `dal.parameter_names`.

    Returns
    -------
    callable
        Takes arrays of shape (..., n), whose leading axes broadcast, and returns an array, or a tuple of arrays where the
        quantity has several, such as 'energy'.

    Raises
    ------
    MissingExtraError
        Without the extra 'jax'.
    UnknownNameError
        For a quantity, option, link or formulation that is not known.

    Warns
    -----
    DalembertWarning
        Code 'single-precision', once, when JAX computes in single precision.

    Examples
    --------
    >>> import jax
    >>> import dalembert as dal
    >>> with jax.enable_x64(True):
    ...     torque = dal.to_jax(dal.robots.pendulum(), "gravity_torque")
    ...     slope = jax.jacfwd(torque)(jax.numpy.array([0.0]))
    >>> slope.tolist()  # m g l cos q
    [[4.905]]
    """
    options = {
        "formulation": formulation,
        "link": link,
        "frame": frame,
        "angles": angles,
        "wrenches": wrenches,
        "moving_base": moving_base,
        "parameters": parameters,
    }
    (program,) = programs(system, text("quantity", quantity, "a name such as 'inverse_dynamics'"), options).values()
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise MissingExtraError.for_extra("to_jax", "jax", "jax") from None
    _tell_precision(jax)
    return jax.jit(function_of(program, jax.numpy))


def function_of(program: Program, jnp: Any) -> Callable[..., Any]:
    """A program as a function of JAX arrays."""
    table, guards = readings(jnp), _arms(program)
    nodes = _order(program, guards)

    def function(*given: Any) -> Any:
        arrays = [_floating(jnp, value) for value in given]
        batch = jnp.broadcast_shapes(*(batch_shape(s, a.shape) for s, a in zip(program.inputs, arrays, strict=True)))
        values = _walk(nodes, _columns(program, arrays), table, guards)
        results = tuple(_stack(jnp, s, r, values, batch) for s, r in zip(program.outputs, program.results, strict=True))
        return results if len(results) > 1 else results[0]

    function.__name__ = function.__qualname__ = program.name
    return function


def _floating(jnp: Any, value: Any) -> Any:
    """An array of JAX's usual floats, unless it has floats of its own."""
    array = jnp.asarray(value)
    return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(float)


def _columns(program: Program, arrays: Sequence[Any]) -> dict[Expr, Any]:
    """The entries of the inputs, each with the batch axes left."""
    columns: dict[Expr, Any] = {}
    for slot, entries, array in zip(program.inputs, program.entries, arrays, strict=True):
        flat = array.reshape(*batch_shape(slot, array.shape), slot.size)
        columns |= {node: flat[..., k] for k, node in enumerate(entries)}
    return columns


def _walk(
    nodes: Sequence[Expr], values: dict[Expr, Any], table: Mapping[str, Callable[..., Any]], guards: Mapping[Expr, _Arms]
) -> dict[Expr, Any]:
    """The value of every node; constants stay Python floats, so that the precision of the inputs decides."""
    for node in nodes:
        if node.op == "const":
            values[node] = node.value
        elif node.op != "input":
            arguments = [values[a] for a in node.args]
            if guards.get(node):
                place = _GUARDED[node.op]
                arguments[place] = table["where"](_taken(guards[node], values), arguments[place], 1.0)
            values[node] = table[node.op](*arguments)
    return values


def _stack(jnp: Any, slot: Slot, result: Sequence[Any], values: Mapping[Expr, Any], batch: tuple[int, ...]) -> Any:
    entries = [values[s] if isinstance(s, Expr) else s for s in result]
    flat = jnp.stack([jnp.broadcast_to(jnp.asarray(e), batch) for e in entries], axis=-1)
    return flat.reshape((*batch, *slot.shape))


class _Arm(NamedTuple):
    """One side of a selection: the condition, and whether it has to hold."""

    condition: Expr
    holds: bool


_Arms: TypeAlias = tuple[_Arm, ...]


def _arms(program: Program) -> dict[Expr, _Arms]:
    """For each node to be guarded: the arms, outermost first, that all have to be taken for it to matter."""
    arms: dict[Expr, _Arms] = {s: () for result in program.results for s in result if isinstance(s, Expr)}
    for node in reversed(program.nodes):
        for k, argument in enumerate(node.args):
            here = arms[node]
            if node.op == "where" and k > 0:
                here = (*here, _Arm(node.args[0], k == 1))
            arms[argument] = _common(arms[argument], here) if argument in arms else here
    return {node: found for node, found in arms.items() if found and node.op in _GUARDED}


def _common(a: _Arms, b: _Arms) -> _Arms:
    """The arms at the start of both."""
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return a[:shared]


def _order(program: Program, guards: Mapping[Expr, _Arms]) -> list[Expr]:
    """The nodes, arguments first, and conditions before what they guard.

    Such an order exists: a condition that needed the node it guards would be a use of that node outside the arm.
    """
    done: dict[Expr, None] = {}
    stack = program.nodes[::-1]
    while stack:
        node = stack[-1]
        needed = (*node.args, *(arm.condition for arm in guards.get(node, ())))
        missing = [n for n in needed if n not in done]
        if missing:
            stack.extend(missing)
        else:
            done[stack.pop()] = None
    return list(done)


def _taken(arms: _Arms, values: Mapping[Expr, Any]) -> Any:
    """Whether all arms are taken."""
    holds = (values[a.condition] != 0.0 if a.holds else values[a.condition] == 0.0 for a in arms)
    return reduce(lambda a, b: a & b, holds)


def _tell_precision(jax: Any) -> None:
    if jax.config.jax_enable_x64 or "single-precision" in _told:
        return
    _told.add("single-precision")
    message = (
        "jax: it computes in single precision, to about 1e-6 relative, while this package computes in double. "
        'Call jax.config.update("jax_enable_x64", True) first.'
    )
    warnings.warn(DalembertWarning(message, "single-precision"), stacklevel=3)
