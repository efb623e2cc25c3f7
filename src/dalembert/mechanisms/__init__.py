"""The catalogue of mechanisms: closed loops with a source beside each block of numbers.

    mechanism = mechanisms.crank_rocker()

Each function builds its mechanism once and returns the same frozen one afterwards. `CATALOGUE` maps names to these functions.
"""

from __future__ import annotations

from collections.abc import Callable

from ..mechanism import Mechanism
from ._arms import three_arms, two_arms
from ._bricard import bricard
from ._delta import delta, delta_rods
from ._five_bar import five_bar
from ._four_bar import crank_rocker, four_bar
from ._held import two_finger_hand, walking_machine
from ._hybrid import hybrid
from ._parallelogram import parallelogram
from ._planar_3rrr import planar_3rrr
from ._screw_press import screw_press
from ._six_freedom import six_freedom_planar
from ._six_joint_legs import stewart_six_joint_legs
from ._slider_crank import slider_crank, spatial_slider_crank
from ._stewart import stewart

CATALOGUE: dict[str, Callable[[], Mechanism]] = {
    "bricard": bricard,
    "crank_rocker": crank_rocker,
    "delta": delta,
    "delta_rods": delta_rods,
    "five_bar": five_bar,
    "four_bar": four_bar,
    "hybrid": hybrid,
    "parallelogram": parallelogram,
    "planar_3rrr": planar_3rrr,
    "screw_press": screw_press,
    "six_freedom_planar": six_freedom_planar,
    "slider_crank": slider_crank,
    "spatial_slider_crank": spatial_slider_crank,
    "stewart": stewart,
    "stewart_six_joint_legs": stewart_six_joint_legs,
    "three_arms": three_arms,
    "two_arms": two_arms,
    "two_finger_hand": two_finger_hand,
    "walking_machine": walking_machine,
}

__all__ = ["CATALOGUE", *CATALOGUE]
