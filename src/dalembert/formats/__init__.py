"""Text into robots and back: `load` and `save`, by the suffix of the file.

The readers are imported when first used, so that importing this package costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..checks import flag
from ..errors import FormatError, Place, UnknownNameError, did_you_mean, listed, shown
from ..files import TooLargeError, read_file, replace_file

if TYPE_CHECKING:
    from ..model import Robot

__all__ = ["load", "save"]

MOST_BYTES = 16_000_000
"""The largest robot file: forty thousand joints fit into it, and a file of that size is read or refused within half a minute."""


def load(source: str | os.PathLike[str], *, strict: bool = False) -> Robot:
    """The robot of this name in the catalogue, or in this file.

    A robot file has at most 16 MB. Reading `.urdf`, `.toml` and `.json` opens no other file and runs nothing. Expanding `.xacro`
    does what the macros say: they may read any file and the environment, so expand only files you trust; it ends after 30 s.

    Parameters
    ----------
    source : str or path
        A catalogue name such as "puma560", or a file: `.urdf` (also as `.xml`), `.urdf.xacro`, `.toml` or `.json`; `~` stands
        for the home folder.
    strict : bool
        Refuse what is computable but unphysical, such as a negative mass, instead of warning of it.

    Raises
    ------
    FormatError
        When the file cannot be read as a robot; it has `file`, `line` and `part`, and its message starts with the first two.
    UnknownNameError
        When `source` is neither a file nor in the catalogue, or the suffix is not known.
    MissingExtraError
        For a xacro file without the extra 'xacro'.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.load("puma560")
    Robot 'puma560': 6 joints (RRRRRR), 7 links
    """
    given, strict = _path("load", source), flag("strict", strict)
    catalogue = _catalogue()
    if isinstance(source, str) and source in catalogue:
        robot = catalogue[source]()
        return robot.replace(strict=True) if strict else robot
    path = os.path.expanduser(given)
    suffix = _suffix(path)
    if suffix not in _READERS and (not given or not os.path.exists(path)):
        raise _unknown(given, catalogue)
    if os.path.isdir(path):
        raise FormatError("this is a folder; a robot file or a catalogue name is expected.", place=Place(given))
    if suffix not in _READERS:
        raise UnknownNameError(f"suffix {shown(suffix)} is not known. Known: {listed(_READERS)}.", place=Place(given))
    return _READERS[suffix](path, given, strict)


def _path(subject: str, source: object) -> str:
    """The path as text."""
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if not isinstance(path, str):
        raise FormatError(f"{subject}: {shown(source)} found; the path of a file is expected, as a str or a Path.")
    return path


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _catalogue() -> Mapping[str, Callable[[], Robot]]:
    from ..robots import CATALOGUE

    return CATALOGUE


def _unknown(name: str, catalogue: Mapping[str, object]) -> UnknownNameError:
    hint = did_you_mean(name.lower(), catalogue)
    return UnknownNameError(f"robot {shown(name)}: neither a file nor in the catalogue{hint} Catalogue: {', '.join(catalogue)}.")


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


def _load_urdf(path: str, given: str, strict: bool) -> Robot:
    from .urdf import read_urdf

    return read_urdf(_bytes(path, given), source=given, strict=strict)


def _load_toml(path: str, given: str, strict: bool) -> Robot:
    from .toml import read_toml

    return read_toml(_bytes(path, given), source=given, strict=strict)


def _load_json(path: str, given: str, strict: bool) -> Robot:
    from .description import read_json

    return read_json(_bytes(path, given), source=given, strict=strict)


def _load_xacro(path: str, given: str, strict: bool) -> Robot:
    _bytes(path, given)  # a missing file is reported here, before a missing extra
    from .urdf import read_urdf
    from .xacro import expand

    return read_urdf(expand(path, given, MOST_BYTES), source=f"{given} (expanded)", strict=strict)


_READERS: dict[str, Callable[[str, str, bool], Robot]] = {
    ".urdf": _load_urdf,
    ".toml": _load_toml,
    ".json": _load_json,
    ".xacro": _load_xacro,
    ".xml": _load_urdf,  # the root element tells a URDF from a MuJoCo model
}


def save(robot: Robot, path: str | os.PathLike[str]) -> None:
    """Write the robot to a `.toml` file, which keeps everything, or a `.urdf` file, which keeps what URDF can express.

    The file is complete or not there at all: it is written under another name and then renamed. A file that is replaced keeps its
    permissions; of a symbolic link, the target is replaced. `~` stands for the home folder.

    Raises
    ------
    UnknownNameError
        For another suffix.
    FormatError
        When the place cannot be written to, or the format has no way to write a name or number.

    Warns
    -----
    DalembertWarning
        Code 'left-out', when URDF cannot express something that acts in the robot.

    Examples
    --------
    >>> import os, tempfile
    >>> import dalembert as dal
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pendulum.toml")
    ...     dal.save(dal.robots.pendulum(), path)
    ...     dal.load(path) == dal.robots.pendulum()
    True
    """
    from ..model import Robot

    if not isinstance(robot, Robot):
        raise FormatError(f"save: {shown(robot)} found; a Robot is expected.")
    given = _path("save", path)
    suffix = _suffix(given)
    if suffix not in _WRITERS:
        raise UnknownNameError(f"suffix {shown(suffix)} cannot be written. Known: {listed(_WRITERS)}.", place=Place(given))
    content = _encoded(_WRITERS[suffix](robot), given)
    try:
        replace_file(os.path.expanduser(given), content)
    except OSError as error:
        raise FormatError(f"the file cannot be written ({error.strerror or error}).", place=Place(given)) from None


def _encoded(text: str, given: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = shown(error.object[error.start])
        raise FormatError(f"a name contains {found}, which is not Unicode text. Rename that part.", place=Place(given)) from None


def _toml_text(robot: Robot) -> str:
    from .toml_write import write_toml

    return write_toml(robot)


def _urdf_text(robot: Robot) -> str:
    from .urdf_write import write_urdf

    return write_urdf(robot)


_WRITERS: dict[str, Callable[[Robot], str]] = {".toml": _toml_text, ".urdf": _urdf_text}
