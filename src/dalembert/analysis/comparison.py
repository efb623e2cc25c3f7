"""All formulations side by side on one robot: do they agree, what do they cost, how long do they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .. import dynamics as dyn
from ..brief import brief
from ..checks import FloatArray, flag
from ..codegen import Kernel, build
from ..dynamics import engine
from ..dynamics.surroundings import DEFAULT, FREE
from ..dynamics.system import AnySystem
from ..expr import Program, interpret
from ..formulations import FORMULATIONS
from ..options import generator
from ..options import samples as whole_samples
from . import generic, text_tables
from .costs import Operations, operations, pair, program_of, serves
from .identities import Properties, properties
from .workspace import State, Workspace

_BATCH = 2048  # configurations per timed call: within the caches
_SECONDS = 0.03  # of measuring, at least, for each formulation
QUANTITIES = ("tau", "M", "C", "g")


class Differences(NamedTuple):
    """The largest difference from newton_euler over all samples, relative to the largest entry of that quantity."""

    tau: float
    M: float
    C: float
    g: float


class Timing(NamedTuple):
    """ns per configuration in a batch on one thread; s to trace and compile inverse dynamics, nothing taken from the cache."""

    call: float
    compile: float


class Contender(NamedTuple):
    """One formulation: how it differs from the reference, what it costs, and its times, if they were measured."""

    formulation: str
    differences: Differences
    operations: Operations
    timing: Timing | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found; `print` it for tables, draw it with `plots.comparison`."""

    robot: str
    n: int
    samples: int
    rows: tuple[Contender, ...]
    too_long_for: tuple[str, ...]  # formulations that do not take an arm of so many joints
    properties: Properties

    def __repr__(self) -> str:
        return brief(self, "rows", "properties", formulations=len(self.rows), largest_difference=self.largest_difference)

    def __getitem__(self, formulation: str) -> Contender:
        """The row of a formulation."""
        return next(row for row in self.rows if row.formulation == formulation)

    @property
    def largest_difference(self) -> float:
        """Of any formulation, in any quantity."""
        return max(max(row.differences) for row in self.rows)

    def __str__(self) -> str:
        parts = [text_tables.text(title, heads, rows) for title, heads, rows in (difference_table(self), cost_table(self))]
        return "\n\n".join([*parts, str(self.properties)])


Content = tuple[str, list[str], list[list[str]]]


def difference_table(found: Comparison) -> Content:
    """Title, heads and rows of the differences."""
    rows = [[row.formulation, *(f"{d:.1e}" for d in row.differences)] for row in found.rows]
    title = f"Largest relative difference from {DEFAULT}, {found.robot!r}, {found.samples} random states"
    return title, ["formulation", *QUANTITIES], rows


def cost_table(found: Comparison) -> Content:
    """Title, heads and rows of operations and times."""
    rows = []
    for row in found.rows:
        times = ["–", "–"] if row.timing is None else [f"{row.timing.call:.0f}", f"{row.timing.compile:.2f}"]
        rows.append([row.formulation, *map(pair, row.operations[1:]), *times])
    heads = ["formulation", "published", "as written", "customised", "ns per call", "s to compile"]
    return "Inverse dynamics: operations (mul + add) and times", heads, rows


def compare(system: AnySystem, *, samples: int = 100, rng: np.random.Generator | None = None, time: bool = True) -> Comparison:
    """All formulations on random states of a robot: differences, operation counts, times; and the properties of its model.

    Torques are those of the compiled kernels; M, C and g of each formulation are evaluated by NumPy, without compiling.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    samples : int
        How many random states, drawn from `Workspace.of(system)`.
    rng : numpy.random.Generator, optional
        Where they come from; the same ones each time if left out.
    time : bool
        Whether to measure times; without, torques are evaluated by NumPy too and nothing but the reference is compiled.

    Returns
    -------
    Comparison
        A row per formulation; `print` it for tables.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.compare(dal.robots.two_link_planar(), samples=10, time=False).largest_difference < 1e-12
    True
    """
    tree = engine.tree(system)
    samples, time, rng = whole_samples("samples", samples), flag("time", time), generator(rng)
    state = Workspace.of(system).sample(rng, samples)
    reference = _reference(system, state)
    size, arm = len(tree.segments), engine.tree(generic.like(tree))
    names = [name for name in FORMULATIONS if serves(FORMULATIONS[name], size)]
    rows = []
    for name in names:
        timing, found = _measured(system, name, state) if time else (None, _evaluated(system, name, "tau", state))
        others = [_evaluated(system, name, quantity, state) for quantity in QUANTITIES[1:]]
        differences = Differences(*map(_difference, (found, *others), reference))
        rows.append(Contender(name, differences, operations(name, size, arm, system), timing))
    skipped = tuple(name for name in FORMULATIONS if name not in names)
    return Comparison(system.name, engine.size(system), samples, tuple(rows), skipped, properties(system, rng=rng))


def _reference(robot: AnySystem, state: State) -> tuple[FloatArray, ...]:
    q, qd, qdd = state
    tau = dyn.inverse_dynamics(robot, q, qd, qdd)
    return tau, dyn.mass_matrix(robot, q), dyn.coriolis_matrix(robot, q, qd), dyn.gravity_torque(robot, q)


def _difference(found: FloatArray, expected: FloatArray) -> float:
    size = float(np.abs(expected).max(initial=0.0))
    difference = float(np.abs(found - expected).max(initial=0.0))
    return difference / size if size > 0 else difference


_REQUESTS: dict[str, Callable[[str], tuple[Any, ...]]] = {
    "tau": lambda name: ("inverse_dynamics", name),
    "M": lambda name: ("mass_matrix", FREE, name),
    "C": lambda name: ("coriolis_matrix", name),
    "g": lambda name: ("gravity_torque", name),
}


def _evaluated(robot: AnySystem, name: str, quantity: str, state: State) -> FloatArray:
    """A quantity of a formulation, its graph evaluated by NumPy without compiling."""
    program = engine.program(robot, *_REQUESTS[quantity](name), rolled=False)
    assert isinstance(program, Program)
    (found,) = interpret.run(program, *(getattr(state, slot.name) for slot in program.inputs))
    return found


def _measured(robot: AnySystem, name: str, state: State) -> tuple[Timing, FloatArray]:
    """Times of a kernel that is compiled for the purpose, and its torques."""
    start = perf_counter()
    kernel = build(program_of(robot, name), anew=True)
    compile_time = perf_counter() - start
    rng = np.random.default_rng(0)
    batch = Workspace.of(robot).sample(rng, _BATCH)
    return Timing(_best(kernel, batch) / _BATCH * 1e9, compile_time), kernel(*state)


def _best(kernel: Kernel, batch: State) -> float:
    """Seconds of a call, the best of several."""
    out = np.empty_like(batch.q)
    times: list[float] = []
    while len(times) < 5 or sum(times) < _SECONDS:
        start = perf_counter()
        kernel(*batch, out=out, threads=1)
        times.append(perf_counter() - start)
    return min(times)
