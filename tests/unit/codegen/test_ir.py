"""The builder of LLVM IR text: what it writes compiles, and does what its names say."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pytest

from dalembert.codegen import machine_code, target
from dalembert.codegen.ir import FunctionBuilder, Vectors, function, hexadecimal, splat, table
from dalembert.codegen.precision import DOUBLE, SINGLE


def run_of(lines: list[str]) -> Callable[..., int]:
    """The function `@f`, called with integers."""
    code = machine_code.load(target.compile_object("\n".join(lines)), "f")
    found = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(code["f"])
    return lambda *arguments: found(*arguments) if code else 0  # keeps the code


@pytest.mark.parametrize(("count", "step", "turns"), [(0, 1, 1), (1, 1, 1), (7, 1, 7), (7, 3, 3), (9, 3, 3)])
def test_a_loop_runs_once_and_then_while_its_index_is_below_the_end(count: int, step: int, turns: int) -> None:
    code = FunctionBuilder()
    code.label("entry")
    total = code.let("alloca i64, align 8")
    code.store("i64", "%b", total)
    code.go("turn")
    with code.loop("i", "%a", "turn", "done", step=step):
        code.store("i64", code.let(f"add i64 {code.load('i64', total)}, 1"), total)
    code.line(f"ret i64 {code.load('i64', total)}")
    assert run_of(function("i64 @f(i64 %a, i64 %b)", code.lines))(count, 100) == 100 + turns


def test_a_loop_may_begin_where_another_ends() -> None:
    code = FunctionBuilder()
    code.label("entry")
    code.go("first")
    with code.loop("i", "%a", "first", "second"):
        pass
    with code.loop("j", "%i.next", "second", "done", before="first"):
        pass
    code.line("ret i64 %j.next")
    assert code.lines.count("second:") == 1
    assert run_of(function("i64 @f(i64 %a, i64 %b)", code.lines))(5, 0) == 5


@pytest.mark.parametrize("size", [8, 64, 4096])
def test_a_pointer_is_rounded_up(size: int) -> None:
    code = FunctionBuilder()
    pointer = code.rounded_up(code.let("inttoptr i64 %a to ptr"), size)
    code.line(f"ret i64 {code.let(f'ptrtoint ptr {pointer} to i64')}")
    run = run_of(function("i64 @f(i64 %a, i64 %b)", code.lines))
    assert [run(address, 0) for address in (0, 1, size - 1, size, size + 1)] == [0, size, size, size, 2 * size]


def test_a_null_pointer_goes_elsewhere() -> None:
    code = FunctionBuilder()
    code.go_unless_null(code.let("inttoptr i64 %a to ptr"), "none", "some")
    code.line("ret i64 1")
    code.label("none")
    code.line("ret i64 0")
    run = run_of(function("i64 @f(i64 %a, i64 %b)", code.lines))
    assert (run(0, 0), run(64, 0)) == (0, 1)


@pytest.mark.parametrize("real", [DOUBLE, SINGLE], ids=lambda real: real.dtype)
def test_a_mask_tells_whether_any_lane_is_set(real: Any) -> None:
    code = FunctionBuilder()
    v = Vectors(code, 4, real)
    x = v.with_lane(v.number(0.0), code.let(f"sitofp i64 %a to {real.name}"), 2)
    found = v.any(v.compare("une", x))
    code.line(f"ret i64 {code.let(f'zext i1 {found} to i64')}")
    run = run_of(function("i64 @f(i64 %a, i64 %b)", code.lines))
    assert (run(0, 0), run(3, 0)) == (0, 1)


def test_an_entry_of_a_table_is_loaded() -> None:
    code = FunctionBuilder()
    code.line(f"ret i64 {code.load_at('i64', '@numbers', 16, name='third')}")
    run = run_of([table("@numbers", "i64", ["3", "5", "7"]), *function("i64 @f(i64 %a, i64 %b)", code.lines)])
    assert run(0, 0) == 7
    assert "  %third.at = getelementptr i8, ptr @numbers, i64 16" in code.lines


@pytest.mark.parametrize("value", [0.1, -0.0, float("inf"), 5e-324, 1 / 3])
def test_numbers_are_spelt_to_the_last_bit(value: float) -> None:
    assert struct.pack(">d", value).hex().upper() == hexadecimal(value)[2:]
    (single,) = struct.unpack(">f", struct.pack(">f", value))
    assert hexadecimal(value, "float") == hexadecimal(single)
    assert splat(value, 2) == f"<double {hexadecimal(value)}, double {hexadecimal(value)}>"


def test_fresh_names_differ_and_carry_their_prefix() -> None:
    code = FunctionBuilder("h")
    assert [code.let("add i64 1, 2"), code.let("add i64 1, 2", "sum"), code.let("add i64 1, 2")] == ["%h1", "%sum", "%h2"]
