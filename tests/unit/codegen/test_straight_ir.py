"""Programs in several parts, some blocks at a time: the same numbers for every number of rows, streamed or not."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.codegen import constants_ir, kernel, straight_ir, stream_ir, target
from dalembert.codegen.precision import SINGLE
from dalembert.expr import Program, interpret, ops, trace


def program() -> Program:
    """Sums that reach far back, so that values cross the cuts, and a row of zeros to be cleared."""

    def function(x: list[object]) -> tuple[list[object], list[object]]:
        values = list(x)
        for k in range(120):
            values.append(ops.sin(values[-1]) * 0.5 + values[k] * values[k // 2] * 0.2)  # small factors: rounding dies out
        return values[-40:], [0.0] * 100 + values[-3:]

    return trace(function, {"x": (6,)}, ["y", "z"], name="sums")


def operations(found: Program) -> int:
    return sum(node.op not in ("const", "input") for node in found.nodes)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straight_ir, "PART_SIZE", 60)
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    monkeypatch.setattr(straight_ir, "STORE_WEIGHT", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("tile", [1, 2, 8])
def test_every_number_of_rows_is_served(tile: int, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straight_ir, "TILE", tile)
    if streamed:
        monkeypatch.setattr(stream_ir, "FROM", 1)
    sums = program()
    ir = straight_ir.emit(sums, 4)
    assert ("define internal void @tile" in ir) == (tile > 1)
    assert "@constants" in ir
    run = kernel.compiled(ir, sums)[0]
    rng = np.random.default_rng(0)
    for rows in (0, 1, 3, 4, 5, 4 * tile - 1, 4 * tile, 4 * tile + 1, 11 * tile + 3):
        x = rng.uniform(-1, 1, (rows, 6))
        out = tuple(np.full((rows, n), np.nan) for n in (40, 103))
        run(x, out=out)
        for found, wanted in zip(out, interpret.run(sums, x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("small_parts")
def test_rows_with_gaps_and_shared_rows_are_served_too() -> None:
    sums = program()
    run = kernel.compiled(straight_ir.emit(sums, 4), sums)[0]
    wide = np.random.default_rng(1).uniform(-1, 1, (70, 12))
    for x in (wide[:, ::2], wide[::-1, :6], np.broadcast_to(wide[0, :6], (70, 6))):
        for found, wanted in zip(run(x), interpret.run(sums, np.ascontiguousarray(x)), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def table_with_constants() -> Program:
    """Constants of every kind in stretches that begin and end anywhere, beside outputs without any and with nothing else."""

    def function(x: list[object]) -> tuple[list[object], list[float], list[object]]:
        row: list[object] = [float(j // 9 % 2) if j % 23 > 5 else x[0] * x[1] + float(j) for j in range(97)]
        return [-0.0, *row, np.nan, np.inf, 1e-310, x[1]], [1.5, 2.5, 3.5, 4.5], list(x)

    return trace(function, {"x": (2,)}, ["y", "z", "w"], name="table")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_entries_that_never_change_are_written_in_every_row(lanes: int, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one lane the second output is too short to be streamed, so its constants are written anew in each turn."""
    if streamed:
        monkeypatch.setattr(stream_ir, "FROM", 1)
    table = table_with_constants()
    run = kernel.compiled(straight_ir.emit(table, lanes), table)[0]
    for rows in (1, lanes, 3 * lanes + 1, 60):
        x = np.random.default_rng(rows).uniform(-1, 1, (rows, 2))
        for entries in (slice(None), slice(None, None, 2)):  # of rows with adjacent entries, and with gaps
            wide = [np.full((rows, n * (entries.step or 1)), 7.0) for n in (102, 4, 2)]
            run(x, out=tuple(array[:, entries] for array in wide))
            for found, wanted in zip(wide, interpret.run(table, x), strict=True):
                np.testing.assert_array_equal(found[:, entries], wanted)
                np.testing.assert_array_equal(np.signbit(found[:, entries]), np.signbit(wanted))
                assert entries.step is None or (found[:, 1::2] == 7.0).all()


def test_entries_that_never_change_are_rounded_in_single_precision() -> None:
    table = trace(lambda x: [0.1 * j for j in range(80)] + [x[0]], {"x": (1,)}, ["y"], name="tenths")
    run = kernel.compiled(straight_ir.emit(table, 8, real=SINGLE), table, SINGLE)[0]
    np.testing.assert_array_equal(run(np.ones((3, 1), np.float32))[2, :80], (0.1 * np.arange(80)).astype(np.float32))


def test_few_constants_stay_where_they_are() -> None:
    few = trace(lambda x: [0.0] * 4 * (constants_ir.FROM - 1) + list(x), {"x": (4,)}, ["y"], name="few")
    many = trace(lambda x: [0.0] * 4 * constants_ir.FROM + list(x), {"x": (4,)}, ["y"], name="many")
    assert not constants_ir.constants_of(few)
    assert constants_ir.constants_of(many) == {0: [range(4 * k, 4 * k + 4) for k in range(constants_ir.FROM)]}


def test_wide_registers_leave_longer_programs_in_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = program()
    monkeypatch.setattr(straight_ir, "WHOLE", straight_ir.length(sums))
    monkeypatch.setattr(straight_ir, "PART_SIZE", 100)
    assert "@part_1" in straight_ir.emit(sums, 4)
    assert "@part_1" not in straight_ir.emit(sums, 8)
    assert kernel.straight_lanes(sums, 8, zen=True) == 8


def test_programs_with_few_results_are_cut_in_wide_registers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = program()
    monkeypatch.setattr(straight_ir, "WHOLE", straight_ir.length(sums))
    monkeypatch.setattr(straight_ir, "PART_SIZE", 100)
    monkeypatch.setattr(straight_ir, "MANY_RESULTS", sums.work / straight_ir.result_count(sums))
    assert "@part_1" in straight_ir.emit(sums, 8)


def test_wide_registers_are_stored_in_pairs_in_long_rows_and_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores of four numbers at a time are the sign of the other way; constants are stored elsewhere."""

    def by_fours(n: int, **options: bool) -> bool:
        rows = trace(lambda x: [x[0] * float(j + 2) for j in range(n)], {"x": (1,)}, ["y"], name="rows")
        return "store <4 x double>" in straight_ir.emit(rows, 8, x86=False, **options)

    longest = straight_ir.SHORT_ROW
    assert by_fours(longest)
    assert not by_fours(longest + 4)
    assert by_fours(longest + 4, zen=True)
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    monkeypatch.setattr(straight_ir, "PART_SIZE", 100)
    assert not by_fours(longest)


def test_a_tile_keeps_its_scratch_within_the_second_cache() -> None:
    assert straight_ir.tile_of(1, 0) == 1
    assert straight_ir.tile_of(5, 1000) == straight_ir.TILE
    assert straight_ir.tile_of(5, straight_ir.TILE_BYTES // 3) == 3
    assert straight_ir.tile_of(5, 10 * straight_ir.TILE_BYTES) == 1


@pytest.mark.slow
def test_long_code_in_one_part_jumps_now_and_then_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = program()
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", 50)
    ir = straight_ir.emit(sums, 4, zen=True)
    assert ir.count(straight_ir.JUMP) == operations(sums) // 50
    assert straight_ir.JUMP not in straight_ir.emit(sums, 4)
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", operations(sums) // 2 + 1)
    assert straight_ir.JUMP not in straight_ir.emit(sums, 4, zen=True)
    if not target.host().x86:
        return
    x = np.random.default_rng(2).uniform(-1, 1, (9, 6))
    for found, wanted in zip(kernel.compiled(ir, sums)[0](x), interpret.run(sums, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("small_parts")
def test_code_in_several_parts_has_jumps_or_fences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", 10)
    jumping, fenced = (straight_ir.emit(program(), 4, zen=zen) for zen in (True, False))
    assert jumping.count(straight_ir.JUMP) == fenced.count(straight_ir.FENCE) > 0
    assert straight_ir.JUMP not in fenced


def test_code_in_one_part_has_fences_off_zen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zen processors have jumps in long code, and nothing in short code."""
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", 200)
    ir = straight_ir.emit(program(), 8)
    assert "@part_1" not in ir
    assert ir.count(straight_ir.FENCE) == operations(program()) // 200 > 0
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", operations(program()) // 2 + 1)
    assert straight_ir.FENCE not in straight_ir.emit(program(), 8, zen=True)


@pytest.mark.parametrize(("cpu", "wanted"), [("znver1", True), ("znver5", True), ("skylake", False), ("apple-m1", False)])
def test_kernels_have_jumps_on_zen_processors_only(cpu: str, wanted: bool) -> None:
    assert target.Host("x86_64-unknown-linux-gnu", cpu, "", 4, "").zen == wanted
