"""What a redundant arm does with its freedom: steps within the positions of one pose, towards a second goal; as a loop program.

With z a step that makes a value h smaller, and e what rounding and curvature left of the pose,

    Δq = α z + Jᵀ (J Jᵀ)⁻¹ (e − α J z)                                                                                (1)

keeps the pose to first order. Where the pose is still reached and h has fallen, the step counts; where h has risen, it is taken
back and α halved. Between steps, e alone is made small. The goals are

    h = Σ w (q − q*)²,      z = −w (q − q*)          near to q*, which may be the middle of the limits                   (2)
    h = −√det(J Jᵀ),        z = −∇h / |h|            largest manipulability [Yoshikawa1985]                              (3)
"""

from __future__ import annotations

from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem, solves
from ..dynamics.task_directions import TaskDirections
from ..expr import ops
from ..expr.assembly import Assembly
from ..expr.differentiate import vjp
from ..expr.loops import LoopProgram, Repeat
from ..spatial import ldl
from ..spatial.nested import Matrix, dot, transposed
from .loop_ranges import LoopRanges
from .pose_residual import residual
from .search_starts import ON_LIMIT

TURNS = 200.0  # of one row, corrections included
CORRECTIONS = 6.0  # turns in a row to come back to the pose
FIRST_SHARE, LEAST_SHARE = 1.0, 1e-3  # α
LONGEST = 0.3  # of a step z [rad | m]
STILL = 1e-7  # a step along the pose that changes no joint by more ends the search
DUST = 1e-12  # in units of the diagonal: J Jᵀ of singular positions
FAR = 1e300
SETTINGS = ("position_tolerance2", "rotation_tolerance2")
STATE = ("value", "position2", "rotation2", "turns")


class SelfMotion:
    """The program in the making."""

    def __init__(self, system: AnySystem, task: TaskDirections, goal: str) -> None:
        self.view, self.task, self.goal = engine.system_of(system), task, goal
        n = self.n = len(self.view.coordinates)
        self.extra = sum(shape[0] for shape in self.view.solved.values()) if solves(self.view) else 0
        make = self.make = Assembly("self_motion")
        self.loops = LoopRanges(system)
        ends = n + len(self.loops.which)  # of joints within loops after those of coordinates
        given = [("settings", len(SETTINGS)), ("lower", ends), ("upper", ends), ("pose", 16), ("start", n + self.extra)]
        self.inputs = [make.input(name, size) for name, size in [*given, ("wanted", n), ("weights", n)]]
        self.outputs = [make.output("q", n), make.output("state", len(STATE))]
        self.q, self.best = make.buffer(n + self.extra), make.buffer(n + self.extra)
        self.pending, self.turn, self.share, self.off = (make.buffer() for _ in range(4))
        self.state = make.buffer(len(STATE))

    def program(self) -> LoopProgram:
        """Turns until no step helps."""
        make, start = self.make, self.inputs[4]
        begin = make.once(
            lambda q: [q, q, [1.0], [0.0], [FIRST_SHARE], [0.0], [FAR, 0.0, 0.0, 0.0]],
            [start],
            [self.q, self.best, self.pending, self.turn, self.share, self.off, self.state],
        )
        state = [self.q, self.best, self.pending, self.turn, self.share, self.off, self.state]
        turn = make.once(self._turned, [*self.inputs, *state], state)
        end = make.once(lambda best, state: [best[: self.n], state], [self.best, self.state], self.outputs)
        return make.finish([*begin, Repeat(self.pending.place, (*self._positions(), *turn)), *end])

    def _positions(self) -> list[Any]:
        """Positions that the coordinates have to be solved for."""
        if not solves(self.view):
            return []
        q, x = self.q[: self.n], self.q[self.n :]
        return self.make.embed(self.view.tracker(), [q, x], [x, self.make.buffer()])

    def _turned(
        self, settings: Any, lower: Any, upper: Any, pose: Any, start: Any, wanted: Any, weights: Any, *state: Any
    ) -> Any:
        whole, best, (go,), (turn,), (share,), (off,), before = state
        q, solved = whole[: self.n], whole[self.n :]
        if solves(self.view):
            self.view.use(solved)
        X = self.view.recipe(engine.request_of("forward_kinematics", (self.task.link,))).function(q)
        J = self.view.recipe(engine.request_of("jacobian", (self.task.link, "world"))).function(q)
        e, rows = residual(self.task, X, J, pose[:12])
        squares = [sum((x * x for x, row in zip(e, self.task.rows, strict=True) if (row > 2) == k), 0.0) for k in (0, 1)]
        reached = ops.less_equal(squares[0], settings[0]) * ops.less_equal(squares[1], settings[1])
        value, z = self._goal(q, rows, wanted, weights)
        better, worse = reached * ops.less(value, before[0]), reached * ops.less(before[0], value)
        if self.loops.which:  # a step that leads beyond the range of a joint within a loop is taken back
            within = ops.less_equal(self.loops.beyond(q, lower[self.n :], upper[self.n :]).largest, ON_LIMIT)
            better, worse = better * within, ops.maximum(worse, reached * (1.0 - within))
        lower, upper = lower[: self.n], upper[: self.n]
        lost = ops.maximum(ops.less(CORRECTIONS - 0.5, off), 1.0 - ops.less(squares[0] + squares[1], FAR))
        back = ops.maximum(worse, lost) * go
        step, along = _steps(e, rows, z, share * reached, q, lower, upper)
        best = [ops.where(better * go, a, b) for a, b in zip(whole, best, strict=True)]
        moved = [ops.minimum(ops.maximum(x + dx, a), b) for x, dx, a, b in zip(q, step, lower, upper, strict=True)]
        following = [ops.where(back, b, a) for a, b in zip([*moved, *solved], best, strict=True)]
        share = ops.where(back, 0.5 * share, share)
        still = reached * ops.less(_largest(along), STILL)
        over = ops.less(0.5, still + ops.less(share, LEAST_SHARE) + ops.less(TURNS - 1.5, turn))
        found = [value, *squares, turn + 1.0]
        kept = [ops.where(better * go, a, b) for a, b in zip(found, before, strict=True)]
        new = [ops.where(go, a, b) for a, b in zip(following, whole, strict=True)]
        off = ops.where(reached + back, 0.0, off + 1.0)
        return [new, best, [go * (1.0 - over)], [turn + go], [share], [off], kept]

    def _goal(self, q: Any, rows: Matrix, wanted: Any, weights: Any) -> tuple[Any, list[Any]]:
        """(2) or (3); steps are cut to a length."""
        if self.goal == "manipulability":
            _, inverse = ldl.factor([[dot(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)])
            product: Any = 1.0
            for d in inverse:
                product = product * d
            value = -ops.divide(1.0, ops.sqrt(product))
            z = [ops.divide(-x, ops.absolute(value)) for x in vjp([value], [1.0], list(q))]
        else:
            gaps = [x - goal for x, goal in zip(q, wanted, strict=True)]
            value = sum((w * gap * gap for w, gap in zip(weights, gaps, strict=True)), 0.0)
            z = [-w * gap for w, gap in zip(weights, gaps, strict=True)]
        cut = LONGEST / ops.maximum(_largest(z), LONGEST)
        return value, [x * cut for x in z]


def _steps(e: Any, rows: Matrix, z: Any, share: Any, q: Any, lower: Any, upper: Any) -> tuple[list[Any], list[Any]]:
    """(1), and the part of it along the pose; joints that would leave their limits take no part."""
    pull = [share * x + dot(column, e) for x, column in zip(z, transposed(rows), strict=True)]
    free = [ops.where(ops.less(0.0, p), ops.less(x, b), ops.less(a, x)) for p, x, a, b in zip(pull, q, lower, upper, strict=True)]
    J = [[ops.where(f, x, 0.0) for x, f in zip(row, free, strict=True)] for row in rows]
    z = [ops.where(f, share * x, 0.0) for x, f in zip(z, free, strict=True)]
    M = [[dot(a, b) for b in J[: i + 1]] for i, a in enumerate(J)]
    for i, row in enumerate(M):
        row[i] = row[i] * (1.0 + DUST) + DUST
    factors = ldl.factor(M)
    columns = transposed(J)
    y = ldl.solve_factored(factors, [-dot(row, z) for row in J])
    along = [x + dot(column, y) for x, column in zip(z, columns, strict=True)]
    y = ldl.solve_factored(factors, list(e))
    return [a + dot(column, y) for a, column in zip(along, columns, strict=True)], along


def _largest(values: Any) -> Any:
    found: Any = 0.0
    for x in values:
        found = ops.maximum(found, ops.absolute(x))
    return found


def self_motion(system: AnySystem, task: TaskDirections, goal: str) -> LoopProgram:
    """The program for a goal: 'near' (2), or 'manipulability' (3)."""
    return SelfMotion(system, task, goal).program()


__all__ = ["SETTINGS", "STATE", "self_motion"]
