"""The Pelican with its crucible at any numbers, and the terms of the screw formulation in the order of [Laus]: rotation first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

import dalembert as dal
from dalembert.model import Link, Robot
from dalembert.model.dh import from_dh
from tests.golden.formulas import draw
from tests.golden.reading import golden

CASES = golden("laus_pelican")["cases"]
LINKS = (1, 2, 3)


def numbers(rng: np.random.Generator) -> dict[str, float]:
    """A number for every symbol; the moments of inertia near one, so that bodies can have them."""
    formulas = [case["value"] for name, case in CASES.items() if name != "000.numeric"]
    moments = [f"I{axis}{i}" for axis in "xyz" for i in LINKS]
    v = draw(rng, formulas, *moments)
    return v | {name: 0.9 + 0.1 * v[name] for name in moments}


def arm(v: Mapping[str, float], links: int = 3) -> Robot:
    """The first links of the arm; the third is the crucible on its passive joint."""
    rows = [
        {
            "a": v[f"a{i}"],
            "mass": v[f"m{i}"],
            "com": (v[f"l{i}"] - v[f"a{i}"], 0, 0),
            "inertia": (v.get(f"Ix{i}", 0.0), v.get(f"Iy{i}", 0.0), v[f"Iz{i}"]),
        }
        for i in LINKS[:links]
    ]
    return from_dh(rows, convention="standard", name="pelican", gravity=(0, -v["g"], 0))


def crucible(v: Mapping[str, float]) -> Link:
    """The third link, its frame on the passive joint."""
    return Link("crucible", v["m3"], (v["l3"], 0, 0), np.diag([v.get("Ix3", 0.0), v.get("Iy3", 0.0), v["Iz3"]]))


def state(v: Mapping[str, float], links: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Angles and speeds."""
    return np.array([v[f"th{i}"] for i in LINKS[:links]]), np.array([v[f"dth{i}"] for i in LINKS[:links]])


def rotation_first(array: np.ndarray) -> np.ndarray:
    """The rows of six-vectors in the document's order."""
    return np.roll(array, 3, axis=0)


def terms(v: Mapping[str, float], links: int = 3) -> dict[str, np.ndarray]:
    """All terms of the formulation."""
    return _terms(tuple(v.items()), links)


@cache
def _terms(items: tuple[tuple[str, float], ...], links: int) -> dict[str, np.ndarray]:
    v = dict(items)
    return dal.terms(arm(v, links), *state(v, links), formulation="screw")
