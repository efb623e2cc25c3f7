"""Sums of cosines and sines written short: products where they say the same in less.

Two waves of a group make a product,

    cos u + cos v = 2 cos ½(u + v) cos ½(u − v),   cos u − cos v = −2 sin ½(u + v) sin ½(u − v)      (1)
    sin u + sin v = 2 sin ½(u + v) cos ½(u − v),   sin u − sin v =  2 cos ½(u + v) sin ½(u − v)      (2)

which is how ½ + ½ cos 2q becomes cos² q, and ½ cos q₃ + ½ cos(2q₂ + q₃) becomes c₂ c₂₃. Sums of up to a few waves are tried in
all ways; the cheapest to write wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from .ring import COS, SIN, Harmonic, Multiples, canonical, combined

_MOST = 6  # waves beyond which a sum is left as it is
_CLOSE = 1e-12

Factor: TypeAlias = tuple[int, Multiples]  # COS or SIN of an angle
Factors: TypeAlias = tuple[tuple[Factor, int], ...]  # with powers, sorted
Sum: TypeAlias = tuple[tuple[Factor, float], ...]  # waves of one group with coefficients; cos of nothing is 1
_CONSTANT: Factor = (COS, ())


class WrittenWaves(NamedTuple):
    """A sum of products, and what it costs to write."""

    terms: tuple[tuple[Factors, float], ...]
    cost: float


def shortest(sums: dict[Harmonic, float]) -> list[tuple[Factors, float]]:
    """A sum of harmonics as a short sum of products; a constant is split off where the rest gets shorter by it."""
    best = _groups(sums)
    if () in sums and len(sums) > 2:
        for part in (1.0, -1.0, 2.0, -2.0, 0.5, -0.5):
            shifted = {**sums, (): sums[()] - part}
            rest = _groups({key: value for key, value in shifted.items() if value})
            if _price(rest) + _term_cost(()) < _price(best):
                best = {**rest, (): rest.get((), 0.0) + part}
    return [(factors, value) for factors, value in best.items() if value]


def _price(terms: dict[Factors, float]) -> float:
    return sum(_term_cost(factors) for factors in terms)


def _groups(sums: dict[Harmonic, float]) -> dict[Factors, float]:
    """Group by group: the waves of one group that share everything else are written as products."""
    state: dict[Factors, dict[Harmonic, float]] = {(): sums} if sums else {}
    for group in sorted({wave[0] for harmonic in sums for wave in harmonic}):
        following: dict[Factors, dict[Harmonic, float]] = {}
        for done, remaining in state.items():
            for rest, waves in _by_rest(remaining, group).items():
                for factors, value in write(tuple(sorted(waves.items()))).terms:
                    into = following.setdefault(tuple(sorted((*done, *factors))), {})
                    into[rest] = into.get(rest, 0.0) + value
        state = following
    return {factors: remaining[()] for factors, remaining in state.items()}


def _by_rest(remaining: dict[Harmonic, float], group: int) -> dict[Harmonic, dict[Factor, float]]:
    found: dict[Harmonic, dict[Factor, float]] = {}
    for harmonic, value in remaining.items():
        rest = tuple(wave for wave in harmonic if wave[0] != group)
        own = next(((wave[1], wave[2]) for wave in harmonic if wave[0] == group), _CONSTANT)
        found.setdefault(rest, {})[own] = value
    return found


@cache
def write(waves: Sum) -> WrittenWaves:
    """The shortest way found to write a sum of waves of one group."""
    plain = _written([((((factor, 1),) if factor[1] else ()), value) for factor, value in waves])
    odd = [factor for factor, _ in waves if _is_odd(factor)]
    if not odd or len(waves) > _MOST:
        return plain
    best = plain
    for first, rest in _pairings(odd[0], dict(waves)):
        tail = write(tuple(sorted(rest.items())))
        whole = _written([*first, *tail.terms])
        if whole.cost < best.cost:
            best = whole
    return best


def _written(terms: list[tuple[Factors, float]]) -> WrittenWaves:
    total: dict[Factors, float] = {}
    for factors, value in terms:
        total[factors] = total.get(factors, 0.0) + value
    kept = tuple((factors, value) for factors, value in total.items() if value)
    return WrittenWaves(kept, sum(_term_cost(factors) for factors, _ in kept))


def _term_cost(factors: Factors) -> float:
    return 1.5 + sum(2.5 if _is_odd(factor) else 1.0 for factor, _ in factors)


def _is_odd(factor: Factor) -> bool:
    """A multiple of an angle, which nobody has a short name for."""
    return any(abs(k) > 1 for _, k in factor[1])


def _pairings(odd: Factor, waves: dict[Factor, float]) -> Iterator[tuple[list[tuple[Factors, float]], dict[Factor, float]]]:
    """Ways to make one wave part of a product (1), (2), or to leave it: terms made, waves left."""
    kind, u = odd
    a = waves[odd]
    others = {factor: value for factor, value in waves.items() if factor != odd}
    yield [(((odd, 1),), a)], others
    for factor in sorted({*others, *({(kind, ())} if kind == COS else ())}):
        if factor[0] == kind:
            for sign in (1, -1):
                made = _product(kind, u, factor[1], sign)
                if made is not None:
                    factors, share = made
                    left = others.get(factor, 0.0) - sign * a
                    yield [(factors, a * share)], _with(others, factor, left, abs(a))
    if kind == SIN and all(k % 2 == 0 for _, k in u):
        half = _half(u)
        yield [(_factors((SIN, half), (COS, half)), 2.0 * a)], others


def _with(waves: dict[Factor, float], factor: Factor, value: float, scale: float) -> dict[Factor, float]:
    rest = {key: old for key, old in waves.items() if key != factor}
    return rest if abs(value) <= _CLOSE * scale else {**rest, factor: value}


def _product(kind: int, u: Multiples, v: Multiples, sign: int) -> tuple[Factors, float] | None:
    """u's wave plus (or minus) v's as a product and its factor, where the halves are whole."""
    if kind == SIN and not v:
        return None
    total, difference = combined(u, v, 1), combined(u, v, -1)
    if any(k % 2 for _, k in total):
        return None
    p, m = _half(total), _half(difference)
    kinds, share = {(COS, 1): ((COS, COS), 2.0), (COS, -1): ((SIN, SIN), -2.0)}.get(
        (kind, sign), ((SIN, COS) if sign > 0 else (COS, SIN), 2.0)
    )
    factors, flip = [], 1.0
    for which, angle in zip(kinds, (p, m), strict=True):
        turned, positive = canonical(angle)
        if which == SIN:
            flip *= turned
            if not positive:
                return None
        if positive:
            factors.append((which, positive))
    return _factors(*factors), share * flip


def _half(multiples: Multiples) -> Multiples:
    return tuple((angle, k // 2) for angle, k in multiples)


def _factors(*factors: Factor) -> Factors:
    powers: dict[Factor, int] = {}
    for factor in factors:
        powers[factor] = powers.get(factor, 0) + 1
    return tuple(sorted(powers.items()))
