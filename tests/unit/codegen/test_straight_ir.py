"""Programs in several parts, some blocks at a time: the same numbers for every number of rows, streamed or not."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.codegen import kernel, straight_ir, stream_ir, target
from dalembert.expr import Program, interpret, ops, trace


def program() -> Program:
    """Sums that reach far back, so that values cross the cuts, and a row of zeros to be cleared."""

    def function(x: list[object]) -> tuple[list[object], list[object]]:
        values = list(x)
        for k in range(120):
            values.append(ops.sin(values[-1]) * 0.5 + values[k] * values[k // 2] * 0.2)  # small factors: rounding dies out
        return values[-40:], [0.0] * 100 + values[-3:]

    return trace(function, {"x": (6,)}, ["y", "z"], name="sums")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straight_ir, "PART_SIZE", 60)
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    monkeypatch.setattr(straight_ir, "STORE_WEIGHT", 1)


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
    assert "@blank" in ir
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


def test_a_tile_keeps_its_scratch_within_the_second_cache() -> None:
    assert straight_ir.tile_of(1, 0) == 1
    assert straight_ir.tile_of(5, 1000) == straight_ir.TILE
    assert straight_ir.tile_of(5, straight_ir.TILE_BYTES // 3) == 3
    assert straight_ir.tile_of(5, 10 * straight_ir.TILE_BYTES) == 1


def test_long_code_in_one_part_jumps_now_and_then_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = program()
    operations = sum(node.op not in ("const", "input") for node in sums.nodes)
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", 50)
    ir = straight_ir.emit(sums, 4, jumps=True)
    assert ir.count(straight_ir.JUMP) == operations // 50
    assert straight_ir.JUMP not in straight_ir.emit(sums, 4)
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", operations // 2 + 1)
    assert straight_ir.JUMP not in straight_ir.emit(sums, 4, jumps=True)
    if not target.host().x86:
        return
    x = np.random.default_rng(2).uniform(-1, 1, (9, 6))
    for found, wanted in zip(kernel.compiled(ir, sums)[0](x), interpret.run(sums, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("small_parts")
def test_code_in_several_parts_has_jumps_or_fences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straight_ir, "JUMP_EVERY", 10)
    jumping, fenced = (straight_ir.emit(program(), 4, jumps=jumps) for jumps in (True, False))
    assert jumping.count(straight_ir.JUMP) == fenced.count(straight_ir.FENCE) > 0
    assert straight_ir.JUMP not in fenced


@pytest.mark.parametrize(("cpu", "wanted"), [("znver1", True), ("znver5", True), ("skylake", False), ("apple-m1", False)])
def test_kernels_have_jumps_on_zen_processors_only(cpu: str, wanted: bool) -> None:
    assert target.Host("x86_64-unknown-linux-gnu", cpu, "", 4, "").zen == wanted
