"""`dalembert scale` and `dalembert timing`: what they print, write and draw."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli.app import run as main

ENDS = ["--from", "0,0", "--to", "1,0.5"]


def test_the_fastest_timing_is_printed_written_and_drawn(tmp_path, capsys):
    table, picture = tmp_path / "motion.csv", tmp_path / "timing.png"
    given = ["timing", "two_link_planar", *ENDS, "--torque", "1500", "--intervals", "60"]
    assert main([*given, "--samples", "40", "-o", str(table), "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    found = dal.fastest_timing(dal.robots.two_link_planar(), [[0, 0], [1, 0.5]], torque=1500.0, intervals=60)
    assert f"fastest timing: {float(found.duration):.6g} s" in text
    assert "torque of 'joint1'" in text
    assert len(table.read_text(encoding="utf-8").splitlines()) == 41
    assert picture.stat().st_size > 5_000


def test_a_timing_as_json_is_that_of_the_function(capsys):
    assert main(["timing", "two_link_planar", *ENDS, "--torque", "1500", "--intervals", "60", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = dal.fastest_timing(dal.robots.two_link_planar(), [[0, 0], [1, 0.5]], torque=1500.0, intervals=60)
    assert found["duration"] == float(expected.duration)
    assert found["limits"] == list(expected.limits)


def test_limits_of_jerk_and_torque_rate_are_options(capsys):
    given = ["timing", "two_link_planar", *ENDS, "--torque", "1500", "--intervals", "60"]
    assert main([*given, "--jerk", "20,30", "--torque-rate", "20000"]) == 0
    text = capsys.readouterr().out
    limits = {"jerk": [20.0, 30.0], "torque_rate": 20000.0, "torque": 1500.0}
    found = dal.fastest_timing(dal.robots.two_link_planar(), [[0, 0], [1, 0.5]], intervals=60, **limits)
    assert f"fastest timing: {float(found.duration):.6g} s" in text
    assert "jerk of 'joint1'" in text
    assert "Torques that jump" not in text


def test_scaling_a_mechanism_tells_the_torques_of_its_drives(tmp_path, capsys):
    table, picture = tmp_path / "motion.csv", tmp_path / "torques.png"
    given = ["scale", "two_arms", "--from", "0,0,0.4,0,0,0", "--to", "0.1,0,0.45,0,0,0", "--time", "1", "--samples", "30"]
    assert main([*given, "-o", str(table), "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "Drives" in text
    motion = dal.trajectory.septic([0, 0, 0.4, 0, 0, 0], [0.1, 0, 0.45, 0, 0, 0], duration=1.0)
    found = dal.scale_trajectory(dal.mechanisms.two_arms(), motion, samples=30)
    assert f"{float(found.factor):.6g} times as fast" in text
    heads, *lines = table.read_text(encoding="utf-8").splitlines()
    written = np.array([line.split(",") for line in lines], dtype=float)[:, heads.split(",").index("drive_arm1_joint2 [N m]")]
    assert np.allclose(written, found.drive_torques[:, 1], rtol=1e-6)
    assert picture.stat().st_size > 5_000


def test_torques_that_jump_are_listed(tmp_path, capsys):
    robot = dal.robots.two_link_planar()
    rubs = dal.Friction(coulomb=50.0)
    file = tmp_path / "arm.toml"
    dal.save(robot.replace(parameters=robot.parameters.replace(friction={"joint2": rubs})), file)
    way = tmp_path / "way.csv"
    way.write_text("t,q_joint1,q_joint2\n0,0,0\n1,0.5,0.5\n2,1,0\n", encoding="utf-8")
    given = ["timing", str(file), "--points", str(way), "--torque", "1500", "--intervals", "60", "--jerk", "100"]
    assert main(given) == 0
    text = capsys.readouterr().out
    assert "Torques that jump as dry friction turns round" in text
    assert "-100" in text


def test_points_of_a_path_need_no_times(tmp_path, capsys):
    way = tmp_path / "way.csv"
    durations = []
    for table in ("q_joint1,q_joint2\n0,0\n0.5,0.5\n1,0\n", "t,q_joint1,q_joint2\n2,0,0\n1,0.5,0.5\n0,1,0\n"):
        way.write_text(table, encoding="utf-8")
        assert main(["timing", "two_link_planar", "--points", str(way), "--torque", "1500", "--intervals", "60", "--json"]) == 0
        durations.append(json.loads(capsys.readouterr().out)["duration"])
    assert durations[0] == durations[1]


def test_torques_of_drives_that_are_not_the_coordinates_are_written_too(tmp_path):
    four_bar = dal.mechanisms.four_bar().replace(actuated=("joint1", "joint3"))
    file, table = tmp_path / "four_bar.toml", tmp_path / "motion.csv"
    dal.save(four_bar, file)
    given = ["timing", str(file), "--from", "0.6", "--to", "2.2", "--torque", "20", "--torque-rate", "100", "--intervals", "40"]
    assert main([*given, "--samples", "30", "-o", str(table)]) == 0
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    columns = dict(zip(head.split(","), np.array([row.split(",") for row in rows], dtype=float).T, strict=True))
    found = dal.fastest_timing(four_bar, [[0.6], [2.2]], torque=20.0, torque_rate=100.0, intervals=40)
    for k, name in enumerate(("joint1", "joint3")):
        assert np.allclose(columns[f"drive_{name} [N m]"], found.drive_torques(columns["t [s]"])[:, k], atol=1e-6)


def test_a_table_that_was_written_can_be_scaled(tmp_path, capsys):
    table, picture = tmp_path / "motion.csv", tmp_path / "scale.png"
    assert (
        main(["scale", "two_link_planar", *ENDS, "--time", "1", "--torque", "1500", "-o", str(table), "--plot", str(picture)])
        == 0
    )
    assert "most used: the torque of 'joint1', 100 % of its limit" in capsys.readouterr().out
    assert picture.stat().st_size > 5_000
    assert main(["scale", "two_link_planar", "--motion", str(table), "--torque", "1500", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["factor"] == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["timing", "two_link_planar"], "no path found"),
        (["timing", "two_link_planar", *ENDS], "nothing bounds how hard the robot accelerates"),
        (["timing", "two_link_planar", *ENDS, "--torque", "1"], "gravity and dry friction alone need a torque"),
        (["scale", "two_link_planar", *ENDS], "no motion found"),
        (["scale", "two_link_planar", *ENDS, "--time", "1", "--torque", "1"], "gravity and dry friction alone need"),
    ],
)
def test_what_cannot_be_timed_is_one_line(given, words, capsys):
    assert main(given) == 1
    assert words in capsys.readouterr().err


def test_a_timing_is_drawn_below_its_largest_speed():
    robot = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    found = dal.fastest_timing(robot, [[0.0], [3.0]], torque=2.0, intervals=50)
    axes = dal.plots.timing(found)
    limit, speed = (line.get_ydata() for line in axes[0].get_lines()[:2])
    assert (np.asarray(speed) <= np.asarray(limit) * (1 + 1e-9)).all()
    assert axes[1].get_lines()[0].get_label() == "pivot"
    with pytest.raises(dal.DalembertError, match="row: 3 found"):
        dal.plots.timing(found, row=3)
