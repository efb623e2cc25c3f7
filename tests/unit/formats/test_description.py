"""`.json` descriptions and Denavit-Hartenberg tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dalembert.errors import DalembertWarning, FormatError, Part
from dalembert.formats.description import read_json
from dalembert.model import Friction, Limits, Robot, Rotor
from tests.link_poses import link_poses
from tests.shared import SHARED, needs_shared

LINK = {"type": "R", "d": 0.1, "a": 0.4, "mass": 2, "com": [0.1, 0, 0], "inertia": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
ROTOR = {"mass": 0.5, "Izz": 0.004, "Ixx": 0.002, "ratio": 80, "axis": [0, 0, 2], "position": [0, 0, 0.1]}
ROW = {
    "joint": "revolute",
    "theta": None,
    "d": 0.2,
    "a": 0.5,
    "alpha": 0.0,
    "offset": 0.3,
    "flip": False,
    "qlim": [-1, 2],
    "mass": 3.0,
    "com": [0, 0, 0.1],
    "inertia_com": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
    "Jm": 2e-4,
    "G": -60.0,
    "B": 1e-3,
    "Tc": [0.4, -0.5],
}


def read(content: object, **options) -> Robot:
    return read_json(json.dumps(content), source="f.json", **options)


def description(*links: dict, **more: object) -> dict:
    return {"convention": "standard", "links": list(links or [LINK]), **more}


def table(**changes: object) -> dict:
    return {"name": "t", "convention": "standard", "links": [{**ROW, **changes}]}


def test_a_bare_description_is_read():
    robot = read(description(gravity=[0, -9.81, 0]))
    assert (robot.name, robot.n, robot.gravity.tolist()) == ("robot", 1, [0, -9.81, 0])
    assert robot.structure.joints[0].child_origin[:3, 3].tolist() == [0.4, 0, 0.1]


def test_a_sample_case_is_read_by_its_input_and_named_by_its_id():
    robot = read({"id": "case", "kind": "serial", "input": {"robot": description(), "q": [0]}, "expected": {}})
    assert (robot.name, robot.n) == ("case", 1)


def test_rotor_friction_tool_and_payload_are_read():
    tool = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1]]
    robot = read(description({**LINK, "viscous": 0.3, "coulomb": 0.2, "rotor": ROTOR}, tool=tool, payload={"mass": 1.5}))
    assert robot.parameters.friction == {"joint1": Friction(0.3, 0.2)}
    assert robot.parameters.rotors == {"joint1": Rotor(0.004, 80, "full", 0.5, 0.002, (0, 0, 0.1), (0, 0, 1))}
    assert robot.tool.pose.tolist() == tool
    assert robot.parameters.payload.mass == 1.5


def test_angles_may_be_in_degrees():
    joint = read(description({**LINK, "alpha_deg": 90, "theta_deg": 180})).structure.joints[0]
    assert np.array_equal(joint.child_origin[:3, :3], [[-1, 0, 0], [0, 0, 1], [0, 1, 0]])
    with pytest.raises(FormatError, match=r"link 1: 'alpha' and 'alpha_deg' found; the angle is given twice"):
        read(description({**LINK, "alpha_deg": 90, "alpha": 1}))


def test_missing_columns_are_zero():
    robot = read(description({"type": "P", "mass": 1}))
    assert robot.structure.joints[0].type == "prismatic"
    assert np.array_equal(robot.structure.joints[0].child_origin, np.eye(4))


REFUSED = {
    "list": ([1], r"f\.json: a list found, an object with 'convention' and 'links' expected"),
    "mechanism": (
        {"kind": "mechanism", "input": {"mechanism": {}}},
        r"f\.json:1: 'chains' is missing",
    ),
    "bare mechanism": ({"chains": [], "coordinates": []}, r"f\.json:1: chains: the list is empty"),
    "no links": ({"convention": "standard"}, r"f\.json: 'links' is missing"),
    "no rows": ({"convention": "standard", "links": []}, r"f\.json: rows: the table is empty"),
    "no convention": ({"links": [LINK]}, r"f\.json: 'convention' is missing"),
    "bad convention": ({**description(), "convention": "craig"}, r"f\.json:1: convention: 'craig' is not known"),
    "unknown key": (description(tol=3), r"f\.json:1: key 'tol' is not known; did you mean 'tool'\?"),
    "unknown link key": (description({**LINK, "mas": 1}), r"f\.json:1: link 1: key 'mas' is not known; did you mean 'mass'\?"),
    "type": (description({**LINK, "type": "ball"}), r"f\.json:1: row 1: type: 'ball' is not known"),
    "rotor": (description({**LINK, "rotor": {"Izz": 1, "Iyy": 1}}), r"f\.json:1: link 1: rotor: key 'Iyy' is not known"),
    "rotor inertia": (description({**LINK, "rotor": {"mass": 1}}), r"f\.json:1: link 1: rotor: 'Izz' is missing"),
    "payload": (description(payload={"com": [0, 0, 0]}), r"f\.json:1: payload: 'mass' is missing"),
    "string": (description({**LINK, "a": "0.4"}), r"f\.json:1: link 1: a: '0.4' found, a number expected"),
    "nan": (description({**LINK, "a": float("nan")}), r"f\.json:1: link 1: a: nan found"),
    "not a list": (description() | {"links": {}}, r"f\.json:1: links: dict found, a list of tables expected"),
    "table key": (table(Gear=1), r"f\.json:1: link 1: key 'Gear' is not known"),
    "table limits": (table(qlim=[2, -1]), r"f\.json:1: link 1: limits: lower 2 is above upper -1"),
    "table joint": (table(joint="ball"), r"f\.json:1: row 1: type: 'ball' is not known"),
}


@pytest.mark.parametrize("content, message", REFUSED.values(), ids=REFUSED)
def test_what_has_no_meaning_is_refused_with_the_file_and_the_table(content, message):
    with pytest.raises(FormatError, match=message):
        read(content)


def test_text_that_is_not_json_is_refused_with_its_line():
    with pytest.raises(FormatError, match=r"^f\.json:2: not JSON: expecting value"):
        read_json('{"a":\n ]}', source="f.json")
    with pytest.raises(FormatError, match=r"byte 0xe9 is not UTF-8"):
        read_json(b'{"a": "\xe9"}', source="f.json")
    with pytest.raises(FormatError, match="nested too deeply"):
        read_json("[" * 100_000)


def test_what_python_itself_refuses_is_refused_in_our_words():
    with pytest.raises(FormatError, match=r"^f\.json:2: not JSON: Exceeds the limit \(4300 digits\)"):
        read_json('{"a":\n' + "1" * 5000 + "}", source="f.json")
    with pytest.raises(FormatError, match=r"^f\.json: key 'mass' stands twice in one object\. Keep one of the two"):
        read_json('{"links": [{"mass": 1, "mass": 2}]}', source="f.json")


@pytest.mark.parametrize("depth", [100, 500, 900, 980])
def test_deep_values_are_refused_as_any_other_value(depth):
    deep = "[" * depth + "]" * depth
    for key in ("name", "convention", "gravity", "tool", "payload", "links", "base"):
        given = {"convention": '"standard"', "links": '[{"type": "R"}]', key: deep}
        text = ",\n".join(f'"{name}": {value}' for name, value in given.items())
        with pytest.raises(FormatError, match=rf"^f\.json:\d: {key}|nested too deeply"):
            read_json(f"{{{text}}}", source="f.json")


def test_a_key_has_its_line():
    text = json.dumps(description({**LINK, "name": 'it\'s: "x"', "inertia": [1, "2", 3]}), indent=1)
    with pytest.raises(FormatError, match=r"inertia: '2' found, a number expected") as caught:
        read_json(text, source="f.json")
    assert '"inertia"' in text.splitlines()[caught.value.line - 1]
    assert caught.value.part == Part("row", "1")


def test_a_byte_order_mark_and_utf16_are_read():
    text = json.dumps(description())
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert read_json(text.encode(encoding)).n == 1
    assert read_json("\ufeff" + text).n == 1


def test_motor_data_of_a_table_are_reflected_to_the_joint():
    parameters = read(table()).parameters
    assert parameters.rotors == {"joint1": Rotor(2e-4, -60.0)}
    friction = parameters.friction["joint1"]
    assert friction.viscous == pytest.approx(1e-3 * 3600)
    assert (friction.coulomb, friction.coulomb_negative) == (pytest.approx(24.0), pytest.approx(30.0))


def test_offset_and_limits_of_a_table_are_read():
    joint = read(table()).structure.joints[0]
    assert joint.limits == Limits(-1, 2)
    assert joint.child_origin[:2, 0].tolist() == [np.cos(0.3), np.sin(0.3)]
    slide = read(table(joint="prismatic", theta=0.0, d=None)).structure.joints[0]
    assert slide.child_origin[2, 3] == 0.3


def test_a_flipped_joint_turns_the_other_way():
    plain, flipped = read(table()), read(table(flip=True))
    assert link_poses(flipped, {"joint1": 0.4})["link1"] == pytest.approx(link_poses(plain, {"joint1": -0.4})["link1"])


def test_remarks_of_a_table_become_notes():
    with pytest.warns(DalembertWarning, match="straight up"):
        robot = read(table() | {"note": "m1 is a guess", "configs": {"qz": [0]}, "gravity": [0, 0, 9.8], "source": "s"})
    assert robot.notes[0] == "f.json: m1 is a guess"
    assert "configs qz are not part of a robot" in robot.notes[1]
    assert "points straight up; kept as given" in robot.notes[2]
    assert robot.gravity.tolist() == [0, 0, 9.8]


def test_a_table_without_dynamics_gives_a_kinematic_robot_with_a_warning():
    bare = {**ROW, "mass": 0.0, "inertia_com": np.zeros((3, 3)).tolist(), "Jm": 0.0}
    with pytest.warns(DalembertWarning, match="only kinematics can be computed") as caught:
        read(table(**bare))
    assert caught[0].message.code == "no-dynamics"


def test_the_base_of_a_table_places_the_first_joint_without_crumbs():
    turned = [[1, 0, 0, 0], [0, 6.123233995736766e-17, -1, 0], [0, 1, 6.123233995736766e-17, 0], [0, 0, 0, 1]]
    origin = read(table() | {"base": turned}).structure.joints[0].origin
    assert origin[1].tolist() == [0, 0, -1, 0]


@needs_shared
def test_the_golden_case_with_full_rotors_is_read_as_it_was_computed():
    """Its mass matrix, by M = Σ m Jvᵀ Jv + Jwᵀ I Jw over links, payload and rotors."""
    case = json.loads((SHARED / "golden" / "samples" / "sample_serial_std_RPR.json").read_text())
    M = _mass_matrix(read(case), np.array(case["input"]["q"]))
    assert np.abs(M - case["expected"]["M"]).max() < case["tolerance"]


def _mass_matrix(robot: Robot, q: np.ndarray) -> np.ndarray:
    X = link_poses(robot, dict(zip(robot.joint_names, q, strict=True)))
    joints, names = robot.structure.joints, robot.link_names
    placed = [(X[link.name], k, link, None) for k, link in enumerate(robot.parameters.links)]
    placed.append((X[names[-1]] @ robot.tool.pose, robot.n, robot.parameters.payload, None))
    placed += [(X[joint.parent], i, robot.parameters.rotors[joint.name], i) for i, joint in enumerate(joints)]
    M = np.zeros((robot.n, robot.n))
    for X_WB, carried_by, body, driven in placed:
        R = X_WB[:3, :3]
        Jv, Jw = np.zeros((3, robot.n)), np.zeros((3, robot.n))
        com = X_WB[:3, 3] + R @ (body.com if driven is None else body.position)
        for i, joint in enumerate(joints[:carried_by]):
            X_WJ = X[joint.parent] @ joint.origin
            axis = X_WJ[:3, :3] @ joint.axis
            Jv[:, i] = np.cross(axis, com - X_WJ[:3, 3]) if joint.turns else axis
            Jw[:, i] = axis if joint.turns else 0
        I = body.inertia
        if driven is not None:
            Jw[:, driven] += body.ratio * R @ body.axis
            I = body.transverse_inertia * np.eye(3) + (body.inertia - body.transverse_inertia) * np.outer(body.axis, body.axis)
        M += body.mass * Jv.T @ Jv + Jw.T @ R @ I @ R.T @ Jw
    return M
