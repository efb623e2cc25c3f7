"""Python's garbage collector, switched off while a graph is built.

Nodes are made by the ten thousand and all of them stay. The collector would go through them again and again and find nothing,
which takes as long as making them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_growing = 0  # graphs, on all threads
_was_enabled = False


@contextmanager
def growing() -> Iterator[None]:
    """Switch the collector off until the last caller is done; it stays off if it was off before. Also a decorator.

    An interrupt may come between any two calls: the collector is switched on again in that case too.
    """
    global _growing, _was_enabled
    counted = 0
    try:
        with _lock:
            if _growing == 0:
                _was_enabled = gc.isenabled()
                gc.disable()
            _growing, counted = _growing + 1, 1
        yield
    finally:
        with _lock:
            _growing -= counted
            if _growing == 0 and _was_enabled:
                gc.enable()


def _after_fork() -> None:
    """In a forked process there are no other threads to end what they began; the one that forked builds no graph."""
    global _lock, _growing
    _lock = Lock()
    if _growing and _was_enabled:
        gc.enable()
    _growing = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
