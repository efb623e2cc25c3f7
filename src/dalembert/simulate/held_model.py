"""Forward dynamics with some axes held, over scalars [theory: simulation, Eq. 9 to 11, 29 and 30]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics import engine
from ..dynamics.surroundings import DEFAULT, FREE, Forces
from ..dynamics.system import MovingValue, System
from ..expr import ops
from ..spatial import ldl
from ..spatial.nested import Matrix, dot
from .axes import Axes
from .dry_friction import WITHOUT_DRY, WITHOUT_GIVEN, DryFriction, force, without_levels

ROUNDING = 1e-13  # of the forces at a joint: a thousand times what their sum is off
BOUND = 1e300  # as a level: a stop, or a lock, holds any force
SHARED = 1e-6  # of its mobility, how much an axis gives way, so that axes which hold the same motion share its force
REFINED = 2  # steps, which leave 1e-18 of what gives way
_SLOW = 1e-12  # rad/s or m/s: an axis within a loop rests below, and below 1e-11 of what its speed is a sum of
_BLUR = 1e-11  # of what an acceleration or a speed is a sum of: within loops, what is as small is rounding
_FIRM = 1e-4  # of a unit row: at a dead point an axis stands while others move, and must not be put back by stopping them
_COARSE = 1e4  # times what is rounding: within loops, what breaks loose has to accelerate by more than rounding
_SMALL = 1e-12  # of a row: an axis that no coordinate moves, at a dead point, is moved as little as this


class Held(NamedTuple):
    """q̈; of each axis the force that holds, the size of what that is a difference of, and the least and largest that friction
    can hold; where axes are no coordinates, their positions, speeds and accelerations, and what of the last two is rounding.
    """

    qdd: Any
    hold: Any
    load: Any
    low: Any
    high: Any
    y: Any = ()
    w: Any = ()
    a: Any = ()
    slow: Any = ()
    blur: Any = ()


class AxisMotion(NamedTuple):
    """Positions, speeds and accelerations of all axes; what of the last two is rounding, where axes are no coordinates."""

    y: Any
    w: Any
    a: Any
    slow: Any = None
    blur: Any = None

    def rests(self, i: int) -> Any:
        """Whether axis i is at rest."""
        return ops.equal(self.w[i], 0.0) if self.slow is None else ops.less_equal(abs(self.w[i]), 2.0 * self.slow[i])

    def way(self, i: int) -> Any:
        """1 or −1 where axis i moves forward or backward, 0 where it rests."""
        return ops.sign(self.w[i]) if self.slow is None else ops.where(self.rests(i), 0.0, ops.sign(self.w[i]))

    def backward(self, i: int, mode: Any) -> Any:
        """How fast axis i moves against its mode."""
        back = -mode * self.w[i]
        return back if self.slow is None else back - self.slow[i]

    def pulled(self, i: int, mode: Any) -> Any:
        """Whether axis i is accelerated against its mode."""
        return ops.less(mode * self.a[i], 0.0 if self.blur is None else -self.blur[i])


class HeldModel:
    """Forward dynamics with some axes held, over scalars.

    With f = 1 where a coordinate slides or is free and 0 where it is held, A is M with the rows and columns of held ones cleared
    off the diagonal, and

        A q̈ = f (τ − h − dry friction),      hold = τ − h − M q̈,

    so that held coordinates have q̈ = 0, or what is wanted of them, and the force that holds each comes from the same M. Axes
    that are no coordinates are held by forces at their rows (`HeldRows`).
    """

    def __init__(self, system: System, friction: DryFriction, axes: Axes, held: Sequence[bool], forces: Forces = FREE) -> None:
        self.system, self.friction, self.axes, self.held = system, friction, axes, list(held)
        system.recipe(engine.request_of("forward_dynamics"))  # refuses a mass matrix that has no inverse
        self.given, reading = forces.parameters, WITHOUT_GIVEN if forces.parameters else WITHOUT_DRY
        alone = (Forces(parameters=True),) if self.given else ()
        self._mass = system.recipe(engine.request_of("mass_matrix", alone)).function
        self._torque = system.recipe(engine.request_of("inverse_dynamics", (DEFAULT, forces)), reading).function

    @property
    def outputs(self) -> tuple[str, ...]:
        """The fields of `Held` that there are."""
        return Held._fields if self.axes.beside else Held._fields[:5]

    def __call__(self, q: Any, qd: Any, tau: Any, mode: Any, *around: Any, wanted: Any = None) -> Held:
        """The motion at a point, with the axes held whose mode is 0; `wanted` is their acceleration, if not zero.

        `around` are wrenches, and parameters in the place of the model's own, if such are given.
        """
        n, own = range(len(q)), range(self.axes.own)
        if hasattr(self.system, "pulled_back"):  # a chart, to which forces at other coordinates are given
            tau = self.system.pulled_back(q, tau)
        *wrenches, phi = around if self.given else (*around, None)
        beside = [*wrenches, without_levels(self.system, phi)] if self.given else wrenches
        h, shares = self._torque(q, qd, [0.0] * len(q), *beside), self.friction.at(phi)
        full, free = self._full(q, phi), self._free(q, mode)
        moving = self.axes.moving(self.system, q, qd)
        dry = [force(*each) for each in zip(shares, mode, (one.rate for one in moving), strict=True)]
        driving = [tau[i] - h[i] - dry[i] if i in own else tau[i] - h[i] for i in n]
        for k in self.axes.beside:
            driving = [d - r * dry[k] for d, r in zip(driving, moving[k].row, strict=True)]
        pushed = driving
        if wanted is not None:
            given = [(1.0 - free[i]) * wanted[i] if i in own and self.held[i] else 0.0 for i in n]
            pushed = [d - dot(full[i], given) for i, d in enumerate(driving)]
        factors = ldl.factor(_cleared(full, free))
        qdd = ldl.solve_factored(factors, [d * f for d, f in zip(pushed, free, strict=True)])
        if wanted is not None:
            qdd = [a + b for a, b in zip(qdd, given, strict=True)]
        low, high = ([force(each, way, 0.0) + 0.0 for each in shares] for way in (-1.0, 1.0))
        if not self.axes.beside:
            hold = [tau[i] - h[i] - dot(full[i], qdd) if self.held[i] else 0.0 for i in n]
            load = [abs(tau[i]) + abs(h[i]) if self.held[i] else 0.0 for i in n]
            return Held(qdd, hold, load, low, high)
        at_rest = [abs(tau[i]) + abs(h[i]) for i in n]
        holds = [self._holds(k, mode) for k in self.axes.beside]
        rows = HeldRows(full, factors, free, [moving[k] for k in self.axes.beside], holds)
        goal = [0.0 if wanted is None else wanted[k] for k in self.axes.beside]
        after, forces = rows.held(qdd, goal)
        load = [at_rest[i] + rows.size(i, forces) if self.held[i] else 0.0 for i in own]
        hold = [driving[i] - rows.at(i, forces) - dot(full[i], after) if self.held[i] else 0.0 for i in own]
        loads = [_COARSE * x for x in (*load, *rows.loads(qdd, forces))]
        return Held(after, [*hold, *forces], loads, low, high, *_motion(moving, qd, qdd, after))

    def _full(self, q: Any, phi: Any) -> Matrix:
        M = self._mass(q, phi) if self.given else self._mass(q)
        return [[M[max(i, j)][min(i, j)] for j in range(len(q))] for i in range(len(q))]

    def _free(self, q: Any, mode: Any) -> list[Any]:
        """1 where a coordinate is not held, else 0."""
        return [mode[i] * mode[i] if i < self.axes.own and self.held[i] else 1.0 for i in range(len(q))]

    def _holds(self, k: int, mode: Any) -> Any:
        """1 where an axis is held, else 0."""
        return 1.0 - mode[k] * mode[k] if self.held[k] else 0.0

    def onto(self, q: Any, qd: Any, mode: Any, place: Any, phi: Any = None) -> list[Any]:
        """The state nearest to this one in which axes that are held, and no coordinates, stand where they rested: one step.

        `place` are where they rested, and 1 for those that have to be there, 0 for those that stand where they are; then rates
        that they have, if they do not stand.
        """
        rows, (rest, keeps, *rates) = self.rows_at(q, qd, mode, phi, _FIRM), place
        beside = list(zip(rows.moving, self.axes.beside, strict=True))
        off = [(one.value - rest[k]) * keeps[k] for one, k in beside]
        fast = [one.rate - rates[0][k] if rates else one.rate for one, k in beside]
        return [rows.less(q, rows.forces(off)), rows.less(qd, rows.forces(fast))]

    def rows_at(self, q: Any, qd: Any, mode: Any, phi: Any = None, firm: float = 0.0) -> HeldRows:
        """What holds the axes that are no coordinates, at a state; `firm` is how little a row may be to hold at all."""
        full, free, beside = self._full(q, phi), self._free(q, mode), self.axes.beside
        moving, holds = self.axes.moving(self.system, q, qd), [self._holds(k, mode) for k in beside]
        return HeldRows(full, ldl.factor(_cleared(full, free)), free, [moving[k] for k in beside], holds, firm)


class HeldRows:
    """Forces at rows R of held axes, beside coordinates that are held: R q̈ + c = goal with q̈ less Z λ, Z = f A⁻¹ f Rᵀ.

    G λ = R q̈ + c − goal with G = R Z, which is singular where several axes hold the same motion: each gives way a little, and
    steps of refinement take that out of the motion again, so that only the forces are shared.
    """

    def __init__(
        self, full: Matrix, factors: Any, free: list[Any], moving: Sequence[MovingValue], holds: Sequence[Any], firm: float = 0.0
    ) -> None:
        self.moving, self.holds, self.rows = moving, holds, [one.row for one in moving]
        cleared = ([r * f for r, f in zip(row, free, strict=True)] for row in self.rows)
        self.Z = [ldl.solve_factored(factors, row) for row in cleared]
        self.mobility = [sum(((r * r + _SMALL) / full[c][c] for c, r in enumerate(row)), 0.0) for row in self.rows]
        count = range(len(moving))
        self.G = [[dot(self.rows[i], self.Z[j]) * holds[i] * holds[j] for j in range(i + 1)] for i in count]
        unit = firm * firm * sum((1.0 / full[c][c] for c in range(len(full))), 0.0)
        soft = [(1.0 - s + SHARED * s) * m + unit for s, m in zip(holds, self.mobility, strict=True)]
        self._factors = ldl.factor([[self.G[i][j] + soft[i] if i == j else self.G[i][j] for j in range(i + 1)] for i in count])

    def forces(self, goal: Sequence[Any]) -> list[Any]:
        """λ with G λ = goal for the axes that are held, 0 for the others."""
        wanted = [s * g for s, g in zip(self.holds, goal, strict=True)]
        count = range(len(wanted))
        found = ldl.solve_factored(self._factors, wanted)
        for _ in range(REFINED):
            left = [wanted[i] - dot([self.G[max(i, j)][min(i, j)] for j in count], found) for i in count]
            found = [a + b for a, b in zip(found, ldl.solve_factored(self._factors, left), strict=True)]
        return found

    def held(self, qdd: list[Any], goal: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """q̈ with the axes held, and the forces that hold them."""
        found = self.forces([dot(one.row, qdd) + one.bias - g for one, g in zip(self.moving, goal, strict=True)])
        return self.less(qdd, found), found

    def less(self, x: Sequence[Any], forces: Sequence[Any]) -> list[Any]:
        """x − Z λ."""
        return [x[i] - dot([z[i] for z in self.Z], forces) for i in range(len(x))]

    def passed_on(self, x: Sequence[Any], goal: Sequence[Any]) -> list[Any]:
        """Forces x at the coordinates, less what the rows take of them, and with what makes them accelerate by the goal:
        x − Rᵀ G⁻¹ (Zᵀ x − goal).
        """
        taken = self.forces([dot(z, x) - g for z, g in zip(self.Z, goal, strict=True)])
        return [x[i] - self.at(i, taken) for i in range(len(x))]

    def at(self, i: int, forces: Sequence[Any]) -> Any:
        """What the forces exert at coordinate i."""
        return dot([row[i] for row in self.rows], forces)

    def size(self, i: int, forces: Sequence[Any]) -> Any:
        """The size of what that is a sum of."""
        return _size([row[i] for row in self.rows], forces)

    def loads(self, qdd: Sequence[Any], forces: Sequence[Any]) -> list[Any]:
        """The sizes of what the forces are differences of."""
        found = []
        for one, mobility, x in zip(self.moving, self.mobility, forces, strict=True):
            found.append(abs(x) + (_size(one.row, qdd) + abs(one.bias)) / mobility)
        return found


def _cleared(full: Matrix, free: Sequence[Any]) -> Matrix:
    """The lower triangle of M, rows and columns of held coordinates cleared off the diagonal."""
    return [[full[i][j] * free[i] * free[j] if i != j else full[i][i] for j in range(i + 1)] for i in range(len(full))]


def _motion(moving: Sequence[MovingValue], qd: Any, before: Any, qdd: Any) -> tuple[Any, ...]:
    """Positions, speeds and accelerations of axes, and what of the last two is rounding: `before` are q̈ without what holds."""
    y, w, a = zip(*((one.value, one.rate, dot(one.row, qdd) + one.bias) for one in moving), strict=True)
    blur = [_BLUR * (_size(one.row, before) + _size(one.row, qdd) + abs(one.bias)) for one in moving]
    return y, w, a, slow_speeds(moving, qd), blur


def slow_speeds(moving: Sequence[MovingValue], qd: Any) -> list[Any]:
    """Speeds of axes that are rounding."""
    speeds = [abs(v) for v in qd]
    return [_SLOW + _BLUR * (sum(speeds, 0.0) + _size(one.row, qd)) for one in moving]


def _size(row: Sequence[Any], x: Any) -> Any:
    """Σ |r x|."""
    return sum((abs(r * v) for r, v in zip(row, x, strict=True) if not ops.is_zero(r)), 0.0)


def excess(hold: Any, size: Any, low: Any, high: Any) -> Any:
    """How much a force is more than what can hold; rounding of what it is made of does not count."""
    slack = ROUNDING * (size + ops.minimum(abs(low), abs(high)))
    return ops.maximum(hold - high, low - hold) - slack


__all__ = ["BOUND", "REFINED", "ROUNDING", "SHARED", "AxisMotion", "Held", "HeldModel", "HeldRows", "excess", "slow_speeds"]
