"""Motions as functions of time."""

from .profiles import Trajectory, duration_at, trapezoidal, triangular

__all__ = ["Trajectory", "duration_at", "trapezoidal", "triangular"]
