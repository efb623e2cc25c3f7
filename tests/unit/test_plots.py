"""Figures: what is drawn, how it is labelled, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from dalembert import plots
from dalembert.errors import MissingExtraError, ShapeError

Figure = pytest.importorskip("matplotlib.figure").Figure

T = np.linspace(0.0, 1.0, 5)
TAU = np.outer(T, [1.0, 2.0, 3.0])


@pytest.fixture
def axes():
    """A grid of axes that no window knows of."""
    return Figure(layout="constrained").subplots(2, 2, squeeze=False)


def test_torques_draws_a_line_per_joint_and_returns_the_axes_given(axes):
    ax = plots.torques(T, TAU, names=["a", "b", "c"], ax=axes[0, 0])
    assert ax is axes[0, 0]
    drawn = [line.get_ydata() for line in ax.get_lines() if not line.get_label().startswith("_")]
    np.testing.assert_array_equal(np.transpose(drawn), TAU)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_labels_carry_units(axes):
    ax = plots.torques(T, TAU, ax=axes[0, 0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time [s]", "torque [N m]")
    assert plots.torques(T, TAU, units="N", ax=axes[0, 1]).get_ylabel() == "force [N]"


def test_mixed_units_stand_beside_the_names(axes):
    ax = plots.torques(T, TAU, units=["N m", "N", "N m"], ax=axes[0, 0])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["joint 1 [N m]", "joint 2 [N]", "joint 3 [N m]"]


def test_thirty_joints_have_thirty_different_lines(axes):
    ax = plots.torques(T, np.ones((5, 30)), ax=axes[0, 0])
    looks = {(line.get_color(), str(line.get_linestyle()), str(line._dash_pattern)) for line in ax.get_lines()[:30]}
    assert len(looks) == 30


def test_the_names_of_thirty_joints_fit_beside_the_lines():
    from matplotlib import pyplot

    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        ax = plots.torques(T, np.ones((5, 30)))
        figure = ax.figure
        figure.draw_without_rendering()  # warns, which is an error here, where the axes collapse
        legend = ax.get_legend().get_window_extent()
        assert legend.y0 >= 0
        assert legend.y1 <= figure.bbox.height
        assert legend.x1 <= figure.bbox.width
        assert ax.get_window_extent().width > 0.4 * figure.bbox.width
        pyplot.close(figure)


def test_a_nan_leaves_a_gap(axes):
    tau = TAU.copy()
    tau[2] = np.nan
    assert np.isnan(plots.torques(T, tau, ax=axes[0, 0]).get_lines()[0].get_ydata()[2])


def test_contributions_draws_the_sum_of_the_parts_in_every_panel(axes):
    panels = plots.contributions(T, {"one": TAU, "two": 2 * TAU}, names=["a", "b", "c"], axes=axes)
    assert [ax.get_title(loc="left") for ax in panels] == ["a", "b", "c"]
    for i, ax in enumerate(panels):
        total = next(line for line in ax.get_lines() if line.get_label() == "total")
        np.testing.assert_array_equal(total.get_ydata(), 3 * TAU[:, i])
    assert not axes[1, 1].get_visible()


def test_contributions_of_one_part_has_no_total(axes):
    panels = plots.contributions(T, {"gravity": TAU}, axes=axes)
    assert [line.get_label() for line in panels[0].get_lines() if not line.get_label().startswith("_")] == ["gravity"]


def test_contributions_labels_every_panel_where_units_differ(axes):
    panels = plots.contributions(T, {"gravity": TAU}, units=["N m", "N", "N"], axes=axes)
    assert [ax.get_ylabel() for ax in panels] == ["torque [N m]", "force [N]", "force [N]"]


def test_a_figure_of_its_own_has_room_for_every_joint():
    from matplotlib import pyplot

    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        panels = plots.contributions(T, {"a": np.ones((5, 7)), "b": np.ones((5, 7))})
        ax = plots.torques(T, TAU)
        assert len(panels) == 7
        assert ax.figure is not panels[0].figure
        pyplot.close("all")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0]], TAU), r"t: shape \(1, 1\) found, \(k,\) expected"),
        ((T, TAU[:3]), r"tau: shape \(3, 3\) found, \(5, n\) expected"),
        ((T, TAU[:, 0]), r"tau: shape \(5,\) found, \(5, n\) expected"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message, axes):
    with pytest.raises(ShapeError, match=message):
        plots.torques(*arguments, ax=axes[0, 0])


def test_labels_that_do_not_fit_are_refused(axes):
    with pytest.raises(ShapeError, match="names: 2 found, 3 expected: one per joint"):
        plots.torques(T, TAU, names=["a", "b"], ax=axes[0, 0])
    with pytest.raises(ShapeError, match="units: 1 found, 3 expected"):
        plots.torques(T, TAU, units=["N"], ax=axes[0, 0])


def test_parts_that_do_not_fit_are_refused(axes):
    with pytest.raises(ShapeError, match="parts: none found"):
        plots.contributions(T, {}, axes=axes)
    with pytest.raises(ShapeError, match="different numbers of joints found: a 3, b 2"):
        plots.contributions(T, {"a": TAU, "b": TAU[:, :2]}, axes=axes)
    with pytest.raises(ShapeError, match="axes: 1 found, 3 expected"):
        plots.contributions(T, {"a": TAU}, axes=axes[:1, :1])


def test_a_missing_matplotlib_is_one_sentence_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install matplotlib, or"):
        plots.torques(T, TAU)
