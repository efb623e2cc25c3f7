"""Coriolis terms, regressor, parameters, derivatives, wrenches: shapes, `out`, threads, and the sentence for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ModelError, ShapeError, UnknownNameError
from dalembert.model import Robot
from tests.robots import EVERYTHING, random_robot, relative_error, without_friction

N = 3
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def robot() -> Robot:
    """A serial arm with friction, a full rotor and welded links: three moving joints."""
    return random_robot(np.random.default_rng(4), N, replace(EVERYTHING, branches=False, mimic=False))


def forward_derivatives(system: Any, q: Any, qd: Any, tau: Any, **options: Any) -> Any:
    return dal.derivatives(system, q, qd, tau=tau, **options)


def forward_parameter_derivatives(system: Any, q: Any, qd: Any, tau: Any, **options: Any) -> Any:
    return dal.parameter_derivatives(system, q, qd, tau=tau, **options)


ARRAYS: dict[str, tuple[Call, int, tuple[int, ...]]] = {  # function, number of (..., n) arguments, shape of a result
    "coriolis_matrix": (dal.coriolis_matrix, 2, (N, N)),
    "christoffel": (dal.christoffel, 1, (N, N, N)),
    "friction_torque": (dal.friction_torque, 1, (N,)),
    "regressor": (dal.regressor, 3, (N, 13 * N)),
    "regressor, all columns": (partial(dal.regressor, offset=True), 3, (N, 14 * N)),
    "parameter_derivatives": (dal.parameter_derivatives, 3, (N, 13 * N)),
    "forward parameter derivatives": (forward_parameter_derivatives, 3, (N, 13 * N)),
    "link_wrenches": (dal.link_wrenches, 3, (N, 6)),
    "jacobian_dot": (dal.jacobian_dot, 2, (6, N)),
    "analytical_jacobian": (dal.analytical_jacobian, 1, (6, N)),
    "quaternion": (partial(dal.analytical_jacobian, angles="quaternion"), 1, (7, N)),
}
TUPLES: dict[str, tuple[Call, int, tuple[tuple[int, ...], ...]]] = {
    "derivatives": (dal.derivatives, 3, ((N, N),) * 3),
    "forward derivatives": (forward_derivatives, 3, ((N, N),) * 3),
    "second_derivatives": (dal.second_derivatives, 3, ((N, N, N),) * 4),
    "energy_gradient": (dal.energy_gradient, 2, ((N,),) * 3),
}
CALLS = {**{name: (f, count) for name, (f, count, _) in (ARRAYS | TUPLES).items()}}
BATCHES = [(), (1,), (5,), (2, 3), (0,), (2, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("batch", BATCHES)
def test_leading_axes_are_the_batch_and_nothing_is_squeezed(name: str, batch: tuple[int, ...], robot: Robot) -> None:
    function, count, shape = ARRAYS[name]
    assert function(robot, *np.ones((count, *batch, N))).shape == (*batch, *shape)


@pytest.mark.parametrize("name", TUPLES)
@pytest.mark.parametrize("batch", BATCHES)
def test_leading_axes_are_the_batch_of_every_field(name: str, batch: tuple[int, ...], robot: Robot) -> None:
    function, count, shapes = TUPLES[name]
    found = function(robot, *np.ones((count, *batch, N)))
    assert [field.shape for field in found] == [(*batch, *shape) for shape in shapes]


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_is_its_rows_one_by_one(name: str, robot: Robot, rng: np.random.Generator) -> None:
    function, count = CALLS[name]
    arrays = rng.normal(size=(count, 7, N))
    whole, rows = function(robot, *arrays), [function(robot, *arrays[:, k]) for k in range(7)]
    if isinstance(whole, tuple):
        for field, parts in zip(whole, zip(*rows, strict=True), strict=True):
            np.testing.assert_array_equal(field, np.stack(parts))
    else:
        np.testing.assert_array_equal(whole, np.stack(rows))


@pytest.mark.parametrize("name", CALLS)
def test_lists_and_whole_numbers_are_welcome(name: str, robot: Robot) -> None:
    function, count = CALLS[name]
    wanted = function(robot, *np.ones((count, N)))
    for made in ([1] * N, (1.0,) * N, np.ones(N, np.int32)):
        np.testing.assert_array_equal(function(robot, *([made] * count)), wanted)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("batch", [(), (4,), (2000,)])
def test_out_is_filled_and_returned(name: str, batch: tuple[int, ...], robot: Robot, rng: np.random.Generator) -> None:
    function, count, shape = ARRAYS[name]
    arrays = rng.normal(size=(count, *batch, N))
    out = np.full((*batch, *shape), np.nan)
    assert function(robot, *arrays, out=out) is out
    np.testing.assert_array_equal(out, function(robot, *arrays))


@pytest.mark.parametrize("name", TUPLES)
def test_several_outs_are_filled_and_returned(name: str, robot: Robot, rng: np.random.Generator) -> None:
    function, count, shapes = TUPLES[name]
    arrays = rng.uniform(-1, 1, (count, 5, N))
    out = tuple(np.full((5, *shape), np.nan) for shape in shapes)
    found = function(robot, *arrays, out=out)
    assert all(field is array for field, array in zip(found, out, strict=True))
    for field, wanted in zip(found, function(robot, *arrays), strict=True):
        np.testing.assert_array_equal(field, wanted)


@pytest.mark.parametrize("batch", [(), (5,)])
@pytest.mark.parametrize("name", TUPLES)
def test_an_earlier_result_is_written_into_again(
    name: str, batch: tuple[int, ...], robot: Robot, rng: np.random.Generator
) -> None:
    function, count, _ = TUPLES[name]
    first, second = rng.uniform(-1, 1, (2, count, *batch, N))
    earlier = function(robot, *first)
    again = function(robot, *second, out=earlier)
    assert type(again) is type(earlier)
    for field, place, wanted in zip(again, earlier, function(robot, *second), strict=True):
        assert field is place
        np.testing.assert_array_equal(field, wanted)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_out_of_another_shape_is_refused(name: str, robot: Robot) -> None:
    function, count, shape = ARRAYS[name]
    sentence = re.escape(f"out: shape {(2, *shape)} found, {(3, *shape)} expected.")
    with pytest.raises(ShapeError, match=sentence):
        function(robot, *np.ones((count, 3, N)), out=np.zeros((2, *shape)))


@pytest.mark.parametrize("name", CALLS)
def test_the_number_of_threads_changes_nothing(name: str, robot: Robot, rng: np.random.Generator) -> None:
    function, count = CALLS[name]
    arrays = rng.normal(size=(count, 8000, N))
    single = function(robot, *arrays, threads=1)
    for threads in (2, 3):
        np.testing.assert_array_equal(function(robot, *arrays, threads=threads), single)


@pytest.mark.parametrize("name", CALLS)
def test_an_array_for_another_robot_is_named(name: str, robot: Robot) -> None:
    function, count = CALLS[name]
    first = "qd" if name == "friction_torque" else "q"
    with pytest.raises(ShapeError, match=rf"^{first}: shape \(5, 7\) found, \(\.\.\., 3\) expected"):
        function(robot, *np.zeros((count, 5, 7)))


@pytest.mark.parametrize("name", CALLS)
def test_what_is_not_a_robot_is_named(name: str) -> None:
    function, count = CALLS[name]
    with pytest.raises(DalembertError, match=r"system: str found, a Robot is expected\. Try dal\.load"):
        function("puma560", *np.zeros((count, N)))


@pytest.mark.parametrize("function", [dal.parameters, dal.parameter_names])
def test_what_has_no_parameters_is_named(function: Call) -> None:
    with pytest.raises(DalembertError, match=r"system: str found, a Robot is expected\. Try dal\.load"):
        function("puma560")


@pytest.mark.parametrize("given", [{}, {"qdd": np.zeros(N), "tau": np.zeros(N)}])
def test_derivatives_need_accelerations_or_torques(given: dict[str, Any], robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"derivatives: give qdd \(for inverse dynamics\) or tau= \(for forward dynamics\)"):
        dal.derivatives(robot, np.zeros(N), np.zeros(N), **given)


def test_derivatives_come_by_name(robot: Robot) -> None:
    inverse = dal.derivatives(robot, *np.ones((3, N)))
    forward = forward_derivatives(robot, *np.ones((3, N)))
    assert isinstance(inverse, dal.InverseDerivatives)
    assert isinstance(forward, dal.ForwardDerivatives)
    assert inverse._fields == ("dtau_dq", "dtau_dqd", "dtau_dqdd")
    assert forward._fields == ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
    assert isinstance(dal.second_derivatives(robot, *np.ones((3, N))), dal.SecondDerivatives)
    assert isinstance(dal.energy_gradient(robot, *np.ones((2, N))), dal.EnergyGradient)


def test_a_pendulum_s_acceleration_changes_with_gravity_s_lever() -> None:
    """q̈ = (τ − b cos q) / I, so ∂q̈/∂q = b sin q / I: the constant inertia must not swallow the derivative."""
    pendulum = without_friction(dal.robots.pendulum())
    q, qd, tau = [0.5], [0.3], [0.7]
    found = forward_derivatives(pendulum, q, qd, tau)
    slope = dal.derivatives(pendulum, q, qd, dal.forward_dynamics(pendulum, q, qd, tau)).dtau_dq
    assert abs(slope[0, 0]) > 1
    np.testing.assert_allclose(found.dqdd_dq, -slope / dal.mass_matrix(pendulum, q), rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, sentence",
    [
        ("christoffel", r"200 joints make 8000000 entries per configuration, .* Ask for coriolis_matrix"),
        ("second_derivatives", r"200 joints make 32000000 entries per configuration, .* Ask for derivatives"),
        ("regressor", r"600 joints make 4680000 entries per configuration, .* Fix what you do not identify"),
    ],
)
def test_what_would_be_too_large_is_refused_with_another_way(name: str, sentence: str) -> None:
    (function, count), n = CALLS[name], int(sentence[:3])
    with pytest.raises(ModelError, match=f"{name}: {sentence}"):
        function(dal.robots.chain(n), *np.zeros((count, n)))


# Columns and parameters


def test_columns_are_named_after_joint_and_parameter(robot: Robot) -> None:
    inertial = ["m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]
    wanted = [f"{joint}.{name}" for joint in ("q0", "q1", "q2") for name in (*inertial, "Im", "Fv", "Fc")]
    assert dal.parameter_names(robot) == wanted
    assert dal.parameter_names(robot, rotor=False, friction=False)[:11] == [*(f"q0.{name}" for name in inertial), "q1.m"]


@pytest.mark.parametrize("rotor", [True, False])
@pytest.mark.parametrize("friction", [True, False])
@pytest.mark.parametrize("offset", [True, False])
def test_names_values_and_columns_are_equally_many(rotor: bool, friction: bool, offset: bool, robot: Robot) -> None:
    options = {"rotor": rotor, "friction": friction, "offset": offset}
    count = N * (10 + rotor + 2 * friction + offset)
    assert len(dal.parameter_names(robot, **options)) == count
    assert dal.parameters(robot, **options).shape == (count,)


def test_parameters_are_those_of_the_description(rng: np.random.Generator) -> None:
    """One link about its own frame: m, m c, I + m (c·c 1 − c cᵀ), then rotor and friction as given."""
    com, I = np.array([0.1, -0.2, 0.3]), np.array([[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.5]])
    arm = dal.Robot.from_parts(
        "arm",
        [dal.Link("base"), dal.Link("link", 2.0, com, I)],
        [dal.Joint("hinge", "revolute", "base", "link", axis=[0, 1, 1])],
        friction={"hinge": dal.Friction(0.7, 3.0, 2.0)},
        rotors={"hinge": dal.Rotor(2e-4, 50.0)},
    )
    about = I + 2.0 * (com @ com * np.eye(3) - np.outer(com, com))
    wanted = [2.0, *(2.0 * com), *about[np.triu_indices(3)], 2e-4, 0.7, 2.5, 0.5]
    np.testing.assert_allclose(dal.parameters(arm, offset=True), wanted, rtol=1e-14)


def test_a_coupled_joint_has_columns_of_its_own() -> None:
    links = [dal.Link("base"), *(dal.Link(name, 1.0, np.array([0.1, 0, 0]), np.eye(3) * 0.01) for name in ("left", "right"))]
    joints = [
        dal.Joint("a", "revolute", "base", "left"),
        dal.Joint("b", "revolute", "base", "right", mimic=dal.Mimic("a", -1.0, 0.0)),
    ]
    gripper = dal.Robot.from_parts("gripper", links, joints)
    assert dal.regressor(gripper, [0.1], [0.2], [0.3]).shape == (1, 26)
    assert dal.parameter_names(gripper)[13] == "b.m"
    assert dal.link_wrenches(gripper, [0.1], [0.2], [0.3]).shape == (2, 6)


WITH_PARAMETERS: dict[str, tuple[Call, int]] = {
    "inverse_dynamics": (dal.inverse_dynamics, 3),
    "forward_dynamics": (dal.forward_dynamics, 3),
    "mass_matrix": (dal.mass_matrix, 1),
    "gravity_torque": (dal.gravity_torque, 1),
    "bias": (dal.bias, 2),
}


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_parameters_of_another_robot_are_named(name: str, robot: Robot) -> None:
    function, count = WITH_PARAMETERS[name]
    with pytest.raises(ShapeError, match=r"parameters: shape \(40,\) found, \(\.\.\., 39\) expected"):
        function(robot, *np.zeros((count, N)), parameters=np.zeros(40))


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_many_sets_of_parameters_make_a_batch(name: str, robot: Robot, rng: np.random.Generator) -> None:
    function, count = WITH_PARAMETERS[name]
    arrays = rng.normal(size=(count, N))
    phi = dal.parameters(robot) * np.linspace(0.9, 1.1, 5)[:, None]
    found = function(robot, *arrays, parameters=phi)
    assert found.shape[0] == 5
    np.testing.assert_array_equal(found[3], function(robot, *arrays, parameters=phi[3]))
    assert relative_error(found[2], function(robot, *arrays)) < 1e-11


def test_friction_can_be_given_as_a_parameter_to_a_robot_without(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    free = without_friction(robot)
    laws = {joint: dal.Friction(0.3 * k, 1.0 + k) for k, joint in enumerate(robot.joint_names)}
    braked = free.replace(parameters=free.parameters.replace(friction=laws))
    found = dal.inverse_dynamics(free, q, qd, qdd, parameters=dal.parameters(braked))
    assert relative_error(found, dal.inverse_dynamics(braked, q, qd, qdd)) < 1e-12


def test_parameters_go_with_wrenches_and_a_moving_base(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    around = {"wrenches": {"tool": rng.normal(size=6)}, "base_velocity": rng.normal(size=6), "base_acceleration": np.ones(6)}
    phi = dal.parameters(robot)
    tau = dal.inverse_dynamics(robot, q, qd, qdd, **around)
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi, **around), tau) < 1e-12
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau, parameters=phi, **around), qdd) < 1e-9


# Friction and wrenches


def test_friction_vanishes_at_rest_and_without_a_law(robot: Robot, rng: np.random.Generator) -> None:
    np.testing.assert_array_equal(dal.friction_torque(robot, np.zeros(N)), np.zeros(N))
    np.testing.assert_array_equal(dal.friction_torque(without_friction(robot), rng.normal(size=(4, N))), np.zeros((4, N)))


def test_an_unknown_frame_of_wrenches_is_named(robot: Robot) -> None:
    with pytest.raises(UnknownNameError, match=r"frame: 'lnk' is not known; did you mean 'link'\? Known: world, link"):
        dal.link_wrenches(robot, *np.zeros((3, N)), frame="lnk")


def test_a_hanging_mass_pulls_at_its_joint() -> None:
    """2 kg half a metre out on a horizontal axis: the joint holds m g upwards and m g ½ about its axis."""
    links = [dal.Link("base"), dal.Link("beam", 2.0, np.array([0.5, 0, 0]), np.eye(3) * 0.01)]
    beam = dal.Robot.from_parts("beam", links, [dal.Joint("hinge", "revolute", "base", "beam", axis=[0, 1, 0])])
    beam = beam.with_gravity([0, 0, -10])
    np.testing.assert_allclose(dal.link_wrenches(beam, [0.0], [0.0], [0.0]), [[0, 0, 20, 0, -10, 0]], atol=1e-14)
    hung = dal.link_wrenches(beam, [np.pi / 2], [0.0], [0.0], wrenches={"beam": [0, 0, -5, 0, 0, 0]})
    np.testing.assert_allclose(hung, [[0, 0, 25, 0, 0, 0]], atol=1e-12)
    turned = dal.link_wrenches(beam, [np.pi / 2], [0.0], [0.0], frame="link")
    np.testing.assert_allclose(turned, [[-20, 0, 0, 0, 0, 0]], atol=1e-12)
