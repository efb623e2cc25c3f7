"""Atoms of the equations: parameters, coordinates and their rates, cosines and sines in the shorthand c₁₂, s₁₂."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...model.numbers import Parameter
from .form import ACCELERATION, COORDINATE, FUNCTION, INTERMEDIATE, VELOCITY, Atom, Form, product, total
from .ring import COS, Multiples

_SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_PLACES = {"q": COORDINATE, "qd": VELOCITY, "qdd": ACCELERATION}
_LATEX = {"q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}"}
_TEXT = {"q": "q", "qd": "q̇", "qdd": "q̈"}


def subscript(text: str) -> str:
    """Digits and letters below the line, as far as Unicode has them."""
    return text.translate(_SUBSCRIPTS)


def parameter_atom(parameter: Parameter) -> Atom:
    """A parameter of the robot."""
    stem, _, tail = parameter.name.partition("_")
    member = re.search(r"[xyz]+$|(?<=\d)[pn]$", tail)
    head, end = (tail[: member.start()], member.group()) if member else (tail, "")
    signs = {"p": "⁺", "n": "⁻"}
    text = stem + subscript(head.replace("_", ",")) + signs.get(end, end)
    return Atom(parameter.name, parameter.latex, text, parameter.order)


def state_atom(slot: str, index: int) -> Atom:
    """Position, velocity or acceleration of a coordinate, counted from 1."""
    name = f"{slot}_{index}"
    return Atom(name, f"{_LATEX[slot]}_{{{index}}}", _TEXT[slot] + subscript(str(index)), (*_PLACES[slot], index))


def intermediate_atom(index: int) -> Atom:
    """A named step of a program."""
    return Atom(f"v{index}", f"v_{{{index}}}", f"v{index}", (*INTERMEDIATE, index))


def wave_atom(kind: int, multiples: Multiples, angles: Sequence[Form]) -> Atom:
    """The cosine or sine of a sum of angles; c₁₂ where it is a sum of plain coordinates."""
    op = "cos" if kind == COS else "sin"
    argument = total(product(float(k), ((angles[angle], 1),)) for angle, k in multiples)
    names = [angles[angle] for angle, _ in multiples]
    order = (*FUNCTION, len(multiples), tuple(angle for angle, _ in multiples), tuple(k for _, k in multiples), kind)
    plain = [form.name.removeprefix("q_") for form in names if isinstance(form, Atom) and not form.op]
    if len(plain) == len(names) and all(k == 1 for _, k in multiples):
        joined = _joined(plain)
        return Atom(f"{op[0]}{joined}", f"{op[0]}_{{{joined}}}", op[0] + subscript(joined), order, op, (argument,))
    return Atom("", "", "", order, op, (argument,))


def _joined(indices: Sequence[str]) -> str:
    """`12` for 1 and 2; with commas where an index has two digits."""
    return ("," if any(len(index) > 1 for index in indices) else "").join(indices)


def call_atom(op: str, args: tuple[Form, ...], order: int) -> Atom:
    """A function that is neither a cosine nor a sine."""
    return Atom("", "", "", (*FUNCTION, 1_000 + order, op), op, args)
