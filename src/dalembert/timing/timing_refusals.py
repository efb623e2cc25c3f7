"""Sentences for what cannot be timed: which joint, where along the path, what is lacking, and what to try."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import DalembertWarning, InfeasibleError, tell
from ..wording import listed
from .drive_motors import strongest
from .fastest_profile import Still
from .limit_rows import Limit, RowMaker, TimingLimits

CODE = "timing-infeasible"


def at_rest(maker: RowMaker, still: Still, s: float, end: float, q: FloatArray) -> str:
    """Gravity and dry friction alone are too much."""
    kind, name = maker.names.kinds[still.row], maker.names.names[still.row]
    if kind == "torque" and maker.drives is not None:
        return drives_at_rest(maker.limits, maker.drives.names[still.row], still.needed / still.allowed, _place(s, end, q))
    limit = limit_of(maker.limits, kind)
    unit = limit.units[limit.names.index(name)]
    who = f"joint {name!r}" if kind in ("torque", "acceleration", "power") else f"motor {name!r}"
    return (
        f"{who}: at {_place(s, end, q)} gravity and dry friction alone need a {kind} of {still.needed:.4g} {unit}, however slow "
        f"the motion is, but the limit is {still.allowed:.4g} {unit}. Raise the limit, take load off, or lead the path elsewhere."
    )


def drives_at_rest(limits: TimingLimits, names: tuple[str, ...], factor: float, place: str) -> str:
    """The same for drives that share torques, or for one of them."""
    limit = limit_of(limits, "torque")
    if limits.of_drives is not None:
        limit = replace(limit, size=strongest(limits.of_drives, limit.size))
    touching = [name for name in names if name not in limit.names]
    if touching:
        pushing = listed(name for name in names if name in limit.names)
        within, noun = f" within the limits of {pushing}" if pushing else "", "contact" if len(touching) == 1 else "contacts"
        return (
            f"{noun} {listed(touching)}: at {place} gravity and dry friction alone cannot be held"
            f"{within}, whichever way the drives share them and however slow the motion is. Raise friction or limits, take load "
            "off, or lead the path elsewhere."
        )
    have = listed(f"{limit.size[k]:.4g} {limit.units[k]}" for k in map(limit.names.index, names))
    one = len(names) == 1
    who, whose = (f"drive {names[0]!r}", "its largest torque") if one else (f"drives {listed(names)}", "their largest torques")
    however = "however slow the motion is" if one else "whichever way they share them and however slow the motion is"
    return (
        f"{who}: at {place} gravity and dry friction alone need {factor:.4g} times {whose} ({have}), {however}. Raise the "
        "limits, take load off, or lead the path elsewhere."
    )


def still_too_much(name: str, needed: float, limit: float, unit: str, r: float, q: FloatArray) -> str:
    """The same along a trajectory."""
    return (
        f"joint {name!r}: at {instant(r, q)} gravity and dry friction alone need {needed:.4g} "
        f"{unit}, however slow the motion is, but the limit is {limit:.4g} {unit}. Raise the limit, or take load off."
    )


def instant(r: float, q: FloatArray) -> str:
    """When along a trajectory, and where."""
    return f"{r:.4g} s, q = {checks.describe(np.round(q, 4))},"


def limit_of(limits: TimingLimits, kind: str) -> Limit:
    """The limit of a kind, by the word that messages use."""
    if kind == "torque" and limits.drives is not None:
        return limits.drives
    own = limits if limits.of_drives is None or kind in ("torque", "velocity", "acceleration") else limits.of_drives
    found: Limit | None = getattr(own, "speed" if kind == "motor speed" else kind)
    assert found is not None
    return found


def beyond_joint_limit(name: str, value: float, bound: float, unit: str, s: float, end: float) -> str:
    """The path itself leaves the range of a joint."""
    return (
        f"joint {name!r}: at s = {s:.4g} of {end:.4g} the path leads to {value:.4g} {unit}, beyond the joint's limit of "
        f"{bound:.4g} {unit}; a timing does not change the path. Give a path within the limits."
    )


def no_positions(s: float, end: float, q: FloatArray) -> str:
    """A mechanism cannot be assembled along the path."""
    return _unassembled("path", _place(s, end, q))


def no_positions_at(r: float, q: FloatArray) -> str:
    """Nor along a trajectory."""
    return _unassembled("motion", instant(r, q))


def _unassembled(way: str, place: str) -> str:
    return f"{way}: at {place} the mechanism has no positions, since its closures cannot be met there. Lead the {way} elsewhere."


def limit_words(maker: RowMaker, row: int) -> str:
    """What a row of the timing is about, or a speed behind the rows."""
    kinds, names, *_ = maker.names
    if row >= len(kinds):
        kind, name = maker.speed_names[row - len(kinds)]
        return f"{kind} of {name!r}"
    if kinds[row] == "torque" and maker.drives is not None:
        return f"torque of {listed(maker.drives.names[row])}"
    return f"{kinds[row]} of {names[row]!r}"


def in_use(maker: RowMaker, use: FloatArray) -> str:
    """The limit that is used most, of the shares of an interval."""
    row = int(np.argmax(use))
    return f"the {limit_words(maker, row)} uses {100 * float(use[row]):.4g} % of its limit there"


def no_way_on(s: float, end: float, q: FloatArray, used: str) -> str:
    """The profile stands still inside of the path."""
    return (
        f"path: at {_place(s, end, q)} no speed was found at which the motion could go on within the limits; {used}. Use more "
        "intervals, or lead the path elsewhere."
    )


def not_within(what: str, times: float, s: float, end: float, q: FloatArray) -> str:
    """A limit that is exceeded after all."""
    return (
        f"{what}: at {_place(s, end, q)} no timing was found that keeps it within its limit, of which {times:.4g} times would be "
        "used. Use more intervals, or begin and end at rest, so that the motion can be slowed as a whole."
    )


def too_fast_at_ends(which: str, found: float, most: float, used: str = "") -> str:
    """The speed asked for at an end cannot be had."""
    return (
        f"end_speeds: a path speed of {found:.4g} found at the {which}, but within the limits it is {most:.4g} there at most"
        f"{'; ' * bool(used)}{used}. Give a smaller one, or 0 for rest."
    )


def no_smooth_timing(ends: FloatArray, intervals: int) -> str:
    """The programmes of jerk, torque rate and voltages with inductance have no solution."""
    if ends.any():
        return (
            f"end_speeds: path speeds of {ends[0]:.4g} and {ends[1]:.4g} found, with which no timing keeps the limits of jerk, "
            "torque rate or voltage beside the others. Give smaller ones, or 0 for rest."
        )
    return (
        f"jerk, torque_rate, motors: no timing was found within these limits on {intervals} intervals, though one exists that is "
        "slow enough; they may differ by too many orders of magnitude. Give more intervals, or limits nearer to each other."
    )


def _place(s: float, end: float, q: FloatArray) -> str:
    return f"s = {s:.4g} of {end:.4g}, q = {checks.describe(np.round(q, 4))},"


def refuse_or_warn(subject: str, messages: dict[int, str], batch: tuple[int, ...], count: int) -> None:
    """Raise for a single path; of a batch, say once how many rows failed, and why the first did."""
    if not messages:
        return
    row, message = next(iter(sorted(messages.items())))
    if not batch:
        raise InfeasibleError(f"{subject}: {message}")
    tell(DalembertWarning(f"{subject}: {len(messages)} of {count} have no timing; row {row}: {message}", CODE))


__all__ = [
    "CODE",
    "at_rest",
    "beyond_joint_limit",
    "no_smooth_timing",
    "not_within",
    "refuse_or_warn",
    "still_too_much",
    "too_fast_at_ends",
]
