"""The `.toml` robot file: everything survives, and mistakes are named."""

from __future__ import annotations

import json
import math
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from dalembert.errors import DalembertWarning, FormatError, Part
from dalembert.formats.toml import read_toml
from dalembert.formats.toml_write import write_toml
from dalembert.model import Friction, Joint, Link, Motor, Robot, Rotor
from dalembert.model.dh import from_dh
from dalembert.robots import CATALOGUE
from tests.unit.formats.robot_strategy import robots

LINKS = """
[[link]]
name = "base"
[[link]]
name = "arm"
mass = 2
com = [0.1, 0, 0]
inertia = [0.1, 0.2, 0.25]
"""
JOINT = """
[[joint]]
name = "j"
type = "revolute"
parent = "base"
child = "arm"
"""


def read(text: str | bytes, **options) -> Robot:
    return read_toml(text, source="f.toml", **options)


def arm(joint: str = "", top: str = "", links: str = LINKS) -> str:
    return f'name = "r"\n{top}\n{links}{JOINT}{joint}\n'


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(robots())
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_any_robot_written_and_read_again_is_equal_to_the_last_bit(robot):
    again = read_toml(write_toml(robot))
    assert again == robot
    assert again.notes == robot.notes


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_catalogue_survives(name):
    robot = CATALOGUE[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        assert read_toml(write_toml(robot)) == robot


def test_a_hand_written_file_is_read():
    robot = read(arm("axis = [1, 0, 0]\nlimits = { lower = -1, upper = inf }\nfriction = { viscous = 0.02 }"))
    joint = robot.structure.joints[0]
    assert (robot.name, robot.n, joint.axis.tolist()) == ("r", 1, [1, 0, 0])
    assert (joint.limits.lower, joint.limits.upper) == (-1, math.inf)
    assert robot.parameters.friction == {"j": Friction(0.02)}
    assert robot.link("arm").inertia.tolist() == np.diag([0.1, 0.2, 0.25]).tolist()
    assert robot.gravity.tolist() == [0, 0, -9.81]


QUARTER = [[1, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
SAME_POSES = {
    "rpy": f"origin = {{ xyz = [1, 0, 0], rpy = [{math.pi / 2!r}, 0, 0] }}",
    "rpy_deg": "origin = { xyz = [1, 0, 0], rpy_deg = [90, 0, 0] }",
    "rotation": "origin = { xyz = [1, 0, 0], rotation = [[1, 0, 0], [0, 0, -1], [0, 1, 0]] }",
    "pose": f"origin = {{ pose = {QUARTER} }}",
}


@pytest.mark.parametrize("text", SAME_POSES.values(), ids=SAME_POSES)
def test_a_pose_can_be_written_in_four_ways(text):
    assert read(arm(text)).structure.joints[0].origin.tolist() == QUARTER


def test_dh_rows_make_the_robot_of_from_dh():
    text = """
    name = "r"
    convention = "standard"
    base = { rpy_deg = [90, 0, 0] }
    notes = ["from a drawing"]
    [tool]
    xyz = [0, 0, 0.1]
    [payload]
    mass = 3
    [[dh]]
    d = 0.2
    alpha_deg = 90
    mass = 2
    com = [0.1, 0, 0]
    inertia = [0.1, 0.1, 0.1]
    friction = { coulomb = 0.5 }
    rotor = { inertia = 1e-4, ratio = 100 }
    motor = { resistance = 2, torque_constant = 0.1, voltage_limit = 24, inertia = 1e-4, name = "M7" }
    limits = { upper = 2 }
    [[dh]]
    type = "prismatic"
    name = "slide"
    link = "rod"
    theta = 0.3
    mass = 1
    inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
    [[dh.body]]
    name = "motor"
    mass = 0.5
    """
    robot = read(text)
    assert robot.joint_names == ("joint1", "slide")
    assert (robot.tool.link, robot.tool.pose[2, 3], robot.parameters.payload.mass) == ("rod", 0.1, 3.0)
    assert robot.link("rod").bodies[0].mass == 0.5
    assert robot.parameters.rotors == {"joint1": Rotor(1e-4, 100)}
    assert robot.parameters.motors == {"joint1": Motor(2, 0.1, voltage_limit=24, inertia=1e-4, name="M7")}
    assert robot.notes == ("from a drawing",)
    rows = [{"d": 0.2, "alpha": math.pi / 2}, {"type": "P", "theta": 0.3}]
    with pytest.warns(DalembertWarning):
        same = from_dh(rows, convention="standard", base=[[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    for joint, expected in zip(robot.structure.joints, same.structure.joints, strict=True):
        assert np.array_equal(joint.origin, expected.origin)
        assert np.array_equal(joint.child_origin, expected.child_origin)


def test_the_examples_of_the_reference_page_are_robots():
    page = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "robot_file.md").read_text()
    examples = [text for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if text.startswith("name")]
    assert [read(text).n for text in examples] == [1, 2]


REFUSED = {
    "not toml": ("name = \n", r"f\.toml:1: not TOML: "),
    "cut short": ('name = "r"\n[[link]]\nname = "a', r"f\.toml:3: not TOML: "),
    "no name": (LINKS, r"f\.toml: 'name' is missing"),
    "no links": ('name = "r"', r"f\.toml: robot: no links found"),
    "number for name": ("name = 3", r"f\.toml:1: name = 3 found, a string expected"),
    "unknown key": (arm(top="gravty = [0, 0, 0]"), r"f\.toml:2: key 'gravty' is not known; did you mean 'gravity'\?"),
    "unknown link key": (
        arm(links=LINKS.replace("mass", "masss")),
        r"f\.toml:8: link 'arm': key 'masss' is not known; did you mean 'mass'",
    ),
    "unknown joint key": (arm("axes = [0, 0, 1]"), r"f\.toml:17: joint 'j': key 'axes' is not known; did you mean 'axis'\?"),
    "unknown origin key": (arm("origin = { xzy = [0, 0, 1] }"), r"joint 'j': origin: key 'xzy' is not known; did you mean 'xyz'"),
    "unknown friction key": (arm("friction = { viscosity = 1 }"), r"joint 'j': friction: key 'viscosity' is not known"),
    "unknown type": (arm().replace("revolute", "revolut"), r"f\.toml:14: joint 'j': type: 'revolut' is not known; did you mean"),
    "format": (arm(top='format = "dalembert-robot-9"'), r"format 'dalembert-robot-9' found, 'dalembert-robot-1' or .* expected"),
    "string mass": (arm(links=LINKS.replace("= 2", '= "2"')), r"f\.toml:8: link 'arm': mass: '2' found, a number expected"),
    "true mass": (arm(links=LINKS.replace("= 2", "= true")), r"link 'arm': mass: True found, a number expected"),
    "nan mass": (arm(links=LINKS.replace("= 2", "= nan")), r"f\.toml:8: link 'arm': mass: nan found; a finite number"),
    "infinite mass": (arm(links=LINKS.replace("= 2", "= inf")), r"f\.toml:8: link 'arm': mass: inf found; a finite number"),
    "huge integer": (arm(links=LINKS.replace("= 2", "= 1" + "0" * 400)), r"link 'arm': mass: the integer is too large"),
    "short com": (
        arm(links=LINKS.replace("[0.1, 0, 0]", "[0.1, 0]")),
        r"link 'arm': com: shape \(2,\) found, 3 numbers expected",
    ),
    "ragged": (
        arm(links=LINKS.replace("[0.1, 0.2, 0.25]", "[[1, 0, 0], [0, 1], [0]]")),
        r"inertia: rows of different length found",
    ),
    "skew": (
        arm(links=LINKS.replace("[0.1, 0.2, 0.25]", "[[1, 1, 0], [0, 1, 0], [0, 0, 1]]")),
        r"link 'arm': inertia: .* not symmetric",
    ),
    "infinite rpy": (arm("origin = { rpy = [inf, 0, 0] }"), r"joint 'j': origin: rpy: \[inf,.*contains NaN or infinity"),
    "two rotations": (
        arm("origin = { rpy = [0, 0, 0], rpy_deg = [0, 0, 0] }"),
        r"joint 'j': origin: the orientation is given twice",
    ),
    "not a rotation": (
        arm("origin = { rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 2]] }"),
        r"f\.toml:17: joint 'j': origin: .* not a rotation",
    ),
    "origin is a list": (arm("origin = [0, 0, 1]"), r"f\.toml:17: joint 'j': origin = \[0, 0, 1\] found, a table expected"),
    "one link": ('name = "r"\nlink = { name = "a" }', r"f\.toml:2: link: dict found, a list of tables expected"),
    "rotor": (arm("rotor = { ratio = 100 }"), r"f\.toml:17: joint 'j': rotor: 'inertia' is missing"),
    "idle rotor field": (arm("rotor = { inertia = 1, mass = 1 }"), r"f\.toml:17: joint 'j': rotor: mass, .* have no effect"),
    "motor key": (
        arm("motor = { resistence = 1 }"),
        r"f\.toml:17: joint 'j': motor: key 'resistence' is not known; did you mean",
    ),
    "motor": (arm("motor = { resistance = -1 }"), r"f\.toml:17: joint 'j': motor: resistance -1 found; a positive number"),
    "motor text": (arm('motor = { ratio = "60" }'), r"f\.toml:17: joint 'j': motor: ratio: '60' found, a number expected"),
    "motor inertia": (
        arm("motor = { inertia = 1e-4 }"),
        r"f\.toml:17: motor of joint 'j': inertia 0\.0001 kg m² found, but the joint has no rotor",
    ),
    "limits": (arm("limits = { lower = 1, upper = 0 }"), r"f\.toml:17: joint 'j': limits: lower 1 is above upper 0"),
    "mimic": (arm('mimic = { joint = "k" }'), r"f\.toml:17: joint 'j': mimic of joint: 'k' is not known"),
    "undeclared link": (
        arm().replace('"base"\nchild', '"bas"\nchild'),
        r"f\.toml:15: joint 'j': parent link: 'bas' is not known; did you mean",
    ),
    "tool": (arm(top='tool = { link = "hand" }'), r"f\.toml:2: tool: link: 'hand' is not known"),
    "virtual": (arm(links=LINKS + "virtual = 1\n"), r"link 'arm': virtual = 1 found, true or false expected"),
    "notes": (arm(top="notes = [1]"), r"f\.toml:2: notes = \[1\] found, a list of strings expected"),
    "convention alone": (
        arm(top='convention = "standard"'),
        r"'convention' and 'base' belong to a robot given by \[\[dh\]\] rows",
    ),
    "dh and links": (arm(top="dh = []"), r"\[\[dh\]\] rows and \[\[link\]\] tables found"),
    "empty dh": ('name = "r"\ndh = []', r"f\.toml:2: dh: the list is empty"),
    "no convention": ('name = "r"\n[[dh]]\na = 1', r"f\.toml: 'convention' is missing"),
    "bad convention": ('name = "r"\nconvention = "craig"\n[[dh]]\na = 1', r"f\.toml:2: convention: 'craig' is not known"),
    "dh key": (
        'name = "r"\nconvention = "standard"\n[[dh]]\nalfa = 1',
        r"f\.toml:4: dh 1: key 'alfa' is not known; did you mean 'alpha'",
    ),
    "angle twice": (
        'name = "r"\nconvention = "standard"\n[[dh]]\nalpha = 1\nalpha_deg = 1',
        r"dh 1: 'alpha' and 'alpha_deg' found",
    ),
}


@pytest.mark.parametrize("text, message", REFUSED.values(), ids=REFUSED)
def test_what_has_no_meaning_is_refused_with_the_file_and_the_table(text, message):
    with pytest.raises(FormatError, match=message):
        read(text)


def test_bytes_that_are_not_utf8_are_refused_with_their_line():
    with pytest.raises(FormatError, match=r"^f\.toml:2: byte 0xe9 is not UTF-8"):
        read_toml(b'name = "r"\nnotes = ["\xe9"]', source="f.toml")


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "{a = " * 100_000])
def test_endless_nesting_is_refused(text):
    with pytest.raises(FormatError, match="nested too deeply"):
        read(text)


@pytest.mark.parametrize("depth", [50, 200, 300, 400])
def test_deep_values_are_refused_as_any_other_value(depth):
    deep = "[" * depth + "]" * depth
    for key in ("gravity", "format", "notes", "link", "tool"):
        with pytest.raises(FormatError, match=rf"^f\.toml:2: {key}"):
            read(f"name = 'r'\n{key} = {deep}")


def test_an_integer_of_more_digits_than_python_reads_is_refused_with_its_line():
    with pytest.raises(FormatError, match=r"^f\.toml:2: not TOML: Exceeds the limit \(4300 digits\)"):
        read(f"name = 'r'\na = {'1' * 5000}")
    with pytest.raises(FormatError, match=r"^f\.toml:1: name = an integer of about 24083 digits found, a string expected"):
        read(f"name = 0x{'f' * 20_000}")
    with pytest.raises(FormatError, match=r"^f\.toml:2: format"):
        read(f"name = 'r'\nformat = '{'x' * 1_000_000}'")


@pytest.mark.parametrize(
    "key", [".".join("a" * 20_000), " . ".join(['"a"'] * 9000), ".".join(["'a'"] * 9000), f"[{'.'.join('b' * 20_000)}]\nx"]
)
def test_a_key_of_endless_parts_is_refused_at_once(key):
    start = time.process_time()
    with pytest.raises(FormatError, match=r"^f\.toml:2: key .* has more than 16 parts; a robot needs three"):
        read(f"# {'.'.join('a' * 100)}\n{key} = 1")
    assert time.process_time() - start < 1.0


def test_dots_in_strings_and_comments_are_no_keys():
    dots = ".".join("a" * 100)
    note = f"notes = [\"{dots}\", '{dots}', \"\"\"{dots}\n{dots}\"\"\", '''{dots}''']  # {dots}"
    assert read(arm(top=note)).notes[0] == dots


def test_a_byte_order_mark_is_passed_over():
    assert read("\ufeff" + arm()).n == read(b"\xef\xbb\xbf" + arm().encode()).n == 1
    with pytest.raises(FormatError, match=r"^f\.toml:1: byte 0xff is not UTF-8 text"):
        read(arm().encode("utf-16"))


@pytest.mark.parametrize("name", ["it's", 'a"b', "a: b", "a', 'b", "[x]", "link 'z'", "\\", "é"])
def test_any_name_leads_to_the_right_line(name):
    quoted = json.dumps(name, ensure_ascii=False)
    stray = f"[[link]]\nname = {quoted}\n"
    with pytest.raises(FormatError, match=r"2 roots found") as caught:
        read(arm(links=LINKS + stray))
    assert (caught.value.part, caught.value.line) == (Part("link", name), 11)
    text = arm("limits = { lower = 1, upper = 0 }").replace('name = "j"', f"name = {quoted}")
    with pytest.raises(FormatError, match=r"lower 1 is above upper 0") as caught:
        read(text)
    assert (caught.value.part, caught.value.line) == (Part("joint", name), 17)
    assert str(caught.value).count(f"joint {name!r}") == 1


def test_a_warning_has_the_line_of_its_part():
    with pytest.warns(DalembertWarning, match=r"^f\.toml:17: joint 'j': home 90 rad is beyond two full turns") as caught:
        read(arm("home = 90"))
    assert (caught[0].message.file, caught[0].message.line, caught[0].message.part) == ("f.toml", 17, Part("joint", "j"))
    with pytest.warns(DalembertWarning, match=r"^f\.toml:8: link 'arm': mass -2 kg"):
        read(arm(links=LINKS.replace("mass = 2", "mass = -2")))


def test_a_bad_row_is_refused_with_its_line():
    text = 'name = "r"\nconvention = "standard"\n[[dh]]\na = 1\n[[dh]]\na = 1\ninertia = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]\n'
    with pytest.raises(FormatError, match=r"^f\.toml:7: link 'link2': inertia: .* is not symmetric") as caught:
        read(text)
    assert caught.value.part == Part("row", "2")


def test_a_name_that_stands_twice_is_refused_with_both_lines():
    with pytest.raises(FormatError, match=r"^f\.toml:11: link 'arm': the link name 'arm' stands twice, first on line 6\. Rename"):
        read(arm(links=LINKS + '[[link]]\nname = "arm"\n'))
    rows = '[[dh]]\nname = "j"\na = 1\n' * 2
    with pytest.raises(FormatError, match=r"^f\.toml:6: dh 'j': the joint name 'j' stands twice, first on line 3"):
        read(f'name = "r"\nconvention = "standard"\n{rows}')


def test_in_a_text_of_many_megabytes_no_line_is_looked_for():
    with pytest.raises(FormatError, match=r"^f\.toml: format = 3 found"):
        read(f"name = 'r'\nformat = 3\n#{'x' * 5_000_000}")


def test_a_missing_convention_names_the_choices():
    with pytest.raises(
        FormatError, match=r"^f\.toml: 'convention' is missing\. Choices: 'standard' for A = Rz.*, 'modified' for A"
    ):
        read('name = "r"\n[[dh]]\na = 1')


def test_what_is_unphysical_warns_again_when_a_saved_robot_is_read():
    with pytest.warns(DalembertWarning, match="negative"):
        robot = Robot.from_parts(
            "r",
            [Link("base"), Link("arm", 1.0, (0.1, 0, 0))],
            [Joint("j", "revolute", "base", "arm")],
            friction={"j": Friction(-1.0)},
        )
    text = write_toml(robot)
    with pytest.warns(DalembertWarning, match="negative"):
        assert read(text).notes == robot.notes
    with pytest.raises(FormatError, match=r"^f\.toml:16: joint 'j': viscous friction -1 is negative"):
        read(text, strict=True)


def test_an_angle_that_looks_like_degrees_warns_with_its_line():
    text = 'name = "r"\nconvention = "standard"\n[[dh]]\nalpha = 90\nmass = 1.0\ncom = [0.1, 0, 0]\n'
    with pytest.warns(DalembertWarning) as caught:
        read(text)
    warning = next(w.message for w in caught if w.message.code == "large-angle")
    assert (warning.file, warning.part.kind) == ("f.toml", "row")
    assert str(warning).startswith("f.toml:4: joint 'joint1': alpha 90 rad")
    with pytest.raises(FormatError, match=r"^f\.toml:4: joint 'joint1': alpha 90 rad"):
        read(text, strict=True)
