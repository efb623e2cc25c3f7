"""What commands print with: tables and JSON on stdout, remarks on stderr, colour only where there is a terminal."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..checks import FloatArray
from ..errors import DalembertWarning

_WIDE = 240  # columns where there is no terminal: a file or a pipe has room, and cut numbers would be lost
_NAME = 14  # columns a name keeps in a narrow terminal before it is folded
MINUS = "−"


def stdout() -> Console:
    """Where data go."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def stderr() -> Console:
    """Where remarks go."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def complain(error: Exception) -> None:
    """An error as one line on stderr."""
    stderr().print(Text.assemble(("error: ", "bold red"), " ".join(_sentence(error).split())))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        subject = f"{error.filename}: " if error.filename else ""
        return f"{subject}{error.strerror[:1].lower()}{error.strerror[1:]}."
    return str(error) or type(error).__name__


@contextmanager
def warnings_once() -> Iterator[None]:
    """Print each `DalembertWarning` once, in colour, on stderr; other warnings keep their ways."""
    seen: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", DalembertWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if not issubclass(category, DalembertWarning):
                usual(message, category, *where, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                stderr().print(Text.assemble(("warning: ", "bold yellow"), " ".join(str(message).split())))

        warnings.showwarning = show
        yield


class Sheet(NamedTuple):
    """A table under its title."""

    title: str
    table: Table


def sheet(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, left: int = 1) -> Sheet:
    """A plain table: the first `left` columns are words, the others numbers, set to the right and never broken."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, column in enumerate(columns):
        head = Text(column, style="cyan")  # not a str, for brackets are units here and not markup
        if place >= left:
            table.add_column(head, justify="right", no_wrap=True)
        else:
            longest = max((len(str(row[place])) for row in rows), default=0)
            table.add_column(head, overflow="fold", min_width=min(longest, _NAME))
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return Sheet(title, table)


def print_sheets(*sheets: Sheet) -> None:
    """Each title, its table and an empty line; words fold in a narrow terminal, numbers keep the room they need."""
    console = stdout()
    for title, table in sheets:
        console.print(Text(title, style="bold"), soft_wrap=True)
        needed = Measurement.get(console, console.options.update(max_width=_WIDE * 10), table).minimum
        console.print(table, width=max(console.width, needed), crop=False)
        console.print()


def print_marked(lines: Sequence[tuple[str, str, str]]) -> None:
    """Sentences after a mark in its style; they hang beside it in a terminal and stay on one line elsewhere."""
    console = stdout()
    for mark, style, words in lines:
        if console.is_terminal:
            grid = Table.grid(padding=(0, 1))
            grid.add_row(Text(f"  {mark}", style=style), Text(words))
            console.print(grid)
        else:
            console.print(Text(f"  {mark} {words}"), soft_wrap=True)


def number(value: float | None, digits: int = 4) -> str:
    """A number as a reader likes it: a true minus sign, no crumbs of rounding; None is a dash."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:.{digits}g}"
    return "0" if text == "-0" else text.replace("-", MINUS)


def numbers(values: ArrayLike) -> str:
    """Several numbers, separated by spaces."""
    return "  ".join(number(float(value)) for value in np.ravel(np.asarray(values, dtype=float)))


def columns_of(vectors: Sequence[ArrayLike]) -> list[str]:
    """Several vectors of the same length, one text each, with their components below each other."""
    cells = [[number(float(value)) for value in np.asarray(vector, dtype=float)] for vector in vectors]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]


def aligned(values: FloatArray) -> NDArray[np.str_]:
    """Numbers that share their decimals, so that a column can be compared at a glance: five digits of the largest."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    decimals = 4 - math.floor(math.log10(largest)) if largest > 0 else 1
    digits = min(max(decimals, 0), 12)
    return np.array([_fixed(float(value), digits) for value in values.ravel()]).reshape(values.shape)


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", MINUS)


def print_json(data: Any) -> None:
    """JSON with nothing around it, every digit of the numbers kept."""
    print(json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Arrays as lists; JSON knows neither infinity nor NaN, so both are null."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
