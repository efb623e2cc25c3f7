"""Slider-cranks, in the plane and in space."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..mechanism import Mechanism
from ..model import Joint, Link, Robot
from ..model.closures import Closure
from ..model.position_functions import JointSum
from ._planar import DOWN, hang, shift, uniform

CRANK, ROD = 0.05, 0.15  # [m] of the planar one
ARM, COUPLER, OFFSET = 0.1, 0.4, 0.15  # [m] of the one in space


@cache
def slider_crank(coordinate: str = "crank") -> Mechanism:
    """A slider-crank in the plane: crank of 0.05 m, rod of 0.15 m, a slider along x; the numbers are ours.

    Parameters
    ----------
    coordinate : {'crank', 'rod', 'slide'}
        The joint in whose position it is described; at its dead points 'slide' does not tell where it is.

    Examples
    --------
    >>> import dalembert as dal
    >>> float(dal.mechanisms.slider_crank().assemble([0.0]).x[2].round(6))
    0.2
    """
    bars = [uniform("crank", "crank", (0, 0), 0.4, CRANK), uniform("rod", "rod", (CRANK, 0), 0.6, ROD)]
    links, joints = hang("ground", bars)
    joints.append(Joint("slide", "prismatic", "ground", "slider", axis=np.array([1.0, 0, 0])))
    slider = Link("slider", 0.8, inertia=np.diag([4e-4, 4e-4, 4e-4]))
    tree = Robot.from_parts("slider_crank", [Link("ground"), *links, slider], joints, gravity=DOWN)
    pin = Closure("wrist_pin", "directions", ("slider", ("rod", (ROD, 0, 0))), directions=("x", "y"))
    return Mechanism("slider_crank", tree, (pin,), (coordinate,), (0.8, -1.0, 0.18))


@cache
def spatial_slider_crank(*, locked: bool = False) -> Mechanism:
    """A slider-crank in space, whose coupler may spin about itself; coordinates: crank and spin [Freeman, Appendix D].

    The crank turns about x; a coupler with spherical joints at both ends drives a slider along z. The document gives no
    dimensions; the numbers are ours: crank 0.1 m, coupler 0.4 m, and the slider's line 0.15 m beside the plane of the crank.

    The coupler's spin about its own axis, θ5 of the document, moves nothing else: an idle freedom. It has to be in every set of
    coordinates, as the document says, and so it is the second coordinate here. The other choice is to hold it.

    Parameters
    ----------
    locked : bool
        Hold the spin at zero by a further closure, as a universal joint at the crank does. The crank is the only coordinate then.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.mechanisms.spatial_slider_crank().joint_names
    ('crank', 'spin')
    >>> dal.mechanisms.spatial_slider_crank(locked=True).joint_names
    ('crank',)
    """
    # In the coupler's frame z points to the slider: it swings about y and x, and spins about z.
    axes = {"swing": ((0, 1, 0), "coupler_swing"), "lift": ((1, 0, 0), "coupler_lift"), "spin": ((0, 0, 1), "coupler")}
    joints = [Joint("crank", "continuous", "ground", "crank", axis=np.array([1.0, 0, 0]))]
    parent, origin = "crank", shift(0, ARM, 0)
    for name, (axis, child) in axes.items():
        joints.append(Joint(name, "continuous", parent, child, origin=origin, axis=np.array(axis, dtype=float)))
        parent, origin = child, np.eye(4)
    joints.append(Joint("slide", "prismatic", "ground", "slider", origin=shift(OFFSET, 0, 0), axis=np.array([0, 0, 1.0])))
    tree = Robot.from_parts("spatial_slider_crank", _spatial_links(), joints, gravity=DOWN)
    closures = [Closure("ball", "spherical", ("slider", ("coupler", (0, 0, COUPLER))))]
    if locked:
        closures.append(Closure("no_spin", "function", functions=((JointSum({"spin": 1.0}), 0.0),)))
    coordinates = ("crank",) if locked else ("crank", "spin")
    return Mechanism("spatial_slider_crank", tree, closures, coordinates, (0.7, 0.4, 0.0, 0.0, 0.4))


def _spatial_links() -> list[Link]:
    """Crank and coupler as rods (mass [kg], moments about the centre [kg m²]), the slider as a block."""
    crank = Link("crank", 0.5, np.array([0, ARM / 2, 0]), np.diag([1, 0.05, 1]) * 0.5 * ARM**2 / 12)
    coupler = Link("coupler", 0.8, np.array([0, 0, COUPLER / 2]), np.diag([1, 1, 0.02]) * 0.8 * COUPLER**2 / 12)
    slider = Link("slider", 1.2, inertia=np.diag([1e-3, 1e-3, 1e-3]))
    frames = [Link(name, virtual=True) for name in ("coupler_swing", "coupler_lift")]
    return [Link("ground"), crank, *frames, coupler, slider]
