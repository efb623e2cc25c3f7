"""Compiled kernels on disk, so that a second process starts at once.

The key is a hash of the emitted code, the processor and the compiler's version, so nothing is ever stale. The directory is
private to its user (mode 0700, owner checked), a file is written under another name and then renamed, and its digest is
checked before it is loaded. A cache that cannot be read or written costs time, never correctness.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import warnings
from pathlib import Path

from ..errors import DalembertWarning

_MAGIC = b"dalembert kernel 1\n"
_told: set[str] = set()


def directory() -> Path:
    """Where kernels are kept: `DALEMBERT_CACHE`, or the platform's place for caches."""
    chosen = os.environ.get("DALEMBERT_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dalembert"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "dalembert" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dalembert"


def key_of(*parts: str) -> str:
    """The name under which something made from these texts is kept."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """What was kept under this key, if it is there, ours and whole."""
    path = directory() / key[:40]
    try:
        if not _is_private(path.parent):
            return None
        content = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + 32
    digest, payload = content[len(_MAGIC) : head], content[head:]
    whole = content.startswith(_MAGIC) and hashlib.sha256(key.encode() + payload).digest() == digest
    return payload if whole else None


def write(key: str, payload: bytes) -> None:
    """Keep something; tell once, and go on, where that is impossible."""
    place = directory()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(place):
            return _tell(place, "it belongs to somebody else or others may write to it")
        _write_whole(place / key[:40], _MAGIC + hashlib.sha256(key.encode() + payload).digest() + payload)
    except OSError as error:
        _tell(place, error.strerror or str(error))


def _write_whole(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _is_private(place: Path) -> bool:
    if os.name != "posix":  # elsewhere the user's profile directory is private by default
        return True
    status = place.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _tell(place: Path, reason: str) -> None:
    if str(place) in _told:
        return
    _told.add(str(place))
    message = (
        f"compile cache: {str(place)!r} cannot be used ({reason}), so kernels are compiled anew in every process. "
        "Set DALEMBERT_CACHE to a directory of your own."
    )
    warnings.warn(DalembertWarning(message, "cache"), stacklevel=2)
