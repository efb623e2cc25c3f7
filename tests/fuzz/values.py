"""Values of every kind, made anew for each use: what people pass by mistake, and stranger things."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np


class Unwilling:
    """An object that has no truth, no length and no text, and is equal to nothing."""

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ValueError("no truth here")

    def __eq__(self, other: object) -> bool:
        raise ValueError("not comparable")


def _recursive() -> list[Any]:
    nest: list[Any] = []
    nest.append(nest)
    return nest


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "-1": lambda: -1,
    "2.5": lambda: 2.5,
    "0.0": lambda: 0.0,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e200": lambda: 1e200,
    "10**30": lambda: 10**30,
    "10**400": lambda: 10**400,
    "'a'": lambda: "a",
    "''": lambda: "",
    "'4'": lambda: "4",
    "a long text": lambda: "x" * 100_000,
    "a control character": lambda: "a\x1b[31m\x00",
    "a surrogate": lambda: "\ud800",
    "b'a'": lambda: b"a",
    "[]": list,
    "[1]": lambda: [1],
    "[1, 2, 3]": lambda: [1, 2, 3],
    "['a']": lambda: ["a"],
    "[[1], [1, 2]]": lambda: [[1], [1, 2]],
    "a list in itself": _recursive,
    "()": tuple,
    "('a', 'a')": lambda: ("a", "a"),
    "{}": dict,
    "{'a': 1}": lambda: {"a": 1},
    "{1: 2}": lambda: {1: 2},
    "set()": set,
    "1+2j": lambda: 1 + 2j,
    "Fraction": lambda: fractions.Fraction(1, 3),
    "Decimal": lambda: decimal.Decimal("0.5"),
    "a date": lambda: datetime.date(2020, 1, 1),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "an object": object,
    "an unwilling object": Unwilling,
    "a class": lambda: int,
    "a function": lambda: lambda *_: None,
    "a generator": lambda: (k for k in range(3)),
    "a range": lambda: range(3),
    "a path": lambda: pathlib.Path("a"),
    "np.int64(2)": lambda: np.int64(2),
    "np.float32(0.5)": lambda: np.float32(0.5),
    "np.array(2)": lambda: np.array(2),
    "np.zeros(3)": lambda: np.zeros(3),
    "np.zeros(0)": lambda: np.zeros(0),
    "np.eye(3)": lambda: np.eye(3),
    "np.eye(4)": lambda: np.eye(4),
    "an array of text": lambda: np.array(["a", "b"]),
    "an array of objects": lambda: np.array([None, 1], object),
    "a complex array": lambda: np.zeros(3, complex),
    "1 MB of zeros": lambda: np.zeros(1 << 17),
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "an exception": lambda: ValueError("a"),
    "a module": lambda: math,
}
