"""The Coriolis matrix of a mechanism, made from that of its tree: still that of Christoffel symbols, and short."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.engine import program_of, request_of, with_solved

NAMES = ("four_bar", "delta", "six_freedom_planar")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_is_made_of_christoffel_symbols(name, rng):
    mechanism = dal.mechanisms.CATALOGUE[name]()
    q, qd = mechanism.q0 + 0.05, rng.normal(size=mechanism.n)
    found = dal.coriolis_matrix(mechanism, q, qd)
    assert found == pytest.approx(dal.christoffel(mechanism, q) @ qd, rel=1e-10, abs=1e-11 * np.abs(found).max())


@pytest.mark.parametrize("name", NAMES)
def test_the_rate_of_the_mass_matrix_is_its_symmetric_part(name, rng):
    mechanism = dal.mechanisms.CATALOGUE[name]()
    q, qd, h = mechanism.q0 + 0.05, rng.normal(size=mechanism.n), 1e-5
    found = dal.coriolis_matrix(mechanism, q, qd)
    rate = (dal.mass_matrix(mechanism, q + h * qd) - dal.mass_matrix(mechanism, q - h * qd)) / (2 * h)
    assert found + found.T == pytest.approx(rate, rel=1e-7, abs=1e-7 * np.abs(found).max())  # differences keep eight digits


def test_it_takes_a_quarter_of_what_the_symbols_take():
    mechanism = dal.mechanisms.stewart()
    sizes = [
        len(program_of(with_solved(mechanism, mechanism.recipe(request_of(name))), name).nodes)
        for name in ("coriolis_matrix", "christoffel")
    ]
    assert sizes[0] < sizes[1] / 4
