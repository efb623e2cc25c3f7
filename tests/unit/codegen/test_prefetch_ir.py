"""Lines of the next rows are asked for while those of this block are computed."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from dalembert.codegen import kernel, prefetch_ir, straight_ir, stream_ir, target
from dalembert.codegen.precision import DOUBLE, SINGLE, Real
from dalembert.codegen.prefetch_ir import lines_ahead
from dalembert.expr import Program, Slot, trace

REQUEST = "call void @llvm.prefetch"
MANY = 128  # numbers of each of two results: eight rows are more than what a loop asks for at once


def tables(n: int) -> Program:
    """Two results of n numbers per row, each its own."""
    return trace(
        lambda x: ([x[0] * float(j + 1) + x[1] for j in range(n)], [x[1] * float(j + 1) for j in range(n)]),
        {"x": (2,)},
        ["y", "z"],
    )


@pytest.mark.parametrize(("real", "lanes"), [(DOUBLE, 4), (DOUBLE, 8), (SINGLE, 8)])
def test_each_line_of_the_next_block_is_asked_for_once(real: Real, lanes: int) -> None:
    n = 1024 * 8 // (real.bytes * lanes)
    block = n * real.bytes * lanes
    expected = [(k, block + 64 * j) for k in range(2) for j in range(block // 64)]
    assert lines_ahead([Slot("y", (n,)), Slot("z", (2, n // 2))], lanes, real) == expected
    ir = straight_ir.emit(tables(n), lanes, real=real)
    body = ir[ir.index("@part_0(") :].split("\n}")[0]
    assert body.count(REQUEST) == len(expected)
    offsets = re.findall(rf"and i64 %\w+, (\d+)\n.*getelementptr.*\n  {REQUEST}", body)
    assert sorted(map(int, offsets)) == sorted(at for _, at in expected)


def test_a_single_row_asks_for_nothing_past_its_end() -> None:
    """All lanes are on it then, and every offset becomes zero."""
    ir = straight_ir.emit(tables(MANY), 8)
    ((_, mask),) = re.findall(r"%(\w+) = icmp eq ptr %\w+, %\w+\n  (%\w+) = select i1 %\1, i64 0, i64 -1", ir)
    assert ir.count(f"and i64 {mask}, ") == ir.count(REQUEST)


def test_requests_are_spread_over_the_operations() -> None:
    ir = straight_ir.emit(tables(MANY), 8)
    body = ir[ir.index("@part_0(") :].split("\n}")[0].splitlines()
    places = [k for k, line in enumerate(body) if REQUEST in line]
    assert max(np.diff(places)) < len(body) / 8


def test_lines_of_short_rows_are_left_to_the_loop_and_those_of_code_in_parts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    few = prefetch_ir.MOST // (2 * 64)
    short, long = (straight_ir.emit(tables(n), 8) for n in (few, few + 1))
    assert ("@fetch(" in short, "@fetch(" in long) == (True, False)
    assert [text[text.index("@part_0(") :].split("\n}")[0].count(REQUEST) > 0 for text in (short, long)] == [False, True]
    monkeypatch.setattr(straight_ir, "WHOLE", 0)
    monkeypatch.setattr(straight_ir, "PART_SIZE", 60)
    assert "prefetch" not in straight_ir.emit(tables(MANY), 8)


def test_the_loop_or_the_body_asks_but_not_both() -> None:
    """A result of one number in four lanes is less than a line, and counts for the one and not for the other."""
    n = prefetch_ir.MOST // 32
    program = trace(lambda x: ([x[0] * float(j + 1) for j in range(n)], [x[1]]), {"x": (2,)}, ["y", "z"])
    assert straight_ir.emit(program, 4).count("declare void @llvm.prefetch") == 1


@pytest.mark.skipif(not target.host().x86, reason="other processors ask for nothing, too")
@pytest.mark.parametrize("zen", [False, True])
def test_zen_processors_ask_for_nothing(zen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    host = dataclasses.replace(target.host(), cpu="znver4" if zen else "emeraldrapids")
    assert host.zen == zen
    monkeypatch.setattr(target, "host", lambda: host)
    texts: list[str] = []
    monkeypatch.setattr(kernel, "compiled", lambda ir, *_, **__: (texts.append(ir), None))
    kernel.build(tables(MANY))
    assert (REQUEST in texts[0]) != zen


@pytest.mark.skipif(not target.host().x86, reason="only x86 has stores past the caches")
def test_results_whose_lines_are_asked_for_go_through_the_caches_to_twice_the_size() -> None:
    choice = straight_ir.emit(tables(MANY), 8).split("\nchoose:")[1]
    assert int(re.findall(r"icmp sge i64 %\w+, (\d+)", choice)[0]) == -(-2 * stream_ir.FROM // (2 * MANY * 8))


@pytest.mark.skipif(not target.host().x86, reason="only x86 has stores past the caches")
@pytest.mark.parametrize("least", [1, 2**40])  # through the buffer of streamed rows, and directly
def test_results_are_the_same_to_the_bit(least: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(stream_ir, "FROM", least)
    program = tables(2 * MANY)
    text = straight_ir.emit(program, 4)
    assert REQUEST in text
    without = "\n".join(line for line in text.splitlines() if REQUEST not in line)
    asks, asks_not = (kernel.compiled(ir, program)[0] for ir in (text, without))
    for rows in (1, 3, 8, 37):
        x = rng.normal(size=(rows, 2))
        np.testing.assert_array_equal(asks(x), asks_not(x))
