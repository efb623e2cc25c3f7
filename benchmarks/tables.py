"""A measured table: records with columns, shown on the terminal, in the documentation and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A key of the records, its heading, and how its values are written."""

    key: str
    heading: str
    form: str = ""

    def text(self, record: Record) -> str:
        """The value of a record as text; a dash where there is none."""
        value = record.get(self.key)
        if isinstance(value, str):
            return value.replace("_", " ")
        return "–" if value is None else f"{value:{self.form}}"


@dataclass(frozen=True)
class Table:
    """Records of one measurement and the columns to show."""

    name: str
    title: str
    note: str
    columns: Sequence[Column]
    records: list[dict[str, Any]] = field(default_factory=list)

    @property
    def shown(self) -> list[Column]:
        """The columns that are not empty."""
        return [c for c in self.columns if any(r.get(c.key) is not None for r in self.records)]

    def markdown(self) -> str:
        """As a table of Markdown."""
        heads = self.shown
        lines = [[c.heading for c in heads], ["---:" if c.form else "---" for c in heads]]
        lines += [[c.text(r) for c in heads] for r in self.records]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def terminal(self) -> Any:
        """As a table of rich."""
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, caption=self.note, title_justify="left", caption_justify="left")
        for column in self.shown:
            table.add_column(escape(column.heading), justify="right" if column.form else "left", no_wrap=not column.form)
        for record in self.records:
            table.add_row(*(column.text(record) for column in self.shown))
        return table
