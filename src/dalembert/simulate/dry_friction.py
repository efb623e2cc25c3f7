"""Dry friction as it is: a force that jumps with the direction of sliding, and holds a joint at rest up to its level there.

A coordinate is in one of three modes: it slides forward (1), slides backward (−1), or sticks (0). Sliding, its friction is the
law's for that direction, whatever rounding makes of q̇ near zero; sticking, friction is what keeps q̈ = 0, as long as that is
between the two levels at rest [theory: simulation, Eq. 9 to 12].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..algorithms import regressor
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..dynamics import engine, sizes
from ..dynamics.robot_system import RobotSystem
from ..dynamics.surroundings import DEFAULT, FREE, Forces
from ..dynamics.system import AnySystem, Reading, Request, System
from ..dynamics.transferred import Transferred
from ..errors import ModelError
from ..expr import ops
from ..model.position_functions import Chosen, JointSum
from ..model.tree import Law, Segment, Tree
from ..spatial import ldl
from ..spatial.nested import dot

Given: TypeAlias = tuple[bool, ...] | None  # which joints of a tree have dry friction by given parameters; None without such
_FRICTIONLESS = Law(dry=True, smooth=False, stribeck=False, viscous=0.0, mean=0.0, difference=0.0)


class Share(NamedTuple):
    """The law of a joint whose rate is `factor` times that of a coordinate; the factor may depend on the position.

    `place` is that of its level among dynamic parameters, which may be given in the place of the model's own.
    """

    law: Law
    factor: Any
    place: int

    def force(self, mode: Any, qd: Any) -> Any:
        """What the dry part of the law exerts against the coordinate while it slides in the direction of `mode`."""
        law, factor = self.law, self.factor
        sigma = mode * ops.sign(factor)
        level = sigma * law.mean + sigma * sigma * law.difference
        if law.stribeck:
            ratio = qd * (factor * law.inverse_speed)
            level = level * (law.excess / (ratio * ratio + 1.0) + 1.0)
        return level * factor


class Passive(NamedTuple):
    """The law of a joint that is no coordinate: its rate is `multiplier` times that of `coordinate` of the tree."""

    law: Law
    coordinate: int
    multiplier: float
    place: int


class DryFriction(NamedTuple):
    """The dry friction of a system: shares for each coordinate, and those of other joints where there is one coordinate."""

    shares: tuple[tuple[Share, ...], ...]
    passive: tuple[Passive, ...] = ()

    @property
    def acts(self) -> list[bool]:
        """Which coordinates have any."""
        return [bool(own or self.passive) for own in self.shares]

    def acts_with(self, phi: FloatArray) -> list[bool]:
        """Which coordinates have any with given parameters (p,)."""
        others = any(phi[one.place] for one in self.passive)
        return [bool(others or any(phi[share.place] for share in own)) for own in self.shares]

    def at(self, view: Any, q: Any, phi: Any = None) -> list[list[Share]]:
        """All shares at a position, with the levels of given parameters, if there are any."""
        found = [list(own) for own in self.shares]
        if self.passive:
            rates = view.rates(q, [1.0])
            found[0] += [Share(one.law, rates[one.coordinate] * one.multiplier, one.place) for one in self.passive]
        return found if phi is None else [[with_level(share, phi[share.place]) for share in own] for own in found]


def with_level(share: Share, level: Any) -> Share:
    """The same joint with another level of dry friction."""
    return share._replace(law=dataclasses.replace(share.law, mean=level))


def force(shares: Sequence[Share], mode: Any, qd: Any) -> Any:
    """The force against a coordinate that slides in the direction of `mode`."""
    return sum((share.force(mode, qd) for share in shares), 0.0)


def jumping_joints(system: AnySystem, given: Given = None) -> list[str]:
    """The joints beneath a system whose friction jumps where they turn round."""
    return engine.kept(system, Request("jumping_joints", (given,)), lambda: _jumping(system, given))


def _jumping(system: AnySystem, given: Given) -> list[str]:
    tree = getattr(engine.system_of(system), "tree", None)
    return [] if tree is None else [s.name for s, jumps in zip(tree.segments, _which_jump(tree, given), strict=True) if jumps]


def _which_jump(tree: Tree, given: Given) -> Sequence[bool]:
    return [_jumps(s) for s in tree.segments] if given is None else given


def given_levels(system: AnySystem, parameters: FloatArray) -> Given:
    """Which joints have dry friction in any row of given parameters (..., p); an error for a level below zero."""
    tree = getattr(engine.system_of(system), "tree", None)
    if tree is None:
        return None
    rows = parameters.reshape(-1, parameters.shape[-1])
    return tuple(_has_level(s, rows[:, level_place(j)]) for j, s in enumerate(tree.segments))


def _has_level(s: Segment, levels: FloatArray) -> bool:
    """Whether the friction of a joint jumps with any of these levels."""
    if s.friction is not None and s.friction.smooth:
        return False
    least = abs(s.friction.difference) if s.friction is not None else 0.0
    if (levels < least).any():
        raise ModelError(
            f"parameters: {s.name + '.Fc'!r} is {np.nanmin(levels):g}, dry friction that pushes a joint on; "
            f"{least:g} or more is expected. Clip such rows."
        )
    return bool((levels != 0.0).any())


def level_place(j: int) -> int:
    """The place of the Coulomb friction of segment j among dynamic parameters: the last of each."""
    return (j + 1) * (len(regressor.INERTIAL) + len(regressor.STANDARD.drive)) - 1


def dry_friction(system: AnySystem, given: Given = None) -> DryFriction | None:
    """The dry friction of a system where its coordinates tell which way every joint that has any slides; None elsewhere."""
    view = engine.system_of(system)
    n = engine.size(system)
    if not hasattr(view, "tree"):
        return DryFriction(((),) * n)
    factors = _factors(view)
    shares: list[list[Share]] = [[] for _ in range(n)]
    passive = []
    for j, (s, jumps) in enumerate(zip(view.tree.segments, _which_jump(view.tree, given), strict=True)):
        if not jumps:
            continue
        law, place = s.friction or _FRICTIONLESS, factors.get(s.coordinate)
        if place is not None:
            shares[place[0]].append(Share(law, place[1] * s.multiplier, level_place(j)))
        elif n == 1 and hasattr(view, "rates"):  # all joints of a mechanism of one freedom move as one
            passive.append(Passive(law, s.coordinate, s.multiplier, level_place(j)))
        else:
            return None
    return DryFriction(tuple(map(tuple, shares)), tuple(passive))


def can_be_held(system: AnySystem) -> bool:
    """Whether single coordinates can be held: the mass matrix is factored in straight code."""
    return engine.size(system) < sizes.DENSE_FROM


def _jumps(s: Segment) -> bool:
    return s.friction is not None and s.friction.dry and not s.friction.smooth


def _factors(view: Any) -> dict[int, tuple[int, float]]:
    """The coordinates of the tree that are coordinates of the system: which, and how many times as fast."""
    if isinstance(view, RobotSystem):
        return {k: (k, 1.0) for k in range(view.tree.n)}
    if isinstance(view, Transferred):  # a coordinate may have the name of a joint and be something else
        return {}
    of_joint = {s.name: s for s in reversed(view.tree.segments)}
    found = {}
    for k, coordinate in enumerate(view.coordinates):
        function = coordinate.function if isinstance(coordinate, Chosen) else JointSum({coordinate.name: 1.0})
        if isinstance(function, JointSum) and len(function.coefficients) == 1:
            (name, factor), *_ = function.coefficients.items()
            if name in of_joint:
                s = of_joint[name]
                found[s.coordinate] = (k, 1.0 / (factor * s.multiplier))
    return found


def without_dry(tree: Tree) -> Tree:
    """The same tree, what is dry and jumps taken out of its laws of friction."""
    segments = [_viscous(s) if _jumps(s) else s for s in tree.segments]
    return dataclasses.replace(tree, segments=tuple(segments))


def _viscous(s: Segment) -> Segment:
    assert s.friction is not None
    return dataclasses.replace(s, friction=Law(False, False, False, s.friction.viscous, 0.0, 0.0))


WITHOUT_DRY = Reading(sweep=lambda tree: Unrolled(without_dry(tree.regrouped)))
WITHOUT_GIVEN = Reading(sweep=lambda tree: Unrolled(without_dry(tree)))  # parameters are those of the tree as it is


def without_levels(system: Any, phi: Sequence[Any]) -> list[Any]:
    """Parameters, the levels of dry friction that jumps taken out of them."""
    found = list(phi)
    for j, s in enumerate(system.tree.segments):
        if s.friction is None or not s.friction.smooth:
            found[level_place(j)] = 0.0
    return found


class HeldModel:
    """Forward dynamics with some coordinates held, over scalars.

    With f = 1 where a coordinate slides or is free and 0 where it is held, A is M with the rows and columns of held ones cleared
    off the diagonal, and

        A q̈ = f (τ − h − dry friction),      hold = τ − h − M q̈,

    so that held coordinates have q̈ = 0, or what is wanted of them, and the force that holds each comes from the same M.
    """

    def __init__(self, system: System, friction: DryFriction, held: Sequence[bool], forces: Forces = FREE) -> None:
        self.system, self.friction, self.held = system, friction, list(held)
        system.recipe(engine.request_of("forward_dynamics"))  # refuses a mass matrix that has no inverse
        self.given, reading = forces.parameters, WITHOUT_GIVEN if forces.parameters else WITHOUT_DRY
        alone = (Forces(parameters=True),) if self.given else ()
        self._mass = system.recipe(engine.request_of("mass_matrix", alone)).function
        self._torque = system.recipe(engine.request_of("inverse_dynamics", (DEFAULT, forces)), reading).function

    def __call__(self, q: Any, qd: Any, tau: Any, mode: Any, *around: Any, wanted: Any = None) -> Held:
        """The motion at a point, with the coordinates held whose mode is 0; `wanted` is their acceleration, if not zero.

        `around` are wrenches, and parameters in the place of the model's own, if such are given.
        """
        n = range(len(q))
        if hasattr(self.system, "pulled_back"):  # a chart, to which forces at other coordinates are given
            tau = self.system.pulled_back(q, tau)
        *wrenches, phi = around if self.given else (*around, None)
        M = self._mass(q, phi) if self.given else self._mass(q)
        beside = [*wrenches, without_levels(self.system, phi)] if self.given else wrenches
        h, shares = self._torque(q, qd, [0.0] * len(q), *beside), self.friction.at(self.system, q, phi)
        full = [[M[max(i, j)][min(i, j)] for j in n] for i in n]
        free = [mode[i] * mode[i] if self.held[i] else 1.0 for i in n]
        given = [(1.0 - free[i]) * wanted[i] if wanted is not None and self.held[i] else 0.0 for i in n]
        driving = [tau[i] - h[i] - force(shares[i], mode[i], qd[i]) for i in n]
        if wanted is not None:
            driving = [d - dot(full[i], given) for i, d in enumerate(driving)]
        A = [[full[i][j] * free[i] * free[j] if i != j else full[i][i] for j in range(i + 1)] for i in n]
        solved = ldl.solve(A, [d * f for d, f in zip(driving, free, strict=True)])
        qdd = [a + b for a, b in zip(solved, given, strict=True)]
        hold = [tau[i] - h[i] - dot(full[i], qdd) if self.held[i] else 0.0 for i in n]
        load = [abs(tau[i]) + abs(h[i]) if self.held[i] else 0.0 for i in n]
        low, high = ([force(own, way, 0.0) + 0.0 for own in shares] for way in (-1.0, 1.0))
        return Held(qdd, hold, load, low, high)


class Held(NamedTuple):
    """q̈, the forces that hold, the sizes of what they are differences of, and the least and largest that friction can hold."""

    qdd: Any
    hold: Any
    load: Any
    low: Any
    high: Any


def excess(hold: Any, size: Any, low: Any, high: Any) -> Any:
    """How much a force is more than what can hold; rounding of what it is made of does not count."""
    slack = ROUNDING * (size + ops.minimum(abs(low), abs(high)))
    return ops.maximum(hold - high, low - hold) - slack


ROUNDING = 1e-13  # of the forces at a joint: a thousand times what their sum is off
BOUND = 1e300  # as a level: a stop, or a lock, holds any force

__all__ = [
    "BOUND",
    "ROUNDING",
    "WITHOUT_DRY",
    "WITHOUT_GIVEN",
    "DryFriction",
    "Given",
    "HeldModel",
    "can_be_held",
    "dry_friction",
    "excess",
    "force",
    "given_levels",
    "jumping_joints",
    "with_level",
    "without_dry",
    "without_levels",
]
