"""`dalembert contributions`: tables, JSON, the figure, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as dal

ARM = "two_link_planar"
MOVE = ("contributions", ARM, "--from", "-1.5,2.9", "--to", "0.1,4.5")


def test_the_tables_show_the_largest_magnitudes(run):
    code, out, err = run(*MOVE, "--time", "0.5", "--by", "joint")
    assert (code, err) == (0, "")
    assert "2 joints (RR), 3 links, triangular velocity over 0.5 s, 501 samples" in out
    titles = [line for line in out.splitlines() if line.startswith("Largest")]
    assert titles == [f"Largest magnitudes, by {name}" for name in ("joint", "nature", "link")]
    assert "inertia, joint2" in out
    assert "friction" not in out


def test_json_carries_the_motion_and_every_split(run):
    code, out, err = run(*MOVE, "--time", "0.5", "--samples", "7", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    tau = dal.inverse_dynamics(dal.robots.two_link_planar(), data["q"], data["qd"], data["qdd"])
    np.testing.assert_allclose(data["tau"], tau, rtol=1e-12)
    for name in ("cause", "joint", "nature", "link"):
        np.testing.assert_allclose(np.sum(list(data[f"by_{name}"].values()), axis=0), tau, rtol=1e-12)
    np.testing.assert_allclose([data["q"][0], data["q"][-1]], [[-1.5, 2.9], [0.1, 4.5]])


def test_a_largest_velocity_gives_each_joint_its_own_duration(run):
    options = ("--profile", "trapezoidal", "--velocity", "5", "--acceleration-time", "0.15", "--json")
    code, out, _ = run("contributions", ARM, "--to", "1,2", *options)
    data = json.loads(out)
    assert code == 0
    assert data["t"][-1] == pytest.approx(2 / 5 + 0.15)
    np.testing.assert_allclose(np.abs(data["qd"]).max(axis=0), 5.0)


def test_degrees_are_those_of_angles_only(run):
    _, out, _ = run("contributions", "pr_arm", "--to", "0.5,90", "--degrees", "--time", "1", "--json")
    np.testing.assert_allclose(json.loads(out)["q"][-1], [0.5, np.pi / 2])


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("SVG", b"<?xml")])
def test_the_format_of_the_figure_follows_its_suffix(run, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    target = tmp_path / f"parts.{suffix}"
    code, out, err = run(*MOVE, "--time", "0.5", "--figure", str(target))
    assert (code, err) == (0, f"written: {target}\n")
    assert "Largest" in out
    assert target.read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--time, --velocity: one of the two is expected"),
        (("--time", "1", "--velocity", "2"), "--time, --velocity: one of the two is expected"),
        (("--velocity", "2"), "--velocity: it goes with --profile trapezoidal and --acceleration-time"),
        (("--time", "1", "--profile", "triangle"), "--profile: 'triangle' is not known; did you mean 'triangular'"),
        (("--time", "1", "--by", "causes"), "--by: 'causes' is not known; did you mean 'cause'"),
        (("--time", "1", "--acceleration-time", "0.7"), "acceleration_time: 0.7 s found for a duration of 1 s"),
        (("--time", "-1"), "acceleration_time: -0.5 s found for a duration of -1 s"),
        (("--time", "1", "--to", "1,2,3"), "q: 3 values found, but 'two_link_planar' has 2 joints"),
    ],
)
def test_what_makes_no_motion_is_one_line_on_stderr(run, options, message):
    code, out, err = run(*MOVE, *options)
    assert (code, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("options", [(), ("--from", "1,2", "--to", "1,2"), ("--to", "0", "0")])
def test_a_motion_that_goes_nowhere_is_refused(run, options):
    code, out, err = run("contributions", ARM, *options, "--time", "1")
    assert (code, out) == (1, "")
    assert err == "error: --from, --to: both are the same position, so nothing moves. Give --to, and --from if it is not zero.\n"


def test_a_motion_needs_two_instants(run):
    code, _, err = run(*MOVE, "--time", "1", "--samples", "1")
    assert code == 2
    assert "error: argument --samples: '1' found, a whole number of at least 2 and at most 10000000 is expected." in err


def test_help_shows_the_units(run):
    assert "duration of the motion [s]" in run("contributions", "--help")[1]
