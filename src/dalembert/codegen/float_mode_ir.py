"""The processor's floating-point mode while a kernel runs, as LLVM IR text.

Numbers below the smallest normal one (2.2e-308; 1.2e-38 in single precision) count as zero, as operands and as results: most
processors of the x86 family compute with them in microcode, and a batch at rest whose velocities have died away would take tens
of times as long. The caller finds its mode as it was, and no exceptions set: NaN and infinity in a lane are data, and NumPy
would warn of them after the loop.
"""

from __future__ import annotations

_ZERO = 0x8040  # subnormal results and operands are zero
_EXCEPTIONS = 0x3F


def declarations(x86: bool) -> list[str]:
    """The declarations that `enter` and `leave` need in a module."""
    if not x86:
        return ["declare i32 @feclearexcept(i32)"]
    return [f"declare void @llvm.x86.sse.{name}(ptr)" for name in ("stmxcsr", "ldmxcsr")]


def room(x86: bool) -> list[str]:
    """Memory for two modes, at the start of a function: a whole cache line, so that nothing else on the stack is moved."""
    return ["  %mode = alloca [16 x i32], align 64"] if x86 else []


def enter(x86: bool) -> list[str]:
    """Keep the caller's mode, without exceptions, and set ours."""
    if not x86:
        return []
    return f"""
  call void @llvm.x86.sse.stmxcsr(ptr %mode)
  %mode.found = load i32, ptr %mode, align 4
  %mode.clear = and i32 %mode.found, {~_EXCEPTIONS}
  store i32 %mode.clear, ptr %mode, align 4
  %mode.ours = or i32 %mode.clear, {_ZERO}
  %mode.at = getelementptr i32, ptr %mode, i64 1
  store i32 %mode.ours, ptr %mode.at, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %mode.at)""".splitlines()[1:]


def leave(x86: bool) -> list[str]:
    """The mode as it was, and no exceptions."""
    if not x86:
        return ["  %mode.done = call i32 @feclearexcept(i32 31)"]
    return ["  call void @llvm.x86.sse.ldmxcsr(ptr %mode)"]
