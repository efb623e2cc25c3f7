"""Each rule of the URDF reader, and each of its sentences."""

from __future__ import annotations

import math
import re
import time
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from dalembert.errors import DalembertWarning, FormatError, Part
from dalembert.formats.urdf import read_urdf

BODY = '<inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>'
LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="4"/>'


def urdf(inside: str = LIMIT, *, kind: str = "revolute", link: str = BODY, top: str = "") -> str:
    """A base and an arm on one joint; the joint's inside starts on line 5."""
    return f"""<robot name="r">
<link name="base"/>
<link name="arm">{link}</link>
<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/>
{inside}</joint>
{top}</robot>"""


def read(text: str, **options):
    return read_urdf(text, source="f.urdf", **options)


def joint_of(text: str):
    return read(text).structure.joints[0]


def test_the_name_the_links_and_the_joint_are_read():
    robot = read(urdf())
    assert (robot.name, robot.link_names, robot.joint_names, robot.notes) == ("r", ("base", "arm"), ("j",), ())


def test_a_missing_origin_is_identity_and_a_missing_axis_is_x():
    joint = joint_of(urdf())
    assert np.array_equal(joint.origin, np.eye(4))
    assert joint.axis.tolist() == [1, 0, 0]


def test_half_an_origin_is_completed_with_zeros():
    assert joint_of(urdf(f'<origin xyz="1 2 3"/>{LIMIT}')).origin[:3].tolist() == [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3]]
    turned = joint_of(urdf(f'<origin rpy="0 0 1.5707963267948966"/>{LIMIT}')).origin
    assert turned[:3].tolist() == [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]


def test_the_inertia_is_turned_out_of_the_axes_of_the_inertial_origin():
    link = BODY.replace("<mass", '<origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/><mass')
    arm = read(urdf(link=link)).link("arm")
    assert (arm.mass, arm.com.tolist()) == (2.0, [0.1, 0.2, 0.3])
    assert arm.inertia == pytest.approx(np.diag([0.2, 0.1, 0.25]), abs=1e-16)


def test_all_six_values_of_the_tensor_find_their_places():
    link = '<inertial><mass value="2"/><inertia ixx="1" ixy="0.1" ixz="0.2" iyy="1.1" iyz="0.3" izz="1.2"/></inertial>'
    assert read(urdf(link=link)).link("arm").inertia.tolist() == [[1, 0.1, 0.2], [0.1, 1.1, 0.3], [0.2, 0.3, 1.2]]


def test_an_axis_that_is_not_unit_is_scaled_with_a_note():
    robot = read(urdf(f'<axis xyz="0 0 2"/>{LIMIT}'))
    assert robot.structure.joints[0].axis.tolist() == [0, 0, 1]
    assert robot.notes == ("f.urdf:5: joint 'j': axis '0 0 2' has length 2 and was scaled to 1.",)


def test_a_zero_axis_is_ignored_on_a_fixed_joint():
    assert joint_of(urdf('<axis xyz="0 0 0"/>', kind="fixed")).type == "fixed"


def test_damping_is_viscous_and_friction_is_coulomb():
    friction = read(urdf(f'{LIMIT}<dynamics damping="0.5" friction="0.25"/>')).parameters.friction["j"]
    assert (friction.viscous, friction.coulomb, friction.coulomb_negative) == (0.5, 0.25, 0.25)


def test_limits_are_read():
    limits = joint_of(urdf()).limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (-1, 2, 30, 4)


def test_a_limit_of_1e30_means_none():
    limits = joint_of(urdf('<limit lower="-1e30" upper="1e30" effort="1e30" velocity="inf"/>')).limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (-math.inf, math.inf, math.inf, math.inf)


def test_continuous_is_one_coordinate_without_bounds():
    robot = read(urdf(kind="continuous"))
    assert robot.n == 1
    assert robot.structure.joints[0].limits.upper == math.inf
    assert "have no effect on a continuous joint" in robot.notes[0]


NOTED = {
    "no limit": ("", "revolute", r"no <limit>, though URDF requires one for type 'revolute'; read as unlimited"),
    "no range": ('<limit effort="1" velocity="1"/>', "prismatic", r"<limit> without lower and upper; read as unlimited"),
    "half a range": ('<limit upper="1" effort="1" velocity="1"/>', "revolute", r"with upper only; the other end is 0"),
    "no effort allowed": (
        '<limit lower="0" upper="1" effort="0" velocity="1"/>',
        "revolute",
        r"limit effort is 0.*kept as given",
    ),
    "no speed allowed": (
        '<limit lower="0" upper="1" effort="1" velocity="0"/>',
        "revolute",
        r"limit velocity is 0.*kept as given",
    ),
    "unknown in limit": (
        LIMIT.replace("<limit", '<limit drake:acceleration="3"'),
        "revolute",
        r"'drake:acceleration' of <limit>",
    ),
    "unknown in dynamics": (f'{LIMIT}<dynamics damping="0" mu_viscous="3"/>', "revolute", r"'mu_viscous' of <dynamics> is not"),
    "unknown in joint": (f"{LIMIT}<spring/>", "revolute", r"joint 'j': <spring> is not understood and has no effect"),
    "mimic on fixed": ('<mimic joint="k"/>', "fixed", r"<mimic> has no effect on a fixed joint"),
    "friction on fixed": ('<dynamics damping="1"/>', "fixed", r"<dynamics> has no effect on a fixed joint"),
}


@pytest.mark.parametrize("inside, kind, note", NOTED.values(), ids=NOTED)
def test_what_is_read_otherwise_than_expected_is_noted_with_its_line(inside, kind, note):
    notes = read(urdf(inside, kind=kind)).notes
    assert len(notes) == 1
    assert notes[0].startswith(("f.urdf:4: joint 'j': ", "f.urdf:5: joint 'j': "))
    assert re.search(note, notes[0])


@pytest.mark.parametrize("tag", ["visual", "collision"])
def test_geometry_is_passed_over_without_a_note(tag):
    assert read(urdf(link=f"{BODY}<{tag}><odd/></{tag}>", top="<gazebo/><material name='m'/>")).notes == ()


def test_safety_controller_and_calibration_are_passed_over():
    assert read(urdf(f'{LIMIT}<safety_controller k_velocity="1"/><calibration rising="0"/>')).notes == ()


def test_unknown_elements_of_robot_link_and_inertial_are_noted():
    link = BODY.replace("<mass", "<density/><mass") + "<self_collide/>"
    notes = " ".join(read(urdf(link=link, top="<force_element/>")).notes)
    assert all(f"<{tag}> is not understood" in notes for tag in ("density", "self_collide", "force_element"))


def test_a_reduction_without_a_rotor_is_noted_as_not_applied():
    transmission = '<transmission name="t"><actuator><mechanicalReduction>{}</mechanicalReduction></actuator></transmission>'
    assert read(urdf(top=transmission.format(1))).notes == ()
    assert "transmission 't': reduction 160 not applied" in read(urdf(top=transmission.format(160))).notes[0]
    rotor = '<transmission name="t"><actuator><drake:rotor_inertia value="1"/></actuator></transmission>'
    assert "<drake:rotor_inertia> not applied" in read(urdf(top=rotor)).notes[0]


FINGER = f"""<link name="finger">{BODY}</link>
<joint name="k" type="prismatic"><parent link="base"/><child link="finger"/>{LIMIT}{{}}</joint>"""


def test_mimic_is_a_coupling_and_no_coordinate():
    robot = read(urdf(top=FINGER.format('<mimic joint="j" multiplier="-2" offset="0.5"/>')))
    mimic = robot.structure.joint("k").mimic
    assert (robot.joint_names, mimic.joint, mimic.multiplier, mimic.offset) == (("j",), "j", -2.0, 0.5)
    assert read(urdf(top=FINGER.format('<mimic joint="j"/>'))).structure.joint("k").mimic.multiplier == 1.0


def test_a_planar_joint_is_two_slides_and_a_turn_about_its_axis():
    robot = read(urdf('<origin xyz="0 0 1"/><axis xyz="0 1 0"/><dynamics damping="1 1 1"/>', kind="planar"))
    assert robot.joint_names == ("j_x", "j_y", "j_turn")
    assert robot.structure.joint("j_turn").axis.tolist() == [0, 1, 0]
    assert robot.structure.joint("j_x").origin[2, 3] == 1
    assert "<dynamics> is not applied: a planar joint has several coordinates" in robot.notes[0]
    assert "type 'planar' read as the joints j_x, j_y, j_turn" in robot.notes[1]


def test_a_floating_joint_is_six_coordinates():
    assert read(urdf("", kind="floating")).n == 6


REFUSED_JOINTS = {
    "unknown type": (
        urdf(kind="revolut"),
        r":4: joint 'j': type 'revolut' is not known; did you mean 'revolute'\? Known: revolute",
    ),
    "no type": (urdf().replace(' type="revolute"', ""), r":4: joint 'j': <joint> has no attribute 'type'"),
    "no name": (urdf().replace('name="j" ', ""), r":4: joint: <joint> has no attribute 'name'"),
    "misspelled name": (urdf().replace('name="j"', 'nam="j"'), r"no attribute 'name', which is required. Is 'nam' misspelled\?"),
    "empty name": (urdf().replace('name="j"', 'name=""'), r":4: joint: name '' found"),
    "no parent": (urdf().replace('<parent link="base"/>', ""), r":4: joint 'j': <joint> has no <parent>"),
    "no child": (urdf().replace('<child link="arm"/>', ""), r":4: joint 'j': <joint> has no <child>"),
    "parent without link": (
        urdf().replace('<parent link="base"/>', "<parent/>"),
        r"joint 'j': parent: <parent> has no attribute 'link'",
    ),
    "undeclared": (
        urdf().replace('<parent link="base"/>', '<parent link="world"/>'),
        r""":4: joint 'j': parent link 'world' is not declared\. Add <link name="world"/> to the file\.""",
    ),
    "near miss": (
        urdf().replace('<child link="arm"/>', '<child link="am"/>'),
        r"Did you mean 'arm'\? If not, add <link name=\"am\"/>",
    ),
    "zero axis": (urdf('<axis xyz="0 0 0"/>'), r":4: joint 'j': axis \[0\., 0\., 0\.\] has no direction"),
    "nan axis": (urdf('<axis xyz="0 nan 1"/>'), r":5: joint 'j': axis: xyz='0 nan 1' contains NaN"),
    "two numbers": (
        urdf('<axis xyz="0 1"/>'),
        r":5: joint 'j': axis: xyz='0 1' found, three numbers separated by spaces expected",
    ),
    "commas": (
        urdf('<origin xyz="0, 0, 1"/>'),
        r"'0,' is not a number; three numbers separated by spaces expected\. Use a decimal",
    ),
    "words": (urdf('<origin xyz="0 0 up"/>'), r":5: joint 'j': origin: xyz: 'up' is not a number"),
    "empty vector": (urdf('<origin xyz=""/>'), r"xyz='' found, three numbers"),
    "underscore": (urdf('<limit lower="0" upper="1_000"/>'), r"upper: '1_000' is not a number"),
    "misspelled xyz": (
        urdf('<origin xzy="0 0 1"/>'),
        r"joint 'j': origin: attribute 'xzy' of <origin> is not known; did you mean 'xyz'\?",
    ),
    "second origin": (urdf("<origin/>\n<origin/>"), r":6: joint 'j': a second <origin> found"),
    "limits exchanged": (urdf('<limit lower="1" upper="-1"/>'), r":5: joint 'j': limits: lower 1 is above upper -1"),
    "nan limit": (urdf('<limit lower="nan" upper="1"/>'), r":5: joint 'j': limit: lower 'nan' found; a finite number"),
    "negative effort": (urdf('<limit lower="0" upper="1" effort="-1"/>'), r":5: joint 'j': limits: effort -1 is negative"),
    "infinite damping": (urdf(f'{LIMIT}<dynamics damping="inf"/>'), r"dynamics: damping 'inf' found; a finite number"),
    "mimic of nobody": (urdf(f'{LIMIT}<mimic joint="k"/>'), r":4: joint 'j': mimic of joint: 'k' is not known"),
    "mimic misspelled": (urdf(f'{LIMIT}<mimic joint="k" multiplyer="2"/>'), r"attribute 'multiplyer'.*did you mean 'multiplier'"),
    "mimic on planar": (urdf('<mimic joint="k"/>', kind="planar"), r":5: joint 'j': <mimic> has no meaning for type 'planar'"),
    "planar name taken": (
        urdf("", kind="planar", top='<link name="j_x"/>'),
        r":6: link 'j_x': the name stands twice, first on line 4",
    ),
    "twice": (urdf(top='<joint name="j" type="fixed"/>'), r":6: joint 'j': the name stands twice, first on line 4"),
    "extension": (urdf(top='<drake:joint name="b" type="ball"/>'), r":6: 'b': <drake:joint> is an extension of one simulator"),
}


@pytest.mark.parametrize("text, message", REFUSED_JOINTS.values(), ids=REFUSED_JOINTS)
def test_a_joint_without_meaning_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=rf"^f\.urdf.*{message}"):
        read(text)


REFUSED_LINKS = {
    "twice": (urdf(top='<link name="arm"/>'), r":6: link 'arm': the name stands twice, first on line 3"),
    "two roots": (urdf(top='<link name="stray"/>'), r":6: links 'base', 'stray': 2 roots found"),
    "two parents": (
        urdf(top='<joint name="k" type="fixed"><parent link="base"/><child link="arm"/></joint>'),
        r":3: link 'arm': it has two",
    ),
    "itself": (urdf().replace('<parent link="base"/>', '<parent link="arm"/>'), r":4: joint 'j': it joins link 'arm' to itself"),
    "loop": (
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="1" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="2" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
        r":1: robot: every link is the child of a joint",
    ),
    "no mass": (urdf(link=BODY.replace('<mass value="2"/>', "")), r":3: link 'arm': <inertial> has no <mass>"),
    "no mass value": (urdf(link=BODY.replace(' value="2"', "")), r":3: link 'arm': mass: <mass> has no attribute 'value'"),
    "heavy": (urdf(link=BODY.replace('"2"', '"heavy"')), r":3: link 'arm': mass: value: 'heavy' is not a number"),
    "nan mass": (urdf(link=BODY.replace('"2"', '"nan"')), r"link 'arm': mass: value 'nan' found; a finite number"),
    "no tensor": (urdf(link='<inertial><mass value="2"/></inertial>'), r":3: link 'arm': <inertial> has no <inertia>"),
    "no ixy": (urdf(link=BODY.replace('ixy="0" ', "")), r"link 'arm': inertia: <inertia> has no attribute 'ixy'"),
    "iyx": (urdf(link=BODY.replace("ixy", "iyx")), r"attribute 'iyx' of <inertia> is not known"),
    "no links": ('<robot name="r"/>', r":1: robot: no <link> found"),
    "no robot name": (urdf().replace(' name="r"', "", 1), r":1: robot: <robot> has no attribute 'name'"),
    "second inertial": (urdf(link=BODY + BODY), r":3: link 'arm': a second <inertial> found"),
}


@pytest.mark.parametrize("text, message", REFUSED_LINKS.values(), ids=REFUSED_LINKS)
def test_a_link_without_meaning_is_refused_with_its_line(text, message):
    with pytest.raises(FormatError, match=rf"^f\.urdf.*{message}"):
        read(text)


REFUSED_ROOTS = {
    "mjcf": ('<mujoco model="m"/>', r":1: root element: a MuJoCo model \(MJCF\), which is not supported yet"),
    "sdf": ("<sdf/>", r":1: root element: an SDF model, which is not supported"),
    "other": ("<html/>", r":1: root element: found <html>, <robot> expected"),
    "macro": (urdf(link="<xacro:body/>"), r":3: <xacro:body>: this is a xacro macro, not yet URDF\. Expand it first: xacro"),
    "expression": (urdf('<origin xyz="${a} 0 0"/>'), r":5: .*'\$\{a\}' is an unexpanded xacro expression\. Expand it first"),
    "argument": (urdf(link=BODY.replace('"2"', '"$(arg m)"')), r":3: .*is an unexpanded xacro expression"),
}


@pytest.mark.parametrize("text, message", REFUSED_ROOTS.values(), ids=REFUSED_ROOTS)
def test_another_kind_of_file_is_refused_with_a_remedy(text, message):
    with pytest.raises(FormatError, match=rf"^f\.urdf{message}"):
        read(text)


def test_what_is_unphysical_warns_and_is_refused_with_its_line_under_strict():
    text = urdf(link=BODY.replace('"2"', '"-2"'))
    with pytest.warns(DalembertWarning, match="link 'arm': mass -2 kg"):
        read(text)
    with pytest.raises(FormatError, match=r"^f\.urdf:3: link 'arm': mass -2 kg"):
        read(text, strict=True)


def test_a_chain_of_a_thousand_links_is_read():
    links = "".join(f'<link name="l{i}">{BODY}</link>' for i in range(1001))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(1000)
    )
    assert read(f'<robot name="long">{links}{joints}</robot>').n == 1000


@pytest.mark.parametrize("text", ["４", "1_000", "0x10", "1e", "--1", "1 2", "\u00a01", "١", "1.5f", "", "1e5.0", "1,5"])
def test_only_a_number_is_a_number(text):
    with pytest.raises(FormatError, match=r"^f\.urdf:3: link 'arm': mass: value: .* is not a number; a number expected"):
        read(urdf(link=BODY.replace('"2"', f'"{text}"')))


@pytest.mark.parametrize("text, value", [("+2", 2), (" 2.\n", 2), (".5", 0.5), ("2e-1", 0.2), ("1E1", 10)])
def test_a_number_may_be_written_in_these_ways(text, value):
    assert read(urdf(link=BODY.replace('"2"', f'"{text}"'))).link("arm").mass == value


@pytest.mark.parametrize("text", ["inf", "-Infinity", "nan", "1e999"])
def test_infinity_is_a_limit_and_nothing_else(text):
    with pytest.raises(FormatError, match=r"mass: value .* found; a finite number is expected"):
        read(urdf(link=BODY.replace('"2"', f'"{text}"')))


@pytest.mark.parametrize("name", ["it's", 'a"b', "a: b", "a', 'b", "link 'z'", "é"])
def test_any_name_leads_to_the_right_line(name):
    with pytest.raises(FormatError, match="2 roots found") as caught:
        read(urdf(top=f"<link name={quoteattr(name)}/>"))
    assert (caught.value.part, caught.value.line) == (Part("link", name), 6)
    with pytest.raises(FormatError, match="lower 1 is above upper 0") as caught:
        read(urdf('<limit lower="1" upper="0"/>').replace('name="j"', f"name={quoteattr(name)}"))
    assert (caught.value.part, caught.value.line) == (Part("joint", name), 5)
    assert str(caught.value).count(f"joint {name!r}") == 1


def test_a_warning_has_the_line_of_its_part():
    with pytest.warns(DalembertWarning, match=r"^f\.urdf:4: joint 'j': upper limit 90 rad is beyond two full turns"):
        read(urdf('<limit lower="0" upper="90"/>'))


def test_a_file_full_of_unknown_elements_gives_a_bounded_list_of_notes():
    notes = read(urdf(top="<odd/>" * 3000)).notes
    assert len(notes) == 1001
    assert notes[-1] == "f.urdf: 2000 more remarks were left out."


def test_messages_are_short_whatever_they_are_about():
    long = "x" * 1_000_000
    for text in (
        urdf(kind=long),
        urdf(f'<axis xyz="{long}"/>'),
        urdf(f'<axis {long}="1"/>'),
        urdf(f'{LIMIT}<mimic joint="{long}"/>'),
        urdf(link=BODY.replace('"2"', f'"{long}"')),
        urdf().replace('<child link="arm"/>', f'<child link="{long}"/>'),
        urdf(top=f'<a:joint name="{long}"/>'),
        f"<{long}/>",
    ):
        with pytest.raises(FormatError) as caught:
            read(text)
        assert len(str(caught.value)) < 2500


def test_a_chain_beside_a_loop_is_refused_at_once():
    def joint(name: str, parent: str, child: str) -> str:
        return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'

    chain = "".join(f'<link name="l{i}"/>{joint(f"j{i}", "base" if i == 0 else f"l{i - 1}", f"l{i}")}' for i in range(1500))
    loop = '<link name="a"/><link name="b"/>' + joint("x", "a", "b") + joint("y", "b", "a")
    start = time.process_time()
    with pytest.raises(FormatError, match="joint 'x': it closes a loop") as caught:
        read(f'<robot name="r"><link name="base"/>{chain}\n{loop}</robot>')
    assert caught.value.line == 2
    assert time.process_time() - start < 5.0
