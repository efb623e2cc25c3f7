"""How dry friction and events enter a run: as they are, or smoothed where that cannot be, and not at all if there are none."""

from __future__ import annotations

from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem, Request
from ..errors import DalembertWarning, ModelError, ShapeError, tell
from ..wording import listed
from .dry_friction import Given, can_be_held, jumping_joints
from .events import Occasions

CODE = "friction-smoothed"
WIDTH = 1e-4  # rad/s or m/s


def friction_first(system: AnySystem, occasions: Occasions, given: Given = None) -> tuple[Any, Occasions | None]:
    """The system to integrate, and what to look for meanwhile; None where nothing can happen.

    Where other numbers than the model's own are `given` as parameters, levels of dry friction are among them.
    """
    jumping, asked = jumping_joints(system, given), occasions.asked
    if not jumping and not asked:
        return system, None
    why = _why_not(system, occasions) if jumping else None
    occasions = occasions if why is None else occasions.without_friction()
    if asked:
        _refuse_events(system, occasions, given)
    if why is None:
        return system, occasions
    if hasattr(system, "smoothed"):
        return _smooth(system, jumping, why), occasions if asked else None
    if asked:
        raise ModelError(f"events: the dry friction of {listed(jumping)} {why}. Smooth the robot beneath: robot.smoothed(1e-3).")
    return system, None  # its friction jumps; a motion that fails for it is told of


def _why_not(system: AnySystem, occasions: Occasions) -> str | None:
    """Why dry friction cannot be taken as it is; None if it can."""
    if not can_be_held(system, occasions.axes(system)):
        return f"acts in one of {len(occasions.names)} joints, too many to hold"
    return "acts at joints that are no coordinates" if occasions.friction(system) is None else None


def _refuse_events(system: AnySystem, occasions: Occasions, given: Given) -> None:
    changing = next((event.name for event in (*occasions.functions, *occasions.timed) if event.system is not None), None)
    if given is not None and changing is not None:
        raise ShapeError(
            f"event {changing!r}: another system from then on, but parameters are given, which would hold for that one too. "
            "Leave one of them out."
        )
    if not can_be_held(system, occasions.axes(system)):
        raise ModelError(
            f"events: {system.name!r} has {len(occasions.names)} joints with friction, stops or coordinates, too many to hold "
            "single ones. Integrate dal.forward_dynamics with scipy.integrate.solve_ivp instead."
        )


def _smooth(system: Any, jumping: list[str], why: str) -> Any:
    """The system with smooth friction, and a sentence that says so."""
    message = (
        f"simulate: the dry friction of {listed(jumping)} {why}, and was smoothed over {WIDTH:g} rad/s or m/s. "
        "Choose the width yourself: system.smoothed(width)."
    )
    tell(DalembertWarning(message, CODE))
    return engine.kept(system, Request("smoothed", (WIDTH,)), lambda: system.smoothed(WIDTH))


__all__ = ["friction_first"]
