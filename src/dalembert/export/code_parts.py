"""Long straight-line code cut into parts that hand values on through an array.

Compilers take time quadratic in the length of a function: gcc 82 s for a chain of 300 joints as one, 8 s in parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .straight import Code, Local

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class CodePart(NamedTuple):
    """Consecutive steps, the inputs and entries of inputs they read, and places in the array: what they get, what they leave."""

    inputs: list[int]
    locals: list[Local]
    gets: dict[str, int]
    steps: list[tuple[str, str]]
    leaves: dict[str, int]


class Cut(NamedTuple):
    """The parts, then what the outputs get from inputs and from the array, and the length of the array."""

    parts: list[CodePart]
    last: CodePart
    length: int


def cut(code: Code, size: int) -> Cut:
    """Cut code into parts of at most `size` steps."""
    chunks = [code.steps[k : k + size] for k in range(0, len(code.steps), size)]
    home = {name: k for k, chunk in enumerate(chunks) for name, _ in chunk}
    mentions = [_mentioned(value for _, value in chunk) for chunk in chunks]
    mentions.append(_mentioned(value for result in code.results for value in result))
    crossing = dict.fromkeys(name for k, names in enumerate(mentions) for name in names if home.get(name, k) != k)
    places = {name: place for place, name in enumerate(crossing)}
    steps = [*chunks, []]
    parts = [_part(code, steps[k], mentions[k], home, places, k) for k in range(len(steps))]
    return Cut(parts[:-1], parts[-1], len(places))


def _part(
    code: Code, steps: list[tuple[str, str]], mentioned: dict[str, None], home: dict[str, int], places: dict[str, int], k: int
) -> CodePart:
    read = [local for local in code.locals if local.name in mentioned]
    inputs = {local.slot for local in read} | {i for i, name in enumerate(code.inputs) if name in mentioned}
    gets = {name: places[name] for name in mentioned if home.get(name, k) != k}
    leaves = {name: places[name] for name, _ in steps if name in places}
    return CodePart(sorted(inputs), read, gets, steps, leaves)


def _mentioned(texts: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(name for text in texts for name in _NAME.findall(text))
