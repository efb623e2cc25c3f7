"""A robot and its structure: names, order, copies, and what has no meaning."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ModelError
from dalembert.model import Body, Friction, Joint, Link, Mimic, Robot, Rotor, Tool
from dalembert.model.topology import ancestors
from dalembert.robots import chain, puma560
from tests.robots import random_robot

BASE = Link("base")
ONE, TWO, THREE = (Link(name, 1.0, inertia=np.eye(3)) for name in ("one", "two", "three"))


def build(links: list[Link], joints: list[Joint], **parts: Any) -> Robot:
    return Robot.from_parts("toy", links, joints, **parts)


def revolute(name: str, parent: str, child: str, **fields: Any) -> Joint:
    return Joint(name, "revolute", parent, child, **fields)


ARM = [revolute("a", "base", "one"), revolute("b", "one", "two")]
FORK = [revolute("a", "base", "one"), revolute("b", "base", "two")]


@pytest.mark.parametrize(
    ("links", "joints", "parts", "sentence"),
    [
        ([], [], {}, "^robot: no links found"),
        ([BASE, BASE], [], {}, "^links: 'base' stands twice"),
        ([BASE, ONE, TWO], [revolute("a", "base", "one"), revolute("a", "one", "two")], {}, "^joints: 'a' stands twice"),
        ([BASE, ONE], [], {}, "2 roots found, one expected"),
        ([BASE, ONE], [revolute("a", "bass", "one")], {}, "^joint 'a': parent link: 'bass' is not known; did you mean 'base'"),
        ([BASE, ONE], [revolute("a", "base", "base")], {}, "^joint 'a': it joins link 'base' to itself"),
        (
            [BASE, ONE, TWO],
            [*ARM, revolute("c", "base", "two")],
            {},
            "^link 'two': it has two parents, through joints 'b' and 'c'",
        ),
        ([BASE, ONE], [revolute("a", "base", "one"), revolute("b", "one", "base")], {}, "the joints form a loop"),
        ([BASE, ONE, TWO], [revolute("a", "one", "two"), revolute("b", "two", "one")], {}, "^joint 'a': it closes a loop"),
        ([BASE, ONE, TWO], ARM, {"tool": Tool("tow")}, "^tool: link: 'tow' is not known; did you mean 'two'"),
        ([BASE, ONE, TWO], ARM, {"friction": {"c": Friction(1)}}, "^friction: moving joint: 'c' is not known.*Known: a, b"),
        ([BASE, ONE, TWO], ARM, {"rotors": {"c": Rotor(1)}}, "^rotor: moving joint: 'c' is not known"),
        ([BASE, ONE, TWO], ARM, {"rotors": {"a": Rotor(1, model="full", mount="two")}}, "not between the base and the joint"),
        ([BASE, ONE, TWO], FORK, {"payload": Body("p", 1.0)}, "^payload: this tree has several tips"),
        ([BASE, ONE], [revolute("a", "base", "one", mimic=Mimic("z"))], {}, "^joint 'a': mimic of joint: 'z' is not known"),
    ],
)
def test_what_has_no_meaning_is_refused(links: list[Link], joints: list[Joint], parts: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DalembertError, match=sentence):
        build(links, joints, **parts)


def test_joints_stand_parents_first_whatever_order_they_came_in() -> None:
    robot = build([TWO, ONE, BASE], ARM[::-1])
    assert robot.joint_names == ("a", "b")
    assert robot.structure.root == "base"


def test_a_joint_cannot_follow_a_joint_that_follows_another() -> None:
    joints = [
        revolute("a", "base", "one"),
        revolute("b", "one", "two", mimic=Mimic("a")),
        revolute("c", "two", "three", mimic=Mimic("b")),
    ]
    with pytest.raises(DalembertError, match=r"^joint 'c': it follows 'b', which follows another joint itself\. Let both follow"):
        build([BASE, ONE, TWO, Link("three", 1.0, inertia=np.eye(3))], joints)


def test_a_mimic_joint_has_no_coordinate() -> None:
    joints = [ARM[0], revolute("b", "one", "two", mimic=Mimic("a", -1.0))]
    assert build([BASE, ONE, TWO], joints).joint_names == ("a",)


def test_a_serial_chain_has_its_tool_at_the_tip_and_a_tree_has_none() -> None:
    assert build([BASE, ONE, TWO], ARM).tool == Tool("two")
    assert build([BASE, ONE, TWO], FORK).tool is None


def test_a_tree_asks_for_the_link_of_its_tool() -> None:
    tree = build([BASE, ONE, TWO], FORK)
    with pytest.raises(DalembertError, match="^tool: this tree has several tips"):
        tree.with_tool(np.eye(4))
    assert tree.with_tool(np.eye(4), link="one").tool == Tool("one")


def test_equal_robots_compare_and_hash_equal_whatever_their_notes() -> None:
    first, second = build([BASE, ONE], ARM[:1]), build([BASE, ONE], ARM[:1], notes=["read from a file"])
    assert first == second
    assert hash(first) == hash(second)
    assert first != first.with_gravity((0, 0, 0))


def test_a_payload_joins_at_the_tool() -> None:
    payload = build([BASE, ONE], ARM[:1]).with_payload(2.0, com=(0, 0, 0.1)).parameters.payload
    assert payload is not None
    assert (payload.mass, payload.com[2]) == (2.0, 0.1)


def test_a_robot_prints_in_one_line() -> None:
    assert repr(puma560()) == "Robot 'puma560': 6 joints (RRRRRR), 7 links"
    assert repr(chain(30)) == "Robot 'chain30': 30 joints (30R), 31 links"
    assert repr(build([BASE], [])) == "Robot 'toy': 0 joints, 1 link"


def test_a_robot_cannot_be_changed() -> None:
    robot = puma560()
    with pytest.raises(AttributeError):
        robot.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        robot.structure.joints[0].child_origin[0, 0] = 2.0


def long_chain(n: int) -> tuple[list[Link], list[Joint], dict[str, Rotor]]:
    names = ["base", *(f"link{i}" for i in range(n))]
    links = [Link(name, 1.0, inertia=np.eye(3)) for name in names]
    joints = [revolute(f"joint{i}", names[i], names[i + 1], mimic=Mimic("joint0") if i % 3 == 2 else None) for i in range(n)]
    return links, joints, {joint.name: Rotor(0.1, 50.0, "full", mount="base") for joint in joints}


def whole(links: list[Link], joints: list[Joint], rotors: dict[str, Rotor]) -> None:
    assert len(build(links, joints[::-1], rotors=rotors).structure.joints) == len(joints)


def with_a_loop(links: list[Link], joints: list[Joint], rotors: dict[str, Rotor]) -> None:
    half = len(joints) // 2
    joints[half] = joints[half].replace(parent=links[-1].name)  # all that follows hangs on its own tip
    with pytest.raises(DalembertError, match=f"^joint 'joint{half}': it closes a loop"):
        build(links, joints, rotors=rotors)


def apart(links: list[Link], joints: list[Joint], rotors: dict[str, Rotor]) -> None:
    with pytest.raises(DalembertError, match="5001 roots found, one expected") as caught:
        build(links, joints[1::2])
    assert len(str(caught.value)) < 1000


@pytest.mark.slow
@pytest.mark.parametrize("use", [whole, with_a_loop, apart])
def test_ten_thousand_joints_take_no_longer_than_their_number_says(use: Callable[..., None]) -> None:
    """A second or so; 25 to 35 with a search among all joints for each."""
    parts = long_chain(10_000)
    start = time.process_time()
    use(*parts)
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize("seed", range(4))
def test_a_rotor_is_mounted_between_the_base_and_its_joint(seed: int) -> None:
    robot = random_robot(np.random.default_rng(seed), 6)
    joint = robot.structure.coordinates[-1]
    rotors = {name: rotor for name, rotor in robot.parameters.rotors.items() if name != joint.name}
    possible = ancestors(robot.structure, joint.child)
    for link in robot.link_names:
        mounted = rotors | {joint.name: Rotor(0.1, 50.0, "full", mount=link)}
        if link in possible:
            robot.replace(parameters=robot.parameters.replace(rotors=mounted))
            continue
        with pytest.raises(
            DalembertError, match=rf"mounted on '{link}', which is not between .* Possible: {', '.join(possible)}"
        ):
            robot.replace(parameters=robot.parameters.replace(rotors=mounted))


def test_smoothed_gives_every_dry_law_a_width_and_leaves_the_rest() -> None:
    friction = {"joint1": dal.Friction(1.0, 2.0, 3.0, breakaway=4.0, stribeck_velocity=0.1), "joint2": dal.Friction(0.5)}
    arm = dal.robots.two_link_planar()
    arm = arm.replace(parameters=arm.parameters.replace(friction=friction))
    smooth = arm.smoothed(1e-3)
    assert smooth.parameters.friction["joint1"] == friction["joint1"].replace(width=1e-3)
    assert smooth.parameters.friction["joint2"] == friction["joint2"]
    assert smooth.replace(parameters=arm.parameters) == arm
    fast = np.array([[0.3, 0.0], [-0.3, 1.0]])
    np.testing.assert_allclose(dal.friction_torque(smooth, fast), dal.friction_torque(arm, fast), rtol=1e-4)


@pytest.mark.parametrize("width", [0.0, -1.0])
def test_a_width_that_smooths_nothing_is_refused(width: float) -> None:
    with pytest.raises(ModelError, match=r"smoothed: a width of .* found; a speed above 0 is expected, such as 1e-3"):
        dal.robots.puma560().smoothed(width)


def test_a_mechanism_is_smoothed_in_the_joints_of_its_tree() -> None:
    bars = dal.mechanisms.four_bar()
    friction = {joint.name: dal.Friction(0.0, 1.0) for joint in bars.robot.structure.coordinates}
    bars = bars.replace(robot=bars.robot.replace(parameters=bars.robot.parameters.replace(friction=friction)))
    assert {law.width for law in bars.smoothed(1e-2).robot.parameters.friction.values()} == {1e-2}
