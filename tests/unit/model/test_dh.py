"""Denavit-Hartenberg tables."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli import check
from dalembert.errors import DalembertWarning, ModelError, UnknownNameError
from dalembert.model import Body, Friction, Joint, Limits, Robot, Rotor, physical
from dalembert.model.dh import dh_transform, from_dh

HEAVY = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def rx(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rz(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def shift(x: float, z: float) -> np.ndarray:
    X = np.eye(4)
    X[0, 3], X[2, 3] = x, z
    return X


def product(convention: str, theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    if convention == "standard":
        return rz(theta) @ shift(0, d) @ shift(a, 0) @ rx(alpha)
    return rx(alpha) @ shift(a, 0) @ rz(theta) @ shift(0, d)


def across(joint: Joint, q: float) -> np.ndarray:
    """X_PB(q) of a joint about or along z."""
    motion = rz(q + joint.home) if joint.turns else shift(0, q + joint.home)
    return joint.origin @ motion @ joint.child_origin


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_transform_is_the_product_of_its_four_motions(convention: str) -> None:
    for row in np.random.default_rng(3).uniform(-2, 2, (20, 4)):
        np.testing.assert_allclose(dh_transform(convention, *row), product(convention, *row), atol=1e-15)


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_moves_its_link_by_the_row_with_q_added(convention: str, kind: str) -> None:
    theta, d, a, alpha = 0.3, 0.4, 0.5, -0.7
    row = {"type": kind, "theta": theta, "d": d, "a": a, "alpha": alpha, "home": 0.2, **HEAVY}
    joint = from_dh([row], convention=convention).structure.joints[0]
    q = 0.9
    moved = (theta + q + 0.2, d) if kind == "revolute" else (theta, d + q + 0.2)
    np.testing.assert_allclose(across(joint, q), product(convention, *moved, a, alpha), atol=1e-15)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_right_angles_give_exact_zeros_and_ones(convention: str) -> None:
    for k in range(-4, 5):
        for crumb in (0.0, 5e-10, -5e-10):
            R = dh_transform(convention, k * math.pi / 2 + crumb, 0, 0, -k * math.pi / 2 + crumb)[:3, :3]
            assert set(np.unique(R)) <= {-1.0, 0.0, 1.0}


def test_an_angle_a_little_off_a_right_angle_stays_as_given() -> None:
    assert dh_transform("standard", 1.5708, 0, 0, 0)[0, 0] == math.cos(1.5708)


def test_the_convention_has_no_default() -> None:
    with pytest.raises(TypeError, match="convention"):
        from_dh([HEAVY])  # type: ignore[call-arg]


def test_an_unknown_convention_names_the_near_match() -> None:
    with pytest.raises(UnknownNameError, match=r"^convention: 'modifed' is not known; did you mean 'modified'\?"):
        from_dh([HEAVY], convention="modifed")
    with pytest.raises(UnknownNameError, match="convention"):
        dh_transform("craig", 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([HEAVY, {"alhpa": 1.0}], r"^row 2: column: 'alhpa' is not known; did you mean 'alpha'\?"),
        ([{"type": "revolut"}], r"^row 1: type: 'revolut' is not known; did you mean 'revolute'\?"),
        ([], r"^rows: the table is empty"),
        ([(0, 0, 0, 0)], r"^row 1: \(0, 0, 0, 0\) found; a mapping"),
        ([{"friction": 0.1}], r"^row 1: friction: 0\.1 found; a Friction\(\.\.\.\) is expected"),
        ([{"rotor": 0.1}], r"^row 1: rotor: 0\.1 found; a Rotor"),
        ([{"limits": (0, 1)}], r"^row 1: limits: \(0, 1\) found; a Limits"),
        ([{"bodies": ["motor"]}], r"^row 1: bodies: 'motor' found; a Body"),
        ([{"d": "long"}], r"^joint 'joint1': d: 'long' is not a number"),
        ([{"a": math.nan}], r"^joint 'joint1': a: nan found"),
        ([{"alpha": 1.0, "alpha_deg": 90}], r"^joint 'joint1': 'alpha' and 'alpha_deg' found; the angle is given twice"),
        ([{"theta_deg": "90"}], r"^joint 'joint1': theta_deg: '90' is not a number"),
        ([{"alpha_grad": 1.0}], r"^row 1: column: 'alpha_grad' is not known.*theta_deg, alpha_deg\."),
        ([{"name": b"j"}], r"^row 1: name: b'j' found; each needs a non-empty name"),
        (3, r"^rows: 3 found; a sequence of mappings, one per joint, is expected"),
        ([{"inertia": (1, 2, 3, 4, 5, 6)}], r"^link 'link1': diagonal of inertia: shape \(6,\) found, \(3,\) expected"),
        ([{"inertia": 0.2}], r"^link 'link1': inertia: shape \(\) found, \(3, 3\) expected"),
    ],
)
def test_a_table_that_has_no_meaning_is_refused(rows: list[Any], sentence: str) -> None:
    with pytest.raises((ModelError, UnknownNameError), match=sentence):
        from_dh(rows, convention="standard")


def test_every_column_arrives() -> None:
    friction, rotor, limits, motor = Friction(0.1), Rotor(0.01, 50.0), Limits(-1, 1), Body("motor", 0.5)
    row = {
        "type": "P",
        "name": "slide",
        "link": "boom",
        "mass": 2.0,
        "com": (0, 0, 0.1),
        "inertia": np.diag([1, 1, 0.5]),
        "bodies": [motor],
        "friction": friction,
        "rotor": rotor,
        "limits": limits,
        "home": 0.25,
    }
    robot = from_dh([row], convention="modified", name="toy", gravity=(0, -9.81, 0), payload=Body("payload", 1.0))
    joint, boom = robot.structure.joint("slide"), robot.link("boom")
    assert (joint.type, joint.limits, joint.home, joint.child) == ("prismatic", limits, 0.25, "boom")
    assert (boom.mass, boom.bodies, boom.inertia[2, 2]) == (2.0, (motor,), 0.5)
    assert (robot.parameters.friction, robot.parameters.rotors) == ({"slide": friction}, {"slide": rotor})
    assert robot.parameters.payload is not None
    assert robot.gravity.tolist() == [0, -9.81, 0]


def test_default_names_count_from_one() -> None:
    robot = from_dh([HEAVY, HEAVY], convention="standard")
    assert robot.link_names == ("base", "link1", "link2")
    assert robot.joint_names == ("joint1", "joint2")


def test_a_tool_pose_is_carried_by_the_last_link() -> None:
    robot = from_dh([HEAVY, HEAVY], convention="standard", tool=shift(0, 0.1))
    assert robot.tool is not None
    assert (robot.tool.link, robot.tool.pose[2, 3]) == ("link2", 0.1)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_base_placement_moves_the_first_joint_alone(convention: str) -> None:
    base = rz(0.3) @ shift(1.0, 2.0)
    row = {"d": 0.1, "a": 0.2, "alpha": 0.4, **HEAVY}
    plain, placed = (from_dh([row, row], convention=convention, base=X).structure.joints for X in (None, base))
    np.testing.assert_allclose(across(placed[0], 0.5), base @ across(plain[0], 0.5), atol=1e-15)
    assert placed[1] == plain[1]


def test_strict_reaches_the_robot() -> None:
    with pytest.raises(ModelError, match="mass -1 kg"):
        from_dh([{"mass": -1.0, "inertia": (1, 1, 1)}], convention="standard", strict=True)


def test_a_row_s_empty_column_is_the_same_as_none() -> None:
    assert from_dh([{**HEAVY, "limits": None, "theta": None}], convention="standard") == from_dh([HEAVY], convention="standard")


def test_a_robot_from_a_table_is_a_plain_robot() -> None:
    assert type(from_dh([HEAVY], convention="standard")) is Robot


def test_angles_in_degrees_have_columns_of_their_own() -> None:
    rows = [HEAVY | {"theta_deg": 30, "alpha_deg": -90}, HEAVY | {"theta": math.radians(30), "alpha": -math.pi / 2}]
    for convention in ("standard", "modified"):
        first, second = (from_dh([row], convention=convention) for row in rows)
        assert first == second


@pytest.mark.parametrize("column", ["alpha", "theta"])
def test_an_angle_beyond_two_turns_warns_once_and_is_found_again(column: str) -> None:
    with pytest.warns(DalembertWarning) as caught:
        robot = from_dh([HEAVY | {column: 90}], convention="standard")
    assert [w.message.code for w in caught] == ["large-angle"]  # type: ignore[union-attr]
    sentence = f"joint 'joint1': {column} 90 rad is beyond two full turns (4π). Is it in degrees? Then call it {column}_deg."
    assert str(caught[0].message) == sentence
    assert caught[0].filename == __file__
    for again in (robot, pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot), robot.with_gravity((0, 0, 0))):  # warns no more
        assert [(finding.code, finding.message) for finding in physical.findings(again)] == [("large-angle", sentence)]
        assert again.notes == (sentence,)
    with pytest.raises(ModelError, match="beyond two full turns"):
        robot.replace(strict=True)


def test_an_angle_in_degrees_in_a_file_is_reported_and_stays_in_what_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text('name = "arm"\nconvention = "standard"\n[[dh]]\na = 0.5\nalpha = 90\nmass = 1.0\n')
    with pytest.warns(DalembertWarning, match=r"arm\.toml.*joint 'joint1': alpha 90 rad is beyond two full turns"):
        robot = dal.load(path)
    record = check.record(robot)
    assert [finding["code"] for finding in record["findings"]] == ["large-angle"]  # type: ignore[attr-defined]
    assert "large-angle" not in record["checks_passed"]  # type: ignore[operator]
    assert record["notes"] == []
    dal.save(robot, tmp_path / "again.toml")
    assert dal.load(tmp_path / "again.toml").notes == robot.notes


def test_an_angle_beyond_two_turns_is_an_error_under_strict() -> None:
    with pytest.raises(ModelError, match=r"^joint 'joint1': alpha 90 rad is beyond two full turns"):
        from_dh([HEAVY | {"alpha": 90}], convention="standard", strict=True)
    assert from_dh([HEAVY | {"alpha": 4 * math.pi, "theta": -4 * math.pi}], convention="standard", strict=True).notes == ()
