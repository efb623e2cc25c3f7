"""Operations of a program, counted as the literature counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .graph import Expr
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
