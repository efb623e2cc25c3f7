"""`dalembert voltage` and `dalembert motors`: tables in and out, JSON, figures, and what is refused."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import dalembert as dal

ARM = "two_link_planar"
MOVE = ("--from", "0.1,-0.2", "--to", "0.6,0.4", "--time", "1.5", "--samples", "151")
LIST = """
[[motor]]
name = "small"
resistance = 1.0
torque_constant = 0.2
current_limit = 20.0

[[motor]]
name = "large"
resistance = 0.3
torque_constant = 0.6
inductance = 2e-3
voltage_limit = 200.0
current_limit = 60.0
"""


def columns(path) -> dict[str, list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        heads, *rows = csv.reader(file)
    return dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))


def test_voltages_of_a_motion_from_rest_to_rest(run):
    code, out, err = run("voltage", ARM, *MOVE, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["motors"] == ["joint1", "joint2"]
    arm = dal.robots.two_link_planar()
    for row, q in ((0, [0.1, -0.2]), (-1, [0.6, 0.4])):  # at rest, the current holds the arm: i = g / (ratio k_t)
        np.testing.assert_allclose(data["current"][row], dal.gravity_torque(arm, q) / 50.0, rtol=1e-12)
        np.testing.assert_allclose(data["voltage"][row], 0.4 * np.array(data["current"][row]), rtol=1e-10)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_are_written_and_read_again(run, tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"course.{suffix}"
    code, out, err = run("voltage", ARM, *MOVE, "-o", str(target))
    assert (code, err) == (0, f"written: {target}\n")
    assert "Largest magnitudes" in out
    first = json.loads(run("voltage", ARM, *MOVE, "--json")[1])
    again = json.loads(run("voltage", ARM, "--motion", str(target), "--json")[1])
    np.testing.assert_array_equal(again["voltage"], first["voltage"])  # every digit is kept


def test_columns_have_names_and_units(run, tmp_path):
    target = tmp_path / "course.csv"
    run("voltage", "pr_arm", "--to", "0.2,0.3", "--time", "1", "--samples", "11", "-o", str(target))
    found = columns(target)
    assert list(found)[:3] == ["t [s]", "q_slide [m]", "q_turn [rad]"]
    assert {"qddd_slide [m/s³]", "i_slide [A]", "v_turn [V]", "tau_turn [N m]", "speed_slide [rad/s]"} <= set(found)
    assert len(found["t [s]"]) == 11


def test_rates_that_are_left_out_come_from_a_spline_and_units_are_obeyed(run, tmp_path):
    t = np.linspace(0, 1, 401)
    table = tmp_path / "q.csv"
    q = np.column_stack([20 * np.sin(2 * t), -10 * np.cos(3 * t)])
    rows = np.column_stack([1e3 * t, q[:, 1], np.radians(q[:, 0])]).tolist()
    lines = ["t [ms],q_joint2 [deg],q_joint1 [rad]", *(",".join(map(repr, row)) for row in rows)]
    table.write_text("\n".join(lines))
    data = json.loads(run("voltage", ARM, "--motion", str(table), "--json")[1])
    a, b = np.radians(20.0), np.radians(-10.0)
    state = [
        np.column_stack([a * np.sin(2 * t), b * np.cos(3 * t)]),
        np.column_stack([2 * a * np.cos(2 * t), -3 * b * np.sin(3 * t)]),
        np.column_stack([-4 * a * np.sin(2 * t), -9 * b * np.cos(3 * t)]),
        np.column_stack([-8 * a * np.cos(2 * t), 27 * b * np.sin(3 * t)]),
    ]
    known = dal.nominal_voltage(dal.robots.two_link_planar(), *state)
    inner = slice(20, -20)  # a spline is less exact at its ends
    np.testing.assert_allclose(np.array(data["voltage"])[inner], known.voltage[inner], atol=1e-5)


def test_motors_of_a_list_are_judged(run, tmp_path):
    motors, target = tmp_path / "motors.toml", tmp_path / "demands.csv"
    motors.write_text(LIST)
    code, out, err = run("motors", ARM, *MOVE, "--motors", str(motors), "-o", str(target))
    assert (code, err) == (0, f"written: {target}\n")
    assert "✓ joint1: large" in out
    found = columns(target)
    assert found["motor"][:2] == ["joint1", "joint2"]
    assert found["joint"][2:4] == ["joint1", "joint1"]
    assert "current_peak [A]" in found
    data = json.loads(run("motors", ARM, *MOVE, "--motors", str(motors), "--json")[1])
    assert data["fits"] is True
    assert [d["motor"] for d in data["choices"]["joint1"]] == ["large", "small"]


def test_it_fails_where_no_motor_does(run, tmp_path):
    motors = tmp_path / "motors.toml"
    motors.write_text(LIST.split('[[motor]]\nname = "large"')[0])
    code, out, _ = run("motors", ARM, *MOVE, "--motors", str(motors))
    assert code == 1
    assert "! joint1: no motor of the list does" in out


@pytest.mark.parametrize("command", ["voltage", "motors"])
def test_figures_are_drawn(run, tmp_path, command):
    pytest.importorskip("matplotlib")
    target = tmp_path / "figure.svg"
    code, _, err = run(command, ARM, *MOVE, "--plot", str(target))
    assert (code, err) == (0, f"written: {target}\n")
    assert target.read_bytes().startswith(b"<?xml")


def test_limits_are_told_or_refused(run, tmp_path):
    fast = ("--to", "3,3", "--time", "0.5")
    code, out, _ = run("voltage", ARM, *fast)
    assert code == 0
    assert "! joint1: beyond its limit of voltage, current" in out
    code, _, err = run("voltage", ARM, *fast, "--strict")
    assert code == 1
    assert "error: motor 'joint1':" in err
    assert "V needed at sample" in err
    weak = dal.robots.two_link_planar()
    weak = weak.with_motors(dict.fromkeys(weak.joint_names, dal.Motor(0.4, 0.5, current_limit=10.0)))
    dal.save(weak, tmp_path / "weak.toml")
    _, _, err = run("voltage", str(tmp_path / "weak.toml"), "--to", "0.1,0", "--time", "9", "--strict")
    assert "Gravity alone takes" in err


def table(*lines: str) -> str:
    return "\n".join(lines) + "\n"


REFUSED = {
    "joint": (table("t,q_joint1,q_joint3", "0,0,0"), "column 'q_joint3': coordinate: 'joint3' is not known; did you mean"),
    "missing": (table("t,q_joint1", "0,0"), "no column 'q_joint2' found"),
    "unit": (table("t,q_joint1 [m],q_joint2", *(f"{k},0,0" for k in range(9))), "column 'q_joint1': unit 'm' found"),
    "text": (table("t,q_joint1,q_joint2", "0,0,0", "1,x,0"), "bad.csv:3: column 'q_joint1': 'x' found, a number expected"),
    "nan": (table("t,q_joint1,q_joint2", "0,0,nan"), "bad.csv:2: column 'q_joint2': nan found, finite numbers are expected"),
    "cells": (table("t,q_joint1,q_joint2", "0,0"), "bad.csv:2: 2 cells found, 3 expected"),
    "few": (table("t,q_joint1,q_joint2", "0,0,0", "1,0,0"), "t: 2 times found; 6 or more are expected"),
    "empty": ("", "no rows found"),
}


@pytest.mark.parametrize("text, words", REFUSED.values(), ids=REFUSED)
def test_a_table_that_is_no_motion_is_refused_with_its_place(run, tmp_path, text, words):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    code, _, err = run("voltage", ARM, "--motion", str(path))
    assert code == 1
    assert words in " ".join(err.split())


OPTIONS = {
    "no motion": ((), "--motion, --to: no motion found"),
    "two motions": (("--motion", "x.csv", "--to", "1,1"), "--motion: found together with --from, --to or --time"),
    "time": (("--to", "1,1", "--time", "0"), "--time: 0 s found, a positive duration is expected"),
    "output": ((*MOVE, "-o", "x.xlsx"), "--output: 'x.xlsx' ends in '.xlsx', not a format of tables. Known: .csv, .parquet"),
    "plot": ((*MOVE, "--plot", "x.gif"), "--plot: 'x.gif' ends in '.gif'"),
    "no file": (("--motion", "nowhere.csv"), "nowhere.csv: no such file or directory"),
}


@pytest.mark.parametrize("options, words", OPTIONS.values(), ids=OPTIONS)
def test_options_that_do_not_go_together_are_refused(run, options, words):
    code, _, err = run("voltage", ARM, *options)
    assert code == 1
    assert words in err


def test_lists_of_motors_are_refused_with_their_place(run, tmp_path):
    motors = tmp_path / "m.toml"
    for text, words in {
        "[[motor]]\nresistance = 1.0": "m.toml:1: motor 1: 'name' is missing",
        LIST.replace("large", "small"): "the name 'small' stands twice",
        "[[motor]]\nname = 'a'\nresistence = 1": "m.toml:3: motor 'a': key 'resistence' is not known; did you mean 'resistance'?",
        "x = 1": "m.toml:1: key 'x' is not known",
        "": "no [[motor]] found",
    }.items():
        motors.write_text(text)
        code, _, err = run("motors", ARM, *MOVE, "--motors", str(motors))
        assert code == 1
        assert words in err
    assert "cannot be read" in run("motors", ARM, *MOVE, "--motors", str(tmp_path / "none.toml"))[2]


def test_an_arm_without_motors_is_named(run):
    code, _, err = run("voltage", "panda", "--to", "0,0,0,0,0,0,1", "--time", "1")
    assert code == 1
    assert "no motor found, but all of" in err
