"""The public functions of a robot and arrays, as a table: which arrays each takes, by name, and which options.

`arguments` makes good values for all of them, so that a campaign need spoil only one.
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import dalembert as dal
from tests.robots import fresh

SMALL_ROBOTS = ("pendulum", "two_link_planar")
ROBOTS = (*SMALL_ROBOTS, "puma560", "panda")
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

    @property
    def call(self) -> Any:
        """The function itself."""
        return getattr(dal, self.name)

    @property
    def takes_out(self) -> bool:
        """Whether it can be told where to put its results."""
        return self.out > 0 and "out" in inspect.signature(self.call).parameters


_FORCES = ("wrenches", "base_velocity", "base_acceleration")
_FORMULATION = {"formulation": "newton_euler"}
_THREADS = {"threads": 2}
_COLUMNS = {"rotor": True, "friction": True, "offset": False}
_NAMES = {"names": ("M", "h")}
_ELEMENTS = {"qd": None, "springs": (), "dampers": (), "gravity": True}
_MOTION = ("q", "qd", "qdd")

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
        (),
        {"dt": 1e-3, "steps": None, "method": "semi_implicit_euler", "every": 1, "t_start": 0.0, "progress": None} | _THREADS,
        fixed={"dt": 1e-3},
        out=2,
        interpreted=False,
    ),
    Function(
        "simulate",
        ("q0", "qd0", "tau"),
        (),
        dict.fromkeys(("first_step", "tau_times", "progress"))
        | {"t_end": 0.02, "t_eval": (0.0, 0.01, 0.02), "tau_between": "hold", "t_start": 0.0, "method": "dop853"}
        | {"rtol": 1e-6, "atol": 1e-9, "max_step": 1.0, "max_steps": 100, "dense": False}
        | _THREADS,
        fixed={"t_eval": (0.0, 0.01, 0.02), "max_steps": 200},  # dry friction may take very many
        interpreted=False,
    ),
)
FUNCTIONS = {function.name: function for function in _LISTED}
"""By name."""


@cache
def robot(name: str, oracle: bool = False) -> dal.Robot:
    """A catalogue robot with kernels of its own; another one for the interpreter."""
    return fresh(name)


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
    return {"point": (3,), "torques": (STEPS, arm.n)}.get(array, (6,) if array in _FORCES else (arm.n,))


def clean(rng: np.random.Generator, name: str, array: str, batch: tuple[int, ...]) -> np.ndarray:
    """Good values for an array."""
    shape = (*batch, *core(name, array))
    if array == "parameters":
        return dal.parameters(robot(name)) * rng.uniform(0.9, 1.1, shape)
    return rng.uniform(-2.5, 2.5, shape)


def keywords(arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays as keyword arguments: wrenches go by the name of a frame."""
    given = {("tau" if name == "torques" else name): array for name, array in arrays.items()}
    return given | ({"wrenches": {"tool": arrays["wrenches"]}} if "wrenches" in arrays else {})


def call(function: Function, arm: dal.Robot, arrays: dict[str, Any], **options: Any) -> Any:
    """Ask a function."""
    return function.call(arm, **keywords(arrays), **(function.fixed | options))


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
