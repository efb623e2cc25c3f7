"""Joints of several degrees of freedom, built from one-degree joints with massless `virtual` links between them.

Freeman builds every joint this way [Freeman], so the algorithms need to know revolute and prismatic joints alone. Each
function returns the joints and the virtual links to add to a robot's own:

    joints, frames = spherical("shoulder", "torso", "upper_arm")
    robot = Robot.from_parts("arm", [torso, upper_arm, *frames], joints)

Joint and virtual link are named `<name>_<suffix>`; the last joint carries `child` itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from .parts import Joint, Limits, Link, unit_axis
from .record import named_parts

X, Y, Z = np.eye(3)
Combination = tuple[list[Joint], list[Link]]


class _Step(NamedTuple):
    """One joint of the sequence."""

    suffix: str
    type: str
    axis: FloatArray


def cylindrical(
    name: str,
    parent: str,
    child: str,
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    origin: ArrayLike | None = None,
    limits: Mapping[str, Limits] | None = None,
) -> Combination:
    """Two degrees: `<name>_turn` about and `<name>_slide` along the same axis."""
    line = unit_axis(f"joint {checks.name('joint', name)!r}", axis)
    steps = [_Step("turn", "revolute", line), _Step("slide", "prismatic", line)]
    return _sequence(name, parent, child, steps, origin, limits)


def universal(
    name: str, parent: str, child: str, *, origin: ArrayLike | None = None, limits: Mapping[str, Limits] | None = None
) -> Combination:
    """Two degrees: `<name>_x` about x, then `<name>_y` about the turned y (a Cardan joint)."""
    return _sequence(name, parent, child, _turns("x", "y"), origin, limits)


def spherical(
    name: str, parent: str, child: str, *, origin: ArrayLike | None = None, limits: Mapping[str, Limits] | None = None
) -> Combination:
    """Three degrees: `<name>_x`, `<name>_y`, `<name>_z` about x, the turned y and the turned z: R = Rx(q1) Ry(q2) Rz(q3).

    Singular at q2 = ±π/2, where the first and third axis coincide: two coordinates then do the same, the mass matrix of a body
    on this joint loses rank, and rates q̇ grow without bound nearby. Choose `origin` so that the work stays away from there.
    """
    return _sequence(name, parent, child, _turns("x", "y", "z"), origin, limits)


def planar(
    name: str,
    parent: str,
    child: str,
    *,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    origin: ArrayLike | None = None,
    limits: Mapping[str, Limits] | None = None,
) -> Combination:
    """Three degrees: `<name>_x` and `<name>_y` slide in the plane, `<name>_turn` turns about its normal.

    For the normal z the slides follow x and y. Otherwise the first slide follows the frame axis least aligned with the
    normal, projected into the plane, and the second completes the right-handed triad (x, y, normal).
    """
    n = unit_axis(f"joint {checks.name('joint', name)!r}: normal", normal)
    seed = np.eye(3)[int(np.argmin(np.abs(n)))]
    x = unit_axis(f"joint {name!r}", seed - (seed @ n) * n)
    steps = [_Step("x", "prismatic", x), _Step("y", "prismatic", np.cross(n, x)), _Step("turn", "revolute", n)]
    return _sequence(name, parent, child, steps, origin, limits)


def floating(
    name: str, parent: str, child: str, *, origin: ArrayLike | None = None, limits: Mapping[str, Limits] | None = None
) -> Combination:
    """Six degrees: slides `<name>_x`, `<name>_y`, `<name>_z`, then turns `<name>_rx`, `<name>_ry`, `<name>_rz`.

    X = T(q1, q2, q3) Rx(q4) Ry(q5) Rz(q6); singular at q5 = ±π/2 as `spherical` is.
    """
    slides = [_Step("x", "prismatic", X), _Step("y", "prismatic", Y), _Step("z", "prismatic", Z)]
    return _sequence(name, parent, child, [*slides, *_turns("rx", "ry", "rz")], origin, limits)


def _turns(*suffixes: str) -> list[_Step]:
    return [_Step(suffix, "revolute", axis) for suffix, axis in zip(suffixes, (X, Y, Z), strict=False)]


def _sequence(
    name: str,
    parent: str,
    child: str,
    steps: Sequence[_Step],
    origin: ArrayLike | None,
    limits: Mapping[str, Limits] | None,
) -> Combination:
    """The joints one after the other, the first at `origin`, and the virtual links between them."""
    checks.name("joint", name)
    bounds = _checked_limits(name, steps, limits)
    names = [f"{name}_{step.suffix}" for step in steps]
    ends = [parent, *names[:-1], child]
    joints = [
        Joint(
            names[i],
            step.type,
            ends[i],
            ends[i + 1],
            origin=np.eye(4) if origin is None or i else origin,  # type: ignore[arg-type]
            axis=step.axis,
            limits=bounds.get(step.suffix, Limits()),
        )
        for i, step in enumerate(steps)
    ]
    return joints, [Link(between, virtual=True) for between in ends[1:-1]]


def _checked_limits(name: str, steps: Sequence[_Step], limits: Mapping[str, Limits] | None) -> Mapping[str, Limits]:
    found = named_parts(f"joint {name!r}: limits", {} if limits is None else limits, Limits)
    known = {step.suffix: step for step in steps}
    for suffix in found:
        checks.choice(f"joint {name!r}: limits of", suffix, known)
    return found
