"""The many ways in which an array can be handed over: layouts, element types, containers; and values that are not arrays.

Such a way, a `Dress`, takes a generator and clean numbers, and gives the value to hand over with its meaning: an array of
float64, or None if it has no meaning and must be refused. `strict` is False where a refusal is right as well.
"""

from __future__ import annotations

import array
import decimal
import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .values import VALUES


class Dressed(NamedTuple):
    """What is handed over, what it means, and whether it has to be understood."""

    value: Any
    meaning: np.ndarray | None
    strict: bool = True
    tame: bool = True  # whether all numbers are finite and of ordinary size


Dress = Callable[[np.random.Generator, np.ndarray], Dressed]


def _same(layout: Callable[[np.ndarray], Any], strict: bool = True) -> Dress:
    """The same numbers, handed over in another way; without any, lists would lose their shape."""
    return lambda rng, x: Dressed(layout(x) if x.size else x, x, strict)


def _as(dtype: Any, strict: bool = True) -> Dress:
    """Numbers of another type, as far as it can hold them."""

    def dress(rng: np.random.Generator, x: np.ndarray) -> Dressed:
        value = np.abs(x).astype(dtype) if np.dtype(dtype).kind in "ub" else x.astype(dtype)
        meaning = value.astype(float)
        return Dressed(value, meaning, strict, tame=np.allclose(meaning, x, rtol=0.01))

    return dress


def _with(entry: float, strict: bool = True) -> Dress:
    """One entry replaced by a number out of the ordinary."""

    def dress(rng: np.random.Generator, x: np.ndarray) -> Dressed:
        spoiled = x.copy()
        if spoiled.size:
            spoiled.flat[rng.integers(spoiled.size)] = entry
        return Dressed(spoiled, spoiled, strict, tame=False)

    return dress


def _nonsense(make: Callable[[np.ndarray], Any]) -> Dress:
    """Something that has no meaning."""
    return lambda rng, x: Dressed(make(x), None)


def _unaligned(x: np.ndarray) -> np.ndarray:
    room = np.zeros(x.nbytes + 1, np.uint8)
    view = room[1:].view(float).reshape(x.shape) if x.size else np.zeros(x.shape)
    view[...] = x
    return view


def _strided(x: np.ndarray, step: int) -> np.ndarray:
    room = np.full((*x.shape[:-1], x.shape[-1] * abs(step)), np.nan)
    view = room[..., ::step]
    view[...] = x
    return view


def _backwards(x: np.ndarray) -> np.ndarray:
    return x[::-1].copy()[::-1]


def _repeated(rng: np.random.Generator, x: np.ndarray) -> Dressed:
    """One row for the whole batch, by a stride of zero."""
    row = x.reshape(-1, x.shape[-1])[:1].reshape(x.shape[-1:]) if x.size else np.zeros(x.shape[-1])
    view = np.broadcast_to(row, x.shape)
    return Dressed(view, np.array(view))


def _read_only(x: np.ndarray) -> np.ndarray:
    view = x.copy()
    view.flags.writeable = False
    return view


def _tuples(x: Any) -> Any:
    return tuple(map(_tuples, x)) if isinstance(x, list) else x


def _objects(entry: Callable[[float], Any]) -> Callable[[np.ndarray], Any]:
    def make(x: np.ndarray) -> np.ndarray:
        value = np.empty(x.shape, object)
        value.flat[:] = [entry(float(number)) for number in x.flat]
        return value

    return make


def _masked(rng: np.random.Generator, x: np.ndarray) -> Dressed:
    """Hidden entries have no meaning; where there are none, none is hidden."""
    return Dressed(np.ma.masked_array(x, mask=np.ones(x.shape, bool)), None if x.size else x, strict=False)


class _Subclass(np.ndarray):
    """An array of somebody else's class."""


class _Convertible:
    """An object that can be made an array."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.x.astype(dtype or float)


class _Failing:
    """An object that says it can be made an array, and cannot."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise RuntimeError("no array today")


class _Reluctant:
    """An object that keeps NumPy's functions away."""

    __array_ufunc__ = None


def _structured(x: np.ndarray) -> np.ndarray:
    return np.zeros(x.shape, [("a", float), ("b", int)])


DRESSES: dict[str, Dress] = {
    "plain": _same(lambda x: x),
    "a list": _same(np.ndarray.tolist),
    "nested tuples": _same(lambda x: _tuples(x.tolist())),
    "a list of arrays": _same(list),
    "in Fortran order": _same(np.asfortranarray),
    "backwards": _same(_backwards),
    "every other entry": _same(lambda x: _strided(x, 2)),
    "every third entry, backwards": _same(lambda x: _strided(x, -3)),
    "a row repeated": _repeated,
    "big-endian": _same(lambda x: x.astype(">f8")),
    "unaligned": _same(_unaligned),
    "read-only": _same(_read_only),
    "float32": _as(np.float32),
    "float16": _as(np.float16),
    "int64": _as(np.int64),
    "int8": _as(np.int8),
    "uint8": _as(np.uint8),
    "big-endian int16": _as(">i2"),
    "NaN": _with(np.nan),
    "infinity": _with(np.inf),
    "1e5": _with(1e5),
    "1e300": _with(1e300),
    "-1e154": _with(-1e154),
    "subnormal": _with(5e-324),
    "bool": _as(bool, strict=False),
    "longdouble": _as(np.longdouble, strict=False),
    "a subclass": _same(lambda x: x.view(_Subclass), strict=False),
    "an object that can be an array": _same(_Convertible, strict=False),
    "floats as objects": _same(_objects(float), strict=False),
    "decimals": _same(_objects(decimal.Decimal), strict=False),
    "masked, nothing hidden": _same(np.ma.masked_array, strict=False),
    "memoryview": _same(memoryview, strict=False),
    "float64 scalars": _same(lambda x: [np.float64(v) for v in x] if x.ndim == 1 else x, strict=False),
    "complex": _nonsense(lambda x: x + 0j),
    "texts": _nonsense(lambda x: x.astype(str)),
    "a list of texts": _nonsense(lambda x: x.astype(str).tolist()),
    "bytes": _nonsense(lambda x: x.astype("S8")),
    "datetimes": _nonsense(lambda x: x.astype("M8[s]")),
    "durations": _nonsense(lambda x: x.astype("m8[s]")),
    "texts as objects": _nonsense(_objects(str)),
    "nothing as objects": _nonsense(_objects(lambda _: None)),
    "complex numbers as objects": _nonsense(_objects(lambda v: v + 1j)),
    "masked": _masked,
    "a structured array": _nonsense(_structured),
    "ragged": _nonsense(lambda x: [[1.0], [1.0, 2.0]]),
    "an object that fails to be an array": _nonsense(lambda x: _Failing()),
    "an object without ufuncs": _nonsense(lambda x: _Reluctant()),
    "a scalar": _nonsense(lambda x: 0.5),
    "an axis too few": _nonsense(lambda x: x[..., 0].sum()),
    "an entry too many": _nonsense(lambda x: np.zeros((*x.shape[:-1], x.shape[-1] + 1))),
    "no entries": _nonsense(lambda x: np.zeros((*x.shape[:-1], 0))),
    "64 axes": _nonsense(lambda x: np.zeros((1,) * 63 + (x.shape[-1] + 1,))),
    "an array of the standard library": _same(lambda x: array.array("d", x) if x.ndim == 1 else x, strict=False),
}
_ODD = ("10**400", "a long text", "{}", "set()", "a list in itself", "an unwilling object", "a class", "a module", "...")
DRESSES |= {f"value {name}": _nonsense(lambda x, name=name: VALUES[name]()) for name in _ODD}


def _foreign(library: str, make: str) -> Dress:
    """An array of another library, if it is here."""

    def dress(rng: np.random.Generator, x: np.ndarray) -> Dressed:
        if importlib.util.find_spec(library) is None:
            return Dressed(x, x)
        module = importlib.import_module(library if library != "dask" else "dask.array")
        return Dressed(getattr(module, make)(x), x, strict=False)

    return dress


DRESSES |= {
    "an xarray": _foreign("xarray", "DataArray"),
    "a dask array": _foreign("dask", "from_array"),
}
ALWAYS_FINE = ("plain", "a list", "backwards", "every other entry", "in Fortran order", "float32", "int64", "read-only")
