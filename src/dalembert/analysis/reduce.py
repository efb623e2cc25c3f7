"""Ways to a cheaper program for the torques of one robot: causes left out as a whole, then single summands.

Two forms are tried. The recursive one is Newton-Euler on a robot from which causes are removed: the rotational inertia of a
link, its mass, the velocity of a joint in all products of velocities, the coupling by a spinning rotor, friction. The closed
one is the sum of the torques by cause, joint and link of `causes.py` that matter, as [Lee, §3] proposes: translation
alone for some joints, rotation alone for others. Either is pruned term by term after that (`prune.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import newton_euler_recursion
from ..algorithms.graph_derivatives import friction_forces
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..expr import Program, trace
from ..expr.rewrite import weight
from ..model.tree import Segment, Tree
from ..spatial import ZERO, Inertia
from . import causes
from .causes import DRIVE, Key
from .prune import Samples, Term, pruned

NAMES = ("q", "qd", "qdd")
SHARE = 0.8  # of the budget that whole causes may use; with none the programs found were no cheaper, and said less
EVERY = -2  # in the place of a joint: all of them


class Piece(NamedTuple):
    """Something that can be left out, and what that changes: torque relative to each joint's scale, shape (s, n)."""

    key: Key
    change: FloatArray
    size: float


@dataclass(frozen=True, eq=False)
class Study:
    """A robot's tree, the samples on which a model is designed, and what can be left out in either form."""

    tree: Tree
    samples: Samples
    whole: list[Piece]
    single: list[Piece]

    def by_cause(self) -> FloatArray:
        """How large each cause of `causes.CAUSES` is at each joint, all links together, shape (causes, n)."""
        total = np.zeros((len(causes.CAUSES), *self.samples.exact.shape))
        for piece in self.single:
            total[causes.CAUSES.index(piece.key.cause)] += piece.change
        return np.abs(total).max(axis=1, initial=0.0)


class Reduced(NamedTuple):
    """A cheaper program and what it leaves out."""

    program: Program
    pieces: list[Piece]
    terms: list[Term]


def study(tree: Tree, samples: Samples) -> Study:
    """Measure everything that can be left out on some samples; whole causes only where that saves operations."""
    exact = weight(_recursive_program(tree, []))
    removable = [key for key in _removable(tree) if weight(_recursive_program(tree, [key])) < exact]
    return _studied(tree, removable, samples)


def measured_again(found: Study, samples: Samples) -> Study:
    """The same on other samples."""
    return _studied(found.tree, [piece.key for piece in found.whole], samples)


def _studied(tree: Tree, removable: Sequence[Key], samples: Samples) -> Study:
    whole = [_measured(key, _torque(tree, [key], samples) - samples.exact, samples) for key in removable]
    columns = [list(x.T) for x in samples.inputs]
    single = []
    for key, value in causes.pieces(Unrolled(tree), *columns).items():
        change = np.zeros_like(samples.exact)
        change[:, key.joint] = -value
        single.append(_measured(key, change, samples))
    return Study(tree, samples, whole, single)


def _measured(key: Key, change: FloatArray, samples: Samples) -> Piece:
    relative = change / samples.scale
    return Piece(key, relative, float(np.abs(relative).max(initial=0.0)))


def chosen(pieces: Iterable[Piece], budget: float) -> list[Piece]:
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
    program, terms = pruned(_recursive_program(found.tree, [piece.key for piece in pieces]), found.samples, budget)
    return Reduced(program, pieces, terms)


def _recursive_program(tree: Tree, keys: Sequence[Key]) -> Program:
    return _traced(tree, lambda *state: _newton_euler(tree, keys, *state))


def closed(found: Study, budget: float) -> Reduced:
    """The sum over causes, joints and links that matter, then without single terms."""
    pieces, program = closed_sum(found, budget * SHARE)
    program, terms = pruned(program, found.samples, budget)
    return Reduced(program, pieces, terms)


def closed_sum(found: Study, budget: float) -> tuple[list[Piece], Program]:
    """What may be left out of the sum over causes, joints and links, and the sum of the rest."""
    pieces = chosen(found.single, budget)
    dropped = {piece.key for piece in pieces}

    def torques(q: Any, qd: Any, qdd: Any) -> list[Any]:
        total: list[Any] = [0.0] * found.tree.n
        for key, value in causes.pieces(Unrolled(found.tree), q, qd, qdd).items():
            if key not in dropped:
                total[key.joint] = total[key.joint] + value
        return total

    return pieces, _traced(found.tree, torques)


def _traced(tree: Tree, function: Any) -> Program:
    return trace(function, dict.fromkeys(NAMES, (tree.n,)), ["tau"], name="inverse_dynamics")


def _removable(tree: Tree) -> list[Key]:
    """What Newton-Euler can do without: cause, coordinate and segment; EVERY coordinate, where none is named."""
    keys = [Key("gravity", EVERY, DRIVE)]
    for i, s in enumerate(tree.segments):
        keys += [Key("rotational inertia", EVERY, i)] + [Key("translational inertia and weight", EVERY, i)] * (
            s.inertia.mass != 0.0
        )
        keys += [Key("rotor coupling", s.coordinate, i)] * (s.spin is not None)
        keys += [Key("rotor inertia", s.coordinate, i)] * (s.armature != 0.0)
        keys += [Key("friction", s.coordinate, i)] * (s.friction is not None)
    return keys + [Key("centrifugal and Coriolis", j, DRIVE) for j in range(tree.n)]


def without(tree: Tree, keys: Sequence[Key]) -> Tree:
    """A tree from which causes are removed, as far as they are a matter of its numbers."""
    segments = list(tree.segments)
    for cause, _, i in keys:
        if cause in _REMOVALS:
            segments[i] = _REMOVALS[cause](segments[i])
    gravity = ZERO if any(key.cause == "gravity" for key in keys) else tree.gravity
    return dataclasses.replace(tree, segments=tuple(segments), gravity=gravity)


def _point_mass(s: Segment) -> Segment:
    m, h, about_origin = s.inertia
    return dataclasses.replace(s, inertia=Inertia(m, h, about_origin - causes.at_centre(s.inertia)[2]))


def _massless(s: Segment) -> Segment:
    return dataclasses.replace(s, inertia=Inertia(0.0, ZERO, causes.at_centre(s.inertia)[2]))


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


def _newton_euler(tree: Tree, keys: Sequence[Key], q: Any, qd: Any, qdd: Any) -> list[Any]:
    """Torques without the causes named; a joint whose velocity products are left out keeps its friction."""
    less = without(tree, keys)
    still = {key.joint for key in keys if key.cause == "centrifugal and Coriolis"}
    rates = [0.0 if j in still else rate for j, rate in enumerate(qd)]
    base = newton_euler_recursion.still_base(less.gravity)
    tau = newton_euler_recursion.inverse_dynamics(Unrolled(less.regrouped), q, rates, qdd, base, with_friction=False)
    return [t + f for t, f in zip(tau, friction_forces(Unrolled(less), qd), strict=True)]


def _torque(tree: Tree, keys: Sequence[Key], samples: Samples) -> FloatArray:
    """The torques without some causes on samples, shape (s, n)."""
    columns = [list(x.T) for x in samples.inputs]
    tau = _newton_euler(tree, keys, *columns)
    return np.stack([np.broadcast_to(t, samples.exact.shape[:1]) for t in tau], axis=-1)
