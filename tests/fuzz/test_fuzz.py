"""A bounded part of every campaign of the fuzz suite; `make fuzz` runs the whole."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import dalembert as dal

from .campaign import KINDS
from .runner import CAMPAIGNS, run, table
from .targets import targets
from .worker import drawn, module_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux: forks, and memory maps to count")
SEED = 0


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_first_cases_of_a_campaign_find_nothing(name):
    tally = run(name, SEED, 0, module_of(name).QUICK)
    assert not tally.found, f"{len(tally.found)} faults:\n" + "\n".join(map(str, tally.found[:20]))
    assert tally.cases == module_of(name).QUICK


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_case_is_the_same_for_the_same_seed_and_number(name):
    assert [str(drawn(name, 3, number)) for number in range(5)] == [str(drawn(name, 3, number)) for number in range(5)]


def test_every_public_function_and_all_its_parameters_are_in_the_table():
    known: dict[str, set[str]] = {}
    for target in targets():
        known[target.name] = known.get(target.name, set()) | set(target.options)
    public = {name: getattr(dal, name) for name in dal.__all__ if inspect.isfunction(getattr(dal, name))}
    missing = {name: set(inspect.signature(function).parameters) - set(known.get(name, ())) for name, function in public.items()}
    del missing["to_jax"]  # which takes seconds to import, and names to compute with
    assert not {name: parameters for name, parameters in missing.items() if parameters}


def test_a_worker_that_does_not_start_is_one_crash_and_no_more(monkeypatch):
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    tally = run("broken", SEED, 0, 8)
    assert [(found.kind, found.about) for found in tally.found] == [("crash", "before the first case")]


def test_crashes_hangs_and_faults_of_every_kind_are_found_and_the_next_case_follows():
    tally = run("broken", SEED, 0, module_of("broken").QUICK)
    assert [found.kind for found in tally.found] == list(KINDS)
    assert [found.number for found in tally.found] == list(range(1, len(KINDS) + 1))
    assert tally.cases == len(KINDS) + 2
    assert "Fatal Python error: Aborted" in tally.found[0].message
    assert "ZeroDivisionError" in tally.found[2].message
    assert "--only broken --seed 0 --number 3" in str(tally.found[2])
    assert table([tally]).splitlines()[1].split()[:8] == ["broken", "8", *"111111"]
