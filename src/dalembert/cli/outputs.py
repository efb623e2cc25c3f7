"""Files that commands write: checked before the work, written after the rest is printed, then named on stderr."""

from __future__ import annotations

import importlib
import io
import os
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DalembertError, MissingExtraError, UnknownNameError
from ..files import replace_file
from . import terminal

FORMATS = ("pdf", "png", "svg")


class Picture(NamedTuple):
    """Where a figure goes, and in which format."""

    path: Path
    format: str


def picture(command: str, given: str | None, option: str = "--figure") -> Picture | None:
    """The place of a figure, if one is wanted and can be drawn and written; its suffix is its format."""
    if given is None:
        return None
    path = Path(given)
    form = path.suffix[1:].lower()
    if form not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise UnknownNameError(f"{option}: {given!r} ends in {path.suffix!r}, which is not a format of figures. Known: {known}.")
    try:
        importlib.import_module("matplotlib.figure")
    except ImportError:
        raise MissingExtraError.for_extra(f"{command}: the figure", "matplotlib", "plots") from None
    return Picture(destination(option, given), form)


def destination(option: str, given: str) -> Path:
    """The file that an option names, after trying whether it can be written there."""
    try:
        path = Path(given).absolute()
        _try(path)
    except (OSError, ValueError) as error:
        raise _unwritable(f"{option}: {given!r}", error) from None
    return path


def _try(path: Path) -> None:
    """Refuse a path that is not a regular file, and a folder in which no file can be made."""
    if path.exists() and not path.is_file():
        raise ValueError("it is a folder" if path.is_dir() else "it exists and is not a regular file")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r}")
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    with open(draft, "xb"):
        pass
    draft.unlink()


def _unwritable(subject: str, error: Exception) -> DalembertError:
    reason = getattr(error, "strerror", None) or str(error)
    return DalembertError(f"{subject} cannot be written: {reason[:1].lower()}{reason[1:]}. Name another file.")


def new_figure(size: tuple[float, float], **options: Any) -> Any:
    """An empty figure without a window."""
    return importlib.import_module("matplotlib.figure").Figure(figsize=size, **options)


def save_figure(figure: Any, target: Picture, **options: Any) -> None:
    """Write the figure: the file is complete, or it is not there."""
    content = io.BytesIO()
    figure.savefig(content, format=target.format, **{"dpi": 160, **options})
    try:
        replace_file(target.path, content.getvalue())
    except OSError as error:
        raise _unwritable(f"--figure: {str(target.path)!r}", error) from None
    confirm(target.path)


def confirm(*paths: Path) -> None:
    """Say on stderr what was written."""
    for path in paths:
        terminal.remark(("written: ", "green"), str(path))
