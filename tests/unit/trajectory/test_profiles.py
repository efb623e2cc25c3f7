"""Point-to-point motions: where they begin and end, that their derivatives fit, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.errors import ShapeError
from dalembert.trajectory import duration_at, trapezoidal, triangular

START, END = np.array([0.5, -1.0, 2.0]), np.array([1.5, 2.0, 2.0])
T, TA = np.array([1.0, 2.0, 0.5]), np.array([0.5, 0.3, 0.1])


def test_a_motion_rests_before_and_after() -> None:
    motion = trapezoidal(START, END, duration=T, acceleration_time=TA)([-1.0, 0.0, 2.0, 5.0])
    np.testing.assert_allclose(motion.q, [START, START, END, END], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(motion.qd[[0, 1, 3]], 0.0)
    np.testing.assert_array_equal(motion.qdd[[0, 3]], 0.0)


def test_velocity_and_acceleration_are_the_derivatives_of_position() -> None:
    """Central differences are exact for parabolas, wherever no corner lies within the step."""
    step, t = 1e-4, np.linspace(0.013, 2.2, 173)
    sample = lambda shift: trapezoidal(START, END, duration=T, acceleration_time=TA)(t + shift)  # noqa: E731
    ahead, here, behind = sample(step), sample(0.0), sample(-step)
    corners = np.stack([0 * T, TA, T - TA, T])
    smooth = np.abs(t[:, None, None] - corners).min(axis=1) > step
    assert smooth.mean() > 0.9
    qd, qdd = (ahead.q - behind.q) / (2 * step), (ahead.qd - behind.qd) / (2 * step)
    np.testing.assert_allclose(here.qd[smooth], qd[smooth], atol=1e-11)  # rounding of q over the step
    np.testing.assert_allclose(here.qdd[smooth], qdd[smooth], atol=1e-10)


def test_position_and_velocity_are_continuous_at_the_corners() -> None:
    """Across 2e-9 s they change by that times the velocity and the acceleration, no more."""
    t = np.array([0.1, 0.3, 0.4, 0.5, 1.0, 1.7, 2.0])
    before, after = (trapezoidal(START, END, duration=T, acceleration_time=TA)(t + shift) for shift in (-1e-9, 1e-9))
    np.testing.assert_allclose(before.q, after.q, atol=1e-8)
    np.testing.assert_allclose(before.qd, after.qd, atol=1e-7)


def test_a_triangle_reaches_twice_the_mean_velocity_halfway() -> None:
    motion = triangular([0.0], [3.0], duration=0.5)([0.25])
    np.testing.assert_allclose(np.ravel([motion.q, motion.qd]), [1.5, 12.0])


def test_durations_keep_the_velocity_or_the_acceleration_time() -> None:
    T = duration_at([0.0, 0.0, 1.0], [5.0, 0.2, 1.0], velocity=2.0, acceleration_time=0.5)
    np.testing.assert_allclose(T, [3.0, 1.0, 1.0])
    motion = trapezoidal([0.0, 0.0, 1.0], [5.0, 0.2, 1.0], duration=T, acceleration_time=0.5).sample(count=301)
    np.testing.assert_allclose(np.abs(motion.qd).max(axis=0), [2.0, 0.4, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [[0.0]]}, r"t: shape \(1, 1\) found, \(k,\) expected"),
        ({"end": [1.0]}, r"start, end: shapes \(3,\) and \(1,\) found"),
        ({"acceleration_time": 0.0}, "acceleration_time: 0 s found for a duration of 1 s; it needs to be positive"),
        ({"acceleration_time": 0.6}, "acceleration_time: 0.6 s found for a duration of 1 s.*Give a longer duration"),
        ({"duration": np.nan}, "duration: nan contains NaN or infinity; a motion needs finite numbers"),
        ({"duration": [1.0, 2.0]}, r"duration: shape \(2,\) found, \(\) or \(3,\) expected: one for all"),
        ({"t": ["0", "1"]}, r"t: \['0', '1'\] is not numeric; numbers are expected"),
        ({"start": None}, "start: None is not numeric"),
        ({"end": np.ma.array(END, mask=[True, False, False])}, "end: .* is not numeric"),
    ],
)
def test_what_is_no_motion_is_refused(change: dict, message: str) -> None:
    given = {"t": [0.0, 1.0], "start": START, "end": END, "duration": 1.0, "acceleration_time": 0.2} | change
    with pytest.raises(ShapeError, match=message):
        t = given.pop("t")
        trapezoidal(given.pop("start"), given.pop("end"), **given)(t)


def test_a_velocity_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ShapeError, match="velocity, acceleration_time: -1, 0.5 found; both need to be positive"):
        duration_at([0.0], [1.0], velocity=-1.0, acceleration_time=0.5)
