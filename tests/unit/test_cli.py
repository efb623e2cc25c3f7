"""The command line: what it prints where, and the code it leaves with."""

from __future__ import annotations

import ast
import inspect
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli import check, main
from dalembert.cli.app import COMMANDS
from dalembert.cli.digits import aligned, number
from dalembert.cli.geometry import dh_table
from dalembert.model import physical

NEGATIVE_MASS = """
<robot name="heavy">
  <link name="base"/>
  <link name="arm"><inertial><mass value="-2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>
"""
TREE = """
<robot name="tree">
  <link name="base"/>
  <link name="left"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic">
    <origin xyz="0 0.1 0" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 1"/>
    <parent link="base"/><child link="left"/><limit lower="0" upper="0.5" effort="100" velocity="2"/>
    <dynamics damping="3" friction="4"/>
  </joint>
  <joint name="follow" type="prismatic">
    <axis xyz="1 0 0"/><parent link="base"/><child link="right"/><limit lower="0" upper="1" effort="1" velocity="1"/>
    <mimic joint="lift" multiplier="2" offset="0.1"/>
  </joint>
</robot>
"""


@pytest.fixture
def file(tmp_path):
    """Write a file and give back its path."""

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


# list


def test_list_names_every_robot_of_the_catalogue_with_its_joints(run):
    result = run("list")
    assert result.code == 0
    assert all(name in result.out for name in dal.robots.CATALOGUE)
    assert "RRPRRR" in result.out


def test_list_as_json_holds_the_same_robots(run):
    entries = [entry for entry in json.loads(run("list", "--json").out) if entry["kind"] == "robot"]
    assert [entry["name"] for entry in entries] == list(dal.robots.CATALOGUE)
    assert all(entry["n"] == len(entry["joints"]) and entry["about"] for entry in entries)


# show


@pytest.mark.parametrize("name", dal.robots.CATALOGUE)
def test_show_prints_joints_links_and_checks_of_every_robot(run, name):
    result = run("show", name)
    assert result.code == 0
    assert result.err == ""
    assert all(word in result.out for word in ("Joints", "Links", "Checks", *dal.load(name).joint_names))


@pytest.mark.parametrize(("name", "convention"), [("puma560", "standard"), ("panda", "modified")])
def test_show_gives_dh_rows_in_the_convention_of_the_source(run, name, convention):
    assert f"Joints, {convention} DH" in run("show", name).out


def test_show_gives_origin_and_axis_where_there_is_no_dh_table(run, file):
    out = run("show", file("tree.urdf", TREE)).out
    assert "roll pitch yaw [°]" in out
    assert "0  0.1  0" in out
    assert "0  0  90" in out


def test_show_names_couplings_friction_and_limits_of_sliding_joints(run, file):
    out = run("show", file("tree.urdf", TREE)).out
    assert "follow = 2 · lift + 0.1" in out
    assert "0 … 0.5 m" in out
    assert "3 N s/m" in out
    assert "4 / 4 N" in out
    assert "at 1 of 2 joints" in out
    assert "none; the tree has several tips" in out


def test_show_lists_a_payload_and_further_effects(run, tmp_path):
    dal.save(dal.load("two_link_planar").with_payload(2.0, com=[0.1, 0, 0]), tmp_path / "arm.toml")
    out = run("show", str(tmp_path / "arm.toml")).out
    assert "2 kg at 0.1  0  0 m in the tool frame" in out
    assert "2 full" in out


def test_show_as_json_has_null_for_what_is_infinite(run):
    record = json.loads(run("show", "pendulum", "--json").out)
    assert record["joints"][0]["limits"]["effort"] is None
    assert record["n"] == 1
    assert record["links"][1]["mass"] == 1.0


def test_show_as_json_gives_dh_rows_that_rebuild_the_robot(run):
    record = json.loads(run("show", "stanford", "--json").out)
    rows = [{"type": joint["type"], **joint["dh"]} for joint in record["joints"]]
    rebuilt = dal.from_dh(
        [row | {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]} for row in rows],
        convention=record["dh_convention"],
        tool=np.array(record["tool"]["pose"]),
    )
    q = np.linspace(0.1, 0.6, 6)
    expected = dal.forward_kinematics(dal.load("stanford"), q)
    np.testing.assert_allclose(dal.forward_kinematics(rebuilt, q), expected, atol=1e-14)  # a few roundings of angles


def test_a_dh_table_keeps_the_home_position_as_an_offset():
    robot = dal.from_dh([{"a": 1.0, "mass": 1.0, "home": 0.25}], convention="standard")
    table = dh_table(robot)
    assert table is not None
    assert table.rows[0].theta == 0.25


def test_a_reversed_axis_is_no_dh_row():
    robot = dal.load("pelican")
    joints = tuple(joint.replace(axis=-joint.axis) for joint in robot.structure.joints)
    assert dh_table(robot.replace(structure=robot.structure.replace(joints=joints))) is None


def test_a_robot_without_moving_joints_can_be_shown_but_not_computed(run, file):
    post = file("post.urdf", '<robot name="post"><link name="base"/></robot>')
    assert run("show", post).code == 0
    result = run("dynamics", post)
    assert result.code == 1
    assert "it has no moving joint" in result.err


# check


def test_check_passes_a_sound_robot(run):
    result = run("check", "panda", "--strict")
    assert result.code == 0
    assert "no mass is negative" in result.out


def test_check_reports_findings_and_still_passes(run, file):
    result = run("check", file("heavy.urdf", NEGATIVE_MASS))
    assert result.code == 0
    assert "negative-mass: link 'arm': mass -2 kg found" in result.out
    assert result.err == ""


def test_check_fails_under_strict_on_any_finding(run, file):
    result = run("check", file("heavy.urdf", NEGATIVE_MASS), "--strict")
    assert result.code == 1
    assert "negative-mass" in result.out


def test_check_names_a_joint_that_moves_no_inertia_and_fails_under_strict(run, file):
    point_mass = NEGATIVE_MASS.replace('"-2"', '"2"').replace('="1" ', '="0" ')
    result = run("check", file("light.urdf", point_mass), "--strict")
    assert result.code == 1
    assert "! idle-joint: joint 'hinge': it moves no inertia" in result.out
    assert "✓ every joint moves some inertia" in run("check", "panda").out


def test_check_fails_on_a_model_that_cannot_be_built(run, file):
    result = run("check", file("nan.urdf", NEGATIVE_MASS.replace('"-2"', '"nan"')))
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert "nan" in result.err


def test_check_as_json_lists_findings_with_their_codes(run):
    record = json.loads(run("check", "puma560", "--json").out)
    assert [finding["code"] for finding in record["findings"]] == ["triangle-inequality"]
    assert "triangle-inequality" not in record["checks_passed"]
    assert record["passed"]


def test_every_finding_has_words_for_having_passed():
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(physical))) if isinstance(node, ast.Call)]
    written = [call.args[0] for call in calls if getattr(call.func, "id", "") == "Finding"]
    codes = {code.value for code in written if isinstance(code, ast.Constant)}  # a note of the source repeats its own
    assert codes == set(check.CHECKS)


# dynamics


def test_dynamics_gives_the_numbers_of_the_library(run):
    given = ("--q", "0.1,0.2,0.3,0.4,0.5,0.6", "--qd", "1 2 3 4 5 6", "--qdd", "-1, -2, -3, -4, -5, -6")
    record = json.loads(run("dynamics", "puma560", *given, "--json").out)
    robot, q, qd = dal.load("puma560"), np.arange(1, 7) / 10, np.arange(1.0, 7)
    np.testing.assert_array_equal(record["tau"], dal.inverse_dynamics(robot, q, qd, -qd))
    np.testing.assert_array_equal(record["M"], dal.mass_matrix(robot, q))
    np.testing.assert_array_equal(record["h"], dal.bias(robot, q, qd))
    np.testing.assert_array_equal(record["g"], dal.gravity_torque(robot, q))


@pytest.mark.parametrize(
    "given",
    [
        ("--q", "0.1", "-2", "3e-1", "-.4", "--qd", "1", "1", "1", "1"),
        ("--q", "0.1,", "-2,", "3e-1,", "-.4", "--qd=1 1 1 1"),
        ("--q", "0.1,-2", "0.3,-0.4", "--qd", "1 1", "1 1"),
        ("--q", "0.1 -2 0.3 -0.4", "--qd", "1,1,1,1"),
    ],
)
def test_lists_of_numbers_need_no_quotes(run, given):
    record = json.loads(run("dynamics", *given, "scara", "--json").out)
    assert record["q"] == [0.1, -2.0, 0.3, -0.4]
    assert record["qd"] == [1.0] * 4


def test_the_parts_of_the_torque_add_up_to_it(run):
    record = json.loads(run("dynamics", "puma560", "--q", "1 1 1 1 1 1", "--qd", "1 1 1 1 1 1", "--json").out)
    np.testing.assert_allclose(np.sum(list(record["parts"].values()), axis=0), record["tau"], rtol=1e-14)


def test_dynamics_reads_degrees_of_turning_joints_only(run):
    record = json.loads(run("dynamics", "scara", "--q", "90 -45 0.1 180", "--degrees", "--json").out)
    np.testing.assert_allclose(record["q"], [math.pi / 2, -math.pi / 4, 0.1, math.pi], rtol=1e-15)
    assert record["torque_units"] == ["N m", "N m", "N", "N m"]


def test_dynamics_takes_what_is_left_out_as_zero(run):
    record = json.loads(run("dynamics", "ur5", "--json").out)
    assert record["q"] == record["qd"] == record["qdd"] == [0.0] * 6


def test_dynamics_lets_nan_through(run):
    result = run("dynamics", "pendulum", "--q", "nan")
    assert result.code == 0
    assert "nan" in result.out
    assert result.err == ""
    assert json.loads(run("dynamics", "pendulum", "--q", "nan", "--json").out)["tau"] == [None]


def test_dynamics_prints_tables_with_units(run):
    out = run("dynamics", "scara", "--q", "0.1 0.2 0.05 0").out
    assert "Mass matrix M [kg m² | kg m | kg] and bias h = C qd + g [N m | N]" in out
    assert "friction" not in out


def test_the_wrong_number_of_values_is_one_line_that_names_the_joints(run):
    result = run("dynamics", "scara", "--q", "1,2")
    assert result.code == 1
    assert result.err == "error: q: 2 values found, but 'scara' has 4 joints, so 4 expected: joint1, joint2, joint3, joint4.\n"


def test_an_unknown_formulation_is_named_with_its_near_match(run):
    result = run("dynamics", "scara", "--formulation", "newton-euler")
    assert result.code == 1
    assert "did you mean 'newton_euler'?" in result.err


def test_what_is_not_a_number_is_misuse(run):
    result = run("dynamics", "scara", "--q", "1,two")
    assert result.code == 2
    assert "'1,two' is not a list of numbers" in " ".join(result.err.split())


# failures


def test_an_unknown_robot_is_one_line_with_the_near_match(run):
    result = run("show", "pumma560")
    assert result.code == 1
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert result.err.startswith("error: robot 'pumma560': neither a file nor in the catalogue; did you mean 'puma560'?")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("cut.urdf", "<robot name='a'><link", "cut.urdf:1:"),
        ("bad.toml", "name = ", "bad.toml:1:"),
        ("bad.json", "{", "bad.json:1: not JSON"),
        ("robot.obj", "v 0 0 0", "suffix '.obj' is not known"),
    ],
)
def test_a_malformed_file_is_one_line_that_names_it(run, file, name, text, message):
    result = run("show", file(name, text))
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert message in result.err


def test_a_path_that_cannot_be_read_is_one_line(run, tmp_path):
    assert "no such file" in run("show", str(tmp_path / "none.urdf")).err
    (tmp_path / "folder.urdf").mkdir()
    result = run("show", str(tmp_path / "folder.urdf"))
    assert result.code == 1
    assert "this is a folder" in result.err


def test_debug_lets_the_traceback_through(capsys):
    with pytest.raises(dal.DalembertError, match="pumma560"):
        main(["--debug", "show", "pumma560"])
    capsys.readouterr()


def test_a_failing_disk_is_one_line(run, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device", "figure.draft")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dalembert.cli.outputs.replace_file", fail)
    result = run("demo")
    path = str(tmp_path / "dalembert-demo.png")
    assert result.code == 1
    assert result.err == f"error: --figure: {path!r} cannot be written: no space left on device. Name another file.\n"


@pytest.mark.parametrize("arguments", [(), ("shou", "puma560"), ("show",), ("list", "--jason"), ("list", "--jso"), ("list", "x")])
def test_misuse_leaves_with_two(run, arguments):
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Usage: dalembert" in result.err


def test_a_warning_is_printed_once_on_stderr(run, file):
    result = run("dynamics", file("heavy.urdf", NEGATIVE_MASS))
    assert result.code == 0
    assert result.err.count("warning: ") == 1
    assert "mass -2 kg found" in result.err
    assert "warning" not in result.out


def test_nothing_is_coloured_where_there_is_no_terminal(run):
    assert "\x1b" not in run("show", "puma560").out
    assert "\x1b" not in run("show", "nobody").err


# a terminal


@pytest.fixture
def narrow_terminal(monkeypatch):
    """Let rich take the captured streams for a terminal of 60 columns."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.usefixtures("narrow_terminal")
def test_a_terminal_gets_colours(run):
    assert "\x1b[36m" in run("show", "puma560").out
    assert "\x1b[1;31merror: " in run("show", "nobody").err


@pytest.mark.usefixtures("narrow_terminal")
def test_a_narrow_terminal_breaks_words_but_no_number(run):
    out = plain(run("dynamics", "puma560", "--q", "1 1 1 1 1 1", "--qd", "-1 1 -1 1 -1 1").out)
    result = dal.inverse_dynamics(dal.load("puma560"), np.ones(6), np.array([-1.0, 1, -1, 1, -1, 1]), np.zeros(6))
    assert all(cell in out.split() for cell in aligned(result).tolist())


@pytest.mark.usefixtures("narrow_terminal")
def test_a_long_finding_hangs_beside_its_mark(run):
    lines = plain(run("check", "puma560").out).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  ! triangle-inequality"))
    assert all(line.startswith("    ") for line in lines[start + 1 :])
    assert max(map(len, lines)) <= 60


# the rest


def test_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"dalembert {dal.__version__}\n", "")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "demo"])
def test_every_command_but_the_demo_takes_json(run, command):
    result = run(command, "--help")
    assert result.code == 0
    assert "--json" in result.out


@pytest.mark.skipif(not hasattr(os, "fork"), reason="pipes of this kind are those of POSIX")
def test_a_reader_that_goes_away_is_no_traceback():
    command = [sys.executable, "-m", "dalembert", "show", "puma560", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_ctrl_c_is_no_traceback(run, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("dalembert.cli.show.run", interrupt)
    assert run("show", "puma560") == (130, "", "")


def test_help_names_every_command(run):
    out = run("--help").out
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize(("command", "needed"), [("--version", []), ("--help", []), ("list", ["rich"])])
def test_what_needs_no_numbers_loads_no_numpy(command, needed):
    lines = ("import sys", "from dalembert.cli import main", "try:", f"    main([{command!r}])", "except SystemExit:", "    pass")
    listing = "print('loaded:', sorted({'llvmlite', 'scipy', 'matplotlib', 'numpy', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", "\n".join([*lines, listing])], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"loaded: {needed}"


def test_the_module_runs_like_the_command():
    done = subprocess.run([sys.executable, "-m", "dalembert", "show", "nobody"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: robot 'nobody'")


def test_the_demo_ends_with_a_figure_and_names_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.code == 0
    assert result.err == f"written: {tmp_path / 'dalembert-demo.png'}\n"
    assert Path("dalembert-demo.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["dalembert-demo.png"]


def test_a_missing_matplotlib_is_one_sentence_that_names_the_extra(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo")
    assert result.code == 1
    assert "pip install matplotlib, or install dalembert with its extra 'plots'" in result.err
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_printed_for_readers():
    assert [number(x) for x in (0.0, -0.0, -1.5, 1e-20, math.inf, None)] == ["0", "0", "−1.5", "1e−20", "∞", "–"]
    assert aligned(np.array([123.456789, -0.00001, math.nan])).tolist() == ["123.46", "0.00", "nan"]
    assert aligned(np.zeros(2)).tolist() == ["0.0", "0.0"]
