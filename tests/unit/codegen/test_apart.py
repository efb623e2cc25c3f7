"""Stack and constants apart in the first cache: what is counted as meeting, and by how much the stack moves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

from dalembert.codegen import apart, batch_loop_ir, kernel, machine_code, straight_ir, target
from dalembert.expr import interpret, trace

pytestmark = pytest.mark.skipif(not target.host().x86, reason="only x86 has such a cache")
PAIRS = ((12, 27), (13, 26), (14, 25), (15, 20), (16, 21), (17, 22), (18, 23), (19, 24))  # bits of an address [Lipp2020]


def tag(address: int) -> int:
    return sum(((address >> a ^ address >> b) & 1) << k for k, (a, b) in enumerate(PAIRS))


def meets(stack: int, first: int, last: int) -> bool:
    constants = {tag(min(first + j * apart.PAGE, last)) for j in range(apart.CONSTANT_PAGES)}
    return any(tag(stack - i * apart.PAGE) in constants for i in range(apart.STACK_PAGES))


@pytest.fixture(scope="module")
def moved() -> Callable[[int, int, int], int]:
    door = "define i64 @door(ptr %s, ptr %a, ptr %b) {\n  %x = call i64 @apart(ptr %s, ptr %a, ptr %b)\n  ret i64 %x\n}"
    code = machine_code.load(target.compile_object("\n".join([*apart.functions(), door])), "door")
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_uint64] * 3)(code["door"])
    return lambda *addresses: function(*addresses) if code else 0  # holds the code


def test_a_stack_moves_down_by_whole_pages_until_it_meets_no_constant(
    moved: Callable[[int, int, int], int], rng: np.random.Generator
) -> None:
    distances = []
    for _ in range(5000):
        stack, first = (int(x) & ~31 for x in rng.integers(1 << 40, 1 << 47, 2))
        last = first + int(rng.integers(0, 3 * apart.PAGE))
        down = moved(stack, first, last)
        distances.append(down)
        assert down % apart.PAGE == 0
        assert not meets(stack - down, first, last)
        assert not down or meets(stack - down + apart.PAGE, first, last)
    assert 0.9 < np.mean(np.array(distances) == 0) < 0.99  # now and then it has to


def test_constants_right_below_the_stack_s_tag_are_left(moved: Callable[[int, int, int], int]) -> None:
    stack = 0x7FFC_F10E_3A20
    assert moved(stack, stack, stack) == apart.PAGE * 1
    assert moved(stack, stack - apart.PAGE, stack - apart.PAGE) == apart.PAGE * 2


def test_kernels_look_only_where_constants_are_few() -> None:
    assert apart.serves(1, 32)
    assert apart.serves(255, 32)
    assert not apart.serves(0, 32)
    assert not apart.serves(1000, 32)


def test_results_are_the_same_wherever_the_stack_goes(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(batch_loop_ir, "_MANY", 2)
    program = trace(lambda x: [x[0] * 0.3 + x[1] * 0.7, x[0] * x[1] + 2.5], {"x": (2,)}, ["y"])
    ir = straight_ir.emit(program, 4)
    for pages in (0, 1, 5):
        shifted = ir.replace("ret i64 %down\n", f"ret i64 {pages * apart.PAGE}\n")
        assert shifted != ir
        run = kernel.compiled(shifted, program)[0]
        for rows in (1, 2, 9):
            x = rng.normal(size=(rows, 2))
            np.testing.assert_allclose(run(x), interpret.run(program, x)[0], rtol=1e-14)
