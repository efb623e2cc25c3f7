"""The size of the cache on disk: what is in it, and what is removed when it is full.

Entries that were used longest ago are removed first. To list a full cache takes a tenth of a second, so a process does it at
its first write, unless some process has done so within the hour, and then once in so many writes. Several processes may do it
at once: a file that is already gone is no problem, and one that is being read can still be read to its end.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import time
from contextlib import suppress
from typing import NamedTuple

from .cache_folder import CacheFolder, directory, warn_once

DEFAULT_LIMIT = 1000.0  # MB
EVERY = 200  # writes of a process between two checks
PAUSE = 3600.0  # seconds for which one check is enough for all processes; also the age from which an unfinished file is abandoned
_LOW = 0.9  # of the limit: removing stops here
_STAMP = ".looked"
_ENTRY = re.compile(r"[0-9a-f]{40}")
_writes = itertools.count()


class Contents(NamedTuple):
    """What is in the cache: where it is, how many kernels, their bytes, and how many bytes there may be."""

    place: str
    entries: int
    bytes: int
    limit_bytes: int


def limit() -> int:
    """Bytes the cache may hold: `DALEMBERT_CACHE_SIZE` in MB."""
    text = os.environ.get("DALEMBERT_CACHE_SIZE", "").strip()
    try:
        size = float(text) if text else DEFAULT_LIMIT
    except ValueError:
        size = math.nan
    if not 0.0 <= size < math.inf:
        warn_once(
            "DALEMBERT_CACHE_SIZE",
            f"DALEMBERT_CACHE_SIZE: {text[:40]!r} found, a number of megabytes that is not negative expected; "
            f"{DEFAULT_LIMIT:.0f} is taken. Set it to 500, say, or to 0 to keep nothing on disk.",
        )
        size = DEFAULT_LIMIT
    return int(size * 1e6)


def after_write(place: CacheFolder) -> None:
    """Check the size, once in so many writes."""
    count = next(_writes)
    if count % EVERY == 0 and (count or not _looked_at_lately(place)):
        with suppress(OSError):  # the cache is optional: what cannot be done is left undone
            prune(place)


def prune(place: CacheFolder) -> None:
    """Remove abandoned unfinished files, and beyond the limit the entries that were used longest ago."""
    place.write(_STAMP, b"")
    files, now, most = place.files(), time.time(), limit()
    for name, status in files:
        if name.startswith(".writing-") and now - status.st_mtime > PAUSE:
            place.remove(name)
    entries = sorted(((name, s) for name, s in files if _ENTRY.fullmatch(name)), key=lambda entry: entry[1].st_mtime)
    total = sum(status.st_size for _, status in entries)
    if total <= most:
        return
    for name, status in entries:
        if total <= _LOW * most:
            return
        place.remove(name)
        total -= status.st_size


def _looked_at_lately(place: CacheFolder) -> bool:
    try:
        seen = os.stat(place.path / _STAMP, follow_symlinks=False).st_mtime
    except OSError:
        return False
    return 0.0 <= time.time() - seen < PAUSE


def contents() -> Contents:
    """What is in the cache; nothing, if there is none yet."""
    path = directory()
    try:
        with CacheFolder(path) as place:
            sizes = [status.st_size for name, status in place.files() if _ENTRY.fullmatch(name)]
    except FileNotFoundError:
        sizes = []
    return Contents(str(path), len(sizes), sum(sizes), limit())


def clear() -> tuple[int, int]:
    """Remove every kernel and every unfinished file, and return how many files and bytes; other files are left alone."""
    removed = []
    with suppress(FileNotFoundError), CacheFolder(directory()) as place:
        for name, status in place.files():
            ours = _ENTRY.fullmatch(name) or name.startswith((".writing-", _STAMP))
            if ours and place.remove(name) and name != _STAMP:
                removed.append(status.st_size)
    return len(removed), sum(removed)
