"""A second of motion of closed loops on springs: ours beside SciPy around Pinocchio and MuJoCo, each as cheap as 1e-6 allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.mechanism import Mechanism
from dalembert.model.springs import Spring

from . import bindings, mechanism_bindings
from .effort import Effort
from .mechanism_descriptions import mechanism_mjcf
from .mechanism_subjects import MECHANISMS, REACH, driven
from .tables import Column, Table
from .timing import Timer, side_by_side, timer_of, warm

GOAL = 1e-6  # [rad | m]: of every driven joint at the end
# [N m/rad | N/m]: with these, the mechanisms swing two or three times in the second. On the soft springs of the first line the
# four-bar swings half a time: so few steps are needed that what a call costs in itself counts.
STIFFNESS = {
    "four_bar": (20.0, 200.0),
    "five_bar": (20.0,),
    "planar_3rrr": (50.0,),
    "delta": (20.0,),
    "stewart": (4000.0,),
}
TOLERANCES = tuple(10.0**-k for k in range(4, 12))
STEPS = (50, 70, 100, 140, 200, 280, 400, 560, 800, 1120, 1600)
SOFTNESS = (1.0, 1.5, 2.0)  # the time constant of MuJoCo's closures, in time steps; faster ones are unstable
BATCH = 512
MUJOCO_BATCH = 16  # it takes one motion after the other
JUDGED = 4  # starts from which a setting has to be accurate enough
COLUMNS = (
    Column("mechanism", "mechanism"),
    Column("stiffness", "springs", ".0f"),
    Column("ms", "dalembert [ms]", ".3f"),
    Column("scipy_ms", "Pinocchio in SciPy [ms]", ".1f"),
    Column("scipy_ratio", "ratio", ".1f"),
    Column("mujoco_ms", "MuJoCo [ms]", ".2f"),
    Column("mujoco_ratio", "ratio", ".1f"),
    Column("batch_ms", "in a batch, each [ms]", ".4f"),
    Column("batch_ratio", "ratio to MuJoCo", ".0f"),
    Column("settings", "settings"),
)
NOTE = (
    f"One second from rest, springs at the driven joints. Each contestant runs at its cheapest setting that from {JUDGED} starts "
    f"ends within {GOAL:g} of Pinocchio's accelerations integrated at 1e-12: tolerances of DOP853 by decades, for MuJoCo's RK4 "
    f"the number of steps and the softness of its closures. A batch holds {BATCH} motions from different starts, on one thread; "
    f"MuJoCo runs its rollout of {MUJOCO_BATCH}, in C, on one thread as well. Springs in N m/rad, N/m. Ratios are medians."
)


@dataclass(frozen=True)
class Start:
    """A mechanism on springs, where its motions start, and other libraries that move it."""

    mechanism: Mechanism
    stiffness: float
    q: np.ndarray
    x: np.ndarray

    @cached_property
    def accelerations(self) -> Callable[..., np.ndarray]:
        """Those of Pinocchio."""
        return mechanism_bindings.pinocchio_loops(self.mechanism)["forward_dynamics"]

    @cached_property
    def mujoco(self) -> tuple[Any, Any, int]:
        """Model and data of MuJoCo, and how many numbers a state of it has."""
        import mujoco as mj

        model = mj.MjModel.from_xml_string(mechanism_mjcf(self.mechanism, stiffness=self.stiffness))
        model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_REFSAFE)  # closures may be as stiff as the time step allows
        return model, mj.MjData(model), mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)


def start_of(mechanism: Mechanism, stiffness: float, count: int) -> Start:
    """Springs that rest where the mechanism was assembled; the first start is the one that accuracy is judged by."""
    springs = [Spring(stiffness, joint=name, rest=rest) for name, rest in zip(mechanism.joint_names, mechanism.q0, strict=True)]
    sprung = mechanism.replace(springs=springs)
    reach = 0.5 * REACH[mechanism.name] * np.array([1, -1, 1, -1, 1, -1])[: mechanism.n]
    q = mechanism.q0 + reach * np.r_[1.0, np.random.default_rng(2).uniform(0.5, 1.0, count - 1)][:, None]
    return Start(sprung, stiffness, q, mechanism.assemble(q).x)


def measure(effort: Effort) -> Table:
    """The table of all mechanisms."""
    table = Table("mechanism_motions", "Closed loops in motion", NOTE, COLUMNS)
    table.records.extend(_record(MECHANISMS[name](), k, effort) for name in MECHANISMS for k in STIFFNESS[name])
    return table


def _record(mechanism: Mechanism, stiffness: float, effort: Effort) -> dict[str, Any]:
    start = start_of(mechanism, stiffness, BATCH if effort.compiled else JUDGED)
    end = 1.0 if effort.compiled else 0.01
    found = settings_of(start, end)
    runs = [partial(_RUNS[name], start, end, setting, 1) for name, setting in found.items()]
    timings = side_by_side([warm(timer_of(run)) for run in runs], effort.seconds)
    words = ", ".join(f"{name} {setting if isinstance(setting, tuple) else f'{setting:.0e}'}" for name, setting in found.items())
    record: dict[str, Any] = {"mechanism": mechanism.name, "stiffness": stiffness, "ms": 1e3 * timings.best(), "settings": words}
    for number, name in enumerate(list(found)[1:], start=1):
        record |= {f"{name}_ms": 1e3 * timings.best(number), f"{name}_ratio": timings.median_ratio(number)}
    return record | _batches(start, end, {name: found[name] for name in found if name != "scipy"}, effort)


def _batches(start: Start, end: float, settings: dict[str, Any], effort: Effort) -> dict[str, Any]:
    """Many motions at once at the same settings."""
    counts = {name: len(start.q) if name == "ours" else min(MUJOCO_BATCH, len(start.q)) for name in settings}
    runs = [partial(_RUNS[name], start, end, setting, counts[name]) for name, setting in settings.items()]
    timers = [per(timer_of(run), count) for run, count in zip(runs, counts.values(), strict=True)]
    timings = side_by_side(timers, effort.seconds, least=2)
    record: dict[str, Any] = {"batch_ms": 1e3 * timings.best()}
    return record | ({"batch_ratio": timings.median_ratio()} if len(runs) > 1 else {})


def per(timer: Timer, count: int) -> Timer:
    """The time of each of some."""
    return lambda: timer() / count


def settings_of(start: Start, end: float) -> dict[str, Any]:
    """The cheapest setting of each contestant that is accurate enough from some starts, ours first."""
    exact = ours(start, end, 1e-12, JUDGED)
    grids: dict[str, Any] = {"ours": TOLERANCES}
    if bindings.has("pinocchio"):
        grids["scipy"] = TOLERANCES
        exact = scipy(start, end, 1e-12, JUDGED)
    if bindings.has("mujoco"):
        grids["mujoco"] = [(max(round(steps * end), 1), soft) for steps in STEPS for soft in SOFTNESS]
    found = {}
    for name, grid in grids.items():  # from cheap to dear
        good = (s for s in grid if np.abs(_RUNS[name](start, end, s, JUDGED) - exact).max() < GOAL)
        found[name] = next(good, grid[-1])
    return found


def ours(start: Start, end: float, tolerance: float, count: int) -> np.ndarray:
    """The last positions of the driven joints of some motions."""
    q = start.q[:count] if count > 1 else start.q[0]
    motion = dal.simulate(start.mechanism, q, np.zeros(q.shape[-1]), t_end=end, rtol=tolerance, atol=tolerance, threads=1)
    return motion.q[..., -1, :]


def scipy(start: Start, end: float, tolerance: float, count: int) -> np.ndarray:
    """The same by Pinocchio's constraintDynamics in SciPy's DOP853, in the positions of all joints."""
    from scipy.integrate import solve_ivp

    N, drives = start.x.shape[-1], list(driven(start.mechanism))
    rest, tau = start.mechanism.q0, np.zeros(N)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        tau[drives] = -start.stiffness * (y[drives] - rest)
        return np.concatenate([y[N:], start.accelerations(y[:N], y[N:], tau)])

    options: dict[str, Any] = {"method": "DOP853", "rtol": tolerance, "atol": tolerance}
    solved = [solve_ivp(rate, (0.0, end), np.r_[x, np.zeros(N)], **options) for x in start.x[:count]]
    return np.array([motion.y[drives, -1] for motion in solved])


def mujoco(start: Start, end: float, setting: tuple[int, float], count: int) -> np.ndarray:
    """The same by MuJoCo's rollout with RK4."""
    from mujoco import rollout

    steps, softness = setting
    model, data, size = start.mujoco
    model.opt.timestep = end / steps
    model.eq_solref[:] = softness * end / steps, 1.0
    x = start.x[:count]
    states = np.zeros((len(x), size))
    states[:, 1 : 1 + x.shape[1]] = x
    found, _ = rollout.rollout(model, data, states, nstep=steps)
    return np.asarray(found[:, -1, 1 + np.array(driven(start.mechanism))])


_RUNS: dict[str, Callable[..., np.ndarray]] = {"ours": ours, "scipy": scipy, "mujoco": mujoco}
