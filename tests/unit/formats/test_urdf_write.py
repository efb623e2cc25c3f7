"""Robots as URDF: the same dynamics when read again, or a warning."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from dalembert.errors import DalembertWarning, FormatError, Part
from dalembert.formats.poses import make_pose, rotation_from_rpy
from dalembert.formats.urdf import read_urdf
from dalembert.formats.urdf_write import write_urdf
from dalembert.model import Body, Friction, Joint, Limits, Link, Mimic, Robot, Rotor, Tool
from dalembert.model.dh import from_dh
from dalembert.robots import CATALOGUE
from tests.link_poses import link_poses, random_values, total_inertia


def a_pose(*numbers: float) -> np.ndarray:
    return make_pose(numbers[:3], rotation_from_rpy(numbers[3:]))


def a_link(name: str, seed: int, **more) -> Link:
    rng = np.random.default_rng(seed)
    S = np.diag(rng.uniform(0.1, 0.2, 3)) + 0.01
    return Link(name, rng.uniform(1, 3), rng.normal(size=3), np.trace(S) * np.eye(3) - S, **more)


def a_tree() -> Robot:
    """Both DH-like offsets and homes, further bodies, a mimic joint, a tool and a payload."""
    body = Body("motor", 0.5, (0.1, 0.2, -0.1), np.diag([0.01, 0.02, 0.025]))
    links = [a_link("base", 0), a_link("arm", 1, bodies=(body,)), a_link("slide", 2), a_link("finger", 3)]
    joints = [
        Joint(
            "turn", "revolute", "base", "arm", a_pose(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0, 1, 0), a_pose(0.3, 0, 0, 1, 0, 0), 0.7
        ),
        Joint("push", "prismatic", "arm", "slide", a_pose(0, 0, 0.2, 0, 0.5, 0), (1, 0, 0), a_pose(0, 0.1, 0, 0, 0, 1), 0.05),
        Joint("grip", "continuous", "arm", "finger", axis=(0.6, 0, 0.8), mimic=Mimic("turn", -0.5, 0.1)),
    ]
    tool = Tool("slide", a_pose(0, 0, 0.1, 0.2, 0, 0))
    return Robot.from_parts("tree", links, joints, tool=tool, payload=Body("load", 1.5, (0, 0, 0.1), np.diag([0.01, 0.01, 0.01])))


def rewritten(robot: Robot) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        return read_urdf(write_urdf(robot))


ROBOTS = {"tree": a_tree, **CATALOGUE}


@pytest.mark.parametrize("name", ROBOTS)
def test_written_and_read_again_every_configuration_has_the_same_mass_distribution(name):
    """Mass, first moment and inertia at random configurations determine what each joint carries, and so the dynamics."""
    robot = ROBOTS[name]()
    again = rewritten(robot)
    assert again.joint_names == robot.joint_names
    for seed in range(robot.n + 1):
        q = random_values(robot, np.random.default_rng(seed))
        for ours, theirs in zip(total_inertia(robot, q), total_inertia(again, q), strict=True):
            assert theirs == pytest.approx(ours, rel=1e-8, abs=1e-8)  # quarter turns within 1e-9 rad are snapped on reading


@pytest.mark.parametrize("name", ROBOTS)
def test_the_tool_frame_is_found_again(name):
    robot = ROBOTS[name]()
    again = rewritten(robot)
    q = random_values(robot, np.random.default_rng(1))
    tool = again.tool or Tool("tool")
    theirs = link_poses(again, q)[tool.link] @ tool.pose
    assert theirs == pytest.approx(link_poses(robot, q)[robot.tool.link] @ robot.tool.pose, abs=1e-8)


def test_limits_friction_and_mimic_are_written():
    robot = Robot.from_parts(
        "r",
        [Link("base"), a_link("a", 1), a_link("b", 2)],
        [
            Joint("j", "revolute", "base", "a", limits=Limits(-1.5, 2.5, 3.0, 40.0)),
            Joint("k", "prismatic", "a", "b", mimic=Mimic("j", 2.0, 0.5), limits=Limits(effort=7.0)),
        ],
        friction={"j": Friction(0.1, 0.2)},
    )
    again = rewritten(robot)
    assert again.structure == robot.structure
    assert again.parameters.friction == robot.parameters.friction


def test_what_has_no_limits_has_none_when_read_again():
    again = rewritten(Robot.from_parts("r", [Link("base"), a_link("a", 1)], [Joint("j", "revolute", "base", "a")]))
    assert again.structure.joints[0].limits == Limits()
    assert math.isinf(again.structure.joints[0].limits.upper)
    assert again.notes == ()


def test_names_with_markup_survive():
    name = 'a<b> & "c"\''
    robot = Robot.from_parts(name, [Link(name), a_link("x", 1)], [Joint(name, "revolute", name, "x")])
    again = rewritten(robot)
    assert (again.name, again.link_names, again.joint_names) == (name, (name, "x"), (name,))


def test_taken_names_are_avoided_for_tool_and_payload():
    links = [Link("tool"), a_link("payload", 1)]
    robot = Robot.from_parts(
        "r", links, [Joint("tool_mount", "revolute", "tool", "payload")], tool=Tool("payload", a_pose(1, 0, 0, 0, 0, 0))
    )
    assert rewritten(robot.with_payload(2.0)).link_names == ("tool", "payload", "tool_", "payload_")


def test_a_robot_that_fits_into_urdf_is_written_without_a_warning():
    robot = from_dh([{"a": 1.0, "mass": 2.0, "inertia": (0.1, 0.1, 0.1)}], convention="standard")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_urdf(robot)


def test_what_urdf_cannot_say_is_named_in_one_warning():
    robot = Robot.from_parts(
        "r",
        [Link("base"), a_link("a", 1), a_link("b", 2)],
        [Joint("j", "revolute", "base", "a"), Joint("k", "revolute", "base", "b")],
        friction={"j": Friction(0.1, 0.2, 0.3), "k": Friction(0.1, 0.2, breakaway=0.3, stribeck_velocity=0.1, width=0.01)},
        rotors={"j": Rotor(1e-4, 100)},
        gravity=(0, -9.81, 0),
        tool=Tool("b"),
    )
    with pytest.warns(DalembertWarning) as caught:
        write_urdf(robot)
    assert [warning.message.code for warning in caught] == ["left-out"]
    message = str(caught[0].message)
    assert message.startswith("robot 'r': URDF cannot express gravity [0.0, -9.81, 0.0]")
    for phrase in (
        "the rotors of j",
        "the Coulomb friction for negative speed of j",
        "the Stribeck friction of k",
        "the smoothing width of the friction of k",
        "which link of a tree is the tool",
        "Save as .toml to keep everything.",
    ):
        assert phrase in message


def test_virtual_links_are_written_as_plain_ones_with_a_warning():
    joints = [Joint("x", "revolute", "base", "v", axis=(1, 0, 0)), Joint("y", "revolute", "v", "a", axis=(0, 1, 0))]
    robot = Robot.from_parts("r", [Link("base"), Link("v", virtual=True), a_link("a", 1)], joints)
    with pytest.warns(DalembertWarning, match="that a link is virtual"):
        assert '<link name="v"/>' in write_urdf(robot)


def test_a_name_that_xml_cannot_hold_is_refused_with_its_part():
    robot = Robot.from_parts("r", [Link("base"), a_link("x", 1)], [Joint("j", "revolute", "base", "x")])
    joint = robot.structure.joints[0]
    object.__setattr__(joint, "name", "a\x01b")  # the model refuses such names
    with pytest.raises(FormatError, match=r"'a\\x01b': '\\x01' cannot stand in XML, so URDF cannot hold this name") as caught:
        write_urdf(robot)
    assert caught.value.part == Part("joint", "a\x01b")


@pytest.mark.filterwarnings("ignore:.*centre of mass stands")
def test_a_number_that_overflows_when_bodies_are_merged_is_refused_with_its_part():
    bodies = (Body("a", 1e29, (1e29, 0, 0)), Body("b", 1e29, (-1e29, 0, 0)))
    robot = Robot.from_parts("r", [Link("base"), Link("x", 1.0, bodies=bodies)], [Joint("j", "revolute", "base", "x")])
    with pytest.raises(
        FormatError, match=r"2e\+87 would have to be written, but numbers of a robot are at most 1e\+30\. Save as \.toml"
    ) as caught:
        write_urdf(robot)
    assert caught.value.part == Part("link", "x")


def test_a_limit_that_stands_for_none_in_urdf_is_named_in_the_warning():
    joint = Joint("j", "revolute", "base", "x", limits=Limits(-1, 1, velocity=1e40))
    robot = Robot.from_parts("r", [Link("base"), a_link("x", 1)], [joint])
    with pytest.warns(DalembertWarning, match=r"URDF cannot express limits of 1e\+30 or more, other than none, of j"):
        again = read_urdf(write_urdf(robot))
    assert again.structure.joints[0].limits.velocity == math.inf
