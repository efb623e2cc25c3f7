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


def read_columns(path: Path, *, gaps: bool = False) -> tuple[list[str], list[FloatArray]]:
    """Heads and columns of numbers; every number has to be finite, unless there may be gaps: empty cells, NaN or infinity."""
    read = _read_parquet if path.suffix.lower() == ".parquet" else _read_csv
    heads, columns, lines = read(path)
    if not len(columns) or not len(columns[0]):
        raise FormatError(
            "no rows found; a line of names and one of numbers for each sample are expected.", place=Place(str(path))
        )
    for head, column in zip(heads, columns, strict=True):
        if not gaps and not np.isfinite(column).all():
            k = int(np.argmin(np.isfinite(column)))
            row, place = ("", Place(str(path), lines[k])) if lines else (f" in row {k + 1}", Place(str(path)))
            raise FormatError(
                f"column {shown(head)}: {column[k]:g} found{row}, finite numbers are expected. "
                "Leave the row out, or fill the gap.",
                place=place,
            )
    return heads, columns


def _read_csv(path: Path) -> tuple[list[str], list[FloatArray], list[int]]:
    """Heads, columns, and the line of each row."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            rows = [(reader.line_num, row) for row in reader if row]
        except (UnicodeDecodeError, csv.Error) as error:
            raise FormatError(
                f"not a table that can be read: {error}. A text in UTF-8 is expected.", place=Place(str(path))
            ) from None
    if not rows:
        return [], [], []
    heads = rows[0][1]
    values = [_numbers(path, line, heads, row) for line, row in rows[1:]]
    return heads, list(np.array(values).reshape(-1, len(heads)).T), [line for line, _ in rows[1:]]


def _read_parquet(path: Path) -> tuple[list[str], list[FloatArray], list[int]]:
    """Heads and columns; there are no lines."""
    reader, arrow = _parquet("table"), importlib.import_module("pyarrow")
    try:
        table = reader.read_table(path)
    except arrow.ArrowException as error:
        words = str(error).splitlines()[0].rstrip(".")
        raise FormatError(f"not a table that can be read: {words}.", place=Place(str(path))) from None
    return table.column_names, [_floats(path, *named) for named in zip(table.column_names, table.columns, strict=True)], []


def _floats(path: Path, head: str, column: Any) -> FloatArray:
    try:
        return np.asarray(column.to_numpy(), dtype=float)
    except (TypeError, ValueError):
        raise FormatError(f"column {shown(head)}: {column.type} found, numbers are expected.", place=Place(str(path))) from None


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a DataFrame of pandas."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError.for_extra("to_dataframe: a table", "pandas", "data") from None
    return pandas.DataFrame(dict(columns))


def _numbers(path: Path, line: int, heads: Sequence[str], row: Sequence[str]) -> list[float]:
    if len(row) != len(heads):
        raise FormatError(f"{len(row)} cells found, {len(heads)} expected, one for each name.", place=Place(str(path), line))
    try:
        return [float(cell) if cell.strip() else np.nan for cell in row]
    except ValueError:
        head, cell = next(pair for pair in zip(heads, row, strict=True) if not _is_number(pair[1]))
        remedy = " Cells are separated by commas." if ";" in cell or "\t" in cell else ""
        raise FormatError(
            f"column {shown(head)}: {shown(cell)} found, a number expected.{remedy}", place=Place(str(path), line)
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip() or "nan")
    except ValueError:
        return False
    return True


def _parquet(what: str) -> Any:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError.for_extra(f"{what}: a .parquet file", "pyarrow", "data") from None


__all__ = ["FORMATS", "data_frame", "read_columns", "table_format", "write_columns"]
