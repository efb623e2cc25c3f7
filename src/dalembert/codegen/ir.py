"""The one way in which LLVM IR text is put together: instructions of a function, and operations on vectors of numbers.

What depends on a program is written through a `FunctionBuilder`. Functions that are the same for every program (in workers_ir.py,
stream_ir.py, float_mode_ir.py, the copies in batch_loop_ir.py) stand there as LLVM IR, which is shorter and shows the labels.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .precision import Real

# Marks of instructions, and what the module has to define for them.
UNLIKELY = ", !prof !0"  # of a branch that is hardly ever taken
CONSTANT = ", !invariant.load !1"  # of a load that may move past stores
MARKS = ('!0 = !{!"branch_weights", i32 1, i32 1000000}', "!1 = !{}")


def hexadecimal(value: float, kind: str = "double") -> str:
    """A number as LLVM spells it exactly; one of single precision is rounded, and spelt as the double it equals."""
    rounded = ctypes.c_float(value).value if kind == "float" else value
    return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


def splat(value: float | int, lanes: int, kind: str = "double") -> str:
    """A vector constant with one value in every lane."""
    text = str(value) if kind.startswith("i") else hexadecimal(value, kind)
    return "<" + ", ".join(f"{kind} {text}" for _ in range(lanes)) + ">"


def function(head: str, lines: Sequence[str]) -> list[str]:
    """The definition of a function, such as `internal void @part(ptr %lanes)`."""
    return [f"define {head} {{", *lines, "}"]


def table(name: str, kind: str, entries: Sequence[str], align: int = 64) -> str:
    """The definition of a global array of constants."""
    listing = ", ".join(f"{kind} {entry}" for entry in entries)
    return f"{name} = internal constant [{len(entries)} x {kind}] [{listing}], align {align}"


class FunctionBuilder:
    """Instructions in order. A result gets a fresh name unless it is given one; names are returned with their %."""

    def __init__(self, prefix: str = "t") -> None:
        self.lines: list[str] = []
        self.block = ""  # the label of the block that is being written
        self.prefix = prefix  # of fresh names
        self.count = 0  # of fresh names so far

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def let(self, text: str, name: str = "") -> str:
        """The result of an instruction."""
        if not name:
            self.count += 1
            name = f"{self.prefix}{self.count}"
        self.lines.append(f"  %{name} = {text}")
        return f"%{name}"

    def at(self, pointer: str, offset: int | str, name: str = "") -> str:
        """A pointer so many bytes further on."""
        return self.let(f"getelementptr i8, ptr {pointer}, i64 {offset}", name)

    def load(self, kind: str, pointer: str, align: int = 8, mark: str = "", name: str = "") -> str:
        """What is in memory."""
        return self.let(f"load {kind}, ptr {pointer}, align {align}{mark}", name)

    def load_at(self, kind: str, pointer: str, offset: int, align: int = 8, name: str = "") -> str:
        """What is in memory, so many bytes further on."""
        return self.load(kind, self.at(pointer, offset, name and f"{name}.at"), align, name=name)

    def store(self, kind: str, value: str, pointer: str, align: int = 8) -> None:
        """Put a value into memory."""
        self.line(f"store {kind} {value}, ptr {pointer}, align {align}")

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def go(self, label: str) -> None:
        """End the block: go on at a label."""
        self.line(f"br label %{label}")

    def go_if(self, condition: str, yes: str, no: str, mark: str = "") -> None:
        """End the block: go on at one of two labels."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}{mark}")

    def phi(self, kind: str, arms: dict[str, str], name: str = "") -> str:
        """The value that belongs to the block control came from."""
        return self.let(f"phi {kind} {', '.join(f'[ {value}, %{label} ]' for label, value in arms.items())}", name)

    def go_unless_null(self, pointer: str, no: str, yes: str) -> None:
        """Go on in the block `yes` where there is memory, at the label `no` where there is none."""
        self.go_if(self.let(f"icmp eq ptr {pointer}, null"), no, yes)
        self.label(yes)

    def rounded_up(self, pointer: str, size: int = 64) -> str:
        """The first address from a pointer on that is a multiple of a size."""
        number = self.let(f"ptrtoint ptr {pointer} to i64")
        above = self.let(f"add i64 {number}, {size - 1}")
        return self.let(f"inttoptr i64 {self.let(f'and i64 {above}, -{size}')} to ptr")

    @contextmanager
    def loop(
        self, index: str, end: str, label: str, leave: str, *, first: int = 0, step: int = 1, before: str = ""
    ) -> Iterator[str]:
        """A loop that runs at least once: `index` rises from `first` by `step` while below `end`, then `leave` is the block.

        Its block `label` has to be entered by a branch that ends the current block, or the block `before`.
        """
        before = before or self.block
        if self.block != label:  # else the loop begins where another one ends
            self.label(label)
        place = len(self.lines)
        yield f"%{index}"
        following = self.let(f"add i64 %{index}, {step}", f"{index}.next")
        self.lines.insert(place, f"  %{index} = phi i64 [ {first}, %{before} ], [ {following}, %{self.block} ]")
        self.go_if(self.let(f"icmp slt i64 {following}, {end}"), label, leave)
        self.label(leave)


class Vectors:
    """Operations on vectors of one kind of number, with one lane per configuration, written through a builder."""

    def __init__(self, to: FunctionBuilder, lanes: int, real: Real) -> None:
        self.to = to
        self.lanes = lanes
        self.real = real
        self.kind = real.vector(lanes)
        self.integer_kind = f"<{lanes} x {real.integer}>"
        self.mask_kind = f"<{lanes} x i1>"
        self.size = lanes * real.bytes  # bytes

    def number(self, value: float) -> str:
        """A constant, the same in every lane."""
        return splat(value, self.lanes, self.real.name)

    def integers(self, value: int) -> str:
        """An integer constant, the same in every lane."""
        return splat(value, self.lanes, self.real.integer)

    def op(self, name: str, a: str, b: str) -> str:
        """An arithmetic operation, such as fadd."""
        return self.to.let(f"{name} {self.kind} {a}, {b}")

    def integer_op(self, name: str, a: str, b: str) -> str:
        """An operation on integers or bits, or a comparison of integers."""
        return self.to.let(f"{name} {self.integer_kind} {a}, {b}")

    def negated(self, a: str) -> str:
        """The same number with the other sign."""
        return self.to.let(f"fneg {self.kind} {a}")

    def call(self, name: str, *arguments: str) -> str:
        """A function of LLVM's, such as sqrt."""
        listing = ", ".join(f"{self.kind} {a}" for a in arguments)
        return self.to.let(f"call {self.kind} {self.real.intrinsic(name, self.lanes)}({listing})")

    def compare(self, how: str, a: str, b: str = "zeroinitializer") -> str:
        """The mask of lanes in which a comparison holds, such as olt."""
        return self.to.let(f"fcmp {how} {self.kind} {a}, {b}")

    def select(self, mask: str, a: str, b: str) -> str:
        """a where the mask is set, else b."""
        return self.to.let(f"select {self.mask_kind} {mask}, {self.kind} {a}, {self.kind} {b}")

    def any(self, mask: str) -> str:
        """Whether any lane of a mask is set."""
        bits = self.to.let(f"bitcast {self.mask_kind} {mask} to i{self.lanes}")
        return self.to.let(f"icmp ne i{self.lanes} {bits}, 0")

    def bits(self, a: str) -> str:
        """The bits of numbers, as integers."""
        return self.to.let(f"bitcast {self.kind} {a} to {self.integer_kind}")

    def from_bits(self, a: str) -> str:
        """Numbers of which the bits are given."""
        return self.to.let(f"bitcast {self.integer_kind} {a} to {self.kind}")

    def lane(self, a: str, lane: int) -> str:
        """The number in one lane."""
        return self.to.let(f"extractelement {self.kind} {a}, i32 {lane}")

    def with_lane(self, a: str, x: str, lane: int) -> str:
        """The vector with a number put into one lane."""
        return self.to.let(f"insertelement {self.kind} {a}, {self.real.name} {x}, i32 {lane}")

    def load(self, pointer: str, mark: str = "") -> str:
        """A vector in memory."""
        return self.to.load(self.kind, pointer, self.size, mark)

    def store(self, value: str, pointer: str) -> None:
        """Put a vector into memory."""
        self.to.store(self.kind, value, pointer, self.size)
