"""Ways to a cheaper program for the torques of one robot: causes left out as a whole, then single summands.

Two forms are tried. The recursive one is Newton-Euler on a robot from which causes are removed: the rotational inertia of a
link, its mass, the velocity of a joint in all products of velocities, the coupling by a spinning rotor, friction. The closed
one is the sum of the torques by cause, joint and link of `causes.py` that matter, as [Lee, §3] proposes: translation
alone for some joints, rotation alone for others. Either is pruned term by term after that (`prune.py`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import newton_euler_recursion
from ..algorithms.graph_derivatives import friction_forces
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import FORCE, Output, Quantity, TreeRecipe
from ..dynamics.system import AnySystem
from ..expr import Expr, Program, trace
from ..expr.rewrite import weight
from ..model.tree import Segment, Tree
from ..spatial import ZERO
from . import causes
from .causes import DRIVE, PieceKey
from .prune import DroppedTerm, Samples, pruned, run

NAMES = ("q", "qd", "qdd")
SHARE = 0.8  # of the budget that whole causes may use; with none the programs found were no cheaper, and said less
EVERY = -2  # in the place of a joint: all of them


class Removal(NamedTuple):
    """Something that can be left out, and what that changes: torque relative to each joint's scale, shape (s, n)."""

    key: PieceKey
    change: FloatArray
    size: float


@dataclass(frozen=True, eq=False)
class Study:
    """A system, the samples on which a model is designed, and what can be left out in either form."""

    system: AnySystem
    samples: Samples
    whole: list[Removal]
    single: list[Removal]

    def by_cause(self) -> FloatArray:
        """How large each cause of `causes.CAUSES` is at each joint, all links together, shape (causes, n)."""
        total = np.zeros((len(causes.CAUSES), *self.samples.exact.shape))
        for piece in self.single:
            total[causes.CAUSES.index(piece.key.cause)] += piece.change
        return np.abs(total).max(axis=1, initial=0.0)


class Reduced(NamedTuple):
    """A cheaper program and what it leaves out."""

    program: Program
    pieces: list[Removal]
    terms: list[DroppedTerm]


def study(system: AnySystem, samples: Samples) -> Study:
    """Measure everything that can be left out on some samples; whole causes only where that saves operations."""
    exact = weight(_recursive_program(system, []))
    keys = _removable(engine.tree(system))
    return _studied(system, [key for key in keys if weight(_recursive_program(system, [key])) < exact], samples)


def measured_again(found: Study, samples: Samples) -> Study:
    """The same on other samples."""
    return _studied(found.system, [piece.key for piece in found.whole], samples)


def _studied(system: AnySystem, removable: Sequence[PieceKey], samples: Samples) -> Study:
    whole = [_measured(key, run(_recursive_program(system, [key]), samples.inputs) - samples.exact, samples) for key in removable]
    program = _straight(system, causes.PIECES)
    values = run(program, samples.inputs)
    single = []
    for (r, (cause, link)), k in itertools.product(enumerate(causes.rows(engine.tree(system))), range(samples.exact.shape[1])):
        if not _is_zero(program.results[0][r * samples.exact.shape[1] + k]):
            change = np.zeros_like(samples.exact)
            change[:, k] = -values[:, r, k]
            single.append(_measured(PieceKey(cause, k, link), change, samples))
    return Study(system, samples, whole, single)


def _straight(system: AnySystem, quantity: Quantity, *options: Any) -> Program:
    program = engine.program(system, quantity, *options, rolled=False)
    assert isinstance(program, Program)
    return program


def _is_zero(scalar: Any) -> bool:
    return not isinstance(scalar, Expr) and scalar == 0.0


def _measured(key: PieceKey, change: FloatArray, samples: Samples) -> Removal:
    relative = change / samples.scale
    return Removal(key, relative, float(np.abs(relative).max(initial=0.0)))


def chosen(pieces: Iterable[Removal], budget: float) -> list[Removal]:
    """The pieces to leave out, smallest first, as long as their sum stays within the budget on every sample."""
    total: Any = 0.0
    left_out = []
    for piece in sorted(pieces, key=lambda p: p.size):
        if piece.size > budget:
            break
        after = total + piece.change
        if np.abs(after).max(initial=0.0) <= budget:
            total = after
            left_out.append(piece)
    return left_out


def recursive(found: Study, budget: float) -> Reduced:
    """Newton-Euler without whole causes, then without single terms."""
    pieces = chosen(found.whole, budget * SHARE)
    program, terms = pruned(_recursive_program(found.system, [piece.key for piece in pieces]), found.samples, budget)
    return Reduced(program, pieces, terms)


def _recursive_program(system: AnySystem, keys: Sequence[PieceKey]) -> Program:
    return dataclasses.replace(_straight(system, TORQUE_WITHOUT, tuple(keys)), name="inverse_dynamics")


def closed(found: Study, budget: float) -> Reduced:
    """The sum over causes, joints and links that matter, then without single terms."""
    pieces, program = closed_sum(found, budget * SHARE)
    program, terms = pruned(program, found.samples, budget)
    return Reduced(program, pieces, terms)


def closed_sum(found: Study, budget: float) -> tuple[list[Removal], Program]:
    """What may be left out of the sum over causes, joints and links, and the sum of the rest."""
    pieces = chosen(found.single, budget)
    dropped = {piece.key for piece in pieces}

    recipe = engine.system_of(found.system).recipe(engine.request_of(causes.PIECES))
    named = causes.rows(engine.tree(found.system))

    def torques(*state: Any) -> list[Any]:
        total: list[Any] = [0.0] * found.samples.exact.shape[1]
        for (cause, link), row in zip(named, recipe.function(*state), strict=True):
            for k, value in enumerate(row):
                if PieceKey(cause, k, link) not in dropped and not _is_zero(value):
                    total[k] = total[k] + value
        return total

    return pieces, trace(torques, recipe.inputs, ["tau"], name="inverse_dynamics")


def _removable(tree: Tree) -> list[PieceKey]:
    """What Newton-Euler can do without: cause, coordinate and segment; EVERY coordinate, where none is named."""
    keys = [PieceKey("gravity", EVERY, DRIVE)]
    for i, s in enumerate(tree.segments):
        keys += [PieceKey("rotational inertia", EVERY, i)] + [PieceKey("translational inertia and weight", EVERY, i)] * (
            s.inertia.mass != 0.0
        )
        keys += [PieceKey("rotor coupling", s.coordinate, i)] * (s.spin is not None)
        keys += [PieceKey("rotor inertia", s.coordinate, i)] * (s.armature != 0.0)
        keys += [PieceKey("friction", s.coordinate, i)] * (s.friction is not None)
    return keys + [PieceKey("centrifugal and Coriolis", j, DRIVE) for j in range(tree.n)]


def without(tree: Tree, keys: Sequence[PieceKey]) -> Tree:
    """A tree from which causes are removed, as far as they are a matter of its numbers."""
    segments = list(tree.segments)
    for cause, _, i in keys:
        if cause in _REMOVALS:
            segments[i] = _REMOVALS[cause](segments[i])
    gravity = ZERO if any(key.cause == "gravity" for key in keys) else tree.gravity
    return dataclasses.replace(tree, segments=tuple(segments), gravity=gravity)


def _point_mass(s: Segment) -> Segment:
    return dataclasses.replace(s, inertia=s.inertia.as_point())


def _massless(s: Segment) -> Segment:
    return dataclasses.replace(s, inertia=s.inertia.about_centre())


def _reflected(s: Segment) -> Segment:
    """The rotor's own inertia stays [Siciliano, §7.3.2]."""
    return s if s.spin is None else dataclasses.replace(s, spin=None, armature=s.armature + s.spin.kkI)


_REMOVALS: dict[str, Callable[[Segment], Segment]] = {
    "rotational inertia": _point_mass,
    "translational inertia and weight": _massless,
    "rotor coupling": _reflected,
    "rotor inertia": lambda s: dataclasses.replace(s, armature=0.0),
    "friction": lambda s: dataclasses.replace(s, friction=None),
}


def _newton_euler(tree: Tree, keys: Sequence[PieceKey], q: Any, qd: Any, qdd: Any) -> list[Any]:
    """Torques without the causes named; a joint whose velocity products are left out keeps its friction."""
    less = without(tree, keys)
    still = {key.joint for key in keys if key.cause == "centrifugal and Coriolis"}
    rates = [0.0 if j in still else rate for j, rate in enumerate(qd)]
    base = newton_euler_recursion.still_base(less.gravity)
    tau = newton_euler_recursion.inverse_dynamics(Unrolled(less.regrouped), q, rates, qdd, base, with_friction=False)
    return [t + f for t, f in zip(tau, friction_forces(Unrolled(less), qd), strict=True)]


def _without(tree: Tree, keys: tuple[PieceKey, ...] = ()) -> TreeRecipe:
    def function(sweep: Unrolled, *state: Any) -> Any:
        return _newton_euler(sweep.tree, keys, *state)

    return TreeRecipe(function, dict.fromkeys(NAMES, (tree.n,)), ["tau"], can_roll=False, regroup=False)


TORQUE_WITHOUT = Quantity("torque_without", (Output("tau", FORCE),), _without)
"""Newton-Euler without some causes."""
