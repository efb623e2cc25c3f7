"""Rows are read and written some entries at a time; every row length, lane count and kind of number gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dalembert.codegen import kernel, straight_ir
from dalembert.codegen.precision import DOUBLE, SINGLE, Real
from dalembert.codegen.rows_ir import runs, store_run_length
from dalembert.expr import Program, trace


def test_a_row_is_cut_into_long_runs_first() -> None:
    assert [list(run) for run in runs(7, 4)] == [[0, 1, 2, 3], [4, 5], [6]]
    assert [list(run) for run in runs(3, 1)] == [[0], [1], [2]]
    assert list(runs(0, 4)) == []


def test_entries_of_the_widest_registers_alone_are_stored_in_pairs() -> None:
    assert [store_run_length(lanes, DOUBLE, pairs=True) for lanes in (1, 2, 4, 8)] == [1, 2, 4, 2]
    assert [store_run_length(lanes, SINGLE, pairs=True) for lanes in (8, 16)] == [4, 4]
    assert store_run_length(8, DOUBLE, pairs=False) == 4


def ufunc_of(program: Program, lanes: int, real: Real = DOUBLE) -> Any:
    return kernel.compiled(straight_ir.emit(program, lanes, real=real), program, real)[0]


def shifted(n: int) -> Program:
    """Entry j of the result is entry j of the input times j + 1: each must find its own place."""
    return trace(lambda x: [a * float(j + 1) for j, a in enumerate(x)], {"x": (n,)}, ["y"], name=f"shifted{n}")


@pytest.mark.slow
@pytest.mark.parametrize("real", [DOUBLE, SINGLE], ids=lambda real: real.dtype)
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 13])
def test_every_entry_finds_its_place(n: int, lanes: int, real: Real, rng: np.random.Generator) -> None:
    x = rng.normal(size=(2 * lanes + 1, n)).astype(real.dtype)
    found = ufunc_of(shifted(n), lanes, real)(x)
    np.testing.assert_array_equal(found, x * np.arange(1, n + 1, dtype=real.dtype))


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_entries_that_are_not_wanted_may_stand_between_those_that_are(lanes: int, rng: np.random.Generator) -> None:
    for mask in range(7, 64, 7):
        wanted = [j for j in range(6) if mask >> j & 1]
        program = trace(lambda x, wanted=wanted: [2.0 * x[j] for j in wanted], {"x": (6,)}, ["y"])
        x = rng.normal(size=(lanes + 1, 6))
        np.testing.assert_array_equal(ufunc_of(program, lanes)(x), 2.0 * x[:, wanted])


def test_nothing_is_read_or_written_beyond_a_row(rng: np.random.Generator) -> None:
    """The last row may end where readable memory does; here at least the neighbours stay as they were."""
    memory = np.full((9, 5), np.nan)
    x = rng.normal(size=(9, 3))
    ufunc_of(shifted(3), 4)(x, out=memory[:, 1:4])
    np.testing.assert_array_equal(memory[:, 1:4], x * [1.0, 2.0, 3.0])
    assert np.isnan(memory[:, [0, 4]]).all()


def test_constants_inputs_and_repeated_values_share_runs_with_computed_ones(rng: np.random.Generator) -> None:
    def function(x: list[Any]) -> list[Any]:
        p = x[0] * x[1]
        return [p, 0.0, x[2], p, 1.0, 2.0, 3.0, 4.0, x[0], x[0], -p, p + 1.0, 5.0]

    x = rng.normal(size=(11, 3))
    p, one = x[:, 0] * x[:, 1], np.ones(11)
    columns = [p, 0 * one, x[:, 2], p, one, 2 * one, 3 * one, 4 * one, x[:, 0], x[:, 0], -p, p + 1.0, 5 * one]
    program = trace(function, {"x": (3,)}, ["y"])
    np.testing.assert_allclose(ufunc_of(program, 4)(x), np.stack(columns, axis=1), rtol=1e-15)


@pytest.mark.parametrize("size", [1, 2, 30, 70])
def test_runs_that_several_parts_have_a_share_in_are_complete(
    size: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr(straight_ir, "PART_SIZE", size)
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    x = rng.normal(size=(9, 11))
    np.testing.assert_array_equal(ufunc_of(shifted(11), 4)(x), x * np.arange(1.0, 12.0))


def test_spilled_registers_stay_within_cache_lines() -> None:
    """Otherwise a kernel's time depends on where the stack happens to be, by up to a quarter."""
    assert "@part_0(ptr noalias %lanes, ptr noalias %scratch) noinline alignstack(64)" in straight_ir.emit(shifted(3), 4)
