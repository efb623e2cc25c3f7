"""How values and names appear in a message: on one line, short, without anything a terminal would obey."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable
from itertools import islice

_LONGEST = 1500  # characters of a whole message
_LONGEST_NAME = 100  # characters: nobody mistypes a longer one, and comparing long ones takes time that grows with the square
_MOST_COMPARED = 10_000
_MOST_LISTED = 40


def shown(value: object) -> str:
    """A value as a message echoes it: its repr, cut where it is long, and something in its place where Python has none."""
    return " ".join(_SHORT.repr(value).split()) if not isinstance(value, str) else _SHORT.repr(value)


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxarray = 8
        self.maxstring = self.maxlong = self.maxother = 100

    def repr_int(self, x: int, level: int) -> str:
        """Python writes no integer of more than some thousand digits."""
        digits = math.floor(x.bit_length() * math.log10(2)) + 1
        return super().repr_int(x, level) if digits < 1000 else f"an integer of about {digits} digits"


_SHORT = _Short()


def cut(sentence: str, longest: int = _LONGEST) -> str:
    """The sentence, without its middle where it is too long to read."""
    if len(sentence) <= longest:
        return sentence
    tail = longest // 4
    return f"{sentence[: longest - tail - 5]} ... {sentence[-tail:]}"


def printable(text: str, keep: str = "") -> str:
    """The text with escapes for what is no visible character: control codes, overrides of direction, line separators."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


def listed(names: Iterable[object], most: int = _MOST_LISTED) -> str:
    """Names with commas; of many, the first."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(cut(str(name), _LONGEST_NAME) for name in names[:most]) + more


def counted(count: int, noun: str) -> str:
    """A number and its noun, in the plural where it is one."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def near_match(name: object, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant."""
    import difflib  # here, since most programs misspell nothing

    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    names = [other for other in islice(known, _MOST_COMPARED) if len(other) <= _LONGEST_NAME]
    near = difflib.get_close_matches(name, names, n=1)
    return near[0] if near else None
