"""A program as straight-line code: one named value after another, in the syntax of any language.

A language is a `Syntax`: how it writes each primitive and a constant, and which names it keeps for itself. What is used once
and is short stands where it is used; everything else gets a name. The sine and the cosine of an angle stand side by side,
which compilers make one call of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, TypeAlias

from ..expr import Expr, Program, Slot
from .naming import Names, identifier

CONDITION, SUM, PRODUCT, ATOM = 0, 1, 2, 3  # how tightly a piece holds together
_SHORT = 44  # characters of an expression that may stand inside another
_PARTNER = {"sin": "cos", "cos": "sin"}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "=="}


class Snippet(NamedTuple):
    """An expression in some language, and how tightly it holds together."""

    text: str
    level: int = ATOM

    def within(self, least: int) -> str:
        """The text, in parentheses unless it holds at least that tightly."""
        return self.text if self.level >= least else f"({self.text})"


Reading: TypeAlias = Callable[..., Snippet]


class Syntax(NamedTuple):
    """How a language writes scalars. `repeats` names the primitives whose reading mentions an argument more than once, `first`
    is the index of an array's first entry.
    """

    readings: Mapping[str, Reading]
    constant: Callable[[float], Snippet]
    reserved: frozenset[str]
    repeats: frozenset[str] = frozenset()
    first: int = 0


ARITHMETIC: dict[str, Reading] = {
    "add": lambda a, b: Snippet(f"{a.text} + {b.within(PRODUCT)}", SUM),
    "sub": lambda a, b: Snippet(f"{a.text} - {b.within(PRODUCT)}", SUM),
    "mul": lambda a, b: Snippet(f"{a.within(PRODUCT)}*{b.within(ATOM)}", PRODUCT),
    "div": lambda a, b: Snippet(f"{a.within(PRODUCT)}/{b.within(ATOM)}", PRODUCT),
    "neg": lambda a: Snippet(f"-{a.within(ATOM)}", SUM),
}
"""What C and everything after it write alike; parentheses keep the order of operations, and with it the rounding."""


def call(name: str) -> Reading:
    """A reading that calls a function of this name."""
    return lambda *arguments: Snippet(f"{name}({', '.join(a.text for a in arguments)})")


def compare(op: str, a: Snippet, b: Snippet) -> Snippet:
    """A comparison as a condition, which is no number in every language."""
    return Snippet(f"{a.text} {COMPARISONS[op]} {b.text}", CONDITION)


class Local(NamedTuple):
    """An entry of an input array under a name of its own, so that outputs may overwrite inputs."""

    name: str
    slot: int
    entry: int


class Code(NamedTuple):
    """Straight-line code of a program: names of inputs and outputs, entries read, values computed, and what outputs get.

    Inputs that are parameters of the robot are fields of one argument, `record`: of these `inputs` holds the field's name.
    """

    inputs: list[str]
    outputs: list[str]
    locals: list[Local]
    steps: list[tuple[str, str]]
    results: list[list[str]]
    fields: frozenset[int] = frozenset()
    record: str = ""

    @property
    def arrays(self) -> list[int]:
        """The inputs that are arguments of their own."""
        return [i for i in range(len(self.inputs)) if i not in self.fields]


def straight(program: Program, syntax: Syntax, parameters: Collection[str] = ()) -> Code:
    """Write a program as straight-line code; inputs named in `parameters` are fields of a record."""
    names = Names(syntax.reserved)
    fields = frozenset(i for i, slot in enumerate(program.inputs) if slot.name in parameters)
    inputs = [s.name if i in fields else names.fresh(identifier(s.name)) for i, s in enumerate(program.inputs)]
    outputs = [names.fresh(identifier(s.name)) for s in program.outputs]
    record = names.fresh("p") if fields else ""
    writer = _Writer(program, syntax, names, inputs, fields)
    for node in program.nodes:
        writer.write(node)
    results = [[writer.result(scalar) for scalar in result] for result in program.results]
    return Code(inputs, outputs, writer.locals, writer.steps, results, fields, record)


class _Writer:
    """The state of writing: the piece each node is known as (a comparison also as a condition), and the lines so far."""

    def __init__(self, program: Program, syntax: Syntax, names: Names, inputs: list[str], fields: frozenset[int]) -> None:
        self.program, self.syntax, self.names, self.inputs, self.fields = program, syntax, names, inputs, fields
        self.locals: list[Local] = []
        self.steps: list[tuple[str, str]] = []
        self.pieces: dict[Expr, Snippet] = {}
        self.conditions: dict[Expr, Snippet] = {}
        self.inline = _used_once(program, syntax.repeats)
        self.angles = {(n.op, n.args[0]): n for n in program.nodes if n.op in _PARTNER}

    def write(self, node: Expr) -> None:
        if node in self.pieces:
            return
        if node.op == "const":
            self.pieces[node] = self.syntax.constant(node.value)
        elif node.op == "input":
            self._local(node)
        elif node.op in _PARTNER:
            self._sine_and_cosine(node)
        else:
            self._operation(node)

    def result(self, scalar: Expr | float) -> str:
        return (self.pieces[scalar] if isinstance(scalar, Expr) else self.syntax.constant(scalar)).text

    def _local(self, node: Expr) -> None:
        slot, entry = self.program.input_places[node.index]
        axes = place(self.program.inputs[slot], entry)
        name = self.inputs[slot]
        if axes or slot in self.fields:
            index = [str(axis + self.syntax.first) for axis in axes]
            name = self.names.fresh("".join((name, *index)) if len(axes) <= 1 else "_".join((name, *index)))
            self.locals.append(Local(name, slot, entry))
        self.pieces[node] = Snippet(name)

    def _sine_and_cosine(self, node: Expr) -> None:
        (angle,) = node.args
        for op in _PARTNER:
            found = self.angles.get((op, angle))
            if found is not None:
                self._name(found, f"{op}_{self.pieces[angle].text}", self.syntax.readings[op](self.pieces[angle]))

    def _operation(self, node: Expr) -> None:
        arguments = [self.pieces[a] for a in node.args]
        if node.op == "where":
            arguments[0] = self.conditions.get(node.args[0], arguments[0])
        piece = self.syntax.readings[node.op](*arguments)
        if node not in self.inline or len(piece.text) > _SHORT:
            self._name(node, f"t{len(self.steps)}", piece)
            return
        self.pieces[node] = piece
        if node.op in COMPARISONS:
            self.conditions[node] = compare(node.op, *arguments)

    def _name(self, node: Expr, wanted: str, piece: Snippet) -> None:
        name = self.names.fresh(wanted)
        self.steps.append((name, piece.text))
        self.pieces[node] = Snippet(name)


def _used_once(program: Program, repeats: frozenset[str]) -> set[Expr]:
    """Nodes that may stand inside the one expression that uses them: no outputs, no angles, nothing mentioned twice."""
    uses = Counter(a for node in program.nodes for a in node.args)
    outputs = {s for result in program.results for s in result if isinstance(s, Expr)}
    named = {a for node in program.nodes if node.op in repeats or node.op in _PARTNER for a in node.args}
    return {node for node, times in uses.items() if times == 1} - outputs - named


def place(slot: Slot, flat: int) -> list[int]:
    """The index of an entry of a slot, one number per axis."""
    index = []
    for extent in reversed(slot.shape):
        flat, k = divmod(flat, extent)
        index.append(k)
    return index[::-1]
