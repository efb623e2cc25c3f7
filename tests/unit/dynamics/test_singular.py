"""Mass matrices without an inverse: in every configuration, which is refused by name; in some, which is NaN in their rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import dalembert as dal
from dalembert.dynamics import engine, sizes
from dalembert.errors import DalembertWarning, ExprError, ModelError
from dalembert.expr import ops
from dalembert.model import Friction, Joint, Link, Mimic, Robot, Rotor, idle
from tests.robots import relative_error, robots, seeds, state

SOLID = np.diag([0.02, 0.03, 0.01])
TURNED = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0.3], [0, 0, 0, 1.0]])


def arm(*links: Link, axes: Any = None, types: Any = None, **options: Any) -> Robot:
    """A chain of joints j1, j2, ... in one place, turned against each other unless axes say otherwise."""
    names = ["base", *(link.name for link in links)]
    joints = [
        Joint(f"j{k}", types[k - 1] if types else "revolute", names[k - 1], names[k], TURNED if axes is None else np.eye(4))
        for k in range(1, len(names))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        return Robot.from_parts("arm", [Link("base"), *links], joints, **options)


HEAVY = Link("a", 2.0, (0.1, 0.2, 0.3), SOLID)
IDLE: dict[str, tuple[Callable[[], Robot], str]] = {
    "a point mass on its axis": (lambda: arm(HEAVY, Link("b", 1.0, (0, 0, 0.4))), "j2"),
    "a point mass on a slanted axis": (
        lambda: Robot.from_parts(
            "arm",
            [Link("base"), Link("b", 1.0, np.array([1.0, 2.0, 3.0]) / 7)],
            [Joint("j1", "revolute", "base", "b", axis=(1, 2, 3))],
        ),
        "j1",
    ),
    "a frame at the tip": (lambda: arm(HEAVY, Link("b", virtual=True)), "j2"),
    "a link without inertia": (lambda: arm(HEAVY, Link("b")), "j2"),
    "one that slides": (lambda: arm(HEAVY, Link("b", virtual=True), types=["revolute", "prismatic"]), "j2"),
    "friction alone": (lambda: arm(HEAVY, Link("b", virtual=True), friction={"j2": Friction(1.0, 2.0)}), "j2"),
    "two joints on one axis": (lambda: arm(Link("a", virtual=True), Link("b", 1.0, (0.1, 0, 0), SOLID), axes="one"), "j1"),
    "one beyond a full rotor": (
        lambda: arm(
            HEAVY,
            Link("b", virtual=True),
            rotors={"j1": Rotor(1e-4, 100, model="full", mass=0.1, transverse_inertia=1e-4)},
        ),
        "j2",
    ),
    "nothing at all": (lambda: arm(Link("a"), Link("b")), "j1"),
    "many joints": (lambda: arm(*[Link(f"l{k}", 1.0, (0.1, 0, 0), SOLID) for k in range(50)], Link("tip", virtual=True)), "j51"),
}
SOUND: dict[str, Callable[[], Robot]] = {
    "a wrist that carries a hand": lambda: arm(
        Link("a", virtual=True), Link("b", virtual=True), Link("c", 1.0, (0, 0, 0.1), SOLID)
    ),
    "a frame with a reflected rotor": lambda: arm(HEAVY, Link("b", virtual=True), rotors={"j2": Rotor(1e-4, 100)}),
    "a frame with a full rotor": lambda: arm(
        HEAVY, Link("b", virtual=True), rotors={"j2": Rotor(1e-4, 100, model="full", mass=0.1, transverse_inertia=1e-4)}
    ),
    "a planar arm": lambda: dal.robots.two_link_planar().replace(),
    "a payload off the axis": lambda: arm(HEAVY, Link("b", virtual=True)).with_payload(1.0, (0.1, 0, 0)),
}
NEEDS_INVERSE: dict[str, Callable[[Robot], Any]] = {
    "forward_dynamics": lambda robot: dal.forward_dynamics(robot, *np.zeros((3, robot.n))),
    "with out": lambda robot: dal.forward_dynamics(robot, *np.zeros((3, robot.n)), out=np.empty(robot.n)),
    "by another formulation": lambda robot: dal.forward_dynamics(robot, *np.zeros((3, robot.n)), formulation="lagrange_euler"),
    "derivatives": lambda robot: dal.derivatives(robot, *np.zeros((2, robot.n)), tau=np.zeros(robot.n)),
    "parameter_derivatives": lambda robot: dal.parameter_derivatives(robot, *np.zeros((2, robot.n)), tau=np.zeros(robot.n)),
    "evaluate": lambda robot: dal.evaluate(robot, ["M", "qdd"], *np.zeros((2, robot.n)), tau=np.zeros(robot.n)),
    "kernel": lambda robot: dal.kernel(robot, ["qdd"]),
    "simulate": lambda robot: dal.simulate(robot, *np.zeros((2, robot.n)), t_end=0.1),
    "rollout": lambda robot: dal.rollout(robot, *np.zeros((2, robot.n)), None, dt=0.1, steps=1),
    "symplectic": lambda robot: dal.rollout(robot, *np.zeros((2, robot.n)), None, dt=0.1, steps=1, method="symplectic"),
    "export_code": lambda robot: dal.export_code(robot, "forward_dynamics"),
    "to_jax": lambda robot: dal.to_jax(robot, "forward_dynamics"),
}


@pytest.mark.parametrize("case", IDLE)
def test_a_joint_that_moves_no_inertia_is_named_when_an_acceleration_is_asked_for(case: str) -> None:
    make, joint = IDLE[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        robot = make()
    with pytest.raises(
        ModelError, match=rf"^joint '{joint}': .*singular in every configuration.* Give its link .*or the joint a rotor"
    ):
        dal.forward_dynamics(robot, *np.zeros((3, robot.n)))


@given(robots(max_n=6, virtual=True), seeds)
@settings(max_examples=30)
def test_no_joint_of_a_robot_with_a_definite_mass_matrix_is_called_idle(robot: Robot, seed: int) -> None:
    """By either way of looking, which find the same pivots, those of the mass matrix."""
    tree = engine.tree(robot)
    assert idle.idle_joints(tree) == ()
    look = idle._Look(tree, np.array([idle._spatial(s) for s in tree.segments]))
    pivots = look.by_mass_matrix()
    assert (pivots > 0).all()
    np.testing.assert_allclose(np.prod(pivots, axis=1), np.linalg.det(look._mass_matrix()), rtol=1e-8)
    if tree.is_plain and not tree.has_spin:
        np.testing.assert_allclose(look.by_articulated_bodies(), pivots, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("what", NEEDS_INVERSE)
def test_whatever_needs_the_inverse_of_the_mass_matrix_says_the_same(what: str) -> None:
    if what == "to_jax":
        pytest.importorskip("jax")
    robot = arm(HEAVY, Link("b", 1.0, (0, 0, 0.4)))
    with pytest.raises(ModelError, match=r"^joint 'j2': it moves no inertia, so the mass matrix is singular"):
        NEEDS_INVERSE[what](robot)


def test_joints_that_are_idle_together_are_all_named() -> None:
    with pytest.raises(ModelError, match=r"^joint 'j2': it moves no inertia.* The same holds for 'j3', 'j4'\.$"):
        NEEDS_INVERSE["forward_dynamics"](arm(HEAVY, *(Link(name, virtual=True) for name in "bcd")))


def test_joints_whose_motion_others_take_back_are_told_from_those_that_move_nothing() -> None:
    with pytest.raises(ModelError, match=r"^joint 'j1': the joints beyond it can take back all it moves, so"):
        NEEDS_INVERSE["forward_dynamics"](IDLE["two joints on one axis"][0]())


@pytest.mark.slow
@pytest.mark.parametrize("case", IDLE)
def test_torques_and_mass_matrix_of_such_a_robot_are_computed_all_the_same(case: str, rng: np.random.Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        robot = IDLE[case][0]()
    q, qd, qdd = state(robot, rng)
    M = dal.mass_matrix(robot, q)
    tau = M @ qdd + dal.bias(robot, q, qd)
    if not robot.parameters.friction:
        assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd), tau) < 1e-12
    assert np.linalg.eigvalsh(M)[0] <= 1e-12 * max(np.linalg.eigvalsh(M)[-1], 1e-300)


@pytest.mark.parametrize("case", SOUND)
def test_joints_without_inertia_of_their_own_that_move_that_of_others_are_solved(case: str, rng: np.random.Generator) -> None:
    robot = SOUND[case]()
    q, qd, qdd = state(robot, rng, (5,))
    tau = dal.inverse_dynamics(robot, q, qd, qdd)
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau), qdd) < 1e-8
    assert not any("singular" in note for note in robot.notes)


def test_parameters_as_inputs_decide_row_by_row() -> None:
    robot = arm(HEAVY, Link("b", 1.0, (0, 0, 0.4)))
    phi = np.array([dal.parameters(robot)] * 2)
    phi[1, dal.parameter_names(robot).index("j2.Izz")] = 0.01
    found = dal.forward_dynamics(robot, *np.zeros((2, 2)), np.ones(2), parameters=phi)
    assert not np.isfinite(found[0, 1])
    assert np.isfinite(found[1]).all()


def pan_and_tilt(followers: int = 0) -> Robot:
    """A point mass on a rod: nothing turns with the first joint where the rod is upright. Others may follow the second."""
    links = [Link("base"), Link("a", virtual=True), Link("b", 1.0, (0, 0, 0.5))]
    joints = [Joint("pan", "revolute", "base", "a"), Joint("tilt", "revolute", "a", "b", axis=(0, 1, 0))]
    for k in range(followers):
        links.append(Link(f"f{k}", 0.1, (0.1, 0, 0), SOLID))
        joints.append(Joint(f"f{k}", "revolute", "base", f"f{k}", mimic=Mimic("tilt", 0.5)))
    return Robot.from_parts("pan and tilt", links, joints)


@pytest.mark.parametrize("way", ["mass matrix", "articulated bodies", "LAPACK"])
@pytest.mark.parametrize("out", [False, True])
def test_a_configuration_where_the_mass_matrix_is_singular_spoils_its_own_row_only(way: str, out: bool) -> None:
    robot = pan_and_tilt(followers=int(way == "LAPACK"))
    q = np.random.default_rng(0).uniform(-1, 1, (9, 2))
    q[4] = 0.0
    qd, tau = np.zeros((9, 2)), np.ones((9, 2))
    M = dal.mass_matrix(robot, q)
    assert np.linalg.det(M[4]) == 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "DENSE_FROM", 1)
        patch.setattr(sizes, "ARTICULATED_FROM", 1 if way == "articulated bodies" else 99)
        given = {"out": np.empty_like(q)} if out else {}
        found = dal.forward_dynamics(robot, q, qd, tau, **given)
        slopes = dal.derivatives(robot, q, qd, tau=tau).dqdd_dtau
        alone = dal.forward_dynamics(robot, q[4], qd[4], tau[4])
    others = np.arange(9) != 4
    assert not np.isfinite(found[4]).all()
    assert not np.isfinite(alone).all()
    assert not np.isfinite(slopes[4]).all()
    expected = np.linalg.solve(M[others], (tau - dal.bias(robot, q, qd))[others][..., None])[..., 0]
    assert relative_error(found[others], expected) < 1e-9
    assert relative_error(slopes[others], np.linalg.inv(M[others])) < 1e-9


def test_a_kernel_whose_fixed_configuration_is_singular_gives_what_is_not_finite() -> None:
    run = dal.kernel(pan_and_tilt(), ["qdd"], fixed={"q": [0.0, 0.0]})
    assert not np.isfinite(run(np.zeros(2), np.ones(2))).all()


def test_a_division_by_a_number_that_became_zero_says_what_to_write() -> None:
    with pytest.raises(ExprError, match=r"kernel: a division by a number that is zero .*ops\.divide"):
        dal.kernel(lambda x: 1.0 / (x[0] - x[0]), {"x": (1,)})
    assert np.isinf(dal.kernel(lambda x: ops.divide(1.0, x[0] - x[0]), {"x": (1,)})([3.0]))
    with pytest.raises(ExprError, match=r"tau: the function could not be traced \(float division by zero\)"):
        dal.simulate(dal.robots.pendulum(), [0.1], [0.0], tau=lambda t, q, qd: [1.0 / (q[0] - q[0])], t_end=0.1)
