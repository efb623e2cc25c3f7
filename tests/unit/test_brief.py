"""What results print: a line of names and shapes, never every number."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest

import dalembert as dal
from dalembert.brief import brief
from tests.robots import fresh

PANDA = fresh("panda")  # whose kernels are interpreted: what they return is printed, not checked
ARM = dal.robots.two_link_planar()
ONES = np.ones(7)
MANY = np.zeros((500, 7))


@cache
def results() -> dict[str, object]:
    """A result of each kind, of many states where that makes them long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DALEMBERT_BACKEND", "numpy")
        long = results_of_many_joints()
    return long | results_of_few()


def results_of_many_joints() -> dict[str, object]:
    return {
        "InverseDerivatives": dal.derivatives(PANDA, MANY, MANY, MANY),
        "ForwardDerivatives": dal.derivatives(PANDA, ONES, ONES, tau=ONES),
        "Energy": dal.energy(PANDA, MANY, MANY),
        "CentroidalMomentum": dal.centroidal_momentum(PANDA, MANY, MANY),
        "EnergyGradient": dal.energy_gradient(PANDA, MANY, MANY),
        "Influence": dal.influence(PANDA, ONES, order=3),
        "LinkMotion": dal.link_motion(PANDA, MANY, MANY, MANY),
        "Recursion": dal.recursion(PANDA, ONES, ONES, ONES),
        "Workspace": dal.Workspace.of(PANDA),
        "LimitCheck": dal.trajectory.quintic(ONES, 0 * ONES, duration=1.0).check(PANDA),
    }


def results_of_few() -> dict[str, object]:
    return {
        "SecondDerivatives": dal.second_derivatives(ARM, *np.ones((3, 2))),
        "Progressive": dal.progressive(ARM).attach(dal.Link("load", 1.0, (0.1, 0, 0)), joint="revolute"),
        "Contributions": dal.contributions(ARM, *np.ones((3, 200, 2))),
        "Rollout": dal.rollout(ARM, [0.1, 0], [0, 0], None, dt=1e-3, steps=500),
        "Simulation": dal.simulate(ARM, [0.1, 0], [0, 0], t_end=0.5, dense=True),
        "Solution": dal.simulate(ARM, [0.1, 0], [0, 0], t_end=0.5, dense=True).solution,
        "SimplifiedModel": dal.simplify_model(ARM, samples=100),
        "Comparison": dal.compare(ARM, samples=3, time=False),
        "Complexity": dal.complexity(6),
        "Properties": dal.properties(ARM, samples=3),
        "Trajectory": dal.trajectory.triangular([0.0], [1.0], duration=1.0).sample(count=99),
        "Motion": dal.trajectory.quintic(ONES, 0 * ONES, duration=1.0),
        "ToolPath": dal.trajectory.line(np.eye(4), np.eye(4), duration=1.0),
        "ToolTrajectory": dal.trajectory.line(np.eye(4), np.eye(4), duration=1.0).sample(count=99),
    }


TUPLES = ("InverseDerivatives", "ForwardDerivatives", "SecondDerivatives", "Energy", "EnergyGradient", "Influence", "LinkMotion")
RECORDS = ("Recursion", "Contributions", "Rollout", "Simulation", "Comparison", "Complexity", "Properties", "Trajectory")
OTHERS = ("Progressive", "Solution", "SimplifiedModel", "Workspace", "Motion", "ToolPath", "ToolTrajectory", "LimitCheck")


@pytest.mark.parametrize("name", [*TUPLES, *RECORDS, *OTHERS])
def test_a_result_prints_one_short_line(name):
    text = repr(results()[name])
    assert text.startswith(f"{name}(")
    assert "\n" not in text
    assert len(text) < 240
    assert "array" not in text


@pytest.mark.parametrize("name", TUPLES)
def test_a_named_tuple_still_unpacks_pickles_and_names_its_fields(name):
    found = results()[name]
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    assert repr(again) == repr(found)
    for one, other, field in zip(again, found, found._fields, strict=True):
        np.testing.assert_array_equal(one, other)
        assert getattr(found, field) is other


@pytest.mark.parametrize(
    "name", ["Contributions", "Rollout", "Simulation", "Recursion", "Properties", "Comparison", "Complexity"]
)
def test_a_result_pickles(name):
    assert repr(pickle.loads(pickle.dumps(results()[name]))) == repr(results()[name])


def test_shapes_and_facts_are_what_is_shown():
    assert repr(results()["InverseDerivatives"]) == (
        "InverseDerivatives(dtau_dq: (500, 7, 7), dtau_dqd: (500, 7, 7), dtau_dqdd: (500, 7, 7))"
    )
    assert repr(dal.energy(dal.robots.pendulum(), [0.5], [1.0])).startswith("Energy(kinetic=0.16")
    assert repr(results()["LinkMotion"]) == "LinkMotion(velocity: (500, 6), acceleration: (500, 6), jerk=None)"
    assert "success=True" in repr(results()["Simulation"])
    assert "parts=1" in repr(results()["Progressive"])
    assert repr(results()["Contributions"]) == (
        "Contributions(inertia: (200, 2, 2), coriolis: (200, 2), link_gravity: (200, 2, 2), n=2, joints=2)"
    )


def test_long_values_are_cut():
    workspace = results()["Workspace"]
    assert len(brief(workspace, words="x" * 1000, names=tuple("abcdef"))) < 240
    assert "names=<6 entries>" in brief(workspace, names=tuple("abcdef"))
