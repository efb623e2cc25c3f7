"""Stiff motions: the compiled Rosenbrock method beside LSODA around Pinocchio, at equal accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal
from dalembert.expr import ops
from dalembert.model import Friction, Robot

from . import bindings
from .effort import Effort
from .simulation import POSE
from .subjects import plain
from .tables import Column, Table
from .timing import side_by_side, timer_of

ACCURACY = 1e-6  # of joint angles at all the times of the results
LADDER = 10.0 ** -np.arange(3.0, 12.0, 0.5)
COLUMNS = (
    Column("what", "what"),
    Column("ms", "dalembert [ms]", ".2f"),
    Column("peer_ms", "LSODA, Pinocchio [ms]", ".1f"),
    Column("ratio", "ratio", ".0f"),
    Column("evaluations", "evaluations", "d"),
    Column("peer_evaluations", "of LSODA", "d"),
    Column("error", "error", ".1e"),
    Column("peer_error", "of LSODA", ".1e"),
)
START = POSE + 0.2
Law = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


class Case(NamedTuple):
    """A closed loop: the robot, the law (t, q, qd, z) -> (τ, ż) over any scalars, its further states, and how long it runs."""

    what: str
    robot: Robot
    law: Law
    states: int = 0
    seconds: float = 2.0

    @property
    def times(self) -> np.ndarray:
        """When results are wanted."""
        return np.linspace(0.0, self.seconds, 21)


def cases(seconds: float = 2.0) -> list[Case]:
    """Four ways to be stiff."""
    robot = plain(dal.load("panda"))
    steep = Friction(viscous=0.1, coulomb=1.0, width=1e-3)
    rubbing = robot.replace(parameters=robot.parameters.replace(friction=dict.fromkeys(robot.joint_names, steep)))
    wall = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def tracking(t: Any, q: Any, qd: Any, z: Any) -> tuple[Any, Any]:
        return 1e4 * ((POSE - q) + 0.1 * ops.sin(2.0 * t)) - 1e3 * qd, ()

    def swing(t: Any, q: Any, qd: Any, z: Any) -> tuple[Any, Any]:
        return 0.0 * q, ()

    def springs(t: Any, q: Any, qd: Any, z: Any) -> tuple[Any, Any]:
        return wall * (1e7 * (POSE - q) - 1e5 * qd) - 0.1 * qd, ()

    def motors(t: Any, q: Any, qd: Any, z: Any) -> tuple[Any, Any]:
        return 10.0 * z, (100.0 * (POSE - q) - 1.0 * z - 10.0 * qd) / 1e-5

    return [
        Case("PD control, gains 1e4 and 1e3, moving target", robot, tracking, 0, seconds),
        Case("swing, friction smoothed over 1 mrad/s", rubbing, swing, 0, seconds),
        Case("two joints on springs of 1e7 N m/rad", robot, springs, 0, seconds),
        Case("motors with a time constant of 10 µs", robot, motors, 7, seconds),
    ]


def measure(effort: Effort) -> Table:
    """The table of all cases."""
    note = (
        f"Panda, 2 s, 21 times of results. Each runs at the loosest tolerance (rtol = atol) whose joint angles are within "
        f"{ACCURACY:g} rad of a run at 1e-12 at all of them. LSODA: scipy's, the law in NumPy, Pinocchio's ABA."
    )
    table = Table("stiff", "Stiff motions", note, COLUMNS)
    small = effort.batch <= 100
    for case in cases(0.02 if small else 2.0):
        table.records.append(compare(case, effort, LADDER[6:7] if small else LADDER))
    return table


def compare(case: Case, effort: Effort, ladder: np.ndarray = LADDER) -> dict[str, Any]:
    """One row."""
    reference = ours(case, 1e-12).q
    tolerance, found, error = fitting(lambda x: ours(case, x), reference, ladder)
    record = {"what": case.what, "evaluations": int(found.evaluations), "error": error}
    timers = [timer_of(lambda: ours(case, tolerance))]
    if bindings.has("pinocchio"):
        own = slope(case)
        their, peer, off = fitting(lambda x: lsoda(case, own, x), reference, ladder)
        timers.append(timer_of(lambda: lsoda(case, own, their)))
        record |= {"peer_evaluations": peer.evaluations, "peer_error": off}
    timings = side_by_side(timers, effort.seconds, least=2)
    record["ms"] = 1e3 * timings.best()
    return record if len(timers) == 1 else record | {"peer_ms": 1e3 * timings.best(1), "ratio": timings.best_ratio()}


def fitting(run: Callable[[float], Any], reference: np.ndarray, ladder: np.ndarray) -> tuple[float, Any, float]:
    """The loosest tolerance that is accurate enough, or the best there is; its result and error."""
    best: tuple[float, Any, float] = (0.0, None, np.inf)
    for tolerance in ladder:
        found = run(float(tolerance))
        error = float(np.abs(found.q - reference).max()) if found.q.shape == reference.shape else np.inf
        best = min(best, (float(tolerance), found, error), key=lambda entry: entry[2])
        if error <= ACCURACY:
            break
    return best


def ours(case: Case, tolerance: float, method: str = "rosenbrock", **options: Any) -> Any:
    """A run of dalembert."""
    law, k = case.law, case.states
    torque = (lambda t, q, qd, p: law(t, q, qd, p.z)[0]) if k else (lambda t, q, qd: law(t, q, qd, None)[0])
    further: dict[str, Any] = {"states": {"z": np.zeros(k)}, "rates": lambda t, q, qd, p: law(t, q, qd, p.z)[1]} if k else {}
    given = {"tau": torque, "t_eval": case.times, "rtol": tolerance, "atol": tolerance, "method": method, "max_steps": 10**6}
    return dal.simulate(case.robot, START, np.zeros(7), **given, **further, **options)


class Peer(NamedTuple):
    """A run of a peer: joint angles and evaluations of the dynamics."""

    q: np.ndarray
    evaluations: int


def slope(case: Case) -> Callable[[float, np.ndarray], np.ndarray]:
    """The right-hand side in NumPy, around Pinocchio."""
    forward_dynamics = bindings.pinocchio(plain(case.robot))["forward_dynamics"]
    laws = case.robot.parameters.friction
    steep = next(iter(laws.values())) if laws else Friction()
    width2 = steep.width**2 if steep.width else 1.0

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, qd, z = y[:7], y[7:14], y[14:]
        tau, zd = case.law(t, q, qd, z)
        tau = tau - steep.viscous * qd - steep.coulomb * qd / np.sqrt(qd * qd + width2)
        return np.concatenate([qd, forward_dynamics(q, qd, tau), zd])

    return rate


def lsoda(case: Case, rate: Callable[[float, np.ndarray], np.ndarray], tolerance: float, method: str = "LSODA") -> Peer:
    """A run of scipy."""
    from scipy.integrate import solve_ivp

    start = np.concatenate([START, np.zeros(7 + case.states)])
    found = solve_ivp(rate, (0.0, case.seconds), start, method=method, t_eval=case.times, rtol=tolerance, atol=tolerance)
    return Peer(found.y[:7].T, found.nfev)
