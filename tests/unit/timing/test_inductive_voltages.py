"""Voltages of motors with inductance: exact optima, limits on dense grids, gears with losses, friction, what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import fsolve

import dalembert as dal
from dalembert.errors import InfeasibleError

from .timing_cases import dense_times, panda, points, puma_with_motors, rod, with_friction

FREE = {"velocity": np.inf, "torque": np.inf, "motors": True}


def motor(inductance=0.0, **changed):
    given = {"resistance": 1.0, "torque_constant": 0.1, "ratio": 30.0, "voltage_limit": 12.0, "inductance": inductance}
    return dal.Motor(**(given | changed))


def turned(inductance=0.0, **changed):
    """A rod in the horizontal plane with a motor."""
    return rod()[0].with_motors({"pivot": motor(inductance, **changed)})


def driven_panda(time_constant, efficiency=1.0, coulomb=False):
    robot = panda(coulomb=coulomb)
    given = {"torque_constant": 0.1, "ratio": 100.0, "voltage_limit": 48.0, "efficiency": efficiency}
    sizes = [0.5] * 4 + [1.0] * 3
    motors = {name: motor(time_constant * R, resistance=R, **given) for name, R in zip(robot.joint_names, sizes, strict=True)}
    return robot.with_motors(motors)


def with_inductance(robot, time_constant):
    motors = {name: m.replace(inductance=time_constant * m.resistance) for name, m in robot.parameters.motors.items()}
    return robot.replace(parameters=robot.parameters.replace(motors=motors))


def use_of(robot, motion, train=None, parts=10):
    """The largest share of a limit of voltage on a grid ten times denser, by what motors need for the motion."""
    at = motion(dense_times(motion, parts=parts))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*turn round", dal.DalembertWarning)  # voltages on either side are right
        needs = dal.nominal_voltage(robot, at.q, at.qd, at.qdd, at.qddd, drive=train)
    return float((np.abs(needs.voltage) / needs.drive.column("voltage_limit")).max())


def bang_bang(inertia, angle, motor):
    """T from rest to rest of L di/dt + R i + k_e ω = v, J ω̇ = k_t i: full voltage forwards, backwards, forwards.

    A system of third order with real eigenvalues has two switchings at most; their times are those that end at rest.
    """
    L, R, k, V = motor.inductance, motor.resistance, motor.torque_constant * motor.ratio, motor.voltage_limit
    slow = angle * k / V + R * inertia / k**2
    rates = np.zeros((4, 4))
    rates[0, 1], rates[1, 2], rates[2, :3] = 1.0, k / inertia, [0.0, -k / L, -R / L]

    def left(times):
        state = np.array([0.0, 0.0, 0.0, 1.0])
        for duration, sign in zip(np.clip(np.abs(times), 0.0, 3 * slow), (1.0, -1.0, 1.0), strict=True):
            rates[2, 3] = sign * V / L
            state = expm(rates * duration) @ state
        return (state[:3] - [angle, 0.0, 0.0]) / [angle, V / k, V / R]

    for share in (0.95, 0.9, 0.8, 0.7, 0.6):
        start = slow * np.array([share, 1 - share, 0.7 * L / R / slow])  # the current dies away with L/R
        found, _, solved, _ = fsolve(left, start, full_output=True, xtol=1e-12)
        if solved == 1:
            return float(np.abs(found).sum())
    raise AssertionError("no switching times found")


@pytest.mark.parametrize("angle", [3.0, 9.0])
@pytest.mark.parametrize(("inductance", "error"), [(1e-3, 3e-4), (1e-2, 6e-4), (5e-2, 1e-3)])
def test_the_time_is_that_of_three_pieces_of_full_voltage(inductance, error, angle):
    """To first order in 1/N: within an interval the jerk of s is constant, while the current takes more of the voltage."""
    robot, (_, inertia) = turned(inductance), rod()
    found = dal.fastest_timing(robot, [[0.0], [angle]], **FREE)
    exact = bang_bang(inertia, angle, robot.parameters.motors["pivot"])
    assert exact * (1 - 1e-6) < found.duration < exact * (1 + error)
    assert 1 - 1e-4 < use_of(robot, found.motion) < 1 + 1e-6
    assert found.binding_parts() == [(0.0, 1.0, "voltage of 'pivot'")]


def test_without_inductance_in_the_timing_the_limit_would_be_exceeded():
    """What it was before: a torque that jumps asks for a voltage without bound."""
    robot = turned(1e-2)
    plain = dal.fastest_timing(turned(), [[0.0], [3.0]], **FREE)
    assert use_of(turned(), plain.motion) < 1 + 1e-6
    assert use_of(robot, plain.motion) > 1.001
    found = dal.fastest_timing(robot, [[0.0], [3.0]], **FREE)
    assert use_of(robot, found.motion) < 1 + 1e-6
    assert found.limits == plain.limits


@pytest.mark.parametrize("name", ["pr_arm", "two_link_cartesian", "two_link_planar"])
@pytest.mark.parametrize("time_constant", [1e-5, 5e-3, 5e-2])
def test_arms_of_the_catalogue_keep_their_voltages(name, time_constant):
    robot = with_inductance(getattr(dal.robots, name)(), time_constant)
    way = [[0.3, 0.0], [0.5, 1.0], [0.2, 1.6]]
    for intervals in (60, 300):
        found = dal.fastest_timing(robot, way, intervals=intervals, **FREE)
        assert use_of(robot, found.motion) < 1 + 1e-6
        assert found.excess <= 1e-6
        plain = dal.fastest_timing(with_inductance(robot, 0.0), way, **FREE)
        assert 0.99 * plain.duration < found.duration < 1.03 * plain.duration


@pytest.mark.slow
@pytest.mark.parametrize("efficiency", [1.0, 0.7])
@pytest.mark.parametrize("make", [puma_with_motors, driven_panda])
def test_arms_of_six_and_seven_motors_keep_their_voltages(make, efficiency, rng):
    way = points(make(0.0), rng, count=4)
    plain = dal.fastest_timing(make(0.0, efficiency), way, **FREE)
    for intervals, time_constant in ((60, 2e-4), (60, 2e-2), (200, 5e-3), (1000, 1e-3)):
        robot = make(time_constant, efficiency)
        found = dal.fastest_timing(robot, way, intervals=intervals, **FREE)
        assert use_of(robot, found.motion) < 1 + 1e-6
        assert found.use.max() == pytest.approx(1.0, abs=1e-4)
        assert 0.98 * plain.duration < found.duration < (1.06 if intervals == 60 else 1.02) * plain.duration


@pytest.mark.slow
def test_as_inductance_vanishes_the_time_tends_to_that_without_it():
    times = [float(dal.fastest_timing(turned(L), [[0.0], [3.0]], **FREE).duration) for L in (0.0, 1e-6, 1e-3, 1e-2, 1e-1)]
    assert times[1] == pytest.approx(times[0], rel=2e-4)
    assert times[1:] == sorted(times[1:])
    assert times[-1] > 1.04 * times[0]


def test_motors_without_inductance_or_without_a_limit_are_timed_as_before(rng):
    """Nothing of this acts: torques may jump, and results are the same to the last bit."""
    way = points(puma_with_motors(0.0), rng, count=3)
    plain = dal.fastest_timing(puma_with_motors(0.0), way, intervals=200, **FREE)
    unlimited = puma_with_motors(1e-2)
    motors = {name: m.replace(voltage_limit=np.inf) for name, m in unlimited.parameters.motors.items()}
    unlimited = unlimited.replace(parameters=unlimited.parameters.replace(motors=motors))
    found = dal.fastest_timing(unlimited, way, intervals=200, **FREE)
    same = dal.fastest_timing(with_inductance(unlimited, 0.0), way, intervals=200, **FREE)
    assert np.array_equal(found.t, same.t)
    assert not found.jumps
    assert np.abs(np.diff(plain.sdd)).max() > 0.1 * np.abs(plain.sdd).max()


def test_a_motor_without_inductance_beside_others_keeps_its_plain_limit(rng):
    robot = puma_with_motors(5e-3)
    motors = dict(robot.parameters.motors)
    name = robot.joint_names[2]
    motors[name] = motors[name].replace(inductance=0.0, voltage_limit=12.0)
    robot = robot.replace(parameters=robot.parameters.replace(motors=motors))
    found = dal.fastest_timing(robot, points(robot, rng, count=3), intervals=200, **FREE)
    assert use_of(robot, found.motion) < 1 + 1e-6
    assert found.limits.count(f"voltage of {name!r}") == 1
    column = found.use[:, found.limits.index(f"voltage of {name!r}")]
    assert column.max() == pytest.approx(1.0, abs=1e-4)


def test_inductance_helps_while_the_current_falls():
    """R i + k_e ω alone would be beyond the limit there; with L di/dt it is not."""
    robot = turned(5e-2)
    found = dal.fastest_timing(robot, [[0.0], [3.0]], **FREE)
    at = found.motion(dense_times(found.motion))
    needs = dal.nominal_voltage(robot, at.q, at.qd, at.qdd, at.qddd)
    assert np.abs(needs.voltage - 5e-2 * needs.current_rate).max() > 1.05 * 12.0


@pytest.mark.slow
@pytest.mark.parametrize("efficiency", [0.9, 0.6])
def test_gears_with_losses_keep_the_limit_on_both_sides(efficiency):
    """Where the torque changes its sign, the voltage of an inductance jumps with what the gear loses."""
    robot = dal.robots.pendulum().with_motors({"pivot": motor(5e-3, efficiency=efficiency)})
    found = dal.fastest_timing(robot, [[-0.5], [3.0], [1.0]], intervals=300, **FREE)
    assert use_of(robot, found.motion, parts=30) < 1 + 1e-6
    plain = dal.fastest_timing(with_inductance(robot, 0.0), [[-0.5], [3.0], [1.0]], **FREE)
    assert found.duration == pytest.approx(float(plain.duration), rel=0.02)


def test_jerk_and_gears_with_losses_go_together(rng):
    """Rows that are limited to one side were left out of the programmes, and the motion was slowed as a whole for it."""
    robot, way = puma_with_motors(0.0, 0.6), points(puma_with_motors(0.0), rng, count=3)
    plain = dal.fastest_timing(robot, way, **FREE)
    found = dal.fastest_timing(robot, way, jerk=1e4, intervals=300, **FREE)
    assert plain.duration < found.duration < 1.01 * plain.duration


@pytest.mark.slow
def test_jerk_torque_rate_and_voltages_are_kept_at_once(rng):
    robot = driven_panda(5e-3)
    way = points(robot, rng, count=3)
    found = dal.fastest_timing(robot, way, jerk=200.0, torque_rate=1000.0, intervals=200, motors=True)
    at = found.motion(dense_times(found.motion))
    assert np.abs(at.qddd).max() <= 200.0 * (1 + 1e-6)
    assert np.abs(dal.torque_rate(robot, at.q, at.qd, at.qdd, at.qddd)).max() <= 1000.0 * (1 + 1e-6)
    assert use_of(robot, found.motion) < 1 + 1e-6
    assert found.use.shape[-1] == len(found.limits)
    assert "jerk of 'joint1'" in found.limits


@pytest.mark.slow
def test_dry_friction_that_turns_round_is_named_and_the_limit_holds_between(rng):
    """The current would have to jump there: voltages are right on either side."""
    robot = driven_panda(2e-3, coulomb=True)
    found = dal.fastest_timing(robot, points(robot, rng, count=4), intervals=200, **FREE)
    assert len(found.jumps[0]) > 0
    assert use_of(robot, found.motion) < 1 + 1e-6


def test_friction_that_bends_is_taken_as_it_is():
    """Smooth friction with a Stribeck peak has its rate in the voltage too."""
    law = dal.Friction(viscous=0.05, coulomb=0.4, breakaway=0.6, stribeck_velocity=0.2, width=0.05)
    robot = turned(5e-3)
    robot = robot.replace(parameters=robot.parameters.replace(friction={"pivot": law}))
    found = dal.fastest_timing(robot, [[0.0], [3.0], [1.0]], intervals=300, **FREE)
    assert use_of(robot, found.motion) < 1 + 1e-6
    assert found.jumps == ((),)


def test_a_differential_shares_the_load_of_its_motors():
    robot = dal.robots.two_link_planar()
    small = dal.Motor(resistance=0.4, torque_constant=0.5, inductance=2e-3, voltage_limit=180.0)
    train = dal.DriveTrain({"a": small, "b": small}, [[100.0, 60.0], [100.0, -60.0]], robot.joint_names)
    found = dal.fastest_timing(
        robot, [[0.0, 0.0], [0.8, 0.6], [0.2, 1.2]], intervals=300, torque=np.inf, velocity=np.inf, motors=train
    )
    assert use_of(robot, found.motion, train) == pytest.approx(1.0, abs=1e-4)
    assert use_of(robot, found.motion, train) < 1 + 1e-6
    assert found.limits[:2] == ("voltage of 'a'", "voltage of 'b'")


def test_a_mechanism_is_driven_by_a_motor_with_inductance():
    four_bar = dal.mechanisms.four_bar()
    name = four_bar.coordinates[0].name
    strong = dal.Motor(resistance=1.0, torque_constant=0.1, inductance=5e-3, voltage_limit=24.0)
    train = dal.DriveTrain({"crank": strong}, [[40.0]], [name])
    found = dal.fastest_timing(four_bar, [[0.6], [2.2]], intervals=200, torque=np.inf, velocity=np.inf, motors=train)
    assert use_of(four_bar, found.motion, train) == pytest.approx(1.0, abs=1e-4)
    assert use_of(four_bar, found.motion, train) < 1 + 1e-6


def test_gravity_alone_beyond_the_voltage_is_refused_as_without_inductance():
    for inductance in (0.0, 1e-2):
        robot = dal.robots.pendulum().with_motors({"pivot": motor(inductance, voltage_limit=1.0)})
        with pytest.raises(InfeasibleError, match="motor 'pivot': at s = .* need a voltage of .* V, however slow"):
            dal.fastest_timing(robot, [[0.0], [2.0]], **FREE)


@pytest.mark.slow
def test_paths_of_a_batch_are_timed_each(rng):
    robot = puma_with_motors(5e-3)
    way = points(robot, rng, count=3, batch=(3,))
    several = dal.fastest_timing(robot, way, intervals=100, **FREE)
    assert several.feasible.all()
    for row in range(3):
        assert use_of(robot, several.motion_of(row)) < 1 + 1e-6
    one = dal.fastest_timing(robot, way[1], intervals=100, **FREE)
    assert one.duration == several.duration[1]


def test_speeds_at_the_ends_are_kept_with_the_voltage():
    robot = turned(1e-2)
    found = dal.fastest_timing(robot, [[0.0], [3.0]], end_speeds=(0.5, 0.3), intervals=300, **FREE)
    assert found.sd[0] == pytest.approx(0.5)
    assert found.sd[-1] == pytest.approx(0.3)
    assert use_of(robot, found.motion) < 1 + 1e-6


def test_viscous_friction_and_gravity_are_in_the_voltage():
    robot = with_friction(dal.robots.pendulum(), [0.0], [0.3]).with_motors({"pivot": motor(2e-2)})
    found = dal.fastest_timing(robot, [[0.0], [2.5], [0.5]], intervals=300, **FREE)
    assert use_of(robot, found.motion) == pytest.approx(1.0, abs=1e-5)
