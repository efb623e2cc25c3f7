"""Settings of the whole test run: one compile cache for all workers, repeatable randomness."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# What takes seconds, for the most part: robots by the hundred, compiling, other programs. `make quick` leaves it out.
SLOW = (
    *("agreement", "cross", "fuzz", "golden", "property", "project/test_examples.py", "project/test_readme.py"),
    *("unit/algorithms/test_lagrange.py", "unit/algorithms/test_screw.py", "unit/algorithms/test_generalized_dalembert.py"),
    *("unit/analysis", "unit/export", "unit/linear", "unit/simulate", "unit/model/test_named_tree.py"),
    *("unit/dynamics/test_compile.py", "unit/dynamics/test_contributions.py", "unit/dynamics/test_engine.py"),
    *("unit/dynamics/test_progressive.py", "unit/test_benchmarks.py", "unit/test_brief.py", "unit/test_options.py"),
    *("unit/test_cli.py", "unit/test_cli_outputs.py", "unit/test_cli_terminal.py", "unit/test_cli_timing.py"),
    *("unit/drives/test_sampled_voltage.py", "unit/timing/test_inductive_voltages.py", "unit/timing/test_scaling_drives.py"),
)

settings.register_profile("dalembert", deadline=None, derandomize=True, database=None)
settings.load_profile("dalembert")


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a cache of its own; the workers of pytest-xdist inherit the controller's."""
    if not hasattr(config, "workerinput"):
        os.environ["DALEMBERT_CACHE"] = tempfile.mkdtemp(prefix="dalembert-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove it again."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop("DALEMBERT_CACHE"), ignore_errors=True)


def pytest_collection_finish() -> None:
    """What is imported by now stays: no search for cycles need go through it again. Nor need there be one every 700 objects,
    as graphs have them by the ten thousand.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow as a whole; single slow tests elsewhere have the mark themselves."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts the same in every test."""
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def interpreted() -> Iterator[None]:
    """Run programs by NumPy for the length of a module: no compiling, so that many random robots can be asked.

    Robots keep their kernels, so a module that asks for this uses robots of its own (`tests.robots`), not the catalogue's.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DALEMBERT_BACKEND", "numpy")
        yield
