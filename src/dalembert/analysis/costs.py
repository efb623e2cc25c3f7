"""How many operations a formulation takes, counted three ways.

1. published: the polynomial in n that a document gives for n turning joints [Lee, Table 1; Milicevic, Table 3];
2. as written: what the algorithm of this library executes on an arm in general position, every multiplication and addition
   counted, shared only where the algorithm keeps a result for later use;
3. customised: the graph traced for the robot at hand, its zeros folded and equal subexpressions shared: what is compiled.

All are for one evaluation of inverse dynamics; (1) and (2) leave rotors and friction out.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..algorithms.newton_euler_recursion import still_base
from ..algorithms.sweep import Unrolled
from ..brief import brief
from ..dynamics import engine
from ..dynamics.system import AnySystem, System
from ..errors import ModelError
from ..expr import Program
from ..expr.counting import executed
from ..expr.operation_counts import Counts, counts
from ..formulations import FORMULATIONS, Formulation
from ..formulations.published_counts import PUBLISHED
from ..model import Robot
from ..model.tree import Tree
from ..wording import shown
from . import generic, text_tables

_MOST = 1000  # joints whose operations are counted one by one


class Published(NamedTuple):
    """What a document counts, and where."""

    mul: int
    add: int
    source: str


class Operations(NamedTuple):
    """The operations of one formulation; None where a document counts nothing, the arm is too long or no robot was given."""

    formulation: str
    published: Published | None
    written: Counts | None
    customised: Counts | None


@dataclass(frozen=True)
class Complexity:
    """Operation counts by formulation; `print` it for a table."""

    robot: str
    n: int
    rows: tuple[Operations, ...]

    def __repr__(self) -> str:
        return brief(self, "rows", formulations=len(self.rows))

    def __getitem__(self, formulation: str) -> Operations:
        """The row of a formulation."""
        return next(row for row in self.rows if row.formulation == formulation)

    def __str__(self) -> str:
        head = ["formulation", "published", "as written", "customised", "sincos"]
        rows = [[row.formulation, *map(pair, row[1:]), _sines(row.customised)] for row in self.rows]
        return text_tables.text(f"Operations of inverse dynamics, {self.robot}: mul + add", head, rows)


def pair(count: Published | Counts | None) -> str:
    """Multiplications (with divisions and roots) and additions, as in '678 + 597'."""
    if count is None:
        return "–"
    return f"{count.mul + (count.div + count.sqrt if isinstance(count, Counts) else 0)} + {count.add}"


def _sines(count: Counts | None) -> str:
    return "–" if count is None else str(count.sincos)


def complexity(system: AnySystem | int) -> Complexity:
    """Operations of inverse dynamics by every formulation: as published, as written, and customised for a robot.

    Parameters
    ----------
    system : Robot or System, or int
        A robot with n moving joints; or n itself, for a chain of n turning joints, without customised counts.

    Returns
    -------
    Complexity
        A row per formulation, `result["newton_euler"].written.mul` and so on; `print` it for a table. Published counts are for
        n turning joints, whatever the robot's are; counts as written for an arm in general position whose joints are
        connected as the robot's and turn or slide as they do.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.complexity(6)["newton_euler"].published[:2]
    (792, 662)
    """
    if isinstance(system, Robot | System):
        tree = engine.tree(system)
        size, name = len(tree.segments), repr(system.name)
        arm = engine.tree(generic.like(tree))
    else:
        size = _joints(system)
        name = f"{size} turning joint{'' if size == 1 else 's'}"
        arm = engine.tree(generic.generic_chain(size))
    robot = system if isinstance(system, Robot | System) else None
    return Complexity(name, size, tuple(operations(name, size, arm, robot) for name in FORMULATIONS))


def _joints(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or not 1 <= int(n) <= _MOST:
        raise ModelError(f"complexity: {shown(n)} found; a Robot or a number of joints from 1 to {_MOST} is expected.")
    return int(n)


def operations(name: str, size: int, arm: Tree, robot: AnySystem | None) -> Operations:
    """The row of one formulation; `arm` is the tree in general position."""
    method = FORMULATIONS[name]
    published = _published(name, size)
    if not serves(method, size):
        return Operations(name, published, None, None)
    customised = None if robot is None else counts(program_of(robot, name))
    return Operations(name, published, as_written(method, arm), customised)


def _published(name: str, size: int) -> Published | None:
    document = PUBLISHED.get(name)
    if document is None:
        return None
    return Published(document.multiplications(size), document.additions(size), document.source)


def serves(method: Formulation, size: int) -> bool:
    """Whether a formulation takes an arm of so many joints."""
    return method.largest is None or size <= method.largest


def as_written(method: Formulation, arm: Tree) -> Counts:
    """What the algorithm executes on an arm in general position."""
    base = still_base(arm.gravity)
    run = partial(method.inverse_dynamics, Unrolled(arm), base=base, with_friction=False)
    return executed(run, dict.fromkeys(("q", "qd", "qdd"), (arm.n,)))


def program_of(robot: AnySystem, name: str) -> Program:
    """Inverse dynamics of a robot by a formulation, traced and not rolled into loops."""
    program = engine.program(robot, "inverse_dynamics", name, rolled=False)
    assert isinstance(program, Program)
    return program
