"""Arguments of commands: how they are declared, read and refused."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, NoReturn

from ..errors import DalembertError
from . import terminal

_NUMBERS = "NUMBERS"  # how the value of an option for a list of numbers is called
_MOST_SAMPLES = 10_000_000  # more fill the memory


class Argument(NamedTuple):
    """An argument or option: its names, and what argparse is to know of it."""

    names: tuple[str, ...]
    options: dict[str, Any]

    @property
    def is_list(self) -> bool:
        """Whether its value is a list of numbers."""
        return self.options.get("metavar") == _NUMBERS


class Parser(argparse.ArgumentParser):
    """A parser that takes options by their whole names only, and prints errors through `terminal`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_formatter, **options)

    def error(self, message: str) -> NoReturn:
        """Print the usage and what was wrong; exit with 2."""
        for line in self.format_usage().splitlines():
            terminal.remark(line.replace("usage:", "Usage:", 1))
        terminal.remark(f"Try '{self.prog} --help'.")
        terminal.complain(DalembertError(message))
        raise SystemExit(2)


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=30)


def joined(arguments: Sequence[str], lists: Collection[str]) -> list[str]:
    """Numbers after an option for numbers as one word: `--q 0 0.1 -2` is `--q="0 0.1 -2"`, with and without quotes and commas."""
    joined: list[str] = []
    taking = False
    for word in arguments:
        if taking and _are_numbers(word):
            joined[-1] += f" {word}"
        elif joined and joined[-1] in lists and _are_numbers(word):
            joined[-1] += f"={word}"
            taking = True
        else:
            joined.append(word)
            taking = False
    return joined


def _are_numbers(text: str) -> bool:
    try:
        return bool(_split(text))
    except ValueError:
        return False


def _split(text: str) -> list[float]:
    return [float(word) for word in text.replace(",", " ").split()]


def numbers(text: str) -> list[float]:
    """The numbers of a list separated by commas, spaces or both."""
    try:
        return _split(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0.1 0.2 or '0.1,0.2'.") from None


def share(text: str) -> float:
    """A share written as '1%' or as 0.01."""
    try:
        return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a percentage such as '1%' nor a number.") from None


def whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """A reader of whole numbers within these bounds."""

    def read(text: str) -> int:
        try:
            count = int(text)
        except ValueError:
            count = least - 1
        if not least <= count <= most:
            more = f" and at most {most}" if math.isfinite(most) else ""
            raise argparse.ArgumentTypeError(f"{text!r} found, a whole number of at least {least}{more} is expected.")
        return count

    return read


def number(text: str) -> float:
    """One number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number.") from None


def option(*names: str, about: str, **more: Any) -> Argument:
    """An option with a value; the help text ends with its default, if it has one."""
    default = more.get("default")
    shown = f"{about}; {default} by default" if default not in (None, "") and not isinstance(default, list) else about
    return Argument(names, {"help": shown.replace("%", "%%"), **more})


def flag(name: str, about: str) -> Argument:
    """An option without a value."""
    return Argument((name,), {"action": "store_true", "help": about})


def number_list(name: str, about: str, **more: Any) -> Argument:
    """An option whose value is a list of numbers."""
    return option(name, about=about, metavar=_NUMBERS, type=numbers, default=[], **more)


def words(name: str, about: str) -> Argument:
    """An option that may be given several times."""
    return option(name, about=about, metavar="NAME", action="append")


def samples(about: str, default: int, least: int = 1) -> Argument:
    """The option for how many samples."""
    return option("--samples", about=about, metavar="N", type=whole(least, _MOST_SAMPLES), default=default)
