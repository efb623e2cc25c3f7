"""Names and numbers as URDF writes them."""

from __future__ import annotations

import re

from ..checks import FloatArray
from ..errors import FormatError, shown
from .urdf_fields import UNBOUNDED

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def quoted(name: str) -> str:
    """A name as the value of an attribute."""
    if found := _NOT_XML.search(name):
        raise FormatError(
            f"{shown(name)}: {shown(found[0])} cannot stand in XML, so URDF cannot hold this name. Rename that part."
        )
    return f'"{name.translate(_ESCAPES)}"'


def number(value: float) -> str:
    """The shortest text that reads back as the same float."""
    if not abs(value) <= UNBOUNDED:
        raise FormatError(
            f"{value:g} would have to be written, but numbers of a robot are at most {UNBOUNDED:g}. Save as .toml, which keeps "
            "the bodies of a link apart."
        )
    text = repr(float(value) + 0.0)
    return text.removesuffix(".0")


def vector(values: FloatArray | tuple[float, ...]) -> str:
    """Numbers separated by spaces."""
    return " ".join(number(value) for value in values)


__all__ = ["number", "quoted", "vector"]
