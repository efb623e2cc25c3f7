"""Commands with mechanisms: by their names in the catalogue, and from files."""

from __future__ import annotations

import inspect
import json
import re

import numpy as np
import pytest

import dalembert as dal
from dalembert.cli.catalogue import MECHANISMS
from dalembert.model.position_functions import Chosen, Component, JointSum, LinkAngle


@pytest.fixture
def file(tmp_path):
    """Save a mechanism and give back the path."""

    def save(mechanism) -> str:
        path = tmp_path / "linkage.toml"
        dal.save(mechanism, path)
        return str(path)

    return save


def over_closed():
    """The four-bar with a whole revolute joint at its end, which holds three things that the plane holds already."""
    four_bar = dal.mechanisms.four_bar()
    return four_bar.replace(closures=[dal.Closure("pin", "revolute", four_bar.closures[0].between)])


# list


@pytest.mark.parametrize("name", dal.mechanisms.CATALOGUE)
def test_the_list_is_in_step_with_the_catalogue(name):
    assert list(MECHANISMS) == list(dal.mechanisms.CATALOGUE)
    mechanism = dal.mechanisms.CATALOGUE[name]()
    first = inspect.getdoc(dal.mechanisms.CATALOGUE[name]).partition("\n")[0].partition(" [")[0].rstrip(".")
    assert MECHANISMS[name] == (mechanism.robot.n, mechanism.n, first)


def test_list_names_every_mechanism(run):
    out = run("list").out
    assert all(name in out for name in dal.mechanisms.CATALOGUE)
    entries = {entry["name"]: entry for entry in json.loads(run("list", "--json").out)}
    assert entries["four_bar"]["kind"] == "mechanism"
    assert (entries["four_bar"]["joints"], entries["four_bar"]["n"]) == (3, 1)


# show


def test_show_tells_coordinates_closures_and_freedoms(run):
    code, out, err = run("show", "four_bar")
    assert (code, err) == (0, "")
    assert "1 freedom: 3 joints less 2 independent conditions" in out
    assert re.search(r"^pin +directions +rocker at 0\.5  0  0 m and world at 0\.9346  0\.0862  0 m +x, y$", out, re.M)
    assert re.search(r"^joint1 +this joint +– +68\.76 +°$", out, re.M)
    assert re.search(r"^joint2 +−45\.84 +−45\.84 +°$", out, re.M)
    assert "drives    at joint1" in out


def test_show_tells_what_coordinates_and_elements_are(run, file):
    mechanism = dal.mechanisms.four_bar().replace(
        coordinates=[Chosen("height", Component(("coupler", (0.1, 0, 0)), (0, 1, 0)), turns=False, limits=dal.Limits(0, 1))],
        springs=[dal.Spring(3.0, between=("rocker", ("world", (1, 0, 0))), rest=0.1)],
        dampers=[dal.Damper(0.2, joint="joint3")],
    )
    out = run("show", file(mechanism)).out
    assert re.search(r"^height +coupler \(0\.1  0  0\) along y +0 … 1 +0\.318\d +m$", out, re.M)
    assert re.search(r"^spring +rocker and world \(1  0  0\) +3 +0\.1$", out, re.M)
    assert re.search(r"^damper +joint joint3 +0\.2 +–$", out, re.M)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (JointSum({"joint1": 1, "joint2": 0.5}), "joint1 + 0.5 joint2"),
        (LinkAngle("coupler", "yaw"), "yaw of coupler"),
        (Component("coupler", (0, 1, 0), "crank", "rocker"), "coupler from crank along y of rocker"),
    ],
)
def test_a_function_of_positions_is_told_in_words(function, words):
    from dalembert.cli.show_mechanism import words_of

    assert words_of(function) == words


def test_show_as_json_holds_the_same(run):
    record = json.loads(run("show", "four_bar", "--json").out)
    assert (record["name"], record["n"], len(record["joints"])) == ("four_bar", 1, 3)
    assert record["coordinates"][0]["assembled_at"] == dal.mechanisms.four_bar().q0[0]
    assert [held["what"] for held in record["closures"][0]["holds"]] == ["x", "y"]
    assert record["closing"]["freedoms"] == 1
    assert record["seed"] == dal.mechanisms.four_bar().seed.tolist()


# check


def test_check_passes_a_sound_mechanism_also_when_strict(run):
    assert run("check", "four_bar", "--strict").code == 0


def test_check_names_redundant_closures_and_fails_on_them_when_strict(run, file):
    path = file(over_closed())
    code, out, err = run("check", path)
    assert (code, err) == (0, "")
    assert re.search(
        r"! redundant-closures: 3 of 5 conditions hold what others hold already \(pin z, pin axis 1, pin axis 2\)", out
    )
    assert run("check", path, "--strict").code == 1
    record = json.loads(run("check", path, "--json").out)
    assert record["findings"][0]["code"] == "redundant-closures"
    assert record["closing"]["redundant"] == ["pin z", "pin axis 1", "pin axis 2"]
    assert record["closing"]["residual"] < 1e-12
    assert "near-singular" in record["checks_passed"]


def test_a_mechanism_that_cannot_be_closed_is_an_error_in_one_line(run, file, tmp_path):
    text = (tmp_path / file(dal.mechanisms.four_bar())).read_text().replace("0.9346", "9.346")
    (tmp_path / "open.toml").write_text(text)
    code, out, err = run("check", str(tmp_path / "open.toml"))
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert re.search(r"open\.toml:\d+: mechanism 'four_bar': closure 'pin' cannot be met", err)


# numbers


def test_dynamics_starts_from_the_assembled_position(run):
    record = json.loads(run("dynamics", "four_bar", "--json").out)
    mechanism = dal.mechanisms.four_bar()
    assert record["q"] == mechanism.q0.tolist()
    assert record["tau"] == pytest.approx(dal.gravity_torque(mechanism, mechanism.q0), rel=1e-13)


def test_dynamics_in_degrees_takes_lengths_as_they_are(run):
    record = json.loads(run("dynamics", "screw_press", "--q", "90", "--degrees", "--json").out)
    assert record["q"] == [np.radians(90)]
    code, _, err = run("dynamics", "four_bar", "--q", "1", "2")
    assert code == 1
    assert "q: 2 values found, but 'four_bar' has 1 coordinate, so 1 expected: joint1." in err


def test_a_position_out_of_reach_is_an_error_in_one_line(run):
    code, out, err = run("dynamics", "four_bar", "--q", "3")
    assert (code, out) == (1, "")
    assert re.fullmatch(r"error: mechanism 'four_bar': it has no positions at joint1 = 3: closure 'pin' .*\n", err)


def test_contributions_of_a_motion_of_a_mechanism_add_up(run):
    record = json.loads(run("contributions", "four_bar", "--to", "1.5", "--time", "1", "--samples", "11", "--json").out)
    whole = np.sum(list(record["by_cause"].values()), axis=0)
    assert whole == pytest.approx(np.array(record["tau"]), rel=1e-10, abs=1e-12)  # a sum of six parts
    assert record["q"][0] == dal.mechanisms.four_bar().q0.tolist()


@pytest.mark.slow
def test_all_formulations_agree_on_a_mechanism(run):
    code, out, err = run("compare", "four_bar", "--samples", "20", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["properties"]["hold"]
    for row in record["formulations"].values():
        assert max(row["differences"].values()) < 1e-12


def test_export_writes_a_function_of_the_coordinates(run):
    code, out, _ = run("export", "four_bar", "--language", "python")
    assert code == 0
    space: dict[str, object] = {}
    exec(out, space)
    q, qd, qdd = [1.2], [1.5], [-0.7]
    (function,) = [value for name, value in space.items() if name.endswith("inverse_dynamics")]
    found = np.ravel(function(np.array(q), np.array(qd), np.array(qdd)))
    assert found == pytest.approx(dal.inverse_dynamics(dal.mechanisms.four_bar(), q, qd, qdd), rel=1e-11)


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("command", [("show", "delta_rods"), ("check", "two_finger_hand"), ("dynamics", "two_finger_hand")])
def test_tables_fit_the_terminal(run, monkeypatch, columns, command):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    code, out, err = run(*command)
    assert code == 0, err
    assert max(len(line) for line in re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()) <= columns


def test_equations_of_a_mechanism_are_closed_where_its_closures_are_linear(run):
    code, out, _ = run("equations", "parallelogram", "--quantity", "M")
    assert code == 0
    assert "closed form" in out
    code, out, _ = run("equations", "four_bar", "--symbols", "none")
    assert code == 0
    assert "program form" in out
