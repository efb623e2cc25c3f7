"""Dry friction as it is: closed forms of one joint, energy, several joints at once, and the limit of smoothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import dalembert as dal
from dalembert.errors import DalembertWarning
from dalembert.expr import ops
from dalembert.simulate import dry_friction
from tests.robots import fresh, random_robot
from tests.unit.simulate.blocks import MASS, TIGHT, block, friction_loss, happened, with_friction

LEVEL = 3.0


@pytest.fixture(scope="module")
def sliding() -> dal.Robot:
    return block(dal.Friction(0.0, LEVEL))


def test_a_block_slides_to_rest_where_its_energy_is_used_up_and_stays(sliding):
    motion = dal.simulate(sliding, [0.1], [2.0], t_end=30.0)
    ((kind, name, t),) = happened(motion)
    assert (kind, name) == ("stick", "slide")
    assert t == pytest.approx(2.0 * MASS / LEVEL, abs=1e-14)
    assert motion.q[-1, 0] == pytest.approx(0.1 + 0.5 * MASS * 2.0**2 / LEVEL, abs=1e-14)
    assert motion.qd[-1, 0] == 0.0


def test_a_block_on_a_spring_turns_round_and_sticks_as_in_closed_form(sliding):
    """Half swings about ±level/k, each of the same duration, until the spring cannot overcome friction any more."""
    k = 50.0
    motion = dal.simulate(sliding, [1.0], [0.0], t_end=10.0, tau=lambda t, q, qd: [-k * q[0]], **TIGHT)
    x, t, turns = 1.0, 0.0, []
    while abs(k * x) > LEVEL:
        x, t = 2 * np.sign(x) * LEVEL / k - x, t + np.pi * np.sqrt(MASS / k)
        turns.append((t, x))
    assert [event.kind for event in motion.events] == ["turn"] * (len(turns) - 1) + ["stick"]
    np.testing.assert_allclose([(event.t, event.q[0]) for event in motion.events], turns, rtol=0, atol=1e-11)


def test_a_block_under_a_swinging_force_sticks_and_slips_as_in_closed_form(sliding):
    """Loose where A sin(wt) passes the level; at rest again where the integral of the net force is zero."""
    A, w = 5.0, 3.0
    motion = dal.simulate(sliding, [0.0], [0.0], t_end=10.0, tau=lambda t, q, qd: [A * ops.sin(w * t)], **TIGHT)
    expected, sign, t = [], 1.0, np.arcsin(LEVEL / A) / w
    while len(expected) < len(motion.events):
        momentum = lambda end, begin=t, s=sign: s * A / w * (np.cos(w * begin) - np.cos(w * end)) - LEVEL * (end - begin)  # noqa: E731
        rest = brentq(momentum, t + 0.2, t + 0.2 + np.pi / w, xtol=1e-15)
        expected += [t, rest]
        t, sign = t + np.pi / w, -sign
    assert [event.kind for event in motion.events[:4]] == ["slip", "stick", "slip", "stick"]
    assert len(motion.events) == 19
    np.testing.assert_allclose([event.t for event in motion.events], expected[:19], rtol=0, atol=1e-12)


def test_levels_differ_by_direction_and_breakaway_is_the_level_at_rest():
    law = dal.Friction(0.0, 2.0, 4.0, breakaway=3.0, stribeck_velocity=0.1)  # 3 N forward, 4 · 3/2 = 6 N backward
    for way, level in ((1.0, 3.0), (-1.0, 6.0)):
        motion = dal.simulate(block(law), [0.0], [0.0], t_end=5.0, tau=lambda t, q, qd, way=way: [way * 2.0 * t], **TIGHT)
        assert happened(motion)[0] == ("slip", "slide", pytest.approx(level / 2.0, abs=1e-12))
        assert way * motion.qd[-1, 0] > 0.0


def test_a_jump_of_a_sampled_torque_breaks_a_joint_loose_at_the_sample(sliding):
    tau, times = [[1.0], [4.0], [1.0]], [0.0, 1.0, 2.0]
    motion = dal.simulate(sliding, [0.0], [0.0], t_end=5.0, tau=tau, tau_times=times, **TIGHT)
    assert happened(motion) == [("slip", "slide", 1.0), ("stick", "slide", pytest.approx(2.5, abs=1e-13))]
    assert motion.q[-1, 0] == pytest.approx(0.5 * 0.5 + 0.5 * 0.5 / 2, abs=1e-13)  # 0.5 m/s² for 1 s, then −1 m/s²


def test_a_puma_with_its_own_friction_swings_ten_seconds_in_few_steps():
    puma = fresh("puma560")
    motion = dal.simulate(puma, [0.0, 0.5, -0.4, 0.3, 0.6, 0.0], [1.0, -1.0, 2.0, 3.0, -2.0, 1.0], t_end=10.0)
    assert motion.success
    assert int(motion.accepted + motion.rejected) < 100  # 5,000 are asked for
    assert {event.kind for event in motion.events} >= {"stick"}
    assert not motion.qd[-1].any()


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_what_friction_takes_is_what_the_energy_loses(scale, rng):
    puma = with_friction(fresh("puma560"), scale)
    q0, qd0 = rng.uniform(-2, 2, (2, 6))
    motion = dal.simulate(puma, q0, qd0, t_end=10.0, dense=True, **TIGHT)
    assert len(motion.events) > 5
    loss = friction_loss(puma, motion.solution)
    assert loss > 1.0
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(-loss, abs=1e-8)


def test_the_motion_of_a_puma_is_the_limit_of_smooth_friction(rng):
    """The difference shrinks with the width, by nearly as much."""
    puma = with_friction(fresh("puma560"), 0.1)
    q0, qd0 = rng.uniform(-2, 2, (2, 6))
    end = dal.simulate(puma, q0, qd0, t_end=2.0, rtol=1e-10, atol=1e-12).q[-1]
    widths = np.array([1e-2, 1e-3, 1e-4, 1e-5])
    off = [
        np.abs(dal.simulate(puma.smoothed(w), q0, qd0, t_end=2.0, rtol=1e-9, atol=1e-11, max_steps=10**6).q[-1] - end).max()
        for w in widths
    ]
    assert np.all(np.diff(np.log(off)) < np.log(0.25))
    assert off[-1] < 3e-5


def test_joints_that_stick_and_slip_at_once_solve_the_complementarity_problem(rng):
    """On random robots at rest: forces within the levels where q̈ = 0, on them where q̈ is not, and against it."""
    for seed in range(3):
        robot = random_robot(np.random.default_rng(seed), 4)
        names = [c.name for c in robot.structure.coordinates]
        laws = {name: dal.Friction(0.1, *rng.uniform(0.2, 3.0, 2)) for name in names}
        robot = robot.replace(parameters=robot.parameters.replace(friction=laws))
        q, tau, still = rng.uniform(-2, 2, 4), rng.normal(size=4) * 3, np.zeros(4)
        g = dal.gravity_torque(robot, q)
        motion = dal.simulate(robot, q, still, t_end=1e-6, tau=tau + g, rtol=1e-10)
        qdd = motion.qd[-1] / 1e-6
        friction = tau - dal.mass_matrix(robot, q) @ qdd  # what acts against the motion, up to what 1e-6 s change
        high = np.array([laws[name].coulomb for name in names])
        low = -np.array([laws[name].coulomb_negative for name in names])
        slack = 1e-4
        assert np.all(friction < high + slack)
        assert np.all(friction > low - slack)
        np.testing.assert_allclose(friction[qdd > 1e-9], high[qdd > 1e-9], atol=slack)
        np.testing.assert_allclose(friction[qdd < -1e-9], low[qdd < -1e-9], atol=slack)


def test_a_batch_has_its_own_modes_and_equals_single_motions_and_any_number_of_threads(rng):
    puma = with_friction(fresh("puma560"), 0.1)
    q0, qd0 = rng.uniform(-2, 2, (2, 7, 6))
    times = np.linspace(0.0, 3.0, 13)
    one, two = (dal.simulate(puma, q0, qd0, t_eval=times, threads=threads) for threads in (1, 2))
    assert one.q.tobytes() == two.q.tobytes()
    assert one.qd.tobytes() == two.qd.tobytes()
    assert one.events.shape == (7,)
    for k in range(7):
        alone = dal.simulate(puma, q0[k], qd0[k], t_eval=times)
        np.testing.assert_allclose(one.q[k], alone.q, rtol=0, atol=1e-9)  # other registers, other rounding
        assert [(e.kind, e.name) for e in one.events[k]] == [(e.kind, e.name) for e in alone.events]


def test_steps_between_events_agree_with_scipy_event_by_event(rng):
    """Another integrator, and its own location of the first turn of a joint."""
    puma = with_friction(fresh("puma560"), 0.1)
    q0, qd0 = rng.uniform(-1, 1, (2, 6))
    modes = np.sign(qd0)

    def slope(t, y):
        # Friction of the directions at the start, however the joints turn later.
        level = dal.friction_torque(puma, 1e-9 * modes) - dal.friction_torque(puma, np.zeros(6))
        smooth = puma.parameters.friction
        viscous = np.array([smooth[c.name].viscous for c in puma.structure.coordinates]) * y[6:]
        torque = -dal.bias(puma, y[:6], y[6:]) - level - viscous
        return [*y[6:], *np.linalg.solve(dal.mass_matrix(puma, y[:6]), torque)]

    def first_turn(t, y):
        return (modes * y[6:]).min()

    first_turn.terminal = True
    peer = solve_ivp(slope, (0.0, 5.0), [*q0, *qd0], method="DOP853", rtol=1e-11, atol=1e-12, events=first_turn)
    motion = dal.simulate(puma, q0, qd0, t_end=5.0, rtol=1e-11, atol=1e-12)
    assert motion.events[0].t == pytest.approx(peer.t[-1], abs=1e-8)
    np.testing.assert_allclose(motion.events[0].q, peer.y[:6, -1], atol=1e-8)


def test_all_joints_of_a_linkage_of_one_freedom_stick_together_and_take_what_the_energy_loses():
    """Also the passive ones, whose friction counts by how fast they turn."""
    bars = dal.mechanisms.four_bar()
    motion = dal.simulate(bars, bars.q0, [0.4], t_end=6.0, dense=True, rtol=1e-11, atol=1e-12)  # through a dead point
    assert motion.success
    assert [event.kind for event in motion.events][-1] == "stick"
    assert "turn" in {event.kind for event in motion.events}
    assert motion.residual.max() < 1e-9
    smooth = dal.simulate(bars.smoothed(1e-4), bars.q0, [0.4], t_eval=[0.0, 0.5], max_steps=10**6)
    np.testing.assert_allclose(motion.solution(0.5)[0], smooth.q[-1], atol=1e-4)
    rough = bars.replace(robot=with_friction(bars.robot, 8.0))
    motion = dal.simulate(rough, bars.q0, [0.4], t_end=6.0, dense=True, rtol=1e-11, atol=1e-12)
    loss = friction_loss(rough, motion.solution)
    assert loss > 0.01
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(-loss, abs=1e-8)


def test_friction_of_more_joints_than_can_be_held_is_smoothed_with_a_sentence(monkeypatch):
    monkeypatch.setattr(dry_friction.sizes, "DENSE_FROM", 4)
    bars = dal.mechanisms.five_bar()
    rough = bars.replace(robot=with_friction(bars.robot, **{name: dal.Friction(0.0, 0.01) for name in bars.robot.joint_names}))
    with pytest.warns(
        DalembertWarning, match=r"acts in one of 5 joints, too many to hold, and was smoothed over 0\.0001"
    ) as caught:
        smooth = dal.simulate(rough, bars.q0, [0.1, 0.1], t_end=0.02)
    assert caught[0].filename == __file__
    assert smooth.success
    assert smooth.energy[-1] < smooth.energy[0]


@pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
def test_a_force_that_passes_the_level_for_a_short_time_only_is_not_missed(sliding, method):
    """Nothing moves, so no error bounds the step; each swing of the force exceeds the level for a twentieth of it."""
    A, w, t_end = 1.015 * LEVEL, 7.0, 20.0
    motion = dal.simulate(sliding, [0.0], [0.0], t_end=t_end, tau=lambda t, q, qd: [A * ops.sin(w * t)], method=method)
    slips = [event.t for event in motion.events if event.kind == "slip"]
    expected = (np.arcsin(LEVEL / A) + np.pi * np.arange(100)) / w
    np.testing.assert_allclose(slips, expected[expected < t_end], rtol=0, atol=1e-7)


def test_friction_beside_further_states_and_inputs_keeps_both():
    """A block under integral action sticks, until the integral has grown enough."""
    motion = dal.simulate(
        block(dal.Friction(0.0, LEVEL)),
        [0.0],
        [0.0],
        t_end=4.0,
        tau=lambda t, q, qd, p: [p.gain * p.sum],
        inputs={"gain": 2.0},
        states={"sum": 0.0},
        rates=lambda t, q, qd, p: 0.5 - q[0],
        **TIGHT,
    )
    assert happened(motion)[0] == ("slip", "slide", pytest.approx(LEVEL / 2.0 / 0.5, abs=1e-11))
    assert motion.states["sum"][-1] > 1.5


def test_results_know_what_is_held_and_their_balance_closes(rng):
    """Accelerations of joints that stand are zero, not what they would be without friction; energy is accounted for."""
    puma = with_friction(fresh("puma560"), 0.1)
    q0, qd0 = rng.uniform(-2, 2, (2, 6))
    motion = dal.simulate(puma, q0, qd0, t_end=10.0, dense=True, **TIGHT)
    still = motion.qd == 0.0
    starting = np.isin(motion.t, [event.t for event in motion.events])  # a joint that slips there begins to move
    assert still[~starting].sum() > 5
    assert not motion.qdd[~starting][still[~starting]].any()
    assert np.abs(motion.balance.residual).max() < 1e-8


def test_a_law_that_is_sampled_is_not_sampled_by_events_and_python_code_gives_the_same():
    rubbing, law = block(dal.Friction(0.0, LEVEL), (-9.0, 9.0)), lambda t, q, qd: [-50.0 * q[0]]
    motion = dal.simulate(rubbing, [1.0], [0.0], t_end=2.0, tau=law, sample=0.05, **TIGHT)
    assert len(motion.events) == 3
    smooth = dal.simulate(rubbing.smoothed(1e-6), [1.0], [0.0], t_end=2.0, tau=law, sample=0.05, rtol=1e-9, max_steps=10**6)
    np.testing.assert_allclose(motion.q[-1], smooth.q[-1], atol=1e-6)
    with pytest.warns(DalembertWarning, match="called as Python code"):
        called = dal.simulate(
            rubbing,
            [1.0],
            [0.0],
            t_end=2.0,
            tau=lambda t, q, qd: -50.0 * q,
            sample=0.05,
            python=True,
            events=[dal.Event(time=0.5, name="noted")],
            **TIGHT,
        )
    np.testing.assert_allclose(called.q[-1], motion.q[-1], atol=1e-12)


def test_wrenches_break_a_joint_loose_and_are_seen_beside_events(sliding):
    wrench = {"body": lambda t, q, qd: [2.0 * t, 0.0, 0.0, 0.0, 0.0, 0.0]}
    there = dal.Event(lambda t, q, qd: q[0] - 0.3, name="there")
    motion = dal.simulate(sliding, [0.0], [0.0], t_end=4.0, wrenches=wrench, events=[there], **TIGHT)
    assert happened(motion)[0] == ("slip", "slide", pytest.approx(1.5, abs=1e-12))
    assert motion.events[1].q[0] == pytest.approx(0.3, abs=1e-14)


def test_dense_batches_pass_events_as_single_motions_do(sliding):
    given = {"tau": lambda t, q, qd, p: [-50.0 * q[0] - p.sum], "states": {"sum": 0.0}, "rates": lambda t, q, qd, p: q[0]}
    both = dal.simulate(sliding, [[1.0], [0.7]], [0.0], t_end=2.0, dense=True, **given, **TIGHT)
    times = np.linspace(0.0, 2.0, 9)
    rows = dal.simulate(sliding, [1.0], [0.0], t_eval=times, **given, **TIGHT)
    np.testing.assert_allclose(both.solution(times)[0][0], rows.q, atol=1e-12)
    np.testing.assert_allclose(both.solution.states(np.tile(times, (2, 1)))[2][0, :, 0], rows.states["sum"], atol=1e-12)
