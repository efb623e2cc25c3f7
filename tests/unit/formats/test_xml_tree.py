"""XML with line numbers and without entities."""

from __future__ import annotations

import time
from encodings.aliases import aliases

import pytest

from dalembert.errors import FormatError
from dalembert.formats import xml_tree
from dalembert.formats.xml_tree import parse

BOMB = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<robot name="&c;"/>"""
OUTSIDE = '<!DOCTYPE robot SYSTEM "file:///etc/hostname"><robot/>'

REFUSED = {
    "empty": ("", r"f\.urdf:1: the file is empty"),
    "blank": (" \n\n ", r"the file is empty"),
    "empty bytes": (b"", r"the file is empty"),
    "prose": ("not xml at all", r"f\.urdf:1: this is not XML"),
    "cut in an element": ('<robot>\n<link name="a">\n', r"f\.urdf:3: the file ends inside <link> opened on line 2"),
    "cut in a tag": ('<robot>\n<link name="a', r"the file ends inside <robot> opened on line 1"),
    "mismatched": ("<robot>\n<link></joint></robot>", r"f\.urdf:2: not well-formed XML: mismatched tag inside <link>"),
    "bad attribute": ("<robot>\n<link name=a/></robot>", r"f\.urdf:2: not well-formed XML"),
    "late declaration": (
        '<!-- x -->\n<?xml version="1.0"?>\n<robot/>',
        r"f\.urdf:2: the XML declaration is not at the very start",
    ),
    "text after": ("<robot/>\n;", r"f\.urdf:2: text found after </robot>"),
    "two roots": ("<robot/>\n<robot/>", r"f\.urdf:2: text found after </robot>"),
    "latin-1": (b'<robot>\n<link name="\xe9"/></robot>', r"f\.urdf:2: byte 0xe9 is not UTF-8 text"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', r"f\.urdf:1: encoding 'klingon' cannot be decoded"),
    "undefined entity": ("<robot>&x;</robot>", r"undefined entity"),
    "surrogate": ('<robot name="\ud800"/>', r"cannot be decoded"),
    "bomb": (BOMB, r"f\.urdf:2: <!DOCTYPE robot> found; document types and entities are refused"),
    "outside entity": (OUTSIDE, r"document types and entities are refused"),
}


@pytest.mark.parametrize("text, message", REFUSED.values(), ids=REFUSED)
def test_what_is_not_plain_xml_is_refused_with_the_line_and_a_sentence(text, message):
    with pytest.raises(FormatError, match=message):
        parse(text, "f.urdf")


def test_every_element_knows_its_line():
    root = parse("<robot>\n <link/>\n\n <joint\n  name='j'/>\n</robot>", "f.urdf")
    assert [(element.tag, element.line) for element in root.walk()] == [("robot", 1), ("link", 2), ("joint", 4)]


def test_text_and_prefixes_are_kept_as_written():
    root = parse("<robot><a:b>1 &amp; 2</a:b></robot>", "f.urdf")
    assert [(child.tag, child.text) for child in root.children] == [("a:b", "1 & 2")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_declared_encodings_are_read(encoding):
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><robot name="bras é"/>'
    assert parse(text.encode(encoding), "f.urdf").attributes == {"name": "bras é"}
    assert parse(text, "f.urdf").attributes == {"name": "bras é"}


def test_deep_nesting_costs_no_recursion_and_has_an_end():
    depth = 1000
    root = parse("<a>" * depth + "</a>" * depth, "f.urdf")
    assert sum(1 for _ in root.walk()) == depth
    with pytest.raises(FormatError, match=r"f\.urdf:2: elements are nested deeper than 1000"):
        parse("<a>\n" + "<a>" * depth, "f.urdf")


def test_there_is_an_end_to_the_number_of_elements(monkeypatch):
    monkeypatch.setattr(xml_tree, "_MOST_ELEMENTS", 10)
    assert len(parse(f"<r>{'<a/>' * 9}</r>", "f.urdf").children) == 9
    with pytest.raises(FormatError, match=r"f\.urdf:1: more than 10 elements found"):
        parse(f"<r>{'<a/>' * 10}</r>", "f.urdf")


def test_long_text_takes_time_in_proportion():
    text = "x\n" * 8_000_000
    start = time.process_time()
    assert parse(f"<r>{text}</r>", "f.urdf").text == text
    assert time.process_time() - start < 10.0  # half a second here; minutes when strings are added up


READABLE = ("utf-8", "utf8", "utf_8", "ascii", "us-ascii", "latin_1", "iso-8859-", "iso8859_", "cp125", "windows-125")


@pytest.mark.parametrize(
    "encoding",
    sorted(
        {
            *aliases.values(),
            "utf-8",
            "us-ascii",
            "iso-8859-15",
            "windows-1250",
            "utf-7",
            "undefined",
            "idna",
            "unicode_escape",
            "\u00e9",
            "klingon",
        }
    ),
)
def test_no_declared_encoding_makes_another_error_than_ours(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"/>'.encode()
    assert outcome(text).startswith("robot" if encoding.startswith(READABLE) else "f.urdf:1: ")


def outcome(text: bytes) -> str:
    try:
        return parse(text, "f.urdf").tag
    except FormatError as error:
        return str(error)
