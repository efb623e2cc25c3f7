"""A planar platform on three legs of two links each."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..checks import FloatArray, choice
from ..mechanism import Mechanism
from ..model import Joint, Link, Tool
from ..model.closures import Closure
from ..model.position_functions import Chosen, JointSum, point_of
from ._planar import INCH, POUND_FORCE, shift, with_massless_links

# Vectors from the joints of each leg to the centre of the platform, in inches, recovered from Tables E-1 and E-2
# [Freeman, Appendix E].
VECTORS = (
    ((2.55, 1.475), (2.28, 0.0), (0.866, 0.5)),
    ((-2.55, 1.475), (-1.14, 1.975), (-0.866, 0.5)),
    ((0.0, -2.95), (-1.14, -1.975), (0.0, -1.0)),
)
MOMENTS = (1.0, 2.0, 3.0)  # of the base links about their joints, in lbf s² in [Freeman, Eq. E-2]
CENTRE = np.array(VECTORS[0][2]) * INCH  # of the platform, in its frame, which is at the third joint of leg 1
BASE = "base_joints"
PLATFORM = "platform"


@cache
def planar_3rrr(coordinates: str = BASE) -> Mechanism:
    """The platform on three legs of Tables E-1 and E-2, in its base joints or in those of its platform [Freeman, Appendix E].

    The numbers are those of the document, in inches and pounds of force there, in SI units here; without gravity. Only the
    base links have inertia, so that in the base joints the model is known: constant moments 1, 2, 3 lbf s² in and no velocity
    torques (E-2). Joints count from the printed posture, where all are zero.

    Parameters
    ----------
    coordinates : {'base_joints', 'platform'}
        'base_joints': `leg1_joint1`, `leg2_joint1`, `leg3_joint1`; 'platform': x and y of its centre and its angle.

    Examples
    --------
    >>> import dalembert as dal
    >>> inch_pound = 0.0254 * 4.4482216152605  # N m
    >>> (dal.mass_matrix(dal.mechanisms.planar_3rrr(), [0.1, -0.1, 0.2]) / inch_pound).round(9).diagonal()
    array([1., 2., 3.])
    """
    choice("coordinates", coordinates, dict.fromkeys((BASE, PLATFORM)))
    links, joints, pins = [Link("ground")], [], []
    for leg in (1, 2, 3):
        origins = -np.array(VECTORS[leg - 1]) * INCH
        links += [Link(f"leg{leg}_link1", 1.0, inertia=_moment(leg)), Link(f"leg{leg}_link2", virtual=True)]
        joints += [_turning(leg, 1, "ground", origins[0]), _turning(leg, 2, f"leg{leg}_link1", origins[1] - origins[0])]
        if leg == 1:  # it carries the platform; the others are pinned to it
            joints.append(_turning(1, 3, "leg1_link2", origins[2] - origins[1], PLATFORM))
        else:
            ends = (f"leg{leg}_link2", (*(origins[2] - origins[1]), 0)), (PLATFORM, (*(origins[2] + CENTRE), 0))
            pins.append(Closure(f"leg{leg}_joint3", "directions", ends, directions=("x", "y")))
    links.append(Link(PLATFORM, virtual=True))
    tree = with_massless_links("planar_3rrr", links, joints, gravity=(0, 0, 0), tool=Tool(PLATFORM, shift(*CENTRE)))
    return Mechanism("planar_3rrr", tree, pins, _base_joints() if coordinates == BASE else _pose())


def _base_joints() -> tuple[str, ...]:
    return tuple(f"leg{leg}_joint1" for leg in (1, 2, 3))


def _pose() -> tuple[Chosen, ...]:
    angle = JointSum(dict.fromkeys(("leg1_joint1", "leg1_joint2", "leg1_joint3"), 1.0))
    return *point_of(PLATFORM, point=(*CENTRE, 0), axes="xy"), Chosen("platform_yaw", angle)


def _moment(leg: int) -> FloatArray:
    return np.diag([MOMENTS[leg - 1] * POUND_FORCE * INCH] * 3)


def _turning(leg: int, k: int, parent: str, at: FloatArray, child: str = "") -> Joint:
    return Joint(f"leg{leg}_joint{k}", "continuous", parent, child or f"leg{leg}_link{k}", origin=shift(*at))
