"""Figures of a motion and of what its torques are made of."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert import plots
from dalembert.errors import ShapeError, UnknownNameError

Figure = pytest.importorskip("matplotlib.figure").Figure

T = np.linspace(0.0, 1.0, 5)
ARM = dal.robots.pr_arm()
STATE = tuple(np.random.default_rng(1).normal(size=(3, 5, 2)))


@pytest.fixture
def axes():
    """A grid of axes that no window knows of."""
    return Figure(figsize=(9.6, 4.0), layout="constrained").subplots(2, 2, squeeze=False)


def drawn(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_ydata() for line in ax.get_lines() if not line.get_label().startswith("_")}


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


@pytest.mark.parametrize("by", ["cause", "joint", "nature", "link"])
def test_a_record_is_drawn_by_the_split_asked_for(by, axes):
    parts = dal.contributions(ARM, *STATE)
    panels = plots.contributions(T, parts, by=by, axes=axes)
    split = {name: values for name, values in getattr(parts, f"by_{by}").items() if values.any()}
    for i, ax in enumerate(panels):
        lines = drawn(ax)
        np.testing.assert_allclose(lines.pop("total"), parts.tau[:, i], rtol=1e-12)
        assert list(lines) == list(split)
        for name, values in lines.items():
            np.testing.assert_array_equal(values, split[name][:, i])


def test_a_record_brings_its_names_and_units(axes):
    panels = plots.contributions(T, dal.contributions(ARM, *STATE), axes=axes)
    assert [ax.get_title(loc="left") for ax in panels] == list(ARM.joint_names)
    assert [ax.get_ylabel() for ax in panels] == ["force [N]", "torque [N m]"]


def test_parts_that_do_not_act_are_left_out_but_never_all_of_them(axes):
    moving = plots.contributions(T, dal.contributions(ARM, *STATE), axes=axes)
    assert "friction" not in legend(moving[0])
    floating = ARM.replace(parameters=ARM.parameters.replace(gravity=(0, 0, 0)))
    still = dal.contributions(floating, *np.zeros((3, 5, 2)))
    panels = plots.contributions(T, still, axes=Figure(figsize=(9.6, 4.0)).subplots(1, 2))
    assert list(drawn(panels[0])) == [*still.by_cause, "total"]


def test_a_motion_has_four_panels_with_units(axes):
    panels = plots.motion(T, *STATE, STATE[0], names=ARM.joint_names, units=("N", "N m"), axes=axes)
    assert [ax.get_ylabel() for ax in panels] == [
        "position [m | rad]",
        "velocity [m/s | rad/s]",
        "acceleration [m/s² | rad/s²]",
        "force or torque [N | N m]",
    ]
    for ax, values in zip(panels, (*STATE, STATE[0]), strict=True):
        np.testing.assert_array_equal(np.transpose(list(drawn(ax).values())), values)
    assert legend(panels[0]) == list(ARM.joint_names)


def test_a_legend_takes_the_rows_it_needs():
    names = {f"a part with a long name {k}": np.ones((5, 1)) for k in range(8)}
    (ax,) = plots.contributions(T, names, axes=[Figure(figsize=(6.4, 3.0), layout="constrained").subplots()])
    ax.figure.canvas.draw()
    box = ax.figure.legends[0].get_window_extent()
    assert box.width < ax.figure.bbox.width
    assert len(legend(ax)) == 9


def test_the_lowest_panel_of_every_column_has_times():
    panels = plots.contributions(T, {"gravity": np.ones((5, 4))}, axes=Figure().subplots(2, 3, sharex=True))
    assert [ax.get_xlabel() for ax in panels] == ["", "time [s]", "time [s]", "time [s]"]
    assert [ax.xaxis.get_tick_params()["labelbottom"] for ax in panels] == [False, True, True, True]


def test_figures_of_their_own():
    from matplotlib import pyplot

    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        assert len(plots.motion(T, *STATE, STATE[0])) == 4
        assert len(plots.contributions(T, dal.contributions(ARM, *STATE))) == 2
        pyplot.close("all")


def test_what_does_not_fit_is_refused(axes):
    with pytest.raises(UnknownNameError, match="by: 'causes' is not known; did you mean 'cause'"):
        plots.contributions(T, dal.contributions(ARM, *STATE), by="causes", axes=axes)
    with pytest.raises(ShapeError, match=r"qd: shape \(4, 2\) found, \(5, n\) expected"):
        plots.motion(T, STATE[0], STATE[1][:4], STATE[2], STATE[0], axes=axes)
    with pytest.raises(ShapeError, match="axes: 2 found, 4 expected: one each for position, velocity, acceleration, torque"):
        plots.motion(T, *STATE, STATE[0], axes=axes[0])


def test_a_motion_without_torques_and_with_jerks(axes):
    five = Figure(figsize=(9.6, 4.0)).subplots(2, 3)
    panels = plots.motion(T, *STATE, None, qddd=STATE[1], axes=five)
    assert [ax.get_ylabel().split(" [")[0] for ax in panels] == ["position", "velocity", "acceleration", "jerk"]
    assert len(plots.motion(T, *STATE, None, axes=axes)) == 3
    both = plots.motion(T, *STATE, STATE[0], qddd=STATE[1], axes=five)
    assert [ax.get_ylabel().split(" [")[0] for ax in both][3:] == ["jerk", "torque"]


def test_positions_far_from_zero_fill_their_panel(axes):
    panels = plots.motion(T, STATE[0] + 50.0, STATE[1] + 50.0, STATE[2], None, axes=axes)
    assert panels[0].get_ylim()[0] > 40.0
    assert panels[1].get_ylim()[0] < 0.0  # a velocity is seen beside rest
