"""Drives that share a load: no way to share it is faster, and torques within limits exist all along."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import dalembert as dal
from tests.mechanisms_with_drives import platform, two_arms

from .test_fastest_optimum import chord_spline
from .timing_cases import dense_times


def carried(mechanism, found, limits=None, parts=3):
    """The largest |u| / limit along a motion, of torques that share it best."""
    at = found.motion(dense_times(found.motion, parts=parts))
    shared = dal.distribute_load(mechanism, at.q, at.qd, at.qdd, objective="ratio", limits=limits)
    assert shared.feasible.all()
    return float(shared.objective.max())


def way_of(mechanism, rng, count=3, size=0.06):
    return np.array(mechanism.q0) + size * rng.normal(size=(count, mechanism.n))


def driven_rows(mechanism, q):
    """∂x/∂q of the driven joints by differences of assembled positions, (K, m, n)."""
    index = [mechanism.robot.joint_names.index(name) for name in mechanism.actuated]
    step, columns = 1e-6, []
    for e in step * np.eye(mechanism.n):
        columns.append((mechanism.assemble(q + e).x - mechanism.assemble(q - e).x)[..., index] / (2 * step))
    return np.stack(columns, axis=-1)


def optimum(mechanism, path, limits, N):
    """T by one linear program in x = ṡ² and in all torques u of the drives at the middles of intervals: the largest Σ x."""
    s = (1 - np.cos(np.pi * np.linspace(0, 1, N + 1))) / 2
    h, middle = np.diff(s), (s[1:] + s[:-1]) / 2
    q, q1, q2 = path(middle), path(middle, 1), path(middle, 2)
    still = np.zeros_like(q)
    gravity = dal.inverse_dynamics(mechanism, q, still, still)
    inertia = dal.inverse_dynamics(mechanism, q, still, q1) - gravity
    motion = dal.inverse_dynamics(mechanism, q, q1, q2) - gravity
    A, n, m = driven_rows(mechanism, q), mechanism.n, len(mechanism.actuated)
    before, after = motion / 2 - inertia / (2 * h)[:, None], motion / 2 + inertia / (2 * h)[:, None]
    k = np.arange(N)
    speeds = sparse.lil_matrix((N * n, N + 1))
    for i in range(n):
        speeds[n * k + i, k], speeds[n * k + i, k + 1] = before[:, i], after[:, i]
    torques = sparse.block_diag([row.T for row in A])
    bounds = [(0, 0), *[(0, None)] * (N - 1), (0, 0), *[(-limit, limit) for limit in limits] * N]
    found = linprog(
        np.append(-np.ones(N + 1), np.zeros(N * m)), A_eq=sparse.hstack([speeds, -torques]), b_eq=-gravity.ravel(), bounds=bounds
    )
    assert found.success, found.message
    z = np.sqrt(np.maximum(found.x[: N + 1], 0))
    return float((2 * h / (z[1:] + z[:-1])).sum())


@pytest.mark.slow
@pytest.mark.parametrize("case", ["three of six", "six of twelve"])
def test_the_time_is_that_of_a_linear_program_over_all_torques_of_the_drives(case, rng):
    arms = two_arms(effort=8.0) if case == "three of six" else dal.mechanisms.two_arms()
    joints = dict(zip(arms.robot.joint_names, arms.robot.structure.coordinates, strict=True))
    limits = [joints[name].limits.effort for name in arms.actuated]
    way = way_of(arms, rng)
    found = dal.fastest_timing(arms, way)
    expected = optimum(arms, chord_spline(way), limits, N=300)
    assert found.duration == pytest.approx(expected, rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_twelve_drives_carry_the_fastest_motion_within_their_limits(seed):
    """Also from the pose in which both arms mirror each other, where facets lose a direction."""
    arms = dal.mechanisms.two_arms()
    rng = np.random.default_rng(seed)
    way = np.concatenate([[arms.q0], way_of(arms, rng, count=2)])
    found = dal.fastest_timing(arms, way, intervals=200)
    assert 1 - 1e-4 < carried(arms, found) <= 1.0
    use = found.use[:, : len(arms.actuated)]
    assert ((use > 1 - 1e-4).sum(axis=1) >= 7).mean() > 0.5  # on a facet all drives but five are at their limits
    assert {limit for *_, limit in found.binding_parts()} <= {f"torque of {name!r}" for name in arms.actuated}


@pytest.mark.slow
def test_the_time_is_second_order_in_the_grid():
    """Along a way on which normals of facets turn round: each is followed to its side."""
    arms = dal.mechanisms.two_arms()
    way = (np.array(arms.q0) + 0.06 * np.random.default_rng(3).normal(size=(10, 3, 6)))[3]
    T = [float(dal.fastest_timing(arms, way, intervals=N).duration) for N in (100, 1000)]
    assert T[1] == pytest.approx(0.154307, rel=2e-5)  # of 3000 intervals
    assert T[0] == pytest.approx(T[1], rel=1.5e-3)


def test_pressing_against_each_other_is_faster_than_the_least_squares():
    """Without limits of rates, drives share as they like; with a limit that never binds, by least squares."""
    arms = two_arms(effort=8.0)
    q0 = np.array(arms.q0)
    way = [q0 + [-0.1, -0.1, -0.1], q0 + [0.15, 0.05, 0.2]]
    free = dal.fastest_timing(arms, way, intervals=100)
    fixed = dal.fastest_timing(arms, way, intervals=100, torque_rate=1e7)
    assert free.duration < 0.97 * fixed.duration
    assert 1 - 1e-4 < carried(arms, free) <= 1.0
    smooth = dal.fastest_timing(arms, way, intervals=100, jerk=2000.0)
    assert free.duration < smooth.duration < 1.05 * free.duration
    assert carried(arms, smooth) <= 1.0


@pytest.mark.parametrize("actuated", [("joint1", "joint3"), ("joint3",)])
def test_two_drives_of_a_four_bar_and_one_that_is_not_its_coordinate(actuated):
    four_bar = dal.mechanisms.four_bar().replace(actuated=actuated)
    found = dal.fastest_timing(four_bar, [[0.6], [2.2]], torque=20.0, intervals=300)
    assert 1 - 1e-4 < carried(four_bar, found, limits=20.0) <= 1.0
    assert {limit for *_, limit in found.binding_parts()} <= {f"torque of {name!r}" for name in actuated}


def test_dry_and_viscous_friction_of_driven_joints_is_carried_too(rng):
    plain = two_arms(effort=12.0)
    friction = {name: dal.Friction(coulomb=0.6, viscous=0.4) for name in plain.actuated}
    robot = plain.robot.replace(parameters=plain.robot.parameters.replace(friction=friction))
    arms = plain.replace(robot=robot)
    found = dal.fastest_timing(arms, way_of(arms, rng), intervals=200)
    assert found.duration > dal.fastest_timing(plain, way_of(plain, np.random.default_rng(0)), intervals=200).duration * 0.5
    assert 1 - 1e-3 < carried(arms, found) <= 1.0


def test_a_batch_of_ways_is_timed_as_each_alone(rng):
    arms = two_arms(effort=8.0)
    ways = np.array(arms.q0) + 0.05 * rng.normal(size=(3, 3, 3))
    several = dal.fastest_timing(arms, ways, intervals=60)
    assert several.duration.tolist() == [float(dal.fastest_timing(arms, way, intervals=60).duration) for way in ways]


def test_a_drive_without_a_limit_bounds_nothing():
    arms = two_arms(effort=8.0)
    q0 = np.array(arms.q0)
    way = [q0 + [-0.1, -0.1, -0.1], q0 + [0.15, 0.05, 0.2]]
    strong, free = (dal.fastest_timing(arms, way, torque={"left_joint1": size}, intervals=60) for size in (1e5, np.inf))
    assert free.duration == pytest.approx(float(strong.duration), rel=1e-6)
    assert not any("left_joint1" in limit for limit in free.limits)
    assert free.use.shape[-1] == len(free.limits)


def test_drives_that_cannot_hold_the_load_are_named_with_what_they_lack():
    arms = two_arms(effort=8.0)
    way = np.array(arms.q0) + [[-0.1, -0.1, -0.1], [0.15, 0.05, 0.2]]
    with pytest.raises(
        dal.DalembertError, match=r"drives left_joint\d.*: at s = .* alone need [\d.]+ times their largest"
    ) as told:
        dal.fastest_timing(arms, way, torque=3.0, intervals=60)
    assert "whichever way they share them and however slow" in str(told.value)
    four_bar = dal.mechanisms.four_bar().replace(actuated=("joint3",))
    with pytest.raises(dal.DalembertError, match=r"drive 'joint3': at s = .* need [\d.]+ times its largest torque \(0.1 N m\)"):
        dal.fastest_timing(four_bar, [[0.6], [2.2]], torque=0.1, intervals=60)


def test_legs_of_a_platform_share_its_load(rng):
    stand = platform(effort=60.0)
    found = dal.fastest_timing(stand, way_of(stand, rng, size=0.03), intervals=100)
    assert 1 - 1e-3 < carried(stand, found) <= 1.0
