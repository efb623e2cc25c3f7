"""The entry point for single configurations: it takes exact arrays of doubles, and leaves everything else to the ufunc."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from dalembert.codegen import Kernel, build, single_call, straight_ir
from dalembert.expr import Program
from tests.unit.codegen.programs import close, expected, mixed_program, vector_program

pytestmark = pytest.mark.skipif(not single_call.supported(), reason="objects are laid out differently here")


class Labelled(np.ndarray):
    """A subclass, which NumPy's protocols have to serve."""


@pytest.fixture(scope="module")
def vector() -> tuple[Kernel, Program]:
    program = vector_program()
    return build(program), program


@pytest.fixture(scope="module")
def mixed() -> tuple[Kernel, Program]:
    program = mixed_program()
    return build(program), program


def inputs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rng.normal(size=3), rng.normal(size=(2, 3)), np.array(rng.normal())


def test_it_gives_what_the_ufunc_gives_to_the_last_bit(mixed: Any, rng: np.random.Generator) -> None:
    run, program = mixed
    for _ in range(20):
        arrays = inputs(rng)
        found = run.single(*arrays)
        for a, b in zip(found, run.ufunc(*arrays), strict=True):
            np.testing.assert_array_equal(a, b)
        close(found, expected(program, *arrays))


def test_parts_with_scratch_memory_give_the_same(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(straight_ir, "PART_SIZE", 5)
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    program = mixed_program()
    arrays = inputs(rng)
    close(build(program).single(*arrays), expected(program, *arrays))


def test_its_results_are_ordinary_new_arrays(vector: Any) -> None:
    x = np.ones(3)
    first, second = vector[0].single(x), vector[0].single(x)
    assert type(first) is np.ndarray
    assert first.dtype == np.float64
    assert first.flags.owndata
    assert first.flags.writeable
    assert first.flags.c_contiguous
    assert not np.shares_memory(first, second)


NOT_FOR_IT = {
    "a batch": np.ones((2, 3)),
    "a batch of one": np.ones((1, 3)),
    "too few entries": np.ones(2),
    "too many entries": np.ones(4),
    "no axis": np.array(1.0),
    "nothing": np.ones(0),
    "single precision": np.ones(3, np.float32),
    "whole numbers": np.ones(3, int),
    "the other byte order": np.ones(3, ">f8"),
    "complex numbers": np.ones(3, complex),
    "objects": np.array([1.0, 2.0, 3.0], object),
    "every second entry": np.ones(6)[::2],
    "reversed": np.ones(3)[::-1],
    "one entry repeated": np.broadcast_to(1.0, 3),
    "unaligned": np.frombuffer(b"?" + np.ones(3).tobytes(), np.uint8)[1:].view(np.float64),
    "a subclass": np.ones(3).view(Labelled),
    "a masked array": np.ma.ones(3),
    "a list": [1.0, 1.0, 1.0],
    "a tuple": (1.0, 1.0, 1.0),
    "a number": 1.0,
    "a NumPy number": np.float64(1.0),
    "None": None,
    "text": "abc",
    "a type": np.ndarray,
}


@pytest.mark.parametrize("kind", NOT_FOR_IT)
def test_anything_else_is_left_to_the_ufunc(kind: str, vector: Any) -> None:
    assert vector[0].single(NOT_FOR_IT[kind]) is NotImplemented


def test_a_matrix_of_another_layout_is_left_to_the_ufunc(mixed: Any, rng: np.random.Generator) -> None:
    run, _ = mixed
    x, A, s = inputs(rng)
    assert run.single(x, np.asfortranarray(A), s) is NotImplemented
    assert run.single(x, A.T, s) is NotImplemented
    assert run.single(x, A, float(s)) is NotImplemented
    assert run.single(x, A, s) is not NotImplemented


def test_a_wrong_number_of_arguments_is_left_to_the_ufunc(vector: Any) -> None:
    assert vector[0].single() is NotImplemented
    assert vector[0].single(np.ones(3), np.ones(3)) is NotImplemented


def test_read_only_arrays_are_read(vector: Any) -> None:
    run, program = vector
    x = np.ones(3)
    x.flags.writeable = False
    close(run.single(x), expected(program, x))


def test_nothing_is_kept_or_lost(mixed: Any, rng: np.random.Generator) -> None:
    """Reference counts of arguments and results are those before and after; memory does not grow."""
    run, _ = mixed
    arrays = inputs(rng)
    before = [sys.getrefcount(a) for a in arrays]
    result = run.single(*arrays)
    assert sys.getrefcount(result) == 2
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(5000):
        run.single(*arrays)
        run.single(arrays[0])
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500
    assert [sys.getrefcount(a) for a in arrays] == before


def test_nan_stays_in_its_entry_and_nobody_warns(vector: Any) -> None:
    with np.errstate(all="raise"):
        assert np.isnan(vector[0].single(np.array([np.nan, 1.0, 2.0]))).all()
        assert np.isnan(vector[0].single(np.array([np.inf, 1.0, 2.0]))[0])


def test_the_interpreter_has_no_such_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    assert build(vector_program()).single(np.ones(3)) is NotImplemented
