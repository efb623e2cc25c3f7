"""Tables that show every name and number, also in a narrow terminal.

A table that is too wide is laid out in one of four ways, the first that fits:

1. heads and words are broken at spaces, heads also after '_'; numbers and names stay whole;
2. the columns are cut into groups, one below the other, the names repeated beside each;
3. the same with names broken after '_', '-', '.' and '/';
4. each row becomes a list, one line per column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..wording import printable
from . import terminal

_GAP = "  "
_AFTER = re.compile(r"[^_\-./]*[_\-./]+|[^_\-./]+")  # pieces of a name, each with the sign after which a line may break


class Sheet(NamedTuple):
    """A table under its title: the first `left` columns are words, the first `keys` of them name the row."""

    title: str
    columns: list[Column]
    keys: int


class Column(NamedTuple):
    """A head and its cells; words may be broken into lines, numbers may not."""

    head: str
    cells: list[str]
    words: bool


def sheet(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, left: int = 1, keys: int = 1) -> Sheet:
    """A plain table: the first `left` columns are words, the others numbers, set to the right and never broken."""
    texts = [[printable(str(cell)) for cell in row] for row in rows]
    heads = map(printable, columns)
    return Sheet(title, [Column(head, [row[k] for row in texts], k < left) for k, head in enumerate(heads)], keys)


def print_sheets(*sheets: Sheet) -> None:
    """Each title, its table and an empty line."""
    room = terminal.width()
    for found in sheets:
        heading = ([(line, "bold")] for line in _folded(printable(found.title), room))
        terminal.say_lines([*heading, *([line] for line in lines(found, room)), []])


def print_title(words: str, *, gap: bool = True) -> None:
    """A title line, and an empty one unless what follows belongs to it."""
    lines = [[(line, "bold")] for line in _folded(printable(words), terminal.width())]
    terminal.say_lines([*lines, []] if gap else lines)


def print_marked(marked: Sequence[tuple[str, str, str]]) -> None:
    """Sentences after a mark in its style; in a terminal further lines are indented, elsewhere a sentence is one line."""
    room = terminal.width()
    for mark, style, words in marked:
        indent = _size(mark) + 3
        first, *others = _folded(printable(words), room and max(room - indent, 1))
        terminal.say_lines([["  ", (mark, style), f" {first}"], *([" " * indent + line] for line in others)])


def lines(found: Sheet, room: int | None) -> Iterator[tuple[str, str]]:
    """The lines of a table in so many columns of a terminal (None: as many as it takes), each with its style."""
    if room is None or _total(map(_natural, found.columns)) <= room:
        yield from _block(found.columns, list(map(_natural, found.columns)))
        return
    for break_names in (False, True):
        groups = _groups(found, room, break_names)
        if groups is not None:
            for number, group in enumerate(groups):
                if number:
                    yield "", ""
                yield from _block(group, _widths(group, found.keys, room, break_names))
            return
    yield from _list(found, room)


def _groups(found: Sheet, room: int, break_names: bool) -> list[list[Column]] | None:
    """The columns in as few groups as fit, each with the names in front; None where one column beside the names is too wide."""
    names, others = found.columns[: found.keys], found.columns[found.keys :]
    left = room - _total(_needed(column, break_names) for column in names)
    if any(len(_GAP) + _needed(column, False) > left for column in others):
        return None
    fewest = _cut(others, left, len(others))
    even = _cut(others, left, -(-len(others) // max(len(fewest), 1)))  # groups of 4 and 3 read better than 6 and 1
    return [[*names, *group] for group in (even if len(even) == len(fewest) else fewest)]


def _cut(columns: Sequence[Column], room: int, most: int) -> list[list[Column]]:
    """The columns one after the other in groups of at most so many, that fit."""
    groups: list[list[Column]] = []
    used = room
    for column in columns:
        wide = len(_GAP) + _needed(column, False)
        if not groups or used + wide > room or len(groups[-1]) == most:
            groups.append([])
            used = 0
        groups[-1].append(column)
        used += wide
    return groups


def _widths(columns: Sequence[Column], keys: int, room: int, break_names: bool) -> list[int]:
    """What each column needs, and the remaining room for columns of words; heads are on one line if all of them fit."""
    widths = [_needed(column, break_names and k < keys) for k, column in enumerate(columns)]
    left = room - _total(widths)
    for k, column in enumerate(columns):
        if column.words:
            more = max(0, min(_natural(column) - widths[k], left))
            widths[k] += more
            left -= more
    return list(map(_natural, columns)) if _total(map(_natural, columns)) <= room else widths


def _block(columns: Sequence[Column], widths: Sequence[int]) -> Iterator[tuple[str, str]]:
    heads = [_folded(column.head, width, names=True) for column, width in zip(columns, widths, strict=True)]
    yield from ((line, "cyan") for line in _side_by_side(columns, widths, heads))
    yield "─" * _total(widths), "dim"
    for cells in zip(*(column.cells for column in columns), strict=True):
        folded = [
            _folded(cell, width, names=True) if column.words else [cell]
            for column, width, cell in zip(columns, widths, cells, strict=True)
        ]
        yield from ((line, "") for line in _side_by_side(columns, widths, folded))


def _side_by_side(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[list[str]]) -> Iterator[str]:
    """Cells of several lines beside each other: words to the left, numbers to the right."""
    for k in range(max(map(len, cells), default=0)):
        pieces = []
        for column, width, cell in zip(columns, widths, cells, strict=True):
            text = cell[k] if k < len(cell) else ""
            blank = " " * (width - _size(text))
            pieces.append(text + blank if column.words else blank + text)
        yield _GAP.join(pieces).rstrip()


def _list(found: Sheet, room: int) -> Iterator[tuple[str, str]]:
    """Each row as a list: its name, then a line for each column."""
    names, others = found.columns[: found.keys], found.columns[found.keys :]
    for row in range(len(names[0].cells)):
        yield _GAP.join(filter(None, (column.cells[row] for column in names))), "cyan"
        for column in others:
            yield from ((f"  {line}", "") for line in _entry(column.head, column.cells[row], room - 2))


def _entry(head: str, cell: str, room: int) -> Iterator[str]:
    """A head and its cell on one line, or the cell below its head."""
    if _size(head) + 2 + _size(cell) <= room:
        yield f"{head}{_GAP}{cell}" if head else cell
        return
    yield head
    yield from (f"  {line}" for line in _folded(cell, room - 2))


def _natural(column: Column) -> int:
    return max(map(_size, (column.head, *column.cells)))


def _needed(column: Column, break_names: bool) -> int:
    """The width below which something would have to be cut."""
    head = max(map(_size, _pieces(column.head, names=True)), default=0)
    if not column.words:
        return max(head, *map(_size, column.cells), 0)
    return max(head, *(_size(piece) for cell in column.cells for piece in _pieces(cell, names=break_names)), 0)


def _pieces(text: str, *, names: bool) -> list[str]:
    """What is not broken: words, or the parts of names in them."""
    return [piece for word in text.split() for piece in (_AFTER.findall(word) if names else [word])]


def _folded(text: str, width: int | None, *, names: bool = False) -> list[str]:
    """The text in lines of at most this width: broken at spaces and, for a word that is too long, between parts of a name."""
    if width is None or _size(text) <= width:
        return [text]
    found = [""]
    for word in text.split():
        parts = [word] if _size(word) <= width or not names else _AFTER.findall(word)
        for k, part in enumerate(parts):
            joined = f"{found[-1]} {part}" if found[-1] and k == 0 else found[-1] + part
            if found[-1] and _size(joined) > width:
                found.append(part)
            else:
                found[-1] = joined
    return found


def _total(widths: Any) -> int:
    every = list(widths)
    return sum(every) + len(_GAP) * max(len(every) - 1, 0)


def _size(text: str) -> int:
    """Columns on a screen: a Chinese character takes two, a dot above a letter none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
