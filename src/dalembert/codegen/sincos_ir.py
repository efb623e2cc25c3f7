"""Sine and cosine of a vector register as LLVM IR: reduction by π/2 in steps, then two polynomials.

With k the nearest integer to 2x/π and r = x − k π/2, |r| ≤ π/4, sin x and cos x are ± sin r or ± cos r by the last two bits
of k. π/2 is subtracted as a sum of numbers of which all but the last are so short that their products with k are exact with or
without fused multiply-add, for every x within reach [Cody1980, ch. 8]. Angles beyond are brought back first, by far_angles_ir.py.

Double precision: three parts, the first two of 37 bits, for |x| ≤ 1e5; the polynomials are those of degree 13 and 14 by
[Sun1993] (fdlibm). Single precision: four parts, the first three of 11 bits, for |x| ≤ 1e4; polynomials of degree 7 and 8
with the least largest error, fitted for this module. Errors stay below two units in the last place, in single precision
below two and a half (below two for |x| ≤ 100). NaN and infinity give NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .ir import Vectors
from .precision import DOUBLE, SINGLE, Real

_TWO_OVER_PI = 6.36619772367581382433e-01


@dataclass(frozen=True)
class _Method:
    """The numbers of a precision: sin r = r + r³ S(r²), cos r = C(r²)."""

    reach: float
    magic: float  # 1.5 · 2^(bits of the significand): adding it rounds to an integer, whose bits are then the lowest of the sum
    half_pi: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


_METHODS = {
    DOUBLE: _Method(
        1e5,
        1.5 * 2**52,
        (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23),
        (
            -1.66666666666666324348e-01,
            8.33333333332248946124e-03,
            -1.98412698298579493134e-04,
            2.75573137070700676789e-06,
            -2.50507602534068634195e-08,
            1.58969099521155010221e-10,
        ),
        (
            1.0,
            -0.5,
            4.16666666666666019037e-02,
            -1.38888888888741095749e-03,
            2.48015872894767294178e-05,
            -2.75573143513906633035e-07,
            2.08757232129817482790e-09,
            -1.13596475577881948265e-11,
        ),
    ),
    SINGLE: _Method(
        1e4,
        1.5 * 2**23,
        (1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.5633440682570896e-12),
        (-0.16666655242443085, 0.008332189172506332, -0.00019518285989761353),
        (1.0, -0.5, 0.04166664555668831, -0.0013887309469282627, 2.4432327336398885e-05),
    ),
}
REACH = _METHODS[DOUBLE].reach


def magic(real: Real) -> float:
    """The number that rounds to integers by being added."""
    return _METHODS[real].magic


def emit(vectors: Vectors, x: str, magic: str, number: Callable[[float], str]) -> tuple[str, str]:
    """Write the computation; the registers of sin x and cos x, for |x| within reach.

    `magic` is the number that rounds to integers by being added, plus how many times π/2 was taken from x before;
    `number` gives a constant operand.
    """
    return _SincosCode(vectors, number).sincos(x, magic)


def emit_far(vectors: Vectors, x: str) -> str:
    """The mask of lanes out of reach; NaN is not."""
    return vectors.compare("ogt", vectors.call("fabs", x), vectors.number(_METHODS[vectors.real].reach))


class _SincosCode:
    """The steps of the computation."""

    def __init__(self, vectors: Vectors, number: Callable[[float], str]) -> None:
        self.v = vectors
        self.number = number
        self.method = _METHODS[vectors.real]

    def sincos(self, x: str, magic: str) -> tuple[str, str]:
        """With k odd the two change places and r its sign; then both change sign where k's second bit is set."""
        v = self.v
        bits, r = self._reduced(x, magic)
        top = 8 * v.real.bytes - 1
        parity = v.integer_op("shl", bits, v.integers(top))
        odd = v.integer_op("icmp slt", parity, "zeroinitializer")
        second = v.integer_op("shl", bits, v.integers(top - 1))
        sign = v.integer_op("and", second, v.integers(-(2**top)))
        s, c = self._polynomials(self._flipped(r, parity))
        sine, cosine = v.select(odd, c, s), v.select(odd, s, c)
        return self._flipped(sine, sign), self._flipped(cosine, sign)

    def _reduced(self, x: str, magic: str) -> tuple[str, str]:
        """The bits of k and of what magic has beside, and r."""
        shifted = self._fma(x, self.number(_TWO_OVER_PI), magic)
        k = self.v.op("fsub", shifted, magic)
        r = x
        for part in self.method.half_pi:
            r = self._fma(k, self.number(-part), r)
        return self.v.bits(shifted), r

    def _polynomials(self, r: str) -> tuple[str, str]:
        z = self.v.op("fmul", r, r)
        square = self.v.op("fmul", z, z)
        S, C = (self._polynomial(z, square, c) for c in (self.method.sine, self.method.cosine))
        cube = self.v.op("fmul", r, z)
        return self._fma(cube, S, r), C

    def _polynomial(self, z: str, square: str, coefficients: tuple[float, ...]) -> str:
        """In z² with coefficients a + b z: as many operations as by Horner's rule in z, half as long a chain."""
        c = [self.number(x) for x in coefficients]
        pairs = [self._fma(b, z, a) for a, b in zip(c[::2], c[1::2], strict=False)]
        value, *lower = [*c[len(c) - len(c) % 2 :], *reversed(pairs)]
        for pair in lower:
            value = self._fma(value, square, pair)
        return value

    def _fma(self, a: str, b: str, c: str) -> str:
        """a b + c, fused where the processor can."""
        return self.v.op("fadd contract", self.v.op("fmul contract", a, b), c)

    def _flipped(self, value: str, signs: str) -> str:
        """The sign changed where the highest bit is set."""
        return self.v.from_bits(self.v.integer_op("xor", self.v.bits(value), signs))
