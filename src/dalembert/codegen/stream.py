"""Large results past the caches, as LLVM IR text.

An ordinary store first reads the cache line it writes to; results that exceed the caches so pay for memory traffic twice. The
loop collects the rows of a block in a small buffer instead, and copies them to their place by non-temporal stores, which
fill whole lines on the way to memory. Only x86 has them in a form that pays.
"""

from __future__ import annotations

FROM = 2**23  # bytes of results of one call; fewer are likely to stay in some cache until somebody reads them
_ROW = 128  # bytes of results per configuration; where there are fewer, arithmetic takes longer than memory
PAGE = 4096  # bytes; the buffer begins with one, since a buffer across the edge of two doubles the time of a kernel
_VECTOR = 32  # bytes of a store
_TURN = 8  # vectors copied in one turn of the loop


def worthwhile(row_bytes: list[int], lanes: int) -> bool:
    """Whether the results of a block are large enough, and each made of whole vectors."""
    return sum(row_bytes) >= _ROW and all(size > 0 and size * lanes % _VECTOR == 0 for size in row_bytes)


def functions(sizes: dict[int, int]) -> list[str]:
    """`@stream<k>` for the arrays of these numbers and bytes per block."""
    copies = [line for k, size in sizes.items() for line in _function(k, size)]
    return [*copies, "declare void @llvm.x86.sse.sfence()", "!2 = !{i32 1}"]


def _function(k: int, size: int) -> list[str]:
    """Copy `size` bytes to a multiple of 16; if it is an odd one, half a vector goes first and half a one last."""
    turns, rest = divmod(size // _VECTOR - 1, _TURN)
    return [
        f"define internal void @stream{k}(ptr %to, ptr %from) noinline {{",
        "entry:",
        "  %place = ptrtoint ptr %to to i64",
        "  %shift = and i64 %place, 16",
        "  %odd = icmp ne i64 %shift, 0",
        "  br i1 %odd, label %head, label %start",
        "head:",
        *_copied("h", "0", 0, 16),
        "  br label %start",
        "start:",
        *(_loop(turns) if turns else ("  br label %rest",)),
        "rest:",
        f"  %r = phi i64 [ {'%next, %turn' if turns else '%shift, %start'} ]",
        *(line for v in range(rest) for line in _copied(f"r{v}", "%r", v * _VECTOR, _VECTOR)),
        "  br i1 %odd, label %half, label %full",
        "half:",
        *_copied("x", "%r", rest * _VECTOR, 16),
        "  ret void",
        "full:",
        *_copied("y", "%r", rest * _VECTOR, _VECTOR),
        "  ret void",
        "}",
    ]


def _loop(turns: int) -> list[str]:
    return [
        "  br label %turn",
        "turn:",
        "  %t = phi i64 [ 0, %start ], [ %t.next, %turn ]",
        "  %at = phi i64 [ %shift, %start ], [ %next, %turn ]",
        *(line for v in range(_TURN) for line in _copied(f"l{v}", "%at", v * _VECTOR, _VECTOR)),
        f"  %next = add i64 %at, {_TURN * _VECTOR}",
        "  %t.next = add i64 %t, 1",
        f"  %more = icmp slt i64 %t.next, {turns}",
        "  br i1 %more, label %turn, label %rest",
    ]


def _copied(name: str, place: str, offset: int, size: int) -> list[str]:
    kind = f"<{size // 8} x double>"
    return [
        f"  %{name}.o = add i64 {place}, {offset}",
        f"  %{name}.from = getelementptr i8, ptr %from, i64 %{name}.o",
        f"  %{name}.to = getelementptr i8, ptr %to, i64 %{name}.o",
        f"  %{name} = load {kind}, ptr %{name}.from, align 16",
        f"  store {kind} %{name}, ptr %{name}.to, align {size}, !nontemporal !2",
    ]
