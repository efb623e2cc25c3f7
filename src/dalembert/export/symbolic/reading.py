"""A traced graph read as polynomials of the normal form in `ring.py`, and these as terms to write down."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import DalembertError
from ...expr import Expr, Program
from ...model.tree import Tree
from ...spatial import Vec3
from . import ring
from .form import Atom, Form, Term, product, term, total
from .names import call_atom, wave_atom
from .ring import COS, SIN, Monomial, Multiples, Polynomial
from .waves import shortest

BUDGET = 2_000  # terms of one entry: more than fill some pages
_QUARTER = 1e-15  # [rad] of rounding in a quarter of a turn
_WAVES = {"cos": COS, "sin": SIN}
# What cosine and sine become by quarters of a turn, which stand as multiples of π/2 in the argument.
_SHIFTED = {
    (kind, quarters): ((kind + quarters) % 2, sign)
    for kind, signs in ((COS, (1.0, -1.0, -1.0, 1.0)), (SIN, (1.0, 1.0, -1.0, -1.0)))
    for quarters, sign in enumerate(signs)
}


class TooLongError(DalembertError):
    """A closed form nobody could read."""


class Angle(NamedTuple):
    """What a cosine or sine is taken of, and the group of parallel axes it belongs to."""

    form: Form
    group: int


class Reader:
    """A graph being read; keeps the generators and angles met, so that several results share them."""

    def __init__(self, atoms: Mapping[str, Atom], groups: Mapping[str, int], budget: int = BUDGET) -> None:
        self.atoms = dict(atoms)
        self._groups = {self.atoms[name]: group for name, group in groups.items()}  # of coordinates
        self.budget = budget
        self.generators: list[Atom] = []
        self.angles: list[Angle] = []
        self._index: dict[Any, int] = {}
        self._values: dict[Expr, Polynomial] = {}

    def read(self, program: Program, progress: Callable[[float], None] | None = None) -> list[list[Polynomial]]:
        """The outputs of a program."""
        nodes = program.nodes
        for k, node in enumerate(nodes):
            self._values[node] = value = self._node(node)
            if len(value) > self.budget:
                raise TooLongError(f"{len(value)} terms")
            if progress and k % 64 == 0:
                progress(k / len(nodes))
        return [[self._result(scalar) for scalar in result] for result in program.results]

    def _result(self, scalar: Any) -> Polynomial:
        return self._values[scalar] if isinstance(scalar, Expr) else ring.constant(scalar)

    def _node(self, node: Expr) -> Polynomial:
        if node.op == "const":
            return ring.constant(node.value)
        if node.op == "input":
            return ring.generator(self._generator(self.atoms[node.value]))
        args = [self._values[a] for a in node.args]
        if node.op in ("add", "sub"):
            return ring.add(args[0], args[1], 1.0 if node.op == "add" else -1.0)
        if node.op == "mul":
            if len(args[0]) * len(args[1]) > self.budget**2 / 100:
                raise TooLongError(f"{len(args[0])} times {len(args[1])} terms")
            return ring.multiply(*args)
        if node.op == "neg":
            return ring.scale(args[0], -1.0)
        if node.op in _WAVES:
            return self._wave(node)
        return self._divided(node, *args) if node.op == "div" else self._call(node.op, node, args)

    def named(self, atom: Atom) -> Polynomial:
        """A name as a polynomial."""
        return ring.generator(self._generator(atom))

    def _generator(self, atom: Atom) -> int:
        if atom not in self._index:
            self._index[atom] = len(self.generators)
            self.generators.append(atom)
        return self._index[atom]

    def _wave(self, node: Expr) -> Polynomial:
        (argument,) = node.args
        found = self._sum_of_angles(self._values[argument])
        if found is None:
            own = self._angle(argument, Angle(self.form(self._values[argument]), -1 - len(self.angles)))
            return ring.wave(self.angles[own].group, _WAVES[node.op], ((own, 1),))
        group, multiples, quarters = found
        kind, sign = _SHIFTED[_WAVES[node.op], quarters]
        return ring.scale(ring.wave(group, kind, multiples), sign)

    def _angle(self, key: Any, angle: Angle) -> int:
        if key not in self._index:
            self._index[key] = len(self.angles)
            self.angles.append(angle)
        return self._index[key]

    def _sum_of_angles(self, argument: Polynomial) -> tuple[int, Multiples, int] | None:
        """The group and the multiples of a sum of coordinates with parallel axes, such as q₂ − q₁, and the quarters of a turn
        added to it; None for anything else.
        """
        multiples, quarters = {}, 0
        for (monomial, harmonic), value in argument.items():
            turned = round(value / (math.pi / 2))
            if not harmonic and not monomial and abs(value - turned * math.pi / 2) < _QUARTER:
                quarters = turned % 4
                continue
            if harmonic or len(monomial) != 1 or monomial[0][1] != 1 or value != int(value):
                return None
            multiples[self.generators[monomial[0][0]]] = int(value)
        groups = {self._groups.get(atom) for atom in multiples}
        if len(groups) != 1 or (group := groups.pop()) is None:
            return None
        found = sorted((self._angle(("angle", atom), Angle(atom, group)), k) for atom, k in multiples.items())
        return group, tuple(found), quarters

    def _divided(self, node: Expr, a: Polynomial, b: Polynomial) -> Polynomial:
        """By one product of generators directly, by anything longer as a factor 1/b."""
        if len(b) == 1:
            ((monomial, harmonic), value), *_ = b.items()
            if not harmonic:
                inverse = tuple((index, -power) for index, power in monomial)
                return ring.multiply(a, {(inverse, ()): 1.0 / value})
        return ring.multiply(a, self._call("inverse", node, [b]))

    def _call(self, op: str, node: Expr, args: Sequence[Polynomial]) -> Polynomial:
        atom = call_atom(op, tuple(self.form(a) for a in args), node.index)
        return ring.generator(self._generator(atom))

    def form(self, polynomial: Polynomial) -> Form:
        """A polynomial as a plain sum."""
        return total(product(t.value, t.factors) for t in self.terms(polynomial))

    def terms(self, polynomial: Polynomial) -> list[Term]:
        """A polynomial as terms, each coefficient of a monomial written with as few cosines and sines as possible."""
        by_monomial: dict[Monomial, dict[Any, float]] = {}
        for (monomial, harmonic), value in polynomial.items():
            by_monomial.setdefault(monomial, {})[harmonic] = value
        forms = [angle.form for angle in self.angles]
        found = []
        for monomial, sums in by_monomial.items():
            own = [(self.generators[index], power) for index, power in monomial]
            for factors, value in shortest(sums):
                waves = [(wave_atom(kind, multiples, forms), power) for (kind, multiples), power in factors]
                found.append(term(value, [*own, *waves]))
        return found


def parallel_groups(tree: Tree) -> dict[int, int]:
    """For each coordinate that turns a segment of its own, the first coordinate with an axis parallel to it at all times."""
    group: dict[int, int] = {}
    plain: dict[int, int] = {}
    roots: list[tuple[Vec3, int]] = []  # axes that the ground holds: branches may start with parallel ones
    for i, s in enumerate(tree.segments):
        if s.turn and s.multiplier == 1.0 and s.shift == 0.0:
            plain[i] = s.coordinate
            above, axis = _turning_ancestor(tree, i)
            if above is None:
                same = (first for other, first in roots if abs(axis.dot(other)) == 1.0)
                group[s.coordinate] = next(same, s.coordinate)
                roots.append((axis, s.coordinate))
            else:
                parallel = above in plain and abs(axis.z) == 1.0
                group[s.coordinate] = group[plain[above]] if parallel else s.coordinate
    return group


def _turning_ancestor(tree: Tree, i: int) -> tuple[int | None, Vec3]:
    """The nearest segment above that turns, None for the ground, and the segment's axis as seen from it."""
    R, j = tree.segments[i].R, tree.segments[i].parent
    while j >= 0 and not tree.segments[j].turn:
        R, j = tree.segments[j].R.times(R), tree.segments[j].parent
    return (j if j >= 0 else None), R.third


__all__ = ["BUDGET", "Reader", "TooLongError", "parallel_groups"]
