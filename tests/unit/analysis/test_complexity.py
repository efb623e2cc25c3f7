"""Operation counts: published, as written, customised."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.analysis import generic
from dalembert.analysis.costs import as_written
from dalembert.analysis.generic import generic_chain, generic_robot, like
from dalembert.dynamics import engine
from dalembert.expr.operation_counts import counts
from dalembert.formulations import FORMULATIONS
from tests.robots import random_robot

# [Lee, Table 1; Milicevic, Table 3] evaluated by hand for six joints
SIX = {"newton_euler": (792, 662), "lagrange_euler": (101348, 77405), "generalized_dalembert": (2963, 2209)}


def test_published_counts_are_those_of_the_documents_tables():
    found = dal.complexity(6)
    assert {row.formulation: row.published[:2] for row in found.rows if row.published} == SIX
    assert found["newton_euler"].published.source == "Lee, Table 1; Milicevic, Table 3"


def test_newton_euler_as_written_grows_by_the_same_count_with_every_joint():
    written = np.array([dal.complexity(n)["newton_euler"].written[:2] for n in (3, 4, 5, 9)])
    steps = np.diff(written, axis=0) / np.array([[1], [1], [4]])
    assert (steps == steps[0]).all()
    assert (steps[0] <= (132, 111)).all()  # per joint in the documents


def test_lagrange_euler_grows_faster_than_newton_euler():
    few, many = (dal.complexity(n) for n in (3, 6))
    growth = {name: sum(many[name].written[:2]) / sum(few[name].written[:2]) for name in ("newton_euler", "lagrange_euler")}
    assert growth["newton_euler"] < 2.6
    assert growth["lagrange_euler"] > 3.5


def test_customised_counts_are_those_of_the_traced_program():
    robot = dal.robots.scara()
    found = dal.complexity(robot)
    for row in found.rows:
        program = engine.program(robot, "inverse_dynamics", row.formulation, rolled=False)
        assert row.customised == counts(program)
        assert row.customised.flops < row.written.flops


@pytest.mark.parametrize("turns", [[True] * 6, [True, False, True, True, False]])
def test_counts_as_written_are_the_same_for_all_arms_in_general_position(turns, monkeypatch):
    """What rounding leaves of a zero is no operation."""
    found = set()
    for seed in range(20):
        monkeypatch.setattr(generic, "_SEED", seed)
        arm = engine.tree(generic_robot([-1, 0, 1, 0, 3, 4][: len(turns)], turns))
        found.add(tuple(as_written(method, arm)[:2] for method in FORMULATIONS.values()))
    assert len(found) == 1


def test_a_number_of_joints_has_no_customised_counts():
    assert all(row.customised is None for row in dal.complexity(2).rows)
    assert [row.formulation for row in dal.complexity(2).rows] == list(FORMULATIONS)


@pytest.mark.slow
def test_formulations_that_do_not_take_so_many_joints_have_no_counts():
    bounded = {name: method.largest for name, method in FORMULATIONS.items() if method.largest is not None}
    name = min(bounded, key=bounded.__getitem__)
    row = dal.complexity(dal.robots.chain(bounded[name] + 1))[name]
    assert (row.written, row.customised) == (None, None)


def test_the_generic_arm_has_no_number_that_is_zero_by_chance():
    for s in engine.tree(generic_chain(4)).segments[1:]:
        assert all(abs(x) > 1e-3 for x in (s.offset, s.R.y.y, s.R.y.z, s.p.x, s.inertia.mass, *s.inertia.h, *s.inertia.I))


def test_the_generic_arm_of_a_tree_branches_like_it(rng):
    tree = engine.tree(random_robot(rng, 7))
    other = engine.tree(like(tree))
    assert [s.parent for s in other.segments] == [s.parent for s in tree.segments]
    assert [s.turn for s in other.segments] == [s.turn for s in tree.segments]


def test_the_table_has_a_row_per_formulation():
    text = str(dal.complexity(dal.robots.two_link_planar()))
    assert text.startswith("Operations of inverse dynamics, 'two_link_planar': mul + add")
    assert all(name in text for name in FORMULATIONS)
    assert "264 + 218" in text


@pytest.mark.parametrize("system", [0, -1, 2.5, "puma560"])
def test_what_is_neither_a_robot_nor_a_number_of_joints_is_refused(system):
    with pytest.raises(dal.DalembertError, match="a Robot or a number of joints from 1 to 1000 is expected"):
        dal.complexity(system)
