"""The line of each key of a TOML or JSON text, for messages; Python's parsers do not report it.

The text has been parsed before, so it is enough to read strings, brackets and separators. A place is the path of keys and
numbers that leads to it, such as ("joint", 0, "rotor", "inertia").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
_DEEPEST = 8  # keys of a path; robots need six, and a text may nest a thousand

# Possessive quantifiers (*+): nothing here is ever read twice, however long.
BASIC = r'"(?:[^"\\\n]|\\.)*+"'
LITERAL = r"'[^'\n]*+'"
STRING = rf'"""(?:[^"\\]|\\.|"(?!""))*+"{{3,5}}|\'\'\'(?:[^\']|\'(?!\'\'))*+\'{{3,5}}|{BASIC}|{LITERAL}'
COMMENT = r"\#[^\n]*+"
_TOKEN = re.compile(
    rf"(?P<text>{STRING})|(?P<skip>{COMMENT}|[ \t\r]++)|(?P<mark>[\[\]{{}},=:\n])|(?P<word>[^\s\[\]{{}},=:\"'\#]++)", re.S
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        found = match[0]
        if match.lastgroup != "skip":
            yield _Token(match.lastgroup or "", found, line)
        if found == "\n" or match.lastgroup == "text":
            line += found.count("\n")


def json_lines(text: str) -> dict[KeyPath, int]:
    """The line of each key of a JSON text."""
    lines: dict[KeyPath, int] = {}
    _read_value(_tokens(text), (), lines)
    return lines


def toml_lines(text: str) -> dict[KeyPath, int]:
    """The line of each table and each key of a TOML text."""
    lines: dict[KeyPath, int] = {}
    count: dict[KeyPath, int] = {}
    head: KeyPath = ()
    tokens = _tokens(text)
    for token in tokens:
        if token.text == "[" and token.kind == "mark":
            head = _read_header(tokens, count)
            lines.setdefault(head, token.line)
        elif token.text != "\n":
            path = head + _key([token, *_until(tokens, "=")])
            lines.setdefault(path, token.line)
            _read_value(tokens, path, lines)
    return lines


def _read_header(tokens: Iterator[_Token], count: dict[KeyPath, int]) -> KeyPath:
    """The path a header opens; `count` holds the number of tables of each array so far."""
    inside = list(_until(tokens, "\n"))
    many = bool(inside) and inside[0].text == "["
    keys = _key(token for token in inside if token.kind != "mark")
    path: KeyPath = ()
    for key in keys[:-1]:
        path = (*path, key)
        if path in count:
            path = (*path, count[path] - 1)
    path = path + keys[-1:]
    if many:
        count[path] = count.get(path, 0) + 1
        path = (*path, count[path] - 1)
    return path


def _until(tokens: Iterator[_Token], mark: str) -> Iterator[_Token]:
    for token in tokens:
        if token.kind == "mark" and token.text == mark:
            return
        yield token


def _key(tokens: Iterable[_Token]) -> KeyPath:
    """The parts of a dotted key; dots are outside of quotes only."""
    parts: list[str | int] = []
    for token in tokens:
        if token.kind == "text":
            parts.append(token.text[1:-1])
        else:
            parts.extend(part for part in token.text.split(".") if part)
    return tuple(parts)


def _below(path: KeyPath, *keys: str | int) -> KeyPath:
    return (*path, *keys)[:_DEEPEST]


class _Open(NamedTuple):
    """An open bracket: the path it is at and, of a list, the number of its next entry."""

    path: KeyPath
    next: int | None


def _read_value(tokens: Iterator[_Token], path: KeyPath, lines: dict[KeyPath, int]) -> None:
    """Note the keys inside the value that comes next; ends with it, or with the line of a plain value."""
    stack: list[_Open] = []
    key: list[_Token] = []
    for token in tokens:
        if token.kind != "mark":
            key.append(token)
        elif token.text in "[{":
            if stack and stack[-1].next is not None:
                path = _below(stack[-1].path, stack[-1].next)
            lines.setdefault(path, token.line)
            stack.append(_Open(path, 0 if token.text == "[" else None))
            key = []
        elif token.text in "=:" and stack and stack[-1].next is None and key:
            path = _below(stack[-1].path, *_key(key))
            lines.setdefault(path, key[0].line)
            key = []
        elif token.text == "," and stack:
            path, number = stack[-1]
            stack[-1] = _Open(path, None if number is None else number + 1)
            key = []
        elif token.text in "]}" and stack:
            stack.pop()
            key = []
        if not stack and token.text in "]}\n":
            return
