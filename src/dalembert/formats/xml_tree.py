"""XML into a small tree whose elements know their line; no entity is ever expanded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import FormatError


@dataclass(slots=True)
class Element:
    """One element: its tag as written (prefix included), attributes, line, children and text."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        """The children of this tag."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[Element]:
        """The element and everything inside it."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def parse(text: str | bytes, source: str) -> Element:
    """The root element.

    Raises
    ------
    FormatError
        When the text is not well-formed XML, or declares a document type or an entity.
    """
    builder = _Builder(source)
    try:
        builder.parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(f"{source}:{max(error.lineno, 1)}: {_explain(error, text, builder)}") from None
    except (UnicodeError, LookupError) as error:  # an encoding Python has no codec for, or a lone surrogate in a str
        raise FormatError(f"{source}:1: the text cannot be decoded ({error}). Save the file as UTF-8.") from None
    assert builder.root is not None
    return builder.root


class _Builder:
    """Collects what expat reports."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Element | None = None
        self.open: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        self.open[-1].text += text

    def _refuse_doctype(self, name: str, *_: object) -> None:
        raise FormatError(
            f"{self.source}:{self.parser.CurrentLineNumber}: <!DOCTYPE {name}> found; document types and entities are refused, "
            "since a few lines of them can expand without bound. Remove the declaration, a robot needs none."
        )


def _explain(error: expat.ExpatError, text: str | bytes, builder: _Builder) -> str:
    codes = expat.errors.codes
    if not text.strip():
        return "the file is empty; a <robot> element is expected."
    if isinstance(text, bytes) and (bad := _first_byte_not_utf8(text)) is not None:
        return f"byte 0x{text[bad]:02x} is not UTF-8 text. Save the file as UTF-8."
    if error.code == codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]:
        return "the XML declaration is not at the very start of the file. Move <?xml ...?> to the first line, or remove it."
    if builder.root is None:
        return f"this is not XML ({expat.ErrorString(error.code)}); a <robot> element is expected."
    if builder.open and error.code in (codes[e] for e in _CUT_SHORT):
        inner = builder.open[-1]
        return f"the file ends inside <{inner.tag}> opened on line {inner.line}. Was it cut short?"
    if not builder.open:
        return f"text found after </{builder.root.tag}>, which should end the file. Remove it."
    return f"not well-formed XML: {expat.ErrorString(error.code)} inside <{builder.open[-1].tag}>."


_CUT_SHORT = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN, expat.errors.XML_ERROR_PARTIAL_CHAR)


def _first_byte_not_utf8(text: bytes) -> int | None:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None
