"""What all campaigns share: cases by number, faults by kind, and the questions a judge asks.

A campaign is a module with

    QUICK, FULL : int           cases in `make test` and in `make fuzz`
    LIMIT : float               seconds after which a case counts as hung
    draw(rng, number) -> case   an object whose `str` is one line; the same for the same seed and number
    judge(case) -> None         raises a `Fault` if the library did not behave

and its line in `CAMPAIGNS` of `runner.py`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

import dalembert as dal

CRASH, HANG, FOREIGN, SILENT, WRONG, UNCLEAR = KINDS = ("crash", "hang", "foreign", "silent", "wrong", "unclear")
LONGEST_MESSAGE = 2000  # characters: a screen or so


class Fault(Exception):
    """The library misbehaved; `kind` is one of `KINDS`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message


def answer(call: Callable[[], Any], names: Iterable[str] = ()) -> Any:
    """What the call returns, or the error of this package it raised; any other exception, or an unclear message, is a fault.

    A refusal names one of `names`, if there are any.
    """
    try:
        return call()
    except dal.DalembertError as error:
        _require_clear(str(error), list(dict.fromkeys(names)))
        return error
    except Exception as error:
        raise Fault(FOREIGN, f"{type(error).__name__}: {cut(str(error))}") from error


def _require_clear(message: str, names: list[str]) -> None:
    if len(message) >= LONGEST_MESSAGE:
        raise Fault(UNCLEAR, f"a message of {len(message)} characters: {cut(message)}")
    if not message.strip():
        raise Fault(UNCLEAR, "an empty message")
    if names and not any(re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", message) for name in names):
        raise Fault(UNCLEAR, f"the message does not name {' or '.join(names)}: {cut(message)}")


def refused(result: Any) -> bool:
    """Whether `answer` came back with an error."""
    return isinstance(result, dal.DalembertError)


def cut(text: str, longest: int = 300) -> str:
    """A text in one printable line, not too long."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    return line if len(line) <= longest else f"{line[:longest]} ... ({len(line)} characters)"


def leaves(result: Any, name: str = "result") -> dict[str, Any]:
    """The arrays of a result by name: of a tuple, a mapping, a record, or a bare one."""
    if result is None:
        return {}
    if hasattr(result, "__array__"):  # also an array of another library
        return {name: np.asarray(result)}
    if isinstance(result, Mapping):
        parts: Iterable[tuple[str, Any]] = ((str(key), value) for key, value in result.items())
    elif hasattr(result, "_fields"):
        parts = zip(result._fields, result, strict=True)
    elif isinstance(result, tuple):
        parts = ((str(k), value) for k, value in enumerate(result))
    elif dataclasses.is_dataclass(result):
        parts = ((field.name, getattr(result, field.name)) for field in dataclasses.fields(result))
    else:
        return {name: np.asarray(result)} if isinstance(result, float) else {}
    return {full: array for key, value in parts for full, array in leaves(value, f"{name}.{key}").items()}


def require_equal(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    """The same arrays, to rounding: entries relative to the largest one; NaN and infinity in the same places."""
    found, expected = leaves(found), leaves(expected)
    if found.keys() != expected.keys():
        raise Fault(WRONG, f"results {sorted(found)} found, {sorted(expected)} expected")
    for name, right in expected.items():
        _require_close(name, np.asarray(found[name]) + 0.0, np.asarray(right) + 0.0, tolerance)  # truth values as numbers


def _require_close(name: str, found: np.ndarray, right: np.ndarray, tolerance: float) -> None:
    if found.shape != right.shape:
        raise Fault(WRONG, f"{name}: shape {found.shape} found, {right.shape} expected")
    finite = np.isfinite(right)
    if not np.array_equal(np.isfinite(found), finite) or not np.array_equal(np.isnan(found), np.isnan(right)):
        raise Fault(WRONG, f"{name}: NaN or infinity in other places than expected")
    scale = float(np.max(np.abs(right), where=finite, initial=0.0))
    with np.errstate(all="ignore"):
        off = float(np.max(np.abs(found - right), where=finite, initial=0.0))
    if not off <= tolerance * max(scale, 1e-3):
        raise Fault(WRONG, f"{name}: off by {off:.3g} where the largest entry is {scale:.3g}")


def pick(rng: np.random.Generator, choices: Iterable[Any]) -> Any:
    """One of them."""
    listed = list(choices)
    return listed[int(rng.integers(len(listed)))]


def is_number(value: Any) -> bool:
    """Whether this is one real, finite number, and not a truth value."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        return real and math.isfinite(float(value))
    except OverflowError:
        return False


def is_whole(value: Any) -> bool:
    """Whether this is a whole number, and not a truth value."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
