"""What every function of this layer takes: a system with n generalised coordinates that has recipes for its quantities.

A `Robot` is served through `robot_system.RobotSystem`, which has recipes over its tree of links. Anything else that has a name,
coordinates, a dictionary for its kernels and a method `recipe` is a system too: see `transferred.Transferred`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

from ..algorithms.regressor import Options
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..expr.loops import LoopProgram
from ..model import Limits, Robot
from ..model.numbers import Number
from ..model.position_functions import Chosen, PositionFunction
from ..model.tree import Tree

Shapes = Mapping[str, tuple[int, ...]]


class Reading(NamedTuple):
    """How the model beneath a recipe is read: what stands for each of its numbers (None: the number itself), and what runs the
    steps of a recursion over its tree.
    """

    numbers: Callable[[Number], Any] | None = None
    sweep: Callable[[Tree], Any] = Unrolled


AS_IT_IS = Reading()


class Coordinate(NamedTuple):
    """A generalised coordinate: its name, whether it is an angle [rad] or a length [m], and its limits."""

    name: str
    turns: bool = True
    limits: Limits = Limits()

    @property
    def unit(self) -> str:
        """Of the coordinate itself."""
        return "rad" if self.turns else "m"

    @property
    def force_unit(self) -> str:
        """Of the generalised force that belongs to it."""
        return "N m" if self.turns else "N"


class Request(NamedTuple):
    """The key of a kernel: a quantity by name, or by its record, and its options in the order of the record.

    It equals a plain tuple of the same content, which is quicker to make: a warm call looks its kernel up by one.
    """

    quantity: Any
    options: tuple[Any, ...] = ()


class Recipe(NamedTuple):
    """How a system computes a quantity.

    `function` takes scalars (or nested lists of them) for each input and returns one nest per output, a bare one if there is a
    single output. `way` says what is compiled: the 'straight' code of `function`, the 'loops' of a loop program, or nothing,
    where the quantity is 'composed' of results of other kernels. `loops` and `composed` are None where a system has no such way.
    """

    function: Callable[..., Any]
    inputs: Shapes
    outputs: Sequence[str]
    way: str = "straight"
    loops: Callable[[], LoopProgram] | None = None
    composed: Callable[[Kernels], Composition] | None = None
    rewritten: bool = False  # whether its graph is searched for common factors


class Kernels(Protocol):
    """Where a composition gets its parts from."""

    def kernel(self, quantity: Any, *options: Any) -> Any:
        """The kernel of a quantity of the same system."""

    def directional(self, quantity: str, order: int = 1) -> Any:
        """The kernel of a quantity's directional derivative, once or several times over."""


class Composition(NamedTuple):
    """A function of arrays that returns a tuple of arrays, and the shape of each without batch axes."""

    function: Callable[..., tuple[Any, ...]]
    shapes: Sequence[tuple[int, ...]]


@runtime_checkable
class System(Protocol):
    """A robot, or anything else whose dynamics can be asked for."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def coordinates(self) -> tuple[Coordinate | Chosen, ...]:
        """The generalised coordinates, in order."""

    @property
    def kernels(self) -> dict[Any, Any]:
        """Where its kernels are kept: beside what it is made of, and never compared, copied or pickled with it."""

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """How to compute a quantity, its model read in this way."""


LEAST_PIVOT = 0.1  # of its size at the seed: below, coordinates tell the positions of a system too poorly to go on in them


class SolvedSystem(System, Protocol):
    """A system whose coordinates have to be solved for others, its positions, before its recipes can be evaluated.

    A kernel of it has the positions as an input, found by another kernel. Where a recipe is traced without them, as for exported
    code, it has the solution written out.
    """

    @property
    def solved(self) -> Shapes:
        """What is solved for, with shapes."""

    def use(self, *nodes: Any) -> None:
        """Take these nodes for it in their graph."""

    def completed(self, kernel: Any) -> Any:
        """A kernel that has these inputs as its last ones, as one that solves for them first."""

    def positions_at(self, q: Any) -> Any:
        """The positions at coordinates of shape (..., n); NaN, with a warning, where there are none."""

    def tracker(self) -> LoopProgram:
        """From q and positions of a moment ago, the positions, and how far they are from where coordinates stop to tell them."""

    def rates(self, q: Any, qd: Any) -> Any:
        """The time derivatives of the positions, over scalars, with the positions in use."""

    def visible(self, q: Any, qd: Any) -> tuple[Any, Any]:
        """The coordinates and rates that users of it see, over scalars, with its positions in use."""

    def chart_at(self, positions: Any, rates: Any) -> Any:
        """The same system in coordinates that are good at these positions; forces stay those of the coordinates seen."""

    def moved_at(self, q: Any, qd: Any, near: Any) -> tuple[Any, Any, Any, Any]:
        """The coordinates seen and their rates, the positions, found from others nearby, and their rates; of arrays."""

    def second_rates_at(self, q: Any, qd: Any, qdd: Any, positions: Any) -> Any:
        """The second rates of positions that are known; of arrays."""

    def told_at(self, positions: Any) -> Iterable[Any]:
        """Positions in groups, each with this system in coordinates that tell them: rows, system, places of coordinates."""

    @property
    def opened(self) -> Any:
        """The system whose coordinates are the positions, with nothing that closes it."""


@runtime_checkable
class TreeSystem(System, Protocol):
    """A system that rests on a tree of links, whose joints, laws of friction and parameters have names."""

    @property
    def tree(self) -> Tree:
        """The tree of segments beneath."""

    def parameter_names(self, options: Options) -> list[str]:
        """Names of the dynamic parameters, in the order of the regressor's columns."""


@runtime_checkable
class MappedSystem(System, Protocol):
    """A system made of another one, whose recipes it has in its own coordinates."""

    def mapped(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of the system beneath, its results changed by their rules."""


class MovingValue(NamedTuple):
    """A function of the positions at a state: its value, its derivatives by q, its rate, and its second rate at q̈ = 0."""

    value: Any
    row: list[Any]
    rate: Any
    bias: Any


class DrivesBeside(NamedTuple):
    """Drives that are not the coordinates, with torques (..., m) whose largest share of a limit is the least, and with as much of
    each limit as gravity alone takes of all.
    """

    axes: tuple[Coordinate, ...]
    u: FloatArray
    still: FloatArray


@runtime_checkable
class LoopSystem(System, Protocol):
    """A system with loops: more joints move, and others may be driven, than its coordinates."""

    @property
    def q0(self) -> FloatArray:
        """Coordinates at which it is closed."""

    @property
    def axes_beside(self) -> tuple[Coordinate, ...]:
        """The joints that are no coordinates."""

    def motion_beside(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Their positions and speeds (..., k); NaN where loops cannot be closed."""

    def rows_beside(self, q: Any) -> tuple[list[Any], list[list[Any]]]:
        """Their positions, and the derivatives of these by the coordinates, over scalars, with the positions in use."""

    def moving(self, functions: Sequence[PositionFunction], q: Any, qd: Any) -> list[MovingValue]:
        """How functions of the positions move, over scalars, with the positions in use."""

    def drives_beside(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> DrivesBeside | None:
        """The drives and their torques; None where they are the coordinates, or have no limits."""


def ranged_beside(system: System) -> list[tuple[int, Coordinate]]:
    """The joints within loops that are no coordinates and have a range, with their numbers among all that are none."""
    axes = system.axes_beside if isinstance(system, LoopSystem) else ()
    return [(k, axis) for k, axis in enumerate(axes) if isfinite(axis.limits.lower) or isfinite(axis.limits.upper)]


def solves(system: Any) -> TypeGuard[SolvedSystem]:
    """Whether a system solves for positions; quicker than to ask whether it has all methods of such a one.

    One that could but has nothing to solve for, its positions being a linear function of the coordinates, does not.
    """
    return hasattr(system, "tracker") and bool(system.solved)


AnySystem = Robot | System
"""What functions take."""

__all__ = [
    "AS_IT_IS",
    "LEAST_PIVOT",
    "AnySystem",
    "Composition",
    "Coordinate",
    "DrivesBeside",
    "Kernels",
    "LoopSystem",
    "MappedSystem",
    "MovingValue",
    "Reading",
    "Recipe",
    "Request",
    "Shapes",
    "SolvedSystem",
    "System",
    "TreeSystem",
    "ranged_beside",
    "solves",
]
