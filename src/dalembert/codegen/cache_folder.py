"""The directory in which compiled kernels are kept: where it is, and a safe way to use it.

Kernels are machine code: a user who can write them can do whatever the user who loads them can do. So the directory has to
belong to this user, with nobody else allowed to write to it, and it is kept open while it is used: names are looked up in that
very directory, even if its path changes. An entry has to be a plain file of this user; a link in its place is not followed, a
pipe or a device is not read.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType

from ..errors import DalembertWarning

_POSIX = os.name == "posix"
# Neither follow a link nor wait for the other end of a pipe. Windows has neither flag, but has to be told that files are binary.
_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_DIRECTORY = sum(getattr(os, name, 0) for name in ("O_DIRECTORY", "O_CLOEXEC"))
LARGEST = 2**28  # bytes of an entry: no kernel is longer
TOUCH_AFTER = 3600.0  # seconds after which a file that is used again is marked as used
_told: set[str] = set()


def directory() -> Path:
    """`DALEMBERT_CACHE`, or the platform's place for caches; a temporary directory if there is no home that can be written to."""
    chosen = os.environ.get("DALEMBERT_CACHE", "").strip()
    if chosen:
        return _chosen(chosen)
    usual = _usual()
    if usual is not None and _can_be_made(usual):
        return usual
    return Path(tempfile.gettempdir()) / f"dalembert-{os.getuid() if _POSIX else 'cache'}"


@cache
def _chosen(text: str) -> Path:
    """A relative path starts from the working directory at the first use."""
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise FileNotFoundError(errno.ENOENT, "no home directory is known", text) from None


def _usual() -> Path | None:
    variable, *below = {"darwin": ("", "dalembert"), "win32": ("LOCALAPPDATA", "dalembert", "Cache")}.get(
        sys.platform, ("XDG_CACHE_HOME", "dalembert")
    )
    base = Path(os.environ.get(variable, ""))
    if base.is_absolute():  # an empty or relative one is to be ignored
        return base.joinpath(*below)
    parts = {"darwin": ("Library", "Caches"), "win32": ("AppData", "Local")}.get(sys.platform, (".cache",))
    try:
        return Path.home().joinpath(*parts, *below)
    except RuntimeError:
        return None


def _can_be_made(path: Path) -> bool:
    """Whether it exists, or this user may create it."""
    if os.path.isdir(path):
        return True
    above = next((p for p in (path, *path.parents) if os.path.lexists(p)), path)
    return os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)


class CacheFolder:
    """A directory of this user, kept open; all names are names in it. What cannot be done raises an `OSError`."""

    def __init__(self, path: Path, *, make: bool = False) -> None:
        if make:
            with suppress(FileExistsError):  # it is not a directory, which is noticed below
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = path
        self.fd: int | None = None
        if not _POSIX:  # on Windows the user's profile directory is private by default
            return
        self.fd = os.open(path, os.O_RDONLY | _DIRECTORY)
        if not (_is_private(os.fstat(self.fd)) and os.lstat(path).st_uid == os.getuid()):
            self.close()
            raise PermissionError(errno.EPERM, "it belongs to somebody else or others may write to it", str(path))

    def __enter__(self) -> CacheFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the directory."""
        if self.fd is not None:
            os.close(self.fd)

    def read(self, name: str) -> bytes:
        """The content of a plain file of this user; it is marked as used, at most once an hour."""
        file = self._open(name, os.O_RDONLY)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST or (_POSIX and not _is_private(status)):
                raise PermissionError(errno.EPERM, "it is not a plain file of ours", name)
            with open(file, "rb", closefd=False) as stream:
                content = stream.read()
        finally:
            os.close(file)
        if abs(time.time() - status.st_mtime) > TOUCH_AFTER:
            self.touch(name)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a new file, completely or not at all: it gets its name when it is complete."""
        unfinished = f".writing-{os.urandom(8).hex()}"
        try:
            with os.fdopen(self._open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(content)
            self._rename(unfinished, name)
        except BaseException:
            self.remove(unfinished)
            raise

    def remove(self, name: str) -> bool:
        """Remove a file; whether this call removed it, as another process may have been quicker."""
        try:
            os.unlink(name, dir_fd=self.fd) if self.fd is not None else os.unlink(self.path / name)
        except OSError:
            return False
        return True

    def touch(self, name: str) -> None:
        """Mark a file as used now, where that is possible."""
        try:
            if self.fd is None:
                os.utime(self.path / name)
            else:
                os.utime(name, dir_fd=self.fd, follow_symlinks=False)
        except OSError:
            return

    def files(self) -> list[tuple[str, os.stat_result]]:
        """Every plain file with its status."""
        with os.scandir(self.path if self.fd is None else self.fd) as entries:
            found = ((entry.name, _status(entry)) for entry in entries)
            return [(name, status) for name, status in found if status is not None and stat.S_ISREG(status.st_mode)]

    def _open(self, name: str, flags: int) -> int:
        if self.fd is None:
            return os.open(self.path / name, flags | _PLAIN, 0o600)
        return os.open(name, flags | _PLAIN, 0o600, dir_fd=self.fd)

    def _rename(self, old: str, new: str) -> None:
        if self.fd is None:
            os.replace(self.path / old, self.path / new)
            return
        with suppress(OSError):  # only an empty directory could be in the way
            os.rmdir(new, dir_fd=self.fd)
        os.replace(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # removed in the meantime
        return None


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def warn_once(subject: str, message: str) -> None:
    """Warn about the cache, once in a process for each subject."""
    if subject not in _told:
        _told.add(subject)
        warnings.warn(DalembertWarning(message, "cache"), stacklevel=2)
