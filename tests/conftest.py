"""Settings of the whole test run: one compile cache for all workers, repeatable randomness."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

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
