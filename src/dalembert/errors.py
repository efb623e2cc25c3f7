"""Every exception and warning of the package.

    DalembertError
    ├── ModelError            (ValueError)   a robot that cannot be built or has no meaning
    │   └── FormatError                      a file that cannot be read as a robot
    ├── ShapeError            (ValueError)   an array that does not fit the robot
    ├── UnknownNameError      (LookupError)  a joint, link, robot or option nobody knows
    ├── ExprError             (TypeError)    a traced scalar used as if it were a number
    ├── CompileError          (RuntimeError) a kernel that could not be built
    ├── OutOfMemoryError      (MemoryError)  a kernel that found no memory
    └── MissingExtraError     (ImportError)  an optional dependency that is not installed

Each message is one sentence or two: subject, what was found, what was expected and why, one thing to try.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DalembertError(Exception):
    """Base of every error raised on purpose by this package."""


class ModelError(DalembertError, ValueError):
    """A robot that cannot be built or has no meaning."""


class FormatError(ModelError):
    """A file that cannot be read as a robot."""


class ShapeError(DalembertError, ValueError):
    """An array that does not fit the robot."""


class UnknownNameError(DalembertError, LookupError):
    """A joint, link, robot or option nobody knows."""

    @classmethod
    def among(cls, subject: str, name: object, known: Iterable[str]) -> UnknownNameError:
        """Build the sentence that names the near match and everything known."""
        names = list(known)
        near = difflib.get_close_matches(str(name), names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        listing = f" Known: {', '.join(names)}." if names else ""
        return cls(f"{subject}: {name!r} is not known{hint}{listing}")


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
        """Build the sentence that names the extra to install."""
        return cls(f"{purpose} needs {package}, which is not installed. Try: pip install 'dalembert[{extra}]'")


class DalembertWarning(UserWarning):
    """Something computable but doubtful; `code` names the kind, such as 'negative-mass'."""

    def __init__(self, message: str, code: str = "note") -> None:
        super().__init__(message)
        self.code = code
