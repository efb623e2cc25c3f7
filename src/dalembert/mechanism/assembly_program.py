"""The position closure as a loop program: Newton's method on F(x) = [0; q] from positions nearby.

Far from them the goal moves in steps from where the start is to q, so that the branch is kept: each is left as soon as Newton's
step is small. A configuration is done when a step at the last goal is so small that the next one would be rounding. One that does
not come to a goal within `TURNS` turns has no positions: they become NaN, and so does all that is computed from them. Linear
equations have their solution at once (linear.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algorithms.position_rows import Positions, difference, evaluated, goes_round
from ..algorithms.sweep import Unrolled
from ..expr import ops
from ..expr.assembly import Assembly
from ..expr.loops import LoopProgram, Repeat
from ..model.position_functions import PositionFunction
from ..model.tree import Tree
from ..spatial.sparse_lu import Factors, Plan, factor
from . import linear

TURNS = 40  # for one goal
MOST_GOALS = 2000.0  # on the way to q: a thousand radians, or what a joint counts after 160 turns
WRITTEN_OUT = 10  # turns where they cannot be repeated
LAST_STEP = 1e-8  # after a step of this size the error is its square
LOOSE_STEP = 0.05  # with which a goal on the way is left
CLOSED = 1e-8  # [m | rad]: what a closure may leave open where Newton's method ends
LONGEST_STEP = 0.5  # of a joint in one turn [rad | m]: Newton's steps are cut to it
TRACKING_TURNS = 12  # from positions of a moment ago
FINITE = 1e300  # above any step that is a number
STATE = ("residual", "pivot", "turns")


class Setting(NamedTuple):
    """What a position closure is made of: `values` are those of the closures, `reach` how far each coordinate may go at once,
    `pivots` the sizes of the pivots at the seed.
    """

    tree: Tree
    functions: Sequence[PositionFunction]
    plan: Plan
    values: Sequence[float]
    reach: Sequence[float]
    pivots: Sequence[float]


def program(setting: Setting) -> LoopProgram:
    """Inputs q and the positions to start from; outputs the positions, and how well it went (`STATE`)."""
    N, n = setting.tree.n, len(setting.reach)
    make = Assembly("assemble")
    q, near = make.input("q", n), make.input("near", N)
    out, state = make.output("x", N), make.output("state", len(STATE))
    if linear.is_linear(setting.functions):
        return make.finish(make.once(lambda q, near: _at_once(setting, q), [q, near], [out, state]))
    x, start, pending, turn, share, stride, pivot = (make.buffer(size) for size in (N, n, 1, 1, 1, 1, 1))
    begin = make.once(lambda q, near: _begun(setting, q, near), [q, near], [x, start, pending, turn, share, stride])
    sources, targets = [q, x, start, pending, turn, share, stride, pivot], [x, pending, turn, share, pivot]
    turned = make.once(lambda *given: _turned(setting, *given), sources, targets)
    end = make.once(lambda *given: _ended(setting, *given), [q, x, turn, pivot], [out, state])
    return make.finish([*begin, Repeat(pending.place, tuple(turned)), *end])


def _at_once(setting: Setting, q: Any) -> list[Any]:
    """The positions of linear equations, and that they took one turn."""
    return _ended(setting, q, linear.positions(*setting[:3], [*setting.values, *q]), [1.0], [1.0])


def _values(setting: Setting, x: Any) -> list[Any]:
    at = Positions(Unrolled(setting.tree), x)
    return [evaluated(at, function) for function in setting.functions]


def _begun(setting: Setting, q: Any, near: Any) -> list[Any]:
    """Where the start is, and in how many steps the goal goes from there to q."""
    n = len(q)
    ends = zip(setting.functions[-n:], _values(setting, near)[-n:], q, strict=True)
    start = [goal + difference(f, value.value, goal) if goes_round(f) else value.value for f, value, goal in ends]
    far: Any = 1.0
    for goal, here, reach in zip(q, start, setting.reach, strict=True):
        far = ops.maximum(far, ops.absolute(goal - here) * (1.0 / reach))
    stride = 1.0 / ops.minimum(far, MOST_GOALS)  # further away strides are longer, and few succeed
    return [list(near), start, [1.0], [0.0], [stride], [stride]]


def _turned(
    setting: Setting, q: Any, x: Any, start: Any, pending: Any, turn: Any, share: Any, stride: Any, pivot: Any
) -> list[Any]:
    """One turn of Newton's method towards the present goal; the pivots of the last one are those at the positions found."""
    goal = [*setting.values, *(here + share[0] * (there - here) for here, there in zip(start, q, strict=True))]
    step, size, factors = _factored_step(setting, x, goal)
    cut = LONGEST_STEP / ops.maximum(size, LONGEST_STEP)
    last = ops.less_equal(1.0, share[0])
    arrived = ops.less(size, ops.where(last, LAST_STEP, LOOSE_STEP))
    over = arrived * last
    moved = [ops.where(pending[0], a - cut * b, a) for a, b in zip(x, step, strict=True)]
    hopeful = ops.less(turn[0], TURNS - 1.0) * ops.less(size, FINITE)  # not for NaN
    going = pending[0] * (1.0 - over) * hopeful
    # What is given up counts its turns beyond all that are allowed; a goal on the way that is reached starts the count again.
    count = turn[0] + pending[0] * (1.0 + (1.0 - over) * (1.0 - hopeful) * TURNS)
    count = ops.where(pending[0] * arrived * (1.0 - last) * hopeful, 0.0, count)
    further = ops.where(arrived, ops.minimum(share[0] + stride[0], 1.0), share[0])
    least = ops.where(pending[0], least_pivot(factors.pivots, setting.pivots), pivot[0])
    return [moved, [going], [count], [further], [least]]


def tracker(setting: Setting) -> LoopProgram:
    """Inputs q and positions of a moment ago; outputs the positions, and the least pivot against its size at the seed.

    For a time loop, whose steps are short: no goals on the way, no report. Positions that are not found are NaN.
    """
    N, n = setting.tree.n, len(setting.reach)
    make = Assembly("track")
    q, near = make.input("q", n), make.input("near", N)
    out, quality = make.output("x", N), make.output("pivot", 1)
    x, pending, turn, pivot = (make.buffer(size) for size in (N, 1, 1, 1))
    begin = make.once(lambda near: [list(near), [1.0], [0.0]], [near], [x, pending, turn])
    turned = make.once(lambda *given: _tracked(setting, *given), [q, x, pending, turn, pivot], [x, pending, turn, pivot])
    end = make.once(lambda *given: _kept_if_found(setting, *given), [q, x, turn, pivot], [out, quality])
    return make.finish([*begin, Repeat(pending.place, tuple(turned)), *end])


def _tracked(setting: Setting, q: Any, x: Any, pending: Any, turn: Any, pivot: Any) -> list[Any]:
    """One turn of Newton's method; turns beyond all that are allowed mark what is given up."""
    step, size, factors = _factored_step(setting, x, [*setting.values, *q])
    arrived = ops.less(size, LAST_STEP)
    hopeful = ops.less(turn[0], TRACKING_TURNS - 1.0) * ops.less(size, FINITE)
    moved = [ops.where(pending[0], a - b, a) for a, b in zip(x, step, strict=True)]
    count = turn[0] + pending[0] * (1.0 + (1.0 - arrived) * (1.0 - hopeful) * TRACKING_TURNS)
    least = ops.where(pending[0], least_pivot(factors.pivots, setting.pivots), pivot[0])
    return [moved, [pending[0] * (1.0 - arrived) * hopeful], [count], [least]]


def _kept_if_found(setting: Setting, q: Any, x: Any, turn: Any, pivot: Any) -> list[Any]:
    lost = ops.less(TRACKING_TURNS + 0.5, turn[0])
    if setting.plan.dependent:
        lost = ops.maximum(lost, ops.less(CLOSED, _left_open(setting, x, q)))
    return [[ops.where(lost, float("nan"), entry) for entry in x], [ops.where(lost, float("nan"), pivot[0])]]


def written_out(setting: Setting, q: Any, near: Any) -> list[Any]:
    """The positions as nodes: a fixed number of turns one after another, NaN where they are not enough.

    For code that cannot repeat, such as a formula or a program in another language. Linear equations are solved at once.
    """
    if linear.is_linear(setting.functions):
        return linear.positions(*setting[:3], [*setting.values, *q])
    x, sizes = list(near), []
    for _ in range(WRITTEN_OUT):
        step, size = _step(setting, x, [*setting.values, *q])
        cut = LONGEST_STEP / ops.maximum(size, LONGEST_STEP)
        x = [a - cut * b for a, b in zip(x, step, strict=True)]
        sizes.append(size)
    found = ops.less(sizes[-2], LAST_STEP**0.5)  # the step after it is its square; so it also holds in single precision
    if setting.plan.dependent:
        found = found * ops.less(_left_open(setting, x, q), LAST_STEP**0.5)
    return [ops.where(found, entry, float("nan")) for entry in x]


def _left_open(setting: Setting, x: Any, q: Any) -> Any:
    """The largest of what closures and coordinates are off; Newton's method does not see those that seem to depend on others."""
    worst: Any = 0.0
    for f, value, wanted in zip(setting.functions, _values(setting, x), [*setting.values, *q], strict=True):
        worst = ops.maximum(ops.absolute(difference(f, value.value, wanted)), worst)
    return worst


def _step(setting: Setting, x: Any, goal: Sequence[Any]) -> tuple[list[Any], Any]:
    """Newton's step towards a goal, to be subtracted, and the size of its largest entry."""
    return _factored_step(setting, x, goal)[:2]


def _factored_step(setting: Setting, x: Any, goal: Sequence[Any]) -> tuple[list[Any], Any, Factors]:
    found = _values(setting, x)
    left = [difference(f, value.value, wanted) for f, value, wanted in zip(setting.functions, found, goal, strict=True)]
    factors = factor([value.row for value in found], setting.plan)
    step = factors.solve(left)
    size: Any = 0.0
    for entry in step:
        size = ops.maximum(ops.absolute(entry), size)
    return step, size, factors


def _ended(setting: Setting, q: Any, x: Any, turn: Any, pivot: Any) -> list[Any]:
    """The positions, NaN where they were not found; what is left open, the least pivot against that at the seed, and turns."""
    residual = _left_open(setting, x, q)
    given_up = ops.less(TURNS + 0.5, turn[0])
    still_open = (1.0 - given_up) * ops.less(CLOSED, residual)
    lost = given_up + still_open
    return [[ops.where(lost, float("nan"), entry) for entry in x], [residual, pivot[0], turn[0] + still_open * (2.0 * TURNS)]]


def pivot_at(setting: Setting, x: Any) -> Any:
    """The least pivot at positions, see `least_pivot`."""
    return least_pivot(factor([value.row for value in _values(setting, x)], setting.plan).pivots, setting.pivots)


def least_pivot(pivots: Sequence[Any], at_seed: Sequence[float]) -> Any:
    """The least size of a pivot, against those at the seed: it goes to zero where the mechanism becomes singular."""
    least: Any = 1.0
    for pivot, usual in zip(pivots, at_seed, strict=True):
        if not isinstance(pivot, float):
            least = ops.minimum(least, ops.absolute(pivot) * (1.0 / usual))
    return least


__all__ = ["STATE", "Setting", "least_pivot", "pivot_at", "program", "tracker", "written_out"]
