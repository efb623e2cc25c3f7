"""Large results bypass the caches: the same numbers in the same places, whatever the alignment and the number of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalembert.codegen import build, kernel, prefetch_ir, straight_ir, stream_ir, target
from dalembert.codegen.precision import DOUBLE, SINGLE, Real
from dalembert.expr import Program, trace

pytestmark = pytest.mark.skipif(not target.host().x86, reason="only x86 has stores past the caches")


def table(n: int) -> Program:
    """n results per row, each its own."""
    return trace(lambda x: [x[0] * float(j + 1) + x[1] for j in range(n)], {"x": (2,)}, ["y"], name=f"table{n}")


def wanted(x: np.ndarray, n: int) -> np.ndarray:
    return x[:, :1] * np.arange(1, n + 1, dtype=x.dtype) + x[:, 1:]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stream whatever can be streamed."""
    monkeypatch.setattr(stream_ir, "FROM", 1)


def run(program: Program, lanes: int, x: np.ndarray, out: np.ndarray, real: Real = DOUBLE) -> None:
    ir = straight_ir.emit(program, lanes, real=real)
    assert "!nontemporal" in ir
    kernel.compiled(ir, program, real)[0](x, out=out)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("real", [DOUBLE, SINGLE], ids=lambda real: real.dtype)
@pytest.mark.parametrize("n", [32, 33, 40, 49, 64, 71])
def test_rows_of_every_length_arrive(n: int, real: Real, rng: np.random.Generator) -> None:
    lanes = 32 // real.bytes
    for rows in (1, lanes - 1, lanes, 3 * lanes + 1):
        x = rng.normal(size=(rows, 2)).astype(real.dtype)
        out = np.full((rows, n), np.nan, real.dtype)
        run(table(n), lanes, x, out, real)
        np.testing.assert_allclose(out, wanted(x, n), rtol=4 * np.finfo(real.dtype).eps, atol=1e-5 if real is SINGLE else 1e-14)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("n", [17, 20, 21, 32])  # tiles that end anywhere in a line
@pytest.mark.parametrize("shift", range(9))
def test_results_of_any_alignment_stay_within_their_array(shift: int, n: int, rng: np.random.Generator) -> None:
    for rows in (4, 5, 8, 13):
        memory = np.full(rows * n + 16, np.nan)
        out = memory[shift : shift + rows * n].reshape(rows, n)
        x = rng.normal(size=(rows, 2))
        run(table(n), 4, x, out)
        np.testing.assert_allclose(out, wanted(x, n), rtol=1e-14, atol=1e-14)
        assert np.isnan(memory[:shift]).all()
        assert np.isnan(memory[shift + rows * n :]).all()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_single_precision_ends_in_the_middle_of_a_line_too(shift: int, rng: np.random.Generator) -> None:
    n, rows = 35, 29
    memory = np.full(rows * n + 16, np.nan, np.float32)
    out = memory[shift : shift + rows * n].reshape(rows, n)
    x = rng.normal(size=(rows, 2)).astype(np.float32)
    run(table(n), 8, x, out, SINGLE)
    np.testing.assert_allclose(out, wanted(x, n), rtol=1e-6, atol=1e-5)
    assert np.isnan(memory[:shift]).all()
    assert np.isnan(memory[shift + rows * n :]).all()


LAYOUTS = {
    "rows with gaps": lambda memory: memory[:, 1:21],
    "every second row": lambda memory: memory[::2, :20],
    "reversed": lambda memory: memory[::-1, :20],
    "transposed": lambda memory: np.asfortranarray(memory[:, :20]),
}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_layouts_are_served_the_ordinary_way(layout: str, rng: np.random.Generator) -> None:
    out = LAYOUTS[layout](np.full((18, 24), np.nan))
    x = rng.normal(size=(len(out), 2))
    run(table(20), 4, x, out)
    np.testing.assert_allclose(out, wanted(x, 20), rtol=1e-14, atol=1e-14)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_other_lane_counts_stream_too(lanes: int, rng: np.random.Generator) -> None:
    x = rng.normal(size=(5 * lanes + 1, 2))
    out = np.empty((len(x), 48))
    run(table(48), lanes, x, out)
    np.testing.assert_allclose(out, wanted(x, 48), rtol=1e-14, atol=1e-14)


@pytest.mark.usefixtures("always")
def test_several_results_are_streamed_each_to_its_array(rng: np.random.Generator) -> None:
    def function(x: list[Any]) -> tuple[Any, Any, Any]:
        return [x[0] + j for j in range(9)], [[x[1] * j for j in range(3)] for _ in range(4)], x[0] * x[1]

    program = trace(function, {"x": (2,)}, ["a", "b", "c"])
    assert "!nontemporal" in straight_ir.emit(program, 4)
    x = rng.normal(size=(22, 2))
    a, b, c = build(program)(x)
    np.testing.assert_array_equal(a, x[:, :1] + np.arange(9))
    np.testing.assert_array_equal(b, np.broadcast_to((x[:, 1:] * np.arange(3))[:, None], (22, 4, 3)))
    np.testing.assert_array_equal(c, x[:, 0] * x[:, 1])


def test_the_number_of_rows_decides_at_run_time(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(stream_ir, "FROM", 20 * 8 * 16)  # bytes of 16 rows
    for rows in (15, 16, 17):
        x = rng.normal(size=(rows, 2))
        out = np.empty((rows, 20))
        run(table(20), 4, x, out)
        np.testing.assert_allclose(out, wanted(x, 20), rtol=1e-14, atol=1e-14)


def test_large_batches_stream_in_threads_as_well(rng: np.random.Generator) -> None:
    n = 64
    rows = 2 * stream_ir.FROM // (8 * n) + 5
    x = rng.normal(size=(rows, 2))
    np.testing.assert_allclose(build(table(n))(x, threads=2), wanted(x, n), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("lanes", [4, 8])
def test_lines_that_are_asked_for_ahead_change_nothing(
    lanes: int, layout: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Lines behind the last row are asked for too, which touches nothing there."""
    monkeypatch.setattr(prefetch_ir, "FROM", 1)
    memory = np.full((37, 24), np.nan)
    for out in (memory[:, :20].copy(), LAYOUTS[layout](memory)):
        x = rng.normal(size=(len(out), 2))
        run(table(20), lanes, x, out)
        np.testing.assert_allclose(out, wanted(x, 20), rtol=1e-14, atol=1e-14)


def test_lines_are_asked_for_ahead_where_that_pays() -> None:
    """Not on Zen, nor for tiles that would fill the first cache; how many bytes there are in all is known at run time."""
    longest = prefetch_ir.MOST // (8 * 8)
    assert "call void @fetch" in straight_ir.emit(table(longest), 8)
    assert "call void @fetch" not in straight_ir.emit(table(longest + 1), 8)
    assert "call void @fetch" not in straight_ir.emit(table(20), 8, zen=True)
    assert "call void @fetch" not in straight_ir.emit(table(7), 8)


def test_results_whose_lines_are_not_asked_for_bypass_the_caches_sooner() -> None:
    """The number of rows is compared with that of FROM, or of LEAST; of a body that asks by itself, with twice FROM."""
    longest = prefetch_ir.MOST // (8 * 8)
    for n, zen, size in (
        (longest, False, stream_ir.FROM),
        (longest, True, stream_ir.LEAST),
        (longest + 1, False, prefetch_ir.SPREAD * stream_ir.FROM),
    ):
        assert f", {-(-size // (8 * n))}\n" in straight_ir.emit(table(n), 8, zen=zen)


def test_short_rows_and_other_processors_have_no_such_path() -> None:
    assert "!nontemporal" not in straight_ir.emit(table(7), 4)
    assert "!nontemporal" not in straight_ir.emit(table(49), 2, x86=False)


def test_results_smaller_than_a_line_go_straight_to_their_rows() -> None:
    assert stream_ir.streamed({2: 8, 3: 288}, rows=4) == [3]
    assert stream_ir.streamed({2: 8, 3: 8}, rows=4) == []


@pytest.mark.parametrize(("told", "size"), [("266240K\n", 2**24), ("49152K\n", 12 * 2**20), ("4096K\n", 2**23), ("much", 2**23)])
def test_results_up_to_a_quarter_of_the_last_cache_go_through_it(told: str, size: int, tmp_path: Path) -> None:
    (tmp_path / "size").write_text(told)
    assert stream_ir.stays_in_cache(tmp_path / "size") == size
    assert stream_ir.stays_in_cache(tmp_path / "nowhere") == 2**23
