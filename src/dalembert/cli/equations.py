"""`dalembert equations`: the equations of motion of a robot, in symbols."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import Progress
from rich.text import Text

from ..errors import DalembertError, MissingExtraError
from ..export import Equations, equations
from ..files import replace_file
from ..formats import load
from . import terminal

_LINE = 0.34  # [inch] height of a line in a picture
_SIZE = 13  # points of its letters
_MOST = 400  # lines a picture may have


def run(
    source: str, quantities: Sequence[str], *, symbols: Sequence[str], program: bool, latex: bool, png: str | None, json: bool
) -> None:
    """Print the equations as text, LaTeX or JSON, or draw them."""
    robot = load(source)
    with _bar(f"equations of {robot.name}") as progress:
        found = equations(robot, quantities, symbols=symbols, form="program" if program else None, progress=progress)
    if png is not None:
        save_picture(found, Path(png))
    elif json:
        terminal.print_json(_record(found))
    elif latex:
        print(found.latex())
    else:
        _print(found)


@contextmanager
def _bar(words: str) -> Iterator[Callable[[float], None]]:
    """A bar on stderr while there is something to wait for, where there is a terminal to show it."""
    console = terminal.stderr()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(words, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _print(found: Equations) -> None:
    console = terminal.stdout()
    console.print(Text(f"{found!r}\n", style="bold"), soft_wrap=True)
    console.print(Text(found.text()), soft_wrap=True)
    rows = [(p.name, terminal.number(p.value, 6), p.unit, p.meaning) for p in found.parameters]
    if rows:
        console.print()
        terminal.print_sheets(terminal.sheet("Symbols", ["symbol", "value", "unit", "meaning"], rows, left=4))


def _record(found: Equations) -> dict[str, object]:
    return {
        "robot": found.robot,
        "form": found.form,
        "quantities": list(found.blocks),
        "symbols": found.symbols,
        "latex": found.latex(),
        "python": found.python(),
    }


def save_picture(found: Equations, target: Path) -> None:
    """The equations as a picture, a line of mathematics each, complete or not at all."""
    rows = found.rows(width=110)
    if len(rows) > _MOST:
        raise DalembertError(f"equations: {len(rows)} lines found, a picture holds {_MOST}. Try --latex, or one quantity.")
    figure = _figure(len(rows))
    for k, row in enumerate(rows):
        figure.text(0.0, 1.0 - (k + 0.7) / len(rows), f"${row}$", fontsize=_SIZE, math_fontfamily="cm")
    picture = io.BytesIO()
    figure.savefig(picture, dpi=120, format="png", bbox_inches="tight", pad_inches=0.15)
    replace_file(target.absolute(), picture.getvalue())


def _figure(lines: int) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.for_extra("equations: the picture", "matplotlib", "plots") from None
    return Figure(figsize=(1.0, _LINE * max(lines, 1)))
