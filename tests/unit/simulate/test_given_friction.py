"""Levels of dry friction among given parameters: each motion as that of the robot that has them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from tests.robots import fresh, without_friction
from tests.unit.simulate.blocks import TIGHT, block, with_friction

FINE = {"rtol": 1e-9, "atol": 1e-12}
METHODS = pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
TIMES = np.linspace(0.0, 2.0, 21)


@pytest.fixture(scope="module")
def arm() -> dal.Robot:
    """Friction at one joint only, with a peak at rest: its ratio to the level is no parameter and stays."""
    own = dal.Friction(1.0, 20.0, breakaway=30.0, stribeck_velocity=0.05)
    return with_friction(without_friction(fresh("two_link_planar")), joint2=own)


@pytest.fixture(scope="module")
def arms(arm) -> list[dal.Robot]:
    levels = [(700.0, 250.0), (40.0, 20.0), (0.0, 2.0), (0.0, 0.0)]
    laws = [
        {
            "joint1": dal.Friction(1.0, first),
            "joint2": dal.Friction(0.5, second, breakaway=1.5 * second, stribeck_velocity=0.05) if second else dal.Friction(0.5),
        }
        for first, second in levels
    ]
    return [with_friction(arm, **own) for own in laws]


def pulled(t, q, qd):
    """Two springs."""
    return [-3000.0 * q[0], -1000.0 * q[1]]


@METHODS
def test_a_batch_of_levels_moves_as_robots_that_have_them(arm, arms, method):
    given = {"tau": pulled, "t_eval": TIMES, "method": method, "events": [dal.Event(lambda t, q, qd: q[1] - 0.1, name="there")]}
    phi = np.stack([dal.parameters(one) for one in arms])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = dal.simulate(arm, [0.3, 0.4], [0.0, 0.0], parameters=phi, **given, **FINE)
        alone = [dal.simulate(one, [0.3, 0.4], [0.0, 0.0], **given, **FINE) for one in arms]
    assert {event.kind for events in together.events for event in events} >= {"turn", "stick", "event"}
    for k, one in enumerate(alone):
        known, found = ([(event.kind, event.name) for event in events] for events in (one.events, together.events[k]))
        assert found == known
        # where a level is zero, a batch with other levels steps to each turn, and a robot without friction does not
        np.testing.assert_allclose(together.q[k], one.q, rtol=0, atol=1e-9 if all(phi[k, [12, 25]]) else 1e-8)


@METHODS
def test_stops_take_the_inertia_of_the_parameters(method):
    """A block twice as heavy, with twice the friction."""
    robot = block(dal.Friction(0.0, 1.0))
    heavy = dal.parameters(robot) * 2.0
    motion = dal.simulate(robot, [0.0], [3.0], t_end=3.0, parameters=heavy, stops=0.4, method=method, **TIGHT)
    assert [event.kind for event in motion.events] == ["stop", "turn", "stick"]
    hit, _, stuck = motion.events
    assert hit.qd[0] == pytest.approx(np.sqrt(8.0), abs=1e-9)  # v² = 9 − 2 q̈ with q̈ = 1/2
    assert hit.qd_after[0] == pytest.approx(-0.4 * np.sqrt(8.0), abs=1e-9)
    assert stuck.q[0] == motion.q[-1, 0] == pytest.approx(1.0 - 0.16 * 8.0, abs=1e-9)


def test_impulses_at_stops_take_the_mass_matrix_of_the_parameters(arm):
    """The impulse of a stop acts at its own joint: M (q̇' − q̇) is zero elsewhere, with the rotor that the parameters have."""
    joints = [joint.replace(limits=dal.Limits(-0.6, 0.6)) for joint in arm.structure.joints]
    narrow = arm.replace(structure=arm.structure.replace(joints=joints))
    phi = np.array(dal.parameters(narrow))
    phi[dal.parameter_names(narrow).index("joint2.Im")] += 3.0
    motion = dal.simulate(narrow, [0.3, 0.4], [1.0, 3.0], t_eval=TIMES, stops=0.5, parameters=phi, **FINE)
    stops = [event for event in motion.events if event.kind == "stop"]
    assert len(stops) > 2
    for event in stops:
        change = dal.mass_matrix(narrow, event.q, parameters=phi) @ (event.qd_after - event.qd)
        i = narrow.joint_names.index(event.joint)
        assert abs(np.delete(change, i)).max() <= 1e-9 * abs(change[i])


def test_rollouts_stick_by_given_levels(arm, arms):
    phi = np.stack([dal.parameters(one) for one in arms])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = dal.rollout(arm, [0.3, 0.4], [0.0, 0.0], pulled, dt=1e-3, steps=4000, every=100, parameters=phi)
        alone = [dal.rollout(one, [0.3, 0.4], [0.0, 0.0], pulled, dt=1e-3, steps=4000, every=100) for one in arms]
    for k, one in enumerate(alone):
        np.testing.assert_allclose(together.q[k], one.q, rtol=0, atol=1e-9)
    assert (together.qd[0, -1] == 0.0).all()


def test_accelerations_of_what_stands_are_those_of_the_given_levels():
    robot = block()
    phi = np.array(dal.parameters(robot))
    phi[-1] = 3.0
    motion = dal.simulate(robot, [0.0], [2.0], tau=[2.0], t_eval=[0.0, 1.0, 7.0], dense=True, parameters=phi, **TIGHT)
    assert motion.qdd[:, 0] == pytest.approx([(2.0 - 3.0) / 2.0, (2.0 - 3.0) / 2.0, 0.0], abs=1e-12)
    assert abs(motion.balance.residual).max() < 1e-8


def test_a_mechanism_sticks_by_levels_at_all_of_its_joints():
    plain = dal.mechanisms.four_bar()
    rough = plain.replace(robot=with_friction(plain.robot, 1.2))
    alone, found = (
        dal.simulate(bars, bars.q0, [0.4], t_end=6.0, **FINE, **given)
        for bars, given in ((rough, {}), (plain, {"parameters": dal.parameters(rough)}))
    )
    assert [event.kind for event in found.events] == [event.kind for event in alone.events]
    assert {event.kind for event in found.events} == {"turn", "stick"}
    np.testing.assert_allclose(found.q[-1], alone.q[-1], rtol=0, atol=1e-9)


def test_levels_below_zero_and_other_systems_beside_parameters_are_refused():
    robot = block(dal.Friction(0.0, 1.0))
    phi = np.array(dal.parameters(robot))
    phi[-1] = -0.5
    with pytest.raises(
        dal.DalembertError, match=r"'slide\.Fc' is -0\.5, dry friction that pushes a joint on; 0 or more is expected"
    ):
        dal.simulate(robot, [0.0], [2.0], t_end=1.0, parameters=phi)
    change = dal.Event(time=0.5, name="grab", system=block(dal.Friction(0.0, 2.0)))
    with pytest.raises(dal.DalembertError, match="event 'grab': another system from then on, but parameters are given"):
        dal.simulate(robot, [0.0], [2.0], t_end=1.0, parameters=dal.parameters(robot), events=[change])


def test_parameters_without_friction_need_no_events():
    """The model's own friction counts for nothing where other numbers are given."""
    robot = block(dal.Friction(0.0, 1.0))
    phi = np.array(dal.parameters(robot))
    phi[-1] = 0.0
    motion = dal.simulate(robot, [0.0], [2.0], t_end=1.0, parameters=phi)
    assert motion.q[-1, 0] == pytest.approx(2.0)
    assert not motion.events
