"""Splines through points against SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from dalembert.timing.cubic_splines import cubics_through


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9, 300])
def test_splines_are_those_of_scipy(count):
    rng = np.random.default_rng(count)
    knots = np.cumsum(rng.uniform(0.01, 1.0, size=(3, count)), axis=1)
    points = rng.normal(size=(3, count, 2))
    found = cubics_through(knots, points)
    for row in range(3):
        expected = np.moveaxis(CubicSpline(knots[row], points[row]).c[::-1], 0, 1)
        powers = np.diff(knots[row])[:, None, None] ** np.arange(4)[:, None]
        assert (np.abs(found[row] - expected) * powers).max() <= 1e-12 * (np.abs(expected) * powers).max()
