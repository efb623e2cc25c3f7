"""What the tests of exported code share: options for every quantity, the kernels' answers, a C compiler."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.engine import kernel, system_of
from dalembert.export.about import Module
from dalembert.export.choose import in_order, programs
from dalembert.expr import PRIMITIVES, Program, trace
from dalembert.model import Robot
from tests.robots import random_robot

TOLERANCE = 1e-12  # relative: the same operations, rounded in the same order, by another compiler
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc, clang)")
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 5e-324, 1e308, 99999.5)


@cache
def robot_of(name: str) -> Robot:
    """An arm of the catalogue, or a random robot with everything a robot can have."""
    return dal.load(name) if name in dal.robots.CATALOGUE else random_robot(np.random.default_rng(4), 4)


def program_of(robot: Robot, quantity: str, **options: Any) -> Program:
    return programs(robot, quantity, options)[quantity]


def arrays_for(program: Program, batch: tuple[int, ...], seed: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (*batch, *slot.shape)) for slot in program.inputs]


def by_kernel(robot: Robot, quantity: str, arrays: list[np.ndarray], **options: Any) -> tuple[np.ndarray, ...]:
    found = kernel(robot, quantity, *in_order(quantity, options))(*arrays)
    return found if isinstance(found, tuple) else (found,)


def module_of(program: Program, dtype: str = "float64") -> Module:
    """A program that belongs to no robot, as a module."""
    return Module(system_of(robot_of("pendulum")), "some", {f"some_{program.name}": program}, dtype)


def primitives_program() -> Program:
    """Every primitive of three inputs, each as an output of its own and once more inside a sum."""

    def function(x: list[Any]) -> list[Any]:
        applied = [x[0].graph.apply(name, *x[: p.arity]) for name, p in PRIMITIVES.items()]
        return applied + [x[0].graph.apply(name, *(a + 0.5 for a in x[: p.arity])) for name, p in PRIMITIVES.items()]

    return trace(function, {"x": (3,)}, ["y"], name="primitives")


def special_values() -> np.ndarray:
    return np.array(list(itertools.product(SPECIAL, repeat=3)))


class Compiled:
    """A C translation unit, compiled and loaded."""

    def __init__(self, source: str, folder: Path, flags: tuple[str, ...] = FLAGS) -> None:
        assert COMPILER is not None
        text, library = folder / "unit.c", folder / "unit.so"
        text.write_text(source, encoding="ascii")
        command = [COMPILER, *flags, "-shared", "-fPIC", "-o", str(library), str(text), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        self.library = ctypes.CDLL(str(library))

    def run(self, name: str, program: Program, arrays: list[np.ndarray], real: type = ctypes.c_double) -> tuple[np.ndarray, ...]:
        """The outputs for a batch of inputs, row by row."""
        function = getattr(self.library, name)
        function.restype = None
        batch = arrays[0].shape[: arrays[0].ndim - len(program.inputs[0].shape)]
        outputs = tuple(np.full((*batch, *slot.shape), 7.0, real) for slot in program.outputs)
        rows = [np.ascontiguousarray(a, real) for a in arrays]
        pointer = ctypes.POINTER(real)
        for k in np.ndindex(batch):
            given = [
                real(a[k]) if not s.shape else a[k].ctypes.data_as(pointer) for s, a in zip(program.inputs, rows, strict=True)
            ]
            taken = [o[(*k, ...)].ctypes.data_as(pointer) for o in outputs]
            function(*given, *taken)
        return outputs
