"""What commands load: a robot, or a mechanism with its coordinates and the tree beneath."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np

from ..checks import FloatArray
from ..model import Robot

if TYPE_CHECKING:
    from ..dynamics.system import Coordinate
    from ..mechanism import Mechanism
    from ..model import Joint
    from ..model.position_functions import Chosen

Loaded: TypeAlias = Union[Robot, "Mechanism"]


def tree_of(loaded: Loaded) -> Robot:
    """The tree of links: a robot is one itself."""
    return loaded if isinstance(loaded, Robot) else loaded.robot


def coordinates_of(loaded: Loaded) -> tuple[Joint | Coordinate | Chosen, ...]:
    """What q consists of."""
    return tuple(loaded.structure.coordinates) if isinstance(loaded, Robot) else loaded.coordinates


def position_left_out(loaded: Loaded) -> FloatArray:
    """Where it stands if nothing is said: at zero, a mechanism where it was assembled."""
    return np.zeros(loaded.n) if isinstance(loaded, Robot) else loaded.q0


def has_friction(loaded: Loaded) -> bool:
    """Whether something brakes it."""
    return bool(tree_of(loaded).parameters.friction) or (not isinstance(loaded, Robot) and bool(loaded.dampers))


def noun_of(loaded: Loaded) -> str:
    """What q is made of, in words."""
    return "joint" if isinstance(loaded, Robot) else "coordinate"
