"""Robot files to begin with: what our own writer makes of the catalogue, descriptions by hand, and models from elsewhere."""

from __future__ import annotations

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import dalembert as dal
from tests.shared import SHARED

_LARGEST = 60_000  # bytes of a model from elsewhere: larger ones only take longer
_DH_TOML = """
name = "arm by rows"
convention = "standard"

[[dh]]
d = 0.4
alpha_deg = 90
mass = 3.0
com = [0.0, 0.1, 0.0]
inertia = [0.02, 0.01, 0.02]

[[dh]]
a = 0.5
mass = 2.0
com = [-0.25, 0.0, 0.0]
inertia = [0.001, 0.04, 0.04]
friction = { viscous = 0.3, coulomb = 0.2 }
"""
_BAR = {"type": "R", "mass": 1.0, "com": [0.1, 0, 0], "inertia": [[0, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]}
_DH_JSON = {
    "name": "arm by links",
    "convention": "modified",
    "gravity": [0, 0, -9.81],
    "links": [
        {"type": "R", "d": 0.3, "mass": 4.0, "com": [0.0, 0.02, 0.1], "inertia": [[0.03, 0, 0], [0, 0.03, 0], [0, 0, 0.01]]},
        {"type": "P", "alpha": 1.5707963267948966, "a": 0.2, "mass": 2.5, "viscous": 0.4, "com": [0, 0, 0.1]},
    ],
}
_TABLE_JSON = {
    "name": "arm by table",
    "convention": "standard",
    "links": [
        {"joint": "R", "d": 0.1, "a": 0.4, "alpha": 0.0, "mass": 2.0, "com": [-0.2, 0, 0], "Jm": 2e-4, "G": 60.0, "B": 1e-3},
        {"joint": "R", "d": 0.0, "a": 0.3, "alpha": 0.0, "mass": 1.0, "com": [-0.1, 0, 0], "qlim": [-1.5, 1.5]},
    ],
}
_MECHANISM_JSON = {
    "chains": [{"convention": "modified", "gravity": [0, -9.81, 0], "links": [_BAR, {**_BAR, "a": 0.3}, {**_BAR, "a": 0.7}]}],
    "closures": [
        {"type": "point", "a": {"chain": 0, "link": 3, "point": [0.5, 0, 0]}, "axis": [1, 0, 0], "value": 0.9},
        {"type": "diff", "a": {"chain": 0, "link": 3, "point": [0.5, 0, 0]}, "b": {"ground": [0, 0.1, 0]}, "axis": [0, 1, 0]},
    ],
    "coordinates": [{"type": "joint", "index": 0}],
    "x0": [1.2, -0.8, -1.6],
}


class Text(NamedTuple):
    """A file: its name, its suffix, its bytes; `ours` if every number in it acts."""

    name: str
    suffix: str
    content: bytes
    ours: bool


@cache
def texts() -> tuple[Text, ...]:
    """All files to begin with."""
    by_hand = [
        Text("by rows", ".toml", _DH_TOML.encode(), True),
        Text("by links", ".json", json.dumps(_DH_JSON, indent=1).encode(), True),
        Text("by table", ".json", json.dumps(_TABLE_JSON, indent=1).encode(), True),
        Text("by chains", ".json", json.dumps(_MECHANISM_JSON, indent=1).encode(), True),
    ]
    return (*_written(), *by_hand, *by_hand, *_from_elsewhere())


def _written() -> list[Text]:
    found = []
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)
        for name, make in (dal.robots.CATALOGUE | dal.mechanisms.CATALOGUE).items():
            for suffix in (".urdf", ".toml"):
                path = Path(place, name + suffix)
                dal.save(make(), path)
                found.append(Text(name, suffix, path.read_bytes(), True))
    return found


def _from_elsewhere() -> list[Text]:
    models = SHARED / "data" / "models"
    paths = [
        *sorted((models / "urdf").glob("*.urdf")),
        *sorted((models / "malformed").glob("*")),
        *sorted((models / "dh").glob("*.json")),
    ]
    known = (".urdf", ".toml", ".json", ".xml")
    return [
        Text(path.stem, path.suffix, path.read_bytes(), False)
        for path in paths
        if path.suffix in known and path.is_file() and path.stat().st_size <= _LARGEST
    ]
