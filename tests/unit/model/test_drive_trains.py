"""The matrix between motors and coordinates: virtual work, redundancy, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.errors import ModelError, ShapeError
from dalembert.model import DriveTrain, Motor

MOTOR = Motor(1.0, 0.05, inertia=2e-5, damping=1e-6)
WRIST = np.array([[80.0, 0.0, 0.0], [-1.2, 70.0, 0.0], [-1.1, -0.2, 75.0]])


def train(matrix, **options):
    m, n = np.shape(matrix)
    return DriveTrain({f"m{k}": MOTOR for k in range(m)}, matrix, [f"q{k}" for k in range(n)], **options)


@pytest.mark.parametrize("matrix", [np.diag([50.0, -30.0]), WRIST, [[10, 10], [10, -10]], [[5, 0], [3, 4], [0, 2], [1, 1]]])
def test_power_is_the_same_on_both_sides(matrix):
    rng = np.random.default_rng(3)
    drive = train(matrix)
    qd, tau = rng.normal(size=(2, 7, drive.matrix.shape[1]))
    torques = drive.motor_torques(tau)
    np.testing.assert_allclose(drive.joint_torques(torques), tau, atol=1e-12)  # rounding
    np.testing.assert_allclose((torques * drive.speeds(qd)).sum(-1), (tau * qd).sum(-1), atol=1e-12)


def test_of_redundant_torques_the_least_weighted_squares_are_taken():
    """Any other torques with the same effect differ by something in the null space of Tᵀ, and cost more."""
    weights = np.array([1.0, 4.0, 0.5])
    drive = train([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]], weights=weights)
    found = drive.motor_torques([1.0, -2.0])
    null = np.linalg.svd(drive.matrix.T)[2][-1]
    assert abs(np.sum(weights * found * null)) < 1e-14  # the slope of the cost along the null space
    np.testing.assert_allclose(train(drive.matrix).sharing, np.linalg.pinv(drive.matrix.T), atol=1e-14)


def test_inertia_and_damping_of_motors_at_the_coordinates():
    drive = train(WRIST)
    np.testing.assert_allclose(drive.inertia, 2e-5 * WRIST.T @ WRIST, rtol=1e-14)
    np.testing.assert_allclose(drive.damping, 1e-6 * WRIST.T @ WRIST, rtol=1e-14)
    assert not train(WRIST, added=False).inertia.any()


REFUSED = {
    "too few": (np.ones((1, 2)), {}, "1 motor move 1 of 2 coordinates independently"),
    "dependent": ([[1, 1], [2, 2]], {}, "2 motors move 1 of 2 coordinates independently"),
    "weights": ([[1.0], [2.0]], {"weights": [1.0, -1.0]}, "positive numbers are expected"),
    "shape": ([[1.0], [2.0]], {"weights": [1.0]}, "drive train: weights"),
    "nan": ([[np.nan]], {}, "drive train: matrix"),
}


@pytest.mark.parametrize("matrix, options, words", REFUSED.values(), ids=REFUSED)
def test_a_train_that_drives_nothing_is_refused(matrix, options, words):
    with pytest.raises(ModelError) as refusal:
        train(matrix, **options)
    assert words in str(refusal.value)


def test_gears_are_given_once():
    with pytest.raises(ModelError, match="a ratio found at a, but the matrix has the gears in it"):
        DriveTrain({"a": MOTOR.replace(ratio=3.0)}, [[2.0]], ["q"])


def test_what_a_motor_does_not_say_is_named():
    drive = DriveTrain({"hip": Motor(torque_constant=0.1)}, [[2.0]], ["q"])
    with pytest.raises(ModelError, match="motor 'hip': no resistance found, which this needs"):
        drive.column("resistance")
    with pytest.raises(ShapeError, match=r"qd: shape \(2,\) found, \(\.\.\., 1\) expected"):
        drive.speeds([1.0, 2.0])
