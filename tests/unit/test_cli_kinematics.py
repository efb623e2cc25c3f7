"""`dalembert kinematics` and `dalembert ik`: tables, JSON, files, figures, and what is refused."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import dalembert as dal

Q = (0.3, -1.0, 1.2, -0.4, 0.8, 0.2)
AT = ("--q", *map(str, Q))


def write(path, heads, rows):
    path.write_text("\n".join([",".join(heads), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


def test_poses_of_all_links_and_the_jacobian_are_printed(run):
    code, out, err = run("kinematics", "ur5", *AT)
    assert (code, err) == (0, "")
    assert "Robot 'ur5': 6 joints (RRRRRR), 7 links, kinematics of the tool" in out
    assert "Poses in the world: place [m], roll, pitch, yaw [rad]" in out
    assert "Jacobian, joint by joint; largest singular value by the least: 11.34" in out
    assert sum(line.startswith(("base", "link", "tool")) for line in out.splitlines()) == 8


def test_kinematics_as_json_are_those_of_the_functions(run):
    code, out, _ = run("kinematics", "ur5", *AT, "--link", "link4", "--frame", "body", "--json")
    found, robot = json.loads(out), dal.load("ur5")
    assert (code, found["link"], found["frame"]) == (0, "link4", "body")
    assert np.allclose(found["pose"], dal.forward_kinematics(robot, Q, "link4"))
    assert np.allclose(found["J"], dal.jacobian(robot, Q, "link4", frame="body"))


def test_kinematics_of_a_table_of_states(run, tmp_path):
    names = [f"q_joint{k}" for k in range(1, 7)]
    states = write(tmp_path / "states.csv", names, [Q, np.zeros(6), np.full(6, 0.2)])
    code, out, err = run("kinematics", "ur5", "--states", states, "-o", str(tmp_path / "poses.csv"))
    assert (code, "written:" in err) == (0, True)
    assert "over all states" in out
    with open(tmp_path / "poses.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert float(rows[0]["x [m]"]) == pytest.approx(dal.forward_kinematics(dal.load("ur5"), Q)[0, 3])
    assert "J wz by joint1 [rad per rad]" in rows[0]


def test_a_pose_has_joint_positions(run):
    code, out, err = run("ik", "panda", "--position", "0.4", "0.2", "0.5", "--rpy", "180", "0", "20", "--degrees")
    assert (code, err) == (0, "")
    assert "1 of 1 pose reached" in out
    assert "left [rad]" in out


def test_positions_as_json_reach_the_pose(run):
    code, out, _ = run("ik", "panda", "--position", "0.4", "0.2", "0.5", "--q0", "0 -0.3 0 -1.8 0 1.6 0", "--json")
    found = json.loads(out)
    assert (code, found["success"], found["message"]) == (0, True, "Every pose was reached.")
    assert dal.forward_kinematics(dal.load("panda"), found["q"])[:3, 3] == pytest.approx([0.4, 0.2, 0.5], abs=1e-5)


def test_a_table_of_poses_becomes_a_table_of_positions(run, tmp_path):
    heads = ["x [mm]", "y [mm]", "z [mm]", "roll [deg]", "pitch [deg]", "yaw [deg]"]
    rows = [(400 + 5 * k, 100, 400, 180, 0, 10) for k in range(5)] + [(4000, 0, 0, 0, 0, 0)]
    poses = write(tmp_path / "poses.csv", heads, rows)
    code, out, err = run("ik", "panda", "--poses", poses, "--continuous", "-o", str(tmp_path / "q.csv"))
    assert code == 1
    assert "5 of 6 poses reached" in out
    assert "row 6 not reached; the nearest pose found is" in out
    assert "written:" in err
    with open(tmp_path / "q.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [row["reached"] for row in table] == ["1"] * 5 + ["0"]
    q = [float(table[2][f"q_joint{k} [rad]"]) for k in range(1, 8)]
    assert dal.forward_kinematics(dal.load("panda"), q)[:3, 3] == pytest.approx([0.41, 0.1, 0.4], abs=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "lead to this pose: it is out of reach, or beyond joint limits. Try --no-limits"),
        (("--no-limits",), "lead to this pose: it is out of reach. Without --all the nearest one is found."),
    ],
)
def test_no_solution_at_all_says_why(run, options, words):
    code, out, _ = run("ik", "ur5", "--position", "9", "0", "0", "--rpy", "0", "0", "0", "--all", *options)
    assert code == 1
    assert words in " ".join(out.split())


def test_all_solutions_are_printed(run):
    code, out, _ = run("ik", "ur5", "--position", "0.4", "0.2", "0.3", "--rpy", "0", "3.1", "0.2", "--all")
    assert code == 0
    assert "three parallel axes: 8 solutions" in out
    found = json.loads(run("ik", "scara", "--position", "0.3", "0.2", "0.1", "--rpy", "0", "0", "0", "--all", "--json").out)
    assert found["kind"] == "parallel axes"


def test_what_was_found_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    for command in (("kinematics", "ur5", *AT), ("ik", "ur5", "--position", "0.4", "0.2", "0.3")):
        code, _, err = run(*command, "--plot", str(tmp_path / f"{command[0]}.svg"))
        assert (code, "written:" in err) == (0, True)
        assert (tmp_path / f"{command[0]}.svg").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ik", "panda"), "--position: missing; three numbers are expected"),
        (("ik", "panda", "--position", "1", "2"), "--position: 2 numbers found, three are expected"),
        (("ik", "panda", "--position", "1 2 3", "--poses", "a.csv"), "--poses: found together with --position"),
        (("ik", "panda", "--position", "0.4 0 0.4", "--rpy", "0 0 0", "--all"), "'panda' has no closed form that is known here"),
        (("ik", "ur5", "--position", "0.4 0 0.4", "--all"), "--rpy: missing; all solutions of a whole pose"),
        (("ik", "ur5", "--position", "0.4 0 0.4", "--all", "--continuous"), "--continuous: found together with --all"),
        (("ik", "ur5", "--position", "0.4 0 0.4", "--link", "hand"), "link: 'hand' is not known"),
        (("ik", "ur5", "--position", "0.4 0 0.4", "--tolerance", "0"), "tolerance: 0 found"),
        (("kinematics", "ur5", "--link", "hand"), "link: 'hand' is not known"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(run, arguments, words):
    code, _, err = run(*arguments)
    assert code == 1
    assert words in err


def test_a_table_without_places_is_refused_with_its_name(run, tmp_path):
    path = write(tmp_path / "poses.csv", ["x", "y", "roll"], [(1, 2, 3)])
    code, _, err = run("ik", "panda", "--poses", path)
    assert code == 1
    assert "poses.csv: no column 'z' found; x, y, z, roll, pitch, yaw are expected" in " ".join(err.split())


def test_a_position_that_is_not_finite_is_named_with_its_joint(run):
    code, out, err = run("kinematics", "ur5", "--q", "0", "0", "nan", "0", "0", "0")
    assert (code, out, err) == (1, "", "error: q: nan found for joint 'joint3'; a finite number is expected.\n")


def test_a_row_that_is_no_pose_is_marked_and_the_others_are_found(run, tmp_path):
    X = dal.forward_kinematics(dal.load("ur5"), Q)[:3, 3]
    poses = write(tmp_path / "poses.csv", ["x", "y", "z"], [X, (X[0], "", X[2]), X])
    code, out, _ = run("ik", "ur5", "--poses", poses, "-o", str(tmp_path / "found.csv"))
    assert code == 1
    assert "2 of 3 poses reached" in out
    assert "row 2 the pose contains NaN or infinity, so nothing was looked for." in " ".join(out.split())
    with open(tmp_path / "found.csv", encoding="utf-8") as file:
        assert [row["reached"] for row in csv.DictReader(file)] == ["1", "0", "1"]


def test_degrees_of_a_start_are_those_of_joints_that_turn(run, monkeypatch):
    """A sliding joint of a SCARA starts at so many metres."""
    seen = {}

    def noted(robot, pose, **options):
        seen.update(options)
        return dal.inverse_kinematics(robot, pose, **options)

    monkeypatch.setattr("dalembert.cli.ik.inverse_kinematics", noted)
    run("ik", "scara", "--position", "0.4", "0.2", "0.2", "--q0", "10", "20", "0.1", "30", "--degrees")
    np.testing.assert_allclose(seen["q0"], [np.radians(10), np.radians(20), 0.1, np.radians(30)])


def test_a_start_of_another_robot_is_refused_with_its_joints(run):
    code, _, err = run("ik", "ur5", "--position", "0.4", "0.2", "0.3", "--q0", "0", "0")
    assert code == 1
    assert err.startswith("error: --q0: 2 values found, but 'ur5' has 6 joints, so 6 expected: joint1,")


def test_a_second_goal_and_the_best_of_several_solutions(run):
    panda = dal.load("panda")
    wanted = ("ik", "panda", "--position", "0.4", "0.2", "0.5", "--rpy", "180", "0", "20", "--degrees", "--json")
    plain, best = (
        json.loads(run(*wanted, *options).out)["q"] for options in ((), ("--secondary", "manipulability", "--solutions", "20"))
    )
    measures = [float(dal.manipulability(panda, q).measure) for q in (plain, best)]
    assert measures[1] > measures[0]
    assert "near" in run(*wanted, "--secondary", "nearest").err
