"""Files that are complete or not there at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Put the content in place in one step; a plain `open` keeps the user's umask, which `tempfile` would not."""
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with open(draft, "xb") as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
