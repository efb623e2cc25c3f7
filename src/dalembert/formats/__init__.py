"""Text into robots and back: `load` and `save`, by the suffix of the file.

The readers are imported when first used, so that importing this package costs nothing.
"""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FormatError, MissingExtraError, UnknownNameError
from ..files import replace_file

if TYPE_CHECKING:
    from ..model import Robot

__all__ = ["load", "save"]


def load(source: str | os.PathLike[str], *, strict: bool = False) -> Robot:
    """The robot of this name in the catalogue, or in this file.

    Parameters
    ----------
    source : str or path
        A catalogue name such as "puma560", or a file: `.urdf`, `.urdf.xacro`, `.toml` or `.json`.
    strict : bool
        Refuse what is computable but unphysical, such as a negative mass, instead of warning of it.

    Raises
    ------
    FormatError
        When the file cannot be read as a robot; the message starts with the file and, where there is one, the line.
    UnknownNameError
        When `source` is neither a file nor in the catalogue, or the suffix is not known.
    MissingExtraError
        For a xacro file without the extra 'xacro'.
    """
    path = Path(source)
    catalogue = _catalogue()
    if isinstance(source, str) and source in catalogue:
        robot = catalogue[source]()
        return robot.replace(strict=True) if strict else robot
    if source == "" or (path.suffix.lower() not in _READERS and not path.exists()):
        raise _unknown(str(source), catalogue)
    if path.is_dir():
        raise FormatError(f"{source}: this is a folder; a robot file or a catalogue name is expected.")
    if path.suffix.lower() not in _READERS:
        raise UnknownNameError(f"{source}: suffix {path.suffix!r} is not known. Known: {', '.join(_READERS)}.")
    return _READERS[path.suffix.lower()](path, strict)


def _catalogue() -> Mapping[str, Callable[[], Robot]]:
    from ..robots import CATALOGUE

    return CATALOGUE


def _unknown(name: str, catalogue: Mapping[str, object]) -> UnknownNameError:
    near = difflib.get_close_matches(name.lower(), catalogue, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return UnknownNameError(f"robot {name!r}: neither a file nor in the catalogue{hint} Catalogue: {', '.join(catalogue)}.")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file. Is the path relative to another folder?") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        raise FormatError(f"{path}: the file cannot be read ({getattr(error, 'strerror', None) or error}).") from None


def _load_urdf(path: Path, strict: bool) -> Robot:
    from .urdf import read_urdf

    return read_urdf(_bytes(path), source=str(path), strict=strict)


def _load_toml(path: Path, strict: bool) -> Robot:
    from .toml import read_toml

    return read_toml(_bytes(path), source=str(path), strict=strict)


def _load_json(path: Path, strict: bool) -> Robot:
    from .description import read_json

    return read_json(_bytes(path), source=str(path), strict=strict)


def _load_xacro(path: Path, strict: bool) -> Robot:
    _bytes(path)  # a missing file is said in our words, before a missing extra
    try:
        xacrodoc = importlib.import_module("xacrodoc")
    except ImportError:
        raise MissingExtraError.for_extra(f"{path}: reading xacro", "xacrodoc", "xacro") from None
    from .urdf import read_urdf

    try:
        text = xacrodoc.XacroDoc.from_file(str(path)).to_urdf_string()
    except Exception as error:  # a macro may fail in any way, with any exception
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FormatError(f"{path}: xacro could not be expanded ({reason}).") from error
    return read_urdf(text, source=f"{path} (expanded)", strict=strict)


def _refuse_mjcf(path: Path, strict: bool) -> Robot:
    raise FormatError(
        f"{path}: MuJoCo models (MJCF) are not supported yet. Convert it to URDF, or rename it if it is URDF already."
    )


_READERS: dict[str, Callable[[Path, bool], Robot]] = {
    ".urdf": _load_urdf,
    ".toml": _load_toml,
    ".json": _load_json,
    ".xacro": _load_xacro,
    ".xml": _refuse_mjcf,
}


def save(robot: Robot, path: str | os.PathLike[str]) -> None:
    """Write the robot to a `.toml` file, which keeps everything, or a `.urdf` file, which keeps what URDF can say.

    The file is complete or not there at all: it is written under another name and then renamed.

    Raises
    ------
    UnknownNameError
        For another suffix.
    FormatError
        When the place cannot be written to.

    Warns
    -----
    DalembertWarning
        Code 'left-out', when URDF cannot say something that acts in the robot.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise UnknownNameError(f"{path}: suffix {suffix!r} cannot be written. Known: {', '.join(_WRITERS)}.")
    text = _WRITERS[suffix](robot)
    try:
        replace_file(Path(os.path.realpath(path)), text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{path}: a name contains {error.object[error.start]!r}, which is not Unicode text. Rename that part."
        ) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: the file cannot be written ({getattr(error, 'strerror', None) or error}).") from None


def _toml_text(robot: Robot) -> str:
    from .toml_write import write_toml

    return write_toml(robot)


def _urdf_text(robot: Robot) -> str:
    from .urdf_write import write_urdf

    return write_urdf(robot)


_WRITERS: dict[str, Callable[[Robot], str]] = {".toml": _toml_text, ".urdf": _urdf_text}
