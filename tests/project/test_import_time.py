"""Importing the package is quick: nothing heavy or optional is loaded before it is needed."""

from __future__ import annotations

import pytest

from tests.project.source import run_python

HEAVY = ("llvmlite", "scipy", "rich", "matplotlib", "xml", "tomllib", "concurrent.futures.process")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["dalembert", "dalembert.plots", "dalembert.cli"])
def test_importing_loads_nothing_heavy(module, tmp_path):
    listing = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = run_python("-c", listing, folder=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_importing_the_package_alone_loads_no_numpy(tmp_path):
    done = run_python("-c", "import sys, dalembert; print('numpy' in sys.modules)", folder=tmp_path)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["simulate", "simulate.rollouts", "simulate.solution", "trajectory", "plots", "bounds.bounding"]
)
def test_a_module_that_was_imported_first_does_not_hide_the_function_of_its_name(first, tmp_path):
    names = "dal.simulate, dal.rollout, dal.bounds"
    check = f"import dalembert.{first}; import dalembert as dal; print(*(type(f).__name__ for f in ({names})))"
    assert run_python("-c", check, folder=tmp_path).stdout.strip() == "function function function"


@pytest.mark.slow
def test_modules_are_reachable_from_the_package(tmp_path):
    names = ("mechanisms", "plots", "robots", "trajectory")
    check = f"import dalembert as dal; print(*(getattr(dal, name).__name__ for name in {names}))"
    assert run_python("-c", check, folder=tmp_path).stdout.split() == [f"dalembert.{name}" for name in names]


def test_importing_configures_nothing(tmp_path):
    check = (
        "import logging, warnings, numpy; before = (list(warnings.filters), numpy.geterr(), list(logging.root.handlers))\n"
        "import dalembert\n"
        "print(before == (list(warnings.filters), numpy.geterr(), list(logging.root.handlers)))"
    )
    assert run_python("-c", check, folder=tmp_path).stdout.strip() == "True"


def test_loading_a_robot_loads_no_compiler(tmp_path):
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="base"/></robot>')
    check = "import sys, dalembert as dal; dal.load('puma560'), dal.load('r.urdf'); print('llvmlite' in sys.modules)"
    assert run_python("-c", check, folder=tmp_path).stdout.strip() == "False"
