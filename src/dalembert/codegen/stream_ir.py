"""Large results past the caches, as LLVM IR text.

An ordinary store first reads the cache line it writes to, so results that exceed the caches cost twice the memory traffic. For
these, the loop collects the rows of a tile in a small buffer and copies them to their place by non-temporal stores. Such stores
have to fill whole lines: a line that is left half written costs as much as several. So the part of a tile's last line is kept
in the buffer, before the rows of the next tile, and is written with them. Only x86 has such stores in a form that pays.
"""

from __future__ import annotations

from pathlib import Path

LAST_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")  # such as 32768K; elsewhere than in Linux it is not told
LEAST = 2**23  # bytes of results that stay in any last cache


def stays_in_cache(told: Path = LAST_CACHE) -> int:
    """Bytes of results that are likely to stay in the last cache until they are read: a quarter of it, from 8 MB to 16 MB.

    A larger cache has more cores that share it, and results that left it in the meantime are better written past it.
    """
    try:
        size = 1024 * int(told.read_text(encoding="ascii").strip().removesuffix("K"))
    except (OSError, ValueError):
        size = 0
    return min(max(size // 4, LEAST), 2**24)


FROM = stays_in_cache()  # bytes of results of one call from which on they bypass the caches; or LEAST, see batch_loop_ir.py
LONG_ROW = 128  # bytes of results per configuration; with fewer, arithmetic takes longer than memory
PAGE = 4096  # bytes; the buffer begins at a page, since a buffer across the edge of two pages doubles the time of a kernel
LINE = 64  # bytes


def streamed(row_bytes: dict[int, int], rows: int) -> list[int]:
    """Which arrays, with their bytes per row, are streamed in tiles of so many rows; none if together they are too small.

    A tile has to fill at least one line.
    """
    found = [k for k, size in row_bytes.items() if size * rows >= LINE]
    return found if sum(row_bytes[k] for k in found) >= LONG_ROW else []


def places(row_bytes: dict[int, int], rows: int) -> tuple[dict[int, int], int]:
    """Where in the buffer the rows of each array's tile begin, with room for a line before them; and the size of the buffer."""
    found, place = {}, 0
    for k, size in row_bytes.items():
        found[k] = place + LINE
        place += (-(-size * rows // LINE) + 1) * LINE
    return found, place


def functions() -> list[str]:
    """`@stream` copies all whole lines to memory, `@line` copies one line to the buffer."""
    return f"""
declare void @llvm.x86.sse.sfence()
!2 = !{{i32 1}}
define internal void @line(ptr %to, ptr %from) {{
  %x = load <{LINE // 8} x double>, ptr %from, align 4
  store <{LINE // 8} x double> %x, ptr %to, align {LINE}
  ret void
}}
define internal void @stream(ptr noalias %to, ptr noalias %from, i64 %size) noinline {{
start:
  %whole = sub i64 %size, {LINE - 1}
  br label %turns
turns:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]
  %more = icmp slt i64 %i, %whole
  br i1 %more, label %turn, label %done
turn:
  %j = add i64 %i, {LINE // 2}
  %from.i = getelementptr i8, ptr %from, i64 %i
  %from.j = getelementptr i8, ptr %from, i64 %j
  %to.i = getelementptr i8, ptr %to, i64 %i
  %to.j = getelementptr i8, ptr %to, i64 %j
  %a = load <4 x double>, ptr %from.i, align 4
  %b = load <4 x double>, ptr %from.j, align 4
  store <4 x double> %a, ptr %to.i, align {LINE // 2}, !nontemporal !2
  store <4 x double> %b, ptr %to.j, align {LINE // 2}, !nontemporal !2
  %next = add i64 %i, {LINE}
  br label %turns
done:
  ret void
}}""".splitlines()
