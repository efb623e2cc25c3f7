"""Expressions as people write them: names, products, sums, calls. How they look is the business of `write.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias


class Atom(NamedTuple):
    """Something with a name, or a function of something: `op` says which. `order` places it among factors."""

    name: str
    latex: str
    text: str
    order: tuple[Any, ...]
    op: str = ""
    args: tuple[Any, ...] = ()  # of Form


class Product(NamedTuple):
    """A number times factors with powers."""

    value: float
    factors: tuple[tuple[Any, int], ...] = ()  # of Form


class Sum(NamedTuple):
    """Terms added up."""

    terms: tuple[Any, ...]  # of Form


Form: TypeAlias = Atom | Product | Sum

# Where factors stand in a product: parameters first (model/numbers.py gives 0 to 3), then coordinates, functions, rates.
COORDINATE, FUNCTION, INTERMEDIATE, VELOCITY, ACCELERATION = (4,), (5,), (6,), (7,), (8,)
ZERO = Product(0.0)


class Term(NamedTuple):
    """A number times atoms with powers, in order."""

    value: float
    factors: tuple[tuple[Atom, int], ...]

    def without(self, common: dict[Atom, int]) -> Term:
        """The term divided by common factors."""
        rest = ((atom, power - common.get(atom, 0)) for atom, power in self.factors)
        return Term(self.value, tuple((atom, power) for atom, power in rest if power))

    def times(self, atom: Atom) -> Term:
        """The term with one more factor."""
        return term(self.value, [*self.factors, (atom, 1)])


def term(value: float, factors: Iterable[tuple[Atom, int]]) -> Term:
    """A term with its factors in order, equal ones together."""
    powers: dict[Atom, int] = {}
    for atom, power in factors:
        powers[atom] = powers.get(atom, 0) + power
    kept = ((atom, power) for atom, power in powers.items() if power)
    return Term(value, tuple(sorted(kept, key=lambda pair: pair[0].order)))


def product(value: float, factors: Iterable[tuple[Form, int]]) -> Form:
    """A product, or what it comes to when there is nothing to multiply."""
    kept = tuple(factors)
    return kept[0][0] if value == 1.0 and len(kept) == 1 and kept[0][1] == 1 else Product(value, kept)


def total(terms: Iterable[Form]) -> Form:
    """A sum, or what it comes to when there are less than two terms."""
    kept = tuple(t for t in terms if t != ZERO)
    return Sum(kept) if len(kept) > 1 else kept[0] if kept else ZERO


def size(form: Form) -> int:
    """How much there is to read: names and numbers."""
    if isinstance(form, Atom):
        return 1
    if isinstance(form, Product):
        return (abs(form.value) != 1.0 or not form.factors) + sum(size(factor) for factor, _ in form.factors)
    return sum(size(t) for t in form.terms)
