"""What each primitive means, over numbers of any precision."""

from __future__ import annotations

import mpmath

EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "atan2": mpmath.atan2,
    "abs": abs,
    "sign": mpmath.sign,
    "min": min,
    "max": max,
    "lt": lambda a, b: mpmath.mpf(a < b),
    "le": lambda a, b: mpmath.mpf(a <= b),
    "eq": lambda a, b: mpmath.mpf(a == b),
    "where": lambda c, a, b: a if c != 0 else b,
}
