"""What users call: shapes, `out`, threads, wrenches and base motion, and the sentence for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ModelError, ShapeError, UnknownNameError
from dalembert.model import Joint, Link, Robot
from tests.robots import relative_error

N = 6
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def robot() -> Robot:
    return dal.robots.puma560()


CALLS: dict[str, tuple[Call, int, tuple[int, ...]]] = {  # function, number of (..., n) arguments, shape of a result
    "inverse_dynamics": (dal.inverse_dynamics, 3, (N,)),
    "forward_dynamics": (dal.forward_dynamics, 3, (N,)),
    "mass_matrix": (dal.mass_matrix, 1, (N, N)),
    "gravity_torque": (dal.gravity_torque, 1, (N,)),
    "bias": (dal.bias, 2, (N,)),
    "forward_kinematics": (dal.forward_kinematics, 1, (4, 4)),
    "jacobian": (dal.jacobian, 1, (6, N)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,), (2, 0)])
def test_leading_axes_are_the_batch_and_nothing_is_squeezed(name: str, batch: tuple[int, ...], robot: Robot) -> None:
    function, count, shape = CALLS[name]
    assert function(robot, *np.zeros((count, *batch, N))).shape == (*batch, *shape)


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_is_its_rows_one_by_one(name: str, robot: Robot, rng: np.random.Generator) -> None:
    function, count, _ = CALLS[name]
    arrays = rng.normal(size=(count, 7, N))
    whole = function(robot, *arrays)
    rows = np.stack([function(robot, *arrays[:, k]) for k in range(7)])
    np.testing.assert_array_equal(whole, rows)


@pytest.mark.parametrize("name", CALLS)
def test_lists_whole_numbers_and_single_precision_are_welcome(name: str, robot: Robot) -> None:
    function, count, _ = CALLS[name]
    wanted = function(robot, *np.ones((count, N)))
    for made in ([1] * N, (1.0,) * N, np.ones(N, np.int32), np.ones(N, np.float32)):
        np.testing.assert_array_equal(function(robot, *([made] * count)), wanted)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("batch", [(), (4,), (2000,)])
def test_out_is_filled_and_returned(name: str, batch: tuple[int, ...], robot: Robot, rng: np.random.Generator) -> None:
    function, count, shape = CALLS[name]
    arrays = rng.normal(size=(count, *batch, N))
    out = np.full((*batch, *shape), np.nan)
    assert function(robot, *arrays, out=out) is out
    np.testing.assert_array_equal(out, function(robot, *arrays))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("wrong", [(40_000, 3), (N,), (40_001, N), (40_000 * N,)])
def test_nothing_is_written_past_the_end_of_an_out_that_is_too_small(
    wrong: tuple[int, ...], threads: int, robot: Robot, rng: np.random.Generator
) -> None:
    sentence = re.escape(f"out: shape {wrong} found, {(40_000, N)} expected.")
    with pytest.raises(ShapeError, match=sentence):
        dal.gravity_torque(robot, rng.normal(size=(40_000, N)), out=np.zeros(wrong), threads=threads)


@pytest.mark.parametrize("name", CALLS)
def test_an_out_of_another_shape_is_refused(name: str, robot: Robot) -> None:
    function, count, shape = CALLS[name]
    sentence = re.escape(f"out: shape {(2, *shape)} found, {(3, *shape)} expected.")
    with pytest.raises(ShapeError, match=sentence):
        function(robot, *np.zeros((count, 3, N)), out=np.zeros((2, *shape)))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("rows", [3, 50_000])
def test_the_number_of_threads_changes_nothing(name: str, rows: int, robot: Robot, rng: np.random.Generator) -> None:
    function, count, _ = CALLS[name]
    arrays = rng.normal(size=(count, rows if count < 3 else rows // 5 + 1, N))
    single = function(robot, *arrays, threads=1)
    for threads in (2, 4):
        np.testing.assert_array_equal(function(robot, *arrays, threads=threads), single)


@pytest.mark.parametrize("name", CALLS)
def test_an_array_for_another_robot_is_named(name: str, robot: Robot) -> None:
    function, count, _ = CALLS[name]
    with pytest.raises(ShapeError, match=r"q: shape \(5, 7\) found, \(\.\.\., 6\) expected"):
        function(robot, *np.zeros((count, 5, 7)))
    if count > 1:
        last = {"inverse_dynamics": "qdd", "forward_dynamics": "tau", "bias": "qd"}[name]
        with pytest.raises(ShapeError, match=rf"{last}: shape \(4,\) found, \(\.\.\., 6\) expected"):
            function(robot, *np.zeros((count - 1, N)), np.zeros(4))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_batches_that_do_not_broadcast_are_listed(name: str, robot: Robot) -> None:
    function, count, _ = CALLS[name]
    arrays = [np.zeros((2, N)), *np.zeros((count - 1, 3, N))]
    with pytest.raises(ShapeError, match=r"batch: leading axes do not broadcast together: q \(2,\), qd \(3,\)"):
        function(robot, *arrays)


@pytest.mark.parametrize("value", [[1j] * N, ["a"] * N, [None] * N])
def test_what_is_not_a_real_number_is_named(value: Any, robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"q: .* entries found, real numbers expected"):
        dal.mass_matrix(robot, value)


def test_rows_of_unequal_length_are_named(robot: Robot) -> None:
    with pytest.raises(DalembertError, match="q: "):
        dal.mass_matrix(robot, [[0.0] * 6, [0.0] * 5])


def test_a_scalar_is_not_a_vector(robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"q: shape \(\) found"):
        dal.mass_matrix(robot, 0.0)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_not_a_robot_is_named(name: str) -> None:
    function, count, _ = CALLS[name]
    with pytest.raises(DalembertError, match=r"system: str found, a Robot is expected\. Try dal\.load"):
        function("puma560", *np.zeros((count, N)))


@pytest.mark.parametrize("function", [dal.forward_kinematics, dal.jacobian])
def test_an_unknown_link_is_named_with_its_near_match(function: Call, robot: Robot) -> None:
    with pytest.raises(UnknownNameError, match=r"link: 'link7' is not known; did you mean 'link\d'\? Known: tool, base, link1"):
        function(robot, np.zeros(N), "link7")


def test_an_unknown_frame_is_named(robot: Robot) -> None:
    with pytest.raises(UnknownNameError, match=r"frame: 'wrld' is not known; did you mean 'world'\? Known: world, body"):
        dal.jacobian(robot, np.zeros(N), frame="wrld")


@pytest.mark.parametrize("name", ["inverse_dynamics", "bias", "gravity_torque"])
@pytest.mark.parametrize("formulation", ["newton-euler", "forward_dynamics", "tree", "mass_matrix", ""])
def test_an_unknown_formulation_is_named(name: str, formulation: str, robot: Robot) -> None:
    function, count, _ = CALLS[name]
    dal.forward_dynamics(robot, *np.zeros((3, N)))  # names of other kernels the robot keeps are not formulations
    dal.inverse_dynamics(robot, *np.zeros((3, N)))
    with pytest.raises(UnknownNameError, match=rf"formulation: {formulation!r} is not known.*Known: .*newton_euler"):
        function(robot, *np.zeros((count, N)), formulation=formulation)


def test_a_wrench_on_an_unknown_link_is_named(robot: Robot) -> None:
    with pytest.raises(UnknownNameError, match="link: 'gripper' is not known"):
        dal.inverse_dynamics(robot, *np.zeros((3, N)), wrenches={"gripper": np.zeros(6)})


def test_a_wrench_without_a_place_is_refused(robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"wrenches: list found, a mapping such as \{'tool': \[fx, fy, fz, mx, my, mz\]\}"):
        dal.inverse_dynamics(robot, *np.zeros((3, N)), wrenches=[0.0] * 6)


def test_a_wrench_of_another_shape_is_named(robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"wrenches\['tool'\]: shape \(3,\) found, \(\.\.\., 6\) expected"):
        dal.inverse_dynamics(robot, *np.zeros((3, N)), wrenches={"tool": np.zeros(3)})


@pytest.mark.parametrize("option", ["base_velocity", "base_acceleration"])
def test_a_base_motion_of_another_shape_is_named(option: str, robot: Robot) -> None:
    with pytest.raises(ShapeError, match=rf"{option}: shape \(3,\) found, \(\.\.\., 6\) expected"):
        dal.inverse_dynamics(robot, *np.zeros((3, N)), **{option: np.zeros(3)})


@pytest.mark.parametrize("options", [{"wrenches": {"tool": ["a"] * 6}}, {"base_velocity": ["a"] * 6}])
def test_a_wrench_or_base_motion_that_is_not_numeric_is_named(options: dict[str, Any], robot: Robot) -> None:
    with pytest.raises(DalembertError, match=r"wrenches\['tool'\]|base_velocity"):
        dal.inverse_dynamics(robot, *np.zeros((3, N)), **options)


def test_wrenches_broadcast_with_the_state(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    wrench = rng.normal(size=(4, 6))
    tau = dal.inverse_dynamics(robot, q, qd, qdd, wrenches={"tool": wrench, "link3": wrench[0]})
    assert tau.shape == (4, N)
    single = dal.inverse_dynamics(robot, q, qd, qdd, wrenches={"tool": wrench[2], "link3": wrench[0]})
    np.testing.assert_array_equal(tau[2], single)


def test_a_wrench_on_the_base_moves_nothing(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    pulled = dal.inverse_dynamics(robot, q, qd, qdd, wrenches={"base": np.ones(6)})
    np.testing.assert_allclose(pulled, dal.inverse_dynamics(robot, q, qd, qdd), rtol=1e-13)


def test_no_wrench_is_no_wrench(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    plain = dal.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_array_equal(dal.inverse_dynamics(robot, q, qd, qdd, wrenches={}), plain)
    still = dal.inverse_dynamics(robot, q, qd, qdd, base_velocity=np.zeros(6), base_acceleration=np.zeros(6))
    assert relative_error(still, plain) < 1e-14


def test_a_steady_straight_motion_of_the_base_has_no_effect(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.normal(size=(3, N))
    moving = dal.inverse_dynamics(robot, q, qd, qdd, base_velocity=[1, 2, 3, 0, 0, 0])
    assert relative_error(moving, dal.inverse_dynamics(robot, q, qd, qdd)) < 1e-14


def test_energies_come_by_name_and_add_up(robot: Robot, rng: np.random.Generator) -> None:
    energy = dal.energy(robot, *rng.normal(size=(2, 4, N)))
    assert energy.kinetic.shape == energy.potential.shape == (4,)
    np.testing.assert_array_equal(energy.total, energy.kinetic + energy.potential)
    single = dal.energy(robot, np.zeros(N), np.zeros(N))
    assert np.shape(single.kinetic) == ()
    assert single.kinetic == 0


def test_poses_of_several_links_come_together(robot: Robot, rng: np.random.Generator) -> None:
    q = rng.normal(size=(3, N))
    names = ["link2", "base", "tool", "link2"]
    X = dal.forward_kinematics(robot, q, names)
    assert X.shape == (3, 4, 4, 4)
    for k, name in enumerate(names):
        np.testing.assert_allclose(X[:, k], dal.forward_kinematics(robot, q, name), atol=1e-15)
    np.testing.assert_array_equal(dal.forward_kinematics(robot, q, "base"), np.broadcast_to(np.eye(4), (3, 4, 4)))


def forked() -> Robot:
    body = {"mass": 1.0, "com": np.array([0.1, 0, 0]), "inertia": np.eye(3) * 0.01}
    joints = [Joint("left", "revolute", "base", "a"), Joint("right", "prismatic", "base", "b")]
    return Robot.from_parts("fork", [Link("base"), Link("a", **body), Link("b", **body)], joints)


def test_a_tree_with_several_tips_asks_for_a_link() -> None:
    with pytest.raises(ModelError, match=r"tool: 'fork' has several tips and no tool\. Name a link: base, a, b"):
        dal.jacobian(forked(), np.zeros(2))
    assert dal.jacobian(forked(), np.zeros(2), "b")[:, 0] == pytest.approx(np.zeros(6))


def test_a_robot_that_cannot_move_says_so() -> None:
    table = Robot.from_parts("table", [Link("base"), Link("top", 1.0)], [Joint("weld", "fixed", "base", "top")])
    with pytest.raises(ModelError, match="robot 'table': it has no moving joint, so there is nothing to compute"):
        dal.mass_matrix(table, np.zeros(0))


def test_a_robot_keeps_its_kernels_and_a_changed_one_has_its_own(rng: np.random.Generator) -> None:
    robot = forked()
    dal.mass_matrix(robot, np.zeros(2))
    kernels = dict(robot.kernels)
    dal.mass_matrix(robot, np.ones(2))
    assert dict(robot.kernels) == kernels
    turned = robot.with_gravity([0, -9.81, 0])
    assert not np.allclose(dal.gravity_torque(turned, np.ones(2)), dal.gravity_torque(robot, np.ones(2)))


def test_results_are_fresh_arrays(robot: Robot) -> None:
    q = np.zeros((3, N))
    first, second = dal.gravity_torque(robot, q), dal.gravity_torque(robot, q)
    assert not np.shares_memory(first, second)
    assert first.flags.writeable
    assert first.dtype == np.float64
