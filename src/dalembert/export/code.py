"""Source text of quantities: `export_code` and the table of languages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import options as options_of
from ..checks import choice
from ..dynamics.engine import system_of
from ..dynamics.system import AnySystem
from ..errors import DalembertError, UnknownNameError
from ..expr import Program
from ..files import replace_file
from ..model.numbers import Parameter
from ..wording import shown
from . import c, matlab, python
from .about import Module
from .choose import programs
from .naming import identifier
from .symbols import Chosen, chosen

_DTYPES = {"float64": "float64", "float32": "float32"}


class Language(NamedTuple):
    """How a module is written, the suffix of its file, and further files that go beside it."""

    write: Callable[[Module], str]
    suffix: str
    beside: Mapping[str, Callable[[Module], str]] = {}


LANGUAGES: dict[str, Language] = {
    "c": Language(c.source, ".c", {".h": c.header}),
    "c_header": Language(c.header, ".h"),
    "python": Language(python.source, ".py"),
    "matlab": Language(matlab.source, ".m"),
}


def export_code(
    system: AnySystem,
    quantity: str | Sequence[str] = "inverse_dynamics",
    *,
    language: str = "c",
    name: str | None = None,
    path: str | os.PathLike[str] | None = None,
    dtype: str = "float64",
    formulation: str | None = None,
    link: str | Sequence[str] | None = None,
    frame: str | None = None,
    angles: str | None = None,
    wrenches: Sequence[str] | None = None,
    moving_base: bool | None = None,
    parameters: bool | None = None,
    symbols: str | Iterable[str] | None = None,
) -> str:
    """Source code of one or more quantities: a function each, straight-line, with this robot's numbers in it.

    C is C99 and needs only the mathematical library: no memory is allocated, nothing is global that can change, arrays of
    several axes are stored row by row, outputs may overlap inputs. Python needs only NumPy, and takes leading batch axes. MATLAB
    takes one configuration, and runs in Octave too.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    quantity : str or sequence of str
        What to compute, named like the function of this package: 'inverse_dynamics', 'mass_matrix', 'jacobian', ...
    language : {'c', 'c_header', 'python', 'matlab'}
        'c_header' gives the declarations that go with 'c'. Of several quantities in MATLAB the file's function returns a struct
        with a handle for each.
    name : str, optional
        What function names begin with; the robot's name if left out.
    path : path, optional
        Where to write the text; for 'c' the header goes beside it. Each file is complete or not there at all.
    dtype : {'float64', 'float32'}
        Type of inputs, outputs and everything between.
    formulation, link, frame, angles
        As in the function of the quantity; for several quantities each takes what it knows.
    wrenches : sequence of str, optional
        Links (or 'tool') on which a wrench acts; each becomes an input of shape (6,).
    moving_base : bool, optional
        Whether velocity and acceleration of the base are inputs, each of shape (6,).
    parameters : bool, optional
        Whether the dynamic parameters are an input, in the order of `dal.parameter_names`, instead of numbers in the code.
    symbols : str or sequence of str, optional
        Numbers of the robot that stay open, as in `dal.equations`: 'all', kinds such as 'masses', names such as 'm_1'. They are
        fields of one more argument: a struct in C and MATLAB, a dictionary in Python, with the robot's own values beside it.

    Returns
    -------
    str
        The text, with arrays, their units and the operation counts in comments.

    Raises
    ------
    UnknownNameError
        For a quantity, language, option, link or formulation that is not known.
    DalembertError
        When the file cannot be written.

    Examples
    --------
    >>> import dalembert as dal
    >>> text = dal.export_code(dal.robots.pendulum(), "gravity_torque")
    >>> [line for line in text.splitlines() if line.startswith("void")]
    ['void pendulum_gravity_torque(const double q[1], double g[1])']
    """
    writer = choice("language", language, LANGUAGES)
    target = None if path is None else _target(path, writer)
    options = {
        "formulation": formulation,
        "link": link,
        "frame": frame,
        "angles": angles,
        "wrenches": wrenches,
        "moving_base": moving_base,
        "parameters": parameters,
    }
    view = system_of(system)
    wanted = None if symbols is None else chosen(system, symbols)
    traced = programs(system, quantity, options, wanted)
    prefix = identifier(system.name if name is None else _name(name))
    functions = {f"{prefix}_{key}": program for key, program in traced.items()}
    module = Module(view, prefix, functions, choice("dtype", dtype, _DTYPES), _used(wanted or {}, traced))
    text = writer.write(module)
    if target is not None:
        _save(target, text, writer, module)
    return text


def _used(symbols: Chosen, traced: Mapping[str, Program]) -> tuple[Parameter, ...]:
    """The parameters that some function takes, in reading order."""
    names = {slot.name for program in traced.values() for slot in program.inputs}
    return tuple(sorted((p for p in symbols.values() if p.name in names), key=lambda p: p.order))


def _target(given: str | os.PathLike[str], language: Language) -> Path:
    """Where to write, found before the work."""
    try:
        path = Path(os.path.realpath(os.fsdecode(given)))
    except (TypeError, ValueError, OSError):
        raise DalembertError(
            f"path: {shown(given)} found, the name of a file such as 'arm{language.suffix}' is expected."
        ) from None
    if path.suffix != language.suffix:
        raise UnknownNameError(f"{path.name}: suffix {path.suffix!r} found, {language.suffix!r} expected for this language.")
    return path


def _save(path: Path, text: str, language: Language, module: Module) -> None:
    files = {path: text} | {path.with_suffix(suffix): write(module) for suffix, write in language.beside.items()}
    for target, content in files.items():
        try:
            replace_file(target, content.encode())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DalembertError(f"{target}: the file cannot be written ({reason}). Does the folder exist?") from None


def _name(given: object) -> str:
    if not options_of.text("name", given, "what function names begin with"):
        raise UnknownNameError(
            "name: an empty text found, what function names begin with is expected. Leave it out for the robot's."
        )
    return str(given)
