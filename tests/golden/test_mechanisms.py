"""Golden mechanisms: the library's functions in the chosen coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.golden.mechanism_samples import mechanism_of
from tests.golden.reading import golden
from tests.robots import relative_error


@pytest.fixture(scope="module")
def four_bar():
    case = golden("mechanism_fourbar")
    return case, mechanism_of(case["input"]["mechanism"], case["input"]["x0"], "four-bar")


def test_the_four_bar_of_the_golden_files(four_bar):
    case, mechanism = four_bar
    q, qd, qdd = (np.array(case["input"][name]) for name in ("y", "yd", "ydd"))
    found = {
        "M": dal.mass_matrix(mechanism, q),
        "christoffel": dal.christoffel(mechanism, q),
        "g": dal.gravity_torque(mechanism, q),
        "tau": dal.inverse_dynamics(mechanism, q, qd, qdd),
    }
    for name, value in found.items():
        assert relative_error(value, case["expected"][name]) < case["tolerance"], name
    assert dal.forward_dynamics(mechanism, q, qd, found["tau"]) == pytest.approx(qdd, rel=1e-11)
