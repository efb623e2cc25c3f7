"""Python's search for unused cycles on hold while a graph grows.

Nodes come by the ten thousand and all of them stay: the search would go through them again and again and find nothing, which
takes as long as making them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_growing = 0  # graphs, on all threads
_was_enabled = False


@contextmanager
def growing() -> Iterator[None]:
    """Hold the search until the last of those who asked is done; it stays off if it was. Also a decorator."""
    global _growing, _was_enabled
    with _lock:
        if _growing == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _growing += 1
    try:
        yield
    finally:
        with _lock:
            _growing -= 1
            if _growing == 0 and _was_enabled:
                gc.enable()
