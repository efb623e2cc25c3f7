"""Dry friction as it is: a force that jumps with the direction of sliding, and holds a joint at rest up to its level there.

An axis is in one of three modes: it slides forward (1), slides backward (−1), or sticks (0). Sliding, its friction is the
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
from ..dynamics.system import AnySystem, Reading, Request
from ..dynamics.transferred import Transferred
from ..errors import ModelError
from ..expr import ops
from ..model.position_functions import JointSum
from ..model.tree import Law, Segment, Tree
from .axes import Axes, axes_of, joints_beside

Given: TypeAlias = tuple[bool, ...] | None  # which joints of a tree have dry friction by given parameters; None without such
_FRICTIONLESS = Law(dry=True, smooth=False, stribeck=False, viscous=0.0, mean=0.0, difference=0.0)


class Share(NamedTuple):
    """The law of a joint whose rate is `factor` times that of an axis; the factor may depend on the position.

    `place` is that of its level among dynamic parameters, which may be given in the place of the model's own.
    """

    law: Law
    factor: Any
    place: int

    def force(self, mode: Any, qd: Any) -> Any:
        """What the dry part of the law exerts against the axis while it slides in the direction of `mode`."""
        law, factor = self.law, self.factor
        sigma = mode * ops.sign(factor)
        level = sigma * law.mean + sigma * sigma * law.difference
        if law.stribeck:
            ratio = qd * (factor * law.inverse_speed)
            level = level * (law.excess / (ratio * ratio + 1.0) + 1.0)
        return level * factor


class DryFriction(NamedTuple):
    """The dry friction of a system: the shares of each axis."""

    shares: tuple[tuple[Share, ...], ...]

    @property
    def acts(self) -> list[bool]:
        """Which axes have any."""
        return [bool(own) for own in self.shares]

    def acts_with(self, phi: FloatArray) -> list[bool]:
        """Which axes have any with given parameters (p,)."""
        return [any(phi[share.place] for share in own) for own in self.shares]

    def at(self, phi: Any = None) -> Sequence[Sequence[Share]]:
        """All shares, with the levels of given parameters (..., p), if there are any."""
        if phi is None:
            return self.shares
        column = phi.__getitem__ if isinstance(phi, Sequence) else lambda k: phi[..., k]
        return [[with_level(share, column(share.place)) for share in own] for own in self.shares]


def with_level(share: Share, level: Any) -> Share:
    """The same joint with another level of dry friction."""
    return share._replace(law=dataclasses.replace(share.law, mean=level))


def force(shares: Sequence[Share], mode: Any, qd: Any) -> Any:
    """The force against an axis that slides in the direction of `mode`."""
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


def rubbing_beside(system: AnySystem, given: Given = None) -> tuple[str, ...]:
    """The joints within loops of a mechanism whose friction jumps, and which no coordinate tells of."""
    return engine.kept(system, Request("rubbing_beside", (given,)), lambda: _rubbing_beside(system, given))


def _rubbing_beside(system: AnySystem, given: Given) -> tuple[str, ...]:
    axes = joints_beside(system)
    if not axes:
        return ()
    view: Any = engine.system_of(system)
    tree, told = view.tree, _factors(view, axes_of(system))
    jumping = {s.coordinate for s, jumps in zip(tree.segments, _which_jump(tree, given), strict=True) if jumps}
    places = {s.name: s.coordinate for s in reversed(tree.segments)}
    return tuple(axis.name for axis in axes if places[axis.name] in jumping and places[axis.name] not in told)


def friction_axes(system: AnySystem, given: Given = None) -> Axes:
    """The axes at which the dry friction of a system acts."""
    return axes_of(system, rubbing_beside(system, given))


def dry_friction(system: AnySystem, axes: Axes, given: Given = None) -> DryFriction | None:
    """The dry friction of a system where its axes tell which way every joint that has any slides; None elsewhere."""
    view = engine.system_of(system)
    shares: list[list[Share]] = [[] for _ in axes.names]
    if not hasattr(view, "tree"):
        return DryFriction(tuple(map(tuple, shares)))
    factors = _factors(view, axes)
    for j, (s, jumps) in enumerate(zip(view.tree.segments, _which_jump(view.tree, given), strict=True)):
        if not jumps:
            continue
        if s.coordinate not in factors:
            return None
        axis, factor = factors[s.coordinate]
        shares[axis].append(Share(s.friction or _FRICTIONLESS, factor * s.multiplier, level_place(j)))
    return DryFriction(tuple(map(tuple, shares)))


def can_be_held(system: AnySystem, axes: Axes | None = None) -> bool:
    """Whether single axes can be held: what has to be factored is written out in straight code."""
    return max(engine.size(system), 0 if axes is None else len(axes.names)) < sizes.DENSE_FROM


def decidable(system: AnySystem, given: Given = None) -> bool:
    """Whether it can be decided which joints stick."""
    axes = friction_axes(system, given)
    return can_be_held(system, axes) and dry_friction(system, axes, given) is not None


def _jumps(s: Segment) -> bool:
    return s.friction is not None and s.friction.dry and not s.friction.smooth


def _factors(view: Any, axes: Axes) -> dict[int, tuple[int, float]]:
    """The coordinates of the tree that are axes of the system: which, and how many times as fast."""
    if isinstance(view, RobotSystem):
        return {k: (k, 1.0) for k in range(view.tree.n)}
    if isinstance(view, Transferred):  # a coordinate may have the name of a joint and be something else
        return {}
    of_joint = {s.name: s for s in reversed(view.tree.segments)}
    found = {}
    for k, (name, known) in enumerate(zip(axes.names, axes.functions, strict=True)):
        function = JointSum({name: 1.0}) if known is None else known
        if isinstance(function, JointSum) and len(function.coefficients) == 1:
            (joint, factor), *_ = function.coefficients.items()
            if joint in of_joint:
                s = of_joint[joint]
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


__all__ = [
    "WITHOUT_DRY",
    "WITHOUT_GIVEN",
    "DryFriction",
    "Given",
    "can_be_held",
    "decidable",
    "dry_friction",
    "force",
    "friction_axes",
    "given_levels",
    "jumping_joints",
    "rubbing_beside",
    "with_level",
    "without_dry",
    "without_levels",
]
