"""A traced graph as named steps: what is used more than once, or is long, gets a name v1, v2, ...; the rest stands where used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...expr import Expr, Program
from .collect import negative
from .form import Atom, Form, Product, Sum, product, size, total
from .names import call_atom, intermediate_atom, wave_atom
from .ring import COS, SIN

_LONG = 12  # names and numbers of a step that may stand inside another
_WAVES = {"cos": COS, "sin": SIN}


class Step(NamedTuple):
    """A name, what it stands for, and what it is about."""

    atom: Atom
    form: Form
    section: str


class Steps(NamedTuple):
    """The steps in order, and the outputs in terms of them."""

    steps: list[Step]
    results: list[list[Form]]


def steps_of(
    program: Program, atoms: Mapping[str, Atom], about: Callable[[Expr], str], progress: Callable[[float], None] | None = None
) -> Steps:
    """Write a program as steps; `atoms` names its inputs, `about` says what a node is about."""
    writer = _Writer(program, atoms, about)
    for k, node in enumerate(program.nodes):
        writer.write(node)
        if progress and k % 256 == 0:
            progress(k / len(program.nodes))
    return Steps(writer.steps, [[writer.result(scalar) for scalar in result] for result in program.results])


class _Writer:
    def __init__(self, program: Program, atoms: Mapping[str, Atom], about: Callable[[Expr], str]) -> None:
        self.atoms, self.about = atoms, about
        self.steps: list[Step] = []
        self.forms: dict[Expr, Form] = {}
        self.uses = Counter(a for node in program.nodes for a in node.args)
        outputs = Counter(s for result in program.results for s in result if isinstance(s, Expr))
        self.once = {node for node, times in outputs.items() if times == 1 and not self.uses[node]}
        self.angles: list[Form] = []
        self.places: dict[Expr, int] = {}

    def write(self, node: Expr) -> None:
        form = self._form(node)
        shared = self.uses[node] > 1 or size(form) > _LONG or not self.uses[node]
        if node not in self.once and shared and not _is_short(form):
            atom = intermediate_atom(len(self.steps) + 1)
            self.steps.append(Step(atom, form, self.about(node)))
            form = atom
        self.forms[node] = form

    def result(self, scalar: Any) -> Form:
        return self.forms[scalar] if isinstance(scalar, Expr) else Product(scalar)

    def _form(self, node: Expr) -> Form:
        if node.op == "const":
            return Product(node.value)
        if node.op == "input":
            return self.atoms[node.value]
        args = [self.forms[a] for a in node.args]
        match node.op:
            case "add":
                return total((*_terms(args[0]), *_terms(args[1])))
            case "sub":
                return total((*_terms(args[0]), *map(negative, _terms(args[1]))))
            case "mul":
                return _multiplied(args[0], args[1])
            case "neg":
                return Sum(tuple(map(negative, args[0].terms))) if isinstance(args[0], Sum) else negative(args[0])
            case "div":
                return _multiplied(args[0], Product(1.0, ((args[1], -1),)))
        if node.op in _WAVES:
            return wave_atom(_WAVES[node.op], ((self._angle(node.args[0]), 1),), self.angles)
        return call_atom(node.op, tuple(args), node.index)

    def _angle(self, node: Expr) -> int:
        if node not in self.places:
            self.places[node] = len(self.angles)
            self.angles.append(self.forms[node])
        return self.places[node]


def _is_short(form: Form) -> bool:
    """A name, a number, one of them with a sign, or a function of a name."""
    if isinstance(form, Product):
        return not form.factors or (len(form.factors) == 1 and form.factors[0][1] == 1 and abs(form.value) == 1.0)
    return isinstance(form, Atom) and all(isinstance(a, Atom) for a in form.args)


def _terms(form: Form) -> tuple[Form, ...]:
    return form.terms if isinstance(form, Sum) else (form,)


def _multiplied(a: Form, b: Form) -> Form:
    value, powers = 1.0, Counter[Form]()
    for form in (a, b):
        if isinstance(form, Product):
            value *= form.value
            for factor, power in form.factors:
                powers[factor] += power
        else:
            powers[form] += 1
    return product(value, sorted(((f, power) for f, power in powers.items() if power), key=_place))


def _place(pair: tuple[Form, int]) -> tuple[Any, ...]:
    return (0, pair[0].order) if isinstance(pair[0], Atom) else (1, ())
