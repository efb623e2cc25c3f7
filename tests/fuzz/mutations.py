"""Ways to spoil a text: a mutation takes a generator and bytes, and gives other bytes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from .campaign import pick

Mutation = Callable[[np.random.Generator, bytes], bytes]

_NUMBER = re.compile(rb"(?<![\w.\-+])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.])")
_QUOTED = re.compile(rb'"[^"<>\n]{1,60}"')
_ELEMENT = re.compile(rb"<(\w+)[^<>]*/>|<(\w+)[^<>]*>[^<>]*</\2>|\[\[?\w+\]\]?[^\[]*|\{[^{}]*\}")

_DIGITS = ("٣.٥".encode(), "１２".encode())  # of other scripts
NOT_NUMBERS = (
    b"nan",
    b"NaN",
    b"inf",
    b"-Infinity",
    b"1e400",
    b"",
    b"--1",
    b"1,5",
    b"0.5.5",
    b"1e",
    b"abc",
    b"1 2",
    b"0x1p",
    *_DIGITS,
)
"""What no format takes for a finite number."""
ODD_NUMBERS = (
    *NOT_NUMBERS,
    *(b"0", b"-1", b"90", b"180.0", b"-0.0", b"1e-320", b"1e200", b"1e308", b"-1e5", b"1e10", b"0x10", b"1_000", b"007", b"+5"),
    *(b"9" * 5000, b"0." + b"1" * 5000, b"true", b"null", b'"4"', b"[1, 2]", b"{}"),
)
_ODD_WORDS = (
    *(b"", b" ", b"a" * 300, b"a" * 100_000, b"world", b"tool", b"base", b"link1", b"joint1", b"fixed", b"floating", b"planar"),
    *(
        "naïve ü 日本".encode(),
        b"\x1b[31mred",
        b"a\x00b",
        b"\xff\xfe",
        b"&lt;&amp;&#10;",
        b"&nothing;",
        b"it's",
        b"\\u0000",
        b"\\",
    ),
)
_SNIPPETS = (
    *(
        b"<a>",
        b"</robot>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b'<!DOCTYPE a [<!ENTITY b "c">]>',
        b"[[link]]\n",
        b"[a]\n",
        b"a.b.c = 1\n",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"'",
        b",",
        b"=",
        b"\n",
        b"\r",
        b"\t",
        b"\x00",
        b"\xef\xbb\xbf",
        b"#",
        b"<?xml?>",
        b"$(find a)",
    ),
    *(b"a" + b".a" * 3000 + b" = 1\n", b"<a>" * 2000, b"[" * 950 + b"]" * 950, b"x" * 50_000),
)


def _place(rng: np.random.Generator, text: bytes) -> int:
    return int(rng.integers(len(text) + 1))


def flip_bits(rng: np.random.Generator, text: bytes) -> bytes:
    """A few bits turned over."""
    changed = bytearray(text)
    for _ in range(int(rng.integers(1, 6)) if changed else 0):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def truncate(rng: np.random.Generator, text: bytes) -> bytes:
    """The end, or the beginning, is missing."""
    at = _place(rng, text)
    return text[:at] if rng.random() < 0.8 else text[at:]


def delete_lines(rng: np.random.Generator, text: bytes) -> bytes:
    """A line or two left out."""
    lines = text.splitlines(keepends=True)
    at = int(rng.integers(len(lines) + 1))
    return b"".join(lines[:at] + lines[at + int(rng.integers(1, 3)) :])


def double_line(rng: np.random.Generator, text: bytes) -> bytes:
    """A line twice."""
    lines = text.splitlines(keepends=True)
    at = int(rng.integers(len(lines) + 1))
    return b"".join(lines[:at] + lines[at : at + 1] * 2 + lines[at + 1 :])


def swap_lines(rng: np.random.Generator, text: bytes) -> bytes:
    """Two lines exchanged."""
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        a, b = (int(k) for k in rng.integers(len(lines), size=2))
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def _replaced(rng: np.random.Generator, text: bytes, pattern: re.Pattern[bytes], change: Callable[[bytes], bytes]) -> bytes:
    """One of the places a pattern finds, or the group `number` of it, changed."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = found[int(rng.integers(len(found)))]
    start, end = match.span(match.re.groupindex.get("number", 0))
    return text[:start] + change(text[start:end]) + text[end:]


def delete_element(rng: np.random.Generator, text: bytes) -> bytes:
    """An element or a table left out."""
    return _replaced(rng, text, _ELEMENT, lambda _: b"")


def repeat_element(rng: np.random.Generator, text: bytes) -> bytes:
    """An element or a table twice, or many times."""
    return _replaced(rng, text, _ELEMENT, lambda element: (element + b"\n") * pick(rng, (2, 2, 3, 200)))


def nest_element(rng: np.random.Generator, text: bytes) -> bytes:
    """An element inside others."""
    depth = pick(rng, (1, 10, 900))
    return _replaced(rng, text, _ELEMENT, lambda element: b"<joint>" * depth + element + b"</joint>" * depth)


def odd_number(rng: np.random.Generator, text: bytes) -> bytes:
    """A number replaced by text, by a huge number, by degrees, or by an unusual spelling."""
    return _replaced(rng, text, _NUMBER, lambda _: pick(rng, ODD_NUMBERS))


def scale_number(rng: np.random.Generator, text: bytes) -> bytes:
    """A number of another size or sign."""
    return _replaced(rng, text, _NUMBER, lambda number: repr(-float(number) * 10.0 ** rng.uniform(-12, 12)).encode())


def odd_word(rng: np.random.Generator, text: bytes) -> bytes:
    """A name or word replaced."""
    return _replaced(rng, text, _QUOTED, lambda _: b'"' + pick(rng, _ODD_WORDS) + b'"')


def exchange_words(rng: np.random.Generator, text: bytes) -> bytes:
    """A name or word replaced by another of the same file."""
    words = _QUOTED.findall(text)
    return _replaced(rng, text, _QUOTED, lambda word: pick(rng, words or [word]))


def insert(rng: np.random.Generator, text: bytes) -> bytes:
    """Something that does not belong there."""
    at = _place(rng, text)
    return text[:at] + pick(rng, _SNIPPETS) + text[at:]


def recode(rng: np.random.Generator, text: bytes) -> bytes:
    """In another encoding, or said to be."""
    letters = text.decode("utf-8", errors="replace")
    encoded = [letters.encode(name, errors="replace") for name in ("utf-16", "utf-32", "latin-1", "cp500", "utf-8-sig")]
    declared = [
        b'<?xml version="1.0" encoding="%s"?>\n' % name + text for name in (b"utf-7", b"latin-1", b"none", b"utf-16", b"idna")
    ]
    return pick(rng, [*encoded, *declared, text.replace(b"\n", b"\r\n"), text.replace(b"\n", b"\r"), text + b"\x00", text * 2])


MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bits, truncate, delete_lines, double_line, swap_lines, delete_element, repeat_element, nest_element),
    *(odd_number, odd_number, scale_number, scale_number, odd_word, odd_word, exchange_words, insert, recode),
)

# Where a number stands that always acts: limits may be infinite, and a name may contain digits.
_ACTING = re.compile(
    rb'((?:mass value="|\bi(?:xx|yy|zz)="|\b(?:mass|ratio)"?(?: =|:) |\bcom"?(?: =|:) \[\s*))(?P<number>[-+]?\d[\d.e+-]*)'
)


def no_number(rng: np.random.Generator, text: bytes) -> bytes:
    """A number that acts, replaced by what no format takes for a number."""
    return _replaced(rng, text, _ACTING, lambda _: pick(rng, NOT_NUMBERS))
