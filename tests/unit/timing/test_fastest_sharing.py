"""Drives that share a load: no way to share it is faster, and torques within limits exist all along."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import dalembert as dal
from tests.mechanisms_with_drives import platform, three_fingers, two_arms, two_fingers

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
    found = dal.fastest_timing(arms, way, velocity=np.inf)
    expected = optimum(arms, chord_spline(way), limits, N=300)
    assert found.duration == pytest.approx(expected, rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_twelve_drives_carry_the_fastest_motion_within_their_limits(seed):
    """Also from the pose in which both arms mirror each other, where facets lose a direction."""
    arms = dal.mechanisms.two_arms()
    rng = np.random.default_rng(seed)
    way = np.concatenate([[arms.q0], way_of(arms, rng, count=2)])
    found = dal.fastest_timing(arms, way, velocity=np.inf, intervals=200)
    assert 1 - 1e-4 < carried(arms, found) <= 1.0
    use = found.use[:, : len(arms.actuated)]
    assert ((use > 1 - 1e-4).sum(axis=1) >= 7).mean() > 0.5  # on a facet all drives but five are at their limits
    assert {limit for *_, limit in found.binding_parts()} <= {f"torque of {name!r}" for name in arms.actuated}


@pytest.mark.slow
def test_the_time_is_second_order_in_the_grid():
    """Along a way on which normals of facets turn round: each is followed to its side."""
    arms = dal.mechanisms.two_arms()
    way = (np.array(arms.q0) + 0.06 * np.random.default_rng(3).normal(size=(10, 3, 6)))[3]
    T = [float(dal.fastest_timing(arms, way, velocity=np.inf, intervals=N).duration) for N in (100, 1000)]
    assert T[1] == pytest.approx(0.154307, rel=2e-5)  # of 3000 intervals
    assert T[0] == pytest.approx(T[1], rel=1.5e-3)


@pytest.mark.slow
def test_drives_press_against_each_other_where_that_is_faster():
    """Least squares, which press as little as can be, exceed limits along the motion."""
    arms = two_arms(effort=8.0)
    q0 = np.array(arms.q0)
    way = [q0 + [-0.1, -0.1, -0.1], q0 + [0.15, 0.05, 0.2]]
    free = dal.fastest_timing(arms, way, intervals=100)
    assert 1 - 1e-4 < carried(arms, free) <= 1.0
    at = free.motion(dense_times(free.motion, parts=3))
    assert np.abs(dal.distribute_load(arms, at.q, at.qd, at.qdd, limits=np.inf).torques).max() > 1.1 * 8.0
    smooth = dal.fastest_timing(arms, way, intervals=100, jerk=2000.0)
    assert free.duration < smooth.duration < 1.05 * free.duration
    assert carried(arms, smooth) <= 1.0


@pytest.mark.parametrize("actuated", [("joint1", "joint3"), ("joint3",)])
def test_two_drives_of_a_four_bar_and_one_that_is_not_its_coordinate(actuated):
    four_bar = dal.mechanisms.four_bar().replace(actuated=actuated)
    found = dal.fastest_timing(four_bar, [[0.6], [2.2]], torque=20.0, intervals=300)
    assert 1 - 1e-4 < carried(four_bar, found, limits=20.0) <= 1.0
    assert {limit for *_, limit in found.binding_parts()} <= {f"torque of {name!r}" for name in actuated}


@pytest.mark.slow
def test_dry_and_viscous_friction_of_driven_joints_is_carried_too(rng):
    plain = two_arms(effort=12.0)
    friction = {name: dal.Friction(coulomb=0.6, viscous=0.4) for name in plain.actuated}
    robot = plain.robot.replace(parameters=plain.robot.parameters.replace(friction=friction))
    arms = plain.replace(robot=robot)
    found = dal.fastest_timing(arms, way_of(arms, rng), intervals=200)
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


FRICTION = 0.6
TIPS = {"left_tip": dal.Contact((1, 0, 0), FRICTION), "right_tip": dal.Contact((-1, 0, 0), FRICTION)}
SHIFT = np.array([[0.0, 0.0, 0.0], [0.03, 0.02, 0.05]])


def gripped_optimum(hand, path, limit, N):
    """T of a two-finger hand by one linear program in x = ṡ² and in the squeeze at the middles of intervals.

    Torques and forces are linear in s̈, ṡ² and the squeeze; what each of them does is told by `distribute_load` with the squeeze
    held at 0 and at 1 N.
    """
    s = (1 - np.cos(np.pi * np.linspace(0, 1, N + 1))) / 2
    h, middle = np.diff(s), (s[1:] + s[:-1]) / 2
    q, q1, q2 = path(middle), path(middle, 1), path(middle, 2)
    still = np.zeros_like(q)
    sides = np.stack([placed(hand, q, name) for name in TIPS], axis=1)

    def values(qd, qdd, squeeze):
        """Torques, and of both tips μ · normal ∓ sideways and the normal, which are not to be negative: (N, 4), (N, 6)."""
        held = dal.Squeeze("left_tip", "right_tip", squeeze)
        shared = dal.distribute_load(hand, q, qd, qdd, limits=np.inf, internal=held)
        force = np.einsum("kcij,kci->kcj", sides, shared.wrenches[:, :, :3])  # in axes of the places
        normal = force[..., 0] * [1.0, -1.0]
        cones = [FRICTION * normal - force[..., 1], FRICTION * normal + force[..., 1], normal]
        return shared.torques, np.concatenate(cones, axis=1)

    gravity = values(still, still, 0.0)
    inertia, motion, squeeze = (
        [a - b for a, b in zip(values(*given), gravity, strict=True)]
        for given in ((still, q1, 0.0), (q1, q2, 0.0), (still, still, 1.0))
    )
    rows, bounds = [], []
    for k in range(2):
        before, after = motion[k] / 2 - inertia[k] / (2 * h)[:, None], motion[k] / 2 + inertia[k] / (2 * h)[:, None]
        for i in range(before.shape[1]):
            line = sparse.diags_array([before[:, i], after[:, i]], offsets=[0, 1], shape=(N, N + 1))
            row = sparse.hstack([line, sparse.diags_array(squeeze[k][:, i])])
            if k == 0:
                rows += [row, -row]
                bounds += [limit - gravity[k][:, i], limit + gravity[k][:, i]]
            else:
                rows.append(-row)
                bounds.append(gravity[k][:, i])
    found = linprog(
        np.append(-np.ones(N + 1), np.zeros(N)),
        A_ub=sparse.vstack(rows),
        b_ub=np.concatenate(bounds),
        bounds=[(0, 0), *[(0, None)] * (N - 1), (0, 0), *[(None, None)] * N],
    )
    assert found.success, found.message
    z = np.sqrt(np.maximum(found.x[: N + 1], 0))
    return float((2 * h / (z[1:] + z[:-1])).sum())


def placed(mechanism, q, name):
    """Axes of a closure's place on its second link, in the world."""
    link, X = next(closure for closure in mechanism.closures if closure.name == name).between[1]
    return dal.forward_kinematics(mechanism.robot, mechanism.assemble(q).x, link)[..., :3, :3] @ X[:3, :3]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10.0, 100.0])
def test_what_is_gripped_does_not_slip_and_no_squeeze_is_faster(limit):
    hand = two_fingers()
    way = np.array(hand.q0) + SHIFT
    found = dal.fastest_timing(hand, way, torque=limit, contacts=TIPS, intervals=300)
    at = found.motion(dense_times(found.motion, parts=3))
    shared = dal.distribute_load(hand, at.q, at.qd, at.qdd, objective="ratio", limits=limit, contacts=TIPS)
    assert shared.feasible.all()
    assert 1 - 1e-3 < shared.objective.max() <= 1.0
    assert shared.at_contact.any(axis=1).mean() > 0.9
    assert found.duration == pytest.approx(gripped_optimum(hand, chord_spline(way), limit, N=300), rel=1e-3)
    free = dal.fastest_timing(hand, way, torque=limit, intervals=300)
    assert free.duration < 0.9 * found.duration
    assert {limit for *_, limit in found.binding_parts()} == {"contact of 'left_tip'", "contact of 'right_tip'"}
    assert found.use.shape == (300, len(found.limits))


@pytest.mark.slow
def test_a_squeeze_that_is_held_costs_time():
    hand = two_fingers()
    way = np.array(hand.q0) + SHIFT
    held = dal.Squeeze("left_tip", "right_tip", 9.0)
    free, tense = (dal.fastest_timing(hand, way, torque=10.0, internal=given, intervals=100) for given in ((), held))
    assert free.duration < tense.duration
    at = tense.motion(dense_times(tense.motion, parts=3))
    shared = dal.distribute_load(hand, at.q, at.qd, at.qdd, limits=10.0, internal=held)
    assert shared.feasible.all()
    assert 1 - 1e-3 < (np.abs(shared.torques) / 10.0).max() <= 1.0
    smooth = dal.fastest_timing(hand, way, torque=10.0, internal=held, intervals=100, jerk=1e4)
    assert tense.duration < smooth.duration
    both = dal.fastest_timing(hand, way, torque=10.0, internal=held, contacts=TIPS, intervals=100)
    assert tense.duration < both.duration


@pytest.mark.slow
def test_cones_of_friction_in_space_are_kept_and_cost_half_a_percent_of_friction():
    hand = three_fingers()
    way = np.array(hand.q0) + np.array([np.zeros(6), [0.004, -0.006, 0.008, 0.02, -0.01, 0.02]])
    times = []
    for friction in (0.6, 0.6 / np.cos(np.pi / 32)):  # with the second, the pyramid is around the cone of the first
        contacts = {f"tip_{k}": dal.Contact((0, 0, 1), friction) for k in "abc"}
        found = dal.fastest_timing(hand, way, torque=2.0, contacts=contacts, intervals=30)
        at = found.motion(dense_times(found.motion, parts=2))
        assert dal.distribute_load(hand, at.q, at.qd, at.qdd, limits=2.0, contacts=contacts).feasible.all()
        times.append(float(found.duration))
    assert times[1] < times[0] < 1.005 * times[1]


@pytest.mark.slow
def test_a_grip_that_cannot_be_asked_for_is_refused_in_a_sentence():
    hand = two_fingers()
    way = np.array(hand.q0) + SHIFT
    cases = [
        ((dal.robots.pendulum(), [[0.0], [1.0]]), {"contacts": TIPS}, r"contacts: found, but this system has no closures"),
        ((hand, way), {"contacts": TIPS}, r"left_joint1, left_joint2.* without a limit of torque.*torque=\.\.\."),
        (
            (hand, way),
            {"internal": dal.Squeeze("left_tip", "right_tip", [1.0, 2.0]), "torque": 9.0},
            r"internal: value of shape \(2,\)",
        ),
        ((hand, way), {"contacts": {"no_tip": TIPS["left_tip"]}, "torque": 9.0}, "no_tip"),
        (
            (hand, way),
            {"contacts": TIPS, "torque": 1.2},
            r"contacts? .*_tip.*: at s = .* alone cannot be held within the limits of",
        ),
    ]
    for arguments, options, message in cases:
        with pytest.raises(dal.DalembertError, match=message):
            dal.fastest_timing(*arguments, intervals=40, **options)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"jerk": 500.0}, {"contacts": True}])
@pytest.mark.filterwarnings("ignore:mechanism .* has no positions")
def test_a_path_that_leaves_the_positions_of_a_mechanism_is_refused_with_the_place(options):
    gripped = "contacts" in options
    mechanism = two_fingers() if gripped else two_arms(effort=8.0)
    given = {"contacts": TIPS, "torque": 50.0} if gripped else options
    way = np.array(mechanism.q0) + [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.raises(dal.DalembertError, match=r"path: at s = 0\.\d+ of 1, q = .* the mechanism has no positions"):
        dal.fastest_timing(mechanism, way, intervals=60, **given)


def test_a_picture_of_drives_that_share_shows_what_is_in_use_of_their_limits():
    arms = two_arms(effort=8.0)
    q0 = np.array(arms.q0)
    found = dal.fastest_timing(arms, [q0 + [-0.1, -0.1, -0.1], q0 + [0.15, 0.05, 0.2]], intervals=60)
    axes = dal.plots.timing(found)
    assert axes[1].get_ylabel() == "in use [% of the limit]"
    drawn = {text.get_text() for text in axes[1].get_legend().get_texts()}
    assert drawn <= {f"torque of {name}" for name in arms.actuated}
    assert len(drawn) >= 4  # all drives but two are at their limits
