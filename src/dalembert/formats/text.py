"""Bytes of a file as text."""

from __future__ import annotations

import re

from ..errors import FormatError, Place


def decoded(text: str | bytes, source: str, encoding: str = "utf-8-sig") -> str:
    """The text without its byte order mark."""
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        bad, line = error.object[error.start], error.object[: error.start].count(b"\n") + 1
        sentence = f"byte 0x{bad:02x} is not UTF-8 text. Save the file as UTF-8."
        raise FormatError(sentence, place=Place(source, line)) from None


def line_of_digits(text: str) -> int | None:
    """The line of the first integer that is too long for Python to read."""
    match = re.search(r"[0-9_]{4300}", text)
    return text.count("\n", 0, match.start()) + 1 if match else None
