"""Operation counts quoted on pages are those the program prints."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms import newton_euler_recursion
from dalembert.algorithms.sweep import Unrolled
from dalembert.analysis.costs import pair
from dalembert.analysis.generic import generic_chain
from dalembert.cli import demo
from dalembert.dynamics import engine
from dalembert.dynamics.surroundings import FREE
from dalembert.expr import trace
from dalembert.expr.operation_counts import counts
from dalembert.formulations import FORMULATIONS
from dalembert.formulations import generalized_dalembert as pairs
from dalembert.formulations.base import closed
from tests.project.source import ROOT
from tests.unit.algorithms.test_screw import flops, planar_arm, six_dimensional

ARMS = {"PUMA 560 (6 joints)": "puma560", "Panda (7 joints)": "panda"}


def tables(page: str) -> list[list[list[str]]]:
    """The tables of a page below docs, as rows of cells, heads first."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    rows = [[[cell.strip(" `") for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]
    return [[row for k, row in enumerate(block) if k != 1] for block in rows]


def table(page: str, head: str) -> list[list[str]]:
    """The table of a page whose heads contain this one."""
    return next(block for block in tables(page) if head in block[0])


def number(cell: str) -> int:
    return int(cell.replace(" ", ""))


def operations(robot: dal.Robot, quantity: str, *options: object) -> tuple[int, int]:
    found = counts(engine.program(robot, quantity, *options, rolled=False))
    return found.mul, found.add


def test_the_costs_of_all_formulations() -> None:
    found = dal.complexity(dal.robots.puma560())
    rows = table("theory/choosing_a_formulation.md", "customised")[1:]
    assert {row[0]: row[1:4] for row in rows} == {
        name: [pair(found[name].published).replace("–", ""), pair(found[name].written), pair(found[name].customised)]
        for name in FORMULATIONS
    }


def test_the_growth_of_counts_as_written() -> None:
    head, *rows = table("theory/choosing_a_formulation.md", "12")
    found = [dal.complexity(int(n)) for n in head[1:]]
    for name, *cells in rows:
        assert [number(cell) for cell in cells] == [column[name].written.flops for column in found], name


def test_the_costs_of_both_recursions() -> None:
    rows = table("theory/newton_euler.md", "mul + add, PUMA 560")[1:]
    found = dal.complexity(dal.robots.puma560())
    assert {row[0]: row[3] for row in rows} == {row[0]: pair(found[row[0]].customised) for row in rows}


@pytest.mark.slow
def test_the_costs_of_influence_coefficients() -> None:
    for arm, inverse, *matrix in table("theory/influence.md", "mass matrix")[1:]:
        robot = dal.load(ARMS[arm]) if arm in ARMS else dal.robots.chain(int(arm.split()[-1]))
        assert number(inverse) == sum(operations(robot, "inverse_dynamics", "influence"))
        if matrix[0]:
            assert number(matrix[0]) == sum(operations(robot, "mass_matrix", FREE, "influence"))


def by_triples(robot: dal.Robot) -> tuple[int, int]:
    tree = engine.tree(robot).regrouped
    base, inputs = newton_euler_recursion.still_base(tree.gravity), dict.fromkeys(("q", "qd", "qdd"), (robot.n,))
    model = closed(pairs.model)["inverse_dynamics"]
    found = counts(trace(lambda *a: model(Unrolled(tree), *a, base), inputs, ["tau"]))
    return found.mul, found.add


def test_the_costs_of_the_generalized_dalembert_equations() -> None:
    """To a percent: constants that are equal but for rounding share their products or not, as the processor's BLAS rounds."""
    for n, by_pairs, triples, published in table("theory/generalized_dalembert.md", "by pairs, (16)")[1:]:
        robot = generic_chain(int(n))
        document = dal.complexity(int(n))["generalized_dalembert"].published
        assert document is not None
        assert published == "{}, {}".format(*document[:2])
        for quoted, found in (
            (by_pairs, operations(robot, "inverse_dynamics", "generalized_dalembert")),
            (triples, by_triples(robot)),
        ):
            assert [int(count) for count in quoted.split(",")] == pytest.approx(found, rel=0.01)
    text = " ".join((ROOT / "docs" / "theory" / "generalized_dalembert.md").read_text(encoding="utf-8").split())
    ways = [operations(generic_chain(6), "christoffel", name) for name in ("generalized_dalembert", "newton_euler")]
    quoted = re.search(r"(\d+) and (\d+) operations for six joints in general position, against (\d+) and (\d+) by", text)
    assert quoted is not None
    assert [int(count) for count in quoted.groups()] == pytest.approx([*ways[0], *ways[1]], rel=0.01)


def test_the_costs_of_planar_arms_by_screws() -> None:
    quantities = {"M": "mass_matrix", "C": "coriolis_matrix", "τ": "inverse_dynamics"}
    for arm, symbol, *cells in table("theory/screws.md", "six-dimensional")[1:]:
        kinds, quantity = {"6R": "RRRRRR"}.get(arm, arm), quantities[symbol]
        planar, tilted = (planar_arm(kinds, tilt, np.random.default_rng(3)) for tilt in (0.0, 0.1))
        found = [flops(planar, quantity), six_dimensional(planar, quantity), flops(tilted, quantity)]
        assert [number(cell) for cell in cells] == found, (arm, symbol)


@pytest.mark.slow
def test_what_simplified_models_save() -> None:
    robot = dal.robots.puma560()
    for tolerance, workspace, _, motion, _ in table("howto/compare.md", "tolerance")[1:]:
        share = float(tolerance.removesuffix("%")) / 100
        assert number(workspace) == dal.simplify_model(robot, tolerance=share).operations.after.flops
        assert number(motion) == dal.simplify_model(robot, trajectory=demo.motion()[1], tolerance=share).operations.after.flops
