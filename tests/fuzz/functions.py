"""The public functions of a robot or mechanism and arrays, as a table: which arrays each takes, by name, and which options.

`arguments` makes good values for all of them, so that a campaign need spoil only one.
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import dalembert as dal
from tests.robots import fresh

from .campaign import pick

SMALL_ROBOTS = ("pendulum", "two_link_planar")
ROBOTS = (*SMALL_ROBOTS, "puma560", "panda")
SMALL_MECHANISMS = ("crank_rocker",)
MECHANISMS = (*SMALL_MECHANISMS, "four_bar", "five_bar")
MECHANISM_SHARE = 0.3  # of the cases
STEPS = 3  # rows of torques in a rollout


class Function(NamedTuple):
    """A function of the package: arrays that it needs, arrays that it may be given, other options with a good value each."""

    name: str
    arrays: tuple[str, ...]
    further: tuple[str, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    fixed: dict[str, Any] = {}  # noqa: RUF012
    out: int = 0  # how many arrays `out` has; none, one bare, or a tuple
    interpreted: bool = True  # whether the interpreter may serve as an oracle: it takes long for time loops
    closed: bool = False  # whether it is for mechanisms alone

    @property
    def call(self) -> Any:
        """The function itself."""
        return AT_POSITIONS.get(self.name) or attrgetter(self.name)(dal)

    @property
    def takes_out(self) -> bool:
        """Whether it can be told where to put its results."""
        return self.out > 0 and (self.name in AT_POSITIONS or "out" in inspect.signature(self.call).parameters)


AT_POSITIONS: dict[str, Any] = {
    "at near": lambda system, q, near, **options: dal.mass_matrix(system.at(near=near), q, **options),
    "at x": lambda system, x, **options: dal.mass_matrix(system.at(x=x), system.q0, **options),
    "Mechanism.residual": lambda system, x, **options: system.residual(x),
    "motion near": lambda system, q0, near, **options: _motion_near(system.at(near=near), q0, **options),
    "path": lambda system, path, **options: system.assemble(path, continuous=True, **options).x,
}
"""What takes positions of a mechanism's tree."""


def _motion_near(system: Any, q0: Any, **options: Any) -> Any:
    return dal.rollout(system, q0, np.ones(system.n), None, dt=1e-3, steps=2, **options).q


_FORCES = ("wrenches", "base_velocity", "base_acceleration")
_FORMULATION = {"formulation": "newton_euler"}
_THREADS = {"threads": 2}
_COLUMNS = {"rotor": True, "friction": True, "offset": False}
_NAMES = {"names": ("M", "h")}
_ELEMENTS = {"qd": None, "springs": (), "dampers": (), "gravity": True}
_MOTION = ("q", "qd", "qdd")
_POSITIONS = ("x", "near")

_LISTED = (
    Function("inverse_dynamics", _MOTION, (*_FORCES, "parameters"), _FORMULATION | _THREADS, out=1),
    Function("forward_dynamics", ("q", "qd", "tau"), (*_FORCES, "parameters"), _FORMULATION | _THREADS, out=1),
    Function("mass_matrix", ("q",), ("parameters",), _FORMULATION | _THREADS, out=1),
    Function("gravity_torque", ("q",), ("parameters",), _FORMULATION | _THREADS, out=1),
    Function("bias", ("q", "qd"), (*_FORCES, "parameters"), _FORMULATION | _THREADS, out=1),
    Function("energy", ("q", "qd"), (), _THREADS, out=2),
    Function("friction_torque", ("qd",), ("q",), _THREADS, out=1),
    Function("link_wrenches", _MOTION, _FORCES, {"frame": "world"} | _THREADS, out=1),
    Function("coriolis_matrix", ("q", "qd"), (), _FORMULATION | _THREADS, out=1),
    Function("christoffel", ("q",), (), _FORMULATION | _THREADS, out=1),
    Function("regressor", _MOTION, (), _COLUMNS | _THREADS, out=1),
    Function("derivatives", _MOTION, (), {"tau": None} | _THREADS, out=3),
    Function("parameter_derivatives", _MOTION, (), {"tau": None} | _COLUMNS | _THREADS, out=1),
    Function("second_derivatives", _MOTION, (), _THREADS, out=4),
    Function("torque_rate", (*_MOTION, "qddd"), (), _THREADS, out=1),
    Function("centroidal_momentum", ("q", "qd"), (), _THREADS, out=3),
    Function("energy_gradient", ("q", "qd"), (), _THREADS, out=3),
    Function("forward_kinematics", ("q",), (), {"link": None} | _THREADS, out=1),
    Function("jacobian", ("q",), ("point",), {"link": None, "frame": "world"} | _THREADS, out=1),
    Function("jacobian_dot", ("q", "qd"), (), {"link": None, "frame": "world"} | _THREADS, out=1),
    Function("analytical_jacobian", ("q",), (), {"link": None, "angles": "rpy"} | _THREADS, out=1),
    Function("influence", ("q",), ("point",), {"link": None, "order": 2, "kind": "link"} | _THREADS),
    Function("link_motion", ("q", "qd"), ("qdd", "point"), {"qddd": None, "link": None} | _THREADS),
    Function("applied_torque", ("q",), ("wrenches",), _ELEMENTS | _THREADS, out=1),
    Function("contributions", _MOTION, ("wrenches",), _THREADS),
    Function("recursion", _MOTION, (), {"frame": "link"} | _THREADS),
    Function("terms", _MOTION, (), _FORMULATION | {"names": None} | _THREADS, fixed={"formulation": "screw"}),
    Function("evaluate", ("q", "qd"), (), _NAMES | {"qdd": None, "tau": None} | _THREADS, fixed=_NAMES, out=2),
    Function(
        "rollout",
        ("q0", "qd0", "torques"),
        ("wrenches", "parameters"),
        {"dt": 1e-3, "steps": None, "method": "semi_implicit_euler", "every": 1, "t_start": 0.0}
        | {"saturate": False, "sample": None, "delay": 0.0, "python": False}
        | dict.fromkeys(("inputs", "signals", "states", "rates", "wrench_times", "progress", "stops"))
        | _THREADS,
        fixed={"dt": 1e-3},
        out=2,
        interpreted=False,
    ),
    Function(
        "simulate",
        ("q0", "qd0", "tau"),
        ("wrenches", "parameters"),
        dict.fromkeys(("first_step", "tau_times", "inputs", "signals", "states", "rates", "wrench_times", "progress"))
        | dict.fromkeys(("events", "stops"))
        | {"t_end": 0.02, "t_eval": (0.0, 0.01, 0.02), "tau_between": "hold", "t_start": 0.0, "method": "dop853"}
        | {"rtol": 1e-6, "atol": 1e-9, "max_step": 1.0, "max_steps": 100, "dense": False}
        | {"saturate": False, "sample": None, "delay": 0.0, "python": False}
        | _THREADS,
        fixed={"t_eval": (0.0, 0.01, 0.02), "max_steps": 200},
        interpreted=False,
    ),
    Function("constraint_forces", _MOTION, ("wrenches",), _THREADS, closed=True),
    Function("distribute_load", _MOTION, ("wrenches",), _THREADS, closed=True),
    Function("Mechanism.assemble", ("q",), ("near",), {"continuous": False} | _THREADS, closed=True),
    Function("Mechanism.residual", ("x",), closed=True),
    Function("at near", ("q", "near"), (), _THREADS, out=1, closed=True),
    Function("at x", ("x",), (), _THREADS, out=1, closed=True),
    Function("motion near", ("q0", "near"), (), _THREADS, closed=True, interpreted=False),
    Function("path", ("path",), (), _THREADS, closed=True),
)
FUNCTIONS = {function.name: function for function in _LISTED}
"""By name."""


@cache
def robot(name: str, oracle: bool = False) -> Any:
    """A robot or mechanism of the catalogues with kernels of its own; another one for the interpreter."""
    if name not in MECHANISMS:
        return fresh(name)
    mechanism = dal.mechanisms.CATALOGUE[name]()
    return mechanism.replace(actuated=mechanism.robot.joint_names)  # enough drives to share a load


def pick_system(rng: np.random.Generator, function: Function, small: bool) -> str:
    """A robot, or now and then a mechanism; of those that compile quickly."""
    if function.closed or rng.random() < MECHANISM_SHARE:
        return str(pick(rng, SMALL_MECHANISMS if small else MECHANISMS))
    return str(pick(rng, SMALL_ROBOTS if small else ROBOTS))


@contextmanager
def numpy_back_end() -> Iterator[None]:
    """Kernels made meanwhile are interpreted: the oracle of the compiled ones."""
    with mock.patch.dict(os.environ, {"DALEMBERT_BACKEND": "numpy"}):
        yield


@contextmanager
def cold_cache() -> Iterator[Path]:
    """An empty compile cache, in memory where there is a place for it."""
    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place,
        mock.patch.dict(os.environ, {"DALEMBERT_CACHE": place}),
    ):
        yield Path(place)


def core(name: str, array: str) -> tuple[int, ...]:
    """The shape of an array without batch axes."""
    arm = robot(name)
    if array == "parameters":
        return dal.parameters(arm).shape
    if array in _POSITIONS:
        return (arm.robot.n,)
    return {"point": (3,), "torques": (STEPS, arm.n), "path": (STEPS, arm.n)}.get(array, (6,) if array in _FORCES else (arm.n,))


def clean(rng: np.random.Generator, name: str, array: str, batch: tuple[int, ...]) -> np.ndarray:
    """Good values for an array."""
    shape = (*batch, *core(name, array))
    if array == "parameters":
        return dal.parameters(robot(name)) * rng.uniform(0.9, 1.1, shape)
    if array in _POSITIONS:
        return np.array(np.broadcast_to(robot(name).seed, shape))
    if name in MECHANISMS and array in ("q", "q0", "path"):  # within reach, and not near the ends of it
        return robot(name).q0 + rng.uniform(-0.2, 0.2, shape)
    return rng.uniform(-2.5, 2.5, shape)


def keywords(arrays: dict[str, Any], frame: str = "tool") -> dict[str, Any]:
    """Arrays as keyword arguments: wrenches go by the name of a frame."""
    given = {("tau" if name == "torques" else name): array for name, array in arrays.items()}
    return given | ({"wrenches": {frame: arrays["wrenches"]}} if "wrenches" in arrays else {})


def call(function: Function, arm: Any, arrays: dict[str, Any], **options: Any) -> Any:
    """Ask a function; of a mechanism, wrenches act on its last link."""
    frame = "tool" if isinstance(arm, dal.Robot) else arm.link_names[-1]
    return function.call(arm, **keywords(arrays, frame), **(function.fixed | options))


def filled(function: Function, result: Any) -> list[np.ndarray]:
    """The arrays of a result that `out` may provide, in its order."""
    if function.name == "rollout":
        return [result.q, result.qd]
    return list(result.values()) if function.name == "evaluate" else list(result) if function.out > 1 else [result]


def packed(function: Function, targets: list[Any]) -> Any:
    """Arrays as `out` takes them."""
    if function.name == "evaluate":
        return dict(zip(function.fixed["names"], targets, strict=False))
    return tuple(targets) if function.out > 1 else targets[0]
