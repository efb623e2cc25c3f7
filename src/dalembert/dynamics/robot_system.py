"""A robot as a system: its coordinates, and recipes over its tree of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algorithms.loop_sweep import RolledSweep
from ..algorithms.regressor import Options, columns
from ..errors import ModelError
from ..expr.loops import LoopProgram
from ..model import Robot
from ..model.named_tree import symbolic_tree
from ..model.tree import Tree, tree_of
from . import sizes
from .quantities import QUANTITIES
from .quantity import Quantity, TreeRecipe, record_of
from .surroundings import DEFAULT
from .system import AS_IT_IS, Composition, Coordinate, Kernels, Reading, Recipe, Request


class RobotSystem:
    """What a robot answers. It is made anew for every question; what takes time is kept with the robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.name = robot.name

    @property
    def kernels(self) -> dict[Any, Any]:
        """Those of the robot."""
        return self.robot.kernels

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The joints behind q."""
        return tuple(Coordinate(joint.name, joint.turns, joint.limits) for joint in self.robot.structure.coordinates)

    @property
    def tree(self) -> Tree:
        """The tree of segments, made once."""
        found: Tree | None = self.kernels.get(tree_of)
        if found is None:
            if self.robot.n == 0:
                raise ModelError(f"robot {self.name!r}: it has no moving joint, so there is nothing to compute.")
            found = self.kernels[tree_of] = tree_of(self.robot)
        return found

    def parameter_names(self, options: Options) -> list[str]:
        """Names of the dynamic parameters, in the order of the regressor's columns."""
        return columns(self.tree, options)

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of a quantity: over the tree, or over one whose numbers are read as something else."""
        record = record_of(request, QUANTITIES)
        if reading is not AS_IT_IS:
            tree = self.tree if reading.numbers is None else symbolic_tree(self.robot, reading.numbers)
            return _straight(record(tree, *request.options), lambda: reading.sweep(tree))
        tree = self.tree
        _refuse_too_many(record, tree)
        over = record(tree, *request.options)
        # Energies depend on where masses are; joint forces and motion only on base parameters, which are fewer.
        straight = _straight(over, lambda: reading.sweep(tree.regrouped if over.regroup else tree))
        return straight._replace(
            way=_way(record, over, tree, request.options),
            loops=_loops(record, over, tree) if over.can_roll else None,
            composed=_composed(record, tree, request.options),
            rewritten=record.rewritten,
        )


def _straight(over: TreeRecipe, sweep: Callable[[], Any]) -> Recipe:
    return Recipe(lambda *inputs: over.function(sweep(), *inputs), over.inputs, over.outputs)


def _refuse_too_many(record: Quantity, tree: Tree) -> None:
    if record.refused is not None and (entries := sizes.entries(tree, record.refused)) > sizes.ENTRIES:
        raise ModelError(
            f"{record.name}: {tree.n} joints make {entries} entries per configuration, more than the {sizes.ENTRIES} that are "
            f"served. {record.refused[1]}."
        )


def _way(record: Quantity, over: TreeRecipe, tree: Tree, options: tuple[Any, ...]) -> str:
    """What is compiled; formulations other than the default have straight code only."""
    default = sizes.options_are_default(options, DEFAULT)
    if record.composed is not None and default and record.composed.when(tree):
        return "composed"
    return "loops" if over.can_roll and record.loops is not None and record.loops(tree) else "straight"


def _loops(record: Quantity, over: TreeRecipe, tree: Tree) -> Callable[[], LoopProgram]:
    def make() -> LoopProgram:
        sweep = RolledSweep(tree.regrouped if over.regroup else tree, over.inputs)
        results = over.function(sweep, *sweep.arguments())
        if len(over.outputs) == 1:
            results = (results,)
        return sweep.finish(record.name, dict(zip(over.outputs, results, strict=True)))

    return make


def _composed(record: Quantity, tree: Tree, options: tuple[Any, ...]) -> Callable[[Kernels], Composition] | None:
    composed = record.composed
    return None if composed is None else lambda kernels: composed.make(tree, kernels, *options)
