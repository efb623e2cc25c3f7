"""Compiled kernels on disk, so that a second process need not compile them.

The key is a hash of the emitted code, the processor and the compiler's version, so an entry is never out of date. The directory
is private to its user (cache_folder.py), its size is bounded (cache_size.py), and a file is written under another name and then
renamed. Its digest is checked before it is loaded. That is a protection against damage, not against users who may write there,
since these could do anything else as well. A cache that cannot be read or written costs time, but results stay correct.
"""

from __future__ import annotations

import hashlib
import os

from . import cache_size
from .cache_folder import CacheFolder, directory, warn_once

_MAGIC = b"dalembert kernel 1\n"


def key_of(*parts: str) -> str:
    """The name under which something made from these texts is kept."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """What was kept under this key, if it is there, belongs to this user and is complete."""
    if cache_size.limit() == 0:
        return None
    try:
        with CacheFolder(directory()) as place:
            content = place.read(key[:40])
    except OSError:
        return None
    head = len(_MAGIC) + 32
    digest, payload = content[len(_MAGIC) : head], content[head:]
    whole = content.startswith(_MAGIC) and hashlib.sha256(key.encode() + payload).digest() == digest
    return payload if whole else None


def write(key: str, payload: bytes) -> None:
    """Keep something; where that is impossible, warn once and go on."""
    if len(payload) > cache_size.limit():
        return
    path = os.environ.get("DALEMBERT_CACHE", "")
    try:
        path = str(directory())
        with CacheFolder(directory(), make=True) as place:
            place.write(key[:40], _MAGIC + hashlib.sha256(key.encode() + payload).digest() + payload)
            cache_size.after_write(place)
    except OSError as error:
        message = (
            f"compile cache: {path!r} cannot be used ({error.strerror or error}), so kernels are compiled anew in every process. "
            "Set DALEMBERT_CACHE to a directory of your own."
        )
        warn_once(path, message)
