"""Poles of linear models as a figure."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, ShapeError

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_poles_and_shares_stand_side_by_side():
    model = dal.linearize(dal.robots.two_link_planar(), [-1.5, 0.1])
    poles, shares = dal.plots.poles(model)
    (crosses,) = [line for line in poles.get_lines() if len(line.get_xdata()) == 4]
    assert np.array_equal(np.sort(crosses.get_ydata()), np.sort(model.poles.imag))
    assert [label.get_text() for label in shares.get_yticklabels()] == [s.name for s in model.states]
    assert not poles.get_shared_x_axes().joined(poles, shares)


def test_a_batch_is_drawn_as_poles_alone():
    along = dal.linearize(dal.robots.two_link_planar(), np.linspace(-1, 1, 10).reshape(5, 2))
    (ax,) = dal.plots.poles(along)
    assert len(ax.collections[0].get_offsets()) == 20


def test_other_things_are_refused():
    with pytest.raises(DalembertError, match=r"dal\.linearize\(robot, q\)"):
        dal.plots.poles(dal.robots.pendulum())
    with pytest.raises(ShapeError, match="one in steps of time found"):
        dal.plots.poles(dal.linearize(dal.robots.pendulum(), [0.0]).discretised(0.1))
