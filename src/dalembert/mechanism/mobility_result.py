"""What an analysis of freedoms found, and its report in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..wording import counted, listed
from .constraint_count import FreedomCount
from .idle_freedoms import IdleFreedom

_NEAR = 1e-6
_MANY = 8  # names in a line of the report


class CoordinateChoice(NamedTuple):
    """Coordinates, and how well they tell the motion.

    The condition is the largest rate of all joints together for coordinates that change at rate 1 (lengths in one that is typical
    of the mechanism): 1 at best, infinite where the coordinates do not tell the motion.
    """

    names: tuple[str, ...]
    condition: float


@dataclass(frozen=True, eq=False)
class Mobility:
    """The freedoms of a mechanism at one position of its tree, with N joints and m scalar conditions of its closures.

    Singular values, quadratic forms and condition numbers have no dimension: lengths are measured in one that is typical of it.

    Attributes
    ----------
    name : str
        Of the mechanism.
    freedoms : int
        Degrees of freedom: how many independent motions really go on from here; where several branches meet, those of the
        branch with the most.
    first_order : int
        N less the rank of the closures' Jacobian at this very position: what velocities alone allow.
    kind : str
        'regular'; 'rigid': nothing moves; 'shaky': velocities exist, but no motion; 'singular': fewer motions than velocities;
        'bifurcation': branches of motion meet here; 'cone': so many that their directions form a cone, one of which is shown;
        'doubtful': second order allows motion, and none was found.
    x : ndarray, shape (N,)
        The position.
    singular_values : ndarray
        Of the closures' Jacobian, largest first, without dimension.
    motions : ndarray, shape (N, freedoms)
        Rates of the joints in these motions, one column each.
    branches : tuple of ndarray, each of shape (N, freedoms of the branch)
        The same for each branch.
    quadratic_forms : ndarray, shape (k, first_order, first_order)
        What the k lost conditions say of velocities to second order: a velocity goes on where all are zero.
    conditions : tuple of str
        Names of the conditions: closure and what it holds.
    redundant : tuple of str
        Conditions that can be dropped together without any change of the motion; no larger set can.
    idle : tuple of IdleFreedom
        Freedoms of single bodies, which move nothing else. They are counted in `freedoms`.
    internal_forces : ndarray, shape (k, m)
        Multipliers of conditions that are in balance by themselves, one row each: what closures can hold against each other.
    internal_torques : ndarray, shape (j, number of drives)
        Torques of the drives that do no work in any motion: what drives can do against each other.
    actuated : tuple of str
        The drives.
    count, count_in_space : FreedomCount
        Freedoms after Gruebler and Kutzbach: in the plane (dimension 3) for planar mechanisms; in space (dimension 6).
    proposal : CoordinateChoice
        Joints that can be coordinates; no exchange of one of them would have a better condition.
    chosen : CoordinateChoice or None
        The coordinates that were given, and how good they are here.
    joint_names : tuple of str
        Of the tree.
    """

    name: str
    freedoms: int
    first_order: int
    kind: str
    x: FloatArray
    singular_values: FloatArray
    motions: FloatArray
    branches: tuple[FloatArray, ...]
    quadratic_forms: FloatArray
    conditions: tuple[str, ...]
    redundant: tuple[str, ...]
    idle: tuple[IdleFreedom, ...]
    internal_forces: FloatArray
    internal_torques: FloatArray
    actuated: tuple[str, ...]
    count: FreedomCount
    count_in_space: FreedomCount
    proposal: CoordinateChoice
    chosen: CoordinateChoice | None
    joint_names: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"Mobility({self.name!r}: freedoms={self.freedoms}, {self.kind}, redundant={len(self.redundant)}, "
            f"idle={len(self.idle)}, count={self.count.freedoms})"
        )

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {head:<21}{text}" for head, text in self.lines())])

    @property
    def gruebler(self) -> int:
        """The freedoms that the count of Gruebler and Kutzbach gives, in the plane or in space."""
        return self.count.freedoms

    @property
    def actuation_redundancy(self) -> int:
        """How many independent torques of the drives do no work."""
        return len(self.internal_torques)

    @property
    def is_nearly_singular(self) -> bool:
        """Whether the least singular value that is not taken for zero is below a millionth of the largest."""
        s = self.singular_values[: self._rank]
        return bool(s.size and s[-1] < _NEAR * s[0])

    @property
    def headline(self) -> str:
        """The answer in one line."""
        idle = f", {len(self.idle)} of them idle" if self.idle else ""
        return f"{self.name}: {counted(self.freedoms, 'freedom')}{idle}; {_KINDS[self.kind]}"

    @property
    def why(self) -> str:
        """Why the count is, or is not, the number of freedoms."""
        return f"{self._excess(self.count)}{self._against_space()}."

    def _excess(self, count: FreedomCount) -> str:
        excess = self.freedoms - count.freedoms
        if excess > 0:
            repeats = "constraint that is counted repeats" if excess == 1 else "constraints that are counted repeat"
            return f"{excess} more than counted, since {excess} {repeats} what others hold"
        if excess < 0:
            return f"{-excess} fewer than counted, since to second order the conditions hold more than their number"
        return "as counted"

    def _against_space(self) -> str:
        """What the count in space misses of a planar mechanism."""
        missed = self.count.freedoms - self.count_in_space.freedoms
        return f"; in space {missed} fewer, since closures also hold what the plane of motion holds" if missed else ""

    def lines(self) -> list[tuple[str, str]]:
        """The report, as heads and texts."""
        found = [
            ("first order", f"{len(self.joint_names)} joints − rank {self._rank} = {counted(self.first_order, 'motion')}"),
            ("singular values", _numbers(self.singular_values) + (", nearly singular" if self.is_nearly_singular else "")),
            ("second order", self._second_order()),
            ("Gruebler-Kutzbach", f"{self._counts()}: {self.why}"),
            ("redundant", self._names(self.redundant, "none", f"{len(self.redundant)} of {len(self.conditions)} conditions: ")),
            ("idle", "; ".join(f"{' + '.join(f.links)} ({listed(f.joints, _MANY)})" for f in self.idle) or "none"),
            ("internal forces", self._internal()),
            ("fit for coordinates", self._proposed()),
        ]
        if self.chosen is not None:
            found.append(("given coordinates", f"{listed(self.chosen.names, _MANY)}: {_condition(self.chosen.condition)}"))
        return found

    @property
    def _rank(self) -> int:
        return len(self.joint_names) - self.first_order

    def _second_order(self) -> str:
        k = len(self.quadratic_forms)
        if not k or not self.first_order:
            return "not needed: all conditions are independent" if not k else "not needed: no motion of first order"
        lost = f"{counted(k, 'condition')} lost, "
        if not np.abs(self.quadratic_forms).max(initial=0.0) > 0.0 or self.kind == "regular":
            return f"{lost}all motions go on, also in a small step"
        return lost + _SECOND[self.kind].format(count=len(self.branches), freedoms=self.freedoms)

    def _counts(self) -> str:
        text = f"{self.count.joints} − {self.count.held} = {self.count.freedoms}".replace("= -", "= −")
        return text if self.count.dimension == 6 else f"{text} in the plane"

    def _internal(self) -> str:
        parts = []
        if len(self.internal_forces):
            moved = [self.conditions[k] for k in np.flatnonzero(np.abs(self.internal_forces).max(axis=0) > 1e-9)]
            parts.append(f"dimension {len(self.internal_forces)}, in {listed(moved, _MANY)}")
        if self.actuation_redundancy:
            drives = f"{len(self.actuated)} drives for {counted(self.freedoms, 'freedom')}"
            parts.append(f"dimension {self.actuation_redundancy} by the drives ({drives})")
        return "; ".join(parts) or "none"

    def _proposed(self) -> str:
        if not self.proposal.names:
            return "none, since nothing moves"
        return f"{listed(self.proposal.names, _MANY)}: {_condition(self.proposal.condition)}"

    def _names(self, names: tuple[str, ...], nothing: str, head: str) -> str:
        return head + listed(names, _MANY) if names else nothing


_KINDS = {
    "regular": "the position is regular",
    "rigid": "nothing moves",
    "shaky": "shaky: velocities exist, but no motion follows",
    "singular": "a singular position",
    "bifurcation": "branches of motion meet here",
    "cone": "a singular position that motions leave in a cone of directions",
    "doubtful": "no motion was found, though second order allows one",
}
_SECOND = {
    "shaky": "no motion goes on",
    "singular": "{freedoms} of these motions go on",
    "bifurcation": "motions go on along {count} branches",
    "cone": "motions go on along a cone of directions",
    "doubtful": "some motions go on, but closing after a small step led back",
}


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:.3g}" if value > 1e-12 else "0" for value in values) or "none"


def _condition(value: float) -> str:
    return f"condition {value:.3g}" if np.isfinite(value) else "they do not tell the motion"


__all__ = ["CoordinateChoice", "Mobility"]
