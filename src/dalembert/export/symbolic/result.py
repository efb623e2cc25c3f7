"""What `equations` returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from ...errors import UnknownNameError
from ...model.numbers import Parameter
from . import write
from .closed import Block
from .equation_table import EQUATIONS
from .form import ZERO, Form
from .named_steps import Step
from .names import subscript
from .sympy_reading import array, expression, sympy_module
from .write import Style

_WIDTH = 88  # characters of a line
_COMMAS_FROM = 10  # indices of two digits are told apart by commas


class Line(NamedTuple):
    """An equation: what it gives, equal entries together, and the form."""

    quantity: str
    indices: list[tuple[int, ...]]
    form: Form


class Written(NamedTuple):
    """Both sides of an equation as text; a heading has no right side."""

    left: str
    right: str


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations of motion of a robot, in symbols.

    Quantities are fields in SymPy (`M`, `C`, `g`, `tau`, ...), with symbols `q_1`, `qd_1`, `qdd_1` and those of the robot.
    `blocks` holds the same as forms to be written, `steps` the named steps of a program, `parameters` the robot's symbols with
    value, unit and meaning.
    """

    robot: str
    n: int
    form: str
    blocks: Mapping[str, Block]
    steps: tuple[Step, ...] = field(repr=False)
    parameters: tuple[Parameter, ...] = field(repr=False)
    _numeric: Callable[[], Equations] = field(repr=False)

    def __repr__(self) -> str:
        steps = f", {len(self.steps)} steps" if self.steps else ""
        return f"Equations of {self.robot!r}: {', '.join(self.blocks)}; {self.form} form, {len(self.parameters)} symbols{steps}"

    @property
    def symbols(self) -> dict[str, float]:
        """The symbols of the robot with their values."""
        return {p.name: p.value for p in self.parameters}

    @cached_property
    def sympy(self) -> dict[str, Any]:
        """Every quantity as a SymPy matrix (an array for 'c', an expression for an energy)."""
        sympy = sympy_module()
        return {name: array(block.forms, block.shape, sympy) for name, block in self.blocks.items()}

    @cached_property
    def intermediates(self) -> dict[Any, Any]:
        """The named steps of a program in order, as SymPy symbols and expressions; none in closed form."""
        sympy = sympy_module()
        return {sympy.Symbol(atom.name): expression(form, sympy) for atom, form, _ in self.steps}

    @property
    def M(self) -> Any:
        """Mass matrix, n by n."""
        return self["M"]

    @property
    def C(self) -> Any:
        """Coriolis matrix, n by n."""
        return self["C"]

    @property
    def c(self) -> Any:
        """Christoffel symbols, n by n by n."""
        return self["c"]

    @property
    def g(self) -> Any:
        """Gravity torque, a column of n."""
        return self["g"]

    @property
    def h(self) -> Any:
        """Bias C q̇ + g, a column of n."""
        return self["h"]

    @property
    def tau(self) -> Any:
        """Joint torques, a column of n."""
        return self["tau"]

    def __getitem__(self, name: str) -> Any:
        """A quantity by name, in SymPy."""
        self._known(name)
        return self.sympy[name]

    def _known(self, name: str) -> None:
        if name not in self.blocks:
            held = ", ".join(self.blocks)
            raise UnknownNameError(
                f"quantity: {name!r} is not among these equations, which hold {held}. Ask for it in dal.equations."
            )

    def subs_values(self) -> Equations:
        """The same equations with the robot's values in place of its symbols."""
        return self._numeric()

    def latex(self, quantity: str | None = None, *, digits: int = 6, width: int = _WIDTH) -> str:
        """LaTeX of one quantity or of all, an `aligned` block with an equation per entry; equal entries share one.

        `digits` of numbers, `width` in characters after which a line is broken.
        """
        style = write.latex(digits)
        rows = [
            _aligned(line.left, line.right, width) if line.right else rf"&\text{{{_plain(line.left)}}}"
            for line in self._written(quantity, style, _latex_name)
        ]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def text(self, quantity: str | None = None, *, digits: int = 6, width: int = 110) -> str:
        """Unicode text of one quantity or of all: q̈₁, c₁₂, a line per entry."""
        rows = []
        for left, right in self._written(quantity, write.unicode(digits), _text_name):
            first, *more = write.lines(right, width - len(left), len)
            rows += [f"{left} = {first}" if right else f"# {left}", *(f"{' ' * len(left)}   {line}" for line in more)]
        return "\n".join(rows)

    def python(self, quantity: str | None = None) -> str:
        """Python assignments of one quantity or of all, a line per step and entry, to be executed beside `from math import *`."""
        lines = self._written(quantity, write.python(), _python_name)
        return "\n".join(f"{left} = {right}" if right else f"# {left}" for left, right in lines)

    def rows(self, quantity: str | None = None, *, digits: int = 6, width: int = _WIDTH) -> list[str]:
        """Lines of LaTeX without an environment, for whatever draws one line at a time."""
        found = []
        for left, right in self._written(quantity, write.latex(digits), _latex_name):
            first, *more = write.lines(right, width)
            start = f"{left} = {first}" if right else "\\mathrm{" + _plain(left).replace(" ", "\\ ") + "}"
            found += [start, *(rf"\qquad {line}" for line in more)]
        return found

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _written(self, quantity: str | None, style: Style, name: Callable[[str, tuple[int, ...]], str]) -> Iterator[Written]:
        """Left and right sides, the steps of a program first, each group of them under a heading, which has no right side."""
        if quantity is not None:
            self._known(quantity)
        heading = ""
        for atom, form, section in self.steps:
            if section and section != heading:
                yield Written(section, "")
                heading = section
            yield Written(style.atom(atom), write.write(form, style))
        for block in self.blocks if quantity is None else (quantity,):
            for line in self._lines(block):
                left = " = ".join(name(line.quantity, index) for index in line.indices)
                yield Written(left, write.write(line.form, style))

    def _lines(self, name: str) -> Iterator[Line]:
        """One per entry; symmetric entries of M and c together, Christoffel symbols that are zero left out."""
        shape, forms = self.blocks[name]
        mirrored = name in ("M", "c")
        for index, form in zip(product(*map(range, shape)), forms, strict=True):
            if mirrored and index[-2] > index[-1]:
                continue
            if name == "c" and form == ZERO:
                continue
            other = (*index[:-2], index[-1], index[-2]) if mirrored and index[-2] < index[-1] else None
            yield Line(name, [index] if other is None else [index, other], form)


def _plain(words: str) -> str:
    """A heading without what LaTeX would take for a command."""
    return re.sub(r"[^\w :.,-]", "", words).replace("_", r"\_")


def _joined(index: tuple[int, ...], always: bool = False) -> str:
    wide = always or any(i + 1 >= _COMMAS_FROM for i in index)
    return ("," if wide else "").join(str(i + 1) for i in index)


def _latex_name(quantity: str, index: tuple[int, ...]) -> str:
    letter = EQUATIONS[quantity].equation.latex
    return f"{letter}_{{{_joined(index, always=quantity == 'c')}}}" if index else letter


def _text_name(quantity: str, index: tuple[int, ...]) -> str:
    letter = EQUATIONS[quantity].equation.text
    return letter + (subscript(_joined(index)) if quantity != "c" else f"[{_joined(index, always=True)}]")


def _python_name(quantity: str, index: tuple[int, ...]) -> str:
    return "_".join((quantity, *(str(i + 1) for i in index)))


def _aligned(left: str, text: str, width: int) -> str:
    first, *more = write.lines(text, width)
    return " \\\\\n".join([f"{left} &= {first}", *(rf"&\quad {line}" for line in more)])
