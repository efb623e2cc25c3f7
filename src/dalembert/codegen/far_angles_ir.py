"""Angles out of reach of the vector sine, brought back as LLVM IR: the remainder of π/2, right to its last bit for every x.

x 2/π modulo 4 needs only those bits of 2/π that neither make multiples of 4 with every bit of x nor vanish beside the result
[Payne1983]. The exponent of x picks a row of a table: with X = x 2^(−s j) and C the fraction of 2^(s j) 2/π, the product X C
differs from x 2/π by a multiple of 4, for j > 0 since X is one.

Double precision: rows of four doubles, 212 bits, s = 32. Fused multiply-adds split their products with X into two doubles each
without error, and these are added without error down to 2^−120. No double comes nearer to a multiple of π/2 than 2^−62
[Muller2016, ch. 11], so even there the remainder is rounded but once. Single precision, in doubles: rows of two, s = 16, an
error of 2^−65, and no number nearer than 2^−34.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from . import sincos_ir
from .ir import FunctionBuilder, Vectors, function, hexadecimal
from .precision import DOUBLE, SINGLE, Real
from .rows_ir import Rows


@dataclass(frozen=True)
class ReductionTable:
    """Rows of so many doubles, one for every so many bits of 2/π, as many as its bytes; `first` is the exponent of X from the
    second row on, at which one unit in the last place of x is 4; `last` is the largest of x.
    """

    parts: int
    first: int
    last: int

    @property
    def step(self) -> int:
        """Bits of 2/π from row to row."""
        return 8 * self.parts

    @property
    def end(self) -> int:
        """Bits, or bytes, before the last row."""
        return (self.last - self.first) // self.step * self.step

    @cached_property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """For each row j the fraction of 2^(s j) 2/π as a sum of doubles, each the nearest to what those before leave."""
        return tuple(_as_doubles((_TWO_OVER_PI << bits) % (1 << _BITS), self.parts) for bits in range(0, self.end + 1, self.step))


_HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
TABLES = {DOUBLE: ReductionTable(4, 54, 1023), SINGLE: ReductionTable(2, 25, 127)}
_BITS = 1264  # of 2/π: those of the last row, and 92 more
_TWO_OVER_PI = int(
    "A2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA09D1921CFE1DEB1CB1"
    "29A73EE88235F52EBB4484E99C7026B45F7E413991D639835339F49C845F8BBDF9283B1FF897FFDE05980FEF2F118B5A0A6D1F6D36"
    "7ECF27CB09B74F463F669E5FEA2D7527BAC7EBE5F17B3D0739F78A5292EA6BFB5FB11F8D5D0856033046FC7B6BABF0CFBC209AF4",
    16,
)


@cache
def functions(lanes: int, real: Real = DOUBLE) -> tuple[str, ...]:
    """`@bring_near(angles, count)`: some vectors, then room for as many; lanes beyond reach are replaced by their remainders.

    The second half tells which multiple of π/2 was left out, as the number that rounds to integers by being added, and that
    multiple added to it: so sincos_ir.py takes it into account without a further operation.
    """
    return (*_declarations(lanes), _table(real), *_RemainderCode(lanes, real).emit())


def _declarations(lanes: int) -> list[str]:
    D = DOUBLE.vector(lanes)
    return [
        f"declare {D} {DOUBLE.intrinsic('fma', lanes)}({D}, {D}, {D})",
        f"declare {D} {DOUBLE.intrinsic('rint', lanes)}({D})",
    ]


def _as_doubles(fraction: int, count: int) -> tuple[float, ...]:
    parts = []
    for _ in range(count):
        parts.append(fraction / (1 << _BITS))  # Python rounds a quotient of integers correctly
        numerator, denominator = parts[-1].as_integer_ratio()
        fraction -= (numerator << _BITS) // denominator
    return tuple(parts)


def _table(real: Real) -> str:
    numbers = [f"double {hexadecimal(x)}" for row in TABLES[real].rows for x in row]
    return f"@turns = internal unnamed_addr constant [{len(numbers)} x double] [{', '.join(numbers)}], align 64"


class _RemainderCode:
    """The function, in double precision whatever the angles are in."""

    def __init__(self, lanes: int, real: Real) -> None:
        self.table = TABLES[real]
        self.code = FunctionBuilder()
        self.angles = Vectors(self.code, lanes, real)
        self.v = Vectors(self.code, lanes, DOUBLE)

    def emit(self) -> list[str]:
        """One angle per turn; where no lane is far, only that test is made."""
        code, angles = self.code, self.angles
        code.label("entry")
        code.go("angle")
        with code.loop("i", "%count", "angle", "done") as i:
            x_at = code.let(f"getelementptr {angles.kind}, ptr %angles, i64 {i}")
            magic_at = code.let(f"getelementptr {angles.kind}, ptr {x_at}, i64 %count")
            x = angles.load(x_at)
            far = sincos_ir.emit_far(angles, x)
            code.go_if(angles.any(far), "far", "near")
            code.label("far")
            k, r = self._brought(x, far)
            angles.store(r, x_at)
            code.go("near")
            code.label("near")
            k = code.phi(angles.kind, {"far": k, "angle": "zeroinitializer"})
            angles.store(angles.op("fadd", angles.number(sincos_ir.magic(angles.real)), k), magic_at)
        code.line("ret void")
        return function("internal void @bring_near(ptr noalias %angles, i64 %count) cold noinline", code.lines)

    def _brought(self, x: str, far: str) -> tuple[str, str]:
        """k and r in the lanes that are far, 0 and x in the others."""
        angles, to_single = self.angles, f"{self.v.kind} {{}} to {self.angles.kind}"
        if angles.real is DOUBLE:
            k, r = self._remainder(x)
        else:
            wide = self.code.let(f"fpext {angles.kind} {x} to {self.v.kind}")
            k, r = (self.code.let(f"fptrunc {to_single.format(y)}") for y in self._remainder_of_single(wide))
        return angles.select(far, k, "zeroinitializer"), angles.select(far, r, x)

    def _remainder(self, x: str) -> tuple[str, str]:
        """k, the nearest integer to x 2/π but for a multiple of 4, and r = x − k π/2, |r| ≤ π/4."""
        X, parts = self._scaled(x)
        (p0, e0), (p1, e1), (p2, e2) = (self._product(X, part) for part in parts[:3])
        p3 = self._op("fmul", X, parts[3])
        # All but p0 may have bits below 2^−49: these apart, the sum of the rest is exact, and so is that of the bits.
        (h1, l1), (h2, l2) = (self._cut(self._modulo_4(p)) for p in (e0, p1))
        turns = self._op("fadd", self._op("fadd", self._modulo_4(p0), h1), h2)
        k = self._rint(turns)
        s, tails = self._op("fsub", turns, k), [e2, p3]
        for term in (e1, p2, self._op("fadd", l1, l2)):
            s, tail = self._sum(s, term)
            tails.append(tail)
        tail = tails[0]
        for other in tails[1:]:
            tail = self._op("fadd", tail, other)
        return k, self._times_half_pi(s, tail)

    def _remainder_of_single(self, x: str) -> tuple[str, str]:
        """The same of numbers that were single; k is the nearest but for 2^−12."""
        X, (upper, lower) = self._scaled(x)
        p, e = self._product(X, upper)
        turns = self._modulo_4(p)
        k = self._rint(turns)
        s = self._op("fadd", self._op("fsub", turns, k), self._fma(X, lower, e))
        return k, self._op("fmul", s, self._number(_HALF_PI[0]))

    def _scaled(self, x: str) -> tuple[str, list[str]]:
        """X, and C as a sum; there is a row for every x, whatever it is."""
        v, table = self.v, self.table
        bits = v.integer_op("and", v.bits(x), v.integers(0x7FF << 52))
        exponent = v.integer_op("lshr", bits, v.integers(52))
        beyond = v.integer_op("sub", exponent, v.integers(1023 + table.first))
        place = v.integer_op("and", self._bounded(beyond, table.end), v.integers(-table.step))
        negative = v.integer_op("sub", v.integers(1023), place)
        power = v.from_bits(v.integer_op("shl", negative, v.integers(52)))
        places = [self.code.let(f"extractelement {v.integer_kind} {place}, i32 {lane}") for lane in range(v.lanes)]
        rows = [self.code.at("@turns", place) for place in places]
        run = min(table.parts, v.lanes)
        parts = [part for first in range(0, table.parts, run) for part in Rows(v).load(rows, first, run, "")]
        return v.op("fmul", x, power), parts

    def _bounded(self, value: str, most: int) -> str:
        """An integer brought within 0 and the most there may be."""
        v = self.v
        for how, bound in (("sgt", "zeroinitializer"), ("slt", v.integers(most))):
            inside = v.integer_op(f"icmp {how}", value, bound)
            value = self.code.let(f"select {v.mask_kind} {inside}, {v.integer_kind} {value}, {v.integer_kind} {bound}")
        return value

    def _product(self, a: str, b: str) -> tuple[str, str]:
        """a b without error: rounded, and what is left."""
        p = self._op("fmul", a, b)
        return p, self._fma(a, b, self.v.negated(p))

    def _sum(self, a: str, b: str) -> tuple[str, str]:
        """a + b without error [Knuth1997, sec. 4.2.2, theorem B]."""
        s = self._op("fadd", a, b)
        b_found = self._op("fsub", s, a)
        a_found = self._op("fsub", s, b_found)
        return s, self._op("fadd", self._op("fsub", a, a_found), self._op("fsub", b, b_found))

    def _modulo_4(self, a: str) -> str:
        """a less a multiple of 4, within [−2, 2]."""
        quarters = self._rint(self._op("fmul", a, self._number(0.25)))
        return self._fma(quarters, self._number(-4.0), a)

    def _cut(self, a: str) -> tuple[str, str]:
        """A multiple of 2^−49, and the rest, for |a| ≤ 2."""
        grid = self._number(1.5 * 2**3)
        high = self._op("fsub", self._op("fadd", a, grid), grid)
        return high, self._op("fsub", a, high)

    def _times_half_pi(self, s: str, tail: str) -> str:
        """(s + tail) π/2, rounded once."""
        upper, lower = map(self._number, _HALF_PI)
        high = self._op("fadd", s, tail)
        low = self._op("fsub", tail, self._op("fsub", high, s))
        p, e = self._product(high, upper)
        return self._op("fadd", p, self._fma(high, lower, self._fma(low, upper, e)))

    def _op(self, name: str, a: str, b: str) -> str:
        return self.v.op(name, a, b)

    def _fma(self, a: str, b: str, c: str) -> str:
        return self.v.call("fma", a, b, c)

    def _rint(self, a: str) -> str:
        return self.v.call("rint", a)

    def _number(self, value: float) -> str:
        return self.v.number(value)
