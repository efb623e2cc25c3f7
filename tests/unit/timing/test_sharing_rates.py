"""Drives that share a load within limits of the rates of their torques: what they press is chosen with the motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import dalembert as dal
from tests.mechanisms_with_drives import platform, three_fingers, two_arms, two_fingers

from .test_fastest_optimum import chord_spline
from .test_fastest_sharing import FRICTION, SHIFT, TIPS, driven_rows, placed, way_of
from .test_smooth_optimum import FiniteDifferences, optimum
from .timing_cases import dense_times

HELD = dal.Squeeze("left_tip", "right_tip", 9.0)


def efforts(mechanism):
    joints = dict(zip(mechanism.robot.joint_names, mechanism.robot.structure.coordinates, strict=True))
    return np.array([joints[name].limits.effort for name in mechanism.actuated])


def uses(mechanism, found, torque, torque_rate):
    """The largest shares of limits at ten places of every interval: torques, and their rates by differences in time.

    Torques make the motion: they differ from those of `distribute_load` by what moves nothing.
    """
    shares = (np.arange(10) + 0.5) / 10
    h = np.diff(found.t)[:, None]
    t, step = (found.t[:-1, None] + h * shares).ravel(), (1e-3 * h * np.ones(10)).ravel()
    u, at = found.drive_torques(t), found.motion(t)
    other = dal.distribute_load(mechanism, at.q, at.qd, at.qdd, limits=np.inf)
    change = u - other.torques
    moves_nothing = np.einsum("kmr,kjr,kj->km", other.directions, other.directions, change)
    assert np.allclose(change, moves_nothing, atol=1e-10 * np.abs(u).max())
    rate = (found.drive_torques(t + step) - found.drive_torques(t - step)) / (2 * step[:, None])
    return float(np.abs(u / torque).max()), float(np.abs(rate / torque_rate).max())


class SharedDifferences(FiniteDifferences):
    """The same with torques u = gravity + inertia s̈ + motion ṡ² + pressed y of drives, at the middles and at both rests, y being
    further unknowns.

    `values` gives torques, and what is not to be negative, along a motion with y = 0, and `pressed` what y adds: (N, rows, r).
    """

    def __init__(self, values, pressed, path, N):
        self._place(path, N)
        places = np.concatenate([[0.0], self.middle, [1.0]])
        q, q1, q2 = (path(places, order) for order in (0, 1, 2))
        rest = np.zeros_like(q)
        self.gravity = values(q, rest, rest)
        self.inertia = [a - b for a, b in zip(values(q, rest, q1), self.gravity, strict=True)]
        self.motion = [a - b for a, b in zip(values(q, q1, q2), self.gravity, strict=True)]
        self.pressed = pressed(q)
        self.extra = (N + 2) * self.pressed[0].shape[-1]
        self.acceleration, self.speed = (sparse.vstack([0 * one[:1], one, 0 * one[:1]]) for one in (self.rate, self.mean))
        # from rest s = j t³/6: to the middle of the first interval it takes 3/2 ∛4 h / ṡ
        wait = 1.5 * 4 ** (1 / 3) * self.h[[0, -1]]
        steps = np.concatenate([wait[:1], np.diff(self.middle), wait[1:]])
        self.change = sparse.diags_array(1 / steps) @ sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(N + 1, N + 2))
        self.nodes = np.concatenate([[1], np.arange(1, N), [N - 1]])  # whose speed it is over each step

    def quantity(self, kind, i):
        """Matrix of x and y, and constant, of torques (0) or of what is not to be negative (1)."""
        inertia, motion = (sparse.diags_array(part[kind][:, i]) for part in (self.inertia, self.motion))
        by_y = sparse.block_diag(self.pressed[kind][:, i, None])
        return sparse.hstack([inertia @ self.acceleration + motion @ self.speed, by_y]).tocsr(), self.gravity[kind][:, i]

    def rows(self, x0, torque, torque_rate=np.inf, power=np.inf):
        m, z = self.gravity[0].shape[1], np.sqrt(x0[self.nodes])
        node = sparse.eye_array(self.N + 1, self.N + 1 + self.extra).tocsr()[self.nodes]
        A, b = [], []
        for i, (most, quick) in enumerate(zip(np.broadcast_to(torque, m), np.broadcast_to(torque_rate, m), strict=True)):
            matrix, constant = self.quantity(0, i)
            A += [matrix, -matrix]
            b += [most - constant, most + constant]
            bounded = []
            if np.isfinite(quick):
                bounded.append((self.change @ matrix, self.change @ constant, quick, z, node))
            if np.isfinite(power):  # |u x′| ṡ at the middles
                between = sparse.hstack([self.mean, sparse.csr_array((self.N, self.extra))])
                room = power / np.abs(self.joint_rates[:, i])
                bounded.append((matrix[1:-1], constant[1:-1], room, np.sqrt(self.mean @ x0), between))
            for value, still, room, speed, place in bounded:  # |value| ≤ room / ṡ, by its tangent
                tangent = sparse.diags_array(room / (2 * speed**3)) @ place
                A += [value + tangent, tangent - value]
                b += [1.5 * room / speed - still, 1.5 * room / speed + still]
        for i in range(self.gravity[1].shape[1]):
            matrix, constant = self.quantity(1, i)
            A, b = [*A, -matrix], [*b, constant]
        return sparse.vstack(A).tocsr(), np.concatenate(b)


def arms_problem(arms, path, N):
    """Two arms: any torques that move nothing beside those of least squares."""

    def values(*motion):
        return dal.distribute_load(arms, *motion, limits=np.inf).torques, np.zeros((len(motion[0]), 0))

    def pressed(q):
        Z = dal.distribute_load(arms, q, 0 * q, 0 * q, limits=np.inf).directions
        return Z, np.zeros((len(q), 0, Z.shape[-1]))

    found = SharedDifferences(values, pressed, path, N)
    found.joint_rates = np.einsum("kmn,kn->km", driven_rows(arms, path(found.middle)), path(found.middle, 1))
    return found


def hand_values(hand, q, qd, qdd, squeeze):
    """Torques of the fingers, and what contacts ask to be positive, with a squeeze that is held: (N, 4), (N, 6)."""
    sides = np.stack([placed(hand, q, name) for name in TIPS], axis=1)
    shared = dal.distribute_load(hand, q, qd, qdd, limits=np.inf, internal=dal.Squeeze("left_tip", "right_tip", squeeze))
    force = np.einsum("kcij,kci->kcj", sides, shared.wrenches[:, :, :3])
    normal = force[..., 0] * [1.0, -1.0]
    cones = [FRICTION * normal - force[..., 1], FRICTION * normal + force[..., 1], normal]
    return shared.torques, np.concatenate(cones, axis=1)


def hand_problem(hand, path, N):
    """Two fingers: the squeeze is y, and contacts ask for μ · normal ∓ sideways ≥ 0 and normal ≥ 0 at both tips."""

    def pressed(q):
        none, one = (hand_values(hand, q, 0 * q, 0 * q, squeeze) for squeeze in (0.0, 1.0))
        return [(b - a)[..., None] for a, b in zip(none, one, strict=True)]

    return SharedDifferences(lambda *motion: hand_values(hand, *motion, 0.0), pressed, path, N)


def tends_to(problem, way, counts=(200, 400), start=1.0, **limits):
    """T on the finer of two grids, and what both tend to: they are right to first order in 1/N, and below what is possible."""
    coarse, fine = (optimum(problem(chord_spline(way), N), start=start, **limits) for N in counts)
    return fine, 2 * fine - coarse


@pytest.mark.slow
@pytest.mark.parametrize("torque_rate", [60.0, 300.0])
def test_six_drives_take_the_time_of_cone_programmes_over_all_their_torques(torque_rate, rng):
    arms = two_arms(effort=8.0)
    way = way_of(arms, rng)
    found = dal.fastest_timing(arms, way, torque_rate=torque_rate, intervals=500)
    fine, limit = tends_to(lambda *grid: arms_problem(arms, *grid), way, torque=8.0, torque_rate=torque_rate)
    assert fine == pytest.approx(float(found.duration), rel=5e-3)
    assert limit == pytest.approx(float(found.duration), rel=1.5e-3)
    torque, rate = uses(arms, found, 8.0, torque_rate)
    assert 1 - 1e-4 < max(torque, rate) <= 1 + 1e-6


@pytest.mark.slow
def test_twelve_drives_take_the_time_of_cone_programmes_over_all_their_torques():
    arms = dal.mechanisms.two_arms()
    way, torque = way_of(arms, np.random.default_rng(1)), efforts(arms)
    found = dal.fastest_timing(arms, way, velocity=np.inf, torque_rate=1000.0, intervals=200)
    fine, limit = tends_to(lambda *grid: arms_problem(arms, *grid), way, counts=(100, 200), torque=torque, torque_rate=1000.0)
    assert fine == pytest.approx(float(found.duration), rel=1e-2)
    assert limit == pytest.approx(float(found.duration), rel=4e-3)
    shares = uses(arms, found, torque, 1000.0)
    assert 1 - 1e-4 < max(shares) <= 1 + 1e-6
    names = {f"{kind} of {name!r}" for kind in ("torque", "torque rate") for name in arms.actuated}
    assert {limit for *_, limit in found.binding_parts()} <= names <= set(found.limits)
    assert found.use.shape == (200, len(found.limits))
    assert found.use[:, :12].max() == pytest.approx(shares[0], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("torque_rate", [100.0, 1000.0])
def test_what_is_gripped_does_not_slip_while_squeezes_change_in_time(torque_rate):
    hand = two_fingers()
    way = np.array(hand.q0) + SHIFT
    found = dal.fastest_timing(hand, way, torque=10.0, contacts=TIPS, torque_rate=torque_rate, intervals=500)
    given = {"torque": 10.0, "torque_rate": torque_rate}
    fine, limit = tends_to(lambda *grid: hand_problem(hand, *grid), way, **given)
    assert fine == pytest.approx(float(found.duration), rel=5e-3)
    assert limit == pytest.approx(float(found.duration), rel=1.5e-3)
    assert 1 - 1e-4 < max(uses(hand, found, **given)) <= 1 + 1e-6
    assert slack_of(hand, found) > 0
    without = dal.fastest_timing(hand, way, torque=10.0, contacts=TIPS, intervals=500)
    assert without.duration < found.duration
    assert any(limit.startswith("contact of") for *_, limit in found.binding_parts())


def slack_of(hand, found):
    """The least of what contacts ask for along a motion, with the squeeze that the torques of the drives tell."""
    t = np.linspace(0.0, float(found.duration), 997)
    at, u = found.motion(t), found.drive_torques(t)
    known, by_squeeze = [hand_values(hand, at.q, at.qd, at.qdd, squeeze) for squeeze in (0.0, 1.0)]
    Z, change = by_squeeze[0] - known[0], u - known[0]
    squeeze = (change * Z).sum(axis=1) / (Z * Z).sum(axis=1)
    assert np.allclose(change, squeeze[:, None] * Z, atol=1e-9)
    return float((known[1] + squeeze[:, None] * (by_squeeze[1] - known[1])).min())


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"internal": HELD}, {"internal": HELD, "contacts": TIPS}])
def test_forces_that_are_held_stay_as_they_are(asked):
    hand = two_fingers()
    way = np.array(hand.q0) + SHIFT
    found = dal.fastest_timing(hand, way, torque=10.0, torque_rate=300.0, intervals=100, **asked)
    assert 1 - 1e-4 < max(uses(hand, found, 10.0, 300.0)) <= 1 + 1e-6
    at = found.motion(found.t)
    shared = dal.distribute_load(hand, at.q, at.qd, at.qdd, limits=np.inf, internal=HELD)
    assert np.allclose(found.drive_torques(found.t), shared.torques, atol=1e-9)


@pytest.mark.slow
def test_three_fingers_in_space_hold_a_ball_while_their_torques_change_in_time():
    hand = three_fingers()
    way = np.array(hand.q0) + np.array([np.zeros(6), [0.004, -0.006, 0.008, 0.02, -0.01, 0.02]])
    contacts = {f"tip_{k}": dal.Contact((0, 0, 1), 0.6) for k in "abc"}
    times = []
    for torque_rate in (30.0, 1e5):
        found = dal.fastest_timing(hand, way, torque=2.0, contacts=contacts, intervals=30, torque_rate=torque_rate)
        assert max(uses(hand, found, 2.0, torque_rate)) <= 1 + 1e-6
        times.append(float(found.duration))
    free = dal.fastest_timing(hand, way, torque=2.0, contacts=contacts, intervals=30)
    assert float(free.duration) == pytest.approx(times[1], rel=0.05)  # of 30 intervals
    assert times[0] > 1.5 * times[1]


@pytest.mark.slow
def test_as_limits_of_rates_grow_the_time_tends_to_that_without_them(rng):
    arms = two_arms(effort=8.0)
    way = way_of(arms, rng)
    without = float(dal.fastest_timing(arms, way, intervals=300).duration)
    times = [float(dal.fastest_timing(arms, way, intervals=300, torque_rate=rate).duration) for rate in (50.0, 1e3, 1e6)]
    assert times == sorted(times, reverse=True)
    assert times[-1] == pytest.approx(without, rel=3e-3)
    assert times[0] > 1.1 * without


CASES = {
    "jerk": {"torque_rate": 100.0, "jerk": 30.0},
    "speeds": {"torque_rate": 300.0, "velocity": 0.4, "acceleration": 2.0},
    "no limit of torque": {"torque_rate": 50.0, "torque": np.inf},
    "one drive without": {"torque_rate": 50.0, "torque": {"right_joint1": np.inf}},
    "a rate of one drive": {"torque_rate": {"left_joint2": 20.0}},
    "speeds at the ends": {"torque_rate": 300.0, "end_speeds": (0.2, 0.1)},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_limits_of_all_kinds_are_kept_together(case, rng):
    arms, given = two_arms(effort=8.0), CASES[case]
    found = dal.fastest_timing(arms, way_of(arms, rng), intervals=60, **given)
    torque, rate = np.full(6, 8.0), np.full(6, np.inf)
    if given.get("torque") is not None:
        torque[arms.actuated.index("right_joint1") if case == "one drive without" else slice(None)] = np.inf
    rate[arms.actuated.index("left_joint2") if case == "a rate of one drive" else slice(None)] = np.max(
        list(given["torque_rate"].values()) if isinstance(given["torque_rate"], dict) else given["torque_rate"]
    )
    shares = uses(arms, found, torque, rate)
    assert max(shares) <= 1 + 1e-6
    assert found.use.max() == pytest.approx(1.0, abs=2e-4)
    at = found.motion(np.linspace(0.0, float(found.duration), 800))
    for kind, values in (("jerk", at.qddd), ("velocity", at.qd), ("acceleration", at.qdd)):
        assert np.abs(values).max() <= given.get(kind, np.inf) * (1 + 1e-6)


@pytest.mark.slow
def test_an_end_that_is_passed_slowly_is_looked_at_evenly_in_time():
    """The last interval slows down from ṡ = 1.1 to 0.1: most of its time is spent in the last hundredth of its length."""
    arms = two_arms(effort=8.0)
    way = [[0.048, 0.665, 0.031], [-0.085, 0.779, 0.005], [0.011, 0.734, -0.001], [-0.015, 0.769, 0.007]]
    found = dal.fastest_timing(arms, way, torque_rate=3500.0, end_speeds=(0.2, 0.1), intervals=40)
    assert 1 - 1e-4 < max(uses(arms, found, 8.0, 3500.0)) <= 1 + 1e-6


@pytest.mark.slow
def test_what_only_a_closer_look_sees_is_held_there():
    """With limits a little smaller at the places of the grid alone, the torque in between was as large as before."""
    arms = two_arms(effort=8.0)
    way = [[0.114, 0.727, -0.095], [0.104, 0.719, -0.056], [0.054, 0.699, -0.037], [-0.038, 0.638, 0.003]]
    given = {"torque": {"right_joint1": np.inf}, "torque_rate": 280.0}
    found = dal.fastest_timing(arms, way, intervals=40, **given)
    limits = np.where(np.array(arms.actuated) == "right_joint1", np.inf, 8.0)
    assert 1 - 1e-4 < max(uses(arms, found, limits, 280.0)) <= 1 + 1e-6
    assert found.excess <= 1e-6


@pytest.mark.slow
def test_legs_of_a_platform_share_its_load_in_time(rng):
    stand = platform(effort=60.0)
    found = dal.fastest_timing(stand, way_of(stand, rng, size=0.03), intervals=100, torque_rate=800.0)
    assert 1 - 1e-4 < max(uses(stand, found, 60.0, 800.0)) <= 1 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    "law", [{"coulomb": 0.6, "viscous": 0.4}, {"coulomb": 0.5, "viscous": 0.4, "breakaway": 0.9, "stribeck_velocity": 0.1}]
)
def test_joints_that_rub_turn_round_at_grid_points(law, rng):
    """Drives are no coordinates, and turn round where these do not: between such places torques change no faster than limited."""
    arms = rubbing_arms(**law)
    found = dal.fastest_timing(arms, way_of(arms, rng), intervals=60, torque_rate=1000.0)
    assert 1 - 1e-3 < max(uses(arms, found, 12.0, 1000.0)) <= 1 + 1e-6
    step, t, level = 1e-9, found.t[1:-1], law.get("breakaway", law["coulomb"])
    change = found.drive_torques(t + step) - found.drive_torques(t - step)
    for jump in found.jumps[0]:
        k, drive = np.argmin(np.abs(t - jump.t)), found.drives.index(jump.joint)
        assert abs(jump.size) == pytest.approx(2 * level, rel=2e-3)  # the drive of the joint that turns, and no other
        change[k, drive] -= jump.size
    assert len(found.jumps[0]) >= 3
    assert np.abs(change).max() < 2e-3 * level


def rubbing_arms(**law):
    plain = two_arms(effort=12.0)
    friction = {name: dal.Friction(**law) for name in plain.actuated}
    return plain.replace(robot=plain.robot.replace(parameters=plain.robot.parameters.replace(friction=friction)))


@pytest.mark.slow
def test_rates_are_within_limits_up_to_where_joints_turn_round():
    """Dry friction of a joint within a loop has a rate, which has a side there: the other was taken, and passed by 2e-4."""
    arms = rubbing_arms(coulomb=0.6)
    found = dal.fastest_timing(arms, way_of(arms, np.random.default_rng(0)), intervals=60, torque_rate=1000.0)
    h = np.diff(found.t)
    t, step = (found.t[:-1, None] + h[:, None] * [1e-3, 1 - 1e-3]).ravel(), np.repeat(1e-4 * h, 2)
    rate = (found.drive_torques(t + step) - found.drive_torques(t - step)) / (2 * step[:, None])
    assert 1 - 1e-3 < np.abs(rate).max() / 1000.0 <= 1 + 1e-6


@pytest.mark.slow
def test_drives_that_share_torques_may_have_smooth_friction_within_limits_of_jerk():
    """Their number is not that of the coordinates, and the grid grows with what knees ask for: it ended in errors of shapes."""
    arms = rubbing_arms(coulomb=0.6, viscous=0.4, width=0.02)
    found = dal.fastest_timing(arms, way_of(arms, np.random.default_rng(0)), intervals=60, torque=12.0, jerk=500.0)
    at = found.motion(dense_times(found.motion))
    assert 1 - 1e-3 < np.abs(at.qddd).max() / 500.0 <= 1 + 1e-6
    assert np.abs(found.drive_torques(dense_times(found.motion))).max() <= 12.0 * (1 + 1e-6)
    assert (found.sd <= found.top_speed).all()


def test_a_rocker_that_turns_round_has_no_lever_on_the_crank_and_makes_no_jump():
    """The torque of its dry friction is continuous there, and the rate within its limit on both sides."""
    plain = dal.mechanisms.four_bar()
    friction = {"joint3": dal.Friction(coulomb=0.5)}
    four_bar = plain.replace(robot=plain.robot.replace(parameters=plain.robot.parameters.replace(friction=friction)))
    found = dal.fastest_timing(four_bar, [[-0.8], [0.9]], torque=20.0, torque_rate=60.0, intervals=100)
    shares = (np.arange(10) + 0.5) / 10
    t = (found.t[:-1, None] + np.diff(found.t)[:, None] * shares).ravel()
    at = found.motion(t)
    rocker = four_bar.assemble(at.q).x[:, four_bar.robot.joint_names.index("joint3")]
    assert len(np.flatnonzero(np.diff(np.sign(np.diff(rocker))))) == 1
    assert found.jumps == ((),)
    rate = dal.torque_rate(four_bar, at.q, at.qd, at.qdd, at.qddd)
    assert 60.0 * (1 - 1e-4) < np.abs(rate).max() <= 60.0 * (1 + 1e-6)


@pytest.mark.slow
def test_a_batch_is_timed_as_each_alone_and_marks_what_cannot_be_held(rng):
    arms = two_arms(effort=8.0)
    ways = np.array(arms.q0) + 0.05 * rng.normal(size=(3, 3, 3))
    several = dal.fastest_timing(arms, ways, intervals=40, torque_rate=100.0)
    assert several.duration.tolist() == [
        float(dal.fastest_timing(arms, way, intervals=40, torque_rate=100.0).duration) for way in ways
    ]
    t = np.linspace(0.0, float(several.duration[2]), 7)
    alone = dal.fastest_timing(arms, ways[2], intervals=40, torque_rate=100.0)
    assert np.array_equal(several.drive_torques(t, row=2), alone.drive_torques(t))
    with pytest.raises(dal.DalembertError, match=r"drives left_joint\d.*: at s = .* alone need [\d.]+ times their largest"):
        dal.fastest_timing(arms, ways[0], torque=3.0, torque_rate=100.0, intervals=40)


def test_torques_of_drives_are_told_at_any_time_of_all_timings(rng):
    pendulum = dal.robots.pendulum()
    turned = dal.fastest_timing(pendulum, [[0.0], [1.0]], torque=20.0, intervals=40)
    t = np.linspace(0.0, float(turned.duration), 9)
    at = turned.motion(t)
    assert np.allclose(turned.drive_torques(t), dal.inverse_dynamics(pendulum, at.q, at.qd, at.qdd))
    assert turned.drives == turned.joints == ("pivot",)
    arms = two_arms(effort=8.0)
    free = dal.fastest_timing(arms, way_of(arms, rng), intervals=60)
    at = free.motion(free.t)
    shared = dal.distribute_load(arms, at.q, at.qd, at.qdd, objective="ratio")
    assert np.allclose(free.drive_torques(free.t), shared.torques)
    assert free.drives == tuple(arms.actuated)
    assert free.to_dict()["drives"] == list(arms.actuated)
    one = dal.mechanisms.four_bar().replace(actuated=("joint3",))
    found = dal.fastest_timing(one, [[0.6], [2.2]], torque=20.0, torque_rate=100.0, intervals=60)
    assert max(uses(one, found, 20.0, 100.0)) <= 1 + 1e-6
