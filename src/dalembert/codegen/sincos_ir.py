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

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass

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


def hexadecimal(value: float, kind: str = "double") -> str:
    """A number as LLVM spells it exactly; one of single precision is rounded, and spelt as the double it equals."""
    rounded = ctypes.c_float(value).value if kind == "float" else value
    return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


def splat(value: float | int, lanes: int, kind: str = "double") -> str:
    """A vector constant with one value in every lane."""
    text = str(value) if kind.startswith("i") else hexadecimal(value, kind)
    return "<" + ", ".join(f"{kind} {text}" for _ in range(lanes)) + ">"


def emit(
    x: str, magic: str, let: Callable[[str], str], lanes: int, real: Real, number: Callable[[float], str]
) -> tuple[str, str]:
    """Write the computation through `let` (text to register name); the registers of sin x and cos x, for |x| within reach.

    `magic` is the number that rounds to integers by being added, and with it a multiple of π/2 by which x is too small;
    `number` spells a constant operand.
    """
    return _SincosCode(let, lanes, real, number).sincos(x, magic)


def emit_far(x: str, let: Callable[[str], str], lanes: int, real: Real = DOUBLE) -> str:
    """The mask of lanes out of reach; NaN is not."""
    D = real.vector(lanes)
    size = let(f"call {D} {real.intrinsic('fabs', lanes)}({D} {x})")
    return let(f"fcmp ogt {D} {size}, {splat(_METHODS[real].reach, lanes, real.name)}")


def emit_any(mask: str, let: Callable[[str], str], lanes: int) -> str:
    """Whether any lane of a mask is set."""
    return let(f"icmp ne i{lanes} {let(f'bitcast <{lanes} x i1> {mask} to i{lanes}')}, 0")


class _SincosCode:
    """The steps, written through `let`."""

    def __init__(self, let: Callable[[str], str], lanes: int, real: Real, number: Callable[[float], str]) -> None:
        self.let = let
        self.number = number
        self.lanes = lanes
        self.real = real
        self.method = _METHODS[real]
        self.D, self.L = real.vector(lanes), f"<{lanes} x {real.integer}>"

    def sincos(self, x: str, magic: str) -> tuple[str, str]:
        """With k odd the two change places and r its sign; then both change sign where k's second bit is set."""
        bits, r = self._reduced(x, magic)
        top = 8 * self.real.bytes - 1
        parity = self.let(f"shl {self.L} {bits}, {self._integers(top)}")
        odd = self.let(f"icmp slt {self.L} {parity}, zeroinitializer")
        second = self.let(f"shl {self.L} {bits}, {self._integers(top - 1)}")
        sign = self.let(f"and {self.L} {second}, {self._integers(-(2**top))}")
        s, c = self._polynomials(self._flipped(r, parity))
        sine = self.let(f"select <{self.lanes} x i1> {odd}, {self.D} {c}, {self.D} {s}")
        cosine = self.let(f"select <{self.lanes} x i1> {odd}, {self.D} {s}, {self.D} {c}")
        return self._flipped(sine, sign), self._flipped(cosine, sign)

    def _reduced(self, x: str, magic: str) -> tuple[str, str]:
        """The bits of k and of what magic has beside, and r."""
        shifted = self._fma(x, self.number(_TWO_OVER_PI), magic)
        k = self.let(f"fsub {self.D} {shifted}, {magic}")
        r = x
        for part in self.method.half_pi:
            r = self._fma(k, self.number(-part), r)
        return self.let(f"bitcast {self.D} {shifted} to {self.L}"), r

    def _polynomials(self, r: str) -> tuple[str, str]:
        z = self.let(f"fmul {self.D} {r}, {r}")
        square = self.let(f"fmul {self.D} {z}, {z}")
        S, C = (self._polynomial(z, square, c) for c in (self.method.sine, self.method.cosine))
        cube = self.let(f"fmul {self.D} {r}, {z}")
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
        product = self.let(f"fmul contract {self.D} {a}, {b}")
        return self.let(f"fadd contract {self.D} {product}, {c}")

    def _flipped(self, value: str, signs: str) -> str:
        bits = self.let(f"bitcast {self.D} {value} to {self.L}")
        flipped = self.let(f"xor {self.L} {bits}, {signs}")
        return self.let(f"bitcast {self.L} {flipped} to {self.D}")

    def _integers(self, value: int) -> str:
        return splat(value, self.lanes, self.real.integer)
