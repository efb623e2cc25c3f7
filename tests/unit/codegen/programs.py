"""Small programs for the tests of the compiler, and the interpreter's answer to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.codegen import Kernel, build
from dalembert.expr import Program, interpret, ops, trace


def mixed(x: list[Any], A: list[list[Any]], s: Any) -> tuple[Any, Any, Any]:
    """Three inputs and three outputs of all kinds of shape; a bit of everything."""
    total = sum((a * b for row in A for a, b in zip(row, x, strict=False)), 0.0)
    v = [ops.sin(a) * s + ops.cos(a + s) for a in x]
    B = [[a * x[j] + v[i] for j, a in enumerate(row)] for i, row in enumerate(A)]
    return v, B, ops.sqrt(total * total + 1.0) + ops.where(ops.less(s, 0.0), x[0], ops.atan2(x[1], x[2]))


def mixed_program() -> Program:
    return trace(mixed, {"x": (3,), "A": (2, 3), "s": ()}, ["v", "B", "e"], name="mixed")


def vector_program(n: int = 3) -> Program:
    """One input, one output: y = sin x · x + the sum of x."""

    def function(x: list[Any]) -> list[Any]:
        total = sum(x, 0.0)
        return [ops.sin(a) * a + total for a in x]

    return trace(function, {"x": (n,)}, ["y"], name="vector")


def kernel_of(function: Callable[..., Any], inputs: dict[str, tuple[int, ...]], outputs: list[str]) -> tuple[Kernel, Program]:
    program = trace(function, inputs, outputs)
    return build(program), program


def expected(program: Program, *arrays: Any) -> Any:
    """What the program means."""
    results = interpret.run(program, *arrays)
    return results[0] if len(results) == 1 else results


def close(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    """Equal to rounding beside the largest entry of each row; NaN and infinity where they belong."""
    for a, b in zip(
        found if isinstance(found, tuple) else (found,), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
    ):
        assert a.shape == b.shape
        assert a.dtype == np.float64
        scale = np.abs(np.where(np.isfinite(b), b, 0.0)).max(initial=1.0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale)
