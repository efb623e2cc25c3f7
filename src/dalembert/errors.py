"""Every exception and warning of the package.

    DalembertError
    ├── ModelError            (ValueError)   a robot that cannot be built, an option without a meaning
    │   └── FormatError                      a file that cannot be read as a robot
    ├── ShapeError            (ValueError)   an array that does not fit the robot
    ├── SingularError         (ValueError)   a configuration in which coordinates do not determine the motion
    ├── InfeasibleError       (ValueError)   a load that drives within their limits do not carry
    ├── UnknownNameError      (LookupError)  a joint, link, robot or option nobody knows
    ├── ExprError             (TypeError)    a traced scalar used as if it were a number
    ├── CompileError          (RuntimeError) a kernel that could not be built
    ├── OutOfMemoryError      (MemoryError)  a kernel that found no memory
    └── MissingExtraError     (ImportError)  an optional dependency that is not installed

Each message is one sentence or two: subject, what was found, what was expected and why, one thing to try. Which part of the robot
it is about and where that part stands in which file are fields; the text is put together from them when it is read.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias

from .wording import cut, listed, near_match, printable, shown

__all__ = [
    "CompileError",
    "DalembertError",
    "DalembertWarning",
    "ExprError",
    "FormatError",
    "InfeasibleError",
    "MissingExtraError",
    "ModelError",
    "Part",
    "Place",
    "ShapeError",
    "SingularError",
    "UnknownNameError",
    "about",
    "did_you_mean",
    "listed",
    "near_match",
    "reading",
    "shown",
    "tell",
]

_PACKAGE = os.path.dirname(__file__) + os.sep


class Part(NamedTuple):
    """A part of a robot: its kind ('link', 'joint', 'row') and its name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {cut(repr(self.name), _LONGEST_NAME)}"


class Place(NamedTuple):
    """Where a part stands: a file, and a line of it where that is known."""

    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.file is None:
            return ""
        file = cut(printable(self.file), _LONGEST_PATH)
        return f"{file}: " if self.line is None else f"{file}:{self.line}: "


PlaceOf: TypeAlias = Callable[[Part | None, str], Place]
_LONGEST_NAME = 260  # characters; a robot has no longer ones
_LONGEST_PATH = 400
_NOWHERE = Place()
_reading: ContextVar[PlaceOf | None] = ContextVar("reading", default=None)


def _whole(file: str | None, line: int | None, sentence: str) -> str:
    """A message with its place; line ends stay, other control characters do not."""
    place = "" if file is None else str(Place(file, line))
    return cut(place + printable(sentence, keep="\n"))


class DalembertError(Exception):
    """Base of every error raised on purpose by this package.

    `part`, `file` and `line` say what the error is about and where that stands; each is None where it is not known.
    """

    def __init__(self, sentence: object = "", *, part: Part | None = None, place: Place = _NOWHERE) -> None:
        super().__init__(cut(str(sentence)))
        self.part = part
        self.file, self.line = place

    @property
    def sentence(self) -> str:
        """The message without the place."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return _whole(self.file, self.line, self.sentence)


@contextmanager
def about(part: Part) -> Iterator[None]:
    """Say of errors raised inside which part they are about, unless they know it already."""
    try:
        yield
    except DalembertError as error:
        error.part = error.part or part
        raise


class ModelError(DalembertError, ValueError):
    """A robot that cannot be built, or an option without a meaning."""


class FormatError(ModelError):
    """A file that cannot be read as a robot."""


@contextmanager
def reading(place_of: PlaceOf) -> Iterator[None]:
    """While a file is read: errors and warnings of the model stand at the place of the part they are about."""
    token = _reading.set(place_of)
    try:
        yield
    except FormatError:
        raise
    except DalembertError as error:
        raise FormatError(error.sentence, part=error.part, place=place_of(error.part, error.sentence)) from error
    finally:
        _reading.reset(token)


class ShapeError(DalembertError, ValueError):
    """An array that does not fit the robot."""


class SingularError(DalembertError, ValueError):
    """A configuration in which coordinates do not determine the motion."""


class InfeasibleError(DalembertError, ValueError):
    """A load that the drives of a mechanism do not carry within their limits, or without letting a contact go."""


class UnknownNameError(DalembertError, LookupError):
    """A joint, link, robot or option nobody knows."""

    @classmethod
    def among(cls, subject: str, name: object, known: Iterable[str], *, part: Part | None = None) -> UnknownNameError:
        """Build the sentence that names the near match and everything known."""
        names = list(known)
        listing = f" Known: {listed(names)}." if names else ""
        return cls(f"{subject}: {shown(name)} is not known{did_you_mean(name, names)}{listing}", part=part)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the near match, or the full stop where there is none."""
    near = near_match(name, known)
    return "." if near is None else f"; did you mean {near!r}?"


class ExprError(DalembertError, TypeError):
    """A traced scalar used as if it were a number."""


class CompileError(DalembertError, RuntimeError):
    """A kernel that could not be built."""


class OutOfMemoryError(DalembertError, MemoryError):
    """A kernel that found no memory for its intermediate results."""


class MissingExtraError(DalembertError, ImportError):
    """An optional dependency that is not installed."""

    @classmethod
    def for_extra(cls, purpose: str, package: str, extra: str) -> MissingExtraError:
        """Build the sentence that names what to install: the package itself, since dalembert may have come from a folder."""
        remedy = f"Try: pip install {package}, or install dalembert with its extra {extra!r}."
        return cls(f"{purpose} needs {package}, which is not installed. {remedy}")


class DalembertWarning(UserWarning):
    """Something computable but doubtful; `code` names the kind, such as 'negative-mass'.

    `part`, `file` and `line` are as in `DalembertError`; a warning raised while a file is read knows its place.
    """

    def __init__(self, message: str, code: str = "note", *, part: Part | None = None) -> None:
        super().__init__(cut(message))
        self.code = code
        self.part = part
        place_of = _reading.get()
        self.file, self.line = _NOWHERE if place_of is None else place_of(part, message)

    def __str__(self) -> str:
        return _whole(self.file, self.line, str(self.args[0]))


def tell(warning: DalembertWarning) -> None:
    """Warn at the line outside of the package from which it was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and (frame.f_code.co_filename.startswith(_PACKAGE) or frame.f_code.co_filename == "<string>"):
        frame, level = frame.f_back, level + 1  # "<string>" is the __init__ that dataclass writes
    warnings.warn(warning, stacklevel=level)
