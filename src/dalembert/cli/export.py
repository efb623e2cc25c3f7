"""`dalembert export`: source code of a robot's dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..checks import choice
from ..export import export_code
from ..export.code import LANGUAGES, Language
from ..loading import load
from . import outputs, terminal


def run(
    source: str,
    quantities: Sequence[str],
    *,
    language: str,
    output: str | None,
    name: str | None,
    dtype: str,
    options: Mapping[str, Any],
    json: bool,
) -> None:
    """Print the code, or write it to a file."""
    writer = choice("language", language, LANGUAGES)
    files = [] if output is None else _files(output, writer)
    robot = load(source)
    text = export_code(robot, quantities, language=language, name=name, path=output, dtype=dtype, **options)
    if json:
        code = text if output is None else None
        record = {"robot": robot.name, "language": language, "dtype": dtype, "quantities": list(quantities)}
        terminal.print_json(record | {"files": [str(path) for path in files], "code": code})
    elif output is None:
        terminal.print_text(text)
    outputs.confirm(*files)


def _files(output: str, writer: Language) -> list[Path]:
    """The file named and those that go beside it."""
    first = outputs.destination("--output", output)
    beside = [outputs.destination("--output", str(first.with_suffix(suffix))) for suffix in writer.beside]
    return [first, *beside]
