"""Formulas of the golden files: Python expressions over the symbols of their document, evaluated at numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

FUNCTIONS = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "pi": math.pi}


def symbols(formula: Any) -> set[str]:
    """The symbols of a formula, or of all formulas in nested lists and dictionaries."""
    if isinstance(formula, str):
        return set(re.findall(r"[A-Za-z_]\w*", formula)) - set(FUNCTIONS)
    entries: Iterable[Any] = formula.values() if isinstance(formula, Mapping) else formula if isinstance(formula, list) else ()
    return set().union(*(symbols(entry) for entry in entries))


def draw(rng: np.random.Generator, *formulas: Any) -> dict[str, float]:
    """A number of the size of one for every symbol: no two alike, none special."""
    return {name: float(rng.uniform(0.4, 1.6)) for name in sorted(set().union(*map(symbols, formulas)))}


def value(formula: Any, at: Mapping[str, float]) -> Any:
    """A formula as a number, nested lists of formulas as an array."""
    if isinstance(formula, list):
        return np.array([value(entry, at) for entry in formula])
    return eval(formula, {"__builtins__": {}}, {**FUNCTIONS, **at}) if isinstance(formula, str) else formula
