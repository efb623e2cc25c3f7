"""The catalogue: published arms with a source beside each block of numbers.

    robot = robots.puma560()

Each function builds its arm once and returns the same frozen robot afterwards. `CATALOGUE` maps names to these functions;
`chain(n)` makes a chain of any length for benchmarks and tests.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model import Robot
from ._chain import chain
from ._four_joint_planar import four_joint_planar
from ._panda import panda
from ._pelican import pelican
from ._pendulum import pendulum
from ._pr_arm import pr_arm
from ._puma560 import puma560
from ._scara import scara
from ._stanford import stanford
from ._two_link_cartesian import two_link_cartesian
from ._two_link_planar import two_link_planar
from ._ur5 import ur5
from ._ur10 import ur10

CATALOGUE: dict[str, Callable[[], Robot]] = {
    "four_joint_planar": four_joint_planar,
    "panda": panda,
    "pelican": pelican,
    "pendulum": pendulum,
    "pr_arm": pr_arm,
    "puma560": puma560,
    "scara": scara,
    "stanford": stanford,
    "two_link_cartesian": two_link_cartesian,
    "two_link_planar": two_link_planar,
    "ur10": ur10,
    "ur5": ur5,
}

__all__ = ["CATALOGUE", "chain", *CATALOGUE]
