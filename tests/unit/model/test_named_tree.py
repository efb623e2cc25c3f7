"""The tree over any kind of scalar: it moves like the tree of numbers, and its numbers have the names of paper."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms import kinematics, newton_euler_recursion
from dalembert.algorithms.sweep import Unrolled
from dalembert.export.symbols import chosen, parameters_of
from dalembert.model import Body, Friction, Joint, Link, Robot, Rotor, Tool
from dalembert.model.dh import from_dh
from dalembert.model.named_tree import split_offset, symbolic_tree
from dalembert.model.numbers import Number, NumberKey, Numbers, parameters
from dalembert.model.tree import Tree, tree_of
from tests.robots import random_robot, relative_error, state

TOLERANCE = 1e-12  # the same mechanics in other frames: some ten times the rounding of a torque


def numeric(robot: Robot) -> Tree:
    return symbolic_tree(robot, lambda number: number.value)


def torque(tree: Tree, *motion: np.ndarray) -> np.ndarray:
    base = newton_euler_recursion.still_base(tree.gravity)
    return np.array(newton_euler_recursion.inverse_dynamics(Unrolled(tree), *(list(m) for m in motion), base))


def names(robot: Robot) -> dict[str, float]:
    return {p.name: p.value for p in parameters_of(robot).values()}


@pytest.mark.parametrize("seed", range(40))
def test_in_plain_joint_frames_a_robot_needs_the_same_torques(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    motion = state(robot, rng)
    assert relative_error(torque(numeric(robot), *motion), torque(tree_of(robot), *motion)) < TOLERANCE


@pytest.mark.parametrize("seed", range(10))
def test_links_tool_and_joints_are_where_they_were(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    plain, adapted = numeric(robot), tree_of(robot)
    q = list(state(robot, rng)[0])
    for a, b in [(plain.links[name], adapted.links[name]) for name in adapted.links] + [(plain.tool, adapted.tool)]:
        found, expected = (np.array(kinematics.forward_kinematics(Unrolled(t), q, [p])) for t, p in ((plain, a), (adapted, b)))
        assert np.abs(found - expected).max() < TOLERANCE


@pytest.mark.parametrize("seed", range(10))
def test_doubling_the_masses_and_inertias_doubles_the_torque(seed):
    """So no mass or inertia is left out, or used in place of another."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    robot = robot.replace(parameters=robot.parameters.replace(friction={}))
    heavy = symbolic_tree(robot, lambda n: n.value * (2.0 if n.kind in ("masses", "inertias") else 1.0))
    motion = state(robot, rng)
    assert relative_error(torque(heavy, *motion), 2 * torque(numeric(robot), *motion)) < TOLERANCE


def test_a_name_stands_for_one_number():
    for seed in range(100):
        values = [(p.name, p.value) for p in parameters_of(random_robot(np.random.default_rng(seed))).values()]
        assert len(dict(values)) == len(values)


def test_a_planar_arm_has_the_names_of_the_book():
    first = {"a_1": 0.26, "l_1": 0.0983, "m_1": 6.5225, "I_1": 0.1213}
    second = {"a_2": 0.26, "l_2": 0.0229, "m_2": 2.0458, "I_2": 0.0116}
    assert names(dal.robots.pelican()) == {**first, **second, "g": 9.81}


def test_rotors_with_masses_make_links_m_l1_as_in_equation_7_82():
    found = set(names(dal.robots.two_link_planar()))
    assert {"m_l1", "I_l1", "m_m2", "I_m1", "k_r1", "l_1", "a_1"} <= found
    assert "m_1" not in found


def test_a_centre_of_mass_is_measured_from_the_joint_and_does_not_move_with_the_link_frame():
    rows = [{"a": 1.0, "mass": 2.0, "com": (-0.7, 0, 0), "inertia": (0, 0, 0.2)}]
    assert names(from_dh(rows, convention="standard"))["l_1"] == 0.3


def test_of_a_tensor_the_one_entry_that_acts_has_the_short_name():
    """A SCARA turns about vertical axes only; the other moments matter for the wrenches in its joints."""
    found = names(dal.robots.scara())
    assert {"I_1", "I_1xx", "I_1yy"} <= set(found)
    assert "I_1zz" not in found


def test_a_distance_alone_is_positive_and_components_keep_their_signs():
    assert names(dal.robots.pendulum())["l_1"] == 0.5  # at z = -0.5 in the link frame
    assert names(dal.robots.puma560())["l_3y"] < 0


def test_lengths_have_the_names_of_a_table_in_either_convention():
    standard = from_dh([{"a": 0.4, "d": 0.1, "mass": 1.0}, {"a": 0.3, "mass": 1.0}], convention="standard", gravity=(0, -9.81, 0))
    assert {"a_1": 0.4, "d_1": 0.1, "a_2": 0.3}.items() <= names(standard).items()
    modified = from_dh([{"d": 0.3, "mass": 1.0}, {"a": 0.4, "d": 0.1, "mass": 1.0, "com": (0.1, 0, 0)}], convention="modified")
    assert {"d_1": 0.3, "a_1": 0.4, "d_2": 0.1}.items() <= names(modified).items()


def test_a_negative_length_of_a_table_stays_negative():
    assert names(dal.robots.ur5())["a_2"] == -0.425


def test_an_offset_before_and_one_after_an_axis_have_two_names():
    links = [Link("base"), Link("one", 1.0, (0.1, 0, 0)), Link("two", 1.0, (0.1, 0, 0)), Link("three", 1.0, (0.1, 0, 0))]
    X, Y = np.eye(4), np.eye(4)
    X[:3, :3], X[:3, 3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]], [0.2, -0.3, 0.0]  # along x, and along the next axis
    Y[:3, 3] = [0.4, 0.0, 0.5]
    C = np.eye(4)
    C[:3, 3] = [0.0, 0.0, 0.05]
    joints = [
        Joint("a", "revolute", "base", "one"),
        Joint("b", "revolute", "one", "two", origin=X, child_origin=C),
        Joint("c", "revolute", "two", "three", origin=Y),
    ]
    found = names(Robot.from_parts("arm", links, joints))
    assert (found["a_1"], found["b_2"], found["a_2"], found["d_2"]) == (0.2, 0.3, 0.4, 0.55)
    assert found["e_2"] == 0.05  # the link frame, which nothing but frames asks for


def test_a_ratio_of_one_is_no_gear_and_what_is_zero_has_no_name():
    assert not [name for name in names(dal.robots.stanford()) if name.startswith("k_")]
    assert "m_1" not in names(dal.robots.puma560())


def test_gravity_keeps_its_direction():
    robot = dal.robots.pelican().with_gravity([3.0, 4.0, 0.0])
    tree = symbolic_tree(robot, lambda number: number.value)
    assert list(tree.gravity) == pytest.approx([3.0, 4.0, 0.0], rel=1e-15)
    assert names(robot)["g"] == 5.0
    assert "g" not in names(robot.with_gravity([0, 0, 0]))


def test_friction_payload_bodies_and_rotors_have_names():
    link = Link("arm", 2.0, (0.3, 0, 0), np.diag([0.1, 0.2, 0.3]), bodies=(Body("box", 1.0, (0.1, 0.2, 0)),))
    rotor = Rotor(1e-3, 20.0, "full", mass=0.5, transverse_inertia=2e-3, position=(0, 0.05, 0))
    law = Friction(0.1, 0.5, 0.4, breakaway=0.7, stribeck_velocity=0.02, width=0.01)
    joints = [Joint("a", "revolute", "base", "arm"), Joint("b", "revolute", "arm", "hand")]
    robot = Robot.from_parts(
        "arm", [Link("base"), link, Link("hand", 1.0, (0.1, 0, 0))], joints,
        rotors={"b": rotor}, friction={"a": law, "b": Friction(0.2, 0.3)}, tool=Tool("hand"), payload=Body("p", 0.4, (0.2, 0, 0)),
    )  # fmt: skip
    found = set(names(robot))
    assert {"F_v1", "F_s1p", "F_s1n", "F_b1", "v_s1", "w_1", "F_v2", "F_s2"} <= found
    assert {"m_l1", "m_l1_2", "l_1_2x", "l_1_2y", "m_p", "l_p", "m_m2", "I_m2", "J_m2", "l_m2", "k_r2"} <= found


def test_latex_names_are_those_of_the_books():
    latex = {p.name: p.latex for p in parameters_of(dal.robots.two_link_planar()).values()}
    assert latex["m_l1"] == r"m_{\ell_1}"
    assert latex["I_m2"] == "I_{m_2}"
    assert latex["k_r1"] == "k_{r1}"
    assert latex["l_2"] == r"\ell_{2}"
    puma = {p.name: p.latex for p in parameters_of(dal.robots.puma560()).values()}
    assert puma["I_2xx"] == "I_{2,xx}"
    assert puma["F_s1p"] == "F_{s1}^{+}"


def test_parameters_say_what_they_are():
    found = {p.name: p for p in parameters_of(dal.robots.pelican()).values()}
    assert found["l_1"].meaning == "centre of mass of link 'link1' from its joint, along x"
    assert (found["l_1"].unit, found["l_1"].kind, found["I_1"].unit) == ("m", "lengths", "kg m²")


def test_kinds_and_names_choose_parameters():
    robot = dal.robots.two_link_planar()
    assert {p.name for p in chosen(robot, "gears").values()} == {"k_r1", "k_r2"}
    assert {p.name for p in chosen(robot, ["gravity", "a_1"]).values()} == {"g", "a_1"}
    assert chosen(robot, ()) == {}
    assert chosen(robot, "all") == parameters_of(robot)


@pytest.mark.parametrize(
    ("p", "z", "parts"),
    [
        ([0.4, 0.0, 0.1], [0, 0, 1], {("d", "1"): 0.1, ("a", "1"): 0.4}),
        ([0.4, -0.2, 0.1], [0, -1, 0], {("d", "1"): 0.1, ("a", "1"): 0.4, ("d", "2"): 0.2}),
        ([0.0, 0.3, 0.0], [0, 0, 1], {("a", "1"): 0.3}),
        ([0.0, 0.0, 0.0], [0, 0, 1], {}),
    ],
)
def test_an_offset_is_split_along_axes_and_common_normal(p, z, parts):
    found = split_offset(np.array(p), np.array(z, dtype=float), np.array([1.0, 0, 0]), "1", "2", far=False)
    assert {(part.stem, part.sub): part.length for part in found} == pytest.approx(parts)
    assert sum((part.length * part.direction for part in found), np.zeros(3)) == pytest.approx(p)


def test_an_offset_between_skew_axes_is_split_along_both_and_their_normal(rng: np.random.Generator):
    for _ in range(20):
        p, z = rng.normal(size=(2, 3))
        z /= np.linalg.norm(z)
        found = split_offset(p, z, np.array([1.0, 0, 0]), "1", "2", far=False)
        assert sum((part.length * part.direction for part in found), np.zeros(3)) == pytest.approx(p, abs=1e-9)


def test_axes_that_are_parallel_but_for_a_rounded_angle_have_ordinary_lengths():
    """A URDF that says 1.5708 for π/2: the common normal of such axes is a hundred kilometres away."""
    z = np.array([0.0, np.sin(7e-6), np.cos(7e-6)])
    found = split_offset(np.array([0.4, 0.1, 0.2]), z, np.array([1.0, 0, 0]), "1", "2", far=False)
    assert max(abs(part.length) for part in found) < 0.5


def test_one_number_under_two_values_is_a_slip_that_is_noticed():
    numbers = Numbers(False, lambda number: number.value)
    numbers.length("a", "1", "", 0.5, "a length")
    with pytest.raises(AssertionError):
        numbers.length("a", "1", "", 0.6, "another length")


def test_members_that_do_not_act_do_not_share_the_short_name():
    numbers = [Number(NumberKey("I", "1", pair), 1.0, "kg m²", "inertias", pair) for pair in ("xx", "yy", "zz")]
    found = parameters(numbers, {numbers[2].key})
    assert [found[n.key].name for n in numbers] == ["I_1xx", "I_1yy", "I_1"]
    assert [found[n.key].name for n in numbers] != [p.name for p in parameters(numbers, {n.key for n in numbers}).values()]
