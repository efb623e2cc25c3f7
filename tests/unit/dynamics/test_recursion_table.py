"""The recursion step by step: its record, its table, and the sentence for each mistake."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

ARM = dal.robots.two_link_planar()
STATE = ([0.3, 0.3], [1.0, 2.0], [3.0, 4.0])


def test_the_table_goes_out_to_the_tip_and_back() -> None:
    lines = str(dal.recursion(ARM, *STATE)).splitlines()
    assert (
        lines[0]
        == "Newton-Euler recursion of 'two_link_planar', in each link's own axes, rotors in those of the link that carries them"
    )
    assert [line for line in lines if not line.startswith(" ")][1:] == [
        "forward, joint1",
        "forward, joint2",
        "backward, joint2",
        "backward, joint1",
    ]
    rows = [line.split() for line in lines if line.startswith(" ")]
    assert [row[0] for row in rows] == ["omega", "domega", "pdd", "pdd_C", "domega_m"] * 2 + ["f", "mu", "tau"] * 2
    assert rows[4] == ["domega_m", "[rad/s²]", "0", "0", "300"]
    assert rows[-1][:3] == ["tau", "[N", "m]"]
    assert float(rows[-1][3]) == pytest.approx(dal.inverse_dynamics(ARM, *STATE)[0], rel=1e-5)


def test_base_axes_and_sliding_joints_are_named() -> None:
    text = str(dal.recursion(dal.robots.pr_arm(), [0.1, 0.2], frame="base"))
    assert text.startswith("Newton-Euler recursion of 'pr_arm', in base axes")
    units = [line.split("[")[1].split("]")[0] for line in text.splitlines() if line.startswith("  tau")]
    assert units == ["N m", "N"]


def test_a_batch_is_printed_one_by_one() -> None:
    steps = dal.recursion(ARM, np.zeros((5, 3, 2)), [1.0, 2.0])
    assert (steps.f.shape, steps.tau.shape) == ((5, 3, 2, 3), (5, 3, 2))
    assert "for 5 x 3 configurations; print one of them by its index" in str(steps)
    one = steps[4, 2]
    assert one.mu.shape == (2, 3)
    np.testing.assert_array_equal(one.pdd, steps.pdd[4, 2])
    assert "forward, joint1" in str(one)


def test_rates_left_out_are_zero() -> None:
    steps = dal.recursion(ARM, [0.1, 0.2])
    assert not steps.omega.any()
    np.testing.assert_allclose(steps.tau, dal.gravity_torque(ARM, [0.1, 0.2]), rtol=1e-14)


def test_an_unknown_frame_is_refused() -> None:
    with pytest.raises(dal.DalembertError, match="frame: 'links' is not known; did you mean 'link'"):
        dal.recursion(ARM, *STATE, frame="links")


def test_a_shape_that_does_not_fit_is_refused() -> None:
    with pytest.raises(dal.DalembertError, match="q: shape"):
        dal.recursion(ARM, [0.1, 0.2, 0.3])
