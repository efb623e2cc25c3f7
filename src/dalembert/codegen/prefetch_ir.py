"""Lines of results that are asked for before they are written, as LLVM IR text.

A store waits until its cache line has come from the second or third cache, or from memory. The rows of a block are written side
by side, an order in which a processor seems not to guess what comes next; so each block asks for the lines of the next one: few
of them at once, by the loop around the body (`@fetch`), many a few at a time, between the operations of the body. A line past the
last row is asked for in vain, which does no harm: it is no access.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..expr import Slot
from .ir import FunctionBuilder
from .precision import Real
from .stream_ir import LINE

FROM = 2**20  # bytes of results of one call from which on the loop asks
MOST = 3 * 2**12  # bytes of the lines that it asks for at once: the first cache has to hold these and others
SPREAD = 2  # times as many bytes go through the caches where a body asks for its lines: its stores hardly wait for them
DECLARATION = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
Line = tuple[int, int]  # output, bytes from the block's first row


def lines_ahead(outputs: Sequence[Slot], lanes: int, real: Real) -> list[Line]:
    """The lines of the next block's rows; none where they are so few that the loop around the body asks for them at once."""
    blocks = [slot.size * real.bytes * lanes for slot in outputs]
    if sum(blocks) <= MOST:
        return []
    return [(k, size + at) for k, size in enumerate(blocks) for at in range(0, size, LINE)]


def _request(line: str) -> str:
    """For a line that is going to be written, to all caches."""
    return f"call void @llvm.prefetch.p0(ptr {line}, i32 1, i32 3, i32 1)"


def fetch_function() -> list[str]:
    """`@fetch` asks for all lines of some bytes."""
    return f"""
{DECLARATION}
define internal void @fetch(ptr %to, i64 %size) noinline {{
start:
  br label %turns
turns:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %turn, label %done
turn:
  %to.i = getelementptr i8, ptr %to, i64 %i
  {_request("%to.i")}
  %next = add i64 %i, {LINE}
  br label %turns
done:
  ret void
}}""".splitlines()


class PrefetchCode:
    """Requests for lines, spread evenly over the operations of a block: a core has some sixteen under way at a time.

    Where all lanes are on one row there is no next block: then every request is for that row. Lines past a single result may be
    in pages that were never used, and to find that out takes longer than the work of a kernel.
    """

    def __init__(self, code: FunctionBuilder, lines: Sequence[Line], operations: int) -> None:
        self.code = code
        self.lines = lines
        self.operations = operations
        self.asked = 0
        self.reach = ""  # a mask of offsets

    def begin(self, head: FunctionBuilder, rows: Sequence[str]) -> None:
        """Tell by the rows of an output whether there is a next block, at the head of the code."""
        alone = head.let(f"icmp eq ptr {rows[0]}, {rows[1]}")
        self.reach = head.let(f"select i1 {alone}, i64 0, i64 -1")

    def ask(self, place: int, first_row: Callable[[int], str]) -> None:
        """Ask for the share of lines that is due after so many operations; `first_row` has the pointer of an output."""
        due = len(self.lines) * place // self.operations
        for output, offset in self.lines[self.asked : due]:
            line = self.code.at(first_row(output), self.code.let(f"and i64 {self.reach}, {offset}"))
            self.code.line(_request(line))
        self.asked = due


__all__ = ["DECLARATION", "FROM", "MOST", "SPREAD", "PrefetchCode", "fetch_function", "lines_ahead"]
