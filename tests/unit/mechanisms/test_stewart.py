"""Stewart platforms: lengths of legs and torques by plain geometry."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.unit.mechanisms.independent import poses

PLATFORM = dal.mechanisms.stewart("pose")
LEGS = dal.mechanisms.stewart()


def ends(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the legs at x, y, z, roll, pitch, yaw; the points are read from the mechanism's parts."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(pose[3:]), np.sin(pose[3:])
    Rz, Ry = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]), np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    R = Rz @ Ry @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    origins = {joint.name: joint.origin[:3, 3] for joint in PLATFORM.robot.structure.joints}
    lower = np.array([origins[f"leg{k}_x"] for k in range(1, 7)])
    upper = np.array([closure.between[1][1][:3, 3] for closure in PLATFORM.closures])
    return lower, pose[:3] + upper @ R.T


def lengths(pose: np.ndarray) -> np.ndarray:
    lower, upper = ends(pose)
    return np.linalg.norm(upper - lower, axis=1)


@pytest.fixture
def sampled(rng):
    return PLATFORM.q0 + rng.uniform(-0.15, 0.15, (20, 6))


def legs_of(x: np.ndarray) -> np.ndarray:
    return x[..., [LEGS.robot.joint_names.index(name) for name in LEGS.joint_names]]


def test_the_points_of_the_legs_lie_on_two_circles():
    lower, upper = ends(np.zeros(6))
    for points, middle in ((lower, [-1.5, 0, 0]), (upper, [0, 0, -0.4])):
        radii = np.linalg.norm(points - middle, axis=1)
        assert np.ptp(radii) < 1.5e-3  # coordinates are given to a millimetre


def test_the_legs_are_as_long_as_their_ends_are_apart(sampled):
    found = legs_of(PLATFORM.assemble(sampled).x)
    assert found == pytest.approx(np.array([lengths(pose) for pose in sampled]), abs=1e-13)


def test_the_platform_is_found_again_from_the_lengths_of_its_legs(sampled):
    x = LEGS.assemble([lengths(pose) for pose in sampled]).x
    assert x[:, [0, 1, 2, 5, 4, 3]] == pytest.approx(sampled, abs=1e-12)  # the tree has yaw, pitch, roll


def test_forces_along_the_legs_are_the_forces_at_the_pose(sampled, rng):
    q, (qd, qdd) = sampled[0], rng.normal(size=(2, 6))
    h = 1e-6
    steps = h * np.eye(6)
    G = np.array([(lengths(q + step) - lengths(q - step)) / (2 * h) for step in steps]).T
    rate = (lengths(q + h * qd + h**2 / 2 * qdd) - lengths(q - h * qd + h**2 / 2 * qdd)) / (2 * h)
    h = 1e-4  # for second differences
    second = (lengths(q + h * qd + h**2 / 2 * qdd) - 2 * lengths(q) + lengths(q - h * qd + h**2 / 2 * qdd)) / h**2
    along = dal.inverse_dynamics(LEGS, lengths(q), rate, second)
    at_pose = dal.inverse_dynamics(PLATFORM, q, qd, qdd)
    assert G.T @ along == pytest.approx(at_pose, rel=1e-6, abs=1e-6 * np.abs(along).max())  # second differences have 1e-7


def test_at_rest_the_legs_carry_what_stands_on_them():
    """The sum of upright forces at the base is the weight: each leg's own weight, and what its ball passes on."""
    q = lengths(PLATFORM.q0 + [0.05, -0.04, 0.1, 0.1, -0.05, 0.2])
    held = dal.constraint_forces(LEGS, q, np.zeros(6), np.zeros(6)).closures  # on the platform, at the balls
    weight = 9.81 * 1.5
    assert held[:, :3].sum(axis=0) == pytest.approx([0, 0, weight], abs=1e-11)
    X = poses(LEGS, LEGS.assemble(q).x)
    balls = [X["platform"] @ closure.between[1][1][:, 3] for closure in LEGS.closures]
    moment = sum(np.cross(ball[:3] - X["platform"][:3, 3], f[:3]) for ball, f in zip(balls, held, strict=True))
    assert moment == pytest.approx(np.zeros(3), abs=1e-11)


def test_an_unknown_choice_of_coordinates_is_refused():
    with pytest.raises(dal.DalembertError, match="coordinates: .*'lengths'.*legs.*pose"):
        dal.mechanisms.stewart("lengths")


@pytest.mark.slow
def test_the_hands_of_six_arms_stay_in_the_platform(rng):
    mechanism = dal.mechanisms.stewart_six_joint_legs()
    for x in mechanism.assemble(mechanism.q0 + rng.uniform(-0.08, 0.08, (5, 6))).x:
        X = poses(mechanism, x)
        for k in range(2, 7):
            assert X[f"leg{k}_hand"][:3, :3] == pytest.approx(X["platform"][:3, :3], abs=1e-13)
