"""What a controller commands: torques, or something that torques follow from all the time, such as the voltages of motors.

Where a controller is sampled, its command is held, and what is between command and torque goes on continuously.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class CommandWords(NamedTuple):
    """How a command is called: the option with its function, one number, what has one each, and what is held in results."""

    option: str = "tau"
    noun: str = "torque"
    owners: str = "coordinates"
    held: str = "held"


TORQUE = CommandWords()


class Actuators(NamedTuple):
    """What is between a command and the torques: each of `names` takes one of its numbers.

    `torques` is a function of (t, q, qd, p) over scalars, as are the rates of further states beside it; both find the command in
    p, under the name that holds it.
    """

    command: CommandWords
    names: tuple[str, ...]
    torques: Callable[..., Any]


class Commanded(NamedTuple):
    """A controller and what it commands, in the place of `tau`."""

    controller: Callable[..., Any]
    actuators: Actuators


def split(tau: Any) -> tuple[Any, Actuators | None]:
    """What stands in the place of `tau`, and what is between it and the torques, if anything is."""
    return (tau.controller, tau.actuators) if isinstance(tau, Commanded) else (tau, None)


__all__ = ["TORQUE", "Actuators", "CommandWords", "Commanded", "split"]
