"""Identities of random mechanisms: random trees with all that they can carry, closed by every type of closure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dalembert as dal
from tests.mechanism_cases import GENERIC, generic, well
from tests.mechanism_oracle import Oracle
from tests.robots import relative_error, seeds

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-8  # conditions up to 200 where it is assembled, and some times that nearby


@st.composite
def mechanisms(draw: st.DrawFn) -> dal.Mechanism:
    """Random ones that are well conditioned where they are assembled."""
    found = generic(draw(st.sampled_from(sorted(GENERIC))), draw(seeds), ground=draw(st.booleans()))
    assume(found is not None and well(found))
    return found


@settings(max_examples=12)
@given(mechanisms(), seeds)
def test_identities(mechanism: dal.Mechanism, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = mechanism.q0 + rng.uniform(-0.01, 0.01, mechanism.n)
    qd, qdd = rng.uniform(-1.0, 1.0, (2, mechanism.n))
    x = mechanism.assemble(q).x
    assume(np.isfinite(x).all() and np.linalg.cond(mechanism.equations(x)[1]) < 2000)
    oracle = Oracle(mechanism)
    assert oracle.open_by(q, x) < 1e-10
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    assert relative_error(tau, oracle.inverse(x, qd, qdd).tau) < TOLERANCE
    assert relative_error(dal.forward_dynamics(mechanism, q, qd, tau), qdd) < TOLERANCE
    found = dal.evaluate(mechanism, ["M", "h", "g", "friction", "kinetic"], q, qd)
    assert relative_error(found["M"] @ qdd + found["h"] + found["friction"], tau) < TOLERANCE
    assert relative_error(found["kinetic"], qd @ found["M"] @ qd / 2) < TOLERANCE
    assert np.linalg.eigvalsh(found["M"]).min() > 0
