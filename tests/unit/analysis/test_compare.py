"""All formulations side by side."""

from __future__ import annotations

import dataclasses

import pytest

import dalembert as dal
from dalembert.algorithms import newton_euler_recursion
from dalembert.codegen import target
from dalembert.formulations import FORMULATIONS
from tests.robots import fresh, random_robot

AGREEMENT = 1e-12  # relative: a few hundred roundings


@pytest.fixture(scope="module")
def arm():
    return dal.compare(fresh("two_link_planar"), samples=20)


def test_every_formulation_agrees_with_newton_euler(arm):
    assert [row.formulation for row in arm.rows] == list(FORMULATIONS)
    assert arm.largest_difference < AGREEMENT


def test_a_random_tree_with_couplings_and_rotors_agrees_too(rng):
    assert dal.compare(random_robot(rng, 3), samples=5, rng=rng, time=False).largest_difference < AGREEMENT


def test_times_are_positive_and_left_out_when_not_wanted(arm):
    assert all(row.timing.call > 0 and row.timing.compile > 0 for row in arm.rows)
    untimed = dal.compare(fresh("two_link_planar"), samples=5, time=False)
    assert all(row.timing is None for row in untimed.rows)
    assert "–" in str(untimed)


def test_a_kernel_is_compiled_for_its_time_even_if_the_cache_has_it(monkeypatch):
    compiled = []
    compile_object = target.compile_object
    monkeypatch.setattr(target, "compile_object", lambda ir: compiled.append(ir) or compile_object(ir))
    for _ in range(2):
        compiled.clear()
        dal.compare(fresh("pendulum"), samples=2)
        assert len(compiled) >= len(FORMULATIONS)


def test_counts_are_those_of_complexity(arm):
    assert tuple(row.operations for row in arm.rows) == dal.complexity(dal.robots.two_link_planar()).rows


def test_the_properties_are_there(arm):
    assert arm.properties.hold
    assert str(arm.properties) in str(arm)


@pytest.mark.parametrize("time", [True, False])
def test_a_wrong_formulation_is_found_out(monkeypatch, time):
    def inverse_dynamics(*arguments, **options):
        return [1.001 * tau for tau in newton_euler_recursion.inverse_dynamics(*arguments, **options)]

    wrong = dataclasses.replace(FORMULATIONS["newton_euler"], name="wrong", inverse_dynamics=inverse_dynamics, mass_matrix=None)
    monkeypatch.setitem(FORMULATIONS, "wrong", wrong)
    found = dal.compare(fresh("two_link_planar"), samples=5, time=time)["wrong"].differences
    assert found == pytest.approx((1e-3,) * 4, rel=1e-6)


def test_formulations_that_do_not_take_so_many_joints_are_named(monkeypatch):
    short = dataclasses.replace(FORMULATIONS["newton_euler"], name="short", largest=1)
    monkeypatch.setitem(FORMULATIONS, "short", short)
    found = dal.compare(fresh("two_link_planar"), samples=5, time=False)
    assert found.too_long_for == ("short",)
    assert all(row.formulation != "short" for row in found.rows)


def test_the_tables_have_a_row_per_formulation(arm):
    lines = str(arm).splitlines()
    for name in FORMULATIONS:
        assert sum(line.startswith(f"{name} ") for line in lines) == 2
    assert lines[0] == "Largest relative difference from newton_euler, 'two_link_planar', 20 random states"
