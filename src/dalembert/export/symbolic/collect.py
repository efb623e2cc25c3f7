"""Terms gathered into sums a person would write: what terms share stands before a bracket, and the shortest grouping wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from .form import ACCELERATION, COORDINATE, FUNCTION, VELOCITY, Atom, Form, Product, Sum, Term, product, size, term, total

Key: TypeAlias = Callable[[Term], tuple[Any, ...]]
_INERTIAL = 1  # place of masses, inertias and friction in the order of parameters


def _of(term: Term, *places: int) -> tuple[Any, ...]:
    return tuple((atom, power) for atom, power in term.factors if atom.order[0] in places)


def by_body(term: Term) -> tuple[Any, ...]:
    """By mass or inertia: dynamics is linear in them."""
    return _of(term, _INERTIAL)


def by_configuration(term: Term) -> tuple[Any, ...]:
    """By what depends on the configuration."""
    return _of(term, COORDINATE[0], FUNCTION[0])


def by_rates(term: Term) -> tuple[Any, ...]:
    """By velocities and accelerations."""
    return _of(term, VELOCITY[0], ACCELERATION[0])


def by_rest(term: Term) -> tuple[Any, ...]:
    """By everything but velocities and accelerations."""
    return tuple(pair for pair in term.factors if pair[0].order[0] < VELOCITY[0])


def by_all(term: Term) -> tuple[Any, ...]:
    """All together."""
    return ("all",)


def gathered(terms: Sequence[Term], keys: Sequence[Key]) -> Form:
    """The shortest of: the terms as they are, or grouped by one of the keys; an earlier key wins a draw."""
    ordered = sorted(terms, key=_reading_order)
    candidates = [grouped(ordered, key) for key in keys]
    candidates.append(_added(map(_plain, ordered)))
    return min(candidates, key=size)


def grouped(terms: Sequence[Term], key: Key) -> Form:
    """Terms of the same key together, with what they share before the bracket."""
    groups: dict[tuple[Any, ...], list[Term]] = {}
    for t in terms:
        groups.setdefault(key(t), []).append(t)
    if key is by_body:
        return _added(part for bodies, inner in _same_brackets(groups) for part in _before(bodies, inner))
    return _added(part for name, group in groups.items() for part in (factored(group) if name else map(_plain, group)))


def _same_brackets(groups: dict[tuple[Any, ...], list[Term]]) -> list[tuple[list[tuple[Any, ...]], list[Term]]]:
    """Bodies, and what each is multiplied by; those with the same bracket together."""
    found: dict[Any, tuple[list[tuple[Any, ...]], list[Term]]] = {}
    for name, group in groups.items():
        inner = [t.without(dict(name)) for t in group]
        mark = tuple(inner) if len(inner) > 1 and name else name
        found.setdefault(mark, ([], inner))[0].append(name)
    return list(found.values())


def _before(bodies: Sequence[tuple[Any, ...]], inner: Sequence[Term]) -> list[Form]:
    """Masses stand alone before their bracket: m (l² + a l c)."""
    if len(inner) == 1 or not bodies[0]:
        return [_plain(term(t.value, [*bodies[0], *t.factors])) for t in inner]
    value = _common_value([t.value for t in inner])
    bracket = _added(_plain(t._replace(value=t.value / value)) for t in sorted(inner, key=_reading_order))
    masses = [(_added(product(1.0, body) for body in bodies), 1)] if len(bodies) > 1 else bodies[0]
    return [Product(value, (*masses, (bracket, 1)))]


def factored(terms: Sequence[Term]) -> list[Form]:
    """One product, with common factors before the bracket; terms that share nothing stay apart."""
    common = _shared(terms)
    if len(terms) == 1 or not common:
        return [_plain(t) for t in terms]
    value = _common_value([t.value for t in terms])
    inner = [t.without(common)._replace(value=t.value / value) for t in terms]
    bracket = _added(_plain(t) for t in sorted(inner, key=_reading_order))
    last = max((atom.order[0] for t in inner for atom, _ in t.factors), default=-1)
    early = tuple((atom, common[atom]) for atom, _ in terms[0].factors if atom in common and atom.order[0] <= last)
    late = tuple((atom, common[atom]) for atom, _ in terms[0].factors if atom in common and atom.order[0] > last)
    return [Product(value, (*early, (bracket, 1), *late))]


def _added(terms: Iterable[Form]) -> Form:
    """A sum that begins with a positive term, where there is one."""
    kept = list(terms)
    first = next((k for k, t in enumerate(kept) if not (isinstance(t, Product) and t.value < 0)), 0)
    return total([kept[first], *kept[:first], *kept[first + 1 :]] if kept else [])


def _shared(terms: Sequence[Term]) -> dict[Atom, int]:
    first = dict(terms[0].factors)
    for t in terms[1:]:
        powers = dict(t.factors)
        first = {atom: min(power, powers[atom]) for atom, power in first.items() if powers.get(atom, 0) * power > 0}
    return {atom: power for atom, power in first.items() if power > 0}


def _common_value(values: Sequence[float]) -> float:
    """The number before the bracket: the one all share up to sign, signed so that the first term is positive."""
    sign = -1.0 if all(v < 0 for v in values) else 1.0
    sizes = {abs(v) for v in values}
    return sign * (sizes.pop() if len(sizes) == 1 else 1.0)


def _plain(t: Term) -> Form:
    return product(t.value, t.factors)


def _reading_order(t: Term) -> tuple[Any, ...]:
    """Rates outermost, then bodies, then what has no functions before what has, squares before mixed products."""
    functions = [atom.order for atom, _ in t.factors if atom.order[0] >= COORDINATE[0]]
    rest = [atom.order for atom, _ in t.factors if atom.order[0] < COORDINATE[0]]
    bodies = [order[1:] for order in rest if order[0] == _INERTIAL]
    mixed = any(power % 2 for atom, power in t.factors if atom.order[0] not in (0, _INERTIAL, 3))
    return bodies, bool(functions), mixed and bool(functions), functions, [order for order in rest if order[0] != _INERTIAL]


def by_velocity(terms: Sequence[Term], keys: Sequence[Key]) -> Form:
    """Σ coefficient · (sum of velocities): what stands with the same velocities is gathered."""
    rests: dict[tuple[Any, ...], dict[tuple[Any, ...], float]] = {}
    for t in terms:
        rests.setdefault(by_rest(t), {})[by_rates(t)] = t.value
    groups: dict[tuple[Any, ...], list[Term]] = {}
    for rest, rates in rests.items():
        ordered = sorted(rates.items(), key=lambda pair: [atom.order for atom, _ in pair[0]])
        first = ordered[0][1]
        groups.setdefault(tuple((rate, value / first) for rate, value in ordered), []).append(Term(first, rest))
    parts = [(gathered(group, keys), _velocities(rates)) for rates, group in sorted(groups.items(), key=_simple_first)]
    return with_rates(parts)


def _simple_first(item: tuple[tuple[Any, ...], list[Term]]) -> tuple[Any, ...]:
    return len(item[0]), [atom.order for rate, _ in item[0] for atom, _ in rate]


def _velocities(rates: tuple[Any, ...]) -> tuple[tuple[Form, int], ...]:
    if len(rates) == 1:
        return rates[0][0]
    return ((Sum(tuple(product(value, rate) for rate, value in rates)), 1),)


def with_rates(parts: Iterable[tuple[Form, tuple[tuple[Form, int], ...]]]) -> Form:
    """Σ coefficient · rates: a short coefficient is multiplied out, a long one stands in brackets."""
    return total(t for form, rates in parts for t in _times(form, rates))


def _times(form: Form, rates: tuple[tuple[Form, int], ...]) -> list[Form]:
    if not rates:
        return list(form.terms) if isinstance(form, Sum) else [form]
    if isinstance(form, Product):
        return [form._replace(factors=(*form.factors, *rates))] if form.value else []
    if isinstance(form, Sum) and all(isinstance(t, Product) and t.value < 0 for t in form.terms):
        return [Product(-1.0, ((Sum(tuple(map(negative, form.terms))), 1), *rates))]
    return [Product(1.0, ((form, 1), *rates))]


def negative(form: Form) -> Form:
    """−x."""
    return form._replace(value=-form.value) if isinstance(form, Product) else Product(-1.0, ((form, 1),))
