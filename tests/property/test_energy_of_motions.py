"""Free motions keep their energy: mechanisms over ten seconds, and each method as its tolerance says."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.robots import fresh, without_friction

MECHANISMS = ["bricard", "crank_rocker", "parallelogram", "slider_crank"]
TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def loss(system, motion) -> float:
    """The largest change of the total energy, relative to the largest kinetic energy: the scale of what is exchanged."""
    at = system if motion.x is None else system.at(x=motion.x)
    return float(np.ptp(motion.energy) / dal.energy(at, motion.q, motion.qd).kinetic.max())


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_keep_theirs_through_their_dead_points(name):
    mechanism = dal.mechanisms.CATALOGUE[name]()
    motion = dal.simulate(mechanism, mechanism.q0, np.full(mechanism.n, 0.2), t_end=10.0, **TIGHT)
    assert motion.success
    assert loss(mechanism, motion) < 1e-9
    assert motion.residual.max() < 1e-10


@pytest.mark.parametrize(("method", "factor"), [("dop853", 10.0), ("adams", 100.0), ("rosenbrock", 100.0)])
def test_each_method_keeps_it_as_its_tolerance_says(method, factor):
    """A hundred steps or so, each off by the tolerance at most; an estimate of order 8 is more cautious than the others."""
    robot = without_friction(fresh("two_link_planar"))
    for tolerance in (1e-6, 1e-8, 1e-10):
        motion = dal.simulate(robot, [0.3, 0.7], [0.2, 0.2], t_end=2.0, method=method, rtol=tolerance, atol=tolerance)
        assert loss(robot, motion) < factor * tolerance
