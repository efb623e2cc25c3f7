"""Moves within limits: the limits hold and one of them binds, joints arrive together, the closed forms are met."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.errors import ShapeError
from dalembert.trajectory import double_s, synchronised, trapezoidal

CASES = {  # distance, v, a, j: which of the four cases of [Biagiotti2008, §3.4]
    "all limits reached": (3.0, 1.0, 2.0, 10.0),
    "acceleration not reached": (3.0, 1.0, 20.0, 10.0),
    "velocity not reached": (0.5, 10.0, 2.0, 30.0),
    "jerk alone": (0.01, 10.0, 20.0, 10.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sign", [1, -1])
def test_limits_hold_and_bind_as_the_case_says(name: str, sign: int) -> None:
    d, v, a, j = CASES[name]
    motion = double_s([0.4], [0.4 + sign * d], velocity=v, acceleration=a, jerk=j)
    at = motion(np.sort(np.concatenate([np.linspace(0, motion.duration, 20_001), motion.breaks])))
    peaks = [np.abs(x).max() for x in (at.qd, at.qdd, at.qddd)]
    assert all(peak <= limit * (1 + 1e-12) for peak, limit in zip(peaks, (v, a, j), strict=True))
    reached = [peak >= limit * (1 - 1e-9) for peak, limit in zip(peaks, (v, a, j), strict=True)]
    expected = {"all limits reached": [1, 1, 1], "acceleration not reached": [1, 0, 1], "velocity not reached": [0, 1, 1]}
    assert reached == expected.get(name, [0, 0, 1])
    np.testing.assert_allclose(motion([0.0, motion.duration]).q[:, 0], [0.4, 0.4 + sign * d], atol=1e-14)
    np.testing.assert_allclose(motion([motion.duration]).qd, 0.0, atol=1e-13)
    for rate in (at.q, at.qd, at.qdd):  # continuous: no step exceeds the next limit times the time step, twice for the corners
        assert np.abs(np.diff(rate, axis=0)).max() <= 2 * max(v, a, j) * np.diff(at.t).max()


def test_durations_are_those_of_the_closed_forms() -> None:
    assert double_s([0.0], [3.0], velocity=1, acceleration=2, jerk=10).duration == pytest.approx(
        3.0 + 0.5 + 0.2
    )  # d/v + v/a + a/j
    assert double_s([0.0], [0.01], velocity=10, acceleration=20, jerk=10).duration == pytest.approx(4 * (0.01 / 20) ** (1 / 3))


def test_a_large_jerk_limit_gives_the_trapezoid() -> None:
    limits = {"velocity": 1.0, "acceleration": 2.0}
    motion = synchronised([0.0], [3.0], **limits)
    line = trapezoidal([0.0], [3.0], duration=3.5, acceleration_time=0.5)
    t = np.linspace(0, 3.5, 71) + 1e-6
    for name in ("q", "qd", "qdd"):
        np.testing.assert_allclose(getattr(motion(t), name), getattr(line(t), name), atol=1e-12)
    soft = synchronised([0.0], [3.0], **limits, jerk=1e6)
    np.testing.assert_allclose(soft(t).q, line(t).q, atol=1e-5)


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("jerk", [np.inf, 7.0])
def test_joints_arrive_together_within_their_limits(straight: bool, jerk: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        start, end = rng.normal(size=(2, 5))
        end[2] = start[2]  # one that does not move
        v, a = rng.uniform(0.5, 2.0, size=(2, 5))
        limits = {"velocity": v, "acceleration": a, "jerk": jerk}
        motion = synchronised(start, end, **limits, straight=straight)
        at = motion.sample(count=3001)
        assert (np.abs(at.qd) <= v * (1 + 1e-12)).all()
        assert (np.abs(at.qdd) <= a * (1 + 1e-12)).all()
        assert (np.abs(at.qddd) <= jerk * (1 + 1e-12)).all()
        np.testing.assert_allclose(at.q[-1], end, atol=1e-13)
        moving = start != end
        assert (np.abs(at.qd[-5, moving]) > 0).all()  # nobody has arrived before
        alone = [synchronised(start[[i]], end[[i]], **{k: np.broadcast_to(x, 5)[i] for k, x in limits.items()}).duration
                 for i in np.flatnonzero(moving)]  # fmt: skip
        assert motion.duration >= max(alone) * (1 - 1e-12)
        if straight:
            share = (at.q - start)[:, moving] / (end - start)[moving]
            assert np.ptp(share, axis=1).max() < 1e-12
        else:
            assert motion.duration == pytest.approx(max(alone))


@pytest.mark.parametrize("straight", [False, True])
def test_of_a_batch_each_takes_its_own_time_and_rests(straight: bool) -> None:
    start, end = np.random.default_rng(8).normal(size=(2, 3, 2, 4))
    limits = {"velocity": [1.0, 2.0, 1.5, 0.7], "acceleration": 3.0, "jerk": 20.0}
    batch = synchronised(start, end, **limits, straight=straight)
    assert batch.shape == (3, 2, 4)
    at, durations = batch.sample(count=41), []
    for row in np.ndindex(3, 2):
        single = synchronised(start[row], end[row], **limits, straight=straight)
        durations.append(single.duration)
        for name in ("q", "qd", "qdd", "qddd"):
            np.testing.assert_array_equal(getattr(at, name)[row], getattr(single(at.t), name))
            np.testing.assert_array_equal(getattr(batch[row](at.t), name), getattr(single(at.t), name))
    assert batch.duration == max(durations)
    assert np.ptp(durations) > 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"velocity": 0.0}, "velocity: 0 found; limits need to be positive and finite"),
        ({"acceleration": np.inf}, "acceleration: inf found; limits need to be positive and finite"),
        ({"jerk": np.nan}, "jerk: nan found; limits need to be positive"),
        ({"jerk": [1.0, 2.0]}, r"jerk: shape \(2,\) found, \(\) or \(1,\) expected"),
        ({"end": [0.0]}, "start, end: both are the same position, so nothing moves"),
        ({"start": [[0.0], [1.0]], "end": [[1.0], [1.0]]}, "start, end: both are the same position in row 1, so nothing moves"),
    ],
)
def test_what_is_no_limit_is_refused(change: dict, message: str) -> None:
    given = {"start": [0.0], "end": [1.0], "velocity": 1.0, "acceleration": 1.0, "jerk": 1.0} | change
    with pytest.raises(ShapeError, match=message):
        synchronised(given.pop("start"), given.pop("end"), **given)
