"""Reading values out of URDF elements: every refusal starts with the file and the line."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..checks import FloatArray
from ..errors import DalembertError, FormatError
from .poses import make_pose, rotation_from_rpy
from .xml_tree import Element

UNBOUNDED = 1e30  # URDF has no infinity; this number stands for one, in files we write and in files we read

XACRO_REMEDY = "Expand it first: xacro model.urdf.xacro > model.urdf"


@dataclass
class Context:
    """The file being read, and what was noticed in it."""

    source: str
    notes: list[str] = field(default_factory=list)

    def error(self, element: Element, sentence: str) -> FormatError:
        """The refusal of something at this element."""
        return FormatError(f"{self.source}:{element.line}: {sentence}")

    def note(self, element: Element, sentence: str) -> None:
        """Remember something that is read differently from what one might expect, or not at all."""
        self.notes.append(f"{self.source}:{element.line}: {sentence}")

    @contextmanager
    def at(self, element: Element, subject: str) -> Iterator[None]:
        """Give errors of the model the line of this element, and its subject where the model does not know it."""
        try:
            yield
        except FormatError:
            raise
        except DalembertError as error:
            sentence = str(error)
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
            near = difflib.get_close_matches(name, element.attributes, n=1)
            hint = f" Is {near[0]!r} misspelled?" if near else ""
            raise self.error(element, f"{subject}: <{element.tag}> has no attribute {name!r}, which is required.{hint}")
        return element.attributes[name]

    def refuse_unknown_attributes(self, element: Element, known: tuple[str, ...], subject: str) -> None:
        """For elements with defaults: a misspelled attribute would fall back to the default and give another robot."""
        for name in element.attributes:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                sentence = f"{subject}: attribute {name!r} of <{element.tag}> is not known{hint} Known: {', '.join(known)}."
                raise self.error(element, sentence)

    def number(self, element: Element, name: str, subject: str, *, infinite: bool = False) -> float:
        """One number out of an attribute that has to be there."""
        text = self.attribute(element, name, subject).strip()
        value = self._float(element, text, f"{subject}: {name}", "a number")
        if infinite and abs(value) >= UNBOUNDED:
            return math.copysign(math.inf, value)
        if not math.isfinite(value):
            raise self.error(element, f"{subject}: {name} {text!r} found; a finite number is expected.")
        return value

    def optional(self, element: Element | None, name: str, default: float, subject: str, *, infinite: bool = False) -> float:
        """One number, or the default when the element or the attribute is missing."""
        if element is None or name not in element.attributes:
            return default
        return self.number(element, name, subject, infinite=infinite)

    def vector(self, element: Element, name: str, subject: str) -> FloatArray:
        """Three numbers separated by spaces."""
        text = self.attribute(element, name, subject)
        words = text.split()
        expected = "three numbers separated by spaces"
        if len(words) != 3 and "$" not in text:
            raise self.error(element, f"{subject}: {name}={text!r} found, {expected} expected.")
        values = np.array([self._float(element, word, f"{subject}: {name}", expected) for word in words])
        if not np.isfinite(values).all():
            raise self.error(element, f"{subject}: {name}={text!r} contains NaN or infinity; a model needs finite numbers.")
        return values

    def _float(self, element: Element, text: str, subject: str, expected: str) -> float:
        if "${" in text or "$(" in text:
            raise self.error(element, f"{subject}: {text!r} is an unexpanded xacro expression. {XACRO_REMEDY}")
        try:
            if "_" in text:  # Python reads 1_000 as a number, XML does not
                raise ValueError
            return float(text)
        except ValueError:
            hint = " Use a decimal point." if "," in text else ""
            raise self.error(element, f"{subject}: {text!r} is not a number; {expected} expected.{hint}") from None

    def origin(self, parent: Element, subject: str) -> FloatArray:
        """The pose in <origin>; identity where it is missing, zero where one half of it is."""
        element = self.child(parent, "origin", subject)
        if element is None:
            return np.eye(4)
        subject = f"{subject}: origin"
        self.refuse_unknown_attributes(element, ("xyz", "rpy"), subject)
        xyz = self.vector(element, "xyz", subject) if "xyz" in element.attributes else np.zeros(3)
        rpy = self.vector(element, "rpy", subject) if "rpy" in element.attributes else np.zeros(3)
        return make_pose(xyz, rotation_from_rpy(rpy))
