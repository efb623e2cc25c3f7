"""Tables in files: what they hold, gaps among it, and what is refused, with the column and the row."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.errors import FormatError
from dalembert.table_files import read_columns, write_columns

FORMATS = pytest.mark.parametrize("suffix", ["csv", "parquet"])


def written(folder, suffix, columns):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    write_columns(folder / f"table.{suffix}", columns)
    return folder / f"table.{suffix}"


@FORMATS
def test_what_was_written_is_read_to_the_last_digit(tmp_path, suffix):
    values = np.random.default_rng(1).normal(size=(2, 5))
    heads, columns = read_columns(written(tmp_path, suffix, {"t [s]": values[0], "q": values[1]}))
    assert heads == ["t [s]", "q"]
    np.testing.assert_array_equal(columns, values)


@FORMATS
def test_a_number_that_is_not_finite_is_refused_with_its_column_and_row(tmp_path, suffix):
    path = written(tmp_path, suffix, {"t": [0.0, 1.0, 2.0], "q": [0.0, np.nan, np.inf]})
    place = {"csv": r"table\.csv:3: column 'q': nan found,", "parquet": r"table\.parquet: column 'q': nan found in row 2,"}
    with pytest.raises(FormatError, match=f"{place[suffix]} finite numbers are expected. Leave the row out, or fill the gap"):
        read_columns(path)


@FORMATS
def test_gaps_stay_where_they_are_allowed(tmp_path, suffix):
    path = written(tmp_path, suffix, {"t": [0.0, 1.0, 2.0], "q": [0.0, None, np.inf]})
    np.testing.assert_array_equal(read_columns(path, gaps=True)[1][1], [0.0, np.nan, np.inf])


@FORMATS
def test_a_table_without_rows_is_refused(tmp_path, suffix):
    with pytest.raises(FormatError, match="no rows found; a line of names and one of numbers"):
        read_columns(written(tmp_path, suffix, {"t": [], "q": []}))


def test_lines_of_a_text_are_counted_as_an_editor_does(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("t,q\n\n0,1\n\n\n1,x\n")
    with pytest.raises(FormatError, match=r"table\.csv:6: column 'q': 'x' found, a number expected"):
        read_columns(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"t;q\n0;1\n", "column 't;q': '0;1' found, a number expected. Cells are separated by commas"),
        (b"t,q\n0,1,2\n", "3 cells found, 2 expected"),
        (b"t,q\n0,\xff\xfe\n", "not a table that can be read: .* A text in UTF-8 is expected"),
        (b"", "no rows found"),
    ],
)
def test_a_text_that_is_no_table_is_refused(tmp_path, content, message):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_columns(tmp_path / "table.csv")


def test_a_parquet_file_that_is_none_or_has_words_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "table.parquet").write_bytes(b"hello" * 100)
    with pytest.raises(FormatError, match=r"table\.parquet: not a table that can be read: .*Parquet magic bytes not found"):
        read_columns(tmp_path / "table.parquet")
    with pytest.raises(FormatError, match="column 'q': string found, numbers are expected"):
        read_columns(written(tmp_path, "parquet", {"t": [0.0, 1.0], "q": ["a", "b"]}))
