"""A mechanism at given positions, or assembled from a given start: every function takes it, on its own branch."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from tests.mechanism_cases import CASES

CRANK = dal.mechanisms.crank_rocker()
Q, QD, QDD = CRANK.q0, np.array([0.7]), np.array([0.3])
OTHER = CRANK.assemble(Q, near=[CRANK.seed[0], CRANK.seed[1] + 3.0, 2.0]).x
"""The rocker on the other side."""


@pytest.fixture(scope="module", params=["near", "x"])
def placed(request: pytest.FixtureRequest) -> Any:
    return CRANK.at(**{request.param: OTHER})


@pytest.fixture(scope="module")
def elsewhere() -> dal.Mechanism:
    """The same linkage, assembled on the other side from the beginning."""
    return CRANK.replace(guess=OTHER)


def exported(system: Any) -> Any:
    space: dict[str, Any] = {}
    exec(dal.export_code(system, "gravity_torque", language="python"), space)
    return space["crank_rocker_gravity_torque"](Q)


def program(system: Any) -> Any:
    space: dict[str, Any] = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "fabs": abs, "where": np.where, "lt": np.less}
    exec(dal.equations(system, "g", symbols=()).python(), {**space, "q_1": Q[0]}, space)
    return [space["g_1"]]


WAYS: dict[str, Callable[[Any], Any]] = {
    "gravity_torque": lambda s: dal.gravity_torque(s, Q),
    "batch": lambda s: dal.gravity_torque(s, [Q, Q]),
    "other formulation": lambda s: dal.gravity_torque(s, Q, formulation="lagrange_euler"),
    "evaluate": lambda s: dal.evaluate(s, ["g"], Q)["g"],
    "kernel": lambda s: dal.kernel(s, ["g"])(Q),
    "single precision": lambda s: dal.kernel(s, ["g"], dtype="float32")(Q.astype(np.float32)),
    "inverse dynamics": lambda s: dal.inverse_dynamics(s, Q, QD, QDD),
    "derivatives": lambda s: dal.derivatives(s, Q, QD, QDD).dtau_dq,
    "contributions": lambda s: dal.contributions(s, Q, QD, QDD).by_cause["gravity"],
    "closures": lambda s: dal.constraint_forces(s, Q, QD, QDD).closures,
    "joints": lambda s: dal.link_wrenches(s, Q, QD, QDD),
    "jacobian": lambda s: dal.jacobian(s, Q, "rocker"),
    "influence": lambda s: dal.influence(s, Q, "rocker", order=2).H,
    "recursion": lambda s: dal.recursion(s, Q, QD, QDD).f,
    "terms": lambda s: dal.terms(s, Q, QD, QDD, formulation="lagrange_energy")["g"],
    "applied torque": lambda s: dal.applied_torque(s, Q, gravity=True),
    "exported": exported,
    "equations": program,
    "simulate": lambda s: dal.simulate(s, Q, QD, t_eval=[0.0, 0.1]).q,
    "rollout": lambda s: dal.rollout(s, Q, QD, None, dt=1e-3, steps=3).q,
    "assemble": lambda s: dal.jacobian(CRANK.at(x=s.assemble(Q).x), Q, "rocker"),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_leads_to_the_branch_of_the_start(placed, elsewhere, way):
    found, expected, here = (WAYS[way](system) for system in (placed, elsewhere, CRANK))
    tolerance = 1e-5 if "single" in way else 1e-9
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert np.abs(np.asarray(expected) - here).max() > 1e-5  # on the branch of the seed it is another number


def test_properties_hold_from_another_start():
    assert dal.properties(CRANK.at(near=OTHER), samples=4).hold


def test_code_has_one_start():
    several = CRANK.at(near=[OTHER, CRANK.seed])
    with pytest.raises(dal.DalembertError, match=r"one set of positions.*\(2, 3\) found"):
        dal.export_code(several, "mass_matrix")
    values = dal.gravity_torque(several, Q)
    np.testing.assert_allclose(values, [dal.gravity_torque(CRANK.at(near=x), Q) for x in (OTHER, CRANK.seed)])


def test_given_positions_are_looked_at():
    with pytest.raises(dal.DalembertError, match=r"x: positions of 'crank_rocker' found that leave closure 'pin' .* off by 0\.0"):
        dal.mass_matrix(CRANK.at(x=OTHER + 0.01), Q + 0.01)
    with pytest.raises(dal.DalembertError, match=r"leave coordinate 'joint1' off by 0\.2"):
        dal.mass_matrix(CRANK.at(x=OTHER), Q + 0.2)
    with pytest.raises(dal.DalembertError, match=r"leave coordinate 'joint1' off by 0\.2"):
        dal.mass_matrix(CRANK.at(x=OTHER), [Q, Q + 0.2])
    assert np.isnan(dal.gravity_torque(CRANK.at(x=OTHER * np.nan), Q)).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"at: give one of x= .* and near="),
        ({"x": OTHER, "near": OTHER}, r"at: give one of x= .* and near="),
        ({"x": [1.0, 2.0]}, r"x: shape \(2,\) found, \(\.\.\., 3\) expected"),
        ({"near": 1.0}, r"near: shape \(\) found, \(\.\.\., 3\) expected"),
        ({"near": "a"}, r"near: "),
    ],
)
def test_positions_of_no_sense_are_refused(given, message):
    with pytest.raises(dal.DalembertError, match=message):
        CRANK.at(**given)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_it_can_be_copied(placed, way):
    dal.gravity_torque(placed, Q)
    again = way(placed)
    assert repr(again) == repr(placed)
    np.testing.assert_array_equal(dal.gravity_torque(again, Q), dal.gravity_torque(placed, Q))


def test_fixed_coordinates_of_a_kernel():
    """Positions that do not change are numbers in the code."""
    mechanism = CASES["four_bar"]()
    run = dal.kernel(mechanism, ["tau"], fixed={"q": mechanism.q0})
    np.testing.assert_allclose(run([0.2], [0.3]), dal.inverse_dynamics(mechanism, mechanism.q0, [0.2], [0.3]), rtol=1e-10)


def test_given_positions_are_looked_at_in_arrays_of_dask_too():
    arrays = pytest.importorskip("dask.array")
    four_bar, q = dal.mechanisms.four_bar(), np.array([[0.5], [0.6]])
    x = four_bar.assemble(q).x
    found = dal.mass_matrix(four_bar.at(x=x), arrays.from_array(q))
    np.testing.assert_array_equal(np.asarray(found), dal.mass_matrix(four_bar.at(x=x), q))
    with pytest.raises(dal.DalembertError, match="x: positions of 'four_bar' found that leave closure 'pin'"):
        dal.mass_matrix(four_bar.at(x=x + 0.1), arrays.from_array(q))
