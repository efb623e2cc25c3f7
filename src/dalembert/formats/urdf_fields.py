"""Reading values out of URDF elements: every refusal starts with the file and the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..checks import FloatArray
from ..errors import DalembertError, FormatError, Part, Place, did_you_mean, listed, near_match, shown
from ..wording import cut, printable
from .poses import make_pose, rotation_from_rpy
from .xml_tree import Element

UNBOUNDED = 1e30  # URDF has no infinity; this number stands for one, in files we write and in files we read

XACRO_REMEDY = "Expand it first: xacro model.urdf.xacro > model.urdf"


_MOST_NOTES = 1000  # a file may hold a million unknown elements
# A number as XML writes it; Python's float would also take 1_000 and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|[+-]?(?:inf(?:inity)?|nan)", re.I)
_WORD = re.compile(r"[^ \t\r\n]++")


@dataclass
class Context:
    """The file being read, the part of the robot being read, and what was noticed."""

    source: str
    root: Element
    notes: list[str] = field(default_factory=list)
    notes_left_out: int = 0
    part: Part | None = None
    elements: dict[Part, Element] = field(default_factory=dict)

    def error(self, element: Element, sentence: str) -> FormatError:
        """The refusal of something at this element."""
        return FormatError(sentence, part=self.part, place=Place(self.source, element.line))

    def note(self, element: Element, sentence: str) -> None:
        """Remember something that is read differently from what one might expect, or not at all."""
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(printable(cut(f"{Place(self.source, element.line)}{sentence}"), keep="\n"))
        else:
            self.notes_left_out += 1

    def all_notes(self) -> list[str]:
        """What was noticed, and that there was more."""
        more = f"{self.source}: {self.notes_left_out} more remarks were left out."
        return [*self.notes, more] if self.notes_left_out else self.notes

    def place_of(self, part: Part | None, _sentence: str) -> Place:
        """The place of what the model says about one of its parts."""
        element = self.elements.get(part, self.root) if part is not None else self.root
        return Place(self.source, element.line)

    @contextmanager
    def at(self, element: Element, subject: str) -> Iterator[None]:
        """Give errors of the model the line of this element, and its subject where the model does not know it."""
        try:
            yield
        except FormatError:
            raise
        except DalembertError as error:
            sentence = error.sentence
            raise self.error(element, sentence if sentence.startswith(subject) else f"{subject}: {sentence}") from error

    def child(self, parent: Element, tag: str, subject: str) -> Element | None:
        """The one child of this tag, if there is one."""
        found = parent.all(tag)
        if len(found) > 1:
            raise self.error(found[1], f"{subject}: a second <{tag}> found, at most one expected. Remove one of them.")
        return found[0] if found else None

    def attribute(self, element: Element, name: str, subject: str) -> str:
        """An attribute that has to be there."""
        if name not in element.attributes:
            near = near_match(name, element.attributes)
            hint = f" Is {near!r} misspelled?" if near else ""
            raise self.error(element, f"{subject}: <{element.tag}> has no attribute {name!r}, which is required.{hint}")
        return element.attributes[name]

    def refuse_unknown_attributes(self, element: Element, known: tuple[str, ...], subject: str) -> None:
        """For elements with defaults: a misspelled attribute would fall back to the default and give another robot."""
        for name in element.attributes:
            if name not in known:
                hint = f"{did_you_mean(name, known)} Known: {listed(known)}."
                raise self.error(element, f"{subject}: attribute {shown(name)} of <{element.tag}> is not known{hint}")

    def number(self, element: Element, name: str, subject: str, *, infinite: bool = False) -> float:
        """One number out of an attribute that has to be there."""
        text = self.attribute(element, name, subject).strip(" \t\r\n")
        value = self._float(element, text, f"{subject}: {name}", "a number")
        if infinite and abs(value) >= UNBOUNDED:
            return math.copysign(math.inf, value)
        if not math.isfinite(value):
            raise self.error(element, f"{subject}: {name} {shown(text)} found; a finite number is expected.")
        return value

    def optional(self, element: Element | None, name: str, default: float, subject: str, *, infinite: bool = False) -> float:
        """One number, or the default when the element or the attribute is missing."""
        if element is None or name not in element.attributes:
            return default
        return self.number(element, name, subject, infinite=infinite)

    def vector(self, element: Element, name: str, subject: str) -> FloatArray:
        """Three numbers separated by spaces."""
        text = self.attribute(element, name, subject)
        words = _WORD.findall(text)
        expected = "three numbers separated by spaces"
        if len(words) != 3 and "$" not in text:
            raise self.error(element, f"{subject}: {name}={shown(text)} found, {expected} expected.")
        values = np.array([self._float(element, word, f"{subject}: {name}", expected) for word in words])
        if not np.isfinite(values).all():
            raise self.error(element, f"{subject}: {name}={shown(text)} contains NaN or infinity; a model needs finite numbers.")
        return values

    def numbers(self, element: Element, name: str, subject: str) -> list[float]:
        """Any number of finite numbers separated by spaces."""
        text = self.attribute(element, name, subject)
        values = [self._float(element, word, f"{subject}: {name}", "numbers separated by spaces") for word in _WORD.findall(text)]
        if not all(map(math.isfinite, values)):
            raise self.error(element, f"{subject}: {name}={shown(text)} contains NaN or infinity; a model needs finite numbers.")
        return values

    def _float(self, element: Element, text: str, subject: str, expected: str) -> float:
        if "${" in text or "$(" in text:
            raise self.error(element, f"{subject}: {shown(text)} is an unexpanded xacro expression. {XACRO_REMEDY}")
        if not _NUMBER.fullmatch(text):
            hint = " Use a decimal point." if "," in text else ""
            raise self.error(element, f"{subject}: {shown(text)} is not a number; {expected} expected.{hint}")
        return float(text)

    def origin(self, parent: Element, subject: str) -> FloatArray:
        """The pose in <origin>; identity where it is missing; a missing xyz or rpy is zero."""
        element = self.child(parent, "origin", subject)
        if element is None:
            return np.eye(4)
        subject = f"{subject}: origin"
        self.refuse_unknown_attributes(element, ("xyz", "rpy"), subject)
        xyz = self.vector(element, "xyz", subject) if "xyz" in element.attributes else np.zeros(3)
        rpy = self.vector(element, "rpy", subject) if "rpy" in element.attributes else np.zeros(3)
        return make_pose(xyz, rotation_from_rpy(rpy))
