"""Tables in files: columns under their names, as CSV or Parquet, read and written by the library and its commands alike.

Parquet is read and written by pyarrow, the extra `data`.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .checks import FloatArray
from .errors import FormatError, MissingExtraError, Place, UnknownNameError, shown
from .files import replace_file
from .wording import listed

FORMATS = (".csv", ".parquet")


def table_format(subject: str, given: str | os.PathLike[str]) -> str:
    """The suffix of a table's name; refused if it is not known, or cannot be written here."""
    suffix = Path(given).suffix.lower()
    if suffix not in FORMATS:
        raise UnknownNameError(
            f"{subject}: {os.fspath(given)!r} ends in {suffix!r}, not a format of tables. Known: {listed(FORMATS)}."
        )
    if suffix == ".parquet":
        _parquet(subject)
    return suffix


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, Any]) -> None:
    """Write columns of numbers or words under their names, every digit kept; what is not known is an empty cell.

    The file is complete, or it is not there.
    """
    lists = {name: column.tolist() if isinstance(column, np.ndarray) else list(column) for name, column in columns.items()}
    if Path(path).suffix.lower() == ".parquet":
        buffer = io.BytesIO()
        _parquet("table").write_table(importlib.import_module("pyarrow").table(lists), buffer)
        replace_file(path, buffer.getvalue())
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(lists)
    writer.writerows(zip(*lists.values(), strict=True))
    replace_file(path, text.getvalue().encode())


def read_columns(path: Path) -> tuple[list[str], list[FloatArray]]:
    """Heads and columns of numbers; every number has to be finite."""
    if path.suffix.lower() == ".parquet":
        table = _parquet("table").read_table(path)
        return table.column_names, [np.asarray(column.to_numpy(), dtype=float) for column in table.columns]
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise FormatError(
            "no rows found; a line of names and one of numbers for each sample are expected.", place=Place(str(path))
        )
    return rows[0], list(np.array([_numbers(path, k, row, len(rows[0])) for k, row in enumerate(rows[1:], start=2)]).T)


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a DataFrame of pandas."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError.for_extra("to_dataframe: a table", "pandas", "data") from None
    return pandas.DataFrame(dict(columns))


def _numbers(path: Path, line: int, row: Sequence[str], width: int) -> list[float]:
    if len(row) != width:
        raise FormatError(f"{len(row)} cells found, {width} expected, one for each name.", place=Place(str(path), line))
    try:
        values = [float(cell) for cell in row]
    except ValueError:
        cell = next(cell for cell in row if not _is_number(cell))
        raise FormatError(f"{shown(cell)} found, a number expected.", place=Place(str(path), line)) from None
    if not np.isfinite(values).all():
        raise FormatError("NaN or infinity found, finite numbers are expected.", place=Place(str(path), line))
    return values


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parquet(what: str) -> Any:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError.for_extra(f"{what}: a .parquet file", "pyarrow", "data") from None


__all__ = ["FORMATS", "data_frame", "read_columns", "table_format", "write_columns"]
