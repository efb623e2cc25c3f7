"""`out=` of every kind, with one thread or several: the right numbers in the right place and nowhere else, or a refusal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .campaign import SILENT, WRONG, Fault, answer, cut, pick, refused, require_equal
from .functions import FUNCTIONS, MECHANISMS, Function, call, clean, filled, pick_system, robot
from .out_kinds import OUT_KINDS, Out, Scene

QUICK = 200
FULL = 4_253
LIMIT = 60.0
# Batch axes of all arrays; or of the first one and of the others. The long ones are shared by threads, flat or broadcast.
BATCHES: tuple[Any, ...] = (
    *((), (1,), (5,), (0,), (2, 3), (700,), (6_000,), (20_000,), (100, 70)),
    *(((300, 1), (1, 40)), ((2_000, 1), (3,))),
)
_ENTRIES = 4_000_000  # of the results of a case


class Case(NamedTuple):
    """One call."""

    function: str
    robot: str
    kind: str
    threads: int
    batch: Any
    seed: int

    def __str__(self) -> str:
        return f"{self.function}({self.robot}, batch {self.batch}, out={self.kind}, threads={self.threads})"


def draw(rng: np.random.Generator, number: int) -> Case:
    """A function with `out`, a batch, a number of threads and a kind of `out`. The first cases are quick to compile."""
    function = pick(rng, [name for name, f in FUNCTIONS.items() if f.takes_out])
    name = pick_system(rng, FUNCTIONS[function], number < QUICK)
    return Case(function, name, pick(rng, OUT_KINDS), int(rng.integers(1, 9)), pick(rng, BATCHES), number)


def judge(case: Case) -> None:
    """The numbers that come without `out`, in the arrays given, or a refusal that leaves everything beside them alone."""
    function = FUNCTIONS[case.function]
    arrays = _arrays(case, function)
    expected = filled(function, call(function, robot(case.robot), arrays, threads=1))
    given = OUT_KINDS[case.kind](Scene(function, robot(case.robot), arrays, expected))
    found = answer(
        lambda: call(function, robot(case.robot), given.arrays or arrays, out=given.value, threads=case.threads), ["out"]
    )
    for room in given.rooms:
        room.require_clean()
    if not refused(found):
        _judge_result(filled(function, found), expected, given)
    elif given.verdict:
        raise Fault(WRONG, f"a fitting out is refused: {cut(str(found))}")


def _judge_result(found: list[np.ndarray], expected: list[np.ndarray], given: Out) -> None:
    if given.verdict is False:
        raise Fault(SILENT, f"accepted; shapes {[x.shape for x in expected]}")
    require_equal(tuple(found), tuple(expected), given.tolerance)
    for array, room in zip(found, given.rooms):
        if array.size and not np.shares_memory(array, room.whole):
            raise Fault(WRONG, "the result is not the array given")


def _arrays(case: Case, function: Function) -> dict[str, np.ndarray]:
    """Good values for a batch, of fewer rows where there would be very many entries."""
    rng, n = np.random.default_rng(case.seed), robot(case.robot).n
    nested = bool(case.batch) and isinstance(case.batch[0], tuple)
    most = max(1, _ENTRIES // (n**3 * 100))
    first, others = case.batch if nested else (tuple(min(axis, most) for axis in case.batch),) * 2
    names = (*function.arrays, "q") if case.robot in MECHANISMS and "q" in function.further else function.arrays
    return {name: clean(rng, case.robot, name, others if k else first) for k, name in enumerate(names)}
