"""Options of every public function and class, one at a time, with values of every kind."""

from __future__ import annotations

import contextlib
import tempfile
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .campaign import SILENT, WRONG, Fault, answer, cut, refused
from .targets import Target, targets
from .values import VALUES

QUICK = 400
FULL = 51_060  # the whole table
LIMIT = 30.0
_ORDER = 20_240  # shuffles the table once, so that any first part of it is a fair sample


class Case(NamedTuple):
    """One call: which function, which option, which value."""

    target: Target
    option: str
    value: str

    def __str__(self) -> str:
        return f"{self.target.name}({self.option}={self.value})"


_ALSO = {
    "system": ["robot"],
    "source": ["robot"],
    "robot": ["system"],
    "rows": ["row 1"],
    "tau": ["steps"],
    "t_eval": ["t_end"],
    "wrenches": ["link"],
    "what": ["names", "evaluate"],
    "path": ["suffix"],
}


@cache
def _all() -> list[Case]:
    cases = [Case(target, option, value) for target in targets() for option in target.options for value in VALUES]
    return [cases[k] for k in np.random.default_rng(_ORDER).permutation(len(cases))]


def draw(rng: np.random.Generator, number: int) -> Case:
    """The whole table, in an order that looks random."""
    return _all()[number % len(_all())]


def judge(case: Case) -> None:
    """A value that fits works, one that does not is refused by the option's name."""
    value = VALUES[case.value]()
    verdict = case.target.options[case.option](value)
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        found = answer(lambda: case.target.call(**(case.target.good | {case.option: value})), _names(case, value))
    if verdict is False and not refused(found):
        raise Fault(SILENT, f"accepted: {_shown(found)}")
    if verdict is True and refused(found):
        raise Fault(WRONG, f"a good value is refused: {cut(str(found))}")


def _names(case: Case, value: Any) -> list[str]:
    """What a refusal may speak of: the option, the function, the kind of part, or the value itself."""
    option, target = case.option, case.target.name
    names = [option, option.replace("_", " "), option.removesuffix("s"), *target.split("."), *target.lower().split(".")]
    names += _ALSO.get(option, [])
    names += {"from_dh row": ["row 1", "robot", "joint"], "from_dh": ["robot"], "detach": ["link or joint"]}.get(target, [])
    names += {"Chosen": ["coordinate"], "gather": ["robot"]}.get(target, [])
    return [*names, value[:20]] if isinstance(value, str) and value else names


def _shown(found: Any) -> str:
    try:
        return cut(repr(found), 120)
    except Exception as error:
        return f"{type(found).__name__}, whose repr fails: {error}"
