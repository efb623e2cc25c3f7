"""Several quantities by one kernel, kernels of functions of one's own, inputs that stay fixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ExprError, ModelError, ShapeError, UnknownNameError
from dalembert.expr import ops
from dalembert.model import Robot
from tests.robots import EVERYTHING, random_robot, relative_error

N = 3


@pytest.fixture(scope="module")
def robot() -> Robot:
    return random_robot(np.random.default_rng(4), N, replace(EVERYTHING, branches=False, mimic=False))


def separately(robot: Robot, q: Any, qd: Any, qdd: Any, tau: Any) -> dict[str, np.ndarray]:
    """Every name of `evaluate` by the function of that quantity."""
    found: dict[str, Any] = {
        "X": dal.forward_kinematics(robot, q),
        "J": dal.jacobian(robot, q),
        "Jdot": dal.jacobian_dot(robot, q, qd),
        "M": dal.mass_matrix(robot, q),
        "C": dal.coriolis_matrix(robot, q, qd),
        "c": dal.christoffel(robot, q),
        "g": dal.gravity_torque(robot, q),
        "h": dal.bias(robot, q, qd),
        "friction": dal.friction_torque(robot, qd),
        "tau": dal.inverse_dynamics(robot, q, qd, qdd),
        "qdd": dal.forward_dynamics(robot, q, qd, tau),
        "Y": dal.regressor(robot, q, qd, qdd),
        "wrenches": dal.link_wrenches(robot, q, qd, qdd),
        "dqdd_dphi": dal.parameter_derivatives(robot, q, qd, tau=tau),
    }
    for fields in (
        dal.energy(robot, q, qd),
        dal.energy_gradient(robot, q, qd),
        dal.derivatives(robot, q, qd, qdd),
        dal.derivatives(robot, q, qd, tau=tau),
        dal.second_derivatives(robot, q, qd, qdd),
        dal.centroidal_momentum(robot, q, qd),
    ):
        found |= fields._asdict()
    return found


@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
def test_all_names_at_once_are_what_the_functions_give(batch: tuple[int, ...], robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd, tau = rng.normal(size=(4, *batch, N))
    found = dal.evaluate(robot, list(dal.NAMES), q, qd, qdd, tau=tau)
    wanted = separately(robot, q, qd, qdd, tau)
    assert list(found) == list(dal.NAMES)
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        assert relative_error(value, wanted[name]) < 1e-11, name  # shared work is rounded in another order


@pytest.mark.parametrize("name", ["M", "h", "kinetic", "dtau_dq", "qdd"])
def test_one_name_alone_will_do(name: str, robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd, tau = rng.normal(size=(4, N))
    wanted = separately(robot, q, qd, qdd, tau)[name]
    for names in ([name], (name,), name):
        found = dal.evaluate(robot, names, q, qd, qdd, tau=tau)
        assert list(found) == [name]
        assert relative_error(found[name], wanted) < 1e-11


def test_evaluate_broadcasts_its_inputs_and_minds_no_threads(robot: Robot, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(3000, N)), rng.normal(size=N)
    one, two = (dal.evaluate(robot, ["M", "h", "J"], q, qd, threads=threads) for threads in (1, 2))
    assert {name: value.shape for name, value in one.items()} == {"M": (3000, N, N), "h": (3000, N), "J": (3000, 6, N)}
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_evaluate_keeps_its_kernel(robot: Robot) -> None:
    dal.evaluate(robot, ["M", "g"], np.zeros(N))
    kernels = dict(robot.kernels)
    dal.evaluate(robot, ("M", "g"), np.ones((2, N)))
    assert dict(robot.kernels) == kernels


def test_quantities_together_share_their_work(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in operations, by the interpreter's programs."""
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    apart = [dal.kernel(robot, [name]).ufunc.program.work for name in ("M", "h", "C", "dtau_dq")]
    together = dal.kernel(robot, ["M", "h", "C", "dtau_dq"]).ufunc.program.work
    assert together < 0.85 * sum(apart)
    assert together >= max(apart)


def test_unknown_names_are_listed_with_the_near_match(robot: Robot) -> None:
    known = r"Known: tau, h, g, M, qdd, .*centre_of_mass\."
    with pytest.raises(UnknownNameError, match=rf"evaluate: 'dtau_dqdt' is not known; did you mean 'dtau_dqd+'\? {known}"):
        dal.evaluate(robot, ["M", "dtau_dqdt"], np.zeros(N))
    with pytest.raises(UnknownNameError, match=rf"evaluate: 'voltage' is not known\. {known}"):
        dal.kernel(robot, ["voltage"])


def test_an_input_that_is_missing_is_named(robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"qd: nothing found, but M, h need it; shape \(\.\.\., n\) expected"):
        dal.evaluate(robot, ["M", "h"], np.zeros(N))
    with pytest.raises(ShapeError, match="tau: nothing found, but qdd need"):
        dal.evaluate(robot, ["qdd"], np.zeros(N), np.zeros(N), np.zeros(N))


def test_an_input_of_another_robot_is_named(robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"q: shape \(4,\) found, \(\.\.\., 3\) expected"):
        dal.evaluate(robot, ["M"], np.zeros(4))


def test_evaluating_nothing_is_refused(robot: Robot) -> None:
    with pytest.raises(DalembertError, match="names"):
        dal.evaluate(robot, [], np.zeros(N))


def test_evaluating_what_is_not_a_robot_says_so() -> None:
    with pytest.raises(DalembertError, match=r"system: str found, a Robot is expected\. Try dal\.load"):
        dal.evaluate("puma560", ["M"], np.zeros(N))


# Kernels of robots


def test_a_robot_s_kernel_takes_the_inputs_its_names_need(robot: Robot, rng: np.random.Generator) -> None:
    run = dal.kernel(robot, ["h", "M"])
    assert [slot.name for slot in run.inputs] == ["q", "qd"]
    assert [(slot.name, slot.shape) for slot in run.outputs] == [("h", (N,)), ("M", (N, N))]
    q, qd = rng.normal(size=(2, 5, N))
    h, M = run(q, qd)
    assert relative_error(h, dal.bias(robot, q, qd)) < 1e-12
    assert relative_error(M, dal.mass_matrix(robot, q)) < 1e-12


def test_one_name_of_several_letters_is_a_name(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    assert relative_error(dal.kernel(robot, "tau")(q, qd, qdd), dal.inverse_dynamics(robot, q, qd, qdd)) < 1e-12


def test_inputs_that_stay_fixed_are_no_longer_asked_for(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, 4, N))
    run = dal.kernel(robot, ["tau"], fixed={"qdd": qdd[0], "q": q[0]})
    assert [slot.name for slot in run.inputs] == ["qd"]
    assert relative_error(run(qd), dal.inverse_dynamics(robot, q[0], qd, qdd[0])) < 1e-12


def test_fixed_inputs_are_folded_into_the_code(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    general = dal.kernel(robot, ["tau"]).ufunc.program.work
    fixed = dal.kernel(robot, ["tau"], fixed={"q": np.ones(N), "qd": np.zeros(N)}).ufunc.program.work
    assert fixed < 0.7 * general


def test_an_unknown_fixed_input_is_named(robot: Robot) -> None:
    with pytest.raises(UnknownNameError, match=r"fixed: 'qddd' is not known; did you mean 'qdd'\? Known: q, qd, qdd"):
        dal.kernel(robot, ["tau"], fixed={"qddd": np.zeros(N)})


@pytest.mark.parametrize("value, sentence", [(np.zeros(4), r"shape \(4,\) found, \(3,\) expected"), ([np.nan] * 3, "NaN")])
def test_a_fixed_input_that_does_not_fit_is_named(value: Any, sentence: str, robot: Robot) -> None:
    with pytest.raises(ModelError, match=rf"fixed: qdd: .*{sentence}"):
        dal.kernel(robot, ["tau"], fixed={"qdd": value})


# Functions of one's own


def polar(p: Any) -> Any:
    """Radius and angle of a point; the angle is 0 at the origin."""
    r2 = p[0] * p[0] + p[1] * p[1]
    return ops.sqrt(r2), ops.where(r2 > 0.0, ops.atan2(p[1], p[0]), 0.0)


def test_a_function_with_branches_and_angles_runs_on_batches(rng: np.random.Generator) -> None:
    run = dal.kernel(polar, {"p": (2,)}, outputs=["r", "angle"])
    p = rng.normal(size=(3, 5, 2))
    p[1, 2] = 0.0
    r, angle = run(p)
    np.testing.assert_allclose(r, np.hypot(p[..., 0], p[..., 1]), rtol=1e-15)
    np.testing.assert_allclose(angle, np.arctan2(p[..., 1], p[..., 0]), rtol=1e-14, atol=1e-15)
    assert angle[1, 2] == 0.0
    single = run(p[0, 0])
    assert (single[0], single[1]) == (r[0, 0], angle[0, 0])


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sin": (lambda x, y: ops.sin(x), lambda x, y: np.sin(x)),
    "cos": (lambda x, y: ops.cos(x * 2), lambda x, y: np.cos(2 * x)),
    "atan2": (ops.atan2, np.arctan2),
    "sqrt": (lambda x, y: ops.sqrt(x * x + 1.0), lambda x, y: np.sqrt(x * x + 1)),
    "abs": (lambda x, y: abs(x), lambda x, y: np.abs(x)),
    "sign": (lambda x, y: ops.sign(x), lambda x, y: np.sign(x)),
    "min": (ops.minimum, np.minimum),
    "max": (ops.maximum, np.maximum),
    "where": (lambda x, y: ops.where(x < y, x * y, x - y), lambda x, y: np.where(x < y, x * y, x - y)),
    "where of where": (
        lambda x, y: ops.where(x < 0.0, ops.where(y < 0.0, 1.0, 2.0), ops.where(y < 0.0, 3.0, 4.0)),
        lambda x, y: 1.0 + 2 * (x >= 0) + (y >= 0),
    ),
    "power": (lambda x, y: x**3 / (y * y + 1.0), lambda x, y: x**3 / (y * y + 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_scalars_means_what_numpy_means(name: str, rng: np.random.Generator) -> None:
    ours, theirs = FUNCTIONS[name]
    run = dal.kernel(ours, {"x": (), "y": ()})
    x, y = rng.normal(size=(2, 37))
    np.testing.assert_allclose(run(x, y), theirs(x, y), rtol=1e-14, atol=1e-15)
    assert float(run(x[3], y[3])) == pytest.approx(float(theirs(x[3], y[3])), rel=1e-14)


def test_inputs_and_outputs_are_nests_of_any_shape(rng: np.random.Generator) -> None:
    def product(A: Any, b: Any) -> Any:
        return [sum((a * x for a, x in zip(row, b, strict=True)), 0.0) for row in A], [[1.0, b[0]], [b[1], 2.0]]

    run = dal.kernel(product, {"A": (3, 2), "b": (2,)}, outputs=["Ab", "B"])
    assert [slot.shape for slot in run.outputs] == [(3,), (2, 2)]
    A, b = rng.normal(size=(5, 3, 2)), rng.normal(size=2)
    found, B = run(A, b)
    np.testing.assert_allclose(found, A @ b, rtol=1e-14)
    np.testing.assert_array_equal(B, np.broadcast_to([[1, b[0]], [b[1], 2]], (5, 2, 2)))


def test_a_function_s_kernel_has_out_threads_and_fixed_inputs(rng: np.random.Generator) -> None:
    run = dal.kernel(lambda x, k: [k[0] * x[0], k[1] + x[1]], {"x": (2,), "k": (2,)}, fixed={"k": [2.0, 3.0]})
    x = rng.normal(size=(50_000, 2))
    out = np.empty_like(x)
    assert run(x, out=out, threads=2) is out
    np.testing.assert_array_equal(out, x * [2, 1] + [0, 3])
    np.testing.assert_array_equal(run(x, threads=1), out)


def test_a_function_with_nothing_left_free_is_a_constant() -> None:
    assert float(dal.kernel(lambda x: x[0] + x[1], {"x": (2,)}, fixed={"x": [1, 2]})()) == 3.0


def test_deciding_on_a_value_says_how_to_branch() -> None:
    with pytest.raises(ExprError, match=r"Select with ops\.where\(condition, a, b\) instead of `if`"):
        dal.kernel(lambda x: x[0] if x[0] > 0 else x[1], {"x": (2,)})


def test_a_function_needs_the_shapes_of_its_inputs() -> None:
    with pytest.raises(ShapeError, match=r"kernel: a function needs its inputs as a mapping of name to shape"):
        dal.kernel(polar, ["p"])


def test_an_argument_too_few_or_too_many_is_said_so() -> None:
    run = dal.kernel(polar, {"p": (2,)}, outputs=["r", "angle"])
    for arrays in ([], [np.zeros(2)] * 2):
        with pytest.raises(DalembertError, match="p"):
            run(*arrays)


def test_outputs_that_are_not_as_many_as_named_are_said_so() -> None:
    with pytest.raises(DalembertError, match="output"):
        dal.kernel(polar, {"p": (2,)}, outputs=["r", "angle", "height"])


def test_what_is_neither_robot_nor_function_is_named() -> None:
    with pytest.raises(DalembertError, match="int found"):
        dal.kernel(3, {"q": (3,)})


def test_a_kernel_in_single_precision_agrees_to_its_digits() -> None:
    robot = dal.robots.puma560()
    state = np.random.default_rng(0).normal(size=(3, 5, 6))
    single = dal.kernel(robot, ["tau"], dtype="float32")(*state)
    assert single.dtype == np.float32
    wanted = dal.inverse_dynamics(robot, *state)
    # seven digits, of which the recursion over six joints loses one
    np.testing.assert_allclose(single, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def test_an_unknown_precision_is_named() -> None:
    with pytest.raises(dal.DalembertError, match="dtype: 'float16' is not known"):
        dal.kernel(dal.robots.pendulum(), ["M"], dtype="float16")


def test_results_go_where_they_are_sent(robot: Robot, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, 40, N))
    out = {"h": np.full((40, N), np.nan), "M": np.full((40, N, N), np.nan)}
    found = dal.evaluate(robot, ["M", "h"], q, qd, out=out)
    assert list(found) == ["M", "h"]
    assert found["M"] is out["M"]
    np.testing.assert_allclose(out["h"], dal.bias(robot, q, qd), rtol=1e-11, atol=1e-11)
    alone = {"M": np.full((40, N, N), np.nan)}
    np.testing.assert_allclose(dal.evaluate(robot, "M", q, out=alone)["M"], out["M"], rtol=1e-11, atol=1e-11)


def test_an_output_without_its_array_is_refused(robot: Robot) -> None:
    with pytest.raises(ShapeError, match="out: arrays for M found; one for each of M, h is expected"):
        dal.evaluate(robot, ["M", "h"], *np.zeros((2, N)), out={"M": np.zeros((N, N))})


def test_one_configuration_takes_the_short_way(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    q, qd = np.ones((2, N))
    wanted = dal.evaluate(robot, ("M", "h"), q, qd)
    run, *_ = robot.kernels["evaluate", ("M", "h")]
    monkeypatch.setattr(type(run), "__call__", None)
    for name, value in dal.evaluate(robot, ("M", "h"), q, qd).items():
        np.testing.assert_array_equal(value, wanted[name])


def test_several_quantities_of_a_long_chain_come_from_loops_each(rng: np.random.Generator) -> None:
    """Straight code for all of them at once would take minutes to compile."""
    chain = dal.robots.chain(60)
    q, qd, qdd = rng.normal(size=(3, 4, 60))
    found = dal.evaluate(chain, ["tau", "M", "g"], q, qd, qdd)
    assert relative_error(found["tau"], dal.inverse_dynamics(chain, q, qd, qdd)) < 1e-11
    assert relative_error(found["M"], dal.mass_matrix(chain, q)) < 1e-11
    assert relative_error(found["g"], dal.gravity_torque(chain, q)) < 1e-11
    again = dal.evaluate(chain, ["tau", "M", "g"], q, qd, qdd, out=found)
    assert all(again[name] is found[name] for name in found)
