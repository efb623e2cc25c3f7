"""What `bounds` returns: enclosures of maxima and minima, and where values near them are attained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..brief import brief
from ..checks import FloatArray


class ProvedExtreme(NamedTuple):
    """Of each entry, shape (entries,): the best value found and what no value exceeds; and the inputs of the former, by name."""

    attained: FloatArray
    bound: FloatArray
    at: dict[str, FloatArray]

    def __repr__(self) -> str:
        return brief(self, "at")


@dataclass(frozen=True, eq=False)
class Bounds:
    """Entries of a quantity over a box; `print` it for a table.

    The maximum of each is between `maximum.attained` and `maximum.bound`, its minimum between `minimum.bound` and
    `minimum.attained`.

    Gaps are relative to `scale`, shape (2, entries): the largest magnitude found of an entry; for eigenvalues that of each side.
    `box` has the ranges of all inputs, `boxes` tells how many parts of it were looked at, `finished` whether all gaps are within
    `rtol`.
    """

    robot: str
    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    maximum: ProvedExtreme
    minimum: ProvedExtreme
    box: dict[str, tuple[FloatArray, FloatArray]]
    scale: FloatArray
    rtol: float
    boxes: int
    seconds: float
    finished: bool

    def __repr__(self) -> str:
        return brief(self, "box", "maximum", "minimum", "scale", "units", gap=float(self.gap.max(initial=0.0)))

    @property
    def upper(self) -> FloatArray:
        """What no value exceeds, shape (entries,)."""
        return self.maximum.bound

    @property
    def lower(self) -> FloatArray:
        """What no value falls below, shape (entries,)."""
        return self.minimum.bound

    @property
    def size(self) -> FloatArray:
        """What no magnitude exceeds, shape (entries,): the torque a motor has to give."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def attained_size(self) -> FloatArray:
        """The largest magnitude found, shape (entries,)."""
        return np.maximum(np.abs(self.minimum.attained), np.abs(self.maximum.attained))

    @property
    def gap(self) -> FloatArray:
        """The larger one of both gaps between proved and attained, relative to `scale`, shape (entries,)."""
        gaps = np.stack([self.upper - self.maximum.attained, self.minimum.attained - self.lower])
        return np.divide(gaps, self.scale, out=np.zeros_like(gaps), where=self.scale > 0).max(axis=0)

    @property
    def proved(self) -> str:
        """What was proved, in a sentence."""
        inputs = ", ".join(self.box)
        how = "every gap is within" if self.finished else "the search ended before every gap was within"
        return (
            f"No value of {self.quantity} of {self.robot!r} is outside of [lower, upper] for any {inputs} of the box; "
            f"{how} {self.rtol:.2g} of the largest value found (largest gap {self.gap.max(initial=0.0):.2g}, {self.boxes} boxes, "
            f"{self.seconds:.1f} s)."
        )

    def table(self) -> tuple[str, list[str], list[list[str]]]:
        """Title, heads and rows; the first column is words."""
        heads = ["entry", "proved from", "found from", "found to", "proved to", "gap", ""]
        columns = (self.lower, self.minimum.attained, self.maximum.attained, self.upper)
        rows = [
            [name, *(f"{float(c[k]):.5g}" for c in columns), f"{self.gap[k]:.2%}", unit]
            for k, (name, unit) in enumerate(zip(self.names, self.units, strict=True))
        ]
        return f"Bounds of {self.quantity} of {self.robot!r}", heads, rows

    def __str__(self) -> str:
        title, heads, rows = self.table()
        widths = [max(len(row[k]) for row in [heads, *rows]) for k in range(len(heads))]
        lines = [_line(row, widths) for row in [heads, *rows]]
        return "\n".join([title, *lines, self.proved])


def _line(row: list[str], widths: list[int]) -> str:
    """The first and the last column are words."""
    first, *numbers, last = (
        cell.ljust(width) if k in (0, len(row) - 1) else cell.rjust(width)
        for k, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *numbers, last]).rstrip()
