"""Elements that load a robot from outside its own description: springs and dampers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import checks
from ..errors import ModelError
from .record import Record, put

Anchor = tuple[str, tuple[float, float, float]]
"""A point of a link's frame; the link may be 'tool' or 'world'."""


def anchor(subject: str, value: Any) -> Anchor:
    """A link's name (for its origin), or a name and a point in its frame, as an anchor."""
    if isinstance(value, str):
        return value, (0.0, 0.0, 0.0)
    if not (isinstance(value, Sequence) and len(value) == 2 and isinstance(value[0], str)):
        raise ModelError(
            f"{subject}: {checks.shown(value)} found; a link's name expected, or a name and a point: ('forearm', (0.1, 0, 0))."
        )
    x, y, z = checks.array(f"{subject}: point of {value[0]!r}", value[1], (3,)).tolist()
    return value[0], (x, y, z)


@dataclass(frozen=True, eq=False)
class Spring(Record):
    """A linear spring about (or along) a joint, or between two points of links: force = −stiffness · (deflection).

    Parameters
    ----------
    stiffness : float
        [N m/rad], or [N/m] along a sliding joint and between points.
    joint : str, optional
        The joint it acts at.
    between : pair of anchors, optional
        The two points it connects, each a link's name or (name, point in the link's frame); 'world' is the fixed frame.
    rest : float
        Joint position [rad | m] or length [m] without force.
    """

    stiffness: float
    joint: str | None = field(default=None, kw_only=True)
    between: tuple[Anchor, Anchor] | None = field(default=None, kw_only=True)
    rest: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        put(
            self,
            stiffness=checks.number("spring: stiffness", self.stiffness),
            between=_ends("spring", self.joint, self.between),
            rest=checks.number("spring: rest", self.rest),
        )
        if self.between is not None and self.rest < 0:
            raise ModelError(f"spring: rest length {self.rest:g} m found between two points; a length is not negative.")


@dataclass(frozen=True, eq=False)
class Damper(Record):
    """A viscous damper at a joint, or along the line between two points of links: force = −coefficient · (rate).

    Parameters
    ----------
    coefficient : float
        [N m s/rad], or [N s/m] along a sliding joint and between points.
    joint : str, optional
        The joint it acts at.
    between : pair of anchors, optional
        The two points it connects, each a link's name or (name, point in the link's frame); 'world' is the fixed frame.
    """

    coefficient: float
    joint: str | None = field(default=None, kw_only=True)
    between: tuple[Anchor, Anchor] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        put(
            self,
            coefficient=checks.number("damper: coefficient", self.coefficient),
            between=_ends("damper", self.joint, self.between),
        )


def _ends(subject: str, joint: str | None, between: Any) -> tuple[Anchor, Anchor] | None:
    if (joint is None) == (between is None):
        found = "neither joint nor between" if joint is None else "both joint and between"
        raise ModelError(f"{subject}: {found} found; one of the two says where it acts. Try joint='elbow'.")
    if between is None:
        checks.name(f"{subject}: joint", joint)
        return None
    if isinstance(between, str) or not isinstance(between, Sequence) or len(between) != 2:
        raise ModelError(f"{subject}: between {checks.shown(between)} found; two ends expected. Try between=('tool', 'world').")
    return anchor(f"{subject}: between", between[0]), anchor(f"{subject}: between", between[1])


__all__ = ["Anchor", "Damper", "Spring", "anchor"]
