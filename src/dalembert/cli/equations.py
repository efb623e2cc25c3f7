"""`dalembert equations`: the equations of motion of a robot, in symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import DalembertError
from ..export import Equations, equations
from ..loading import load
from . import outputs, terminal
from .digits import number
from .sheets import print_sheets, print_title, sheet

_LINE = 0.34  # [inch] height of a line in a picture
_SIZE = 13  # points of its letters
_MOST = 400  # lines a picture may have


def run(
    source: str, quantities: Sequence[str], *, symbols: Sequence[str], program: bool, latex: bool, figure: str | None, json: bool
) -> None:
    """Print the equations as text, LaTeX or JSON, and draw them where a file is named."""
    picture = outputs.picture("equations", figure)
    robot = load(source)
    with terminal.progress_bar(f"equations of {robot.name}") as progress:
        found = equations(robot, quantities, symbols=symbols, form="program" if program else None, progress=progress)
    if json:
        terminal.print_json(_record(found))
    elif latex:
        terminal.print_text(found.latex())
    else:
        _print(found)
    if picture is not None:
        outputs.save_figure(draw(found), picture, dpi=120, bbox_inches="tight", pad_inches=0.15)


def _print(found: Equations) -> None:
    print_title(repr(found))
    terminal.print_text(found.text())
    rows = [(p.name, number(p.value, 6), p.unit, p.meaning) for p in found.parameters]
    if rows:
        terminal.say()
        print_sheets(sheet("Symbols", ["symbol", "value", "unit", "meaning"], rows, left=4))


def _record(found: Equations) -> dict[str, object]:
    return {
        "robot": found.robot,
        "form": found.form,
        "quantities": list(found.blocks),
        "symbols": found.symbols,
        "latex": found.latex(),
        "python": found.python(),
    }


def draw(found: Equations) -> Any:
    """The equations as a picture, a line of mathematics each."""
    rows = found.rows(width=110)
    if len(rows) > _MOST:
        raise DalembertError(f"equations: {len(rows)} lines found, a picture holds {_MOST}. Try --latex, or one quantity.")
    figure = outputs.new_figure((1.0, _LINE * max(len(rows), 1)))
    for k, row in enumerate(rows):
        figure.text(0.0, 1.0 - (k + 0.7) / len(rows), f"${row}$", fontsize=_SIZE, math_fontfamily="cm")
    return figure
