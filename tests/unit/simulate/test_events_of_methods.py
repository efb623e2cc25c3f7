"""Dry friction, stops and events in the steps of the stiff method and of Adams: closed forms, and agreement with DOP853.

Tolerances are those that the steps were asked for, times some tens of steps and a speed near one.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import dalembert as dal
from dalembert.expr import ops
from tests.robots import fresh, without_friction
from tests.unit.simulate.blocks import MASS, TIGHT, block, happened, with_friction

LEVEL = 3.0
FINE = {"rtol": 1e-9, "atol": 1e-12}
METHODS = pytest.mark.parametrize("method", ["rosenbrock", "adams"])
STIFF = {"method": "rosenbrock"}


@pytest.fixture(scope="module")
def sliding() -> dal.Robot:
    return block(dal.Friction(0.0, LEVEL))


@pytest.fixture(scope="module")
def arm() -> dal.Robot:
    return without_friction(fresh("two_link_planar"))


@pytest.fixture(scope="module")
def rubbing(arm) -> dal.Robot:
    """One joint with levels only, the other with a peak at rest."""
    return with_friction(
        arm, joint1=dal.Friction(1.0, 40.0), joint2=dal.Friction(1.0, 20.0, breakaway=30.0, stribeck_velocity=0.05)
    )


def pulled(t, q, qd):
    """Two springs."""
    return [-3000.0 * q[0], -1000.0 * q[1]]


def same_events(found, known, within):
    assert [(event.kind, event.name) for event in found.events] == [(event.kind, event.name) for event in known.events]
    np.testing.assert_allclose([event.t for event in found.events], [event.t for event in known.events], rtol=0, atol=within)


@METHODS
def test_a_block_on_a_spring_turns_round_and_sticks_as_in_closed_form(sliding, method):
    """Half swings about ±level/k, each of the same duration, until the spring cannot overcome friction any more."""
    k = 50.0
    motion = dal.simulate(sliding, [1.0], [0.0], t_end=10.0, tau=lambda t, q, qd: [-k * q[0]], method=method, **FINE)
    x, t, turns = 1.0, 0.0, []
    while abs(k * x) > LEVEL:
        x, t = 2 * np.sign(x) * LEVEL / k - x, t + np.pi * np.sqrt(MASS / k)
        turns.append((t, x))
    assert [event.kind for event in motion.events] == ["turn"] * (len(turns) - 1) + ["stick"]
    np.testing.assert_allclose([(event.t, event.q[0]) for event in motion.events], turns, rtol=0, atol=3e-8)


@METHODS
@pytest.mark.parametrize("rtol", [1e-5, 1e-9])
def test_a_block_under_a_swinging_force_sticks_and_slips_as_in_closed_form(sliding, method, rtol):
    """Loose where A sin(wt) passes the level; at rest again where the integral of the net force is zero."""
    A, w = 5.0, 3.0
    given = {"tau": lambda t, q, qd: [A * ops.sin(w * t)], "rtol": rtol, "atol": 1e-3 * rtol}
    motion = dal.simulate(sliding, [0.0], [0.0], t_end=10.0, method=method, **given)
    expected, sign, t = [], 1.0, np.arcsin(LEVEL / A) / w
    while len(expected) < 19:
        momentum = lambda end, begin=t, s=sign: s * A / w * (np.cos(w * begin) - np.cos(w * end)) - LEVEL * (end - begin)  # noqa: E731
        expected += [t, brentq(momentum, t + 0.2, t + 0.2 + np.pi / w, xtol=1e-15)]
        t, sign = t + np.pi / w, -sign
    assert [event.kind for event in motion.events[:4]] == ["slip", "stick", "slip", "stick"]
    np.testing.assert_allclose([event.t for event in motion.events], expected[:19], rtol=0, atol=rtol)


def test_a_stiff_drive_breaks_a_joint_loose_and_pulls_it_as_in_closed_form(sliding):
    """The goal moves at V; spring and damper pull with k V t + d V, loose at F. Then m ü + d u̇ + k u = F for the lag u."""
    k, d, V = 1e8, 1e6, 1e-4
    given = {"tau": lambda t, q, qd: [k * (V * t - q[0]) + d * (V - qd[0])], "t_eval": np.linspace(0.0, 0.1, 11)}
    found = dal.simulate(block(dal.Friction(0.0, 200.0)), [0.0], [0.0], **given, **STIFF, **FINE)
    loose = (200.0 - d * V) / (k * V)
    assert happened(found) == [("slip", "slide", pytest.approx(loose, abs=1e-9))]
    slow, fast = sorted(np.roots([MASS, d, k]), key=abs)
    t = found.t[found.t > loose] - loose
    start, rate = V * loose - 200.0 / k, V  # u − F/k and its rate where it breaks loose
    a = (rate - fast * start) / (slow - fast)
    lag = 200.0 / k + a * np.exp(slow * t) + (start - a) * np.exp(fast * t)
    np.testing.assert_allclose(found.q[found.t > loose, 0], V * (t + loose) - lag, atol=1e-11)
    assert found.accepted < 200  # the time constant of the drive is 2 µs


@METHODS
@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_a_block_bounces_off_its_stop_as_in_closed_form_and_comes_to_rest(method, rtol):
    """Under a constant force every method is exact: 1 s to the stop at 2 m/s, then 2 e^k s from bounce to bounce."""
    motion = dal.simulate(block(), [0.0], [0.0], t_end=6.0, tau=[2.0 * MASS], stops=0.5, method=method, rtol=rtol)
    stops = [event for event in motion.events if event.kind == "stop"]
    expected = 1.0 + 2.0 * (1 - 0.5 ** np.arange(len(stops)))
    rounding = [1e-8 + 1e-15 / e.qd[0] for e in stops]  # atol, and that of q near 1 at a lower and lower speed
    assert np.all(np.abs([e.t for e in stops] - expected) < rounding)
    assert motion.events[-1].kind == "rest"
    assert (motion.q[-1, 0], motion.qd[-1, 0]) == (1.0, 0.0)


@pytest.mark.parametrize("method", ["dop853", "rosenbrock", "adams"])
def test_a_joint_that_is_pressed_hard_against_its_stop_comes_to_rest_there(method):
    """Under 100 km/s² its last bounces are lower than numbers near 3 are apart, at a speed far above that of rest."""
    motion = dal.simulate(block(limits=(-3, 3)), [0.0], [0.0], t_end=1.0, tau=[2e5], stops=0.5, method=method, max_steps=1000)
    assert motion.success
    assert len(motion.events) < 50
    assert (motion.events[-1].kind, motion.q[-1, 0], motion.qd[-1, 0]) == ("rest", 3.0, 0.0)


@pytest.mark.parametrize("method", ["dop853", "rosenbrock"])
def test_a_motion_that_bounces_for_ever_is_given_up_after_max_steps(method):
    """Every step would reach the end, were it not for the next bounce."""
    given = {"tau": [2.0 * MASS], "stops": 1.0, "method": method, "max_steps": 60}
    with pytest.warns(dal.DalembertWarning, match="needed more than max_steps steps"):
        motion = dal.simulate(block(), [0.0], [0.0], t_end=1000.0, **given)
    assert int(motion.accepted + motion.rejected) == 60


@pytest.mark.slow
@pytest.mark.parametrize(("method", "rtol"), [("rosenbrock", 1e-6), ("adams", 1e-4)])
def test_loose_tolerances_find_no_bounce_twice(method, rtol):
    """An interpolant whose slope at the stop is off would find the joint beyond it again at once: 70,000 bounces."""
    panda, rng = fresh("panda"), np.random.default_rng(5)
    low, high = (np.array([getattr(c.limits, side) for c in panda.structure.coordinates]) for side in ("lower", "upper"))
    start = {"q0": low + (high - low) * rng.uniform(0.2, 0.8, 7), "qd0": rng.normal(size=7) * 2, "t_end": 1.0, "stops": 0.3}
    found = dal.simulate(panda, **start, method=method, rtol=rtol, atol=1e-3 * rtol, max_steps=2000)
    known = dal.simulate(panda, **start, rtol=1e-10, atol=1e-12)
    same_events(found, known, 10 * rtol)  # bounces make what they are off larger


@pytest.mark.parametrize("method", ["dop853", "rosenbrock", "adams"])
@pytest.mark.parametrize("height", [1.0, 1.9])
def test_a_function_that_passes_zero_twice_in_a_step_is_found_twice(method, height):
    """A block thrown against a constant force: steps without an error grow as long as the motion."""
    there = dal.Event(lambda t, q, qd, p: q[0] - p.height, name="there")
    given = {"tau": lambda t, q, qd, p: [-MASS], "inputs": {"height": height}, "events": [there]}
    motion = dal.simulate(block(limits=(-9, 9)), [0.0], [2.0], t_end=4.0, method=method, **given)
    apart = 2.0 * np.sqrt(1.0 - 0.5 * height)  # about 2 s, where it is 2 m away
    np.testing.assert_allclose([event.t for event in motion.events], [2.0 - apart, 2.0 + apart], atol=1e-8)


@METHODS
def test_functions_are_located_and_may_end_a_motion(arm, method):
    events = [
        dal.Event(lambda t, q, qd: q[1], name="through"),
        dal.Event(lambda t, q, qd: qd[0], name="back", direction="rising"),
        dal.Event(lambda t, q, qd: t - 1.7, name="end", terminal=True),
    ]
    start = {"q0": [0.5, -0.3], "qd0": [1.0, 2.0], "t_end": 3.0, "events": events, "dense": True, "tau": pulled}
    found, known = dal.simulate(arm, **start, method=method, **FINE), dal.simulate(arm, **start, **TIGHT)
    assert len(found.events) > 3
    same_events(found, known, 1e-8)
    assert (found.message, found.t[-1], found.solution.t[-1]) == ("A terminal event ended the motion.", 1.7, 1.7)
    for event in found.events:
        if event.name == "through":
            assert event.q[1] == pytest.approx(0.0, abs=1e-14)  # zero where it is located, whatever the motion is off


@pytest.mark.slow
@METHODS
def test_joints_are_locked_and_payloads_caught_and_dropped(arm, method):
    loaded = arm.with_payload(3.0)
    events = [
        dal.Event(lambda t, q, qd: q[1] - 0.3, name="catch", system=loaded, caught=True),
        dal.Event(time=0.6, name="lock", lock=["joint2"]),
        dal.Event(time=1.0, name="free", release=["joint2"]),
        dal.Event(time=1.2, name="drop", system=arm),
    ]
    start = {"q0": [0.3, 0.2], "qd0": [0.0, 1.0], "t_end": 1.5, "events": events, "dense": True}
    found, known = dal.simulate(arm, **start, method=method, **FINE), dal.simulate(arm, **start, **TIGHT)
    same_events(found, known, 1e-8)
    np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-7)
    q, qd = found.solution(np.linspace(0.6 + 1e-9, 1.0, 20))
    assert np.ptp(q[:, 1]) == 0.0
    assert not qd[:, 1].any()


@pytest.mark.slow
@pytest.mark.parametrize("gain", [1e3, 1e5])
def test_a_puma_under_stiff_gains_sticks_and_slips_as_by_the_explicit_method(gain):
    """Its own friction, goals that swing: one joint after the other turns round, sticks and breaks loose."""
    puma = fresh("puma560")

    def law(t, q, qd, p):
        goal = [0.3 * ops.sin(1.5 * t + 0.4 * i) for i in range(6)]
        return [p.k * (g - x) - 0.02 * p.k * v for g, x, v in zip(goal, q, qd, strict=True)]

    start = {"q0": [0.0, 0.5, -0.4, 0.3, 0.6, 0.0], "qd0": np.zeros(6), "t_end": 3.0, "tau": law, "inputs": {"k": gain}}
    known = dal.simulate(puma, **start, rtol=1e-11, atol=1e-13, max_steps=10**5)
    found = dal.simulate(puma, **start, **STIFF, rtol=1e-8, atol=1e-11)
    assert {"stick", "slip"} <= {event.kind for event in found.events}
    same_events(found, known, 1e-8)
    np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-10)
    loose = dal.simulate(puma, **start, **STIFF)
    same_events(loose, known, 1e-6)
    assert loose.accepted < 600  # the explicit method takes 5,600 at 1e5


def test_the_jacobian_knows_the_slope_of_a_peak_of_friction(rubbing):
    """Steps at a fixed length: with a Jacobian that misses it the order would not be five."""
    start = {"q0": [0.5, -0.3], "qd0": [0.5, 0.12], "t_eval": [0.0, 0.04], "tau": [300.0, 150.0]}
    known, errors, lengths = dal.simulate(rubbing, **start, **TIGHT), [], 0.04 / np.array([4, 6, 8, 12])
    for h in lengths:
        found = dal.simulate(rubbing, **start, **STIFF, rtol=1e3, atol=1e3, first_step=h, max_step=h)
        assert not found.events
        errors.append(np.abs(found.qd[-1] - known.qd[-1]).max())
    assert np.polyfit(np.log(lengths), np.log(errors), 1)[0] == pytest.approx(5.0, abs=0.5)


def test_currents_of_motors_and_dry_friction_go_together(rubbing):
    """A time constant of 10 µs; joints that stick until a current has grown, and again where they turn round."""
    L, R, K = 1e-5, 1.0, 5.0

    def rates(t, q, qd, p):
        return {"current": [(40.0 * ops.sin(9.0 * t + i) - R * p.current[i] - K * qd[i]) / L for i in range(2)]}

    start = {"q0": [0.0, 0.0], "qd0": [0.0, 0.0], "tau": lambda t, q, qd, p: K * p.current, "rates": rates}
    start |= {"states": {"current": np.zeros(2)}, "t_end": 0.5}
    found = dal.simulate(rubbing, **start, **STIFF, **FINE)
    known = dal.simulate(rubbing, **start, rtol=1e-10, atol=1e-11, max_steps=10**6)
    assert len(found.events) > 2
    same_events(found, known, 1e-8)
    np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-8)
    assert found.accepted < known.accepted / 10


@pytest.mark.slow
@METHODS
def test_motions_of_a_batch_have_events_of_their_own(rubbing, rng, method):
    q0, qd0 = rng.uniform(-1, 1, (2, 5, 2))
    times = np.linspace(0.0, 2.0, 9)
    together = dal.simulate(rubbing, q0, qd0, t_eval=times, method=method, **FINE)
    assert together.success
    for k in range(5):
        alone = dal.simulate(rubbing, q0[k], qd0[k], t_eval=times, method=method, **FINE)
        np.testing.assert_allclose(together.q[k], alone.q, atol=1e-8)  # other registers, other rounding
        assert [(e.kind, e.name) for e in together.events[k]] == [(e.kind, e.name) for e in alone.events]


@METHODS
def test_dense_output_goes_through_events_and_the_balance_of_energy_closes(rubbing, method):
    start = {"q0": [1.0, -0.8], "qd0": [1.0, 2.0], "method": method, "tau": pulled}
    dense = dal.simulate(rubbing, **start, t_end=4.0, dense=True, **FINE)
    assert len(dense.events) > 3
    times = np.linspace(0.0, 4.0, 33)
    points = dal.simulate(rubbing, **start, t_eval=times, **FINE)
    np.testing.assert_allclose(dense.solution(times)[0], points.q, atol=1e-12)
    np.testing.assert_allclose(dense.solution(times)[1], points.qd, atol=1e-12)
    assert dense.balance.relative < 1e-8


@METHODS
def test_interpolants_begin_with_the_velocity_of_the_motion(rubbing, method):
    """The first two coefficients are the slope at the start of a step, in units of its length."""
    motion = dal.simulate(rubbing, [1.0, -0.8], [1.0, 2.0], tau=pulled, t_end=1.0, dense=True, method=method, rtol=1e-4)
    starts, F = motion.solution.starts, motion.solution.coefficients[0]
    np.testing.assert_allclose(F[:, 0] + F[:, 1], starts.lengths[:, None] * starts.qd, atol=1e-14)


@METHODS
def test_all_joints_of_a_linkage_stick_together(method):
    """The friction of passive joints depends on the position, so it has a part in the Jacobian too."""
    bars = dal.mechanisms.four_bar()
    rough = bars.replace(robot=with_friction(bars.robot, 8.0))
    goal = float(bars.q0[0])
    start = {"q0": bars.q0, "qd0": [0.0], "t_end": 2.0}
    start |= {"tau": lambda t, q, qd: [1e3 * (goal + 0.3 * ops.sin(3.0 * t) - q[0]) - 50.0 * qd[0]]}
    found = dal.simulate(rough, **start, method=method, **FINE)
    known = dal.simulate(rough, **start, rtol=1e-11, atol=1e-12)
    assert {"stick", "slip"} <= {event.kind for event in found.events}
    same_events(found, known, 1e-8)
    np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-8)
    assert found.residual.max() < 1e-9


@METHODS
def test_laws_that_are_sampled_and_torques_that_jump_decide_anew(sliding, method):
    tau, times = [[1.0], [4.0], [1.0]], [0.0, 1.0, 2.0]
    motion = dal.simulate(sliding, [0.0], [0.0], t_end=5.0, tau=tau, tau_times=times, method=method, **FINE)
    assert happened(motion) == [("slip", "slide", 1.0), ("stick", "slide", pytest.approx(2.5, abs=1e-9))]
    wide = block(dal.Friction(0.0, LEVEL), (-9.0, 9.0))
    given = {"t_end": 2.0, "tau": lambda t, q, qd: [-50.0 * q[0]], "sample": 0.05}
    found, known = (dal.simulate(wide, [1.0], [0.0], **given, **way) for way in (FINE | {"method": method}, TIGHT))
    same_events(found, known, 1e-8)
    np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-8)


@pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
@pytest.mark.parametrize(
    "output", [{"t_eval": np.linspace(0.0, 2.0, 21)}, {"t_end": 2.0, "dense": True}], ids=["points", "dense"]
)
def test_motions_of_a_batch_meet_what_they_meet_alone(arm, method, output):
    """Motions that wait keep what happened to them while others beside them go on."""
    narrow = [joint.replace(limits=dal.Limits(-0.35, 0.35)) for joint in arm.structure.joints]
    rubbing = with_friction(arm.replace(structure=arm.structure.replace(joints=narrow)), joint1=dal.Friction(1.0, 40.0))
    starts = np.random.default_rng(0).uniform(-0.35, 0.35, size=(20, 2))
    events = [dal.Event(lambda t, q, qd: q[1] - 0.1, name="there"), dal.Event(time=0.7, name="noted")]
    given = {"tau": pulled, "events": events, "stops": {"joint2": 0.5}, "method": method, **output, **FINE}
    together = dal.simulate(rubbing, starts, [0.0, 0.0], **given)
    for start, found in zip(starts, together.events, strict=True):
        alone = dal.simulate(rubbing, start, [0.0, 0.0], **given)
        assert [event[:4] for event in found] == [event[:4] for event in alone.events]  # to the last bit
    assert {event.kind for found in together.events for event in found} >= {"event", "stop", "turn"}
