"""A mechanism as data, and its positions: a tree of links, closures of its loops, and coordinates chosen for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..algorithms.position_rows import Positions, difference, evaluated
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..codegen import Kernel, build
from ..dynamics.engine import program_of, with_solved
from ..dynamics.robot_system import RobotSystem
from ..dynamics.system import MovingValue, Recipe
from ..errors import ModelError, UnknownNameError
from ..expr import ops
from ..expr.graph import Expr, Graph
from ..model import Robot
from ..model.closures import Closure, Row
from ..model.mechanism_parts import check_elements, check_function
from ..model.position_functions import Chosen, JointSum, PositionFunction
from ..model.record import Record, put
from ..model.springs import Damper, Spring
from ..model.tree import Tree
from ..spatial.nested import dot
from ..spatial.sparse_lu import Plan, factor, plan
from . import assembly_program, linear
from .closed_state import INPUT, ClosedState
from .numeric import NumericEquations, nearest


@dataclass(frozen=True, eq=False)
class Assembled(Record):
    """The data of a mechanism and its positions; what functions are asked of is a `Mechanism`, which is one."""

    name: str
    robot: Robot
    closures: tuple[Closure, ...]
    coordinates: tuple[Chosen, ...]
    guess: FloatArray = field(default_factory=lambda: np.zeros(0))
    springs: tuple[Spring, ...] = field(default=(), kw_only=True)
    dampers: tuple[Damper, ...] = field(default=(), kw_only=True)
    actuated: tuple[str, ...] = field(default=(), kw_only=True)
    strict: bool = field(default=False, kw_only=True, repr=False)

    if TYPE_CHECKING:  # what is accepted is more than what is kept

        def __init__(
            self,
            name: str,
            robot: Robot,
            closures: Iterable[Closure],
            coordinates: str | Chosen | Iterable[str | Chosen],
            guess: ArrayLike = (),
            *,
            springs: Iterable[Spring] = (),
            dampers: Iterable[Damper] = (),
            actuated: Iterable[str] = (),
            strict: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        put(
            self,
            name=checks.name("mechanism", self.name),
            robot=checks.instance("robot", self.robot, Robot),
            closures=checks.parts("closures", self.closures, Closure),
            springs=checks.parts("springs", self.springs, Spring),
            dampers=checks.parts("dampers", self.dampers, Damper),
            strict=checks.flag("strict", self.strict),
        )
        checks.unique("closures", [closure.name for closure in self.closures])
        put(self, coordinates=self._chosen(self.coordinates))
        checks.unique("coordinates", [chosen.name for chosen in self.coordinates])
        guess = checks.numbers("guess", self.guess)
        put(self, guess=checks.array("guess", guess if guess.size else np.zeros(self.robot.n), (self.robot.n,)))
        put(self, actuated=self._drives())
        for row in self.rows:
            check_function(self.robot, row.function)
        check_elements(self.robot, *self.springs, *self.dampers)

    def __repr__(self) -> str:
        loops = f"{len(self.closures)} closure{'' if len(self.closures) == 1 else 's'}"
        count = f"{self.n} coordinate{'' if self.n == 1 else 's'}"
        return f"Mechanism {self.name!r}: {count} ({', '.join(self.joint_names)}), {self.robot.n} joints, {loops}"

    def _chosen(self, given: Iterable[Any]) -> tuple[Chosen, ...]:
        found = []
        several = [given] if isinstance(given, (str, Chosen)) else given
        for entry in checks.items("coordinates", several, "a sequence of names of joints or Chosen(...)"):
            if isinstance(entry, Chosen):
                check_function(self.robot, entry.function)
                found.append(entry)
                continue
            joints = {joint.name: joint for joint in self.robot.structure.coordinates}
            joint = checks.choice("coordinate: joint", entry, joints)
            found.append(Chosen(joint.name, JointSum({joint.name: 1.0}), turns=joint.turns, limits=joint.limits))
        return tuple(found)

    def _drives(self) -> tuple[str, ...]:
        names = checks.parts("actuated", self.actuated, str)
        for name in names:
            if name not in self.robot.joint_names:
                raise UnknownNameError.among("actuated: joint", name, self.robot.joint_names)
        return names or tuple(chosen.name for chosen in self.coordinates if chosen.name in self.robot.joint_names)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(chosen.name for chosen in self.coordinates)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links."""
        return self.robot.link_names

    @property
    def tree(self) -> Tree:
        """The tree of links beneath."""
        return RobotSystem(self.robot).tree

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The scalar conditions of all closures."""
        return tuple(row for closure in self.closures for row in closure.rows)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Closure and condition of each row."""
        return tuple(f"{closure.name} {row.what}" for closure in self.closures for row in closure.rows)

    @cached_property
    def functions(self) -> tuple[PositionFunction, ...]:
        """What closures hold, then what the coordinates are."""
        return (*(row.function for row in self.rows), *(chosen.function for chosen in self.coordinates))

    @cached_property
    def equations(self) -> NumericEquations:
        """The same at numbers."""
        return NumericEquations(self.tree, self.functions)

    def left_open(self, q: Any, x: Any) -> tuple[Any, Any]:
        """The largest of what closures, and of what coordinates are off at positions, over scalars."""
        at = Positions(Unrolled(self.tree), x)
        goals = [*(row.value for row in self.rows), *q]
        left = [ops.absolute(difference(f, evaluated(at, f).value, goal)) for f, goal in zip(self.functions, goals, strict=True)]
        k = len(self.rows)
        return reduce(ops.maximum, left[:k], 0.0), reduce(ops.maximum, left[k:], 0.0)

    @cached_property
    def seed(self) -> FloatArray:
        """Closed positions of the tree nearest to the guess, from which positions are assembled."""
        return checks.frozen(self.closed_near(self.guess))

    def closed_near(self, x: FloatArray) -> FloatArray:
        """Closed positions nearest to some that may be open."""
        closures = NumericEquations(self.tree, [row.function for row in self.rows])
        return nearest(closures, np.array([row.value for row in self.rows]), x).x

    @cached_property
    def q0(self) -> FloatArray:
        """The coordinates at the seed."""
        return checks.frozen(self.equations(self.seed)[0][len(self.rows) :])

    @cached_property
    def plan(self) -> Plan:
        """In which order positions are solved for."""
        J = self.equations(self.seed)[1]
        return plan(J, self.equations.structure, first=range(len(self.rows), len(self.functions)))

    @cached_property
    def linear(self) -> bool:
        """Whether the positions are a linear function of the coordinates, and nothing has to be solved for."""
        return linear.is_linear(self.functions)

    @property
    def solved(self) -> dict[str, tuple[int, ...]]:
        """What recipes read beside their inputs: the positions of the tree; nothing where these are linear in q."""
        return {} if self.linear else {INPUT: (self.robot.n,)}

    def use(self, *solved: list[Expr]) -> None:
        """Take these inputs of a graph for the positions."""
        for x in solved:
            x[0].graph.memory["positions", id(self)] = x

    def state(self, q: list[Any]) -> ClosedState:
        """Positions and what follows from them, in the graph of q; made once in each. At numbers they are numbers."""
        if not isinstance(q[0], Expr):
            return ClosedState(self._written_out(q, None), self.tree, self.functions, self.plan, self.n)
        graph = q[0].graph
        key = ("closed state", id(self))
        if key not in graph.memory:
            x = graph.memory.get(("positions", id(self))) or self._written_out(q, graph.memory.get(("start", id(self))))
            made = graph.memory[key] = ClosedState(x, self.tree, self.functions, self.plan, self.n)
            if not self.linear:
                made.follow(graph, q)
        found: ClosedState = graph.memory[key]
        return found

    def start_from(self, graph: Graph, start: FloatArray) -> None:
        """Let positions that are written out in a graph begin somewhere else than at the seed."""
        graph.memory["start", id(self)] = start

    def _written_out(self, q: list[Any], start: FloatArray | None) -> list[Any]:
        start = self.seed if start is None else start
        if start.ndim > 1:
            raise ModelError(
                f"mechanism {self.name!r}: code starts from one set of positions, shape ({self.robot.n},); {start.shape} found. "
                "Give at(near=...) one of them."
            )
        return assembly_program.written_out(self.setting, q, start.tolist())

    def rates(self, q: list[Expr], qd: list[Expr]) -> list[Any]:
        """ẋ."""
        return self.state(q).rates(qd)

    def visible(self, q: Any, qd: Any) -> tuple[Any, Any]:
        """The coordinates that users see, and their rates, over scalars: these themselves."""
        return q, qd

    @cached_property
    def closure_kernel(self) -> Kernel:
        """q and positions to start from, to positions and how it went."""
        return build(assembly_program.program(self.setting))

    @cached_property
    def _moved_kernel(self) -> Kernel:
        return self._placed_kernel("moved", lambda q, qd: (*self.visible(q, qd), self.rates(q, qd)), ["y", "yd", "xd"])

    @cached_property
    def _second_kernel(self) -> Kernel:
        def function(q: Any, qd: Any, qdd: Any) -> Any:
            return self.state(q).accelerations(qd, qdd)

        return self._placed_kernel("second_rates", function, ["xdd"])

    def _placed_kernel(self, name: str, function: Callable[..., Any], outputs: list[str]) -> Kernel:
        """A function of q and its rates over scalars as a kernel that takes the positions too."""
        inputs = dict.fromkeys(("q", "qd", "qdd")[: function.__code__.co_argcount], (self.n,))
        own: Any = self
        return build(program_of(with_solved(own, Recipe(function, inputs, outputs)), name))

    def moved_at(self, q: FloatArray, qd: FloatArray, near: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The coordinates that users see and their rates, the positions, found from others nearby, and theirs; of arrays."""
        x, _ = self.closure_kernel(q, near)
        y, yd, xd = self._moved_kernel(q, qd, x)
        return y, yd, x, xd

    def second_rates_at(self, q: FloatArray, qd: FloatArray, qdd: FloatArray, x: FloatArray) -> FloatArray:
        """ẍ at positions that are known, of arrays."""
        found: FloatArray = self._second_kernel(q, qd, qdd, x)
        return found

    def moving(self, functions: Sequence[PositionFunction], q: list[Any], qd: list[Any]) -> list[MovingValue]:
        """Functions of the positions at a state: value, row by q, rate, and second rate at q̈ = 0; over scalars."""
        closed = self.state(q)
        xd, rest = closed.rates(qd), closed.accelerations(qd, [0.0] * self.n)
        at = Positions(Unrolled(self.tree), closed.x, xd)
        found = []
        for value in (evaluated(at, function) for function in functions):
            joints, entries = list(value.row), list(value.row.values())
            row = [dot(entries, [closed.G[k][c] for k in joints]) for c in range(self.n)]
            rate, bias = (dot(entries, [x[k] for k in joints]) for x in (xd, rest))
            found.append(MovingValue(value.value, row, rate, bias + value.bias))
        return found

    @cached_property
    def setting(self) -> assembly_program.Setting:
        """What the position closure is compiled from."""
        J, structure = self.equations(self.seed)[1], self.equations.structure
        rows = [{k: float(J[i, k]) for k in columns} for i, columns in enumerate(structure)]
        pivots = [abs(pivot) for pivot in factor(rows, self.plan).pivots]
        reach = [0.5 if chosen.turns else 0.5 * self.typical_length for chosen in self.coordinates]
        return assembly_program.Setting(self.tree, self.functions, self.plan, [row.value for row in self.rows], reach, pivots)

    @property
    def typical_length(self) -> float:
        """A length that is typical of the mechanism: the largest constant distance between two joints of the tree."""
        return max((float(np.linalg.norm(s.p)) for s in self.tree.segments), default=0.0) or 1.0


__all__ = ["Assembled"]
