"""Closed forms of the equations of motion: M, Christoffel symbols and g read from the graph, the torque made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product as all_pairs
from typing import Any, NamedTuple, TypeAlias

from . import ring
from .collect import by_all, by_body, by_configuration, by_rates, by_velocity, gathered, with_rates
from .form import ACCELERATION, Form, Product, Term, size
from .names import state_atom
from .reading import Reader
from .ring import Polynomial


class Block(NamedTuple):
    """A quantity as forms, in C order."""

    shape: tuple[int, ...]
    forms: tuple[Form, ...]


class Polynomials(NamedTuple):
    """A quantity as polynomials, in C order."""

    shape: tuple[int, ...]
    entries: list[Polynomial]


Read: TypeAlias = Mapping[str, Polynomials]
_KEYS = (by_configuration, by_body, by_all)


def closed(name: str, read: Read, reader: Reader, n: int) -> Block:
    """A quantity in closed form, made of what was read from the graph."""
    shape, entries = _assembled(name, read, reader, n)
    terms = [reader.terms(entry) for entry in entries]
    if name in ("M", "phi"):
        return Block(shape, tuple(gathered(t, (by_body, by_configuration)) for t in terms))
    if name == "C":
        return Block(shape, tuple(min(by_velocity(t, _KEYS), by_rate(t), key=size) for t in terms))
    return Block(shape, tuple(by_rate(t) for t in terms))


def _assembled(name: str, read: Read, reader: Reader, n: int) -> Polynomials:
    if name in read:
        return read[name]
    velocities, accelerations = ([reader.named(state_atom(slot, k + 1)) for k in range(n)] for slot in ("qd", "qdd"))
    if name == "C":
        rows = [_dot(row, velocities) for row in _rows(read["c"].entries, n)]
        return Polynomials((n, n), rows)
    total = [_quadratic(block, velocities) for block in _rows(read["c"].entries, n * n)]
    for part in ("g", "friction") if name == "tau" else ("g",):
        total = [ring.add(a, b) for a, b in zip(total, read[part].entries, strict=True)]
    if name == "tau":
        inertia = [_dot(row, accelerations) for row in _rows(read["M"].entries, n)]
        total = [ring.add(a, b) for a, b in zip(inertia, total, strict=True)]
    return Polynomials((n,), total)


def _rows(entries: Sequence[Polynomial], width: int) -> Iterator[Sequence[Polynomial]]:
    return (entries[k : k + width] for k in range(0, len(entries), width))


def _dot(a: Sequence[Polynomial], b: Sequence[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for x, y in zip(a, b, strict=True):
        total = ring.add(total, ring.multiply(x, y))
    return total


def _quadratic(block: Sequence[Polynomial], velocities: Sequence[Polynomial]) -> Polynomial:
    return _dot(block, [ring.multiply(a, b) for a, b in all_pairs(velocities, repeat=2)])


def by_rate(terms: Sequence[Term]) -> Form:
    """Σ coefficient · rates, accelerations first, then velocities, then what acts at rest."""
    groups: dict[tuple[Any, ...], list[Term]] = {}
    for t in terms:
        groups.setdefault(by_rates(t), []).append(t)
    return with_rates((_coefficient(groups[rates], rates), rates) for rates in sorted(groups, key=_rate_order))


def _rate_order(rates: tuple[Any, ...]) -> tuple[Any, ...]:
    degree = sum(power for _, power in rates)
    fast = any(atom.order[0] == ACCELERATION[0] for atom, _ in rates)
    spelled = [atom.order for atom, power in rates for _ in range(abs(power))]
    return not fast, -degree, spelled


def _coefficient(terms: Sequence[Term], rates: tuple[Any, ...]) -> Form:
    bare = [t.without(dict(rates)) for t in terms]
    inertial = any(atom.order[0] == ACCELERATION[0] for atom, _ in rates)
    keys = (by_body, by_configuration) if inertial else _KEYS
    half = rates and all(abs(t.value * 2) % 1 == 0 for t in bare) and any(abs(t.value) % 1 for t in bare)
    if half and len(bare) > 1:  # ½ M q̇² of an energy
        form = gathered([t._replace(value=2 * t.value) for t in bare], (by_body, by_configuration))
        return form._replace(value=form.value / 2) if isinstance(form, Product) else Product(0.5, ((form, 1),))
    return gathered(bare, keys)


def nonzero_columns(read: Read) -> list[int]:
    """Columns of the regressor that have an effect and a parameter that is not zero."""
    (rows, width), phi = read["Y"].shape, read["phi"].entries
    return [k for k in range(width) if phi[k] and any(read["Y"].entries[i * width + k] for i in range(rows))]


def only(read: Read, columns: Sequence[int]) -> dict[str, Polynomials]:
    """The regressor and its parameters with these columns alone."""
    (rows, width), entries = read["Y"].shape, read["Y"].entries
    kept = [entries[i * width + k] for i in range(rows) for k in columns]
    phi = [read["phi"].entries[k] for k in columns]
    return {**read, "Y": Polynomials((rows, len(columns)), kept), "phi": Polynomials((len(columns),), phi)}


__all__ = ["Block", "Polynomials", "by_rate", "closed", "nonzero_columns", "only"]
