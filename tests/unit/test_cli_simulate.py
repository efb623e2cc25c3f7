"""`dalembert simulate`: summary, limits, tables in and out, JSON, pictures, and what is refused."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import dalembert as dal

ARM = "two_link_planar"
SWING = ("simulate", ARM, "--duration", "0.5", "--q0", "0.3,0.2", "--samples", "26")


def test_a_swing_is_summed_up(run):
    code, out, err = run(*SWING)
    assert (code, err) == (0, "")
    for words in ("2 joints (RR), 3 links, 0.5 s", "the end", "energy balance", "Largest magnitudes; ! beyond a limit"):
        assert words in out


def test_json_has_the_course_and_the_balance(run):
    data = json.loads(run(*SWING, "--tau", "1,-2", "--json")[1])
    motion = dal.simulate(
        dal.robots.two_link_planar(),
        [0.3, 0.2],
        [0.0, 0.0],
        tau=[1.0, -2.0],
        t_eval=np.linspace(0, 0.5, 26),
        rtol=1e-8,
        atol=1e-3 * 1e-8,  # as the command has it
        dense=True,
    )
    for name in ("t", "q", "qd", "qdd", "tau"):
        np.testing.assert_array_equal(data[name], getattr(motion, name))
    assert data["success"]
    assert data["balance"]["relative"] < 1e-7
    assert set(data["power"]) == {"motors", "gravity"}
    assert data["events"] == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_written_and_its_torques_read_again(run, tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"course.{suffix}"
    fine = (*SWING, "--samples", "251")
    code, _, err = run(*fine, "--hold", "0.5,0.1", "-o", str(target))
    assert (code, err) == (0, f"written: {target}\n")
    first = json.loads(run(*fine, "--hold", "0.5,0.1", "--json")[1])
    again = json.loads(run(*fine, "--torques", str(target), "--between", "linear", "--json")[1])
    np.testing.assert_allclose(again["tau"], first["tau"], rtol=1e-12)
    np.testing.assert_allclose(again["q"], first["q"], atol=1e-4)  # between samples torques are on lines: an error of h²
    if suffix == "csv":
        with open(target, newline="", encoding="utf-8") as file:
            heads = next(csv.reader(file))
        assert heads[:3] == ["t [s]", "q_joint1 [rad]", "q_joint2 [rad]"]


def test_a_pose_is_held_by_computed_torque(run):
    data = json.loads(run("simulate", ARM, "--duration", "2", "--hold", "30,-20", "--degrees", "--json")[1])
    np.testing.assert_allclose(np.rad2deg(data["q"][-1]), [30.0, -20.0], atol=1e-4)


def test_speeds_and_torques_are_told_against_their_limits(run):
    out = run("simulate", "panda", "--duration", "0.5", "--hold", "0.3 0.2 0 -1.5 0 1.5 0.5")[1]
    row = next(line for line in out.splitlines() if line.startswith("joint4"))
    assert row.count("!") == 3  # it begins above its upper stop, and is too fast and too strong


@pytest.mark.slow
def test_a_mechanism_is_simulated(run):
    code, out, _ = run("simulate", "slider_crank", "--duration", "0.2", "--qd0", "3")
    assert code == 0
    assert "crank" in out


@pytest.mark.slow
def test_joints_hit_their_stops_and_a_digital_controller_stays_within_limits(run):
    """A Panda held by computed torque that is sampled, late and too weak; then one that nothing holds, on its stops."""
    pose = "0.3,0.2,0,-1.5,0,1.5,0.5"
    held = ("simulate", "panda", "--q0", "0,0,0,-1,0,1,0", "--duration", "0.2", "--hold", pose, "--json")
    code, out, _ = run(*held, "--sample", "1e-3", "--delay", "5e-4", "--saturate", "--frequency", "40")
    tau = np.array(json.loads(out)["tau"])
    assert code == 0
    assert np.abs(tau).max(axis=0).max() == 87.0
    assert len(np.unique(tau[:, 0])) < 250  # held between samples
    fall = ("simulate", "panda", "--q0", "0,0.5,0,-1,0,1,0", "--duration", "2", "--stops", "20%")
    code, out, _ = run(*fall)
    assert code == 0
    assert "impacts " in out
    assert "stop " in out
    assert "!" not in out.split("range")[1].split("torque")[0]


@pytest.mark.slow
def test_pictures_are_drawn(run, tmp_path):
    plot, film = tmp_path / "swing.png", tmp_path / "swing.gif"
    code, _, err = run(*SWING, "--plot", str(plot), "--animate", str(film), "--fps", "10", "--trace", "tool")
    assert (code, err) == (0, f"written: {plot}\nwritten: {film}\n")
    assert plot.read_bytes()[:4] == b"\x89PNG"
    assert film.read_bytes()[:6] == b"GIF89a"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["swing.gif", "swing.png"]


def test_a_motion_that_ends_early_fails_and_says_why(run):
    code, out, err = run(*SWING, "--max-steps", "2")
    assert code == 1
    assert "The number of steps reached max_steps" in out
    assert err.startswith("warning: simulate: the motion ended early, since it needed more than max_steps steps.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("simulate", ARM), "--duration: a time above 0 s is expected"),
        (("simulate", ARM, "--duration", "-1"), "--duration: a time above 0 s is expected"),
        ((*SWING, "--tau", "1"), "--tau: 1 numbers found, 2 expected, one for each joint"),
        ((*SWING, "--tau", "1,2", "--hold", "0,0"), "--hold: found together with --tau"),
        ((*SWING, "--hold", "0,0", "--frequency", "0"), "--frequency: 0 found, a number of rad/s above 0"),
        ((*SWING, "--method", "euler"), "method: 'euler' is not known"),
        ((*SWING, "--stops", "2"), "stops: 2.0 found; the part of its speed that a joint keeps, from 0 to 1"),
        ((*SWING, "--sample", "0.01"), "--sample: found without --hold, but only a controller is sampled"),
        ((*SWING, "--delay", "0.01"), "--delay: found without --hold, but only a controller is sampled"),
        ((*SWING, "--animate", "swing.avi"), "--animate: 'swing.avi' ends in '.avi', not a format of animations"),
        ((*SWING, "-o", "swing.xls"), "--output: 'swing.xls' ends in '.xls', not a format of tables"),
        ((*SWING, "--torques", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(run, arguments, words):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,tau_joint1\n0,1\n", "no column 'tau_joint2' found"),
        ("t,tau_joint1,tau_joint2\n0,1,2\n0,1,2\n", "t: 0 s in row 1 and 0 s in row 2 found; times have to rise"),
        ("t,tau_joint1 [rad],tau_joint2\n0,1,2\n1,1,2\n", "column 'tau_joint1': unit 'rad' found"),
        ("t,tau_joint1,tau_joint2\n0,1,2\n1,nan,2\n", "column 'tau_joint1': nan found"),
    ],
)
def test_a_table_of_torques_that_does_not_fit_is_refused(run, tmp_path, text, words):
    table = tmp_path / "torques.csv"
    table.write_text(text, encoding="utf-8")
    code, _, err = run(*SWING, "--torques", str(table))
    assert code == 1
    assert words in err


# Processes that a shell starts in the background begin with SIGINT ignored, and so do theirs.
TELLS_WHAT_IT_HAS_DRAWN = """
import signal, sys
from dalembert.cli import main, simulate

signal.signal(signal.SIGINT, signal.default_int_handler)
animate = simulate.animate
simulate.animate = lambda *given, **options: animate(*given, **options | {"progress": lambda done: print("drawn", flush=True)})
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_nothing_is_left_behind_when_it_is_interrupted(tmp_path):
    """Ctrl-C while a long animation is drawn: the table is complete, the film is not there. 2501 pictures take twenty
    seconds, and the signal comes after the first.
    """
    table, film = tmp_path / "swing.csv", tmp_path / "swing.gif"
    motion = ("simulate", ARM, "--duration", "1", "--q0", "0.3,0.2", "-o", str(table), "--animate", str(film), "--speed", "0.01")
    command = [sys.executable, "-c", TELLS_WHAT_IT_HAS_DRAWN, *motion]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            assert "drawn\n" in process.stdout
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130
        finally:
            process.kill()
    assert [entry.name for entry in tmp_path.iterdir()] == ["swing.csv"]
    assert len(table.read_text(encoding="utf-8").splitlines()) == 502


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--q0", "0.3,nan"), "--q0: nan found for joint 'joint2'; a finite number is expected."),
        (("--qd0", "inf,0"), "--qd0: inf found for joint 'joint1'; a finite number is expected."),
        (("--hold", "0.3,nan"), "--hold: nan found for joint 'joint2'; a finite number is expected."),
        (("--hold", "0.3"), "--hold: 1 value found, but 'two_link_planar' has 2 joints"),
        (("--animate", "swing.gif", "--fps", "0"), "--fps: 0 found, a number above 0 is expected."),
        (("--animate", "swing.gif", "--speed", "-1"), "--speed: -1 found, a number above 0 is expected."),
        (("--animate", "swing.gif", "--trace", "hand"), "trace: link: 'hand' is not known. Known: tool, base, link1, link2."),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_simulated_or_written(run, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*SWING, "-o", "swing.csv", *options)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []
