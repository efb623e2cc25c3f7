"""Transfer of generalised coordinates [Freeman, Ch. III, IV, App. A]: motion, dynamic model and state model in other coordinates.

A map from old coordinates q to new ones u is what `dal.influence` returns for a link: its influence coefficients G, H, D, arrays
with leading batch axes. Everything here is algebra on such arrays, so u may be anything: coordinates of the tool, angles of
links, a function of one's own, closures of a loop beside the inputs that drive it.

>>> import dalembert as dal
>>> robot, q = dal.robots.two_link_planar(), [0.3, 0.5]
>>> tip = dal.transfer.rows(dal.influence(robot, q), [0, 1])
>>> dal.transfer.transferred(dal.transfer.open_chain(robot, q), tip)
DynamicModel(I: (2, 2), P: (2, 2, 2), T: (2,))
"""

from .coefficients import Rates, compose, dependent, inverse, linear, rates, rows, stack
from .coordinate_map import CoordinateMap
from .models import DynamicModel, open_chain, platform, reduced, transferred
from .products import congruent, dot, quadratic, symmetric
from .ranks import RankAnalysis, rank
from .redundancy import null_projector, redundant, resolve, right_inverse
from .state_models import RateDerivatives, StateModel, rate_derivatives, transferred_state

__all__ = [
    "CoordinateMap",
    "DynamicModel",
    "RankAnalysis",
    "RateDerivatives",
    "Rates",
    "StateModel",
    "compose",
    "congruent",
    "dependent",
    "dot",
    "inverse",
    "linear",
    "null_projector",
    "open_chain",
    "platform",
    "quadratic",
    "rank",
    "rate_derivatives",
    "rates",
    "reduced",
    "redundant",
    "resolve",
    "right_inverse",
    "rows",
    "stack",
    "symmetric",
    "transferred",
    "transferred_state",
]
