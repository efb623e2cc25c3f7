"""Sine and cosine of a vector register as LLVM IR: reduction by π/2 in three steps, then two polynomials.

With k the nearest integer to 2x/π and r = x − k π/2, |r| ≤ π/4, sin x and cos x are ± sin r or ± cos r by the last two bits
of k. π/2 is subtracted as a sum of three numbers, the first two with 33 significant bits, so that their products with
k < 2²⁰ are exact with or without fused multiply-add; that holds for |x| ≤ 1e5 and more [Cody1980, ch. 8]. Beyond, the caller
takes the C library's functions. The polynomials are those of degree 13 and 14 by [Sun1993] (fdlibm): the error stays
below one unit in the last place. NaN and infinity give NaN.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

REACH = 1e5
_MAGIC = 6755399441055744.0  # 1.5 · 2⁵²: adding it rounds to an integer, whose bits are then the lowest of the sum
_TWO_OVER_PI = 6.36619772367581382433e-01
_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def hexadecimal(value: float) -> str:
    """A double as LLVM spells it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def splat(value: float | int, lanes: int, kind: str = "double") -> str:
    """A vector constant with one value in every lane."""
    text = hexadecimal(value) if kind == "double" else str(value)
    return "<" + ", ".join(f"{kind} {text}" for _ in range(lanes)) + ">"


def emit(x: str, let: Callable[[str], str], lanes: int) -> tuple[str, str]:
    """Write the computation through `let` (text to register name); the registers of sin x and cos x, for |x| within reach."""
    D, L = f"<{lanes} x double>", f"<{lanes} x i64>"

    def c(value: float) -> str:
        return splat(value, lanes)

    def i(value: int) -> str:
        return splat(value, lanes, "i64")

    shifted = let(f"fadd {D} {let(f'fmul {D} {x}, {c(_TWO_OVER_PI)}')}, {c(_MAGIC)}")
    k = let(f"fsub {D} {shifted}, {c(_MAGIC)}")
    r = x
    for part in _HALF_PI:
        r = let(f"fsub contract {D} {r}, {let(f'fmul contract {D} {k}, {c(part)}')}")
    sin_r, cos_r = _polynomials(r, let, D, lanes)
    bits = let(f"bitcast {D} {shifted} to {L}")
    odd = let(f"icmp slt {L} {let(f'shl {L} {bits}, {i(63)}')}, zeroinitializer")
    swapped_sin = let(f"select <{lanes} x i1> {odd}, {D} {cos_r}, {D} {sin_r}")
    swapped_cos = let(f"select <{lanes} x i1> {odd}, {D} {sin_r}, {D} {cos_r}")

    def signed(value: str, quadrant: str) -> str:
        """Flip the sign where the second bit of the quadrant is set."""
        sign = let(f"and {L} {let(f'shl {L} {quadrant}, {i(62)}')}, {i(-(2**63))}")
        flipped = let(f"xor {L} {let(f'bitcast {D} {value} to {L}')}, {sign}")
        return let(f"bitcast {L} {flipped} to {D}")

    return signed(swapped_sin, bits), signed(swapped_cos, let(f"add {L} {bits}, {i(1)}"))


def emit_far(x: str, let: Callable[[str], str], lanes: int) -> str:
    """The mask of lanes out of reach; NaN is not."""
    D = f"<{lanes} x double>"
    return let(f"fcmp ogt {D} {let(f'call {D} @llvm.fabs.v{lanes}f64({D} {x})')}, {splat(REACH, lanes)}")


def _polynomials(r: str, let: Callable[[str], str], D: str, lanes: int) -> tuple[str, str]:
    """sin r = r + r³ P(r²) and cos r = 1 − r²/2 + r⁴ Q(r²) on |r| ≤ π/4."""
    z = let(f"fmul {D} {r}, {r}")
    P, Q = (_horner(z, coefficients, let, D, lanes) for coefficients in (_SIN, _COS))
    cube = let(f"fmul {D} {r}, {z}")
    sine = let(f"fadd contract {D} {r}, {let(f'fmul contract {D} {cube}, {P}')}")
    half = let(f"fmul contract {D} {z}, {splat(0.5, lanes)}")
    start = let(f"fsub contract {D} {splat(1.0, lanes)}, {half}")
    tail = let(f"fmul contract {D} {let(f'fmul {D} {z}, {z}')}, {Q}")
    return sine, let(f"fadd contract {D} {start}, {tail}")


def _horner(z: str, coefficients: tuple[float, ...], let: Callable[[str], str], D: str, lanes: int) -> str:
    value = splat(coefficients[-1], lanes)
    for coefficient in reversed(coefficients[:-1]):
        value = let(f"fadd contract {D} {let(f'fmul contract {D} {value}, {z}')}, {splat(coefficient, lanes)}")
    return value
