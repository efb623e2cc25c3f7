"""Importing the package is quick: nothing heavy or optional is loaded before it is needed."""

from __future__ import annotations

import pytest

from tests.project.source import run_python

HEAVY = ("llvmlite", "scipy", "typer", "rich", "matplotlib", "xml", "tomllib", "concurrent.futures.process")


@pytest.mark.parametrize("module", ["dalembert", "dalembert.plots", "dalembert.cli"])
def test_importing_loads_nothing_heavy(module, tmp_path):
    listing = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = run_python("-c", listing, folder=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_importing_configures_nothing(tmp_path):
    check = (
        "import logging, warnings, numpy; before = (list(warnings.filters), numpy.geterr(), list(logging.root.handlers))\n"
        "import dalembert\n"
        "print(before == (list(warnings.filters), numpy.geterr(), list(logging.root.handlers)))"
    )
    assert run_python("-c", check, folder=tmp_path).stdout.strip() == "True"
