"""Four-bar linkages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..mechanism import Mechanism
from ..model import Friction, Link, Robot
from ..model.closures import Closure
from ._planar import DOWN, Bar, hang, uniform


@cache
def four_bar() -> Mechanism:
    """A planar four-bar linkage with friction, no bar of which turns fully; coordinate: the first bar's angle.

    The numbers are those of the golden sample `tests/golden/mechanism_fourbar.json`: bars of 0.3, 0.7 and 0.5 m.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.inverse_dynamics(dal.mechanisms.four_bar(), [1.2], [1.5], [-0.7]).round(6)
    array([2.543877])
    """
    bars = [
        Bar("crank", "joint1", (0, 0), 0.9, (0.5516, 0.0324), 0.0368),
        Bar("coupler", "joint2", (0.3, 0), 2.7284, (0.5389, 0.0493), 0.0318),
        Bar("rocker", "joint3", (0.7, 0), 2.448, (0.5238, 0.0424), 0.0995),
    ]
    friction = {"joint1": Friction(0.3424, 0.1392), "joint2": Friction(0.0546, 0.1037), "joint3": Friction(0.4611, 0.0487)}
    return _closed("four_bar", bars, friction, end=0.5, pivot=(0.9346, 0.0862), guess=(1.2, -0.8, -1.6))


@cache
def crank_rocker() -> Mechanism:
    """A four-bar linkage whose crank turns fully: bars of 0.2, 0.5, 0.4 m on pivots 0.5 m apart; coordinate: the crank.

    Shortest and longest bar together are shorter than the other two (Grashof), and the shortest is the crank. The bars are
    uniform rods of 2 kg per metre; the numbers are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.mechanisms.crank_rocker(), [[0.0], [3.0]]).shape
    (2, 1)
    """
    lengths = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}
    starts = (0.0, 0.2, 0.5)
    bars = [
        uniform(name, f"joint{k}", (start, 0.0), 2 * length, length)
        for k, ((name, length), start) in enumerate(zip(lengths.items(), starts, strict=True), 1)
    ]
    return _closed("crank_rocker", bars, {}, end=0.4, pivot=(0.5, 0.0), guess=(1.0, -0.4, -2.0))


def _closed(
    name: str,
    bars: Sequence[Bar],
    friction: dict[str, Friction],
    *,
    end: float,
    pivot: tuple[float, float],
    guess: tuple[float, ...],
) -> Mechanism:
    """Three bars in a row, the end of the last pinned to the ground."""
    links, joints = hang("ground", bars)
    tree = Robot.from_parts(name, [Link("ground"), *links], joints, friction=friction, gravity=DOWN)
    pin = Closure("pin", "directions", (("rocker", (end, 0, 0)), ("world", (*pivot, 0))), directions=("x", "y"))
    return Mechanism(name, tree, (pin,), ("joint1",), guess)
