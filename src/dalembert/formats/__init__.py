"""Text into robots and parts of mechanisms, and back, by the suffix of the file; `dalembert.loading` has what users call.

The readers are imported when first used, so that importing this package costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import FormatError, Place, UnknownNameError, listed, shown
from ..files import TooLargeError, read_file, replace_file

if TYPE_CHECKING:
    from ..model import Robot
    from ..model.mechanism_parts import MechanismParts

__all__ = ["is_file", "path_text", "read", "write"]

_SDF = ".sdf"  # its root element tells what it is, and what to do
_LOOPS = (".yaml", ".yml")  # files beside a URDF that may name its loops
MOST_BYTES = 16_000_000
"""The largest robot file: forty thousand joints fit into it, and a file of that size is read or refused within half a minute."""


def is_file(source: str) -> bool:
    """Whether a source is to be read as a file: by its suffix, or since a file is there."""
    path = os.path.expanduser(source)
    return _suffix(path) in _READERS or (bool(source) and os.path.exists(path))


def read(given: str, *, strict: bool) -> Robot | MechanismParts:
    """What a file holds, by its suffix: a robot, or the parts of a mechanism."""
    path = os.path.expanduser(given)
    suffix = _suffix(path)
    if os.path.isdir(path):
        raise FormatError("this is a folder; a robot file or a catalogue name is expected.", place=Place(given))
    reader = _read_urdf if suffix == _SDF else _READERS.get(suffix)
    if reader is None:
        raise UnknownNameError(f"suffix {shown(suffix)} is not known. Known: {listed(_READERS)}.", place=Place(given))
    return reader(path, given, strict)


def path_text(subject: str, source: object) -> str:
    """The path as text."""
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(path, str):
        raise FormatError(f"{subject}: {shown(source)} found; the path of a file is expected, as a str or a Path.")
    return path


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _bytes(path: str, given: str) -> bytes:
    try:
        return read_file(path, MOST_BYTES)
    except FileNotFoundError:
        raise FormatError("no such file. Is the path relative to another folder?", place=Place(given)) from None
    except TooLargeError as error:
        sentence = f"{error.strerror}, the most a robot file may have. Are meshes or a log in it?"
        raise FormatError(sentence, place=Place(given)) from None
    except OSError as error:
        raise FormatError(f"the file cannot be read ({error.strerror or error}).", place=Place(given)) from None


def _read_urdf(path: str, given: str, strict: bool) -> Robot | MechanismParts:
    from .urdf import read_urdf

    found = read_urdf(_bytes(path, given), source=given, strict=strict)
    return found if isinstance(found, tuple) else _with_loops_beside(found, path, given, strict)


def _with_loops_beside(robot: Robot, path: str, given: str, strict: bool) -> Robot | MechanismParts:
    """The robot with the loops that a YAML file of its name beside it names, if there is one."""
    from .loop_file import LARGEST, names_loops, warn_of_open_loops, with_loops

    for suffix in _LOOPS:
        beside, named = (os.path.splitext(name)[0] + suffix for name in (path, given))
        if not os.path.isfile(beside) or os.path.getsize(beside) > LARGEST:
            continue
        try:
            text = _bytes(beside, named)
        except FormatError as error:
            warn_of_open_loops(error, "")
            continue
        if names_loops(text):
            return with_loops(robot, text, named, strict=strict)
    return robot


def _read_toml(path: str, given: str, strict: bool) -> Robot | MechanismParts:
    from .toml import read_toml

    return read_toml(_bytes(path, given), source=given, strict=strict)


def _read_json(path: str, given: str, strict: bool) -> Robot | MechanismParts:
    from .description import read_json

    return read_json(_bytes(path, given), source=given, strict=strict)


def _read_xacro(path: str, given: str, strict: bool) -> Robot | MechanismParts:
    _bytes(path, given)  # a missing file is reported here, before a missing extra
    from .urdf import read_urdf
    from .xacro import expand

    return read_urdf(expand(path, given, MOST_BYTES), source=f"{given} (expanded)", strict=strict)


_READERS: dict[str, Callable[[str, str, bool], Robot | MechanismParts]] = {
    ".urdf": _read_urdf,
    ".toml": _read_toml,
    ".json": _read_json,
    ".xacro": _read_xacro,
    ".xml": _read_urdf,  # the root element tells a URDF from a MuJoCo model
}


def write(content: Robot | MechanismParts, given: str) -> None:
    """Write a robot, or the parts of a mechanism, to a file of this suffix."""
    suffix = _suffix(given)
    if suffix not in _WRITERS:
        raise UnknownNameError(f"suffix {shown(suffix)} cannot be written. Known: {listed(_WRITERS)}.", place=Place(given))
    encoded = _encoded(_WRITERS[suffix](content), given)
    try:
        replace_file(os.path.expanduser(given), encoded)
    except OSError as error:
        raise FormatError(f"the file cannot be written ({error.strerror or error}).", place=Place(given)) from None


def _encoded(text: str, given: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = shown(error.object[error.start])
        raise FormatError(f"a name contains {found}, which is not Unicode text. Rename that part.", place=Place(given)) from None


def _toml_text(content: Robot | MechanismParts) -> str:
    from .toml_write import write_toml

    return write_toml(content)


def _urdf_text(content: Robot | MechanismParts) -> str:
    from .urdf_write import write_urdf

    return write_urdf(content)


_WRITERS: dict[str, Callable[[Robot | MechanismParts], str]] = {".toml": _toml_text, ".urdf": _urdf_text}
