"""Ellipsoids of what drives can do: by sampling what they may do, and what is refused.

Interpreted, but for the PUMA in motion and a result that is written over: what options mean does not depend on the compiler.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, ShapeError, UnknownNameError
from tests.robots import fresh, relative_error

pytestmark = pytest.mark.usefixtures("interpreted")

EXACT = 1e-11  # the same products in another order
XYZ = ("x", "y", "z")


@pytest.fixture(scope="module")
def panda():
    return fresh("panda")


@pytest.fixture(scope="module")
def puma():
    return fresh("puma560")


@pytest.fixture(scope="module")
def arm():
    return fresh("two_link_planar")


def on_sphere(rng, count, n):
    u = rng.normal(size=(count, n))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def inside(found, x):
    """(x − c)ᵀ E⁻¹ (x − c)."""
    d = x - found.centre
    return np.einsum("ki,ij,kj->k", d, np.linalg.inv(found.matrix), d)


@pytest.mark.slow
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("name", ["panda", "puma560", "delta"])
def test_no_admissible_torques_accelerate_the_tool_beyond_the_ellipsoid_and_some_reach_it(name, moving, rng, monkeypatch):
    """τ = W u with |u| ≤ 1, by forward dynamics."""
    if moving and name == "puma560":
        monkeypatch.delenv("DALEMBERT_BACKEND")
    system = dal.mechanisms.delta().replace() if name == "delta" else fresh(name)
    n = system.n
    q = system.q0 if name == "delta" else rng.uniform(-1, 1, n)
    qd = rng.normal(size=n) if moving else None
    w = rng.uniform(5.0, 50.0, n)
    found = dal.manipulability(system, q, qd, strength=w)
    tau = on_sphere(rng, 3000, n) * w
    rate = np.zeros(n) if qd is None else qd
    bias = dal.bias(system, q, rate)
    J, turning = dal.jacobian(system, q)[:3], dal.jacobian_dot(system, q, rate)[:3] @ rate
    reached = np.linalg.solve(dal.mass_matrix(system, q), (tau - bias).T).T @ J.T + turning
    assert inside(found, reached).max() <= 1.0 + 1e-9
    # The torques that reach the surface in a direction e are W Gᵀ E⁻¹ e, with e on it: the boundary is touched everywhere.
    edge = found.boundary(on_sphere(rng, 50, 3)) - found.centre
    G = J @ np.linalg.inv(dal.mass_matrix(system, q)) * w
    u = edge @ np.linalg.inv(found.matrix).T @ G
    assert np.linalg.norm(u, axis=1) == pytest.approx(np.ones(50), abs=1e-8)
    assert u @ G.T == pytest.approx(edge, rel=1e-8, abs=1e-8 * np.abs(edge).max())


def test_velocities_of_unit_norm_reach_the_kinematic_ellipsoid(panda, rng):
    q, w = rng.uniform(-1, 1, 7), rng.uniform(0.5, 2.0, 7)
    found = dal.manipulability(panda, q, kind="velocity", strength=w)
    assert inside(found, (on_sphere(rng, 2000, 7) * w) @ dal.jacobian(panda, q)[:3].T).max() <= 1.0 + 1e-12
    assert relative_error(found.matrix, (dal.jacobian(panda, q)[:3] * w**2) @ dal.jacobian(panda, q)[:3].T) < EXACT
    assert np.array_equal(found.centre, np.zeros(3))


def test_forces_on_the_surface_of_their_ellipsoid_take_torques_of_unit_norm(panda, rng):
    q, w = rng.uniform(-1, 1, 7), rng.uniform(5, 50, 7)
    found = dal.manipulability(panda, q, kind="force", strength=w)
    f = found.boundary(on_sphere(rng, 200, 3))
    assert np.linalg.norm(f @ dal.jacobian(panda, q)[:3] / w, axis=1) == pytest.approx(np.ones(200), abs=1e-11)


def test_velocity_and_force_ellipsoids_have_the_same_axes_and_lengths_that_are_inverse(puma, rng):
    """The duality of statics and kinematics [Siciliano, §3.9]."""
    q = rng.uniform(-1, 1, 6)
    velocity, force = (dal.manipulability(puma, q, kind=kind) for kind in ("velocity", "force"))
    assert velocity.lengths * force.lengths[::-1] == pytest.approx(np.ones(3), abs=1e-11)
    assert np.abs(velocity.axes.T @ force.axes[:, ::-1]) == pytest.approx(np.eye(3), abs=1e-9)
    assert velocity.measure * force.measure == pytest.approx(1.0, abs=1e-11)


def test_the_measure_of_an_arm_that_is_not_redundant_is_the_kinematic_one_with_strength_over_inertia(puma, rng):
    """Problem 7.11, weighted: w_d = w Π w_i / det M, with all six directions and any length."""
    q, w = rng.uniform(-1, 1, (20, 6)), rng.uniform(5, 50, 6)
    six = ("x", "y", "z", "rx", "ry", "rz")
    dynamic = dal.manipulability(puma, q, strength=w, directions=six, length=0.3)
    kinematic = dal.manipulability(puma, q, kind="velocity", directions=six, length=0.3)
    expected = kinematic.measure * np.prod(w) / np.linalg.det(dal.mass_matrix(puma, q))
    assert dynamic.measure == pytest.approx(expected, rel=1e-6)  # lengths over four decades, from values over eight


def test_least_norm_leaves_out_what_redundancy_adds(panda, rng):
    q = rng.uniform(-1, 1, 7)
    everything, least = (dal.manipulability(panda, q, least_norm=flag) for flag in (False, True))
    J, M = dal.jacobian(panda, q)[:3], dal.mass_matrix(panda, q)
    K = M @ np.linalg.pinv(J)
    assert relative_error(least.core, K.T @ K) < 1e-9
    assert relative_error(least.centre, everything.centre) < EXACT
    assert least.measure < everything.measure
    assert inside(everything, least.boundary(on_sphere(rng, 200, 3))).max() <= 1.0 + 1e-9


def test_axes_lengths_and_measures_belong_to_the_matrix(panda, rng):
    found = dal.manipulability(panda, rng.uniform(-1, 1, (4, 5, 7)), strength="limits")
    assert relative_error(np.einsum("...ij,...j,...kj->...ik", found.axes, found.lengths**2, found.axes), found.matrix) < EXACT
    assert found.measure == pytest.approx(np.sqrt(np.linalg.det(found.matrix)), rel=1e-9)
    assert found.isotropy == pytest.approx(found.lengths[..., 2] / found.lengths[..., 0], rel=1e-12)
    hold = np.einsum("...i,...ij,...j->...", found.centre, np.linalg.inv(found.matrix), found.centre)
    assert found.hold == pytest.approx(np.sqrt(hold), rel=1e-9)
    assert found.measure.shape == (4, 5)


def test_an_earlier_result_is_written_over(rng, monkeypatch):
    monkeypatch.delenv("DALEMBERT_BACKEND")
    panda = fresh("panda")
    q = rng.uniform(-1, 1, (50, 7))
    first = dal.manipulability(panda, q[::-1].copy())
    again = dal.manipulability(panda, q, out=first)
    assert again.axes is first.axes
    assert np.array_equal(again.hold, dal.manipulability(panda, q).hold)
    with pytest.raises(ModelError, match="out: 1 found"):
        dal.manipulability(panda, q, out=1)


def test_gravity_lets_the_tool_go_faster_down_than_up(panda):
    found = dal.manipulability(panda, [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0], strength="limits")
    up, down = found.reach([0.0, 0.0, 1.0]), found.reach([0.0, 0.0, -2.0])
    assert down > up > 0.0
    for x in ([0.0, 0.0, up], [0.0, 0.0, -down]):
        assert inside(found, np.array([x])) == pytest.approx([1.0], abs=1e-10)
    weak = dal.manipulability(panda, [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0])
    assert weak.hold > 1.0  # one newton metre does not carry the arm
    assert np.isnan(weak.reach([1.0, 0.0, 0.0]))


def test_links_points_and_axes_of_the_body_can_be_chosen(puma, rng):
    q, point = rng.uniform(-1, 1, 6), np.array([0.1, 0.0, 0.2])
    found = dal.manipulability(puma, q, link="link4", point=point, frame="body", directions=("z", "x"))
    J = dal.jacobian(puma, q, "link4", point=point, frame="body")[[2, 0]]
    G = J @ np.linalg.inv(dal.mass_matrix(puma, q))
    assert relative_error(found.matrix, G @ G.T) < EXACT
    X = dal.forward_kinematics(puma, q, "link4")
    assert found.position == pytest.approx(X[:3, :3] @ point + X[:3, 3], abs=1e-12)


def test_at_a_singular_pose_the_ellipsoid_is_flat_and_the_forces_are_unbounded(arm):
    flat = dal.manipulability(arm, [0.3, 0.0], directions=("x", "y"))
    assert flat.isotropy < 1e-6  # the square root of rounding
    assert np.isfinite(flat.lengths).all()
    assert dal.manipulability(arm, [0.3, 0.0], kind="force", directions=("x", "y")).lengths[0] > 1e6


def test_limits_of_the_model_are_the_strength(panda):
    q = np.full(7, 0.3)
    efforts = [joint.limits.effort for joint in panda.structure.coordinates]
    assert np.array_equal(
        dal.manipulability(panda, q, strength="limits").matrix, dal.manipulability(panda, q, strength=efforts).matrix
    )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"strength": "limits"},
            ModelError,
            r"joint 'joint1' of 'two_link_planar' has none for its limit of effort \[N m\].*Set",
        ),
        ({"strength": "limits", "kind": "velocity"}, ModelError, r"limit of velocity \[rad/s\]"),
        ({"strength": "strong"}, ModelError, "strength: 'strong' found; 'unit', 'limits' or 2 numbers expected"),
        ({"strength": [1.0, 2.0, 3.0]}, ShapeError, r"strength: shape \(3,\) found, \(2,\) expected: one for each coordinate"),
        ({"strength": [1.0, 0.0]}, ModelError, "finite numbers above zero expected"),
        ({"kind": "static"}, UnknownNameError, "kind: 'static' is not known.*Known: dynamic, velocity, force"),
        ({"frame": "hand"}, UnknownNameError, "frame: 'hand' is not known"),
        ({"kind": "force", "qd": [1.0, 0.0]}, ShapeError, "the force ellipsoid does not depend on them. Leave qd out"),
        ({"kind": "velocity", "least_norm": True}, ModelError, "least_norm: True found for kind='velocity'"),
        ({"directions": ("x", "rz")}, ModelError, r"x, rz found, in m and rad, which no ellipsoid compares\. Give length= \[m\]"),
        ({"length": 0.2}, ModelError, "length: 0.2 found, but x, y have one unit"),
        ({"directions": ("x", "rz"), "length": -1.0}, ModelError, "length: -1 found; a length above zero"),
    ],
)
def test_what_has_no_meaning_has_its_sentence(arm, options, error, words):
    with pytest.raises(error, match=words):
        dal.manipulability(arm, [0.3, 0.9], **({"directions": ("x", "y")} | options))
