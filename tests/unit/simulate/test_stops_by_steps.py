"""Joint stops by a fixed step: closed forms of a block, and motions with located events, as judges."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError
from tests.robots import fresh
from tests.unit.simulate.blocks import MASS, block
from tests.unit.simulate.linkages import hanging, placed, rods

METHODS = ["semi_implicit_euler", "rk4"]


def limited(robot, *ranges):
    """The robot with these ranges of its joints."""
    joints = [j.replace(limits=dal.Limits(*own)) for j, own in zip(robot.structure.joints, ranges, strict=True)]
    return robot.replace(structure=robot.structure.replace(joints=joints))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [1.0, 0.5, 0.0])
def test_a_block_between_two_walls_bounces_where_it_hits(method, restitution):
    """No force acts, so that positions are exact whatever the step is: hits at 1 s, then every 2 s / e^k."""
    motion = dal.rollout(block(), [0.0], [1.0], None, dt=7e-3, steps=700, method=method, stops=restitution)
    t, exact, speed = np.array([0.0]), np.array([0.0]), 1.0
    while t[-1] < motion.t[-1] and speed:
        wall = 1.0 if len(t) % 2 else -1.0
        t, exact = np.append(t, t[-1] + abs(wall - exact[-1]) / speed), np.append(exact, wall)
        speed *= restitution
    np.testing.assert_allclose(motion.q[:, 0], np.interp(motion.t, t, exact), rtol=0, atol=1e-12)
    assert np.abs(motion.q).max() <= 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [0.3, 0.0])
def test_a_block_that_is_pressed_comes_to_rest_on_its_stop_and_leaves_when_it_is_pulled(method, restitution):
    """It hits at 1 s with 2 m/s, and has come to rest 2 e / (1 − e) s later."""
    push = np.where(np.arange(4000) < 3000, 4.0, -4.0)[:, None]
    motion = dal.rollout(block(), [0.0], [0.0], push, dt=1e-3, method=method, stops=restitution)
    resting = (motion.t > 1.01 + 2.0 * restitution / (1.0 - restitution)) & (motion.t <= 3.0)
    assert (motion.q[resting] == 1.0).all()
    assert not motion.qd[resting].any()
    assert motion.q.max() == 1.0
    assert motion.q[-1, 0] == pytest.approx(1.0 - 0.5 * 4.0 / MASS, abs=2e-3)
    hit = np.flatnonzero(np.diff(motion.qd[:, 0]) < -0.5)[0]
    assert motion.qd[hit + 1, 0] == pytest.approx(-restitution * 2.0, abs=4e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("friction", [None, dal.Friction(0.5, 2.0)])
def test_steps_tend_to_the_motion_with_located_stops(method, friction):
    """Both joints hit their stops; where within its step that is makes an error of first order, in RK4 too."""
    arm = limited(fresh("two_link_planar"), (-2.0, 0.4), (-0.1, 0.1))
    if friction is not None:
        arm = arm.replace(parameters=arm.parameters.replace(friction=dict.fromkeys(arm.joint_names, friction)))
    start, stops = ([0.3, 0.05], [1.5, 0.5]), {"joint1": 0.5, "joint2": 0.0}
    exact = dal.simulate(arm, *start, t_end=1.0, stops=stops, dense=True, rtol=1e-11, atol=1e-12)
    assert {event.joint for event in exact.events if event.kind == "stop"} == {"joint1", "joint2"}
    for dt in (4e-3, 1e-3, 2.5e-4):
        motion = dal.rollout(arm, *start, None, dt=dt, steps=round(1.0 / dt), method=method, stops=stops)
        assert (motion.q <= [0.4, 0.1]).all()
        assert (motion.q >= [-2.0, -0.1]).all()
        assert np.abs(motion.q - exact.solution(np.minimum(motion.t, 1.0))[0]).max() < 4.0 * dt


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_at_its_stop_holds_what_others_would_do_to_it(method):
    """As one that is locked there, while the stop pushes."""
    arm = limited(fresh("two_link_planar"), (-7.0, 7.0), (-0.3, 0.5))
    tau = [0.0, 3000.0]
    options = {"dt": 1e-3, "steps": 400, "method": method}
    motion = dal.rollout(arm, [0.3, 0.5], [0.0, 0.0], tau, stops=0.7, **options)
    assert (motion.q[:, 1] == 0.5).all()
    one = dal.simulate(arm, [0.3, 0.5], [0.0, 0.0], tau=tau, t_end=0.4, stops=0.7, rtol=1e-10)
    assert motion.q[-1, 0] == pytest.approx(one.q[-1, 0], abs=5e-3 if method == "semi_implicit_euler" else 1e-7)


def test_restitution_may_change_without_compiling(monkeypatch):
    robot = block()
    slow = dal.rollout(robot, [0.0], [1.0], None, dt=1e-2, steps=150, stops=0.25)
    module = importlib.import_module("dalembert.simulate.rollouts")
    monkeypatch.setattr(module, "TimeLoopKernel", None)  # nothing is made from here on
    fast = dal.rollout(robot, [0.0], [1.0], None, dt=1e-2, steps=150, stops={"slide": 0.75})
    assert slow.qd[-1, 0] == -0.25
    assert fast.qd[-1, 0] == -0.75


def test_batches_have_stops_on_any_number_of_threads(rng):
    panda = fresh("panda")
    lower, upper = np.array([(c.limits.lower, c.limits.upper) for c in panda.structure.coordinates]).T
    q0, qd0 = rng.uniform(lower, upper, (40, 7)), rng.normal(size=(40, 7))
    options = {"dt": 1e-3, "steps": 1500, "stops": 0.3, "every": 10}
    one, two = (dal.rollout(panda, q0, qd0, None, threads=threads, **options) for threads in (1, 2))
    assert one.q.tobytes() == two.q.tobytes()
    assert one.finite.all()
    assert (one.q >= lower).all()
    assert (one.q <= upper).all()
    assert np.mean((one.q == lower) | (one.q == upper)) > 0.05  # many of them lie on their stops
    alone = dal.rollout(panda, q0[7], qd0[7], None, **options)
    np.testing.assert_allclose(alone.q[:20], one.q[7, :20], atol=1e-9)


def test_given_parameters_take_part(rng):
    robot = block(dal.Friction(0.0, 1.0))
    phi = np.array([dal.parameters(robot)] * 2)
    phi[1, -1] = 4.0
    motion = dal.rollout(robot, [0.0], [3.0], None, dt=1e-3, steps=1000, parameters=phi, stops=0.5)
    exact = dal.simulate(robot, [0.0], [3.0], t_end=1.0, parameters=phi, stops=0.5, rtol=1e-10)
    np.testing.assert_allclose(motion.q[:, -1], exact.q[:, -1], atol=5e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_joints_within_loops_have_stops_too(method, restitution):
    """A linkage of two freedoms that falls until one of its elbows, no coordinate of it, is stretched as far as it may be."""
    mechanism = hanging()
    x = rods().seed
    name = "left_joint2"
    k = mechanism.robot.joint_names.index(name)
    low = float(x[k]) - 0.3
    joints = [j.replace(limits=dal.Limits(low, 7.0)) if j.name == name else j for j in mechanism.robot.structure.joints]
    robot = mechanism.robot.replace(structure=mechanism.robot.structure.replace(joints=joints))
    mechanism = mechanism.replace(robot=robot)
    q0, stops = placed(mechanism, x), {name: restitution}
    exact = dal.simulate(mechanism, q0, [0.0, 0.0], t_end=0.5, stops=stops, dense=True, rtol=1e-10, atol=1e-12)
    assert any(event.kind == "stop" for event in exact.events)
    for dt in (4e-3, 1e-3, 2.5e-4):
        motion = dal.rollout(mechanism, q0, [0.0, 0.0], None, dt=dt, steps=round(0.5 / dt), method=method, stops=stops)
        found = mechanism.assemble(motion.q, near=x, continuous=True).x[:, k]
        assert found.min() > low - 1e-8
        assert np.abs(motion.q - exact.solution(np.minimum(motion.t, 0.5))[0]).max() < 4.0 * dt


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "symplectic", "stops": 0.0}, r"method: 'symplectic' found together with stops, .* Take 'rk4'\."),
        ({"stops": 1.5}, r"stops: 1\.5 found; the part of its speed that a joint keeps, from 0 to 1"),
        ({"stops": {"slider": 0.5}}, r"stops: joint: 'slider' is not known; did you mean 'slide'"),
        ({"q0": [1.5], "stops": 0.0}, r"q0: 'slide' at 1\.5, beyond its stops at -1 and 1\."),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(options, message):
    given = {"q0": [0.0], "qd0": [1.0], "tau": None, "dt": 1e-2, "steps": 3} | options
    with pytest.raises(DalembertError, match=message):
        dal.rollout(block(), **given)
