"""Influence coefficients and link motion as users call them; the formulation's terms and its massless links."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from tests.robots import FRICTIONLESS, fresh, random_robot, relative_error

TOLERANCE = 1e-12
pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def arm() -> dal.Robot:
    return random_robot(np.random.default_rng(3), 4)


def test_the_first_order_is_the_jacobian_and_the_second_gives_its_rate(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, 5, arm.n))
    found = dal.influence(arm, q)
    assert relative_error(found.G, dal.jacobian(arm, q)) < TOLERANCE
    rate = np.einsum("bm,bcmn->bcn", qd, found.H)
    assert relative_error(rate, dal.jacobian_dot(arm, q, qd)) < TOLERANCE
    assert found.D is None


def test_rows_are_those_of_the_kind_asked_for(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, point = rng.normal(size=arm.n), rng.normal(size=3)
    link = arm.parameters.links[-1].name
    whole = dal.influence(arm, q, link, order=3, point=point)
    parts = [dal.influence(arm, q, link, order=3, point=point, kind=kind) for kind in ("point", "rotation")]
    n = arm.n
    assert [x.shape for x in whole] == [(6, n), (6, n, n), (6, n, n, n)]
    for k, array in enumerate(whole):
        assert np.array_equal(array, np.concatenate([part[k] for part in parts]))
    assert relative_error(whole.G, dal.jacobian(arm, q, link, point=point)) < TOLERANCE


def test_batches_broadcast_over_configurations_and_points(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, points = rng.normal(size=(4, 1, arm.n)), rng.normal(size=(3, 3))
    found = dal.influence(arm, q, point=points)
    assert found.G.shape == (4, 3, 6, arm.n)
    assert np.allclose(found.H[2, 1], dal.influence(arm, q[2, 0], point=points[1]).H, atol=1e-14)
    motion = dal.link_motion(arm, q, q, q, qddd=q, point=points)
    assert [x.shape for x in motion] == [(4, 3, 6)] * 3


def test_motion_is_given_as_far_as_the_joints_are(arm: dal.Robot, rng: np.random.Generator) -> None:
    q, qd, qdd, qddd = rng.normal(size=(4, arm.n))
    first, second = dal.link_motion(arm, q, qd), dal.link_motion(arm, q, qd, qdd)
    third = dal.link_motion(arm, q, qd, qdd, qddd=qddd)
    assert (first.acceleration, first.jerk, second.jerk) == (None, None, None)
    assert np.array_equal(first.velocity, third.velocity)
    assert np.array_equal(second.acceleration, third.acceleration)
    assert relative_error(first.velocity, dal.jacobian(arm, q) @ qd) < TOLERANCE
    wanted = dal.jacobian(arm, q) @ qdd + dal.jacobian_dot(arm, q, qd) @ qd
    assert relative_error(second.acceleration, wanted) < TOLERANCE


def test_a_circling_point_has_the_motion_of_the_textbook() -> None:
    """At rate ω on radius r: speed ω r, acceleration −ω² r, jerk −ω³ r along the speed."""
    arm = dal.from_dh([{"mass": 1.0, "inertia": (1, 1, 1)}], convention="standard")
    w, r = 3.0, 0.5
    motion = dal.link_motion(arm, [0.0], [w], [0.0], qddd=[0.0], point=[r, 0, 0])
    assert motion.velocity == pytest.approx([0, w * r, 0, 0, 0, w])
    assert motion.acceleration == pytest.approx([-(w**2) * r, 0, 0, 0, 0, 0])
    assert motion.jerk == pytest.approx([0, -(w**3) * r, 0, 0, 0, 0])


def test_compiled_coefficients_are_the_interpreted_ones(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    arm = random_robot(np.random.default_rng(3), 3)
    q, qd = rng.normal(size=(2, 7, 3))
    slow = dal.influence(arm, q, order=3), dal.link_motion(arm, q, qd, qd, qddd=qd)
    monkeypatch.delenv("DALEMBERT_BACKEND")
    fresh = arm.replace()
    fast = dal.influence(fresh, q, order=3), dal.link_motion(fresh, q, qd, qd, qddd=qd)
    for a, b in zip(slow, fast, strict=True):
        assert all(relative_error(x, y) < TOLERANCE for x, y in zip(a, b, strict=True))


def test_mistakes_are_answered_by_a_sentence(arm: dal.Robot) -> None:
    q = np.zeros(arm.n)
    with pytest.raises(dal.DalembertError, match="order: 4 found; 1, 2 or 3 expected"):
        dal.influence(arm, q, order=4)
    with pytest.raises(dal.DalembertError, match="kind: 'points' is not known; did you mean 'point'"):
        dal.influence(arm, q, kind="points")
    with pytest.raises(dal.DalembertError, match="link: 'elbow' is not known"):
        dal.influence(arm, q, "elbow")
    with pytest.raises(dal.DalembertError, match="found as options; names are expected"):
        dal.influence(arm, q, ["link1"])
    with pytest.raises(dal.DalembertError, match="qdd: nothing found, but the jerk from qddd needs it"):
        dal.link_motion(arm, q, q, qddd=q)
    with pytest.raises(dal.DalembertError, match=r"point: shape \(2,\) found, \(..., 3\) expected"):
        dal.link_motion(arm, q, q, point=[0, 0])
    with pytest.raises(dal.DalembertError, match="a Robot is expected"):
        dal.influence("panda", q)


def test_the_terms_are_the_model(rng: np.random.Generator) -> None:
    """τ = I q̈ + q̇ᵀ P q̇ − T^L, and I, P from the coefficients of the links, full rotors and couplings included."""
    arm = random_robot(np.random.default_rng(8), 5, FRICTIONLESS)
    q, qd, qdd = rng.normal(size=(3, 5))
    found = dal.terms(arm, q, formulation="influence")
    m, n = len(engine.tree(arm).segments), arm.n
    shapes = {"I": (n, n), "P": (n, n, n), "G_com": (m, 3, n), "H_com": (m, 3, n, n)}
    shapes |= {"G_rot": (m, 3, n), "H_rot": (m, 3, n, n), "T_gravity": (n,)}
    assert {name: array.shape for name, array in found.items()} == shapes
    tau = found["I"] @ qdd + np.einsum("m,pmn,n->p", qd, found["P"], qd) - found["T_gravity"]
    assert relative_error(tau, dal.inverse_dynamics(arm, q, qd, qdd)) < TOLERANCE
    assert relative_error(found["T_gravity"], -dal.gravity_torque(arm, q)) < TOLERANCE


def test_terms_of_the_centres_of_mass_are_those_of_the_points(rng: np.random.Generator) -> None:
    arm = fresh("pelican")
    q = rng.normal(size=2)
    found = dal.terms(arm, q, formulation="influence", names=["G_com", "H_com", "G_rot", "H_rot"])
    for k, link in enumerate(arm.parameters.links[1:]):
        wanted = dal.influence(arm, q, link.name, point=link.com)
        for letter, array in (("G", wanted.G), ("H", wanted.H)):
            both = np.concatenate([found[f"{letter}_com"][k], found[f"{letter}_rot"][k]])
            assert relative_error(both, array) < TOLERANCE


def test_links_without_mass_do_not_divide_by_zero(rng: np.random.Generator) -> None:
    """One without anything, one that turns a moment of inertia alone."""
    rows = [{"a": 0.5}, {"a": 0.4, "inertia": (0.1, 0.2, 0.25)}, {"a": 0.3, "alpha": 1.0, "mass": 2.0, "com": (0.1, 0, 0)}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)
        arm = dal.from_dh(rows, convention="modified", gravity=(0, -9.81, 0))
    q, qd, qdd = rng.normal(size=(3, 3))
    found = dal.inverse_dynamics(arm, q, qd, qdd, formulation="influence")
    assert relative_error(found, dal.inverse_dynamics(arm, q, qd, qdd)) < TOLERANCE
    terms = dal.terms(arm, q, formulation="influence", names=["G_com", "H_com"])
    assert relative_error(terms["G_com"][0], dal.influence(arm, q, "link1", kind="point").G) < TOLERANCE  # its frame's origin
    assert np.isfinite(terms["H_com"]).all()


def test_a_term_asked_for_twice_is_given_once() -> None:
    found = dal.terms(fresh("two_link_planar"), [0.1, 0.2], formulation="influence", names=["I", "I"])
    assert list(found) == ["I"]
