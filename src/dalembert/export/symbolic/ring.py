"""A normal form for what robots compute: polynomials whose coefficients are trigonometric sums.

A polynomial maps (monomial, harmonic) to a number. A monomial lists generators (masses, lengths, rates ...) with their powers. A
harmonic is a product of cosines and sines, one per group of parallel axes, each of a whole-numbered combination of that
group's angles: products within a group become sums,

    cos u cos v = ½ cos(u − v) + ½ cos(u + v)                  (1)

so equal functions have equal polynomials, c² + s² is 1, and angles about parallel axes add up by themselves.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

COS, SIN = 0, 1
_ROUNDING = 1e-13  # of the larger: a sum that cancels to that was zero

Multiples: TypeAlias = tuple[tuple[int, int], ...]  # (angle, k), sorted, the first k positive
Wave: TypeAlias = tuple[int, int, Multiples]  # group, COS or SIN, of which angle
Harmonic: TypeAlias = tuple[Wave, ...]  # one per group, sorted
Monomial: TypeAlias = tuple[tuple[int, int], ...]  # (generator, power), sorted
Polynomial: TypeAlias = dict[tuple[Monomial, Harmonic], float]

ONE: tuple[Monomial, Harmonic] = ((), ())


def constant(value: float) -> Polynomial:
    """A number."""
    return {ONE: value} if value else {}


def generator(index: int, power: int = 1) -> Polynomial:
    """A generator, or a power of it."""
    return {(((index, power),), ()): 1.0}


def wave(group: int, kind: int, multiples: Multiples) -> Polynomial:
    """The cosine or sine of a sum of multiples of angles, sorted."""
    sign, positive = canonical(multiples)
    return {((), ((group, kind, positive),)): 1.0 if kind == COS else float(sign)}


def add(a: Polynomial, b: Polynomial, factor: float = 1.0) -> Polynomial:
    """a + factor b."""
    total = dict(a)
    for key, value in b.items():
        _increase(total, key, value * factor)
    return total


def _increase(total: Polynomial, key: tuple[Monomial, Harmonic], value: float) -> None:
    old = total.get(key, 0.0)
    new = old + value
    if abs(new) <= _ROUNDING * abs(value) or (old and abs(new) <= _ROUNDING * abs(old)):
        total.pop(key, None)
    else:
        total[key] = new


def scale(a: Polynomial, factor: float) -> Polynomial:
    """A multiple."""
    return {key: value * factor for key, value in a.items()} if factor else {}


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """a b."""
    total: Polynomial = {}
    for (monomial_a, harmonic_a), value_a in a.items():
        for (monomial_b, harmonic_b), value_b in b.items():
            monomial = _monomials(monomial_a, monomial_b)
            for harmonic, share in _harmonics(harmonic_a, harmonic_b):
                _increase(total, (monomial, harmonic), value_a * value_b * share)
    return total


@cache
def _monomials(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for index, power in b:
        powers[index] = powers.get(index, 0) + power
    return tuple(sorted((index, power) for index, power in powers.items() if power))


@cache
def _harmonics(a: Harmonic, b: Harmonic) -> tuple[tuple[Harmonic, float], ...]:
    """The product of two harmonics, group by group (1)."""
    if not a or not b:
        return ((a or b, 1.0),)
    waves = {w[0]: w for w in a}
    shared = {w[0] for w in b if w[0] in waves}
    fixed = tuple(w for w in (*a, *b) if w[0] not in shared)
    found: dict[Harmonic, float] = {tuple(sorted(fixed)): 1.0}
    for w in b:
        if w[0] in shared:
            sums = _waves(waves[w[0]], w)
            found = {
                tuple(sorted((*known, extra) if extra[2] else known)): share * value
                for known, share in found.items()
                for extra, value in sums
            }
    return tuple(found.items())


@cache
def _waves(a: Wave, b: Wave) -> tuple[tuple[Wave, float], ...]:
    """The product of two waves of a group as a sum; a cosine of nothing stands for 1."""
    group, first, u = a
    _, second, v = b
    difference, total = combined(u, v, -1), combined(u, v, 1)
    if first == second:
        pairs = [(COS, difference, 0.5), (COS, total, 0.5 if first == COS else -0.5)]
    else:
        pairs = [(SIN, total, 0.5), (SIN, difference, 0.5 if first == SIN else -0.5)]
    result: dict[Wave, float] = {}
    for kind, multiples, share in pairs:
        sign, positive = canonical(multiples)
        if kind == SIN and not positive:
            continue
        key = (group, kind, positive)
        result[key] = result.get(key, 0.0) + share * (sign if kind == SIN else 1.0)
    return tuple((key, value) for key, value in result.items() if value)


def combined(u: Multiples, v: Multiples, sign: int) -> Multiples:
    """u ± v."""
    total = dict(u)
    for angle, k in v:
        total[angle] = total.get(angle, 0) + sign * k
    return tuple(sorted((angle, k) for angle, k in total.items() if k))


def canonical(multiples: Multiples) -> tuple[int, Multiples]:
    """The sign that makes the first multiple positive, and the multiples with it."""
    if multiples and multiples[0][1] < 0:
        return -1, tuple((angle, -k) for angle, k in multiples)
    return 1, multiples
