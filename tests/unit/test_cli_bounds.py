"""The command `dalembert bounds`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as dal


def test_torques_are_printed_with_what_was_proved(run):
    result = run("bounds", "scara", "--qd", "1", "--qdd", "2")
    assert result.code == 0
    assert result.out.startswith("No value of inverse_dynamics of 'scara' is outside of")
    assert all(name in result.out for name in ("joint1", "joint4", "proved to", "N m"))


def test_as_json_everything_is_there(run):
    result = run("bounds", "pelican", "--quantity", "gravity_torque", "--which", "joint1", "--which", "1", "--json")
    assert result.code == 0
    found, expected = json.loads(result.out), dal.bounds(dal.robots.pelican(), "gravity_torque")
    assert found["entries"] == ["joint1", "joint2"]
    assert found["upper"] == expected.upper.tolist()
    assert found["maximum"]["at"]["q"] == expected.maximum.at["q"].tolist()
    assert found["finished"] is True


def test_ranges_can_be_given_in_degrees(run):
    arguments = ("--lower", "-10", "--upper", "20", "30", "--qd", "0", "--qdd", "0", "--payload", "1", "2", "--degrees", "--json")
    result = run("bounds", "pelican", *arguments)
    assert result.code == 0
    box = json.loads(result.out)["box"]
    assert box["q"] == [pytest.approx(np.radians([-10, -10]).tolist()), pytest.approx(np.radians([20, 30]).tolist())]
    assert box["payload"] == [[1.0], [2.0]]


@pytest.mark.slow
def test_when_time_is_up_the_command_fails_with_bounds(run):
    result = run("bounds", "puma560", "--rtol", "1e-9", "--seconds", "0.3")
    assert result.code == 1
    assert "the search ended before every gap was within" in result.out


def test_a_quantity_that_is_not_known_is_one_line(run):
    result = run("bounds", "scara", "--quantity", "torgue")
    assert result.code == 1
    assert result.err.startswith("error: quantity: 'torgue'")
