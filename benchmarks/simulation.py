"""Motions: an adaptive solver beside SciPy's around Pinocchio, and many fixed-step rollouts beside MuJoCo's."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Friction, Robot

from . import bindings, descriptions
from .effort import Effort
from .subjects import plain
from .tables import Column, Table
from .timing import side_by_side, timer_of

POSE = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.79])
DAMPING = 0.1  # [N m s]: without damping the motion is chaotic, and no solver reproduces another's
TOLERANCE = 1e-10
COLUMNS = (
    Column("what", "what"),
    Column("ms", "dalembert [ms]", ".2f"),
    Column("peer_ms", "peer [ms]", ".1f"),
    Column("ratio", "ratio", ".1f"),
    Column("error", "final-state error", ".1e"),
    Column("peer", "peer"),
)


def measure(effort: Effort) -> Table:
    """The table of both."""
    note = (
        f"Panda. Swing: from rest, damping {DAMPING} N m s on every joint, rtol = atol = {TOLERANCE}, error against a "
        "run at 2.3e-14. Rollouts: semi-implicit Euler, 1 ms, all cores for both, every state kept; constraints off in MuJoCo."
    )
    table = Table("simulation", "Simulation", note, COLUMNS)
    robot = plain(dal.load("panda"))
    table.records.append(_swing(robot, 10.0 if effort.batch > 100 else 0.01, effort))
    table.records.append(_rollouts(robot, effort))
    return table


def _swing(robot: Robot, seconds: float, effort: Effort) -> dict[str, Any]:
    damped = robot.replace(
        parameters=robot.parameters.replace(friction=dict.fromkeys(robot.joint_names, Friction(viscous=DAMPING)))
    )

    def ours(tolerance: float = TOLERANCE) -> Any:
        return dal.simulate(damped, POSE, np.zeros(7), t_end=seconds, rtol=tolerance, atol=tolerance)

    final, exact = ours(), ours(2.3e-14)
    error = max(float(np.abs(getattr(final, k)[-1] - getattr(exact, k)[-1]).max()) for k in ("q", "qd"))
    record: dict[str, Any] = {"what": f"{seconds:g} s of swing, DOP853", "error": error}
    timers = [timer_of(ours)]
    if bindings.has("pinocchio"):
        timers.append(timer_of(lambda: _scipy(bindings.pinocchio(robot)["forward_dynamics"], seconds)))
    return record | _compared(timers, "SciPy DOP853, Pinocchio", effort)


def _scipy(forward_dynamics: Any, seconds: float) -> Any:
    from scipy.integrate import solve_ivp

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[7:], forward_dynamics(y[:7], y[7:], -DAMPING * y[7:])])

    return solve_ivp(rate, (0.0, seconds), np.r_[POSE, np.zeros(7)], method="DOP853", rtol=TOLERANCE, atol=TOLERANCE)


def _rollouts(robot: Robot, effort: Effort) -> dict[str, Any]:
    count, steps = max(effort.batch // 10, 2), 1000 if effort.batch > 100 else 3
    q0 = POSE + 0.1 * np.random.default_rng(0).normal(size=(count, 7))
    out = np.empty((count, steps + 1, 7)), np.empty((count, steps + 1, 7))
    timers = [timer_of(lambda: dal.rollout(robot, q0, np.zeros(7), None, dt=1e-3, steps=steps, out=out))]
    if bindings.has("mujoco"):
        timers.append(timer_of(_mujoco(robot, q0, steps)))
    return {"what": f"{count} rollouts of {steps} steps"} | _compared(timers, "MuJoCo rollout", effort)


def _mujoco(robot: Robot, q0: np.ndarray, steps: int) -> Any:
    import os

    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(descriptions.as_mjcf(robot))
    model.opt.timestep = 1e-3
    datas = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    start = np.zeros((len(q0), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1:8] = q0
    return lambda: rollout.rollout(model, datas, start, nstep=steps)


def _compared(timers: list[Any], peer: str, effort: Effort) -> dict[str, Any]:
    timings = side_by_side(timers, effort.seconds, least=2)
    record: dict[str, Any] = {"ms": 1e3 * timings.best()}
    if len(timers) > 1:
        record |= {"peer_ms": 1e3 * timings.best(1), "ratio": timings.best_ratio(), "peer": peer}
    return record
