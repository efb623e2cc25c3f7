"""Loops that URDF cannot express: a file beside it names them; models of other programs are refused with the loops named."""

from __future__ import annotations

import os
import re
import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning, FormatError
from tests.shared import SHARED, needs_shared
from tests.unit.formats.test_mechanism_files import INERTIA

PARALLEL = SHARED / "data" / "models" / "parallel"
MJCF = SHARED / "data" / "models" / "mjcf"
LINK = f'<link name="{{}}"><inertial><mass value="1"/>{INERTIA}</inertial></link>'
JOINT = (
    '<joint name="{0}" type="{4}"><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="{3} 0 0" rpy="0 0 {5}"/><axis xyz="0 0 1"/></joint>'
)
FIVE_BAR = (
    '<robot name="five_bar"><link name="ground"/>'
    + "".join(map(LINK.format, ("left", "left_rod", "right", "right_rod")))
    + '<link name="left_tip"/><link name="right_tip"/>'
    + JOINT.format("motor1", "ground", "left", 0, "continuous", 2.0)
    + JOINT.format("left_elbow", "left", "left_rod", 0.3, "continuous", -1.028)
    + JOINT.format("tip_a", "left_rod", "left_tip", 0.4, "fixed", 0)
    + JOINT.format("motor2", "ground", "right", 0.2, "continuous", 1.1416)
    + JOINT.format("right_elbow", "right", "right_rod", 0.3, "continuous", 1.028)
    + JOINT.format("tip_b", "right_rod", "right_tip", 0.4, "fixed", 0)
    + "</robot>"
)
LOOPS = "closed_loop: [['tip_a', 'tip_b']]\ntype: ['3d']\nname_mot: ['motor1', 'motor2']\n"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load the five-bar with such a file beside it: what was found, and what was warned of."""
    monkeypatch.chdir(tmp_path)

    def loaded(loops, **options):
        (tmp_path / "five_bar.urdf").write_text(FIVE_BAR)
        if loops is not None:
            (tmp_path / "five_bar.yaml").write_text(loops)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = dal.load("five_bar.urdf", **options)
        return found, [str(warning.message) for warning in told if warning.message.code != "massless-link"]

    return loaded


def test_a_urdf_file_alone_is_an_open_tree(load):
    found, told = load(None)
    assert isinstance(found, dal.Robot)
    assert told == []


def test_with_its_loops_beside_it_it_is_a_mechanism(load):
    found, told = load(LOOPS)
    assert isinstance(found, dal.Mechanism)
    assert (found.joint_names, found.actuated) == (("motor1", "motor2"), ("motor1", "motor2"))
    assert found.closures == (dal.Closure("tip_a-tip_b", "spherical", ("left_tip", "right_tip")),)
    x = dal.forward_kinematics(found.robot, found.seed, link="left_tip")[:3, 3]
    y = dal.forward_kinematics(found.robot, found.seed, link="right_tip")[:3, 3]
    assert x == pytest.approx(y, abs=1e-12)
    assert told == []


def test_joints_are_added_where_there_are_more_freedoms_than_drives(load):
    found, told = load(LOOPS.replace(", 'motor2'", ""))
    assert found.joint_names[0] == "motor1"
    assert found.n == 2
    assert found.actuated == ("motor1",)
    assert told == [
        "five_bar.yaml:1: mechanism 'five_bar': 2 freedoms found, but 1 joints with a drive (motor1), so "
        f"{found.joint_names[1]} became a coordinate too."
    ]


@pytest.mark.parametrize("text", ["a: 1\n", "robot: five_bar\nlist:\n  - x\n", "", "\xff\xfe", "x" * 200_000])
def test_another_file_beside_it_is_left_alone(load, text):
    found, told = load(text)
    assert isinstance(found, dal.Robot)
    assert told == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here")
def test_a_file_beside_it_that_cannot_be_read_is_mentioned(load, tmp_path):
    (tmp_path / "five_bar.yaml").write_text(LOOPS)
    (tmp_path / "five_bar.yaml").chmod(0)
    found, told = load(None)
    assert isinstance(found, dal.Robot)
    assert "cannot be read" in told[0]


NOT_UNDERSTOOD = {
    "unknown frame": (LOOPS.replace("tip_b", "tip_c"), r"five_bar\.yaml:1: frame: 'tip_c' is not known; did you mean 'tip_\w'\?"),
    "unknown type": (LOOPS.replace("3d", "4d"), r"five_bar\.yaml:1: type: '4d' is not known"),
    "unknown motor": (LOOPS.replace("motor2", "motor3"), r"five_bar\.yaml:1: name_mot: 'motor3' is not known"),
    "another key": (LOOPS + "gear_ratio: [10]\n", r"five_bar\.yaml:4: key 'gear_ratio' is not understood"),
    "types": (LOOPS.replace("['3d']", "[]"), r"five_bar\.yaml:1: closed_loop: a list of pairs and as many types"),
    "more of YAML": (LOOPS + "name: {a: 1}\n", r"five_bar\.yaml:4: '\{' found, lists of words expected"),
    "indented": (LOOPS + "  - x\n", r"five_bar\.yaml:4: '  - x' found, a key with a list expected"),
    "twice": (LOOPS + LOOPS, r"five_bar\.yaml:4: key 'closed_loop' stands twice"),
}


@pytest.mark.parametrize("case", NOT_UNDERSTOOD)
def test_loops_that_are_not_understood_are_named_in_a_warning_or_refused(load, case):
    text, sentence = NOT_UNDERSTOOD[case]
    found, told = load(text)
    assert isinstance(found, dal.Robot)
    assert len(told) == 1
    assert re.match(sentence, told[0])
    assert re.search(r" The robot was loaded as an open tree\. Not closed: tip_a – tip_\w\.$", told[0])
    with pytest.raises(FormatError, match=f"^{sentence}"):
        load(text, strict=True)


@pytest.mark.slow
def test_loops_that_cannot_be_closed_are_named_in_a_warning(load, monkeypatch):
    monkeypatch.setattr("tests.unit.formats.test_loops_beside.FIVE_BAR", FIVE_BAR.replace('xyz="0.2 0 0"', 'xyz="9 0 0"'))
    found, told = load(LOOPS)
    assert isinstance(found, dal.Robot)
    assert re.match(r"five_bar\.yaml:1: mechanism 'five_bar': closure 'tip_a-tip_b' cannot be met: .* stays off by", told[0])
    assert told[0].endswith("The robot was loaded as an open tree. Not closed: tip_a-tip_b.")
    with pytest.raises(FormatError, match=r"^five_bar\.yaml:1: mechanism 'five_bar': closure 'tip_a-tip_b' cannot be met"):
        load(LOOPS, strict=True)


def test_the_list_of_loops_may_go_on_over_lines(load):
    text = '---\n# loops\nclosed_loop: [\n  ["tip_a", tip_b], # meet\n]\ntype: [3D]\nname_mot: [motor1,\n motor2]\n'
    assert load(text)[0] == load(LOOPS)[0]


# models from elsewhere


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize(
    ("folder", "drives", "added"),
    [
        ("5bar_linkage", ("mot1", "mot2"), 1),
        ("5bar_linkage_iso3d", ("mot2", "mot1"), 0),
        ("robot_delta", ("mot1_rod1", "mot1_rod2"), 3),
    ],
)
def test_published_models_of_parallel_robots_are_closed(folder, drives, added):
    """The balls in which loops meet may spin where two joints carry each: a freedom each beside the drives."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DalembertWarning)
        found = dal.load(PARALLEL / folder / "robot.urdf")
    assert isinstance(found, dal.Mechanism)
    assert found.joint_names[:2] == drives == found.actuated
    assert found.n == 2 + added
    assert sum(warning.message.code == "added-coordinates" for warning in told) == (1 if added else 0)
    for closure in found.closures:
        a, b = (dal.forward_kinematics(found.robot, found.seed, link=link) for link in closure.links)
        assert np.abs(a - b)[:3, 3 if closure.type == "spherical" else 0 :].max() < 1e-9
    M = dal.mass_matrix(found, found.q0)
    assert np.linalg.eigvalsh(M).min() > 0


REFUSED = {
    PARALLEL
    / "gtdynamics_four_bar_linkage_pure.sdf": r"an SDF model, which is not supported\. Convert it to URDF first without j4,",
    MJCF
    / "robotiq_2f85__2f85.xml": r"a MuJoCo model .*<closure .*connect of right_follower and right_coupler, .*joint of right_driv",
    MJCF / "agility_cassie__cassie.xml": r"a MuJoCo model .*connect of left-plantar-rod and left-foot, ",
    MJCF / "kuka_iiwa_14__iiwa14.xml": r"a MuJoCo model \(MJCF\), which is not supported yet\. Convert it to URDF first\.$",
    SHARED
    / "data"
    / "models"
    / "malformed"
    / "gtdynamics_four_bar_two_parents.urdf": r"two parents.*close the loop with a Closure",
}


@needs_shared
@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_models_of_other_programs_are_refused_with_their_loops_named(path):
    with pytest.raises(FormatError, match=REFUSED[path]):
        dal.load(path)
