"""While a kernel runs, numbers below the smallest normal one are zero; whoever called finds the processor as it was."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import Kernel, build, single_call, target
from dalembert.expr import Program, trace

x86 = pytest.mark.skipif(not target.host().x86, reason="other processors take these numbers in their stride")
SMALLEST = 5e-324


def doubling() -> Program:
    return trace(lambda x: [a + a for a in x], {"x": (3,)}, ["y"])


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return build(doubling())


def keeps_subnormals() -> bool:
    """Whether NumPy, on this thread, computes with the smallest numbers."""
    return bool((np.full(8, SMALLEST) + SMALLEST == 2 * SMALLEST).all()) and float(SMALLEST) * 2 > 0


def by_batch(kernel: Kernel, x: np.ndarray) -> np.ndarray:
    return kernel.ufunc(np.tile(x, (9, 1)))[4]


def by_rows_with_gaps(kernel: Kernel, x: np.ndarray) -> np.ndarray:
    return kernel.ufunc(np.tile(x, (9, 1)).T.copy().T)[4]


def one_by_one(kernel: Kernel, x: np.ndarray) -> np.ndarray:
    assert single_call.supported()
    return kernel.single(x)


def in_threads(kernel: Kernel, x: np.ndarray) -> np.ndarray:
    kernel.small = 0
    return kernel(np.tile(x, (5000, 1)), threads=3)[4321]


ENTRIES: list[Callable[[Kernel, np.ndarray], np.ndarray]] = [by_batch, by_rows_with_gaps, one_by_one, in_threads]


@x86
@pytest.mark.parametrize("entry", ENTRIES)
def test_the_smallest_numbers_are_zero_by_every_entry_point_and_only_inside(entry: Any, kernel: Kernel) -> None:
    x = np.array([SMALLEST, 1e-310, 2.3e-308])
    np.testing.assert_array_equal(entry(kernel, x), [0.0, 0.0, 4.6e-308])
    assert keeps_subnormals()


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_thread_that_called_finds_its_mode_as_it_was(entry: Any, kernel: Kernel) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(keeps_subnormals).result()
        pool.submit(entry, kernel, np.array([1.0, np.nan, 1e308])).result()
        assert pool.submit(keeps_subnormals).result()


def test_a_simulation_leaves_the_mode_as_it_was() -> None:
    robot = dal.robots.two_link_planar()
    motion = dal.simulate(robot, np.full(2, 1e-310), np.zeros(2), t_end=0.1)
    assert np.isfinite(motion.q).all()
    assert keeps_subnormals()


@x86
def test_the_arc_tangent_sees_the_same_zeros(kernel: Kernel) -> None:
    """The C library looks at bits too: half in one mode, half in the other, its answer would be not a number."""
    from dalembert.expr import ops

    run = build(trace(lambda x: ops.atan2(x[0], x[1]), {"x": (2,)}, ["y"]))
    y = run(np.array([[SMALLEST, 1e-310], [-SMALLEST, -1.0], [1e-310, 0.0], [-1e-310, -SMALLEST]]))
    np.testing.assert_array_equal(y, [0.0, -np.pi, 0.0, -np.pi])


def test_nan_and_infinity_are_data_and_raise_nothing(kernel: Kernel) -> None:
    x = np.array([[np.nan, np.inf, 1e308]] * 5)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(kernel(x), [[np.nan, np.inf, np.inf]] * 5)
        kernel.single(x[0])
        np.sqrt(np.ones(3))
