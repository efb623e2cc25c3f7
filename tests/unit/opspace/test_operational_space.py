"""The dynamics in the directions of a task: options, frames, angles, damping, and what is refused.

Interpreted: what options mean does not depend on the compiler. Compiled tasks are in test_task_conditions.py and in
tests/property/test_tasks.py.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, ShapeError, SingularError, UnknownNameError
from dalembert.opspace import operational_functions
from tests.robots import fresh, relative_error

pytestmark = pytest.mark.usefixtures("interpreted")

EXACT = 1e-11  # the same products in another order, of arms whose Jacobians have conditions up to 100
XY = ("x", "y")
Q6, QD6 = np.array([0.3, -0.6, 0.8, 0.4, 0.9, -0.2]), np.array([0.5, -1.0, 0.7, 1.1, -0.4, 0.6])


@pytest.fixture(scope="module")
def arm():
    return fresh("two_link_planar")


@pytest.fixture(scope="module")
def puma():
    return fresh("puma560")


def inertia(M, J):
    return np.linalg.inv(J @ np.linalg.solve(M, J.T))


def test_a_batch_has_in_each_row_what_one_configuration_has(puma, rng):
    q, qd = rng.uniform(-1, 1, (2, 3, 6)), rng.normal(size=(3, 6))
    batch = dal.operational_space(puma, q, qd, coriolis=True)
    one = dal.operational_space(puma, q[1, 2], qd[2], coriolis=True)
    for name in ("Lambda", "mu", "p", "J", "J_bar", "N", "Jdot_qd", "mobility", "C"):
        assert getattr(batch, name).shape[:2] == (2, 3)
        assert relative_error(getattr(batch, name)[1, 2], getattr(one, name)) < EXACT


def test_rows_of_the_body_are_those_of_its_own_axes(puma):
    world = dal.operational_space(puma, Q6, QD6)
    body = dal.operational_space(puma, Q6, QD6, frame="body")
    R = np.kron(np.eye(2), dal.forward_kinematics(puma, Q6)[:3, :3])
    assert relative_error(body.Lambda, R.T @ world.Lambda @ R) < EXACT
    assert relative_error(body.p, R.T @ world.p) < EXACT
    assert relative_error(body.J, dal.jacobian(puma, Q6, frame="body")) < EXACT
    assert relative_error(body.Jdot_qd, dal.jacobian_dot(puma, Q6, QD6, frame="body") @ QD6) < EXACT


@pytest.mark.parametrize(("angles", "names"), [("rpy", ("roll", "pitch", "yaw")), ("zyz", ("phi", "theta", "psi"))])
def test_angles_give_the_model_of_the_analytical_jacobian(puma, angles, names):
    found = dal.operational_space(puma, Q6, QD6, angles=angles)
    J = dal.analytical_jacobian(puma, Q6, angles=angles)
    step = 1e-6
    rate = (
        dal.analytical_jacobian(puma, Q6 + step * QD6, angles=angles)
        - dal.analytical_jacobian(puma, Q6 - step * QD6, angles=angles)
    ) / (2 * step)
    assert found.directions == ("x", "y", "z", *names)
    assert relative_error(found.Lambda, inertia(dal.mass_matrix(puma, Q6), J)) < EXACT
    assert relative_error(found.Jdot_qd, rate @ QD6) < 1e-7  # central differences over 1e-6 s
    assert dal.operational_space(puma, Q6, angles=angles, directions=(names[1],)).J[0] == pytest.approx(J[4], abs=1e-12)


def test_a_point_of_a_link_has_its_own_task(puma):
    point = np.array([[0.1, 0.0, 0.2], [0.0, 0.3, 0.0]])
    found = dal.operational_space(puma, Q6, link="link4", point=point, directions=("z", "x"))
    J = dal.jacobian(puma, Q6, "link4", point=point)[:, [2, 0]]
    for k in range(2):
        assert relative_error(found.Lambda[k], inertia(dal.mass_matrix(puma, Q6), J[k])) < EXACT


def test_contact_forces_count_against_the_acceleration(arm):
    task = dal.operational_space(arm, [0.3, 0.9], [1.0, -0.5], directions=XY)
    push = np.array([30.0, -10.0])
    tau = task.torque([1.0, 2.0], contact=push)
    assert task.acceleration(tau, contact=push) == pytest.approx([1.0, 2.0], abs=1e-10)
    qdd = dal.forward_dynamics(arm, [0.3, 0.9], [1.0, -0.5], tau, wrenches={"tool": [*-push, 0, 0, 0, 0]})
    assert task.J @ qdd + task.Jdot_qd == pytest.approx([1.0, 2.0], abs=1e-10)


def test_an_earlier_result_is_written_over(rng, monkeypatch):
    """Compiled: where the numbers go is what the compiler is told."""
    monkeypatch.delenv("DALEMBERT_BACKEND")
    arm = fresh("puma560")
    q, qd = rng.uniform(-1, 1, (50, 6)), rng.normal(size=(50, 6))
    first = dal.operational_space(arm, q[::-1].copy(), qd, directions=XY)
    again = dal.operational_space(arm, q, qd, directions=XY, out=first)
    assert again is first  # the same task: it is the result of these states now
    assert np.array_equal(again.mu, dal.operational_space(arm, q, qd, directions=XY).mu)
    other = dal.operational_space(arm, q, qd, directions=("x", "z"), out=first)
    assert other.Lambda is first.Lambda
    assert (other.directions, first.directions) == (("x", "z"), XY)


def test_a_task_is_checked_once_for_each_way_to_say_it(monkeypatch):
    robot, checked = fresh("puma560"), []
    whole = operational_functions.check_count
    monkeypatch.setattr(operational_functions, "check_count", lambda *given: checked.append(given) or whole(*given))
    named = [dal.operational_space(robot, Q6, QD6, directions=XY) for _ in range(3)]
    assert len(checked) == 1
    listed = [dal.operational_space(robot, Q6, QD6, directions=list(XY)) for _ in range(2)]  # a list may change
    assert len(checked) == 3
    others = [
        dal.operational_space(robot, Q6, directions=("y", "x")),
        dal.operational_space(robot, Q6, QD6, directions=XY, frame="body"),
    ]
    assert len(checked) == 5
    assert [task.directions for task in (*named, *listed, *others)] == [XY] * 5 + [("y", "x"), XY]
    assert all(np.array_equal(task.Lambda, named[0].Lambda) for task in (*named, *listed))


def test_a_damped_task_says_so_and_is_the_inverse_of_a_larger_mobility(arm):
    task = dal.operational_space(arm, [0.3, 0.0], directions=XY, damping=0.05)
    assert task.damped
    assert "damping=0.05" in repr(task)
    M, J = dal.mass_matrix(arm, [0.3, 0.0]), dal.jacobian(arm, [0.3, 0.0])[:2]
    size = np.sum(np.sum(J**2, axis=0) / np.diag(M))
    assert relative_error(task.Lambda, np.linalg.inv(J @ np.linalg.solve(M, J.T) + 0.05**2 * size * np.eye(2))) < 1e-9
    assert np.abs(task.J @ task.N).max() > 1e-4  # not exact: torques of the null space move the task
    assert not dal.operational_space(arm, [0.3, 0.9], directions=XY).damped


def test_little_damping_far_from_singular_poses_changes_little(puma):
    exact, damped = (dal.operational_space(puma, Q6, directions=("x", "y", "z"), damping=d) for d in (None, 1e-5))
    assert relative_error(damped.Lambda, exact.Lambda) < 1e-8  # the square of the damping, times the condition


def test_inside_of_a_kernel_it_is_the_same(puma):
    model = dal.inside(puma)

    def function(q, qd, point, damping):
        exact = model.operational_space(q, qd, link="link5", point=point, directions=("x", "rz"), coriolis=True)
        damped = model.operational_space(q, qd, directions=("x", "y"), damping=damping)
        return exact.torque([1.0, 2.0], tau0=qd).tolist(), exact.C.tolist(), damped.Lambda.tolist()

    run = dal.kernel(function, {"q": (6,), "qd": (6,), "point": (3,), "damping": ()}, outputs=("tau", "C", "damped"))
    tau, C, damped = run(Q6, QD6, [0.1, 0.2, 0.0], 0.1)
    outside = dal.operational_space(puma, Q6, QD6, link="link5", point=[0.1, 0.2, 0.0], directions=("x", "rz"), coriolis=True)
    assert relative_error(tau, outside.torque([1.0, 2.0], tau0=QD6)) < EXACT
    assert relative_error(C, outside.C) < EXACT
    assert relative_error(damped, dal.operational_space(puma, Q6, QD6, directions=XY, damping=0.1).Lambda) < EXACT


def test_a_controller_in_the_space_of_the_task_brings_the_tip_to_its_target(monkeypatch):
    monkeypatch.delenv("DALEMBERT_BACKEND")
    arm = fresh("two_link_planar")
    model = dal.inside(arm)

    def law(t, q, qd, p):
        task = model.operational_space(q, qd, directions=XY)
        x = model.forward_kinematics(q)[:2, 3]
        return task.torque(p.kp * (p.target - x) - p.kd * (task.J @ qd))

    gains = {"kp": 100.0, "kd": 20.0, "target": [0.5, 1.0]}
    motion = dal.simulate(arm, [0.3, 0.9], [0.0, 0.0], tau=law, inputs=gains, t_end=3.0)
    assert dal.forward_kinematics(arm, motion.q[-1])[:2, 3] == pytest.approx([0.5, 1.0], abs=1e-6)  # e⁻³⁰ (1 + 30) is less
    path = dal.forward_kinematics(arm, motion.q)[:, :2, 3]
    start, way = path[0], np.array([0.5, 1.0]) - path[0]
    off = (path - start) @ np.array([-way[1], way[0]]) / np.linalg.norm(way)
    assert np.abs(off).max() < 1e-5  # decoupled: the tip goes straight; within the tolerance of the simulation


class TestSingular:
    def test_one_singular_configuration_is_refused_with_its_direction(self, arm):
        with pytest.raises(SingularError, match=r"'two_link_planar': the task is singular: no joint moves it along x\. Leave"):
            dal.operational_space(arm, [0.0, 0.0], directions=XY)

    def test_a_direction_that_no_joint_ever_moves_is_named(self, arm):
        with pytest.raises(SingularError, match="no joint moves it along z"):
            dal.operational_space(arm, [0.3, 0.9], directions=("x", "z"))

    def test_a_single_direction_can_be_singular_too(self, arm):
        with pytest.raises(SingularError, match="no joint moves it along x"):
            dal.operational_space(arm, [0.0, 0.0], directions=("x",))

    def test_singular_rows_of_a_batch_are_nan_and_the_others_are_not(self, arm):
        with pytest.warns(dal.DalembertWarning, match=r"1 of 3 rows is NaN; row 1: the task is singular") as caught:
            task = dal.operational_space(arm, [[0.3, 0.9], [0.3, 0.0], [0.3, 1.2]], [1.0, 1.0], directions=XY)
        assert caught[0].message.code == "singular-task"
        for name in ("Lambda", "mu", "p", "J_bar", "N"):
            assert np.isnan(getattr(task, name)).reshape(3, -1).all(axis=1).tolist() == [False, True, False]

    def test_near_one_the_direction_and_the_condition_are_told(self, arm):
        with pytest.warns(
            dal.DalembertWarning, match=r"near a singular task: condition 3\.\de\+04, hardly moved along \+0\.96 x"
        ) as caught:
            dal.operational_space(arm, [0.3, 1e-4], directions=XY)
        assert caught[0].message.code == "near-singular-task"
        with pytest.warns(dal.DalembertWarning, match=r"\(row 1 is the worst\)"):
            dal.operational_space(arm, [[0.3, 0.9], [0.3, 1e-4]], directions=XY)

    def test_far_from_one_nothing_is_said(self, puma, rng):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dal.operational_space(puma, Q6 + rng.uniform(-0.1, 0.1, (100, 6)), directions=("x", "y", "z"))

    @pytest.mark.parametrize("angles", [None, "rpy"])
    def test_states_that_are_no_numbers_pass_without_a_word(self, puma, angles):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = dal.operational_space(puma, [Q6, Q6 * np.nan], QD6, angles=angles)
            assert np.isnan(dal.operational_space(puma, Q6 * np.nan, angles=angles).Lambda).all()
        assert np.isfinite(found.Lambda[0]).all()
        assert np.isnan(found.Lambda[1]).all()

    def test_a_wrist_in_line_loses_a_rotation(self, puma):
        with pytest.raises(SingularError, match=r"no joint moves it along \+0\.95 rx"):
            dal.operational_space(puma, [0, 0.1, 0.2, 0, 0.0, 0])

    def test_a_link_that_closures_hold_fast_is_told_apart(self):
        five_bar = dal.mechanisms.five_bar().replace()
        for damping in (None, 0.1):
            with pytest.raises(
                SingularError, match=r"'five_bar': nothing moves the tool along x, y\. Name another link or point"
            ):
                dal.operational_space(five_bar, five_bar.q0, directions=XY, damping=damping)

    @pytest.mark.parametrize(
        ("angles", "sum_of_angles", "words"),
        [
            ("rpy", np.pi / 2, r"pitch is within \S+ rad of ±π/2, where roll and yaw turn about one axis"),
            ("zyz", 0.0, r"theta is within \S+ rad of 0 or π, where phi and psi turn about one axis"),
        ],
    )
    def test_angles_that_fail_are_told_apart_from_a_task_that_does(self, puma, angles, sum_of_angles, words):
        """The tool of the PUMA with joint 4 at zero is inclined by the sum of the angles of joints 2, 3 and 5."""
        q = np.array([0.3, 0.4, -0.9, 0.0, sum_of_angles + 0.5, 0.0])
        with pytest.raises(SingularError, match=f"the angles '{angles}' do not tell the orientation here: {words}"):
            dal.operational_space(puma, q, angles=angles)
        with pytest.raises(SingularError, match="do not tell the orientation"):
            dal.operational_space(puma, q, angles=angles, damping=0.1)
        with pytest.warns(dal.DalembertWarning, match=f"near a singularity of the angles '{angles}': .* 0.001 rad"):
            dal.operational_space(puma, q + [0, 0.001, 0, 0, 0, 0], angles=angles)
        with pytest.warns(dal.DalembertWarning, match="1 of 2 rows is NaN; row 1: the angles"):
            dal.operational_space(puma, [Q6, q], angles=angles)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            (
                {},
                ModelError,
                r"6 found \(x, y, z, rx, ry, rz\), but 'two_link_planar' has 2.*directions=\('x', 'y'\)",
            ),
            ({"frame": "tool"}, UnknownNameError, "frame: 'tool' is not known. Known: world, body"),
            ({"angles": "xyz"}, UnknownNameError, "angles: 'xyz' is not known.*Known: rpy, zyz"),
            ({"angles": "rpy", "frame": "body"}, ModelError, "'body' found with angles='rpy', whose positions are in world axes"),
            ({"link": "hand"}, UnknownNameError, "link: 'hand' is not known"),
            ({"link": ["link1"]}, UnknownNameError, r"link: \['link1'\] found; a link's name is expected"),
            (
                {"directions": ("x", "roll")},
                UnknownNameError,
                "directions: 'roll' is not known. Known: x, y, z, .*, position",
            ),
            ({"directions": "xy"}, UnknownNameError, "directions: 'xy' is not known"),
            ({"directions": 3}, UnknownNameError, r"directions: 3 found, names such as \('x', 'y'\) expected"),
            ({"directions": ()}, ShapeError, "each at most once is expected, and one at least"),
            ({"directions": ("x", "x")}, ShapeError, "each at most once"),
            ({"damping": 0.0}, ModelError, "damping: 0 found; a positive number expected"),
            ({"coriolis": True}, ShapeError, "qd: nothing found, but coriolis=True needs it"),
            ({"out": 1}, ModelError, r"out: 1 found"),
        ],
    )
    def test_an_option_without_a_meaning_has_its_sentence(self, arm, options, error, words):
        with pytest.raises(error, match=words):
            dal.operational_space(arm, [0.3, 0.9], **({"directions": XY} | options if options else {}))

    def test_inside_the_same_is_refused(self, arm):
        model = dal.inside(arm)
        with pytest.raises(ModelError, match="6 found"):
            model.operational_space([0.3, 0.9])
        with pytest.raises(ShapeError, match="coriolis=True needs it"):
            model.operational_space([0.3, 0.9], directions=XY, coriolis=True)
