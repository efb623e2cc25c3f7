"""Serial chains of any length."""

from __future__ import annotations

from functools import cache

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..model import Joint, Link, Robot, Tool
from ._shapes import cylinder

_LENGTH, _RADIUS = 0.25, 0.04  # [m] of each link
_MOST = 100_000  # joints; as many take some ten seconds to build
_FIRST_MASS, _LAST_MASS = 4.0, 1.0  # [kg] links grow lighter towards the tip, as those of arms do
_AXES = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))


def chain(n: int) -> Robot:
    """A chain of n revolute joints whose axes alternate between z and y, its links solid cylinders along x.

    For benchmarks and tests: each link differs from its neighbours and its centre of mass lies off the axes, so that nothing
    vanishes by symmetry.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.chain(3)
    Robot 'chain3': 3 joints (RRR), 4 links
    """
    return _chain(checks.whole_number("chain: number of joints", n, 1, _MOST))


@cache
def _chain(n: int) -> Robot:
    masses = np.linspace(_FIRST_MASS, _LAST_MASS, n)
    links = [Link("base"), *(_link(i, float(mass)) for i, mass in enumerate(masses))]
    joints = [_joint(i, links[i].name, links[i + 1].name) for i in range(n)]
    return Robot.from_parts(f"chain{n}", links, joints, tool=Tool(links[-1].name, _shift(_LENGTH)))


def _link(i: int, mass: float) -> Link:
    com = np.array([_LENGTH / 2, 0.1 * _RADIUS, -0.2 * _RADIUS])
    return Link(f"link{i + 1}", mass, com, cylinder(mass, _RADIUS, _LENGTH, "x"))


def _joint(i: int, parent: str, child: str) -> Joint:
    return Joint(f"joint{i + 1}", "revolute", parent, child, origin=_shift(_LENGTH if i else 0.0), axis=_AXES[i % 2])


def _shift(x: float) -> FloatArray:
    X = np.eye(4)
    X[0, 3] = x
    return X
