"""`dalembert opspace` and `dalembert ellipsoid`: tables, JSON, figures, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as dal

ARM, AT = "two_link_planar", ("--q", "0.3", "0.9", "--directions", "x,y")


def test_the_dynamics_of_a_task_are_printed(run):
    code, out, err = run("opspace", ARM, *AT, "--qd", "1", "-0.5")
    assert (code, err) == (0, "")
    assert "2 joints (RR), 3 links, task x y of the tool" in out
    assert "Inertia Λ of the task, loads μ by velocities and p by gravity" in out
    assert "its dynamically consistent inverse" in out


def test_as_json_they_are_those_of_the_function(run):
    code, out, err = run("opspace", ARM, "--q", "20", "50", "--degrees", "--qd", "10", "-5", "--directions", "x y", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    task = dal.operational_space(dal.load(ARM), np.radians([20, 50]), np.radians([10, -5]), directions=("x", "y"), coriolis=True)
    for name in ("Lambda", "mu", "p", "J", "J_bar", "N", "C"):
        np.testing.assert_allclose(found[name], getattr(task, name), rtol=1e-12, atol=1e-12)
    assert (found["directions"], found["damping"]) == (["x", "y"], None)


def test_a_damped_task_is_named_as_one(run):
    out = run("opspace", ARM, "--q", "0.3", "0", "--directions", "x,y", "--damping", "0.05").out
    assert "damped by 0.05: an approximation" in out


def test_a_task_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, err = run("opspace", ARM, *AT, "--plot", str(tmp_path / "task.svg"))
    assert (code, "written:" in err) == (0, True)
    assert (
        "velocities of ½ J" in (tmp_path / "task.svg").read_text(encoding="utf-8")
        or (tmp_path / "task.svg").stat().st_size > 5000
    )


def test_a_task_without_two_axes_of_the_world_is_not_drawn(run, tmp_path):
    result = run("opspace", "panda", "--q", "0 0.3 0.2 -1.5 0.1 1.8 0", "--directions", "x,rz", "--plot", str(tmp_path / "a.png"))
    assert result.code == 1
    assert "--plot: fewer than two of x, y, z" in result.err


def test_the_ellipsoid_and_the_polytope_are_printed(run):
    code, out, err = run("ellipsoid", ARM, *AT, "--strength", "800", "300", "--polytope")
    assert (code, err) == (0, "")
    for words in (
        "accelerations of the tool, x y",
        "Half axes [m/s²]",
        "share of the strength that holds still",
        "Corners of the polytope",
    ):
        assert words in out


def test_as_json_they_are_those_of_the_functions(run):
    code, out, err = run("ellipsoid", "panda", "--q", "0 0.3 0.2 -1.5 0.1 1.8 0", "--limits", "--polytope", "--json")
    assert (code, err) == (0, "")
    found, q = json.loads(out), [0, 0.3, 0.2, -1.5, 0.1, 1.8, 0]
    expected = dal.manipulability(dal.load("panda"), q, strength="limits")
    for name in ("matrix", "centre", "lengths", "measure", "hold", "position"):
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=1e-12, atol=1e-12)
    polytope = dal.manipulability_polytope(dal.load("panda"), q)
    np.testing.assert_allclose(found["polytope"]["vertices"], polytope.vertices, rtol=1e-12, atol=1e-12)
    assert found["polytope"]["least"] == pytest.approx(polytope.least)


def test_an_ellipsoid_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, err = run("ellipsoid", ARM, *AT, "--kind", "force", "--plot", str(tmp_path / "e.png"))
    assert (code, "written:" in err) == (0, True)
    assert (tmp_path / "e.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("opspace", ARM, "--directions", "x,y"), "the task is singular: no joint moves it along x"),
        (("opspace", ARM, *AT, "--frame", "hand"), "frame: 'hand' is not known"),
        (("ellipsoid", ARM, *AT, "--limits"), "joint 'joint1' of 'two_link_planar' has none for its limit of effort"),
        (("ellipsoid", ARM, *AT, "--kind", "static"), "--kind: 'static' is not known"),
        (("ellipsoid", ARM, *AT, "--plot", "a.gif"), "--plot: 'a.gif' ends in '.gif', which is not a format of figures"),
    ],
)
def test_what_cannot_be_done_has_its_sentence(run, arguments, words):
    result = run(*arguments)
    assert (result.code, result.out) == (1, "")
    assert words in " ".join(result.err.split())
