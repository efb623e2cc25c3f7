"""One platform, its loops cut at different joints: the same torques, and the number of operations that the page tells."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dalembert.dynamics import engine
from dalembert.expr.interpret import run
from dalembert.mechanism.numeric import nearest
from tests.platforms import rest_lengths, stewart, stewart_cut_at_feet, stewart_cut_in_legs
from tests.project.source import ROOT
from tests.robots import relative_error

PAGE = (ROOT / "docs" / "howto" / "choose_coordinates.md").read_text(encoding="utf-8")
CUTS = {
    "at the balls, the platform free": lambda: stewart(free=True),
    "at five balls, the platform on the sixth leg": stewart,
    "at the feet": stewart_cut_at_feet,
    "in the legs, at the slides": stewart_cut_in_legs,
}


def _program(mechanism, quantity):
    """The graph of a quantity with positions given."""
    recipe = mechanism.recipe(engine.request_of(quantity))
    return engine.program_of(engine.with_solved(mechanism, recipe), quantity)


def _positions(mechanism, q):
    goal = np.array([*(row.value for row in mechanism.rows), *q])
    found = nearest(mechanism.equations, goal, mechanism.seed)
    assert np.abs(found.residual).max() < 1e-12
    return found.x


@pytest.fixture(scope="module")
def mechanisms():
    return {name: make() for name, make in CUTS.items()}


def test_torques_do_not_depend_on_where_the_loops_are_cut(mechanisms):
    q, qd, qdd = np.random.default_rng(4).uniform(-1.0, 1.0, (3, 6)) * [[0.1], [1.0], [1.0]]
    found = []
    for mechanism in mechanisms.values():
        own = q + rest_lengths() * mechanism.joint_names[0].startswith("length")
        found.append(run(_program(mechanism, "inverse_dynamics"), own, qd, qdd, _positions(mechanism, own))[0])
    for other in found[1:]:
        assert relative_error(other, found[0]) < 1e-12  # rounding of some thousand operations at a good condition


@pytest.mark.parametrize("name", CUTS)
def test_the_page_tells_how_many_operations_a_cut_takes(name, mechanisms):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} "))
    joints, rows, inverse, _, forward, *_ = (int(number) for number in re.findall(r"\d+", row))
    mechanism = mechanisms[name]
    assert (joints, rows) == (mechanism.robot.n, len(mechanism.rows))
    assert len(_program(mechanism, "inverse_dynamics").nodes) == pytest.approx(
        inverse, rel=0.05
    )  # the text need not follow each change
    assert len(_program(mechanism, "forward_dynamics").nodes) == pytest.approx(forward, rel=0.05)
