"""All printing goes through here: data to stdout, remarks to stderr, colour only where there is a terminal.

Names come from files and arguments, so everything printed passes through `printable`: a control character is shown as text and
has no effect, and brackets are printed as they are. This module needs neither NumPy nor, until something is printed, rich.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import DalembertWarning
from ..wording import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def styled(text: str, style: str = "") -> Text:
    """A piece of a line in its style."""
    from rich.text import Text

    return Text(printable(text), style=style)


def stdout() -> Console:
    """Where data go."""
    return _console()


def stderr() -> Console:
    """Where remarks go."""
    return _console(stderr=True)


def _console(**options: Any) -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True, **options)


def width() -> int | None:
    """Columns of the terminal; None where there is none: a file or a pipe has room."""
    console = stdout()
    return console.width if console.is_terminal else None


def say(*pieces: str | tuple[str, str]) -> None:
    """A line of data on stdout, made of pieces that may have a style."""
    say_lines([pieces])


def say_lines(lines: Iterable[Sequence[str | tuple[str, str]]]) -> None:
    """Lines of data, each made of pieces."""
    console = stdout()
    for pieces in lines:
        console.print(_line(pieces))


def remark(*pieces: str | tuple[str, str]) -> None:
    """A line on stderr."""
    stderr().print(_line(pieces))


def _line(pieces: Sequence[str | tuple[str, str]]) -> Text:
    from rich.text import Text

    return Text().join(styled(piece) if isinstance(piece, str) else styled(*piece) for piece in pieces)


def complain(error: Exception) -> None:
    """An error as one line on stderr."""
    remark(("error: ", "bold red"), " ".join(_sentence(error).split()))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        subject = f"{error.filename}: " if error.filename else ""
        return f"{subject}{error.strerror[:1].lower()}{error.strerror[1:]}."
    return str(error) or type(error).__name__


@contextmanager
def warnings_once() -> Iterator[None]:
    """Print each `DalembertWarning` once, in colour, on stderr; other warnings are shown as usual."""
    seen: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", DalembertWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if not issubclass(category, DalembertWarning):
                usual(message, category, *where, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                remark(("warning: ", "bold yellow"), " ".join(str(message).split()))

        warnings.showwarning = show
        yield


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on stderr, where there is a terminal to show it."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = stderr()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(printable(words), total=1.0)
        yield lambda share: bar.update(task, completed=share)


def print_text(text: str) -> None:
    """Text of several lines as it is, such as source code."""
    sys.stdout.write(printable(text if text.endswith("\n") else f"{text}\n", keep="\n\t"))


def print_json(data: Any) -> None:
    """JSON with nothing around it, every digit of the numbers kept."""
    text = json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)
    if not text.replace("\n", "").isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    print(text)


def _plain(value: Any) -> Any:
    """Arrays as lists; JSON knows neither infinity nor NaN, so both are null."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
