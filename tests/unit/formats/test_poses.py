"""Roll, pitch, yaw and rotation matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalembert.formats.poses import make_pose, rotate_tensor, rotation_from_rpy, rpy_from_rotation, turn

ANGLES = st.tuples(*[st.floats(-7, 7)] * 3)
TEN_DIGITS = 1.570796327  # a quarter turn as files print it


@given(ANGLES)
def test_the_rotation_of_the_angles_of_a_rotation_is_that_rotation(rpy):
    R = rotation_from_rpy(rpy)
    assert rotation_from_rpy(rpy_from_rotation(R)) == pytest.approx(R, abs=1e-8)  # rounding, magnified near pitch 90°
    assert pytest.approx(np.eye(3), abs=1e-14) == R @ R.T


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_at_pitch_90_degrees_yaw_is_zero_and_the_rotation_is_kept(pitch):
    R = rotation_from_rpy((0.3, pitch, 0.8))
    roll, _, yaw = rpy_from_rotation(R)
    assert yaw == 0
    assert rotation_from_rpy((roll, pitch, yaw)) == pytest.approx(R, abs=1e-15)


@pytest.mark.parametrize("rpy", [(TEN_DIGITS, 0, 0), (0, -TEN_DIGITS, np.pi), (2 * TEN_DIGITS, TEN_DIGITS, -3 * np.pi / 2)])
def test_quarter_turns_give_matrices_of_exact_zeros_and_ones(rpy):
    assert set(np.abs(rotation_from_rpy(rpy)).ravel()) == {0.0, 1.0}


def test_an_angle_written_as_1_5708_stays_as_written():
    assert rotation_from_rpy((1.5708, 0, 0))[1, 1] == np.cos(1.5708) != 0


def test_roll_turns_first_about_the_fixed_x_axis():
    R = rotation_from_rpy((np.pi / 2, 0, np.pi / 2))
    assert (R @ [0, 1, 0]).tolist() == [0, 0, 1]  # roll takes y to z, and yaw leaves it there
    assert (R @ [1, 0, 0]).tolist() == [0, 1, 0]


@given(ANGLES, st.floats(-7, 7))
def test_a_turn_about_an_axis_keeps_the_axis(direction, angle):
    axis = np.array([1.0, 0, 0]) if np.linalg.norm(direction) < 0.1 else np.array(direction) / np.linalg.norm(direction)
    R = turn(axis, angle)
    assert R @ axis == pytest.approx(axis, abs=1e-12)
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(angle), abs=2e-9)  # quarter turns are snapped within 1e-9


def test_a_tensor_is_untouched_by_the_identity_and_symmetric_after_any_rotation():
    I = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    assert rotate_tensor(np.eye(3), I) is I
    rotated = rotate_tensor(rotation_from_rpy((0.1, 0.2, 0.3)), I)
    assert np.array_equal(rotated, rotated.T)
    assert np.linalg.eigvalsh(rotated) == pytest.approx(np.linalg.eigvalsh(I), abs=1e-15)


def test_a_pose_without_a_rotation_is_a_shift():
    assert make_pose((1, 2, 3)).tolist() == [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
