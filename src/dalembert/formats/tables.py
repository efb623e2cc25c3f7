"""Reading values out of the tables of a TOML or JSON file: every refusal names the file and the table."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import DalembertError, FormatError


@dataclass
class Table:
    """One table of a file, with the words that name it, such as "joint 'elbow': rotor"."""

    source: str
    subject: str
    values: Mapping[str, Any]

    def error(self, sentence: str) -> FormatError:
        """The refusal of something in this table."""
        head, _, last = self.subject.rpartition(": ")
        subject = head if sentence.startswith(f"{last}:") else self.subject  # the model may have named its part itself
        return FormatError(": ".join(part for part in (self.source, subject, sentence) if part))

    @contextmanager
    def building(self) -> Iterator[None]:
        """Give errors of the model the name of the file and of this table."""
        try:
            yield
        except FormatError:
            raise
        except DalembertError as error:
            raise self.error(str(error)) from error

    def refuse_other_keys(self, *known: str) -> None:
        """A misspelled key would silently leave its default in place."""
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise self.error(f"key {key!r} is not known{hint} Known: {', '.join(known)}.")

    def require(self, key: str) -> Any:
        """The value of a key that has to be there."""
        if key not in self.values:
            raise self.error(f"{key!r} is missing.")
        return self.values[key]

    def text(self, key: str, default: str | None = None) -> str:
        """A string; required unless there is a default."""
        value = self.require(key) if default is None else self.values.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} = {value!r} found, a string expected.")
        return value

    def flag(self, key: str) -> bool:
        """A yes or no; no when missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f"{key} = {value!r} found, true or false expected.")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number; required unless there is a default."""
        value = self.require(key) if default is None else self.values.get(key, default)
        return self._float(key, value)

    def given_numbers(self, *keys: str) -> dict[str, float]:
        """Those of the keys that are there, as numbers."""
        return {key: self.number(key) for key in keys if key in self.values}

    def array(self, key: str, *shapes: tuple[int, ...], default: FloatArray | None = None) -> FloatArray:
        """An array of one of these shapes; required unless there is a default."""
        if self.values.get(key) is None and default is not None:
            return default
        value = self._nested(key, self.require(key))
        expected = " or ".join("x".join(map(str, shape)) for shape in shapes)
        try:
            result = np.array(value, dtype=float)
        except ValueError:
            raise self.error(f"{key}: rows of different length found, {expected} numbers expected.") from None
        if result.shape not in shapes:
            raise self.error(f"{key}: shape {result.shape} found, {expected} numbers expected.")
        if not np.isfinite(result).all():
            raise self.error(f"{key}: {checks.describe(result)} contains infinity; a model needs finite numbers.")
        return result

    def inertia(self, key: str = "inertia") -> FloatArray:
        """A tensor: three rows of three, or the three diagonal values."""
        tensor = self.array(key, (3, 3), (3,), default=np.zeros((3, 3)))
        return np.diag(tensor) if tensor.shape == (3,) else tensor

    def table(self, key: str) -> Table | None:
        """A table inside this one."""
        if self.values.get(key) is None:
            return None
        return self._table(key, self.values[key], f"{self.subject}: {key}" if self.subject else key)

    def tables(self, key: str) -> list[Table]:
        """A list of tables inside this one, named by their `name` where they have one, by their number otherwise."""
        rows = self.values.get(key, [])
        if not isinstance(rows, list):
            raise self.error(f"{key}: {type(rows).__name__} found, a list of tables expected.")
        return [self._table(key, row, self._name_of(key, number, row)) for number, row in enumerate(rows, start=1)]

    def _name_of(self, key: str, number: int, row: object) -> str:
        singular = key.removesuffix("s")
        name = row.get("name") if isinstance(row, Mapping) else None
        own = f"{singular} {name!r}" if isinstance(name, str) else f"{singular} {number}"
        return f"{self.subject}: {own}" if self.subject else own

    def _table(self, key: str, value: object, subject: str) -> Table:
        if not isinstance(value, Mapping):
            raise self.error(f"{key} = {value!r} found, a table expected.")
        return Table(self.source, subject, value)

    def _nested(self, key: str, value: object) -> Any:
        if isinstance(value, list):
            return [self._nested(key, item) for item in value]
        return self._float(key, value)

    def _float(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):  # float("3") and float(True) would pass
            raise self.error(f"{key}: {value!r} found, a number expected.")
        try:
            with self.building():
                return checks.number(key, value, infinite=True)
        except OverflowError:
            raise self.error(f"{key}: the integer is too large for a number.") from None
