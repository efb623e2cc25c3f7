"""The command `dalembert mobility`."""

from __future__ import annotations

import json

import pytest

import dalembert as dal
from dalembert.cli import check


@pytest.fixture
def four_bar(monkeypatch):
    monkeypatch.setattr(check, "load_quietly", lambda source: getattr(dal.mechanisms, source)())


def test_an_arm_has_as_many_freedoms_as_joints(run):
    result = run("mobility", "puma560")
    assert result.code == 0
    out = result.out
    assert out.startswith("puma560: 6 freedoms; the position is regular\n")
    assert "Gruebler-Kutzbach" in out


@pytest.mark.usefixtures("four_bar")
def test_a_mechanism_is_reported_where_it_is_assembled(run):
    result = run("mobility", "four_bar")
    assert result.code == 0
    out = result.out
    assert out.startswith("four_bar: 1 freedom; the position is regular\n")
    assert "3 − 2 = 1 in the plane: as counted." in out


@pytest.mark.usefixtures("four_bar")
def test_coordinates_can_be_given_in_degrees(run):
    result = run("mobility", "crank_rocker", "--q", "90", "--degrees", "--json")
    assert result.code == 0
    found = json.loads(result.out)
    assert found["x"] == pytest.approx(dal.mechanisms.crank_rocker().assemble([1.5707963267948966]).x.tolist(), abs=1e-12)


@pytest.mark.usefixtures("four_bar")
def test_as_json_everything_is_there(run):
    result = run("mobility", "four_bar", "--json")
    assert result.code == 0
    found, expected = json.loads(result.out), dal.mobility(dal.mechanisms.four_bar())
    assert (found["freedoms"], found["kind"], found["redundant"], found["idle"]) == (1, "regular", [], [])
    assert found["gruebler"]["in_its_space"] == {"freedoms": 1, "dimension": 3, "joints": 3, "held": 2}
    assert found["singular_values"] == expected.singular_values.tolist()
    assert found["proposal"]["names"] == list(expected.proposal.names)
    assert found["coordinates"]["names"] == ["joint1"]


@pytest.mark.usefixtures("four_bar")
def test_coordinates_out_of_reach_are_one_line(run):
    result = run("mobility", "four_bar", "--q", "3.0")
    assert result.code == 1
    assert "it has no positions at joint1 = 3" in result.err
