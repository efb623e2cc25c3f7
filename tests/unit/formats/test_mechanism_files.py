"""Mechanisms in files: what is saved reads back, what is written by hand means what it says, and refusals name their place."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning, FormatError
from dalembert.model.position_functions import Chosen, Component, Cosine, Distance, JointFunction, JointSum, LinkAngle, Thread
from tests.project.source import ROOT

LARGE = ("delta", "stewart", "two_arms", "three_arms")  # slow to write and read; one of their kind is enough in quick runs
SMALL = [name for name in dal.mechanisms.CATALOGUE if not name.startswith(LARGE)]


def saved_and_loaded(mechanism, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # URDF has no gravity
        dal.save(mechanism, path)
        return dal.load(path)


def four_bar(**changes):
    return dal.mechanisms.four_bar().replace(**changes)


def held_by_functions():
    """The four-bar with one closure made of every function that can be a condition there."""
    mechanism = dal.mechanisms.four_bar()
    x = mechanism.seed
    functions = [
        JointSum({"joint1": 1.0, "joint2": 0.5}),
        Component(("rocker", (0.5, 0, 0)), (0, 1, 0), ("crank", (0.1, 0, 0)), "coupler"),
        Component(("rocker", (0.5, 0, 0)), (0, 0, 1), ("world", (0.9346, 0.0862, 0)), None),
        Cosine(("rocker", (1, 1, 0)), ("world", (0, 1, 0))),
        Distance(("rocker", (0.5, 0.1, 0)), ("world", (1, 0, 0))),
        LinkAngle("rocker", "yaw"),
        Thread(("rocker", np.eye(4)), ("crank", np.eye(4)), 0.3),
    ]
    values = type(mechanism.equations)(mechanism.tree, functions)(x)[0]
    held = dal.Closure("held", "function", functions=list(zip(functions, values.tolist(), strict=True)))
    return mechanism.replace(closures=[*mechanism.closures, held], coordinates=[], strict=False)


VARIANTS = {
    "axis": lambda: four_bar(
        closures=[dal.Closure("pin", "revolute", (("rocker", (0.5, 0, 0)), ("world", (0.9346, 0.0862, 0))), (0, 0, -1))]
    ),
    "elements": lambda: four_bar(
        springs=[dal.Spring(3.0, between=("rocker", ("world", (1, 0, 0)))), dal.Spring(2.0, joint="joint2", rest=0.3)],
        dampers=[dal.Damper(0.2, joint="joint3"), dal.Damper(0.1, between=("crank", "rocker"))],
        actuated=["joint2", "joint3"],
    ),
    "point": lambda: four_bar(
        coordinates=[Chosen("height", Component(("coupler", (0.1, 0.2, 0)), (0, 1, 0)), turns=False, limits=dal.Limits(-1, 1))]
    ),
    "sum": lambda: four_bar(coordinates=[Chosen("turn of the coupler", JointSum({"joint1": 1, "joint2": 1}))]),
    "angle": lambda: four_bar(coordinates=[Chosen("yaw", LinkAngle("coupler", "yaw"))]),
    "cosine": lambda: four_bar(coordinates=[Chosen("c", Cosine(("coupler", (1, 2, 0)), ("world", (0, 1, 0))), turns=False)]),
    "distance": lambda: four_bar(coordinates=[Chosen("d", Distance(("coupler", (0.2, 0, 0)), "world"), turns=False)]),
    "other limits": lambda: four_bar(coordinates=[Chosen("joint1", JointSum({"joint1": 1.0}), limits=dal.Limits(velocity=3.0))]),
    "functions": held_by_functions,
    "strict": lambda: four_bar(strict=True),
    "tree of another name": lambda: four_bar(name='a "linkage"'),
    "open chain": lambda: four_bar(closures=[], coordinates=["joint3", *dal.point_of("coupler", point=(0.7, 0, 0), axes="xy")]),
}


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_saved_reads_back_as_an_equal_mechanism(variant, suffix, tmp_path):
    mechanism = VARIANTS[variant]()
    again = saved_and_loaded(mechanism, tmp_path / f"m{suffix}")
    if suffix == ".urdf":
        again = again.replace(robot=mechanism.robot)  # URDF does not keep gravity; what closes the tree it does
    assert again == mechanism


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in dal.mechanisms.CATALOGUE if name not in SMALL)]
)
def test_the_catalogue_is_saved_and_read_to_the_last_bit(name, tmp_path):
    mechanism = dal.load(name)
    assert mechanism is dal.mechanisms.CATALOGUE[name]()
    assert saved_and_loaded(mechanism, tmp_path / "m.toml") == mechanism


@pytest.mark.slow
def test_in_urdf_places_move_with_the_frames_of_the_links(tmp_path):
    """Standard rows put the link's frame at its end, URDF at its joint."""
    rows = [{"a": a, "mass": 1.0, "com": (-0.1, 0, 0), "inertia": (0, 0, 0.01), "theta": 0.3} for a in (0.3, 0.7, 0.5)]
    tree = dal.from_dh(rows, convention="standard")
    closure = dal.Closure("pin", "revolute", ("link3", ("world", (0.9, 0.1, 0))))
    mechanism = dal.Mechanism(
        "four-bar",
        tree,
        [closure],
        [Chosen("height", Component(("link2", (0.1, 0.2, 0)), (0, 1, 0), ("link1", (0.1, 0, 0)), "link1"), turns=False)],
        [1.2, -0.8, -1.6],
        springs=[dal.Spring(3.0, between=(("link2", (0.1, 0, 0)), "world"))],
    )
    again = saved_and_loaded(mechanism, tmp_path / "m.urdf")
    assert again.closures != mechanism.closures
    q = mechanism.q0
    expected = dal.inverse_dynamics(mechanism, q, [0.4], [0.3])
    assert dal.inverse_dynamics(again, q, [0.4], [0.3]) == pytest.approx(expected, rel=1e-9)  # angles are written as rpy


def test_a_function_in_python_cannot_be_saved(tmp_path):
    mechanism = four_bar(coordinates=[Chosen("q", JointFunction(lambda x: x["joint1"]))])
    with pytest.raises(FormatError, match=r"^coordinate 'q': a function in Python cannot be saved to a file\. Use joints"):
        dal.save(mechanism, tmp_path / "m.toml")
    assert not (tmp_path / "m.toml").exists()


# by hand

TREE = """
name = "four-bar"
convention = "modified"
gravity = [0, -9.81, 0]
coordinates = ["joint1"]
guess = { joint1 = 1.2, joint2 = -0.8, joint3 = -1.6 }

[[dh]]
mass = 1.0
com = [0.1, 0, 0]
inertia = [0, 0, 0.01]

[[dh]]
a = 0.3
mass = 1.0
com = [0.1, 0, 0]
inertia = [0, 0, 0.01]

[[dh]]
a = 0.7
mass = 1.0
com = [0.1, 0, 0]
inertia = [0, 0, 0.01]
"""
PIN = """
[[closure]]
name = "pin"
type = "spherical"
a = { link = "link3", xyz = [0.5, 0, 0] }
b = { link = "world", xyz = [0.9, 0.1, 0] }
"""
URDF = """<robot name="four-bar">
  <link name="ground"/>
  {links}
  {joints}
  <dalembert>
    <closure name="pin" type="spherical"><a link="link3" xyz="0.5 0 0"/><b link="world" xyz="0.9 0.1 0"/></closure>
    <coordinate joint="joint1"/>
    <guess joint="joint1" value="1.2"/><guess joint="joint2" value="-0.8"/><guess joint="joint3" value="-1.6"/>
  </dalembert>
</robot>
"""
INERTIA = '<inertia ixx="0" iyy="0" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
LINKS = "".join(
    f'<link name="link{k}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>{INERTIA}</inertial></link>' for k in (1, 2, 3)
)
JOINTS = "".join(
    f'<joint name="joint{k}" type="continuous"><parent link="{parent}"/><child link="link{k}"/>'
    f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>'
    for k, parent, x in ((1, "ground", 0), (2, "link1", 0.3), (3, "link2", 0.7))
)


def built():
    rod = [{"a": a, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (0, 0, 0.01)} for a in (0.0, 0.3, 0.7)]
    arm = dal.from_dh(rod, convention="modified", gravity=(0, -9.81, 0), name="four-bar")
    pin = dal.Closure("pin", "spherical", (("link3", (0.5, 0, 0)), ("world", (0.9, 0.1, 0))))
    return dal.Mechanism("four-bar", arm, [pin], ["joint1"], guess=[1.2, -0.8, -1.6])


def load_text(tmp_path, text, suffix=".toml", **options) -> dal.Mechanism:
    path = tmp_path / f"f{suffix}"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        return dal.load(path, **options)


def test_a_toml_file_by_hand_is_the_mechanism_built_in_python(tmp_path):
    assert load_text(tmp_path, TREE + PIN) == built()


def test_the_element_of_a_urdf_file_is_the_mechanism_built_in_python(tmp_path):
    found = load_text(tmp_path, URDF.format(links=LINKS, joints=JOINTS), ".urdf")
    assert found.closures == built().closures
    assert dal.mass_matrix(found, [1.0]) == pytest.approx(dal.mass_matrix(built(), [1.0]), rel=1e-13)


def test_every_kind_of_coordinate_and_element_can_be_written_by_hand(tmp_path):
    text = (
        TREE.replace('["joint1"]', '["yaw"]').replace('name = "four-bar"', 'name = "m"\ntree = "t"\nstrict = true')
        + """
[[coordinate]]
name = "yaw"
type = "angle"
link = "link2"
which = "yaw"
limits = { lower = -1, upper = 2.5 }

[[closure]]
name = "pin"
type = "directions"
directions = ["x", "y"]
a = { link = "link3", xyz = [0.5, 0, 0], rpy_deg = [0, 0, 90] }
b = { link = "world", xyz = [0.9, 0.1, 0] }

[[spring]]
stiffness = 10
a = { link = "link2" }
b = { link = "world", xyz = [0, 1, 0] }
rest = 0.2

[[damper]]
coefficient = 0.3
joint = "joint2"
"""
    )
    found = load_text(tmp_path, text)
    assert (found.name, found.robot.name, found.strict) == ("m", "t", True)
    assert found.coordinates[0].limits == dal.Limits(-1, 2.5)
    assert found.springs == (dal.Spring(10, between=("link2", ("world", (0, 1, 0))), rest=0.2),)
    assert found.dampers == (dal.Damper(0.3, joint="joint2"),)
    assert found.closures[0].directions == ("x", "y")
    assert found.assemble(found.q0).found


def test_a_coordinate_is_an_angle_or_a_length_by_what_it_is(tmp_path):
    length = '[[coordinate]]\nname = "y"\ntype = "component"\nb = { link = "link2" }\naxis = [0, 1, 0]\n'
    assert load_text(tmp_path, TREE.replace('["joint1"]', '["y"]') + PIN + length).coordinates[0].unit == "m"
    angle = '[[coordinate]]\nname = "y"\ntype = "sum"\njoints = { joint1 = 1, joint2 = 1 }\n'
    assert load_text(tmp_path, TREE.replace('["joint1"]', '["y"]') + PIN + angle).coordinates[0].unit == "rad"
    assert load_text(tmp_path, TREE.replace('["joint1"]', '["y"]') + PIN + angle + "turns = false").coordinates[0].unit == "m"


def test_a_gear_stands_between_joints(tmp_path):
    text = (
        TREE.replace("guess", "# guess")
        + """
[[closure]]
name = "wheels"
type = "gear"
a = { joint = "joint2" }
b = { joint = "joint1" }
ratio = -2
offset = 0.1
[[closure]]
name = "belt"
type = "belt"
a = { joint = "joint3" }
b = { joint = "joint1" }
ratio = 1
"""
    )
    found = load_text(tmp_path, text)
    assert found.assemble([0.5]).x == pytest.approx([0.5, -0.9, 0.5], abs=1e-14)


REFUSED = {
    "no coordinates": (
        TREE.replace('coordinates = ["joint1"]', "") + PIN,
        r"^f\.toml: 'coordinates' is missing: names of joints",
    ),
    "unknown coordinate": (
        TREE.replace('["joint1"]', '["joint4"]') + PIN,
        r"^f\.toml:5: coordinates: 'joint4' is not known; did you mean 'joint\d'\?",
    ),
    "two coordinates": (
        TREE.replace('["joint1"]', '["joint1", "joint2"]') + PIN,
        r"^f\.toml:5: mechanism 'four-bar': 2 coordinates found .*Leave out 1",
    ),
    "coordinates no list": (TREE.replace('["joint1"]', '"joint1"') + PIN, r"^f\.toml:5: coordinates = 'joint1' found, a list"),
    "unused coordinate": (
        TREE + PIN + '[[coordinate]]\nname = "y"\ntype = "sum"\njoints = { joint1 = 1 }',
        r"^f\.toml:5: coordinate 'y' is described and not in the list",
    ),
    "unknown link": (
        TREE + PIN.replace('"link3"', '"lnk3"'),
        r"^f\.toml:\d+: closure 'pin': link: 'lnk3' is not known; did you mean 'link3'\?",
    ),
    "unknown type": (TREE + PIN.replace("spherical", "ball"), r"^f\.toml:\d+: closure 'pin': type: 'ball' is not known"),
    "unknown key": (
        TREE + PIN + "lenght = 1",
        r"^f\.toml:\d+: closure 'pin': key 'lenght' is not known; did you mean 'length'\?",
    ),
    "no end": (TREE + PIN.replace("b = ", "# b = "), r"^f\.toml:\d+: closure 'pin': 'b' is missing"),
    "name twice": (TREE + PIN + PIN, r"^f\.toml:\d+: closure 'pin': the closure name 'pin' stands twice, first on line \d+"),
    "no effect": (TREE + PIN + "length = 1", r"^f\.toml:\d+: closure 'pin': length 1\.0 has no effect on the type 'spherical'"),
    "cannot be met": (
        TREE + PIN.replace("0.9, 0.1", "9, 0.1"),
        r"^f\.toml:\d+: mechanism 'four-bar': closure 'pin' cannot be met: .* stays off by",
    ),
    "guess": (TREE.replace("joint3 = -1.6", "joint4 = -1.6") + PIN, r"^f\.toml:6: guess: key 'joint4' is not known"),
    "guess of another size": (
        TREE.replace("{ joint1 = 1.2, joint2 = -0.8, joint3 = -1.6 }", "[1, 2]") + PIN,
        r"^f\.toml:6: guess: shape \(2,\) found, 3 numbers expected",
    ),
    "actuated": ('actuated = ["motor"]\n' + TREE + PIN, r"^f\.toml:1: actuated: joint: 'motor' is not known"),
    "spring": (TREE + PIN + '[[spring]]\nstiffness = 1\njoint = "j"', r"^f\.toml:\d+: spring 1: joint: 'j' is not known"),
    "spring nowhere": (TREE + PIN + "[[spring]]\nstiffness = 1", r"^f\.toml:\d+: spring 1: spring: neither joint nor between"),
    "damper": (TREE + PIN + '[[damper]]\njoint = "joint1"', r"^f\.toml:\d+: damper 1: 'coefficient' is missing"),
    "format": ('format = "dalembert-robot-1"\n' + TREE + PIN, r"^f\.toml:1: format 'dalembert-robot-1' found, but coordinates, "),
    "other key of a function": (
        TREE.replace('["joint1"]', '["y"]') + PIN + '[[coordinate]]\nname = "y"\ntype = "sum"\njoints = {joint1 = 1}\npitch = 2',
        r"^f\.toml:\d+: coordinate 'y': 'pitch' has no effect on the type 'sum'",
    ),
    "zero in a sum": (
        TREE.replace('["joint1"]', '["y"]') + PIN + '[[coordinate]]\nname = "y"\ntype = "sum"\njoints = { joint1 = 0 }',
        r"^f\.toml:\d+: coordinate 'y': joints: joint1 = 0 found",
    ),
    "function with ends": (
        TREE + PIN.replace("spherical", "function"),
        r"^f\.toml:\d+: closure 'pin': a and b have no effect on the type 'function'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_mechanism_is_refused_at_its_place(case, tmp_path, monkeypatch):
    text, sentence = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    Path("f.toml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=sentence):
        dal.load("f.toml")


def test_closures_that_hold_too_much_are_refused_under_strict(tmp_path):
    path = tmp_path / "f.toml"
    path.write_text(TREE + PIN.replace("spherical", "revolute"), encoding="utf-8")
    assert dal.load(path).n == 1
    with pytest.raises(FormatError, match=r"f\.toml.*conditions hold what others hold already"):
        dal.load(path, strict=True)


URDF_REFUSED = {
    "unknown element": ('<clsure name="a"/>', r"^f\.urdf:5: key 'clsure' is not known; did you mean 'closure'\?"),
    "unknown attribute": (
        '<closure name="p" type="spherical" lenght="1"/>',
        r"^f\.urdf:5: closure 'p': key 'lenght' is not known; did you mean 'length'\?",
    ),
    "number": ('<closure name="p" type="distance" length="1,5"/>', r"^f\.urdf:5: <closure>: length: '1,5' is not a number"),
    "numbers": (
        '<closure name="p" type="weld"><a link="link1" xyz="1 2"/></closure>',
        r"^f\.urdf:5: <a>: xyz has 2 numbers, 3 exp",
    ),
    "text": ("hello", r"^f\.urdf:4: <dalembert>: text 'hello' found; attributes are expected"),
    "guess": ('<guess joint="joint9" value="1"/><coordinate joint="joint1"/>', r"^f\.urdf:5: guess: key 'joint9' is not known"),
    "guess twice": ('<guess joint="joint1" value="1"/>' * 2, r"^f\.urdf:5: <guess>: joint 'joint1' stands twice"),
    "guess without joint": ('<guess value="1"/>', r"^f\.urdf:5: <guess>: <guess> has no attribute 'joint'"),
    "second end": (
        '<closure name="p" type="weld"><a link="link1"/><a link="link2"/></closure>',
        r"^f\.urdf:5: <a>: given twice",
    ),
    "flag": ('<coordinate name="y" type="sum" turns="yes"/>', r"^f\.urdf:5: <coordinate>: turns='yes' found, true or false"),
    "coordinate": ('<coordinate joint="joint7"/>', r"^f\.urdf:5: coordinates: 'joint7' is not known"),
    "depth": ("<a>" * 100 + "</a>" * 100, r"^f\.urdf:5: <a>: elements inside of <dalembert> are nested too deeply"),
    "nothing": ("", r"^f\.urdf:4: 'coordinates' is missing"),
}


@pytest.mark.parametrize("case", URDF_REFUSED)
def test_what_the_element_of_a_urdf_file_does_not_know_is_refused_at_its_line(case, tmp_path, monkeypatch):
    inside, sentence = URDF_REFUSED[case]
    monkeypatch.chdir(tmp_path)
    head = f'<robot name="r"><link name="ground"/>\n{LINKS}\n{JOINTS}\n<dalembert>'
    Path("f.urdf").write_text(f"{head}\n{inside}\n</dalembert></robot>", encoding="utf-8")
    with pytest.raises(FormatError, match=sentence):
        dal.load("f.urdf")


def test_other_programs_find_a_plain_urdf_file(tmp_path):
    """The element stands at the top and holds everything, so whoever does not know it finds links and joints as usual."""
    text = URDF.format(links=LINKS, joints=JOINTS)
    with_it = load_text(tmp_path, text, ".urdf").robot
    without = load_text(tmp_path, text[: text.index("<dalembert>")] + "</robot>", ".urdf")
    assert with_it == without


def test_the_file_on_the_page_about_mechanism_files_loads(tmp_path):
    page = (ROOT / "docs" / "reference" / "mechanism_file.md").read_text(encoding="utf-8")
    first = page.partition("```toml\n")[2].partition("```")[0]
    assert load_text(tmp_path, first).joint_names == ("joint1",)


def test_every_element_on_the_page_about_mechanism_files_is_understood(tmp_path):
    """The links and joints are made up there: those that it names are added here."""
    page = (ROOT / "docs" / "reference" / "mechanism_file.md").read_text(encoding="utf-8")
    element = page.partition("```xml\n")[2].partition("```")[0]
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="ground"/><child link="{name}_body"/><axis xyz="0 0 1"/></joint>'
        for name in ("crank", "wheel1", "wheel2")
    )
    links = "".join(f'<link name="{name}"/>' for name in ("ground", "crank_body", "wheel1_body", "wheel2_body", "rocker"))
    hung = '<joint name="hang" type="continuous"><parent link="crank_body"/><child link="rocker"/><axis xyz="0 0 1"/></joint>'
    with pytest.raises(FormatError, match=r"mechanism 'r': closure 'pin' cannot be met"):  # read, and only then refused
        load_text(tmp_path, f'<robot name="r">{links}{joints}{hung}{element}</robot>', ".urdf")


# json

CHAIN = {
    "convention": "modified",
    "gravity": [0, -9.81, 0],
    "links": [
        {"type": "R", "a": a, "mass": 1.0, "com": [0.1, 0, 0], "inertia": [[0, 0, 0], [0, 0, 0], [0, 0, 0.01]]}
        for a in (0.0, 0.3, 0.7)
    ],
}
END = {"chain": 0, "link": 3, "point": [0.5, 0, 0]}
DATA = {
    "chains": [CHAIN],
    "closures": [
        {"type": "point", "a": END, "axis": [1, 0, 0], "value": 0.9},
        {"type": "diff", "a": END, "b": {"ground": [0, 0.1, 0]}, "axis": [0, 2, 0]},
    ],
    "coordinates": [{"type": "joint", "index": 0}],
    "x0": [1.2, -0.8, -1.6],
}


def with_changes(**changes):
    return json.dumps(DATA | changes)


def test_a_json_file_by_hand_is_the_same_mechanism(tmp_path):
    """Also with an axis of length two: what is held is zero along any axis."""
    found = load_text(tmp_path, json.dumps(DATA), ".json")
    q, qd, qdd = [1.2], [1.5], [-0.7]
    assert found.joint_names == ("chain1_joint1",)
    expected = dal.inverse_dynamics(built(), q, qd, qdd)
    assert dal.inverse_dynamics(found, q, qd, qdd) == pytest.approx(expected, rel=1e-13)


def test_a_value_along_an_axis_that_is_not_of_length_one_is_scaled(tmp_path):
    held = [{"type": "point", "a": END, "axis": [2, 0, 0], "value": 1.8}, DATA["closures"][1]]
    found = load_text(tmp_path, with_changes(closures=held), ".json")
    assert found.rows[0].value == 0.9


def test_two_chains_stand_on_one_ground(tmp_path):
    """A four-bar of two chains, two bars and one, that meet in a pin."""
    bars = [{**CHAIN, "links": CHAIN["links"][:2]}, {**CHAIN, "links": CHAIN["links"][:1], "base": _shift(0.9, 0.1)}]
    meet = [
        {
            "type": "diff",
            "a": {"chain": 0, "link": 2, "point": [0.7, 0, 0]},
            "b": {"chain": 1, "link": 1, "point": [0.5, 0, 0]},
            "axis": a,
        }
        for a in ([1, 0, 0], [0, 1, 0])
    ]
    turn = {"type": "linear", "coef": {"0": 1, "1": 1}, "name": "turn"}
    found = load_text(
        tmp_path, json.dumps({"chains": bars, "closures": meet, "coordinates": [turn], "x0": [1.2, -0.8, 2.0]}), ".json"
    )
    assert found.joint_names == ("turn",)
    assert found.robot.joint_names == ("chain1_joint1", "chain1_joint2", "chain2_joint1")
    assert found.q0[0] == pytest.approx(found.seed[0] + found.seed[1], abs=1e-15)


def _shift(x, y):
    return [[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]]


JSON_REFUSED = {
    "key": (with_changes(closure=[]), r"^f\.json:1: key 'closure' is not known; did you mean 'closures'\?"),
    "index": (with_changes(coordinates=[{"type": "joint", "index": 3}]), r"coordinate 1: index = 3 found; there are 3 joints"),
    "no index": (with_changes(coordinates=[{"type": "joint", "index": True}]), r"index = True found; there are 3 joints"),
    "link": (
        with_changes(closures=[{"type": "point", "a": {**END, "link": 4}, "axis": [1, 0, 0]}]),
        r"link = 4 found; there are 4",
    ),
    "type": (with_changes(closures=[{"type": "ball"}]), r"^f\.json:1: closure 1: type: 'ball' is not known"),
    "coef": (with_changes(coordinates=[{"type": "linear", "coef": {"a": 1}}]), r"coef: 'a' found; the number of a joint"),
    "length": (with_changes(coordinates=[{"type": "point", "a": END, "axis": [0, 2, 0]}]), r"a direction of length 2 found"),
    "axis": (with_changes(closures=[{"type": "point", "a": END, "axis": [0, 0, 0]}]), r"axis: a direction of length 0 found"),
    "gravity": (with_changes(chains=[CHAIN, {**CHAIN, "gravity": [0, 0, -1]}]), r"gravity differs from that of the first chain"),
    "chain": (with_changes(chains=[{**CHAIN, "links": [{"type": "Q"}]}]), r"^f\.json:1: row 1: type: 'Q' is not known"),
    "x0": (with_changes(x0=[1]), r"^f\.json:1: x0: shape \(1,\) found, 3 numbers expected"),
    "no coordinates": (with_changes(coordinates=[]), r"mechanism 'mechanism': 0 coordinates found"),
    "missing": (json.dumps({"chains": []}), r"'coordinates' is missing"),
}


@pytest.mark.parametrize("case", JSON_REFUSED)
def test_what_a_json_file_does_not_say_right_is_refused(case, tmp_path, monkeypatch):
    text, sentence = JSON_REFUSED[case]
    monkeypatch.chdir(tmp_path)
    Path("f.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=sentence):
        dal.load("f.json")


# the catalogue


def test_a_mechanism_of_the_catalogue_is_loaded_by_its_name():
    assert dal.load("crank_rocker") is dal.mechanisms.crank_rocker()
    assert dal.load("crank_rocker", strict=True).strict
    with pytest.raises(dal.DalembertError, match=r"did you mean 'crank_rocker'\?"):
        dal.load("crank_roker")
