"""Arrays handed over in every form: the same results as from clean copies, or a refusal that names the argument."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from .campaign import SILENT, WRONG, Fault, answer, cut, pick, refused, require_equal
from .dresses import ALWAYS_FINE, DRESSES, Dressed
from .functions import FUNCTIONS, MECHANISMS, call, clean, core, numpy_back_end, pick_system, robot

QUICK = 350
FULL = 27_646
LIMIT = 60.0
BATCHES = ((), (), (), (1,), (0,), (3,), (5,), (33,), (2, 3), (1, 4), (2, 1, 2), (0, 3), (2_000,))


class Case(NamedTuple):
    """One call: a function of a robot or mechanism, and its arrays in the forms they are handed over."""

    function: str
    robot: str
    dresses: dict[str, str]
    arrays: dict[str, Dressed]
    batch: tuple[int, ...]
    fits: bool  # whether the batches go together

    def __str__(self) -> str:
        worn = ", ".join(
            f"{name} {np.shape(given.meaning) if given.meaning is not None else ''} {self.dresses[name]}"
            for name, given in self.arrays.items()
        )
        return f"{self.function}({self.robot}, {worn}){'' if self.fits else '; batches do not go together'}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """A function, a robot and a batch; one array in an odd form, the others in good ones. The first cases compile quickly."""
    function = FUNCTIONS[pick(rng, FUNCTIONS)]
    name = pick_system(rng, function, number < QUICK)
    batch = pick(rng, BATCHES)
    names = [*function.arrays, *(further for further in function.further if rng.random() < 0.3)]
    if function.name == "friction_torque" and name in MECHANISMS and "q" not in names:
        names.append("q")  # which a mechanism needs
    odd = pick(rng, names)
    spoiled = pick(rng, names) if rng.random() < 0.05 and batch and batch != (1,) else None
    dresses = {array: pick(rng, DRESSES if array == odd else ALWAYS_FINE) for array in names}
    arrays = {}
    for array in names:
        own = (*batch[:-1], batch[-1] + 2) if array == spoiled else _part(rng, batch)
        arrays[array] = DRESSES[dresses[array]](rng, clean(rng, name, array, own))
    return Case(function.name, name, dresses, arrays, batch, spoiled is None or _together(name, arrays))


def _part(rng: np.random.Generator, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Some of the batch axes: others are left out in front, or have length one."""
    kept = batch[int(rng.integers(len(batch) + 1)) if rng.random() < 0.3 else 0 :]
    return tuple(1 if rng.random() < 0.1 else axis for axis in kept)


def _batches(name: str, arrays: dict[str, Dressed]) -> list[tuple[int, ...]]:
    meant = {array: given.meaning for array, given in arrays.items() if given.meaning is not None}
    return [x.shape[: x.ndim - len(core(name, array))] for array, x in meant.items()]


def _together(name: str, arrays: dict[str, Dressed]) -> bool:
    try:
        np.broadcast_shapes(*_batches(name, arrays))
    except ValueError:
        return False
    return True


def judge(case: Case) -> None:
    """Right results, or an error message where there are none."""
    function = FUNCTIONS[case.function]
    given = {name: dressed.value for name, dressed in case.arrays.items()}
    found = answer(lambda: call(function, robot(case.robot), given), _names(case))
    strict = all(dressed.strict for dressed in case.arrays.values())
    tame = all(dressed.tame for dressed in case.arrays.values())
    meant = case.fits and all(dressed.meaning is not None for dressed in case.arrays.values())
    if refused(found):
        if meant and strict and not _may_be_refused(case, tame):
            raise Fault(WRONG, f"good arrays are refused: {cut(str(found))}")
    elif not meant:
        raise Fault(SILENT, "accepted")
    else:
        require_equal(found, _expected(case, tame and function.interpreted), 1e-9)


def _may_be_refused(case: Case, tame: bool) -> bool:
    """Time loops may refuse to start from numbers that are not finite; mechanisms, what clean arrays say is out of reach."""
    if case.robot in MECHANISMS:
        far = not tame or case.function == "at x"  # positions that are given have to be closed
        clean = {name: np.array(dressed.meaning) for name, dressed in case.arrays.items()}
        return far and refused(answer(lambda: call(FUNCTIONS[case.function], robot(case.robot), clean)))
    return not tame and not FUNCTIONS[case.function].interpreted


def _names(case: Case) -> list[str]:
    """Arguments that a refusal may name."""
    odd = [name for name, dressed in case.arrays.items() if dressed.meaning is None or not dressed.strict]
    names = odd if odd and case.fits else list(case.arrays)
    if case.robot in MECHANISMS and not all(dressed.tame for dressed in case.arrays.values()):
        names = [*names, case.robot]  # which is out of reach
    also = {
        "torques": ["tau", "steps"],  # a class for tau is called, and then steps are missing
        "wrenches": ["wrench"],
        "path": ["q"],
        "near": ["positions"],
    }
    return [*names, *(word for name in names for word in also.get(name, [])), "batch"]


def _expected(case: Case, interpreted: bool) -> Any:
    """The same from clean arrays of the whole batch: by the interpreter, where numbers are such that rounding does not matter."""
    whole = np.broadcast_shapes(*_batches(case.robot, case.arrays))
    arrays = {}
    for name, dressed in case.arrays.items():
        assert dressed.meaning is not None
        arrays[name] = np.array(np.broadcast_to(dressed.meaning, (*whole, *core(case.robot, name))), float, order="C")
    with numpy_back_end() if interpreted else nullcontext(), np.errstate(all="ignore"):
        return call(FUNCTIONS[case.function], robot(case.robot, oracle=interpreted), arrays, threads=1)
