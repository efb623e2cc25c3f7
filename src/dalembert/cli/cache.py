"""`dalembert cache`: the compiled kernels kept on disk."""

from __future__ import annotations

from ..codegen import cache_size
from . import terminal
from .sheets import print_sheets, sheet


def run(*, clear: bool, json: bool) -> None:
    """Print where they are and how much there is of them; with `clear`, remove them first."""
    removed = cache_size.clear() if clear else None
    found = cache_size.contents()
    if json:
        gone = {} if removed is None else {"removed_entries": removed[0], "removed_bytes": removed[1]}
        terminal.print_json({**found._asdict(), **gone})
        return
    if removed is not None:
        count, size = removed
        terminal.say(f"{found.place}: {count} files removed, {_megabytes(size)} MB.")
        return
    row = (found.entries, _megabytes(found.bytes), _megabytes(found.limit_bytes))
    print_sheets(sheet(f"Compile cache in {found.place}", ["kernels", "size [MB]", "limit [MB]"], [row], left=0))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"
