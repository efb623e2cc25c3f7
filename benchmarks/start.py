"""From nothing to the first result: import time, and the first inverse dynamics with an empty and with a full cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .chain import empty_cache
from .effort import Effort
from .tables import Column, Table

ROBOT = "panda"
COLUMNS = (Column("what", "what"), Column("best", "best [s]", ".3f"), Column("median", "median [s]", ".3f"))
ROOT = Path(__file__).resolve().parents[1]

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
FIRST = f"""
import time, numpy, dalembert as dal
start = time.perf_counter()
robot = dal.load("{ROBOT}")
dal.inverse_dynamics(robot, *numpy.ones((3, robot.n)))
print(time.perf_counter() - start)
"""


def measure(effort: Effort) -> Table:
    """The table of all start-up times."""
    note = f"Fresh processes, best and median of {effort.starts}. The first result: loading {ROBOT} and its inverse dynamics."
    table = Table("start", "From nothing to the first result", note, COLUMNS)
    _measure_imports(table, effort)
    _measure_first_results(table, effort)
    return table


def _measure_imports(table: Table, effort: Effort) -> None:
    seconds: dict[str, list[float]] = {"numpy": [], "dalembert": []}
    for _ in range(effort.starts):  # in turns
        for name, found in seconds.items():
            found.append(run_fresh(IMPORT.format(name)))
    _add(table, "import numpy, for comparison", seconds["numpy"])
    _add(table, "import dalembert, NumPy included", seconds["dalembert"])


def _measure_first_results(table: Table, effort: Effort) -> None:
    cold = []
    for _ in range(effort.starts):
        with empty_cache():
            cold.append(run_fresh(FIRST))
    with empty_cache():
        run_fresh(FIRST)
        warm = [run_fresh(FIRST) for _ in range(effort.starts)]
    _add(table, "first result after the import, empty cache", cold)
    _add(table, "first result after the import, warm cache", warm)


def run_fresh(script: str) -> float:
    """The seconds that a script prints in a process of its own, outside the repository."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _add(table: Table, what: str, seconds: list[float]) -> None:
    table.records.append({"what": what, "best": min(seconds), "median": sorted(seconds)[len(seconds) // 2]})
