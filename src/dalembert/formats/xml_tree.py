"""XML into a small tree whose elements have their line; entities are never expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import FormatError, Place, shown
from ..wording import cut

_MOST_ELEMENTS = 500_000  # the largest humanoid has ten thousand
_DEEPEST = 1000
_ENCODING = re.compile(
    r"utf[-_]?(?:8|16(?:[-_]?[bl]e)?)|(?:us-)?ascii|iso[-_]?8859[-_][0-9]{1,2}|latin[-_]?1|(?:windows-|cp)125[0-8]", re.I
)


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
    if isinstance(text, bytes):
        builder.parser.XmlDeclHandler = builder.refuse_encoding
    try:
        builder.parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(_explain(error, text, builder), place=Place(source, max(error.lineno, 1))) from None
    except FormatError:
        raise
    except (ValueError, LookupError) as error:  # an encoding expat or Python cannot read, or a lone surrogate in a str
        sentence = f"the text cannot be decoded ({cut(str(error), 200)}). Save the file as UTF-8."
        raise FormatError(sentence, place=Place(source, 1)) from None
    assert builder.root is not None
    return builder.root


class _Builder:
    """Collects what expat reports."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Element | None = None
        self.open: list[Element] = []
        self.pieces: list[list[str]] = []  # of the text of each open element; adding strings would copy them each time
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        self._refuse_too_many()
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.pieces.append([])

    def _end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.pieces.pop())

    def _text(self, text: str) -> None:
        self.pieces[-1].append(text)

    def _refuse_too_many(self) -> None:
        self.count += 1
        if self.count > _MOST_ELEMENTS:
            raise self._error(f"more than {_MOST_ELEMENTS} elements found, more than a robot needs.")
        if len(self.open) >= _DEEPEST:
            raise self._error(f"elements are nested deeper than {_DEEPEST}; a robot needs no more than six levels.")

    def refuse_encoding(self, version: str, encoding: str | None, *_: object) -> None:
        """Refuse encodings that are not for text: Python also has codecs for compression and the like."""
        if encoding is not None and not _ENCODING.fullmatch(encoding):
            raise self._error(f"encoding {shown(encoding)} cannot be decoded. Save the file as UTF-8.")

    def _refuse_doctype(self, name: str, *_: object) -> None:
        raise self._error(
            f"<!DOCTYPE {name}> found; document types and entities are refused, "
            "since a few lines of them can expand without bound. Remove the declaration, a robot needs none."
        )

    def _error(self, sentence: str) -> FormatError:
        return FormatError(sentence, place=Place(self.source, self.parser.CurrentLineNumber))


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
        return f"the file ends inside <{cut(inner.tag, 100)}> opened on line {inner.line}. Was it cut short?"
    if not builder.open:
        return f"text found after </{builder.root.tag}>, which should end the file. Remove it."
    return f"not well-formed XML: {expat.ErrorString(error.code)} inside <{cut(builder.open[-1].tag, 100)}>."


_CUT_SHORT = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN, expat.errors.XML_ERROR_PARTIAL_CHAR)


def _first_byte_not_utf8(text: bytes) -> int | None:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None
