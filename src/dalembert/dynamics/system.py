"""What every function of the dynamics layer takes: a system with n generalised coordinates."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class System(Protocol):
    """A robot, or anything else with coordinates, a mass matrix and a place to keep its kernels."""

    name: str

    @property
    def n(self) -> int:
        """Number of generalised coordinates."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates, in order."""

    @property
    def kernels(self) -> dict[Any, Any]:
        """Compiled functions of this system."""
