"""`load` and `save`: robots and mechanisms by their names in the catalogues, or from files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from . import formats
from .checks import flag
from .errors import FormatError, UnknownNameError, did_you_mean, listed, reading, shown

if TYPE_CHECKING:
    from .mechanism import Mechanism
    from .model import Robot
    from .model.mechanism_parts import MechanismParts

__all__ = ["load", "save"]


def load(source: str | os.PathLike[str], *, strict: bool = False) -> Robot | Mechanism:
    """The robot or mechanism of this name in the catalogues, or in this file.

    A file has at most 16 MB. Reading `.urdf`, `.toml` and `.json` runs nothing, and opens no other file but the `.yaml` of the
    same name beside a `.urdf`, which may name the loops that URDF cannot express. Expanding `.xacro` does what the macros say:
    they may read any file and the environment, so expand only files you trust; it ends after 30 s.

    Parameters
    ----------
    source : str or path
        A name of `dal.robots` or `dal.mechanisms`, such as "puma560", or a file: `.urdf` (also as `.xml`), `.urdf.xacro`, `.toml`
        or `.json`; `~` stands for the home folder.
    strict : bool
        Refuse what is computable but unphysical, such as a negative mass, instead of warning of it; of a mechanism also closures
        of which some hold what others hold already.

    Returns
    -------
    Robot or Mechanism
        A mechanism where loops are closed or coordinates are chosen, a robot otherwise.

    Raises
    ------
    FormatError
        When the file cannot be read, or what it describes cannot be built; it has `file`, `line` and `part`, and its message
        starts with the first two.
    UnknownNameError
        When `source` is neither a file nor in a catalogue, or the suffix is not known.
    MissingExtraError
        For a xacro file without the extra 'xacro'.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.load("puma560")
    Robot 'puma560': 6 joints (RRRRRR), 7 links
    >>> dal.load("four_bar")
    Mechanism 'four_bar': 1 coordinate (joint1), 3 joints, 1 closure
    """
    given, strict = formats.path_text("load", source), flag("strict", strict)
    if isinstance(source, str) and source in (robots := _robots()):
        robot = robots[source]()
        return robot.replace(strict=True) if strict else robot
    if isinstance(source, str) and _is_bare(source) and source in (mechanisms := _mechanisms()):
        mechanism = mechanisms[source]()
        return mechanism.replace(strict=True) if strict else mechanism
    if not formats.is_file(given):
        raise _unknown(given)
    found = formats.read(given, strict=strict)
    return _built(found) if isinstance(found, tuple) else found


def _is_bare(source: str) -> bool:
    """Whether it can be a name of the catalogue: nothing is loaded for what is a path."""
    return source.isidentifier()


def _robots() -> Mapping[str, Callable[[], Robot]]:
    from .robots import CATALOGUE

    return CATALOGUE


def _mechanisms() -> Mapping[str, Callable[[], Mechanism]]:
    from .mechanisms import CATALOGUE

    return CATALOGUE


def _unknown(name: str) -> UnknownNameError:
    robots, mechanisms = _robots(), _mechanisms()
    hint = did_you_mean(name.lower(), (*robots, *mechanisms))
    known = f"Robots: {', '.join(robots)}. Mechanisms: {', '.join(mechanisms)}."
    return UnknownNameError(f"robot {shown(name)}: neither a file nor in the catalogue{hint} {known}")


def _built(parts: MechanismParts) -> Robot | Mechanism:
    """The mechanism; or its tree alone, with a warning, where loops that stand beside a URDF cannot be closed."""
    try:
        return built(parts)
    except FormatError as error:
        if parts.strict or not parts.extend:
            raise
        from .formats.loop_file import warn_of_open_loops

        warn_of_open_loops(error, listed([closure.name for closure in parts.closures]))
        return parts.robot


def built(parts: MechanismParts) -> Mechanism:
    """The mechanism of these parts; what is wrong with it is said at its place in the file."""
    from .mechanism import Mechanism
    from .mechanism.independent import extended

    assert parts.place_of is not None
    with reading(parts.place_of):
        parts = extended(parts) if parts.extend else parts
        return Mechanism(
            parts.name,
            parts.robot,
            parts.closures,
            parts.coordinates,
            parts.guess,
            springs=parts.springs,
            dampers=parts.dampers,
            actuated=parts.actuated,
            strict=parts.strict,
        )


def save(system: Robot | Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a robot or mechanism to a `.toml` file, which keeps everything, or a `.urdf` file, which keeps what URDF can express.

    What makes a mechanism of a tree stands in URDF in an element <dalembert>, which other programs ignore.

    The file is complete or not there at all: it is written under another name and then renamed. A file that is replaced keeps its
    permissions; of a symbolic link, the target is replaced. `~` stands for the home folder.

    Raises
    ------
    UnknownNameError
        For another suffix.
    FormatError
        When the place cannot be written to, or the format has no way to write a name, a number or a function.

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
    from .model import Robot

    given = formats.path_text("save", path)
    if isinstance(system, Robot):
        formats.write(system, given)
        return
    parts = _parts(system)
    if parts is None:
        raise FormatError(f"save: {shown(system)} found; a Robot or a Mechanism is expected.")
    formats.write(parts, given)


def _parts(system: object) -> MechanismParts | None:
    """The data of a mechanism, None for anything else."""
    from .mechanism import Mechanism
    from .model.mechanism_parts import MechanismParts

    if not isinstance(system, Mechanism):
        return None
    return MechanismParts(
        system.name,
        system.robot,
        system.closures,
        system.coordinates,
        system.guess,
        system.springs,
        system.dampers,
        system.actuated,
        system.strict,
    )
