"""Further states of an integration: integrals, filters, currents; by both integrators."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.errors import ExprError, ShapeError
from dalembert.simulate import run_kernels
from tests.robots import fresh

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
START = {"q0": [0.2, -0.3], "qd0": [0.1, 0.0]}
TARGET = np.array([0.6, 0.4])


@pytest.fixture
def arm():
    return fresh("two_link_planar")


def pid(t, q, qd, p):
    return 4e4 * (TARGET - q) - 8e3 * qd + p.sum * p.ki


def error(t, q, qd, p):
    return {"sum": TARGET - q}


def test_integral_action_is_a_state_as_scipy_integrates_it(arm):
    """The reference is scipy's own DOP853 on all components at once, with dynamics from outside the loop."""
    times = np.linspace(0.0, 1.0, 11)
    found = dal.simulate(
        arm, **START, tau=pid, inputs={"ki": 3e4}, states={"sum": np.zeros(2)}, rates=error, t_eval=times, **TIGHT
    )

    def slope(t, y):
        q, qd, z = y[:2], y[2:4], y[4:]
        tau = 4e4 * (TARGET - q) - 8e3 * qd + 3e4 * z
        return [*qd, *dal.forward_dynamics(arm, q, qd, tau), *(TARGET - q)]

    known = solve_ivp(slope, (0, 1), [*START["q0"], *START["qd0"], 0, 0], "DOP853", t_eval=times, **TIGHT)
    np.testing.assert_allclose(found.q, known.y[:2].T, atol=1e-10)  # a few hundred steps of 1e-13 each
    np.testing.assert_allclose(found.qd, known.y[2:4].T, atol=1e-9)
    np.testing.assert_allclose(found.states["sum"], known.y[4:].T, atol=1e-10)
    assert found.accepted == len(solve_ivp(slope, (0, 1), known.y[:, 0], "DOP853", **TIGHT).t) - 1


def test_a_filter_of_its_own_has_its_closed_form():
    """z' = (1 − z) / T: a number by name, whatever the pendulum does, at steps and at points."""
    pendulum = fresh("pendulum")
    law = {"tau": lambda t, q, qd, p: [0.0 * p.z], "states": {"z": 0.0}, "rates": lambda t, q, qd, p: (1.0 - p.z) / 0.2}
    for times in (None, np.linspace(0, 1, 7)):
        found = dal.simulate(pendulum, [0.5], [0.0], t_end=1.0, t_eval=times, **law, **TIGHT)
        np.testing.assert_allclose(found.states["z"], 1 - np.exp(-found.t / 0.2), atol=1e-11)
        assert found.states["z"].shape == found.t.shape


def test_each_motion_has_its_own_states(arm):
    starts = np.array([[0.0, 0.0], [0.1, -0.2], [1.0, 1.0]])
    given = {"tau": pid, "inputs": {"ki": 3e4}, "rates": error, "t_eval": [0.0, 0.4]}
    together = dal.simulate(arm, **START, states={"sum": starts}, **given)
    for k, start in enumerate(starts):
        alone = dal.simulate(arm, **START, states={"sum": start}, **given)
        np.testing.assert_allclose(together.q[k], alone.q, rtol=0, atol=1e-13)  # lanes compute alike
        np.testing.assert_allclose(together.states["sum"][k], alone.states["sum"], rtol=0, atol=1e-13)


def test_signals_that_jump_are_met_with_the_new_slope():
    """z' is a signal held between samples: its integral is exact, since no step crosses a sample."""
    pendulum = fresh("pendulum")
    grid, values = np.array([0.0, 0.3, 0.35, 0.8]), np.array([[1.0], [-2.0], [0.5], [4.0]])
    found = dal.simulate(
        pendulum, [0.5], [0.0], tau=lambda t, q, qd, p: [0.0 * p.u[0]], signals={"u": values}, tau_times=grid,
        states={"z": [0.0]}, rates=lambda t, q, qd, p: p.u, t_eval=[0.3, 0.35, 0.8, 1.0],
    )  # fmt: skip
    np.testing.assert_allclose(found.states["z"][:, 0], [0.3, 0.2, 0.425, 1.225], atol=1e-12)  # rounding


@pytest.mark.parametrize("points", [False, True])
def test_states_go_through_dead_points_with_a_mechanism(points):
    """The work of a drive at the rocker, which turns round at its dead points, is what the energy grows by."""
    crank = dal.mechanisms.crank_rocker()
    rocker = dal.Mechanism("rocker", crank.robot, crank.closures, ["joint3"], crank.seed)
    J = crank.equations(crank.seed)[1]
    speed = np.linalg.solve(J, [*np.zeros(len(crank.rows)), 8.0])[2]
    found = dal.simulate(
        rocker, rocker.q0, [speed], t_end=2.0, t_eval=np.linspace(0, 2, 41) if points else None, states={"work": 0.0},
        tau=lambda t, q, qd, p: [0.3 + 0.0 * p.work], rates=lambda t, q, qd, p: {"work": 0.3 * qd[0]}, **TIGHT,
    )  # fmt: skip
    assert rocker.charts
    scale = np.abs(found.energy).max()
    np.testing.assert_allclose(found.energy - found.energy[0], found.states["work"], atol=1e-8 * scale)  # error of the steps


@pytest.mark.parametrize(("method", "order"), [("semi_implicit_euler", 1), ("rk4", 4)])
def test_a_fixed_step_converges_with_the_order_of_its_method(arm, method, order):
    given = {"tau": pid, "inputs": {"ki": 3e4}, "states": {"sum": np.zeros(2)}, "rates": error}
    known = dal.simulate(arm, **START, **given, t_eval=[0.0, 0.4], **TIGHT)
    ends = [dal.rollout(arm, *START.values(), dt=0.4 / steps, steps=steps, method=method, **given) for steps in (800, 1600)]
    errors = [np.abs(end.states["sum"][-1] - known.states["sum"][-1]).max() for end in ends]
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.15)  # higher terms are that small here
    assert ends[0].states["sum"].shape == (801, 2)


def test_a_rollout_in_pieces_hands_on_its_states(arm):
    given = {"tau": pid, "inputs": {"ki": 3e4}, "states": {"sum": [[0.0, 0.0], [1.0, 2.0]]}, "rates": error, "dt": 1e-3}
    whole = dal.rollout(arm, *START.values(), steps=200, every=50, method="rk4", **given)
    parts = dal.rollout(arm, *START.values(), steps=200, every=50, method="rk4", progress=lambda share: None, **given)
    np.testing.assert_array_equal(whole.states["sum"], parts.states["sum"])
    assert whole.states["sum"].shape == (2, 5, 2)


def test_a_second_call_compiles_nothing(arm, monkeypatch):
    given = {"tau": pid, "inputs": {"ki": 3e4}, "states": {"sum": np.zeros(2)}, "rates": error, "t_end": 0.1}
    dal.simulate(arm, **START, **given)
    monkeypatch.setattr(run_kernels, "TimeLoopKernel", None)
    dal.simulate(arm, **START, **given)
    with pytest.raises(TypeError):  # so that a compilation would be noticed
        dal.simulate(arm, **START, **given | {"tau": lambda t, q, qd, p: [p.sum[0], -1.25]})


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"states": {"z": 0.0}}, ShapeError, "states: found without rates"),
        ({"rates": error}, ShapeError, "rates: found without states"),
        ({"states": {"z": 0.0}, "rates": 3}, ShapeError, "rates: 3 found, a function of (t, q, qd, p) is expected"),
        ({"states": {"z": 0.0}, "rates": error, "tau": None}, ShapeError, "states: found without a function in tau"),
        ({"states": {"z": 0.0}, "rates": error, "inputs": {"z": 1.0}}, ShapeError, "'z' is the name of an input or signal too"),
        ({"states": {"z": [0.0]}, "rates": lambda t, q, qd, p: q}, ExprError, "rates: 2 slopes of 'z' found; 1 expected"),
        ({"states": {"z": 0.0}, "rates": lambda t, q, qd, p: {}}, ExprError, "rates: 0 slopes of 'z' found; 1 expected"),
        ({"states": {"z": 0.0}, "rates": lambda t, q, qd, p: p.y}, ExprError, "rates: the function cannot be traced"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(arm, given, kind, words):
    options = {"tau": lambda t, q, qd, p: 0.0 * q, "t_end": 0.1, **given}
    with pytest.raises(kind) as refusal:
        dal.simulate(arm, **START, **options)
    assert words in str(refusal.value)


def test_the_symplectic_method_takes_none(arm):
    with pytest.raises(ShapeError, match="'symplectic' found together with states"):
        dal.rollout(
            arm, *START.values(), lambda t, q, qd, p: 0.0 * q, dt=1e-3, steps=2, method="symplectic", states={"z": 0.0},
            rates=lambda t, q, qd, p: p.z,
        )  # fmt: skip
