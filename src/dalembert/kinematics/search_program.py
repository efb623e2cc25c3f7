"""The whole search for joint positions as one loop program: damped Newton steps, joint limits, restarts, one pose after another.

A lane of the kernel works through a queue of poses of its own. As soon as a pose is reached or given up, its row of results is
written and the lane goes on with the next one, whatever its neighbours do: no lane waits, and a row of results depends on
nothing but its own pose and starts.

One turn, with residual e, its matrix J, and λ = DAMPING |e|² [Sugihara2011]:

    Δq = Jᵀ (J Jᵀ + λ 1)⁻¹ e = (Jᵀ J + λ 1)⁻¹ Jᵀ e                                                                    (1)

by whichever matrix is smaller. Joints at a limit that (1) would push on take no part, the others are held to their limits. Those
within loops, which are no coordinates, add what they are beyond their ranges to e, and a row each to J.
Rotations count by a length, so that e is in metres, and joints that slide are measured in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics import engine
from ..dynamics.system import AnySystem, solves
from ..dynamics.task_directions import TaskDirections
from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import LoopProgram, Repeat, Step
from ..spatial import ldl
from ..spatial.nested import Matrix, dot, transposed
from .loop_ranges import LoopRanges
from .pose_residual import residual
from .search_starts import ON_LIMIT

DAMPING = 0.05  # λ in units of |e|²
LEAST_DAMPING = 1e-14  # λ in units of the squared length: exact zeros on the diagonal are worth nothing
MORE, LESS = 6.0, 0.3  # of the damping, in the last attempt, after a step that led uphill or downhill
ATTEMPT_TURNS = 15.0  # of an attempt from a random start
PATIENT_TURNS = 100.0  # of the attempt from a given start
LAST_TURNS = 300.0  # of the last attempt, which goes on from the best
GIVEN_UP = ((5.0, 1.0), (7.0, 0.2), (9.0, 0.02))  # after so many turns, an attempt whose |e|² is not below so many length²
STUCK = 1e-9  # [rad, or parts of the length]: the largest step of an attempt that has come to its end
LONGEST_STEP = 0.3  # where positions are tracked from one turn to the next
FAR = 1e300
SETTINGS = ("position_tolerance2", "rotation_tolerance2", "length", "attempts", "patient")
STATE = ("found", "position2", "rotation2", "turns", "attempts")


class _Step(NamedTuple):
    """One turn: where it leads, how far, and what the residual was before, with how far joints within loops were beyond."""

    q: list[Any]
    size: Any
    position2: Any
    rotation2: Any
    cost: Any
    beyond: Any


class Search:
    """The program in the making: its inputs, the state of a lane, and the steps."""

    def __init__(self, system: AnySystem, task: TaskDirections, *, chained: bool) -> None:
        self.view, self.task, self.chained = engine.system_of(system), task, chained
        self.turning = [coordinate.turns for coordinate in self.view.coordinates]
        n = self.n = len(self.turning)
        self.extra = sum(shape[0] for shape in self.view.solved.values()) if solves(self.view) else 0
        make = self.make = Assembly("inverse_kinematics")
        self.settings = make.input("settings", len(SETTINGS))
        self.loops = LoopRanges(system)
        ends = n + len(self.loops.which)  # of joints within loops after those of coordinates
        self.lower, self.upper = make.input("lower", ends), make.input("upper", ends)
        self.count, self.poses = make.input("count", 1), make.input("poses", 16)
        self.starts, self.restarts = make.input("starts", n + self.extra), make.input("restarts", n + self.extra)
        self.found, self.report = make.output("q", n + self.extra), make.output("state", len(STATE))
        self.cursor, self.pending, self.fresh, self.again, self.done = (make.buffer() for _ in range(5))
        self.q, self.wanted, self.best = make.buffer(n + self.extra), make.buffer(12), make.buffer(n + self.extra)
        self.turn, self.attempt, self.total, self.least, self.caution = (make.buffer() for _ in range(5))
        self.result, self.before = make.buffer(len(STATE)), make.buffer(n + self.extra)

    def program(self) -> LoopProgram:
        """All steps: each lane until its queue is empty."""
        make = self.make
        begin = make.once(
            lambda starts, count: [[0.0], [ops.less(0.5, count[0])], [ops.less(0.5, count[0])], [0.0], starts],
            [self.starts, self.count],
            [self.cursor, self.pending, self.fresh, self.again, self.before],
        )
        turns = [
            Repeat(self.fresh.place, tuple(self._load())),
            *self._positions(),
            *self._turn(),
            Repeat(self.again.place, tuple(self._restart())),
            Repeat(self.done.place, tuple(self._write())),
        ]
        return make.finish([*begin, Repeat(self.pending.place, tuple(turns))])

    def _load(self) -> list[Step]:
        """The next pose of the queue, for lanes that are done with one; a chain goes on from the pose before."""

        def load(fresh: Any, wanted: Any, start: Any, before: Any, cursor: Any, *state: Any) -> list[Any]:
            if self.chained:
                start = [ops.where(cursor[0], b, a) for a, b in zip(start, before, strict=True)]
            new = [wanted, start, start, [0.0], [0.0], [0.0], [FAR], [1.0]]
            return [*(_chosen(fresh[0], a, b) for a, b in zip(new, state, strict=True)), [0.0]]

        state = [self.wanted, self.q, self.best, self.turn, self.attempt, self.total, self.least, self.caution]
        pose, start = self.poses.row(self.cursor, 16)[:12], self.starts.row(self.cursor, self.starts.size)
        return self.make.once(load, [self.fresh, pose, start, self.before, self.cursor, *state], [*state, self.fresh])

    def _positions(self) -> list[Step]:
        """Positions that the coordinates have to be solved for, found from those of the turn before."""
        if not solves(self.view):
            return []
        q, x = self.q[: self.n], self.q[self.n :]
        return self.make.embed(self.view.tracker(), [q, x], [x, self.make.buffer()])

    def _turn(self) -> list[Step]:
        """One step, and what it means for the attempt, the pose and the lane."""
        state = [self.q, self.turn, self.attempt, self.total, self.least, self.caution, self.best]
        sources = [self.pending, self.settings, self.lower, self.upper, self.wanted, self.cursor, *state, self.result]
        targets = [*state, self.result, self.again, self.done]
        return self.make.once(self._turned, sources, targets)

    def _turned(self, pending: Any, settings: Any, lower: Any, upper: Any, wanted: Any, cursor: Any, *state: Any) -> list[Any]:
        q, (turn,), (attempt,), (total,), (least,), (caution,), best, result = state
        go, (position2, rotation2, length, attempts, patient) = pending[0], settings
        if self.chained:  # later poses start where the one before was reached, and nowhere else
            attempts, patient = ops.where(cursor[0], 1.0, attempts), ops.where(cursor[0], 1.0, patient)
        step = self._step(q, wanted, lower, upper, length, caution)
        found = ops.less_equal(step.position2, position2) * ops.less_equal(step.rotation2, rotation2)
        if self.loops.which:
            found = found * ops.less_equal(step.beyond, ON_LIMIT)
        better, last = ops.less(step.cost, least), ops.less_equal(attempts, attempt)
        worse = last * ops.less(least, step.cost)  # the last attempt goes downhill only
        least, best = ops.where(better, step.cost, least), _chosen(better * go, q, best)
        caution = ops.where(worse, MORE * caution, ops.where(better, ops.maximum(LESS * caution, 1.0), caution))
        calm = ops.maximum(last, patient * ops.less(attempt, 0.5))
        over = self._is_over(step, turn, calm, last, length) * (1.0 - found)
        done = ops.maximum(found, over * last) * go
        again = over * (1.0 - last) * go
        following = _chosen(worse, best, [*step.q, *q[self.n :]])
        q = _chosen(done, _chosen(found, q, best), _chosen(go, following, q))
        final = [found, step.position2, step.rotation2, total + 1.0, attempt + 1.0]
        counts = [ops.where(again, 0.0, turn + go), attempt + again, total + go]
        return [q, *([x] for x in counts), [least], [caution], best, _chosen(done, final, result), [again], [done]]

    def _is_over(self, step: _Step, turn: Any, calm: Any, last: Any, length: Any) -> Any:
        """Whether an attempt ends without the pose: it does not move, takes too long, or is still far away after some turns."""
        most = ops.where(last, LAST_TURNS, ops.where(calm, PATIENT_TURNS, ATTEMPT_TURNS))
        over = ops.less(step.size, STUCK) + ops.less_equal(most - 1.0, turn)
        hopeless: Any = 0.0
        for turns, cost in GIVEN_UP:
            hopeless = hopeless + ops.less_equal(turns - 1.0, turn) * ops.less(cost * length * length, step.cost)
        lost = 1.0 - ops.less(step.cost, FAR)  # NaN
        return ops.less(0.5, over + hopeless * (1.0 - calm) + lost)

    def _step(self, q: Any, wanted: Any, lower: Any, upper: Any, length: Any, caution: Any) -> _Step:
        """(1), in units of length, and what is left of it within the limits."""
        q, solved = q[: self.n], q[self.n :]
        left, rows = self._residual(q, solved, wanted)
        squares = [
            sum((x * x for x, row in zip(left, self.task.rows, strict=True) if (row > 2) == turns), 0.0) for turns in (0, 1)
        ]
        e = [x * length if row > 2 else x for x, row in zip(left, self.task.rows, strict=True)]
        J = [
            [x * factor for x, factor in zip(row, _factors(self.turning, length, which), strict=True)]
            for row, which in zip(rows, self.task.rows, strict=True)
        ]
        cost = squares[0] + length * length * squares[1]
        beyond = self.loops.beyond(q, lower[self.n :], upper[self.n :])
        for gap, row, turns in zip(beyond.gaps, beyond.rows, self.loops.turning, strict=True):
            weight = length if turns else 1.0
            e.append(-gap * weight)
            J.append([x * factor for x, factor in zip(row, _factors(self.turning, length, 3 if turns else 0), strict=True)])
            cost = cost + (gap * weight) ** 2
        lower, upper = lower[: self.n], upper[: self.n]
        damping = DAMPING * caution * cost + LEAST_DAMPING * length * length
        free = [_is_free(dot(column, e), *ends) for column, *ends in zip(transposed(J), q, lower, upper, strict=True)]
        J = [[ops.where(f, x, 0.0) for x, f in zip(row, free, strict=True)] for row in J]
        raw = _damped(J, e, damping)
        moves = [x if turns else x * length for x, turns in zip(raw, self.turning, strict=True)]
        if solved:
            longest = _largest(raw)
            moves = [x * (LONGEST_STEP / ops.maximum(longest, LONGEST_STEP)) for x in moves]
        new = [ops.minimum(ops.maximum(x + dx, a), b) for x, dx, a, b in zip(q, moves, lower, upper, strict=True)]
        moved = _largest([a - b for a, b in zip(new, q, strict=True)])
        return _Step(new, moved, squares[0], squares[1], cost, beyond.largest)

    def _residual(self, q: Any, solved: Any, wanted: Any) -> Any:
        if solves(self.view):
            self.view.use(solved)
        pose = self.view.recipe(engine.request_of("forward_kinematics", (self.task.link,))).function(q)
        J = self.view.recipe(engine.request_of("jacobian", (self.task.link, "world"))).function(q)
        return residual(self.task, pose, J, wanted)

    def _restart(self) -> list[Step]:
        """The next start of lanes whose attempt was over; the last attempt goes on from the best position of all."""

        def restart(again: Any, q: Any, start: Any, best: Any, attempt: Any, attempts: Any) -> list[Any]:
            new = _chosen(ops.less(attempt[0], attempts[0]), start, best)
            return [_chosen(again[0], new, q), [0.0]]

        number = self.attempt
        sources = [self.again, self.q, self.restarts.row(number, self.restarts.size), self.best, number, self._attempts()]
        return self.make.once(restart, sources, [self.q, self.again])

    def _attempts(self) -> Cells:
        return self.settings[SETTINGS.index("attempts") :][:1]

    def _write(self) -> list[Step]:
        """The rows of results; a lane that is not done yet writes what it will write over, one that is through the same again."""
        row = [self.found.row(self.cursor, self.found.size), self.report.row(self.cursor, len(STATE))]
        write = self.make.once(lambda q, result: [q, result], [self.q, self.result], row)

        def move(done: Any, cursor: Any, pending: Any, count: Any, q: Any, before: Any, result: Any) -> list[Any]:
            more = done[0] * ops.less(cursor[0] + 1.0, count[0])
            going = ops.where(done[0], more, pending[0])
            return [[0.0], [more], [cursor[0] + more], [going], _chosen(done[0] * result[0], q, before)]

        sources = [self.done, self.cursor, self.pending, self.count, self.q, self.before, self.result]
        targets = [self.done, self.fresh, self.cursor, self.pending, self.before]
        return [*write, *self.make.once(move, sources, targets)]


def _chosen(condition: Any, a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [ops.where(condition, x, y) for x, y in zip(a, b, strict=True)]


def _largest(values: Sequence[Any]) -> Any:
    found: Any = 0.0
    for x in values:
        found = ops.maximum(found, ops.absolute(x))
    return found


def _factors(turning: Sequence[bool], length: Any, row: int) -> list[Any]:
    """What the entries of a row are multiplied by: rotations count by the length, and joints that slide are measured in it."""
    weight = length if row > 2 else 1.0
    return [weight if turns else weight * length for turns in turning]


def _is_free(pull: Any, q: Any, lower: Any, upper: Any) -> Any:
    """Whether a joint takes part: unless it is at a limit and pulled outwards."""
    return ops.where(ops.less(0.0, pull), ops.less(q, upper), ops.less(lower, q))


def _damped(J: Matrix, e: list[Any], damping: Any) -> list[Any]:
    """(1), by the smaller matrix."""
    if len(J) <= len(J[0]):
        return [dot(column, y) for y in [_solved(J, e, damping)] for column in transposed(J)]
    columns = transposed(J)
    return _solved(columns, [dot(column, e) for column in columns], damping)


def _solved(rows: Matrix, b: list[Any], damping: Any) -> list[Any]:
    """y with (A Aᵀ + λ 1) y = b for the matrix A of these rows."""
    M = [[dot(a, c) + (damping if i == j else 0.0) for j, c in enumerate(rows[: i + 1])] for i, a in enumerate(rows)]
    return ldl.solve(M, b)


def search(system: AnySystem, task: TaskDirections, *, chained: bool = False) -> LoopProgram:
    """The program; in a chain each pose of a queue starts where the one before was reached."""
    return Search(system, task, chained=chained).program()


__all__ = ["SETTINGS", "STATE", "search"]
