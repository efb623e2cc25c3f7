"""Results as plain text: aligned columns, words to the left, numbers to the right."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def text(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table under its title; the first `left` columns are words."""
    widths = [max(_width(row[k]) for row in (columns, *rows)) for k in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        spaces = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
        words = (cell + room if k < left else room + cell for k, (cell, room) in enumerate(zip(cells, spaces, strict=True)))
        return "  ".join(words).rstrip()

    return "\n".join([title, "", line(columns), "  ".join("-" * width for width in widths), *map(line, rows)])


def _width(cell: str) -> int:
    """Columns on a screen: a dot above a letter takes none."""
    return sum(not unicodedata.combining(letter) for letter in cell)


def number(value: float | None, digits: int = 3) -> str:
    """A number in few digits; None is a dash."""
    return "–" if value is None else f"{value:.{digits}g}"
