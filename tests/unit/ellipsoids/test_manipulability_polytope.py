"""Polytopes under limits of each drive: exact vertices, by sampling admissible torques and by other hulls."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import dalembert as dal
from dalembert.ellipsoids.box_images import cut_out, zonotope
from dalembert.errors import InfeasibleError, ModelError, ShapeError, SingularError


@pytest.fixture(scope="module")
def panda():
    return dal.robots.panda()


@pytest.fixture(scope="module")
def arm():
    return dal.robots.two_link_planar()


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("case", ["general", "parallel", "in planes"])
def test_the_image_of_a_box_is_the_hull_of_the_images_of_its_corners(m, case, rng):
    G = rng.normal(size=(m, 6))
    if case == "parallel":
        G[:, 3:] = G[:, :3] * [[2.0, -1.0, 0.0]]
    if case == "in planes" and m == 3:
        G = np.array([[1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1.0]])
    found = zonotope(G, np.arange(m))
    corners = np.array(list(product((-1.0, 1.0), repeat=6))) @ G.T + np.arange(m)
    assert (corners @ found.normals.T <= found.offsets + 1e-12).all()
    for vertex in found.vertices:
        assert np.abs(corners - vertex).max(axis=1).min() < 1e-12
    assert (corners @ found.normals.T).max(axis=0) == pytest.approx(found.offsets, abs=1e-12)
    if m > 1:
        hull = ConvexHull(corners)
        assert len(found.vertices) == len(hull.vertices) or case == "in planes"  # there it counts points within faces, too
        volume = 2.0**m * sum(abs(np.linalg.det(G[:, list(c)])) for c in combinations(range(6), m))
        assert hull.volume == pytest.approx(volume, rel=1e-12)


@pytest.mark.parametrize("kind", ["dynamic", "velocity"])
@pytest.mark.parametrize("directions", [("x", "y", "z"), ("x", "z"), ("y",), ("rx", "ry", "rz")])
def test_no_admissible_sample_is_outside_and_every_corner_is_reached(panda, kind, directions, rng):
    q, w = rng.uniform(-1, 1, 7), rng.uniform(5, 80, 7)
    found = dal.manipulability_polytope(panda, q, kind=kind, strength=w, directions=directions)
    rows = ["xyz".find(name[-1]) + 3 * (len(name) == 2) for name in directions]
    J = dal.jacobian(panda, q)[rows]
    u = np.vstack([rng.uniform(-1, 1, (2000, 7)), np.array(list(product((-1.0, 1.0), repeat=7)))]) * w
    if kind == "dynamic":
        u = np.linalg.solve(dal.mass_matrix(panda, q), (u - dal.gravity_torque(panda, q)).T).T
    reached = u @ J.T
    assert found.contains(reached).all()
    for vertex in found.vertices:
        assert np.abs(reached - vertex).max(axis=1).min() < 1e-9 * np.abs(found.vertices).max()
    volume = ConvexHull(reached).volume if len(directions) > 1 else np.ptp(reached)
    assert found.volume == pytest.approx(volume, rel=1e-9)


def test_the_ellipsoid_is_inside_and_touches_every_face_of_a_box_of_two_drives(arm, rng):
    w = [800.0, 300.0]
    polytope = dal.manipulability_polytope(arm, [0.3, 0.9], strength=w, directions=("x", "y"))
    ellipsoid = dal.manipulability(arm, [0.3, 0.9], strength=w, directions=("x", "y"))
    angle = np.linspace(0, 2 * np.pi, 200)
    assert polytope.contains(ellipsoid.boundary(np.column_stack([np.cos(angle), np.sin(angle)]))).all()
    widths = np.sqrt(np.einsum("ki,ij,kj->k", polytope.normals, ellipsoid.matrix, polytope.normals))
    support = ellipsoid.centre @ polytope.normals.T + widths
    assert support == pytest.approx(polytope.offsets, rel=1e-12)


@pytest.mark.parametrize("with_weight", [False, True])
def test_forces_inside_take_torques_within_limits_and_those_outside_do_not(panda, with_weight, rng):
    q = np.array([0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0])
    found = dal.manipulability_polytope(panda, q, kind="force", with_weight=with_weight)
    limits = np.array([joint.limits.effort for joint in panda.structure.coordinates])
    f = rng.normal(size=(5000, 3)) * np.abs(found.vertices).max(axis=0)
    needed = f @ dal.jacobian(panda, q)[:3] + (dal.gravity_torque(panda, q) if with_weight else 0.0)
    assert np.array_equal(found.contains(f, tolerance=0.0), (np.abs(needed) <= limits).all(axis=1))
    at_corners = found.vertices @ dal.jacobian(panda, q)[:3] + (dal.gravity_torque(panda, q) if with_weight else 0.0)
    assert (np.sum(np.abs(np.abs(at_corners) - limits) < 1e-9 * limits.max(), axis=1) >= 3).all()


def test_reach_and_least_are_distances_to_the_faces(panda):
    found = dal.manipulability_polytope(panda, [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0])
    far = found.reach([0.0, 0.0, 3.0])
    assert found.contains([0.0, 0.0, far * (1 - 1e-9)])
    assert not found.contains([0.0, 0.0, far * (1 + 1e-6)])
    directions = np.random.default_rng(1).normal(size=(500, 3))
    assert min(found.reach(d) for d in directions) >= found.least > 0.0
    assert found.reach(found.normals[np.argmin(found.offsets)]) == pytest.approx(found.least, rel=1e-9)


def test_one_that_does_not_contain_zero_says_so(panda):
    found = dal.manipulability_polytope(panda, [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0], strength=[1, 1, 1, 1, 0.1, 0.1, 0.1])
    assert found.least < 0.0
    assert np.isnan(found.reach([0.0, 0.0, 1.0]))


def test_a_box_of_functions_without_points_has_no_vertices():
    assert cut_out(np.eye(2), np.array([1.0, 2.0]), np.array([-1.0, -2.0])).vertices.shape == (0, 2)


def test_what_has_no_polytope_is_refused(arm, panda):
    with pytest.raises(ModelError, match=r"joint 'joint1' of 'two_link_planar' has none for its limit of effort \[N m\]"):
        dal.manipulability_polytope(arm, [0.3, 0.9], directions=("x", "y"))
    with pytest.raises(SingularError, match=r"no joint moves it along [+-]1\.00 z, and the polytope is flat there"):
        dal.manipulability_polytope(arm, [0.3, 0.9], strength="unit", directions=("x", "z"))
    with pytest.raises(SingularError, match="the polytope is unbounded there"):
        dal.manipulability_polytope(arm, [0.3, 0.0], kind="force", strength="unit", directions=("x", "y"))
    with pytest.raises(ModelError, match="x, rz found; up to three of one unit expected for a polytope"):
        dal.manipulability_polytope(arm, [0.3, 0.9], strength="unit", directions=("x", "rz"))
    with pytest.raises(ShapeError, match=r"q: shape \(2, 2\) found, \(2,\) expected: a polytope is of one configuration"):
        dal.manipulability_polytope(arm, np.ones((2, 2)), strength="unit", directions=("x", "y"))
    with pytest.raises(ModelError, match="with_weight: True found for kind='dynamic'"):
        dal.manipulability_polytope(panda, np.zeros(7), with_weight=True)
    with pytest.raises(InfeasibleError, match=r"cannot hold itself here: joint 'joint2' needs 43.7 times its limit"):
        dal.manipulability_polytope(panda, [0.0, 0.9, 0.2, -1.5, 0.1, 1.8, 0.0], kind="force", strength="unit", with_weight=True)
