"""Events: functions that pass zero, times, stops, locked joints, payloads, and how what users give is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError
from dalembert.expr import ops
from dalembert.simulate.impacts import Flight, from_stops
from tests.robots import fresh, without_friction
from tests.unit.simulate.blocks import MASS, TIGHT, block, happened, with_friction


@pytest.fixture(scope="module")
def pendulum() -> dal.Robot:
    return without_friction(fresh("pendulum"))


@pytest.fixture(scope="module")
def arm() -> dal.Robot:
    return without_friction(fresh("two_link_planar"))


def test_a_function_is_located_to_rounding_in_the_direction_asked_for(pendulum):
    """A block under no force: q = t."""
    events = [
        dal.Event(lambda t, q, qd: q[0] - 0.3, name="up", direction="rising"),
        dal.Event(lambda t, q, qd: q[0] - 0.3, name="down", direction="falling"),
        dal.Event(lambda t, q, qd: ops.sin(10.0 * t), name="both"),
    ]
    motion = dal.simulate(block(limits=(-9, 9)), [0.0], [1.0], t_end=1.0, events=events, max_step=0.1)
    expected = [("event", "up", 0.3), *(("event", "both", k * np.pi / 10) for k in (1, 2, 3))]
    assert happened(motion) == [
        (kind, name, pytest.approx(t, abs=1e-15)) for kind, name, t in sorted(expected, key=lambda e: e[2])
    ]


def test_a_swing_is_timed_by_its_passages_and_ended_by_a_terminal_event(pendulum):
    down = dal.Event(lambda t, q, qd: q[0], name="down")
    top = dal.Event(lambda t, q, qd: qd[0], name="back", direction="falling", terminal=True)
    motion = dal.simulate(pendulum, [0.5], [0.0], t_end=9.0, events=[down, top], dense=True, **TIGHT)
    times = [event.t for event in motion.events]
    assert [event.name for event in motion.events] == ["down", "down", "back"]
    assert times[2] - times[1] == pytest.approx(times[0], abs=1e-11)  # a quarter of a period each, and half of one between
    assert times[1] == pytest.approx(3 * times[0], abs=1e-11)
    assert (motion.success, int(motion.status), motion.message) == (True, 7, "A terminal event ended the motion.")
    assert motion.t[-1] == times[2] == motion.solution.t[-1]
    assert motion.q[-1, 0] == pytest.approx(0.5, abs=1e-11)


def test_rows_after_a_terminal_event_are_left_out_of_a_single_motion_and_nan_in_a_batch(pendulum):
    end = dal.Event(lambda t, q, qd: q[0], terminal=True)
    times = np.linspace(0.0, 5.0, 51)
    alone = dal.simulate(pendulum, [0.5], [0.0], t_eval=times, events=[end])
    both = dal.simulate(pendulum, [[0.5], [0.9]], [0.0], t_eval=times, events=[end])
    assert len(alone.t) == len(alone.q) == np.sum(times <= alone.events[0].t)
    assert both.success
    for k in range(2):
        np.testing.assert_array_equal(np.isnan(both.q[k, :, 0]), times > both.events[k][-1].t)


def test_an_event_may_ask_the_model_and_the_inputs_of_the_torque_function(arm):
    model = dal.inside(arm)
    event = dal.Event(lambda t, q, qd, p: model.mass_matrix(q)[0, 0] - p.level, name="stretched")
    M = dal.mass_matrix(arm, [[0.0, 0.0], [0.0, 2.0]])[:, 0, 0]
    level = M.mean()
    motion = dal.simulate(
        arm,
        [0.0, 2.0],
        [0.0, 0.0],
        t_end=3.0,
        tau=lambda t, q, qd, p: model.gravity_torque(q) - 20.0 * qd - 50.0 * q,
        inputs={"level": level},
        events=[event],
        **TIGHT,
    )
    (record,) = motion.events
    assert dal.mass_matrix(arm, record.q)[0, 0] == pytest.approx(level, abs=1e-12)


def test_a_block_bounces_off_its_stop_as_in_closed_form_and_comes_to_rest():
    """Under a constant force: 1 s to the stop at 2 m/s, then 2 e^k s from bounce to bounce, 3 s together."""
    motion = dal.simulate(block(), [0.0], [0.0], t_end=6.0, tau=[2.0 * MASS], stops=0.5, **TIGHT)
    stops = [event for event in motion.events if event.kind == "stop"]
    expected = 1.0 + 2.0 * (1 - 0.5 ** np.arange(len(stops)))
    rounding = [1e-12 + 1e-15 / e.qd[0] for e in stops]  # of q near 1, at a lower and lower speed
    assert np.all(np.abs([e.t for e in stops] - expected) < rounding)
    np.testing.assert_allclose([e.qd[0] for e in stops], 2.0 * 0.5 ** np.arange(len(stops)), rtol=1e-3)
    np.testing.assert_allclose([e.qd_after[0] for e in stops[:-1]], -(0.5 ** np.arange(len(stops) - 1)), rtol=1e-3)
    assert motion.events[-1].kind == "rest"
    assert (motion.q[-1, 0], motion.qd[-1, 0]) == (1.0, 0.0)


def test_a_joint_rests_on_its_stop_until_it_is_pulled_away():
    """Without and with dry friction, which the pull has to overcome as well."""
    for friction, level, kinds in (
        (None, 0.0, ["stop", "rest", "leave"]),
        (dal.Friction(0.0, 3.0), 3.0, ["stop", "stick", "slip"]),
    ):
        motion = dal.simulate(
            block(friction), [0.9], [1.0], t_end=6.0, tau=lambda t, q, qd: [4.0 * (2.0 - t)], stops={"slide": 0.0}, **TIGHT
        )
        assert [event.kind for event in motion.events[:3]] == kinds
        assert motion.events[2].t == pytest.approx(2.0 + level / 4.0, abs=1e-11)
        assert motion.q.max() == 1.0


def test_an_impact_moves_the_other_joints_and_keeps_energy_where_it_is_elastic():
    arm = without_friction(fresh("two_link_planar"))
    joints = [j.replace(limits=dal.Limits(-2.0, 2.0)) for j in arm.structure.joints]
    arm = arm.replace(structure=arm.structure.replace(joints=joints))
    motion = dal.simulate(arm, [0.5, 1.5], [0.5, 3.0], t_end=5.0, stops=1.0, **TIGHT)
    hits = [event for event in motion.events if event.kind == "stop"]
    assert len(hits) > 3
    for hit in hits:
        i = [c.name for c in arm.structure.coordinates].index(hit.joint)
        assert hit.qd_after[i] == pytest.approx(-hit.qd[i], rel=1e-12)
        momentum = dal.mass_matrix(arm, hit.q) @ (hit.qd_after - hit.qd)
        assert abs(momentum[1 - i]) < 1e-9 * abs(momentum[i])
    assert np.abs(motion.q).max() <= 2.0
    np.testing.assert_allclose(motion.energy, motion.energy[0], rtol=1e-9)


def test_a_payload_dropped_in_mid_swing_leaves_velocities_and_changes_what_follows(arm):
    loaded = arm.with_payload(3.0)
    drop = dal.Event(time=0.7, name="drop", system=arm)
    motion = dal.simulate(loaded, [0.3, 0.2], [0.0, 0.0], t_end=2.0, events=[drop], dense=True, **TIGHT)
    ((kind, name, t),) = happened(motion)
    assert (kind, name, t) == ("change", "drop", 0.7)
    before = dal.simulate(loaded, [0.3, 0.2], [0.0, 0.0], t_end=0.7, **TIGHT)
    after = dal.simulate(arm, before.q[-1], before.qd[-1], t_start=0.7, t_end=2.0, **TIGHT)
    np.testing.assert_allclose(motion.q[-1], after.q[-1], atol=1e-9)
    np.testing.assert_allclose(motion.solution(0.7)[0], before.q[-1], atol=1e-11)
    many = dal.simulate(loaded, [[0.3, 0.2]] * 5, [0.0, 0.0], t_eval=[0.0, 2.0], events=[drop], **TIGHT)
    np.testing.assert_allclose(many.q[:, -1], np.tile(after.q[-1], (5, 1)), atol=1e-9)


def test_what_is_caught_at_rest_takes_its_share_of_the_momentum(arm):
    loaded = arm.with_payload(3.0)
    catch = dal.Event(lambda t, q, qd: q[1] - 0.5, name="catch", system=loaded, caught=True)
    motion = dal.simulate(arm, [0.3, 0.2], [0.0, 2.0], t_end=1.0, events=[catch])
    record = motion.events[0]
    momenta = [dal.mass_matrix(robot, record.q) @ qd for robot, qd in ((arm, record.qd), (loaded, record.qd_after))]
    np.testing.assert_allclose(*momenta, rtol=1e-12)


def test_a_locked_joint_stands_and_the_rest_keeps_its_energy(arm):
    lock, free = dal.Event(time=0.5, name="lock", lock=["joint2"]), dal.Event(time=1.0, name="free", release=["joint2"])
    motion = dal.simulate(arm, [0.3, 0.2], [0.0, 1.0], t_end=1.5, events=[lock, free], dense=True, **TIGHT)
    record = motion.events[0]
    M = dal.mass_matrix(arm, record.q)
    assert record.qd_after[1] == 0.0
    assert record.qd_after[0] == pytest.approx((M @ record.qd)[0] / M[0, 0], rel=1e-12)
    q, qd = motion.solution(np.linspace(0.5 + 1e-9, 1.0, 20))
    assert np.ptp(q[:, 1]) == 0.0
    assert not qd[:, 1].any()
    energies = dal.energy(arm, q, qd).total
    np.testing.assert_allclose(energies, energies[0], rtol=1e-10)
    assert motion.qd[-1, 1] != 0.0


def test_a_joint_with_dry_friction_may_be_locked_and_slips_after_it_is_released():
    rubbing = block(dal.Friction(0.0, 3.0))
    events = [dal.Event(time=1.0, name="lock", lock="slide"), dal.Event(time=2.0, name="free", release="slide")]
    motion = dal.simulate(rubbing, [0.0], [0.0], t_end=3.0, tau=[5.0], events=events, **TIGHT)
    assert [name for _, name, _ in happened(motion)] == ["lock", "free", "slide"]
    assert motion.q[-1, 0] == pytest.approx(0.5 + 0.5, abs=1e-12)  # 1 m/s² for two single seconds


def test_events_of_a_mechanism_see_its_coordinates():
    bars = dal.mechanisms.four_bar()
    bars = bars.replace(robot=without_friction(bars.robot))
    event = dal.Event(lambda t, q, qd: q[0] - 1.1, name="there", terminal=True)
    motion = dal.simulate(bars, bars.q0, [0.5], t_end=2.0, events=[event], rtol=1e-10)
    assert motion.q[-1, 0] == pytest.approx(1.1, abs=1e-12)
    assert motion.residual.max() < 1e-10


def test_a_run_that_does_not_succeed_warns_and_friction_does_not_hide_it():
    puma = with_friction(fresh("puma560"), 0.1)
    with pytest.warns(dal.DalembertWarning, match="needed more than max_steps steps. Allow more max_steps"):
        motion = dal.simulate(puma, np.ones((2, 6)), np.ones(6), t_eval=[0.0, 5.0], max_steps=3)
    assert np.isnan(motion.q[:, 1]).all()
    with pytest.warns(dal.DalembertWarning, match="left the finite numbers"):
        dal.simulate(puma, [np.nan] * 6, np.ones(6), t_eval=[0.0, 5.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"events": 3}, r"events: 3 found; a list of dal.Event is expected"),
        ({"events": ["down"]}, r"events: .*'down'"),
        ({"events": [dal.Event(time=7.0)]}, r"event 'event': at 7.0 s, but the motion goes from 0.0 to 1.0 s"),
        ({"events": [dal.Event(time=0.5, lock="elbow")]}, r"event 'event': joint: 'elbow' is not known"),
        ({"events": [dal.Event(lambda t, q, qd: q)]}, r"event 'event': .* one number, which passes zero, is expected"),
        ({"events": [dal.Event(lambda t, q, qd: float(q[0]))]}, r"event 'event': the function cannot be traced"),
        ({"events": [dal.Event(time=0.5, system=fresh("pendulum"))]}, r"the coordinates pivot, but joint1, joint2 are expected"),
        ({"stops": 2.0}, r"stops: 2.0 found; the part of its speed .* from 0 to 1"),
        ({"stops": {"joint1": 0.5}}, r"stops: 'joint1' has no limits, so there is nothing to hit"),
        ({"stops": {"elbow": 0.5}}, r"stops: joint: 'elbow' is not known"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(arm, options, message):
    with pytest.raises(DalembertError, match=message):
        dal.simulate(arm, [0.3, 0.2], [0.0, 0.0], t_end=1.0, **options)


def test_an_event_is_a_function_or_a_time_and_a_motion_begins_within_its_stops():
    with pytest.raises(DalembertError, match="either a function or a time is expected"):
        dal.Event()
    with pytest.raises(DalembertError, match="direction"):
        dal.Event(lambda t, q, qd: t, direction="up")
    with pytest.raises(
        DalembertError, match=r"q0: 'slide' at 1.5, beyond its stops at -1 and 1, in motion 1\. Begin within them"
    ):
        dal.simulate(block(), [[0.0], [1.5]], [0.0], t_end=1.0, stops=0.0)


def test_small_bounces_of_several_joints_end_and_leave_them_at_rest():
    """Two joints on their stops, each of whose bounces pushes the other off."""
    panda, rng = fresh("panda"), np.random.default_rng(5)
    low, high = (np.array([getattr(c.limits, side) for c in panda.structure.coordinates]) for side in ("lower", "upper"))
    q0, qd0 = low + (high - low) * rng.uniform(0.2, 0.8, (8, 7)), rng.normal(size=(8, 7)) * 2
    motion = dal.simulate(panda, q0, qd0, t_eval=np.linspace(0.0, 2.0, 41), stops=0.3, max_steps=5000, rtol=1e-9)
    assert motion.success
    assert np.all((motion.q >= low - 1e-12) & (motion.q <= high + 1e-12))
    assert np.all(np.diff(motion.energies.total, axis=-1) < 1e-5)  # stops only take energy, up to the error of the steps


@pytest.mark.parametrize("method", ["dop853", "rosenbrock"])
def test_joints_that_a_stiff_drive_presses_on_their_stops_do_not_push_each_other_off_for_ever(method):
    """Plastic hits of two joints by turns, each flight shorter than the one before, until no position tells of them."""
    panda = fresh("panda")
    low, high = (np.array([getattr(c.limits, side) for c in panda.structure.coordinates]) for side in ("lower", "upper"))

    def press(t, q, qd, p):
        return 1e5 * (p.target - q) - 100.0 * qd

    given = {"inputs": {"target": high + 0.2}, "stops": 0.0, "max_steps": 10_000, "method": method}
    motion = dal.simulate(panda, (low + high) / 2, np.zeros(7), tau=press, t_end=1.0, **given)
    assert motion.success
    np.testing.assert_array_equal(motion.q[-1], high)
    np.testing.assert_array_equal(motion.qd[-1], 0.0)


def test_a_hit_pushes_a_joint_off_its_stop_and_a_press_does_not():
    """Two coordinates whose inertia is coupled, both at lower stops, the first one coming in."""
    A, v, stop, none = np.array([[2.0, 1.0], [1.0, 1.0]]), np.array([-1.0, 0.0]), np.array([True, True]), np.array([False, False])
    rows = np.eye(2)
    np.testing.assert_allclose(from_stops(A, v, rows, stop, none, np.zeros(2)), [0.0, 0.5])
    np.testing.assert_array_equal(from_stops(A, v, rows, stop, none, np.zeros(2), pressed=True), [0.0, 0.0])
    leaving = np.array([-1.0, 3.0])
    np.testing.assert_allclose(from_stops(A, leaving, rows, stop, none, np.zeros(2), pressed=True), [0.0, 3.5])


@pytest.mark.parametrize(("k", "most"), [(2, 2_000), *(pytest.param(k, 10_000, marks=pytest.mark.slow) for k in (0, 7, 10))])
def test_joints_that_push_each_other_off_their_stops_without_end_come_to_rest(k, most):
    """Pandas thrown against their stops: each bounce of one joint begins a train of bounces of the next, lighter one."""
    panda, rng = fresh("panda"), np.random.default_rng(5)
    low, high = (np.array([getattr(c.limits, side) for c in panda.structure.coordinates]) for side in ("lower", "upper"))
    q0, qd0 = low + (high - low) * rng.uniform(0.2, 0.8, (12, 7)), rng.normal(size=(12, 7)) * 2
    tau = rng.normal(size=(12, 7)) * 20
    motion = dal.simulate(panda, q0[k], qd0[k], t_end=3.0, tau=tau[k], stops=0.7, max_steps=most, rtol=1e-8)
    assert motion.success
    assert np.all((motion.q >= low) & (motion.q <= high))
    assert max(event.gained for event in motion.events) <= 0.0


def test_a_motion_is_as_accurate_as_asked_for_after_bounces_that_its_tolerance_cut_short():
    """The one that ends them gives to the other joint what those to come would have given."""
    arm = without_friction(fresh("two_link_planar"))
    joints = [j.replace(limits=dal.Limits(-2.0, 0.3)) if j.name == "joint1" else j for j in arm.structure.joints]
    arm = arm.replace(structure=arm.structure.replace(joints=joints))
    given = {"tau": lambda t, q, qd: [30000.0, -3.0 * qd[1]], "stops": {"joint1": 0.9}, "t_end": 1.5}
    found, known = (dal.simulate(arm, [0.25, 0.4], [0.5, 0.1], **given, rtol=rtol, atol=1e-2 * rtol) for rtol in (1e-8, 1e-13))
    assert (len(found.events), len(known.events)) == (80, 135)
    np.testing.assert_allclose(found.q[-1], known.q[-1], rtol=0, atol=1e-7)  # of a second in free fall, beside 1e-8
    np.testing.assert_allclose(found.qd[-1], known.qd[-1], rtol=0, atol=1e-7)


def test_a_joint_that_would_fly_from_its_stop_lower_than_tolerances_tell_stays():
    """0.5 m/s against 10 m/s² is a flight of 12.5 mm; against nothing it does not end."""
    A, v, stop = np.eye(2), np.array([-1.0, 0.3]), np.array([True, False])
    for depth, pull, left in ((0.0126, -10.0, 0.0), (0.0124, -10.0, 0.5), (0.0126, 0.0, 0.5)):
        flight = Flight(np.array([pull, 0.0]), np.full(2, depth))
        after = from_stops(A, v, np.eye(2), stop, ~stop & False, np.full(2, 0.5), flight=flight)
        np.testing.assert_array_equal(after, [left, 0.3])


def test_how_far_a_joint_would_fly_is_told_with_others_at_rest_on_their_stops():
    """Pressed by 10 and 15 N m, the first one falls back at 10 rad/s² while the second rests; at 5 if it did not."""
    A, v, stop = np.array([[2.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 0.0]), np.array([True, True])
    for depth, left in ((0.0126, 0.0), (0.0124, 0.5)):
        flight = Flight(A @ [-10.0, -15.0], np.full(2, depth))
        after = from_stops(A, v, np.eye(2), stop, ~stop, np.array([0.5, 0.0]), flight=flight)
        np.testing.assert_array_equal(after, [left, 0.0])


def hits_at_several_stops(rng):
    """A mass matrix and velocities before and after, the speeds at stops among the latter."""
    n = int(rng.integers(2, 6))
    B = rng.normal(size=(n, n))
    M = B @ B.T + 0.01 * np.eye(n)
    lower = rng.random(n) < 0.5
    upper = ~lower & (np.arange(n) % 2 == 0)
    upper[-1] = not (lower | upper).any() or upper[-1]
    v = np.where((lower | upper) & (rng.random(n) < 0.5), 0.0, rng.normal(size=n))
    flight = Flight(10 * rng.normal(size=n), np.full(n, 10 ** rng.uniform(-8, -2)))
    kept = rng.choice([0.0, 0.3, 0.7, 1.0], size=n)
    after = from_stops(np.linalg.inv(M), v, np.eye(n), lower, upper, kept, flight=flight)
    return M, v, after, np.where(lower, after, -after)[lower | upper]


def test_hits_gain_no_energy_whatever_part_of_its_speed_each_joint_keeps(rng):
    """Newton's rule by itself gained up to fifty times the energy where joints of different restitution hit at once."""
    for _ in range(1000):
        M, v, after, _ = hits_at_several_stops(rng)
        assert after @ M @ after <= v @ M @ v * (1 + 1e-9)  # the rounding of matrices with a condition of 1e4


def test_no_joint_moves_into_its_stop_after_hits_of_others(rng):
    for _ in range(1000):
        _, v, _, speeds = hits_at_several_stops(rng)
        assert np.all(speeds >= -1e-9 * np.abs(v).max(initial=0.0))


def test_a_locked_joint_stands_exactly_still_where_another_one_hits_its_stop():
    """Impulses at the stop are sums in which what locks takes out what it gave, to rounding."""
    arm = fresh("panda")
    brake = dal.Event(time=0.05, lock=["joint2", "joint5"])
    q0 = [0.0, 0.3, 0.1, -1.5, 0.2, 3.6, 0.4]
    motion = dal.simulate(arm, q0, [0.0, 0.2, 0.1, 0.0, 0.0, 2.0, 0.0], t_end=0.4, stops=0.5, events=[brake])
    hits = [event for event in motion.events if event.kind == "stop"]
    assert hits
    for event in hits:
        np.testing.assert_array_equal(event.qd_after[[1, 4]], 0.0)


def test_accelerations_know_of_a_joint_that_is_locked_for_one_row_only(arm):
    """Rows tell that it stands if there are two of them; events tell always."""
    events = [dal.Event(time=0.3, lock=["joint2"]), dal.Event(time=0.6, release=["joint2"])]
    times = np.array([0.1, 0.45, 0.9])
    motion = dal.simulate(arm, [0.3, 0.2], [0.0, 0.0], t_eval=times, t_end=1.0, events=events, dense=True, **TIGHT)
    before, after = (motion.solution(times + step)[1] for step in (-1e-4, 1e-4))
    assert motion.qdd[1, 1] == 0.0
    np.testing.assert_allclose(motion.qdd, (after - before) / 2e-4, rtol=1e-5)  # of a difference over 0.2 ms


@pytest.mark.parametrize("method", ["dop853", "rosenbrock", "adams"])
@pytest.mark.parametrize("past", [0.05, 1e-7])
def test_a_stop_that_is_passed_and_left_within_one_step_is_hit(method, past):
    """A block thrown against a constant force comes a little beyond its stop and back: no error bounds the step."""
    speed = np.sqrt(2 * (1.0 + past))
    given = {"t_end": 2 * speed, "tau": [-MASS], "stops": 0.5, "first_step": 2 * speed, "dense": True, "method": method}
    motion = dal.simulate(block(limits=(-9.0, 1.0)), [0.0], [speed], **given, **TIGHT)
    assert motion.events[0].kind == "stop"
    assert motion.events[0].t == pytest.approx(speed - np.sqrt(2 * past), abs=1e-11 / np.sqrt(past))  # of a slow passage
    assert motion.solution(np.linspace(0.0, 2 * speed, 500))[0].max() <= 1.0


def test_stops_that_hinder_the_same_motion_share_its_impulse():
    """Two rows that are one, as those of geared joints are: half the impulse each, and the same velocities."""
    A, v, both = np.diag([1.0, 2.0]), np.array([-1.0, 0.5]), np.array([True, True])
    rows = np.array([[1.0, 0.2], [2.0, 0.4]])
    after = from_stops(A, v, rows, both, ~both, np.zeros(2))
    np.testing.assert_allclose(after, from_stops(A, v, rows[:1], both[:1], ~both[:1], np.zeros(1)), rtol=1e-12)
    np.testing.assert_allclose(rows @ after, 0.0, atol=1e-14)
