"""TOML text into tables; errors have a line, and texts that would keep Python's parser busy for minutes are refused."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ..errors import FormatError, Place
from ..wording import cut
from .places import BASIC, COMMENT, LITERAL, STRING
from .text import line_of_digits

_MOST_PARTS = 16  # of a dotted key: the parser's work grows with their square, and a robot's keys have three
_BARE = r"(?<![\w-])[\w-]++"
_LONG_KEY = re.compile(rf"(?P<key>(?:(?:{_BARE}|{BASIC}|{LITERAL})[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}})|{STRING}|{COMMENT}", re.S)


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """The tables of the text."""
    _refuse_long_keys(text, source)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = int(match[1]) if match else text.count("\n") + 1
        reason = cut(str(error).split(" (at ")[0], 200)
        raise FormatError(f"not TOML: {reason[:1].lower()}{reason[1:]}.", place=Place(source, line)) from None
    except RecursionError:
        sentence = "values are nested too deeply; a robot needs no more than three levels."
        raise FormatError(sentence, place=Place(source)) from None
    except ValueError as error:  # an integer of more digits than Python reads, or an invalid date
        raise FormatError(f"not TOML: {cut(str(error), 200)}.", place=Place(source, line_of_digits(text))) from None


def _refuse_long_keys(text: str, source: str) -> None:
    for match in _LONG_KEY.finditer(text):
        if match["key"]:
            place = Place(source, text.count("\n", 0, match.start()) + 1)
            raise FormatError(
                f"key {cut(match['key'], 40)!r}... has more than {_MOST_PARTS} parts; a robot needs three.", place=place
            )
