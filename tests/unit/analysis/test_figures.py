"""Figures of comparisons and simplified models."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as dal
from dalembert import plots
from dalembert.analysis.causes import CAUSES

Figure = pytest.importorskip("matplotlib.figure").Figure


@pytest.fixture
def axes():
    """Two axes that no window knows of."""
    return Figure(layout="constrained").subplots(2, 1, sharex=True)


@pytest.fixture(scope="module")
def model():
    return dal.simplify_model(dal.robots.two_link_planar(), tolerance=0.02, samples=1000)


def heights(container) -> list[float]:
    return [patch.get_height() for patch in container]


def test_a_comparison_is_drawn_on_logarithmic_axes(axes):
    found = dal.compare(dal.robots.two_link_planar(), samples=5)
    upper, lower = plots.comparison(found, axes=axes)
    assert (upper.get_yscale(), lower.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in upper.get_legend().get_texts()] == [
        "published",
        "as written",
        "customised for this robot",
    ]
    assert [text.get_text().replace("\n", "_") for text in lower.get_xticklabels()] == [row.formulation for row in found.rows]
    customised = [row.operations.customised for row in found.rows]
    assert heights(upper.containers[2]) == [c.mul + c.add for c in customised]
    assert heights(lower.containers[0]) == [row.timing.call for row in found.rows]
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("multiplications and additions", "ns per configuration")


def test_a_comparison_without_times_has_one_panel(axes):
    found = dal.compare(dal.robots.two_link_planar(), samples=5, time=False)
    assert len(plots.comparison(found, axes=axes)) == 1
    assert not axes[1].get_visible()


def test_a_simplified_model_shows_causes_and_errors(axes, model):
    upper, lower = plots.simplification(model, axes=axes)
    names = [text.get_text() for text in upper.get_yticklabels()]
    assert names == [cause for cause, row in zip(CAUSES, model.by_cause, strict=True) if row.max() > 0.005]
    (error,) = lower.containers
    assert [text.get_text() for text in lower.get_legend().get_texts()] == ["tolerance", "largest error found"]
    np.testing.assert_allclose(heights(error), 100 * model.error / model.scale)
    assert [text.get_text() for text in lower.get_xticklabels()] == list(model.joints)


def test_figures_of_their_own_have_two_panels(model):
    from matplotlib import pyplot

    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        assert len(plots.simplification(model)) == 2
        assert len(plots.comparison(dal.compare(dal.robots.pendulum(), samples=2))) == 2
        pyplot.close("all")


def test_too_few_axes_are_refused(axes, model):
    with pytest.raises(dal.DalembertError, match="axes: 1 found, 2 expected: one for causes, one for errors"):
        plots.simplification(model, axes=axes[:1])


def test_long_names_of_joints_do_not_cover_each_other(axes, model):
    long = dataclasses.replace(model, joints=("left_shoulder_pitch_actuator_joint", "left_shoulder_roll_actuator_joint"))
    lower = plots.simplification(long, axes=axes)[1]
    lower.figure.draw_without_rendering()
    assert [(text.get_rotation(), text.get_ha()) for text in lower.get_xticklabels()] == [(50.0, "right")] * 2
    legend, panel = lower.get_legend().get_window_extent(), lower.get_window_extent()
    assert panel.x0 <= legend.x0
    assert legend.x1 <= panel.x1
