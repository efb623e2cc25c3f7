"""How the loops of a mechanism close: freedoms, what closures leave open, what they hold twice, how well the coordinates tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .digits import number

if TYPE_CHECKING:
    from ..mechanism import Mechanism

_OPEN = 1e-9  # [m | rad]: what a closure may leave open
_POOR = 1e6  # condition from which on digits are lost


class Closing(NamedTuple):
    """The closures of a mechanism where it is assembled."""

    joints: int
    conditions: int
    independent: int
    redundant: list[str]
    residual: float
    condition: float

    @property
    def freedoms(self) -> int:
        """How many coordinates it takes."""
        return self.joints - self.independent

    @property
    def doubts(self) -> dict[str, str]:
        """What is doubtful, a sentence by its code."""
        found = {}
        if self.redundant:
            found["redundant-closures"] = (
                f"{len(self.redundant)} of {self.conditions} conditions hold what others hold already "
                f"({', '.join(self.redundant)}), so the motion does not tell the forces there. Use closures that hold less."
            )
        if self.residual > _OPEN:
            found["open-closure"] = f"the closures stay open by {number(self.residual)} m or rad."
        if self.condition > _POOR:
            found["near-singular"] = f"the condition where it is assembled is {number(self.condition)}; choose other coordinates."
        return found

    @property
    def words(self) -> list[str]:
        """What was found, a sentence each."""
        rest = f", {len(self.redundant)} more are redundant" if self.redundant else ""
        counted = f"{self.joints} joints less {self.independent} independent conditions{rest}"
        met = f"{self.conditions} conditions are met to {number(self.residual, 2)} m or rad"
        return [
            f"{self.freedoms} freedom{'' if self.freedoms == 1 else 's'}: {counted}",
            f"{met}, with a condition of {number(self.condition, 3)}",
        ]


def closing(mechanism: Mechanism) -> Closing:
    """The closures at the seed."""
    from ..mechanism.numeric import rank_of

    rows = mechanism.rows
    F, J = mechanism.equations(mechanism.seed)
    left = np.abs(F[: len(rows)] - np.array([row.value for row in rows]))
    values = rank_of(J).singular_values
    smallest = values[mechanism.robot.n - 1] if len(values) >= mechanism.robot.n else 0.0
    return Closing(
        mechanism.robot.n,
        len(rows),
        rank_of(J[: len(rows)]).rank,
        _redundant(mechanism),
        float(left.max(initial=0.0)),
        float(values[0] / smallest) if smallest else np.inf,
    )


def _redundant(mechanism: Mechanism) -> list[str]:
    names = [f"{closure.name} {row.what}" for closure in mechanism.closures for row in closure.rows]
    return [names[k] for k in mechanism.plan.dependent if k < len(names)]
