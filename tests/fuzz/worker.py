"""The process in which the cases of a campaign run: `python -m tests.fuzz.worker NAME SEED FIRST END`.

It tells its parent before each case what comes, and after a fault what went wrong, one JSON object per line. If it dies or
hangs, the parent knows at which case.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import sys
import warnings
from types import ModuleType
from typing import Any, TextIO

import numpy as np

import dalembert as dal

from .campaign import FOREIGN, Fault, cut

_ADDRESSES = 6 * 2**30  # bytes a worker may map: a case that reads without end is a MemoryError, not a dead machine


def module_of(name: str) -> ModuleType:
    """The campaign of this name."""
    return importlib.import_module(f"{__package__}.{name}")


def drawn(name: str, seed: int, number: int) -> Any:
    """A case, by the seed of the run and its number."""
    return module_of(name).draw(np.random.default_rng([seed, number]), number)


def fault_of(name: str, case: Any) -> Fault | None:
    """What is wrong with a case, if anything is; warnings that are not ours count as exceptions."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dal.DalembertWarning)
        try:
            module_of(name).judge(case)
        except Fault as fault:
            return fault
        except Exception as error:  # of the judge itself, or of what it asked on the way
            return Fault(FOREIGN, f"while judging: {type(error).__name__}: {cut(str(error))}")
    return None


def main(name: str, seed: str, first: str, end: str) -> None:
    """Run a range of cases."""
    report = _claim_output()
    faulthandler.enable()
    _limit_memory()
    for number in range(int(first), int(end)):
        case = drawn(name, int(seed), number)
        _say(report, number=number, about=cut(str(case)))
        fault = fault_of(name, case)
        if fault is not None:
            _say(report, number=number, kind=fault.kind, message=cut(fault.message, 2000))


def _claim_output() -> TextIO:
    """Keep the pipe to the parent for reports alone; whatever else is printed goes to the error stream."""
    report = os.fdopen(os.dup(1), "w")
    os.set_inheritable(report.fileno(), False)
    os.dup2(2, 1)
    return report


def _limit_memory() -> None:
    import resource  # not on every platform, and collecting the tests imports this module

    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, resource.RLIM_INFINITY))


def _say(report: TextIO, **content: Any) -> None:
    report.write(json.dumps(content) + "\n")
    report.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
