"""The stack and the constants of a kernel kept apart in the first cache, as LLVM IR text.

AMD's processors find a line in the first data cache by a tag of eight bits, a hash of its linear address [Lipp2020]. Of two lines
with the same place in their pages and the same tag, each drives out the other. Where constants are loaded and where the stack is
are matters of chance, so one kernel in fifty would take 1.4 times as long, in that process and on that thread. A loop that goes
through many rows looks first, and moves its stack down by some pages if need be.
"""

from __future__ import annotations

import sys

PAGE = 4096  # bytes
STACK_PAGES = 4  # that a kernel's own frame reaches into at most
CONSTANT_PAGES = 4  # of constants up to which it is worth looking: more of them meet the stack wherever it is
_TRIES = 16  # pages down


def serves(constants: int, size: int) -> bool:
    """Whether so many constants of this size are few enough, and there are any; Windows wants every page of a stack touched."""
    return sys.platform != "win32" and constants > 0 and (constants * size) // PAGE + 2 <= CONSTANT_PAGES


def functions() -> list[str]:
    """`@apart`: by how many bytes a stack has to move down to meet none of the pages from the first to the last constant."""
    return f"""
define internal i64 @tag(i64 %a) {{
  %page = lshr i64 %a, 12
  %h0 = lshr i64 %a, 27
  %b0 = and i64 %h0, 1
  %h1 = lshr i64 %a, 25
  %b1 = and i64 %h1, 2
  %h2 = lshr i64 %a, 23
  %b2 = and i64 %h2, 4
  %h3 = lshr i64 %a, 17
  %b3 = and i64 %h3, 248
  %x0 = xor i64 %page, %b0
  %x1 = xor i64 %x0, %b1
  %x2 = xor i64 %x1, %b2
  %x3 = xor i64 %x2, %b3
  %tag = and i64 %x3, 255
  ret i64 %tag
}}
define internal i64 @apart(ptr %stack, ptr %first, ptr %last) noinline {{
start:
  %s = ptrtoint ptr %stack to i64
  %c = ptrtoint ptr %first to i64
  %e = ptrtoint ptr %last to i64
  br label %try
try:
  %down = phi i64 [ 0, %start ], [ %down.next, %page ]
  %tried = phi i64 [ 0, %start ], [ %tried.next, %page ]
  br label %next
next:
  %k = phi i64 [ 0, %try ], [ %k.next, %same ]
  %k.more = icmp slt i64 %k, {STACK_PAGES * CONSTANT_PAGES}
  br i1 %k.more, label %same, label %done
same:
  %i = lshr i64 %k, {CONSTANT_PAGES.bit_length() - 1}
  %j = and i64 %k, {CONSTANT_PAGES - 1}
  %i.bytes = mul i64 %i, {PAGE}
  %j.bytes = mul i64 %j, {PAGE}
  %s.i = sub i64 %s, %i.bytes
  %s.at = sub i64 %s.i, %down
  %c.j = add i64 %c, %j.bytes
  %c.in = icmp ult i64 %c.j, %e
  %c.at = select i1 %c.in, i64 %c.j, i64 %e
  %s.tag = call i64 @tag(i64 %s.at)
  %c.tag = call i64 @tag(i64 %c.at)
  %k.next = add i64 %k, 1
  %meet = icmp eq i64 %s.tag, %c.tag
  br i1 %meet, label %page, label %next
page:
  %down.next = add i64 %down, {PAGE}
  %tried.next = add i64 %tried, 1
  %again = icmp slt i64 %tried.next, {_TRIES}
  br i1 %again, label %try, label %never
done:
  ret i64 %down
never:
  ret i64 0
}}""".splitlines()
