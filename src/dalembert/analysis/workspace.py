"""Where a robot is looked at: ranges of position, velocity and acceleration, and random states within them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..dynamics.engine import size, system_of
from ..dynamics.system import AnySystem, Coordinate
from ..errors import ShapeError
from ..model.position_functions import Chosen
from ..model.record import Record, put
from ..options import generator
from ..options import samples as whole_samples

TURN, SLIDE = math.pi, 1.0  # [rad, rad/s | m, m/s]: the half-range of a joint that states no limit
_PROBES = 128  # states inside of a mechanism's box, and at corners of it, where positions are looked for
_LEAST_PIVOT = 0.05  # of what it is at the seed: below, a pose is nearly singular
_MOST_TURNS = 8  # of Newton's method: code in which it is written out has ten
_SMALLEST_SHARE = 1e-4
SECONDS_TO_SPEED = 0.5  # [s]: an acceleration reaches the largest velocity from rest in this time


class State(NamedTuple):
    """Positions and their time derivatives, each of shape (..., n)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


@dataclass(frozen=True, eq=False)
class Workspace(Record):
    """A box of states, each bound of shape (n,): `lower` ≤ q ≤ `upper`, |q̇| ≤ `velocity`, |q̈| ≤ `acceleration`.

    `Workspace.of(robot)` takes the joint limits the robot states; where it states none, ±π rad or ±1 m, π rad/s or 1 m/s, and the
    acceleration that reaches the velocity in half a second. The box of a mechanism shrinks towards the position in which it was
    assembled, until all of it is within reach. `replace` it to look at less, or at more.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

    def __repr__(self) -> str:
        return brief(self)

    def __post_init__(self) -> None:
        n = checks.numbers("workspace: lower", self.lower).shape[-1:]
        for name in ("lower", "upper", "velocity", "acceleration"):
            put(self, **{name: checks.array(f"workspace: {name}", getattr(self, name), n)})
        if (self.lower > self.upper).any() or (self.velocity < 0).any() or (self.acceleration < 0).any():
            raise ShapeError("workspace: a range of negative width found; lower ≤ upper and magnitudes ≥ 0 are expected.")

    @classmethod
    def of(cls, robot: AnySystem) -> Workspace:
        """The box of a robot's own limits, or those of another system's coordinates."""
        joints = system_of(robot).coordinates
        velocity = np.array([_either(joint.limits.velocity, joint) for joint in joints])
        lower, upper = np.transpose([_range(joint) for joint in joints])
        box = cls(lower, upper, velocity, velocity / SECONDS_TO_SPEED)
        return _within_reach(robot, box) if hasattr(robot, "assemble") else box

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    def sample(self, rng: np.random.Generator, count: int) -> State:
        """States at random, all equally likely, each array of shape (count, n)."""
        if rng is None:
            raise ShapeError("rng: nothing found, a numpy.random.Generator is expected. Try numpy.random.default_rng(seed).")
        rng, shape = generator(rng), (whole_samples("count", count, 0), self.n)
        rates = (rng.uniform(-1.0, 1.0, shape) * bound for bound in (self.velocity, self.acceleration))
        return State(rng.uniform(self.lower, self.upper, shape), *rates)


def _either(limit: float, joint: Coordinate | Chosen) -> float:
    return limit if math.isfinite(limit) else TURN if joint.turns else SLIDE


def _range(joint: Coordinate | Chosen) -> tuple[float, float]:
    """The limits of a joint, or as much on either side of what it does state."""
    lower, upper = joint.limits.lower, joint.limits.upper
    half = TURN if joint.turns else SLIDE
    if not math.isfinite(lower):
        lower = upper - 2 * half if math.isfinite(upper) else -half
    return lower, upper if math.isfinite(upper) else lower + 2 * half


def _within_reach(mechanism: Any, box: Workspace) -> Workspace:
    """The box halved towards the assembled position until positions are found at all of its corners, or many of them, and inside.

    Positions count that few steps of Newton's method find, far from where the coordinates do not tell them.
    """
    rng = np.random.default_rng(0)
    inside = rng.uniform(-1.0, 1.0, (_PROBES, box.n))
    corners = np.sign(rng.uniform(-1.0, 1.0, (_PROBES, box.n)))
    probes = np.concatenate([inside, corners])
    q0 = np.asarray(mechanism.q0)
    below, above = np.maximum(q0 - box.lower, 0.0), np.maximum(box.upper - q0, 0.0)
    share = 1.0
    while share > _SMALLEST_SHARE:
        found = mechanism.assemble(q0 + share * np.where(probes < 0, below, above) * probes)
        if np.all(found.found & (found.pivot > _LEAST_PIVOT) & (found.turns <= _MOST_TURNS)):
            break
        share /= 2.0
    return box.replace(lower=q0 - share * below, upper=q0 + share * above)


def workspace_of(robot: AnySystem, given: Workspace | None) -> Workspace:
    """The workspace given, if it fits the robot, or the robot's own."""
    if given is None:
        return Workspace.of(robot)
    if not isinstance(given, Workspace) or given.n != size(robot):
        found = f"{given.n} coordinates" if isinstance(given, Workspace) else type(given).__name__
        raise ShapeError(f"workspace: {found} found, a Workspace of {size(robot)} is expected. Try Workspace.of(robot).")
    return given
