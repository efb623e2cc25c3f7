"""Programs for the reader: operation counts, a listing, LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .graph import Expr, reachable
from .ops import Scalar
from .program import Program


class Counts(NamedTuple):
    """Operations of a program, as the literature counts them: multiplying by a constant is a multiplication, signs are free."""

    mul: int
    add: int  # additions and subtractions
    div: int
    neg: int
    sqrt: int
    sincos: int  # angles whose sine, cosine or both are taken
    other: int  # atan2, abs, sign, min, max, comparisons, selections

    @property
    def flops(self) -> int:
        """Arithmetic operations: mul + add + div + sqrt, the sines and cosines apart."""
        return self.mul + self.add + self.div + self.sqrt


def counts(program: Program) -> Counts:
    """How many operations of each kind a program takes."""
    return counts_of(program.nodes)


def counts_of(nodes: Sequence[Expr]) -> Counts:
    """How many operations of each kind stand among some nodes."""
    ops = Counter(node.op for node in nodes)
    angles = {node.args[0] for node in nodes if node.op in ("sin", "cos")}
    plain = {key: ops[key] for key in ("mul", "div", "neg", "sqrt")}
    add = ops["add"] + ops["sub"]
    leaves = ops["const"] + ops["input"]
    other = ops.total() - leaves - add - sum(plain.values()) - ops["sin"] - ops["cos"]
    return Counts(add=add, sincos=len(angles), other=other, **plain)


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "=="}


def dump(program: Program) -> str:
    """A listing, one operation a line: `t12 = q[0] * t3`. Constants stand where they are used, outputs at the end."""
    inputs = ", ".join(_signature(s.name, s.shape) for s in program.inputs)
    outputs = ", ".join(_signature(s.name, s.shape) for s in program.outputs)
    lines = [f"{program.name}({inputs}) -> {outputs}"]
    names: dict[Expr, str] = {}
    for node in program.nodes:
        if node.args:
            names[node] = f"t{len(lines) - 1}"
            lines.append(f"  {names[node]} = {_operation(node, [names[a] for a in node.args])}")
        else:
            names[node] = _constant(node.value) if node.op == "const" else node.value
    for slot, result in zip(program.outputs, program.results, strict=True):
        for k, scalar in enumerate(result):
            value = names[scalar] if isinstance(scalar, Expr) else _constant(scalar)
            lines.append(f"  {slot.name}{_index(slot.shape, k)} = {value}")
    return "\n".join(lines) + "\n"


def _signature(name: str, shape: tuple[int, ...]) -> str:
    return name + (f"[{','.join(map(str, shape))}]" if shape else "")


def _index(shape: tuple[int, ...], flat: int) -> str:
    return f"[{','.join(str(k) for k in np.unravel_index(flat, shape))}]" if shape else ""


def _constant(value: float) -> str:
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def _operation(node: Expr, args: list[str]) -> str:
    if node.op in _INFIX:
        return f"{args[0]} {_INFIX[node.op]} {args[1]}"
    return f"-{args[0]}" if node.op == "neg" else f"{node.op}({', '.join(args)})"


_SUM, _PRODUCT, _CALL, _ATOM = 1, 2, 3, 4  # how tightly a piece of LaTeX holds together
_GREEK = frozenset(("alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "rho", "sigma", "tau", "phi", "psi", "omega"))


def latex(expr: Scalar) -> str:
    """One scalar written out in infix LaTeX. Shared nodes repeat, so this is for small expressions; see `dump` for large ones."""
    if not isinstance(expr, Expr):
        return _latex_number(float(expr))[0]
    pieces: dict[Expr, tuple[str, int]] = {}
    for node in reachable([expr]):
        if node.op == "const":
            pieces[node] = _latex_number(node.value)
        elif node.op == "input":
            pieces[node] = _latex_name(node.value), _ATOM
        else:
            pieces[node] = _LATEX[node.op](*(pieces[a] for a in node.args))
    return pieces[expr][0]


_Piece = tuple[str, int]


def _wrap(piece: _Piece, least: int) -> str:
    return piece[0] if piece[1] >= least else rf"\left({piece[0]}\right)"


def _latex_number(value: float) -> _Piece:
    mantissa, _, exponent = _constant(value).partition("e")
    mantissa = mantissa.replace("inf", r"\infty").replace("nan", r"\mathrm{NaN}")
    text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
    return text, _SUM if text.startswith("-") else _PRODUCT if exponent else _ATOM


def _latex_name(name: str) -> str:
    stem, _, index = name.rstrip("]").partition("[")
    upright = stem.replace("_", r"\_")
    shown = rf"\{stem}" if stem in _GREEK else stem if len(stem) == 1 else rf"\mathrm{{{upright}}}"
    return f"{shown}_{{{index}}}" if index else shown


def _latex_mul(a: _Piece, b: _Piece) -> _Piece:
    if a == b:
        return f"{_wrap(a, _ATOM)}^{{2}}", _PRODUCT
    left, right = _wrap(a, _PRODUCT), _wrap(b, _PRODUCT)
    mixed = left[-1].isdigit() and right.startswith(r"\frac")  # 2 1/3 would read as two and a third
    return f"{left} {right}" if not mixed and not right[0].isdigit() else rf"{left} \cdot {right}", _PRODUCT


def _call(name: str) -> Callable[..., _Piece]:
    return lambda *args: (rf"{name}\left({', '.join(a[0] for a in args)}\right)", _CALL)


def _bracket(relation: str) -> Callable[[_Piece, _Piece], _Piece]:
    return lambda a, b: (rf"\left[{a[0]} {relation} {b[0]}\right]", _ATOM)


def _latex_where(condition: _Piece, a: _Piece, b: _Piece) -> _Piece:
    return rf"\begin{{cases}} {a[0]} & {condition[0]} \ne 0 \\ {b[0]} & \text{{otherwise}} \end{{cases}}", _SUM


_LATEX: dict[str, Callable[..., _Piece]] = {
    "add": lambda a, b: (f"{a[0]} + {_wrap(b, _SUM + b[0].startswith('-'))}", _SUM),
    "sub": lambda a, b: (f"{a[0]} - {_wrap(b, _PRODUCT)}", _SUM),
    "mul": _latex_mul,
    "div": lambda a, b: (rf"\frac{{{a[0]}}}{{{b[0]}}}", _PRODUCT),
    "neg": lambda a: (f"-{_wrap(a, _PRODUCT)}", _SUM),
    "sqrt": lambda a: (rf"\sqrt{{{a[0]}}}", _ATOM),
    "sin": _call(r"\sin"),
    "cos": _call(r"\cos"),
    "atan2": _call(r"\operatorname{atan2}"),
    "abs": lambda a: (rf"\left|{a[0]}\right|", _ATOM),
    "sign": _call(r"\operatorname{sgn}"),
    "min": _call(r"\min"),
    "max": _call(r"\max"),
    "lt": _bracket("<"),
    "le": _bracket(r"\le"),
    "eq": _bracket("="),
    "where": _latex_where,
}
