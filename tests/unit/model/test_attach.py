"""Attaching links, bodies and robots to a finished robot, and taking them off again."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Body, Friction, Joint, Limits, Link, Mimic, Robot, Rotor, Tool
from dalembert.model.attach import attach, detach
from tests.robots import body, pose, random_robot, relative_error

EXACT = 1e-12  # relative: the same sums in another order
LOAD = Link("load", 1.5, (0.1, 0.0, 0.05), np.diag([0.01, 0.01, 0.015]))


def gripper() -> Robot:
    """Two jaws, of which the second follows the first, with a motor, friction and something held."""
    links = [
        Link("palm", 0.4, (0, 0, 0.05), np.eye(3) * 1e-3),
        Link("left", 0.1, (0.02, 0, 0)),
        Link("right", 0.1, (-0.02, 0, 0)),
    ]
    joints = [
        Joint("open", "prismatic", "palm", "left", axis=(1.0, 0.0, 0.0)),
        Joint("other", "prismatic", "palm", "right", axis=(1.0, 0.0, 0.0), mimic=Mimic("open", -1.0)),
    ]
    return Robot.from_parts(
        "gripper",
        links,
        joints,
        friction={"open": Friction(0.3)},
        rotors={"open": Rotor(1e-4, 20.0, "full", mass=0.05, axis=np.array([1.0, 0, 0]), mount="palm")},
        tool=Tool("palm"),
        payload=Body("screw", 0.2, (0.0, 0.0, 0.1)),
    )


def state(robot: Robot) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(2).uniform(-1, 1, (3, robot.n)))


def test_a_link_on_a_joint_makes_the_robot_that_a_longer_table_makes() -> None:
    """The Pelican and a third row of its table."""
    arm = dal.robots.pelican()
    grown = attach(arm, LOAD, joint="revolute")
    rows = [
        {"a": link_length, "mass": link.mass, "com": link.com, "inertia": link.inertia}
        for link_length, link in zip((0.26, 0.26), arm.parameters.links[1:], strict=True)
    ]
    table = dal.from_dh(
        [*rows, {"mass": LOAD.mass, "com": LOAD.com, "inertia": LOAD.inertia}], convention="standard", gravity=arm.gravity
    )
    assert relative_error(dal.inverse_dynamics(grown, *state(grown)), dal.inverse_dynamics(table, *state(grown))) < EXACT
    assert grown.joint_names == ("joint1", "joint2", "load")
    assert grown.name == arm.name


def test_a_body_held_rigidly_is_a_payload() -> None:
    arm = dal.robots.puma560()
    held = Body("box", 2.0, (0.1, 0.0, 0.2), np.eye(3) * 0.02)
    grown = attach(arm, held)
    payload = arm.with_payload(held.mass, held.com, held.inertia)
    assert grown.n == arm.n
    assert relative_error(dal.inverse_dynamics(grown, *state(arm)), dal.inverse_dynamics(payload, *state(arm))) < EXACT


def test_several_bodies_come_along_with_their_link() -> None:
    arm = dal.robots.pelican()
    grown = attach(arm, Link("tray", bodies=(Body("cup", 0.2, (0.1, 0, 0)), Body("pot", 0.7, (0, 0.1, 0)))))
    separately = attach(attach(arm, Body("cup", 0.2, (0.1, 0, 0))), Body("pot", 0.7, (0, 0.1, 0)))
    assert relative_error(dal.mass_matrix(grown, [0.3, 0.4]), dal.mass_matrix(separately, [0.3, 0.4])) < EXACT


def test_a_robot_comes_with_its_own_names_in_front_and_with_all_it_has() -> None:
    arm = dal.robots.pelican()
    grown = attach(arm, gripper())
    assert grown.joint_names == ("joint1", "joint2", "gripper_open")
    assert set(grown.link_names) - set(arm.link_names) == {"gripper_palm", "gripper_left", "gripper_right", "gripper_screw"}
    assert grown.structure.joint("gripper_other").mimic == Mimic("gripper_open", -1.0)
    assert set(grown.parameters.friction) == {"gripper_open"}
    assert grown.parameters.rotors["gripper_open"].mount == "gripper_palm"
    assert grown.parameters.payload is None
    total = sum(link.mass + sum(b.mass for b in link.bodies) for link in grown.parameters.links)
    assert total == pytest.approx(sum(link.mass for link in arm.parameters.links) + 0.4 + 0.1 + 0.1 + 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("joint", [None, "revolute", "prismatic", "continuous", "fixed"])
@pytest.mark.parametrize(
    "part", [LOAD, Body("load", 1.0, (0.1, 0.2, 0.3)), gripper().replace(name="load")], ids=lambda p: type(p).__name__
)
def test_taking_off_gives_back_the_robot_as_it_was(part: Body | Robot, joint: str | None) -> None:
    for seed in range(5):
        robot = random_robot(np.random.default_rng(seed))
        for parent in (None, robot.structure.root, robot.link_names[len(robot.link_names) // 2]):
            grown = attach(robot, part, joint=joint, parent=parent)
            assert grown != robot
            assert detach(grown, "load") == robot


def test_a_branch_may_be_taken_off_before_what_came_later(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 5)
    first, second = robot.link_names[2], robot.link_names[1]
    grown = attach(attach(robot, LOAD, joint="revolute", parent=first), gripper(), parent=second)
    assert detach(grown, "load") == attach(robot, gripper(), parent=second)
    assert detach(detach(grown, "gripper"), "load") == robot


def test_what_hangs_on_a_part_goes_with_it() -> None:
    arm = dal.robots.pelican()
    grown = attach(attach(arm, LOAD, joint="revolute"), gripper(), parent="load")
    assert grown.joint_names == ("joint1", "joint2", "load", "gripper_open")
    assert detach(grown, "load") == arm


def test_a_joint_of_one_s_own_places_the_part(rng: np.random.Generator) -> None:
    arm = dal.robots.pelican()
    hook = Joint("hook", "revolute", "link1", "load", origin=pose(rng), axis=(1.0, 2.0, 3.0), home=0.2, limits=Limits(effort=0.0))
    grown = attach(arm, LOAD, joint=hook)
    assert grown.structure.joint("hook") == hook
    assert grown.joint_names == ("joint1", "joint2", "hook")
    assert detach(grown, "hook") == detach(grown, "load") == arm
    robot = attach(arm, gripper(), joint=Joint("wrist", "revolute", "link2", "palm"))
    assert robot.joint_names == ("joint1", "joint2", "wrist", "gripper_open")


def test_new_coordinates_stand_where_their_branch_is() -> None:
    """Depth first, so a branch of the first of two arms comes before the second arm."""
    own = body(np.random.default_rng(0))
    links = [Link(name, own.mass, own.com, own.inertia) for name in ("body", "left", "right")]
    robot = Robot.from_parts("twins", links, [Joint("l", "revolute", "body", "left"), Joint("r", "revolute", "body", "right")])
    assert attach(robot, LOAD, joint="revolute", parent="left").joint_names == ("l", "load", "r")


def test_tool_and_payload_stay_where_they_are() -> None:
    arm = dal.robots.pelican().with_payload(1.0)
    grown = attach(arm, LOAD, joint="revolute")
    assert grown.tool == arm.tool
    assert grown.parameters.payload == arm.parameters.payload


def test_a_tree_without_a_tool_needs_a_parent() -> None:
    links = [Link("body"), Link("left", 1.0), Link("right", 1.0)]
    robot = Robot.from_parts("twins", links, [Joint("l", "prismatic", "body", "left"), Joint("r", "prismatic", "body", "right")])
    with pytest.raises(dal.DalembertError, match="attach: 'twins' has several tips and no tool. Give parent="):
        attach(robot, LOAD)
    assert detach(attach(robot, LOAD, parent="left"), "load") == robot


@pytest.mark.parametrize(
    "options, message",
    [
        ({"parent": "linkk1"}, "attach: parent link: 'linkk1' is not known; did you mean 'link1'"),
        ({"joint": "hinge"}, "attach: joint type: 'hinge' is not known"),
        ({"joint": Joint("j", "revolute", "link2", "box")}, "joint 'j' has 'box' as its child, where 'load' is attached"),
        (
            {"joint": Joint("j", "revolute", "link2", "load"), "parent": "link1"},
            "joint 'j' has 'link2' as its parent, where 'link1' is attached",
        ),
        ({"joint": Joint("j", "revolute", "elbow", "load")}, "joint 'j': parent link: 'elbow' is not known"),
        ({"joint": Joint("joint1", "revolute", "link2", "load")}, "joints: 'joint1' stands twice"),
    ],
)
def test_what_cannot_be_attached_so_is_refused(options: dict, message: str) -> None:
    with pytest.raises(dal.DalembertError, match=message):
        attach(dal.robots.pelican(), LOAD, **options)


def test_a_name_that_is_taken_is_refused() -> None:
    grown = attach(dal.robots.pelican(), LOAD)
    with pytest.raises(dal.DalembertError, match="'load' stands twice; names need to be unique"):
        attach(grown, LOAD)


def test_only_links_bodies_and_robots_can_be_attached() -> None:
    with pytest.raises(dal.DalembertError, match="attach: float found; a Link, a Body or a Robot is expected"):
        attach(dal.robots.pelican(), 1.5)


def test_what_cannot_be_taken_off_is_said() -> None:
    arm = dal.robots.pelican()
    with pytest.raises(dal.DalembertError, match="detach: link or joint: 'lod' is not known; did you mean 'load'"):
        detach(attach(arm, LOAD), "lod")
    with pytest.raises(dal.DalembertError, match=f"detach: {arm.structure.root!r} is the root of 'pelican'"):
        detach(arm, arm.structure.root)
    moved = attach(arm, LOAD).with_tool(np.eye(4), "load")
    with pytest.raises(dal.DalembertError, match="detach: the tool is on 'load', a part of 'load'. Move it with with_tool"):
        detach(moved, "load")
    assert detach(moved.with_tool(np.eye(4), "link2"), "load") == arm
