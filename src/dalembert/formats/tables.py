"""Reading values out of the tables of a TOML or JSON file: every refusal names the file, the line and the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import FloatArray, describe
from ..errors import DalembertError, FormatError, Part, Place, did_you_mean, listed, shown
from ..model.dh import CONVENTIONS
from .places import KeyPath

CHOICES = f" Choices: {', '.join(f'{name!r} for {formula}' for name, formula in CONVENTIONS.items())}."
"""The end of the sentence about a missing convention."""

_LONGEST_TEXT = 4_000_000  # characters of a text in which lines are searched: ten thousand joints, two seconds


@dataclass
class Document:
    """A file that was parsed: its name, its text, and which table each part of the robot came from."""

    source: str
    text: str
    find_lines: Callable[[str], dict[KeyPath, int]]
    tables: dict[Part | None, Table] = field(default_factory=dict)  # None: the robot as a whole

    @cached_property
    def lines(self) -> dict[KeyPath, int]:
        """The line of each key; none of a text that is too long to search."""
        return self.find_lines(self.text) if len(self.text) <= _LONGEST_TEXT else {}

    def place(self, path: KeyPath) -> Place:
        """The line of a key or, where that has none, of the nearest table around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return Place(self.source, self.lines[path] if path else None)  # the first line of the file would not help

    def place_of(self, part: Part | None, sentence: str) -> Place:
        """The place of what the model says about one of its parts."""
        return self.tables.get(part, self.tables[None]).place_of(sentence)


@dataclass
class Table:
    """One table of a file: the path of keys to it, and the words that name it, such as ("joint 'elbow'", "rotor")."""

    document: Document
    path: KeyPath
    words: tuple[str, ...]
    values: Mapping[str, Any]
    part: Part | None = None
    parts: tuple[Part, ...] = ()

    @classmethod
    def of_robot(cls, document: Document, values: Mapping[str, Any], path: KeyPath = ()) -> Table:
        """The table of the robot itself, most often the top of the file."""
        document.tables[None] = cls(document, path, (), values)
        return document.tables[None]

    def error(self, sentence: str, key: str | None = None) -> FormatError:
        """The refusal of something in this table, or of one key of it."""
        place = self.document.place(self.path if key is None else (*self.path, key))
        return FormatError(": ".join((*self.words, sentence)), part=self.part, place=place)

    @contextmanager
    def building(self) -> Iterator[None]:
        """Give errors of the model the name and the place of this table."""
        try:
            yield
        except FormatError:
            raise
        except DalembertError as error:
            words = self.words[:-1] if self._named_in(error.sentence) else self.words
            sentence = ": ".join((*words, error.sentence))
            raise FormatError(sentence, part=self.part, place=self.place_of(error.sentence)) from error

    def _named_in(self, sentence: str) -> bool:
        """Whether the model has named its part itself."""
        return bool(self.words) and sentence.startswith(f"{self.words[-1]}:")

    def place_of(self, sentence: str) -> Place:
        """The place of the key that a sentence about this table begins with, or of the table."""
        for words in (*self.words[-1:], *map(str, self.parts)):
            sentence = sentence.removeprefix(f"{words}: ")
        named = [key for key in self.values if sentence.startswith((f"{key} ", f"{key}:"))]
        return self.document.place((*self.path, *named[:1]))

    def belongs_to(self, *parts: Part) -> None:
        """Remember that these parts of the robot are described here, and in no other table."""
        self.part, self.parts = parts[0], parts
        for part in parts:
            if part in self.document.tables:
                first = self.document.place(self.document.tables[part].path).line
                where = "" if first is None else f", first on line {first}"
                raise self.error(f"the {part.kind} name {shown(part.name)} stands twice{where}. Rename one of them.")
            self.document.tables[part] = self

    def belongs_to_row(self, number: int, *, joint: str | None = None, link: str | None = None) -> None:
        """Remember the joint and the link that a Denavit-Hartenberg row makes, by default those of its number."""
        self.belongs_to(Part("row", str(number)), Part("joint", joint or f"joint{number}"), Part("link", link or f"link{number}"))

    def refuse_other_keys(self, *known: str) -> None:
        """A misspelled key would silently leave its default in place."""
        for key in self.values:
            if key not in known:
                raise self.error(f"key {shown(key)} is not known{did_you_mean(key, known)} Known: {listed(known)}.", key)

    def require(self, key: str, choices: str = "") -> Any:
        """The value of a key that has to be there."""
        if key not in self.values:
            raise self.error(f"{key!r} is missing.{choices}")
        return self.values[key]

    def text(self, key: str, default: str | None = None, *, choices: str = "") -> str:
        """A string; required unless there is a default."""
        value = self.require(key, choices) if default is None else self.values.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} = {shown(value)} found, a string expected.", key)
        return value

    def flag(self, key: str) -> bool:
        """A yes or no; no when missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f"{key} = {shown(value)} found, true or false expected.", key)
        return value

    def number(self, key: str, default: float | None = None, *, infinite: bool = False) -> float:
        """A number; required unless there is a default."""
        value = self.require(key) if default is None else self.values.get(key, default)
        result = self._float(key, value)
        if np.isnan(result) or (np.isinf(result) and not infinite):
            raise self.error(f"{key}: {result} found; a finite number is expected.", key)
        return result

    def given_numbers(self, *keys: str, infinite: bool = False) -> dict[str, float]:
        """Those of the keys that are there, as numbers."""
        return {key: self.number(key, infinite=infinite) for key in keys if key in self.values}

    def given_angles(self, *keys: str) -> dict[str, float]:
        """Those of the angles that are there, in radians; `key` or, in degrees, `key_deg`."""
        angles = self.given_numbers(*keys)
        for key in keys:
            if (in_degrees := f"{key}_deg") not in self.values:
                continue
            if key in angles:
                sentence = f"{key!r} and {in_degrees!r} found; the angle is given twice. Keep one of the two."
                raise self.error(sentence, in_degrees)
            angles[key] = math.radians(self.number(in_degrees))
        return angles

    def array(self, key: str, *shapes: tuple[int, ...], default: FloatArray | None = None) -> FloatArray:
        """An array of one of these shapes; required unless there is a default."""
        if self.values.get(key) is None and default is not None:
            return default
        expected = " or ".join("x".join(map(str, shape)) for shape in shapes)
        value = self._nested(key, self.require(key), depth=3)
        try:
            result = np.array(value, dtype=float)
        except ValueError:
            raise self.error(f"{key}: rows of different length found, {expected} numbers expected.", key) from None
        if result.shape not in shapes:
            raise self.error(f"{key}: shape {result.shape} found, {expected} numbers expected.", key)
        if not np.isfinite(result).all():
            raise self.error(f"{key}: {describe(result)} contains NaN or infinity; a model needs finite numbers.", key)
        return result

    def inertia(self, key: str = "inertia") -> FloatArray:
        """A tensor: three rows of three, or the three diagonal values."""
        tensor = self.array(key, (3, 3), (3,), default=np.zeros((3, 3)))
        return np.diag(tensor) if tensor.shape == (3,) else tensor

    def inner(self, key: str) -> Table:
        """A table inside this one that has to be there."""
        self.require(key)
        found = self.table(key)
        if found is None:
            raise self.error(f"{key} = null found, a table expected.", key)
        return found

    def table(self, key: str) -> Table | None:
        """A table inside this one."""
        if self.values.get(key) is None:
            return None
        return self._table((key,), self.values[key], (*self.words, key))

    def tables(self, key: str) -> list[Table]:
        """A list of tables inside this one, named by their `name` where they have one, by their number otherwise."""
        rows = self.values.get(key, [])
        if not isinstance(rows, list):
            raise self.error(f"{key}: {type(rows).__name__} found, a list of tables expected.", key)
        return [self._table((key, i), row, (*self.words, self._name_of(key, i, row))) for i, row in enumerate(rows)]

    def _name_of(self, key: str, i: int, row: object) -> str:
        name = row.get("name") if isinstance(row, Mapping) else None
        singular = key.removesuffix("s")
        return str(Part(singular, name)) if isinstance(name, str) else f"{singular} {i + 1}"

    def _table(self, keys: KeyPath, value: object, words: tuple[str, ...]) -> Table:
        if not isinstance(value, Mapping):
            raise self.error(f"{keys[0]} = {shown(value)} found, a table expected.", str(keys[0]))
        return Table(self.document, (*self.path, *keys), words, value, self.part)

    def _nested(self, key: str, value: object, depth: int) -> Any:
        if isinstance(value, list) and depth:
            return [self._nested(key, item, depth - 1) for item in value]
        return self._float(key, value)

    def _float(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):  # float("3") and float(True) would pass
            raise self.error(f"{key}: {shown(value)} found, a number expected.", key)
        try:
            return float(value)
        except OverflowError:
            raise self.error(f"{key}: the integer is too large for a number.", key) from None
