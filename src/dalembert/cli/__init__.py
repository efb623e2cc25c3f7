"""The command `dalembert`: each command parses its arguments, calls the library and prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; exit with 0, with 1 when it failed, or with 2 for wrong usage."""
    from .app import run

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters shows question marks, not a traceback
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))
