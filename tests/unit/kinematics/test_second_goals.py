"""What a redundant arm does with its freedom, and the best of several solutions."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError

PANDA = dal.robots.panda()
LOWER, UPPER = np.array([(j.limits.lower, j.limits.upper) for j in PANDA.structure.coordinates]).T
MIDDLE, HALF = (LOWER + UPPER) / 2, (UPPER - LOWER) / 2


def along_the_pose(q, gradient):
    """The part of a gradient that a pose leaves free."""
    J = dal.jacobian(PANDA, q)
    return gradient - np.einsum("kij,kjl,kl->ki", np.linalg.pinv(J), J, gradient)


@pytest.fixture
def problem(rng):
    q = MIDDLE + rng.uniform(-0.6, 0.6, (60, 7)) * HALF
    return dal.forward_kinematics(PANDA, q), q + rng.uniform(-0.2, 0.2, q.shape)


def test_near_is_as_near_as_the_pose_allows(problem):
    """Nothing that the pose leaves free is left of the difference, where no limit is touched."""
    wanted, q0 = problem
    plain = dal.inverse_kinematics(PANDA, wanted, q0=q0)
    found = dal.inverse_kinematics(PANDA, wanted, q0=q0, secondary="near", tolerance=1e-7)
    assert found.success.all()
    assert np.abs(found.pose - wanted).max() < 1e-6
    far = [np.square(x.q - q0).sum(axis=1) for x in (plain, found)]
    assert np.all(far[1] <= far[0] + 1e-5)
    inside = np.all((found.q > LOWER + 1e-6) & (found.q < UPPER - 1e-6), axis=1)
    assert inside.sum() > 40
    assert np.median(np.abs(along_the_pose(found.q, found.q - q0)[inside]).max(axis=1)) < 1e-5


def test_away_from_limits_is_nearer_to_the_middle(problem):
    wanted, q0 = problem
    weights = (HALF.min() / HALF) ** 2
    plain = dal.inverse_kinematics(PANDA, wanted, q0=q0)
    found = dal.inverse_kinematics(PANDA, wanted, q0=q0, secondary="limits")
    assert found.success.all()
    values = [(weights * np.square(x.q - MIDDLE)).sum(axis=1) for x in (plain, found)]
    assert np.all(values[1] <= values[0] + 1e-4)
    assert values[1].mean() < 0.95 * values[0].mean()
    assert np.median(np.abs(along_the_pose(found.q, weights * (found.q - MIDDLE))).max(axis=1)) < 1e-4


def test_manipulability_grows(problem):
    wanted, q0 = problem

    def measure(q):
        J = dal.jacobian(PANDA, q)
        return np.sqrt(np.linalg.det(J @ J.swapaxes(1, 2)))

    plain = dal.inverse_kinematics(PANDA, wanted, q0=q0)
    found = dal.inverse_kinematics(PANDA, wanted, q0=q0, secondary="manipulability")
    assert found.success.all()
    assert np.abs(found.pose - wanted).max() < 2e-5
    assert np.all(measure(found.q) >= measure(plain.q) - 1e-4)
    assert measure(found.q).mean() > 1.1 * measure(plain.q).mean()
    assert np.all((found.q >= LOWER) & (found.q <= UPPER))


def test_free_directions_make_any_arm_redundant(rng):
    robot = dal.robots.ur5()
    q = rng.uniform(-1.5, 1.5, (20, 6))
    points = dal.forward_kinematics(robot, q)[:, :3, 3]
    plain = dal.inverse_kinematics(robot, points, q0=np.zeros(6), directions="position")
    found = dal.inverse_kinematics(robot, points, q0=np.zeros(6), directions="position", secondary="near")
    assert found.success.all()
    assert np.all(np.square(found.q).sum(axis=1) <= np.square(plain.q).sum(axis=1) + 1e-5)
    assert np.allclose(found.pose[:, :3, 3], points, atol=1e-5)


def test_several_seeds_give_the_solution_nearest_to_the_start(rng):
    robot = dal.robots.ur5()
    q0 = np.zeros(6)
    wanted = dal.forward_kinematics(robot, rng.uniform(-2.0, 2.0, (30, 6)))
    one, many = (dal.inverse_kinematics(robot, wanted, q0=q0, seeds=k) for k in (1, 30))
    far = [np.abs(x.q - q0).max(axis=1) for x in (one, many)]
    assert many.success.all()
    assert np.all(far[1] <= far[0] + 1e-4)
    best = np.abs(dal.inverse_branches(robot, wanted).nearest(q0)).max(axis=1)
    assert np.mean(far[1] < best + 1e-3) > 0.8  # the nearest of all branches, as a rule


def test_rows_that_fail_stay_as_they_are(rng):
    wanted = dal.forward_kinematics(PANDA, MIDDLE)[None].repeat(3, axis=0)
    wanted[1, :3, 3] = 5.0
    with pytest.warns(dal.DalembertWarning, match="1 of 3 poses failed"):
        found = dal.inverse_kinematics(PANDA, wanted, q0=MIDDLE, secondary="limits", seeds=2)
    assert list(found.success) == [True, False, True]
    assert np.isfinite(found.q).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"secondary": "far"}, "secondary: 'far' is not known"),
        ({"secondary": "near"}, "secondary: 'near' found without q0"),
        ({"secondary": "limits", "continuous": True}, "secondary: found with continuous=True"),
        ({"seeds": 3, "continuous": True}, "seeds: several found with continuous=True"),
        ({"seeds": 0}, "seeds: 0 found; a whole number from 1"),
    ],
)
def test_goals_without_a_meaning_are_refused(options, words):
    with pytest.raises((ModelError, LookupError), match=words):
        dal.inverse_kinematics(PANDA, dal.forward_kinematics(PANDA, MIDDLE)[None], **options)


def test_an_arm_without_freedom_has_no_second_goal():
    robot = dal.robots.ur5()
    with pytest.raises(ModelError, match="secondary: 'limits' found, but 6 directions take all of the 6 coordinates"):
        dal.inverse_kinematics(robot, dal.forward_kinematics(robot, np.zeros(6)), secondary="limits")
