"""Powers, currents and voltages of drives that are not the coordinates: rows in their torques and speeds.

The rows are those of coordinates (limit_rows), with the drives in place of the coordinates. As they are linear in the torques u,
what drives press against each other is in them through the same coefficients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..trajectory.motion import Rates
from .limit_rows import DriveLimits, Limit, LimitRows, RowBlock, current_rows, power_rows, voltage_rows
from .path_torques import PathTorques


class DriveMotors(NamedTuple):
    """Blocks of rows of motors, with kinds and names, and of powers, which come after all others."""

    blocks: tuple[RowBlock, ...]
    names: tuple[tuple[str, str], ...]
    power: RowBlock | None
    powers: tuple[str, ...]

    @staticmethod
    def of(limits: DriveLimits) -> DriveMotors:
        """Those that have limits."""
        blocks: list[RowBlock] = []
        names: list[tuple[str, str]] = []

        def add(block: RowBlock, limit: Limit) -> None:
            blocks.append(block)
            names.extend((limit.kind, name) for name in _limited(limit))

        train = limits.train
        if train is not None and limits.current is not None and limits.current.acts:
            add(current_rows(limits.current, train), limits.current)
        if train is not None and limits.voltage is not None and limits.voltage.acts:
            add(voltage_rows(limits.voltage, train, True), limits.voltage)
            if (train.column("efficiency") < 1.0).any():
                add(voltage_rows(limits.voltage, train, False), limits.voltage)
        power = power_rows(limits.power) if limits.power.acts else None
        return DriveMotors(tuple(blocks), tuple(names), power, _limited(limits.power))

    def rows(self, path: Rates, parts: PathTorques) -> list[LimitRows]:
        """Of motors, at places (..., m) of the drives, out of parts of their torques."""
        return [block(path, parts) for block in self.blocks]

    def by_torques(self, path: Rates) -> list[FloatArray]:
        """How each block of rows of motors follows from the torques, (..., rows, m)."""
        return [_by_torques(block, path) for block in self.blocks]

    def power_by_torques(self, path: Rates) -> FloatArray:
        """The same of powers."""
        assert self.power is not None
        return _by_torques(self.power, path)


def _limited(limit: Limit) -> tuple[str, ...]:
    return tuple(name for name, size in zip(limit.names, limit.size, strict=True) if np.isfinite(size))


def _by_torques(block: RowBlock, path: Rates) -> FloatArray:
    nothing = np.zeros_like(path[1])
    columns = []
    for one in np.eye(nothing.shape[-1]):
        parts = PathTorques(nothing + one, *[nothing] * 4)
        columns.append(block(path, parts).m)
    return np.stack(columns, axis=-1)


def strongest(limits: DriveLimits, torque: FloatArray) -> FloatArray:
    """The largest torques of drives at rest, as far as a motor of each tells: what is beyond cannot be held.

    Gears that lose may help to hold; what they take while a drive moves is not in it.
    """
    train = limits.train
    if train is None or not np.array_equal(train.matrix, np.diag(np.diag(train.matrix))):
        return torque
    gain = np.abs(np.diag(train.matrix)) * train.column("torque_constant") / train.column("efficiency")
    held = [torque]
    for limit, by in ((limits.current, np.ones(len(gain))), (limits.voltage, train.column("resistance"))):
        if limit is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                most = limit.size * gain / by
            held.append(np.where(np.isnan(most), np.inf, most))
    found: FloatArray = np.minimum.reduce(held)
    return found


__all__ = ["DriveMotors", "strongest"]
