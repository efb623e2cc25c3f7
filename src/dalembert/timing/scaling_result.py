"""What a trajectory is after its time is scaled."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..brief import brief
from ..checks import FloatArray
from ..errors import InfeasibleError
from ..trajectory import Motion


@dataclass(frozen=True, eq=False)
class ScaledTrajectory:
    """A trajectory in other time, or each of a batch.

    Attributes
    ----------
    factor : ndarray, shape (...)
        c of r = c t: how many times as fast it runs; NaN where nothing helps, and under a time law.
    duration : ndarray, shape (...)
        Of the scaled motion [s].
    t : ndarray, shape (..., K)
        Times of the samples in the scaled motion [s].
    r : ndarray, shape (K,)
        The same samples' times in the motion that was given [s].
    q, qd, qdd, tau : ndarray, shape (..., K, n)
        The scaled motion and its torques [N m | N], put together from parts of the given one.
    drives : tuple of str
        The driven joints: the coordinates, or others of a mechanism.
    drive_torques : ndarray, shape (..., K, drives)
        Their torques [N m | N]: `tau`, or those that share it so that the largest share of a limit is the least.
    joint, limit : ndarray of str, shape (...)
        Whose limit is used most, and which one: 'torque', 'velocity', or 'contact' of one that is about to slip.
    use : ndarray, shape (...)
        The share of that limit, 1 where it binds.
    binding_time : ndarray, shape (...)
        When [s], in the scaled motion.
    feasible : ndarray of bool, shape (...)
        Whether the scaled motion keeps the limits.
    messages : tuple of str
        A sentence for each trajectory; empty where all is well.
    """

    factor: FloatArray
    duration: FloatArray
    t: FloatArray
    r: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    drives: tuple[str, ...]
    drive_torques: FloatArray
    joint: Any
    limit: Any
    use: FloatArray
    binding_time: FloatArray
    feasible: Any
    messages: tuple[str, ...]
    source: Motion | None
    law: Motion | None

    def __repr__(self) -> str:
        return brief(
            self,
            "r",
            "q",
            "qd",
            "qdd",
            "drives",
            "drive_torques",
            "messages",
            "source",
            "law",
            "limit",
            "feasible",
            all_feasible=bool(np.all(self.feasible)),
        )

    @property
    def motion(self) -> Motion:
        """The scaled motion."""
        if self.source is None:
            raise InfeasibleError(
                "motion: samples were scaled, which are no motion between them. Give a Motion to scale_trajectory."
            )
        if self.law is not None:
            return self.source.timed(self.law)
        if self.factor.ndim or not np.isfinite(self.factor):
            raise InfeasibleError("motion: one trajectory that can be scaled is expected; a batch has a factor for each.")
        return self.source.stretched(1.0 / float(self.factor))

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data, in SI units."""
        left_out = ("source", "law", "messages")
        numbers = (field.name for field in fields(self) if field.name not in left_out)
        return {name: np.asarray(getattr(self, name)).tolist() for name in numbers} | {"messages": list(self.messages)}


__all__ = ["ScaledTrajectory"]
