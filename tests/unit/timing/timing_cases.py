"""Arms and paths for tests of timing, and checks that know nothing of how a timing was found."""

from __future__ import annotations

import numpy as np

import dalembert as dal


def with_friction(robot, coulomb, viscous):
    """A robot with dry and viscous friction at its joints."""
    laws = {
        name: dal.Friction(viscous=float(v), coulomb=float(c))
        for name, c, v in zip(robot.joint_names, coulomb, viscous, strict=True)
    }
    return robot.replace(parameters=robot.parameters.replace(friction=laws))


def panda(coulomb: bool = True, viscous: bool = True):
    """The Panda with the friction of published measurements, about: 9 and 1.2 N m, 5 and 1 N m s."""
    dry = [9.0] * 4 + [1.2] * 3 if coulomb else [0.0] * 7
    slow = [5.0] * 4 + [1.0] * 3 if viscous else [0.0] * 7
    return with_friction(dal.robots.panda(), dry, slow)


def puma_with_motors(time_constant=0.0, efficiency=1.0):
    """The PUMA 560 with a motor at every joint, L/R in s growing from joint to joint."""
    puma = dal.robots.puma560()
    motors = {
        name: dal.Motor(
            resistance=1.0 + 0.3 * k,
            torque_constant=0.2,
            ratio=ratio,
            inductance=time_constant * (1 + 0.3 * k),
            voltage_limit=40.0,
            current_limit=8.0,
            efficiency=efficiency,
        )
        for k, (name, ratio) in enumerate(zip(puma.joint_names, [62.6, 107.8, 53.7, 76.0, 71.9, 76.7], strict=True))
    }
    return puma.replace(parameters=puma.parameters.replace(motors=motors, rotors={}))


def efforts(robot):
    return np.array([joint.limits.effort for joint in robot.structure.coordinates])


def points(robot, rng, count=6, batch=()):
    """Points well within the ranges of the joints."""
    limits = [joint.limits for joint in robot.structure.coordinates]
    lower, upper = np.array([(limit.lower, limit.upper) for limit in limits]).T
    return lower + (upper - lower) * rng.uniform(0.25, 0.75, size=(*batch, count, robot.n))


def dense_times(motion, parts=10, shift=0.37):
    """Times within every piece of a motion, on a grid that is not the solver's."""
    breaks = motion.breaks
    return (breaks[:-1, None] + np.diff(breaks)[:, None] * (np.arange(parts) + shift) / parts).ravel()


def excess(system, motion, limits):
    """By how much torques exceed their limits, relative, at ten places within every piece of a motion."""
    found = motion(dense_times(motion))
    tau = dal.inverse_dynamics(system, found.q, found.qd, found.qdd)
    return float((np.abs(tau) / limits).max() - 1.0)


def uses(system, motion, **limits):
    """The largest share of each limit at ten places within every piece of a motion, all by public functions."""
    at = motion(dense_times(motion))
    state = at.q, at.qd, at.qdd
    values = {
        "torque": lambda: dal.inverse_dynamics(system, *state),
        "velocity": lambda: at.qd,
        "acceleration": lambda: at.qdd,
        "jerk": lambda: at.qddd,
        "torque_rate": lambda: dal.torque_rate(system, *state, at.qddd),
        "power": lambda: dal.inverse_dynamics(system, *state) * at.qd,
    }
    return {kind: float((np.abs(values[kind]()) / np.asarray(limit)).max()) for kind, limit in limits.items()}


def rod():
    """A rod that turns in the horizontal plane, and its inertia."""
    found = dal.robots.pendulum().with_gravity([0.0, 9.81, 0.0])
    return found, float(dal.mass_matrix(found, [0.0])[0, 0])
