"""Properties of the model and its split by cause, on random robots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import dalembert as dal
from dalembert.algorithms.sweep import Unrolled
from dalembert.analysis.causes import pieces
from dalembert.dynamics import engine
from tests.robots import relative_error, robots, seeds, state

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("interpreted")]


@settings(max_examples=40)
@given(robot=robots(max_n=8), seed=seeds)
def test_torques_by_cause_joint_and_link_add_up(robot, seed):
    q, qd, qdd = state(robot, np.random.default_rng(seed), (3,))
    found = pieces(Unrolled(engine.tree(robot)), *(list(x.T) for x in (q, qd, qdd)))
    total = np.zeros_like(q)
    for key, value in found.items():
        total[:, key.joint] += value
    assert relative_error(total, dal.inverse_dynamics(robot, q, qd, qdd)) < 1e-11


@settings(max_examples=6)
@given(robot=robots(max_n=4))
def test_every_property_holds(robot):
    """All residuals below 1e-9, M definite at its smallest eigenvalue, on any robot that could be built."""
    found = dal.properties(robot, samples=20)
    assert found.hold, str(found)
