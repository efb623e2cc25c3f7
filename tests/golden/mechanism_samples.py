"""Mechanisms in the golden files' words, as `dal.load` reads them."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dalembert as dal


def mechanism_of(data: Mapping[str, Any], guess: Any, name: str = "mechanism") -> dal.Mechanism:
    """The mechanism of a golden case: chains, scalar closures and coordinates [../shared/golden/README.md]."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)
        path = Path(folder, "mechanism.json")
        path.write_text(json.dumps({**data, "name": name, "x0": list(guess)}))
        return dal.load(path)
