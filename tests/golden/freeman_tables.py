"""Tables 2-3 to 2-5 of [Freeman] as rules: rows of joint types, restrictions on the indices, and a vector formula."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Chain(NamedTuple):
    """Axes and origins of the joints of a serial arm in the world, a point of link j, and the joints' types, such as 'RRP'."""

    S: np.ndarray
    R: np.ndarray
    P: np.ndarray
    j: int
    types: str


def fits(row: Mapping[str, str], types: str, at: Mapping[str, int]) -> bool:
    """Whether a row speaks of these joints."""
    return _types_fit(row, types) and _restricted(row["when"], at)


def _types_fit(row: Mapping[str, str], types: str) -> bool:
    if "joint" in row:
        return types in row["joint"].split(",")
    if "lmn" in row:
        counts = {"any": True, "any P": "P" in types, "two or three P": types.count("P") > 1}
        return counts.get(row["lmn"], row["lmn"] == types)
    if row["n"] == "any with one P":
        return "P" in types
    return all(kind in ("any", actual) for kind, actual in zip((row["m"], row["n"]), types, strict=True))


def _restricted(when: str, at: Mapping[str, int]) -> bool:
    if when.startswith("all"):
        return True
    when = when.replace("an index > j", "max(indices) > j")
    indices = [value for name, value in at.items() if name != "j"]
    return bool(eval(when, {"__builtins__": {}}, {**at, "indices": indices, "max": max}))


def vector(formula: str, chain: Chain, at: Mapping[str, int]) -> np.ndarray:
    """A vector formula such as 'S^m x [S^n x (P - R^n)]'."""
    formula = formula.split(" (P joint")[0].strip().replace("[", "(").replace("]", ")")
    if formula == "0":
        return np.zeros(3)
    head, _, rest = formula.partition(" x ")
    index = at[re.fullmatch(r"S\^(\w)", head).group(1)] - 1
    if not rest:
        return chain.S[index]
    inner = rest[1:-1] if rest.startswith("(") else rest
    if inner.startswith("P - "):
        return np.cross(chain.S[index], chain.P - chain.R[at[inner[-1]] - 1])
    return np.cross(chain.S[index], vector(inner, chain, at))


def values(rows: Sequence[Mapping[str, str]], chain: Chain, names: str, indices: Sequence[int]) -> list[Any]:
    """What each row that speaks of these indices says: a vector, or None for 'by symmetry'."""
    at = dict(zip(names, indices, strict=True)) | {"j": chain.j}
    types = "".join(chain.types[i - 1] for i in indices)
    found = [row["value"] for row in rows if fits(row, types, at)]
    return [None if "symmetry" in value else vector(value, chain, at) for value in found]
