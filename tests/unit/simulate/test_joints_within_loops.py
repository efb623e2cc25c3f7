"""Friction, stops and locks at joints of mechanisms that are no coordinates: other coordinates, other ways to say it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear

import dalembert as dal
from tests.mechanisms_with_drives import limited, two_arms
from tests.unit.simulate.blocks import happened
from tests.unit.simulate.linkages import CHOICES, hanging, placed, push, rods, rubbing

FINE = {"rtol": 1e-10, "atol": 1e-12}
RANGES = {"left_joint2": dal.Limits(-1.9, -1.2), "right_joint2": dal.Limits(1.2, 1.9)}


@pytest.fixture(scope="module")
def seed():
    return rods().seed


def ranged(coordinates, mechanism=None):
    """With stops at the two joints of the middle; a coordinate takes the range of its joint when it is chosen."""
    return limited(mechanism or rods(coordinates), RANGES).replace(coordinates=coordinates)


def rates_of(mechanism, x):
    """∂x/∂q by the closures alone."""
    J = mechanism.equations(x)[1]
    return np.linalg.solve(J, np.eye(len(J))[:, len(mechanism.rows) :])


@pytest.mark.slow
@pytest.mark.parametrize(("method", "choices"), [("dop853", CHOICES), ("adams", CHOICES[:2]), ("rosenbrock", CHOICES[1:3])])
def test_joints_stick_and_slip_in_any_coordinates_alike(seed, method, choices):
    """In each choice two of the four joints that rub are no coordinates, and others are in the next."""
    found = []
    for choice in choices:
        mechanism = rubbing(rods(choice), 1.0, 0.3)
        given = {"t_end": 4.0, "wrenches": push(1.0), "method": method}
        found.append(dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], **given, **FINE))
    kinds = [(event.kind, event.joint) for event in found[0].events]
    assert kinds.count(("slip", "left_joint2")) == 4
    assert not any(joint == "right_joint2" for _, joint in kinds)
    for motion in found:
        assert sorted((e.kind, e.joint) for e in motion.events) == sorted(kinds)
        np.testing.assert_allclose([e.t for e in motion.events], [e.t for e in found[0].events], rtol=0, atol=1e-7)
        np.testing.assert_allclose(motion.x[-1], found[0].x[-1], rtol=0, atol=1e-8)
        assert np.ptp(motion.x[:, 3]) < 1e-12  # right_joint2 sticks all the time, and stays to rounding, coordinate or not


@pytest.mark.slow
def test_the_motion_is_the_limit_of_smooth_friction(seed):
    mechanism = rubbing(hanging(), 0.8)
    times = np.linspace(0.0, 0.5, 6)
    exact = dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], t_eval=times, **FINE)
    assert exact.success

    def off(width):
        given = {"t_eval": times, "method": "rosenbrock", "max_steps": 10**6}
        smooth = dal.simulate(mechanism.smoothed(width), placed(mechanism, seed), [0.0, 0.0], **given, **FINE)
        return np.abs(smooth.q - exact.q).max()

    errors = [off(width) for width in (1e-3, 1e-4, 1e-5)]
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize(("method", "choices"), [("dop853", CHOICES[:3]), ("rosenbrock", CHOICES[1:3])])
def test_stops_of_joints_within_loops_are_those_of_coordinates(seed, restitution, method, choices):
    """In the third choice, both joints with stops are coordinates."""
    found = []
    for choice in choices:
        mechanism = ranged(choice)
        given = {"t_end": 2.0, "wrenches": push(1.0), "method": method, "stops": restitution}
        found.append(dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], **given, **FINE))
    for motion in found:
        assert motion.success
        hits = [[e.t for e in each.events if e.kind == "stop"][:8] for each in (motion, found[0])]
        np.testing.assert_allclose(*hits, rtol=0, atol=1e-8)
        np.testing.assert_allclose(motion.x[-1], found[0].x[-1], rtol=0, atol=1e-7)
        names = motion.system.robot.joint_names
        for name, limits in RANGES.items():
            x = motion.x[:, names.index(name)]
            assert x.min() > limits.lower - 1e-10
            assert x.max() < limits.upper + 1e-10
    if restitution == 0.0:
        assert {"rest", "leave"} <= {event.kind for event in found[0].events}


@pytest.mark.slow
def test_accelerations_of_results_know_what_stands_and_their_balance_closes(seed):
    """Sticking, sliding, bouncing and resting at once: q̈ is that of the interpolant, and energy is lost where it should be."""
    mechanism = ranged(CHOICES[0], rubbing(rods(), 1.0, 0.3))
    times = np.linspace(0.001, 2.999, 400)
    given = {"t_end": 3.0, "wrenches": push(8.0), "stops": 0.3, "dense": True}
    motion = dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], t_eval=times, **given, **FINE)
    assert {"stick", "slip", "stop", "turn"} <= {event.kind for event in motion.events}
    h = 1e-6
    known = (motion.solution(times + h)[1] - motion.solution(times - h)[1]) / (2 * h)
    assert np.abs(motion.qdd - known).max() < 1e-7 * np.abs(known).max()  # differences of an interpolant of order 7
    whole = dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], **given, **FINE)
    assert whole.balance.largest < 1e-8
    assert whole.balance.turnover > 1.0


@pytest.mark.slow
def test_a_lock_stops_a_joint_within_a_loop_at_once(seed):
    """The same joint is a coordinate in another choice, where its velocity is taken out of the momenta."""
    events = [dal.Event(time=0.3, name="lock", lock=["left_joint2"]), dal.Event(time=0.7, name="free", release=["left_joint2"])]
    found = []
    for choice in CHOICES[:2]:
        mechanism = rods(choice)
        given = {"t_end": 1.0, "wrenches": push(1.0), "events": events, "dense": True}
        found.append(dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], **given, **FINE))
    one, other = found
    assert happened(one) == happened(other)
    np.testing.assert_allclose(one.x[-1], other.x[-1], rtol=0, atol=1e-9)
    held = one.x[(one.t >= 0.3) & (one.t <= 0.7), 1]
    assert np.ptp(held) < 1e-12
    lost = [np.interp(0.6, motion.t, motion.balance.impacts) for motion in found]
    assert lost[0] == pytest.approx(lost[1], rel=1e-6)
    assert lost[0] < -1e-4
    assert one.balance.largest < 1e-9


def test_joints_at_rest_share_a_load_as_far_as_any_way_of_sharing_holds_it(seed):
    """Four joints hold two freedoms: the least level that holds the weight is that of a linear programme."""
    mechanism = hanging()
    q, x = placed(mechanism, seed), mechanism.seed
    R, weight = rates_of(mechanism, x), dal.gravity_torque(mechanism, q)
    # least L with Rᵀ f = weight and |f| ≤ L
    bounds = [(None, None)] * len(R) + [(0, None)]
    inside = np.block([[np.eye(len(R)), -np.ones((len(R), 1))], [-np.eye(len(R)), -np.ones((len(R), 1))]])
    least = linprog([0] * len(R) + [1], inside, np.zeros(2 * len(R)), np.c_[R.T, np.zeros(2)], weight, bounds).fun
    held, falling = (dal.simulate(rubbing(mechanism, share * least), q, [0.0, 0.0], t_end=0.2) for share in (1 + 1e-7, 1 - 1e-7))
    assert not held.events
    np.testing.assert_allclose(held.qdd, 0.0, atol=1e-12)
    assert np.abs(held.qd).max() < 1e-13
    assert np.abs(falling.qd[-1]).max() > 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rods", "two_arms", "planar_3rrr", "delta"])
def test_accelerations_from_rest_solve_the_complementarity_problem(name, rng):
    """M q̈ + Rᵀ f = τ − g, f at its level where a joint moves, and some f within the levels where it does not."""
    mechanism = {"rods": hanging, "two_arms": two_arms}.get(name, getattr(dal.mechanisms, name, None))()
    x, q = mechanism.seed, mechanism.q0
    R, M, g = rates_of(mechanism, x), dal.mass_matrix(mechanism, q), dal.gravity_torque(mechanism, q)
    phi, names = np.array(dal.parameters(mechanism)), dal.parameter_names(mechanism)
    places = [names.index(f"{joint.name}.Fc") for joint in mechanism.robot.structure.coordinates]
    size = max(1.0, np.abs(g).max())
    for _ in range(20):
        levels = phi[places] = rng.uniform(0.01, 0.3, len(R)) * size
        tau = g + rng.normal(size=len(q)) * size * 0.5
        motion = dal.simulate(mechanism, q, np.zeros_like(q), t_end=1e-3, tau=tau, parameters=phi)
        a = R @ motion.qdd[0]
        moves = np.abs(a) > 1e-7 * np.abs(R @ np.linalg.solve(M, tau - g)).max()
        left = tau - g - M @ motion.qdd[0] - R[moves].T @ (levels[moves] * np.sign(a[moves]))
        if not moves.all():
            within = levels[~moves] * (1 + 1e-9)
            left = left - R[~moves].T @ lsq_linear(R[~moves].T, left, (-within, within), tol=1e-14).x
        assert np.abs(left).max() < 1e-8 * size


@pytest.mark.slow
@pytest.mark.parametrize("stops", [None, {"joint1": 0.4}])
def test_a_motion_with_friction_passes_positions_that_its_coordinate_does_not_tell(stops):
    """A rocker that is the coordinate has two dead points in a turn of the crank; a stop at the crank is none of its own."""
    crank = limited(dal.mechanisms.crank_rocker(), {"joint1": dal.Limits(-12.0, 9.0)})
    crank = rubbing(crank.replace(coordinates=("joint1",)), 2e-3)
    rocker = dal.Mechanism("rocker", crank.robot, crank.closures, ["joint3"], crank.seed)
    speed = np.linalg.solve(crank.equations(crank.seed)[1], [0.0, 0.0, 8.0])
    times = np.linspace(0.0, 3.0, 31)
    known = dal.simulate(crank, crank.q0, [8.0], t_eval=times, stops=stops, **FINE)
    found = dal.simulate(rocker, rocker.q0, [speed[2]], t_eval=times, stops=stops, **FINE)
    assert rocker.charts
    assert found.success
    np.testing.assert_allclose(found.x, known.x, rtol=0, atol=1e-6)
    assert ("stop" in {event.kind for event in found.events}) == (stops is not None)


@pytest.mark.slow
def test_a_motion_of_two_freedoms_passes_them_with_friction_too(seed):
    """Under gravity the linkage falls through positions that its two base joints do not tell; others tell them."""
    times, found = np.linspace(0.0, 1.2, 13), []
    for choice in CHOICES[:2]:
        mechanism = rubbing(hanging(choice), 0.5)
        found.append((mechanism, dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], t_eval=times, **FINE)))
    assert any(mechanism.charts for mechanism, _ in found)
    assert all(motion.success for _, motion in found)
    np.testing.assert_allclose(found[0][1].x, found[1][1].x, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_batch_has_its_own_modes_and_equals_single_motions_and_any_number_of_threads(seed, rng):
    mechanism = ranged(CHOICES[0], rubbing(rods(), 1.0, 0.3))
    qd0 = rng.normal(size=(11, 2))
    given = {"t_eval": np.linspace(0.0, 1.0, 5), "wrenches": push(4.0), "stops": 0.3, **FINE}
    one, two = (dal.simulate(mechanism, placed(mechanism, seed), qd0, threads=threads, **given) for threads in (1, 2))
    assert one.q.tobytes() == two.q.tobytes()
    for k, row in enumerate(qd0[:4]):
        alone = dal.simulate(mechanism, placed(mechanism, seed), row, **given)
        assert alone.q.tobytes() == one.q[k].tobytes()
        assert happened(alone) == [(event.kind, event.name, event.t) for event in one.events[k]]


def test_levels_may_be_given_as_parameters(seed):
    plain, rough = rods(), rubbing(rods(), 1.0, 0.3)
    given = {"t_end": 1.0, "wrenches": push(1.0), **FINE}
    own = dal.simulate(rough, placed(rough, seed), [0.0, 0.0], **given)
    other = dal.simulate(plain, placed(plain, seed), [0.0, 0.0], parameters=dal.parameters(rough), **given)
    assert [(e.kind, e.joint) for e in own.events] == [(e.kind, e.joint) for e in other.events]
    np.testing.assert_allclose(own.x[-1], other.x[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.qdd[-1], own.qdd[-1], rtol=0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order"), [("semi_implicit_euler", 1.0), ("rk4", 2.0)])
def test_fixed_steps_decide_which_joints_within_loops_stick(seed, method, order):
    mechanism = rubbing(rods(), 1.0, 0.3)
    exact = dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], t_eval=[0.0, 1.0], wrenches=push(1.0), **FINE)
    errors = []
    for dt in (4e-3, 1e-3):
        given = {"wrenches": push(1.0), "dt": dt, "steps": round(1.0 / dt), "method": method}
        motion = dal.rollout(mechanism, placed(mechanism, seed), [0.0, 0.0], None, **given)
        errors.append(np.abs(motion.q[-1] - exact.q[-1]).max())
        x = mechanism.assemble(motion.q, continuous=True).x
        assert np.ptp(x[:, 3]) < 1e-12  # one that sticks does not creep
    assert errors[0] / errors[1] > 0.6 * 4**order


def test_what_cannot_be_is_refused_with_a_sentence(seed):
    mechanism = ranged(CHOICES[0])
    tight = limited(rods(), {"left_joint2": dal.Limits(-1.4, -1.2)})
    with pytest.raises(
        dal.DalembertError, match=r"q0: 'left_joint2' at -1\.48\d+, beyond its stops at -1\.4 and -1\.2\. Begin within"
    ):
        dal.simulate(tight, placed(tight, seed), [0.0, 0.0], t_end=0.1, stops=0.0)
    with pytest.raises(dal.DalembertError, match=r"stops: joint: 'elbow' is not known"):
        dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], t_end=0.1, stops={"elbow": 0.0})
    with pytest.raises(dal.DalembertError, match=r"stops: 'left_joint1' has no limits"):
        dal.simulate(mechanism, placed(mechanism, seed), [0.0, 0.0], t_end=0.1, stops={"left_joint1": 0.0})
    with pytest.raises(dal.DalembertError, match=r"event 'lock': joint: 'elbow' is not known"):
        dal.simulate(
            mechanism, placed(mechanism, seed), [0.0, 0.0], t_end=0.1, events=[dal.Event(time=0.05, name="lock", lock="elbow")]
        )


def test_a_joint_that_turns_round_where_a_held_one_has_a_parallel_row_is_not_taken_to_stand():
    """Of three legs one stands and another holds its knee; the knee of the first one turns as both tell the same motion."""
    legs = dal.mechanisms.planar_3rrr()
    laws = {"leg1_joint1": (0.03, 0.29), "leg1_joint2": (0.18, 0.15), "leg1_joint3": (0.16, 0.0), "leg2_joint1": (0.12, 0.043)}
    laws |= {"leg2_joint2": (0.05, 0.0), "leg3_joint1": (0.13, 0.385), "leg3_joint2": (0.09, 0.23)}
    friction = {name: dal.Friction(*law) for name, law in laws.items()}
    legs = legs.replace(robot=legs.robot.replace(parameters=legs.robot.parameters.replace(friction=friction)))
    times = np.array([0.015, 0.04, 0.06])
    given = {"t_eval": times, "t_end": 0.08, "dense": True, "rtol": 1e-10, "atol": 1e-12}
    motion = dal.simulate(legs, [0.18692565, -0.24549291, -0.30245728], [0.0, -0.7866281, -0.61135], **given)
    assert ("turn", "leg1_joint2") in [(event.kind, event.joint) for event in motion.events]
    assert ("stick", "leg1_joint2") not in [(event.kind, event.joint) for event in motion.events]
    before, after = (motion.solution(times + step)[1] for step in (-1e-4, 1e-4))
    np.testing.assert_allclose(motion.qdd, (after - before) / 2e-4, rtol=1e-4, atol=1e-5)  # of a difference over 0.2 ms
