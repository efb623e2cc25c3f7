"""Files read with a limit, and files that are complete or not there at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

_PIECE = 1 << 20


class TooLargeError(OSError):
    """A file larger than its reader takes."""


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a regular file; a pipe, which would make the reader wait, and more than `most` bytes are refused.

    Raises
    ------
    OSError
        As `open` does, for what is not a file, and as `TooLargeError` for too much.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError:  # a null byte or a lone surrogate in the path
        raise _no_name(path) from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _refuse_what_is_no_file(status, path)
        pieces, size = [], status.st_size
        while size <= most and (piece := file.read(_PIECE)):  # the size is looked at twice: a file may grow, or not know it
            pieces.append(piece)
            size = sum(map(len, pieces))
    if size > most:
        raise TooLargeError(errno.EFBIG, f"it is larger than {most / 1e6:.0f} MB", os.fspath(path))
    return b"".join(pieces)


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Put the content in place in one step; the target of a symbolic link is replaced, and a file there keeps its permissions.

    Raises
    ------
    OSError
        When the place cannot be written to; `filename` is the path given, never the draft beside it.
    """
    try:
        _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    except ValueError:
        raise _no_name(path) from None


def _replace(target: Path, content: bytes) -> None:
    mode = _mode_of(target)
    draft = target.with_name(f".{os.urandom(8).hex()}.draft")  # not the target's name, which may be as long as names can be
    try:
        with open(draft, "xb") as file:  # a plain `open` keeps the user's umask, which `tempfile` would not
            if mode is not None:
                os.chmod(draft, mode)
            file.write(content)
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _mode_of(target: Path) -> int | None:
    """The permissions of the file that stands there, if one does and it may be written to."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    _refuse_what_is_no_file(status, target)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(status.st_mode)


def _no_name(path: str | os.PathLike[str]) -> OSError:
    return OSError(errno.EINVAL, "no file can have this name", os.fspath(path))


def _refuse_what_is_no_file(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, not a file", os.fspath(path))
