"""A closure that lets nothing turn holds its frames in one orientation, not half a turn apart."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError


def ring(guess):
    """Three bars whose last is welded to the ground where the first begins: a triangle, in the plane."""
    links = [dal.Link("ground"), *(dal.Link(f"bar{k}", 1.0, (0.5, 0, 0), 0.1 * np.eye(3)) for k in (1, 2, 3, 4))]
    shift = np.eye(4)
    shift[0, 3] = 1.0
    places = [np.eye(4), shift, shift, shift]
    parents = ["ground", "bar1", "bar2", "bar3"]
    joints = [dal.Joint(f"j{k}", "continuous", parents[k - 1], f"bar{k}", origin=places[k - 1]) for k in (1, 2, 3, 4)]
    tree = dal.Robot.from_parts("ring", links, joints)
    weld = dal.Closure("weld", "directions", ("bar4", ("world", (1.0, 1.0, 0))), directions=("x", "y", "rx", "ry", "rz"))
    return dal.Mechanism("ring", tree, [weld], ["j1"], guess)


def test_a_guess_near_the_right_orientation_closes():
    found = ring([np.pi / 2, 0.5, -2.0, -0.1])
    X = dal.forward_kinematics(found.robot, found.seed, link="bar4")
    assert X[:3, :3] == pytest.approx(np.eye(3), abs=1e-9)


def test_a_guess_from_which_frames_would_be_half_a_turn_apart_is_refused():
    with pytest.raises(ModelError, match=r"closure 'weld' is met near the guess with frames half a turn apart; it holds"):
        ring([np.pi / 2, 0.5, -2.0, np.pi - 0.1])
