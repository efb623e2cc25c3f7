"""Ellipsoids, polytopes and maps on stick figures: where they are drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert import plots
from dalembert.errors import ModelError, ShapeError, UnknownNameError

Figure = pytest.importorskip("matplotlib.figure").Figure
Q, W = [0.6, 1.2], [800.0, 300.0]


@pytest.fixture(scope="module")
def arm():
    return dal.robots.two_link_planar()


@pytest.fixture
def flat():
    return Figure(layout="constrained").subplots()


@pytest.fixture
def solid():
    return Figure(layout="constrained").add_subplot(projection="3d")


def line(ax, label):
    (found,) = [entry for entry in ax.get_lines() if entry.get_label() == label]
    return found.get_xydata()


def test_an_ellipse_stands_at_the_tip_moved_by_gravity_in_the_scale_that_is_written(arm, flat):
    found = dal.manipulability(arm, Q, directions=("x", "y"), strength=W)
    ax = plots.ellipsoid(arm, Q, found, labels=["it"], scale=0.1, view="xy", ax=flat)
    points = line(ax, "it")
    drawn = (points - found.position[:2]) / 0.1 - found.centre
    assert np.einsum("ki,ij,kj->k", drawn, found.core, drawn) == pytest.approx(np.ones(len(points)), abs=1e-9)
    assert ax.get_title(loc="left") == "1 m is 10 m/s²"


def test_a_polytope_is_drawn_with_its_corners(arm, flat):
    found = dal.manipulability_polytope(arm, Q, directions=("x", "y"), strength=W)
    points = line(plots.ellipsoid(arm, Q, found, labels=["it"], scale=0.1, view="xy", ax=flat), "it")
    corners = found.vertices * 0.1 + found.position[:2]
    assert np.abs(points[:, None] - corners).max(axis=-1).min(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)


def test_an_ellipsoid_in_space_is_seen_in_a_plane_by_its_outline(flat):
    """The outline of {x: xᵀ E⁻¹ x ≤ 1} in a plane is the ellipse of the rows and columns of E that belong to it."""
    panda, q = dal.robots.panda(), [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0]
    found = dal.manipulability(panda, q, strength="limits")
    points = line(plots.ellipsoid(panda, q, found, labels=["it"], scale=0.002, view="xz", ax=flat), "it")
    drawn = (points - found.position[[0, 2]]) / 0.002 - found.centre[[0, 2]]
    values = np.einsum("ki,ij,kj->k", drawn, np.linalg.inv(found.matrix[np.ix_([0, 2], [0, 2])]), drawn)
    assert values.max() <= 1.0 + 1e-9
    assert values.min() > 0.97  # corners of a mesh of five degrees


def test_in_space_surfaces_and_faces_are_drawn(solid):
    panda, q = dal.robots.panda(), [0.0, 0.3, 0.2, -1.5, 0.1, 1.8, 0.0]
    both = [dal.manipulability(panda, q, strength="limits"), dal.manipulability_polytope(panda, q)]
    ax = plots.ellipsoid(panda, q, both, ax=solid)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["dynamic ellipsoid", "dynamic polytope"]
    assert max(len(collection.get_facecolor()) for collection in ax.collections) > 0
    flat = dal.manipulability(panda, q, directions=("x", "z"), strength="limits")
    plots.ellipsoid(panda, q, flat, view=(20.0, -60.0), ax=Figure().add_subplot(projection="3d"))


def test_a_singular_pose_has_a_line_for_its_ellipse(arm, flat):
    found = dal.manipulability(arm, [0.3, 0.0], directions=("x", "y"), strength=W)
    assert np.isfinite(line(plots.ellipsoid(arm, [0.3, 0.0], found, labels=["it"], view="xy", ax=flat), "it")).all()


def test_a_map_has_a_dot_for_each_pose_with_the_measure_as_its_colour(arm, flat, rng):
    q = rng.uniform(-2, 2, (40, 2))
    found = dal.manipulability(arm, q, directions=("x", "y"), strength=W)
    ax = plots.manipulability_map(arm, q, found, measure="isotropy", ellipsoids=3, view="xy", ax=flat)
    (dots,) = [collection for collection in ax.collections if len(collection.get_offsets()) == 40]
    assert np.asarray(dots.get_offsets()) == pytest.approx(found.position[:, :2])
    assert np.asarray(dots.get_array()) == pytest.approx(found.isotropy)
    assert ax.get_xlim()[0] <= found.position[:, 0].min()


def test_what_cannot_be_drawn_is_refused(arm):
    found = dal.manipulability(arm, Q, directions=("x", "y"))
    with pytest.raises(ShapeError, match="results: 1 found; one of dal.manipulability or several are expected"):
        plots.ellipsoid(arm, Q, 1)
    with pytest.raises(ShapeError, match="results: int found, a Manipulability expected"):
        plots.ellipsoid(arm, Q, [1])
    with pytest.raises(ModelError, match="directions x of the world found; two or three of x, y, z of the world are drawn"):
        plots.ellipsoid(arm, Q, dal.manipulability(arm, Q, directions=("x",)))
    with pytest.raises(ModelError, match="of the body found"):
        plots.ellipsoid(arm, Q, dal.manipulability(arm, Q, directions=("x", "y"), frame="body"))
    with pytest.raises(ModelError, match="dynamic, velocity found together; they have different units"):
        plots.ellipsoid(arm, Q, [found, dal.manipulability(arm, Q, kind="velocity", directions=("x", "y"))])
    with pytest.raises(ShapeError, match=r"results: shape \(2,\) found, one configuration expected"):
        plots.ellipsoid(arm, Q, dal.manipulability(arm, [Q, Q], directions=("x", "y")))
    with pytest.raises(ShapeError, match=r"results: shape \(\) found, a batch of shape \(K,\) expected"):
        plots.manipulability_map(arm, [Q], found)
    with pytest.raises(ShapeError, match=r"q: shape \(1, 2\) found for a result of shape \(2,\)"):
        plots.manipulability_map(arm, [Q], dal.manipulability(arm, [Q, Q], directions=("x", "y")))
    with pytest.raises(UnknownNameError, match="measure: 'volume' is not known"):
        plots.manipulability_map(arm, [Q], found, measure="volume")
