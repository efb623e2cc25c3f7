"""`dalembert trajectory`: motions of every kind, tables out and in, JSON, figures, limits, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli.trajectory import KINDS, draw

ARM = "two_link_planar"
READY = "0,-0.4,0,-2,0,1.8,0.7"
POINTS = "t [s],q_joint1 [deg],q_joint2 [rad]\n0,0,0\n0.5,30,-0.3\n1.2,60,0.4\n2,0,0.1\n"


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(POINTS)
    return str(path)


@pytest.fixture
def poses(tmp_path):
    path = tmp_path / "poses.csv"
    path.write_text("t [s],x [mm],y [m],z [m],roll [deg],pitch,yaw\n0,1200,0.5,0,0,0,0\n1,1000,0.8,0,0,0,0\n2,900,0.4,0,0,0,0\n")
    return str(path)


def options_of(kind: str, points: str, poses: str) -> list[str]:
    """What a kind needs."""
    plane = ["--from", "0.1,0.9", "--directions", "x,y"]
    ends = ["--to", "0.5,1.0"]
    limits = [*ends, "--velocity", "2", "--acceleration", "5", "--jerk", "40"]
    return {
        "double_s": limits,
        "synchronised": [*limits, "--straight"],
        "spline": ["--points", points],
        "quintic_spline": ["--points", points, "--ends", "natural"],
        "b_spline": ["--points", points],
        "blended": ["--points", points, "--blend-time", "0.2"],
        "line": [*plane, "--tool-to", "1.2,0.5,0", "--time", "1"],
        "circle": [*plane, "--centre", "1.2,0.8,0", "--axis", "0,0,1", "--time", "1"],
        "poses": ["--directions", "x,y", "--poses", poses],
    }.get(kind, [*ends, "--time", "1.5"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "sampled"])
def test_every_kind_gives_a_motion_with_its_torques(run, points, poses, kind):
    code, out, err = run("trajectory", ARM, "--kind", kind, *options_of(kind, points, poses), "--json", "--samples", "41")
    assert (code, err) == (0, "")
    data = {name: np.array(value) if isinstance(value, list) else value for name, value in json.loads(out).items()}
    assert data["t"].shape == (41,)
    assert data["t"][-1] == data["duration"] == data["breaks"][-1]
    tau = dal.inverse_dynamics(dal.robots.two_link_planar(), data["q"], data["qd"], data["qdd"])
    np.testing.assert_allclose(data["tau"], tau, rtol=1e-12)
    assert data["qddd"].shape == (41, 2)


def test_points_are_passed_in_the_units_of_the_table(run, points):
    data = json.loads(run("trajectory", ARM, "--kind", "spline", "--points", points, "--dt", "0.1", "--json")[1])
    np.testing.assert_allclose(
        np.array(data["q"])[[0, 5, 12, 20]], [[0, 0], [np.pi / 6, -0.3], [np.pi / 3, 0.4], [0, 0.1]], atol=1e-12
    )


def test_a_line_is_that_of_the_tool(run):
    data = json.loads(
        run("trajectory", "panda", "--kind", "line", "--from", READY, "--tool-to", "0.5,0.3,0.4", "--time", "1", "--json")[1]
    )
    X = dal.forward_kinematics(dal.robots.panda(), np.array(data["q"]))
    np.testing.assert_allclose(X[-1, :3, 3], [0.5, 0.3, 0.4], atol=1e-12)
    np.testing.assert_allclose(X[:, :3, :3], np.broadcast_to(X[0, :3, :3], (501, 3, 3)), atol=1e-12)
    assert "held along a tool path" in data["about"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_written_is_a_table_read(run, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    target = str(tmp_path / f"motion{suffix}")
    first = json.loads(run("trajectory", ARM, "--to", "0.5,1", "--time", "1", "--samples", "101", "-o", target, "--json")[1])
    again = run("trajectory", ARM, "--kind", "sampled", "--cutoff", "20", "--points", target, "--samples", "101", "--json")
    found = json.loads(again.out)
    assert found["about"].startswith("sampled at 100 Hz, Butterworth filter of order 4 both ways, cut-off 20 Hz")
    np.testing.assert_allclose(found["q"], first["q"], atol=1e-4)


def test_columns_have_names_and_units(run, tmp_path):
    target = tmp_path / "motion.csv"
    code, _, err = run("trajectory", "pr_arm", "--to", "0.2,0.5", "--time", "1", "-o", str(target))
    assert code == 0
    assert f"written: {target}" in err
    heads = target.read_text().splitlines()[0].split(",")
    names = [c.name for c in dal.robots.pr_arm().structure.coordinates]
    assert heads[:3] == ["t [s]", f"q_{names[0]} [m]", f"q_{names[1]} [rad]"]
    assert heads[-2:] == [f"tau_{names[0]} [N]", f"tau_{names[1]} [N m]"]


def test_limits_are_named_and_strict_fails(run):
    move = ("trajectory", "panda", "--from", READY, "--to", "0.6,0.1,0.2,-1.5,0.3,2,0", "--time", "0.5")
    code, out, _ = run(*move)
    assert code == 0
    assert "! joint 'joint1': velocity 2.25 rad/s at t = 0.25 s found, the limit is 2.175." in " ".join(out.split())
    assert run(*move, "--strict").code == 1
    assert run(*move[:-1], "2", "--strict").code == 0


def test_a_figure_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "motion.png"
    assert run("trajectory", ARM, "--to", "0.5,1", "--time", "1", "--plot", str(target)).code == 0
    assert target.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--to: nothing found, but a quintic motion goes from one position to another"),
        (("--to", "1,1"), "--time: nothing found, but --kind quintic needs it: the duration"),
        (("--to", "1,1", "--time", "-1"), "duration: -1 s found"),
        (("--to", "1", "--time", "1"), "--to: 1 value found, but 'two_link_planar' has 2 joints"),
        (("--kind", "splin"), "--kind: 'splin' is not known; did you mean 'spline'?"),
        (("--kind", "spline"), "--points: nothing found, but --kind spline needs it"),
        (("--kind", "spline", "--points", "absent.csv"), "absent.csv"),
        (("--kind", "double_s", "--to", "1,1"), "--jerk: nothing found, but --kind double_s needs it"),
        (("--kind", "synchronised", "--to", "1,1"), "--velocity: nothing found, but --kind synchronised needs it"),
        (("--kind", "line", "--tool-to", "1,2", "--time", "1"), "--tool-to: 2 numbers found, three are expected"),
        (
            ("--kind", "line", "--tool-to", "1,0,0", "--time", "1", "--directions", "x,y"),
            "start: the robot is singular at (2, 0, 0) m",
        ),
        (("--to", "1,1", "--time", "1", "-o", "motion.txt"), "--output: 'motion.txt' ends in '.txt'"),
        (("--to", "1,1", "--time", "1", "--plot", "motion.txt"), "--plot: 'motion.txt' ends in '.txt'"),
    ],
)
def test_what_makes_no_motion_is_refused(run, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("trajectory", ARM, *options)
    assert (code, out) == (1, "")
    assert message in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_figure_has_jerks_too():
    pytest.importorskip("matplotlib")
    robot = dal.robots.two_link_planar()
    at = dal.trajectory.quintic([1.0, 2.0], [1.5, 2.5], duration=1.0).sample(count=21)
    figure = draw(robot, at, dal.inverse_dynamics(robot, at.q, at.qd, at.qdd))
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_ylabel() for ax in panels][3:] == ["jerk [rad/s³]", "torque [N m]"]
    np.testing.assert_array_equal(panels[3].get_lines()[1].get_ydata(), at.qddd[:, 1])
    assert panels[0].get_ylim()[0] > 0.9  # zero is no special position


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("t,q_joint1,q_joint2\n0,0,0\n1,1,1\n1,2,2\n", "t: 1 s in row 2 and 1 s in row 3 found; times have to rise."),
        ("t,q_joint1,q_joint2\n0,0,0\n", "t: 1 time found; 2 or more are expected."),
        ("t,q_joint1 [deg],q_joint1 [rad],q_joint2\n0,0,0,0\n1,1,1,1\n", "column 'q_joint1': found twice; which is meant?"),
    ],
)
def test_points_that_are_none_are_refused_with_their_place(run, tmp_path, table, message):
    path = tmp_path / "points.csv"
    path.write_text(table)
    code, out, err = run("trajectory", ARM, "--kind", "spline", "--points", str(path))
    assert (code, out) == (1, "")
    assert err == f"error: {path}: {err.split(': ', 2)[2]}"
    assert message in err


@pytest.mark.parametrize(("option", "joint"), [("--from", "joint1"), ("--to", "joint2")])
@pytest.mark.parametrize("command", ["trajectory", "scale", "timing"])
def test_an_end_that_is_not_finite_is_named_with_its_joint(run, command, option, joint):
    ends = {"--from": ["0", "0"], "--to": ["1", "1"]}
    ends[option][int(joint[-1]) - 1] = "nan"
    time = () if command == "timing" else ("--time", "1")
    code, _, err = run(command, ARM, *(word for name, q in ends.items() for word in (name, *q)), *time)
    assert (code, err) == (1, f"error: {option}: nan found for joint {joint!r}; a finite number is expected.\n")


def tool_of(out: str, link: str | None = None) -> np.ndarray:
    return dal.forward_kinematics(dal.robots.panda(), np.array(json.loads(out)["q"]), link)


TOOL = ("trajectory", "panda", "--from", READY, "--held", "joint3", "--time", "1", "--json", "--samples", "5")


def test_a_circle_is_that_of_the_tool(run):
    start = dal.forward_kinematics(dal.robots.panda(), [float(x) for x in READY.split(",")])
    centre = start[:3, 3] + [-0.05, 0.0, 0.02]
    options = ("--kind", "circle", "--centre", *map(str, centre), "--axis", "0", "0", "2")
    whole = tool_of(run(*TOOL, *options).out)
    np.testing.assert_allclose(np.linalg.norm((whole[:, :3, 3] - centre)[:, :2], axis=1), 0.05, atol=1e-10)
    np.testing.assert_allclose(whole[[0, -1]], [start, start], atol=1e-10)
    half = tool_of(run(*TOOL, *options, "--angle", str(np.pi / 2), "--turning").out)[-1]
    np.testing.assert_allclose(half[:3, 3], start[:3, 3] + [-0.05, 0.05, 0.0], atol=1e-10)
    np.testing.assert_allclose(half[:3, :3], np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ start[:3, :3], atol=1e-10)


def test_a_line_turns_the_tool_or_another_link_if_asked(run):
    options = ("--kind", "line", "--tool-to", "0.5", "0.2", "0.5")
    X = tool_of(run(*TOOL, *options, "--tool-rpy", str(np.pi), "0.1", "0.2").out)[-1]
    np.testing.assert_allclose(X[:3, 3], [0.5, 0.2, 0.5], atol=1e-10)
    np.testing.assert_allclose(np.arctan2(X[1, 0], X[0, 0]), 0.2, atol=1e-10)
    wrist = tool_of(run(*TOOL, *options, "--link", "link7").out, "link7")[-1]
    np.testing.assert_allclose(wrist[:3, 3], [0.5, 0.2, 0.5], atol=1e-10)


def test_a_first_pose_out_of_reach_is_told_in_one_sentence(run, tmp_path):
    path = tmp_path / "far.csv"
    path.write_text("t,x,y,z,roll,pitch,yaw\n0,4,0,0,0,0,0\n1,1,0,0,0,0,0\n")
    code, out, err = run("trajectory", "panda", "--kind", "poses", "--poses", str(path))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"error: {path}: the first pose: not reached; the nearest pose found is ")
