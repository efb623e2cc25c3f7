"""`dalembert export`: source code of a robot's dynamics."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..export import export_code
from ..formats import load


def run(
    source: str,
    quantities: Sequence[str],
    *,
    language: str,
    output: str | None,
    name: str | None,
    dtype: str,
    options: Mapping[str, Any],
) -> None:
    """Print the code, or write it to a file."""
    text = export_code(load(source), quantities, language=language, name=name, path=output, dtype=dtype, **options)
    if output is None:
        sys.stdout.write(text)
