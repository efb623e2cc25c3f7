"""Any motion: its times, its samples, and what is made of it."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from dalembert.errors import ModelError, ShapeError
from dalembert.trajectory import (
    Motion,
    b_spline,
    blended,
    cubic,
    double_s,
    faded,
    fourier,
    quintic,
    sampled,
    septic,
    spline,
    stacked,
    synchronised,
    trapezoidal,
    triangular,
)

RNG = np.random.default_rng(7)
POINTS, TIMES = RNG.normal(size=(6, 3)), np.array([0.0, 0.4, 1.1, 1.3, 2.0, 3.1])
A, B, C = RNG.normal(size=(3, 3))
MOTIONS: dict[str, Motion] = {
    "trapezoidal": trapezoidal(A, B, duration=[1.0, 2.0, 1.5], acceleration_time=[0.5, 0.3, 0.1]),
    "cubic": cubic(A, B, duration=1.7, velocities=(C, -C)),
    "quintic": quintic(A, B, duration=1.7, velocities=(C, 0.0), accelerations=(1.0, A)),
    "septic": septic(A, B, duration=1.7, velocities=(C, 0.0), accelerations=(1.0, A), jerks=(2.0, -B)),
    "cubic spline": spline(POINTS, TIMES),
    "quintic spline": spline(POINTS, TIMES, kind="quintic", velocities=(A, B)),
    "septic spline": spline(POINTS, TIMES, kind="septic", ends="natural"),
    "b-spline": b_spline(POINTS, duration=2.0, degree=4),
    "b-spline with knots": b_spline(POINTS, duration=2.0, degree=2, knots=[0.5, 0.7, 1.9]),
    "double s": double_s(A, B, velocity=[1.0, 0.7, 0.3], acceleration=2.0, jerk=[5.0, 20.0, 9.0]),
    "synchronised": synchronised(A, B, velocity=1.0, acceleration=2.0),
    "straight": synchronised(A, B, velocity=1.0, acceleration=2.0, jerk=9.0, straight=True),
    "parabolic blends": blended(POINTS, TIMES, blend_time=0.15),
    "quintic blends": blended(POINTS, TIMES, blend_time=[0.1, 0.1, 0.2, 0.1, 0.3, 0.4], kind="quintic"),
    "fourier": fourier(POINTS, POINTS[::-1], frequency=0.2, centre=A),
    "fourier at rest": fourier(POINTS, POINTS[::-1], frequency=0.2, centre=A, periods=2, rest=True),
    "sampled": sampled(np.linspace(0, 1, 51), np.sin(np.linspace(0, 1, 51)[:, None] * [1, 2, 3]), cutoff=10.0),
    "faded": faded(septic(A, B, duration=1.0), septic(B, C, duration=0.7), overlap=0.3),
    "joined": quintic(A, B, duration=1.0).then(cubic(B, C, duration=0.5), spline([C, A, B], [0.0, 1.0, 2.0])),
    "stretched": spline(POINTS, TIMES).stretched(1.7),
    "reversed": spline(POINTS, TIMES).reversed(),
    "timed": spline(POINTS, TIMES, kind="quintic").timed(septic([0.0], [3.1], duration=2.0)),
}


@pytest.fixture(params=MOTIONS, ids=lambda name: name.replace(" ", "_"))
def motion(request) -> Motion:
    return MOTIONS[request.param]


def between_breaks(motion: Motion, per_piece: int = 7, margin: float = 0.06) -> np.ndarray:
    """Times inside of every piece, a share of it away from both ends."""
    share = np.linspace(margin, 1 - margin, per_piece)
    return (motion.breaks[:-1, None] + np.diff(motion.breaks)[:, None] * share).ravel()


def test_each_derivative_is_that_of_the_one_before(motion: Motion) -> None:
    """By Richardson's extrapolation of central differences, whose error is of order step⁶."""
    t = between_breaks(motion)
    step = min(np.diff(motion.breaks).min() * 0.003, 2e-3)
    names = ("q", "qd", "qdd", "qddd")
    for lower, higher in pairwise(names):
        slope = [(getattr(motion(t + h), lower) - getattr(motion(t - h), lower)) / (2 * h) for h in (step, 2 * step, 4 * step)]
        first, second = (4 * slope[0] - slope[1]) / 3, (4 * slope[1] - slope[2]) / 3
        expected = (16 * first - second) / 15
        size = np.abs(getattr(motion(t), lower)).max() / step  # rounding of the differences
        np.testing.assert_allclose(getattr(motion(t), higher), expected, rtol=1e-8, atol=1e-13 * size + 1e-12)


def test_breaks_run_from_zero_to_the_duration(motion: Motion) -> None:
    assert motion.breaks[0] == 0.0
    assert motion.breaks[-1] == motion.duration
    assert (np.diff(motion.breaks) > 0).all()


def test_position_and_velocity_do_not_jump(motion: Motion) -> None:
    before, after = motion(motion.breaks[1:-1] - 1e-10), motion(motion.breaks[1:-1])
    np.testing.assert_allclose(before.q, after.q, atol=1e-8)
    np.testing.assert_allclose(before.qd, after.qd, atol=1e-7)


def test_the_robot_rests_before_and_after(motion: Motion) -> None:
    T = motion.duration
    outside, ends = motion([-1.0, T + 1.0]), motion([0.0, T])
    np.testing.assert_array_equal(outside.q, ends.q)
    assert not np.any([outside.qd, outside.qdd, outside.qddd])
    np.testing.assert_array_equal(motion([T * (1 + 1e-15)]).qdd, ends.qdd[1:])  # rounding is no time after


def test_a_motion_pickles_and_prints_one_line(motion: Motion) -> None:
    again = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(again.sample(count=5).q, motion.sample(count=5).q)
    assert repr(motion).startswith("Motion(n=3, duration=")


def test_samples_come_at_each_step_and_at_the_end() -> None:
    motion = cubic([0.0], [1.0], duration=1.0)
    np.testing.assert_allclose(motion.sample(dt=0.1).t, np.linspace(0, 1, 11), atol=1e-15)
    np.testing.assert_allclose(motion.sample(dt=0.3).t, [0.0, 0.3, 0.6, 0.9, 1.0])
    np.testing.assert_array_equal(motion.sample(count=3).t, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(motion.sample(dt=2.0).t, [0.0, 1.0])


@pytest.mark.parametrize("make", [
    lambda a, b: trapezoidal(a, b, duration=[1.0, 2.0, 1.5], acceleration_time=0.2),
    lambda a, b: septic(a, b, duration=2.0, velocities=(a, 1.0)),
    lambda a, b: spline(np.stack([a, b, a - b, b], axis=-2), [0.0, 1.0, 1.5, 2.0], kind="quintic"),
    lambda a, b: b_spline(np.stack([a, b, a - b, b], axis=-2), duration=2.0, degree=3),
    lambda a, b: blended(np.stack([a, b, a - b, b], axis=-2), [0.0, 1.0, 1.5, 1.9], blend_time=0.1, kind="quintic"),
    lambda a, b: fourier(np.stack([a, b], axis=-2), np.stack([b, a], axis=-2), centre=a, frequency=0.5, rest=True),
    lambda a, b: faded(septic(a, b, duration=1.0), cubic(b, a, duration=1.5), overlap=0.5),
    lambda a, b: quintic(a, b, duration=1.0).then(cubic(b, a, duration=0.4)).reversed().stretched(2.0),
])  # fmt: skip
def test_a_batch_is_its_motions(make) -> None:
    a, b = RNG.normal(size=(2, 4, 2, 3))
    batch, t = make(a, b), np.linspace(0.0, 2.0, 9)
    assert batch.shape == (4, 2, 3)
    for row in np.ndindex(4, 2):
        single = make(a[row], b[row])(t)
        for name in ("q", "qd", "qdd", "qddd"):
            found = getattr(batch(t), name)
            assert found.shape == (4, 2, 9, 3)
            np.testing.assert_allclose(found[row], getattr(single, name), rtol=1e-12, atol=1e-12)


def test_rows_of_a_batch_are_motions() -> None:
    a, b = RNG.normal(size=(2, 4, 2, 3))
    batch = quintic(a, b, duration=1.0)
    assert batch[1].shape == (2, 3)
    assert batch[::2, 0].shape == (2, 3)
    assert [row.shape for row in batch] == [(2, 3)] * 4
    np.testing.assert_array_equal(batch[1, 0]([0.3]).qd, batch([0.3]).qd[1, 0])
    with pytest.raises(TypeError, match="a single motion is not a batch"):
        iter(batch[1, 0])


def test_stacked_motions_rest_after_their_own_time() -> None:
    short, long = cubic(A, B, duration=1.0, velocities=(0.0, 1.0)), MOTIONS["joined"]
    both = stacked([short, long])
    assert both.shape == (2, 3)
    assert both.duration == long.duration
    np.testing.assert_allclose(both([2.0]).q[:, 0], [B, long([2.0]).q[0]], rtol=1e-14)
    np.testing.assert_array_equal(both([2.0]).qd[0], 0.0)


def test_at_one_time_there_is_no_axis_of_times(motion: Motion) -> None:
    t = 0.4 * motion.duration
    alone, rows = motion(t), motion([t, motion.duration + 1.0])
    assert alone.t.shape == ()
    for name in ("q", "qd", "qdd", "qddd"):
        # sums of a series are rounded by the order of their terms, which is another for one row
        np.testing.assert_allclose(getattr(alone, name), getattr(rows, name)[0], rtol=1e-14, atol=1e-13)
        after = getattr(motion(motion.duration + 1.0), name)
        np.testing.assert_allclose(after, getattr(rows, name)[1], rtol=1e-14, atol=1e-13)


BATCHES: dict[str, Motion] = {
    "polynomials": quintic(RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 3, 4)), duration=1.3),
    "series": fourier(RNG.normal(size=(2, 3, 2, 4)), RNG.normal(size=(2, 3, 2, 4)), frequency=0.5, centre=0.1),
    "series at rest": fourier(RNG.normal(size=(2, 3, 2, 4)), RNG.normal(size=(2, 3, 2, 4)), frequency=0.5, rest=True),
}
BATCHES |= {
    "slow and back": BATCHES["polynomials"].stretched(3.0).then(BATCHES["polynomials"].reversed()),
    "one for all, then each": quintic(np.zeros(4), np.ones(4), duration=0.5).then(
        quintic(np.ones((2, 3, 4)), RNG.normal(size=(2, 3, 4)), duration=1.3)
    ),
    "faded": faded(BATCHES["polynomials"], BATCHES["polynomials"].reversed(), overlap=0.4),
    "faded from one": faded(quintic(np.zeros(4), np.ones(4), duration=0.5), BATCHES["polynomials"], overlap=0.4),
    "in time": BATCHES["polynomials"].timed(quintic([0.0], [1.3], duration=2.0)),
}


@pytest.mark.parametrize("which", [0, -1, (1, 2), (slice(None), 1), ..., None, [1, 0, 1], np.array([True, False])], ids=str)
@pytest.mark.parametrize("name", BATCHES)
def test_rows_of_a_batch_are_those_of_its_samples(name: str, which) -> None:
    batch, t = BATCHES[name], np.linspace(0.0, BATCHES[name].duration, 11)
    some = batch[which]
    assert some.duration == batch.duration
    assert some.shape == np.empty((2, 3))[which].shape + (4,)
    for rate in ("q", "qd", "qdd", "qddd"):
        np.testing.assert_allclose(getattr(some(t), rate), getattr(batch(t), rate)[which], rtol=1e-12, atol=1e-12)


def test_a_row_of_stacked_motions_keeps_the_clock_of_all() -> None:
    both = stacked([quintic(A, B, duration=1.0), quintic(B, C, duration=2.0)])
    assert both[0].duration == 2.0
    np.testing.assert_allclose(both[0]([1.5]).q, [B], rtol=1e-14)
    assert both[[]].shape == (0, 3)


def test_a_row_of_many_costs_as_much_as_one() -> None:
    """Else going through a batch would take the square of its size."""
    many = quintic(np.zeros((5000, 3)), np.ones((5000, 3)), duration=1.0)
    assert many[17].coefficients.shape == (1, 6, 3)


def test_a_faded_motion_leaves_one_for_the_other() -> None:
    one, other = septic(A, B, duration=1.0), septic(B, C, duration=0.7)
    whole = faded(one, other, overlap=0.3)
    assert whole.duration == pytest.approx(1.4)
    np.testing.assert_allclose(whole([0.69]).qddd, one([0.69]).qddd)
    np.testing.assert_allclose(whole([1.01]).qddd, other([0.31]).qddd)
    for edge in (0.7, 1.0):  # three derivatives pass without a jump
        before, after = whole([edge - 1e-9]), whole([edge + 1e-9])
        for name in ("q", "qd", "qdd", "qddd"):
            np.testing.assert_allclose(getattr(before, name), getattr(after, name), atol=1e-4)


@pytest.mark.parametrize(("make", "orders"), [(cubic, 1), (quintic, 2), (septic, 3)])
def test_a_polynomial_has_the_given_derivatives_at_its_ends(make, orders: int) -> None:
    names = ("velocities", "accelerations", "jerks")[:orders]
    given = {name: tuple(RNG.normal(size=(2, 3))) for name in names}
    found = make(A, B, duration=0.7, **given)([0.0, 0.7])
    np.testing.assert_allclose(found.q, [A, B], atol=1e-15)
    for order, key in enumerate(names, 1):  # coefficients up to 84 times the values, and 7³ of derivatives: rounding grows
        np.testing.assert_allclose(getattr(found, "q" + order * "d"), given[key], rtol=1e-12, atol=1e-13 * (7 / 0.7) ** order)


def test_the_quintic_from_rest_to_rest_is_the_known_one() -> None:
    s = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(quintic([0.0], [1.0], duration=1.0)(s).q[:, 0], 10 * s**3 - 15 * s**4 + 6 * s**5, atol=1e-15)
    assert quintic([0.0], [1.0], duration=1.0)([0.5]).qd[0, 0] == pytest.approx(15 / 8)


def test_a_reversed_motion_runs_backwards_and_a_stretched_one_slowly() -> None:
    motion, t = MOTIONS["quintic spline"], np.linspace(0.05, 3.0, 17)
    here, back, slow = motion(t), motion.reversed()(3.1 - t), motion.stretched(2.0)(2 * t)
    for k, name in enumerate(("q", "qd", "qdd", "qddd")):
        np.testing.assert_allclose(getattr(back, name), (-1) ** k * getattr(here, name), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(getattr(slow, name), getattr(here, name) / 2**k, rtol=1e-9, atol=1e-11)


def test_a_timed_path_breaks_where_the_path_does() -> None:
    timed = MOTIONS["timed"]
    np.testing.assert_allclose(timed(timed.breaks).q, POINTS, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.sample(), "sample: one of dt and count is expected"),
        (lambda m: m.sample(dt=-1.0), "dt: -1 s found; one positive number"),
        (lambda m: m.sample(dt=1e-12), "dt: number of samples: .* a whole number from 1 to 10000000"),
        (lambda m: m.stretched(0.0), "factor: 0 found; one positive number"),
        (lambda m: m([[0.0]]), r"t: shape \(1, 1\) found, \(k,\) expected: one time per sample, or \(\) for a single one"),
        (lambda m: m([np.nan]), "t: .*contains NaN"),
        (
            lambda m: m.then(m),
            "then: part 1 ends .* away from where part 2 begins, in coordinate [123] of 3; a robot",
        ),
        (lambda m: m.then(cubic([0.0], [1.0], duration=1.0)), "then: motions of 3 and 1 coordinates"),
        (lambda m: m.then(3), r"then: 3 found; a Motion is expected. Try dal.trajectory.quintic"),
        (lambda m: faded(m, m, overlap=4.0), "overlap: 4 s found, but the motions last 3.1 s and 3.1 s"),
        (lambda m: faded(m, 3, overlap=1.0), "other: 3 found; a Motion is expected"),
        (lambda m: faded(m, cubic([0.0], [1.0], duration=1.0), overlap=1.0), "fading: motions of 3 and 1 coordinates"),
        (lambda m: stacked([]), "motions: none found"),
        (lambda m: stacked([m, 3]), "motions: 3 found; a Motion"),
        (lambda m: stacked([m, quintic([A, B], [B, A], duration=1.0)]), r"motions: shape \(2, 3\) found, \(n,\) expected"),
        (lambda m: m[0], r"motion\[0\]: the batch has shape \(\)"),
        (lambda m: m.timed(spline([[0.0], [3.0], [3.1]], [0.0, 1.0, 3.0])), "timing: s from .* found, but the path runs"),
        (lambda m: cubic(A, 1e31 * B, duration=1.0), r"end: .* contains a number beyond 1e\+30"),
        (lambda m: cubic(A, B, duration=1e-40), "duration: 1e-40 s found, which overflows in derivatives"),
        (lambda m: m.timed(m), "timing: .* found, a motion of one coordinate is expected"),
        (
            lambda m: m.timed(triangular([0.0], [9.0], duration=1.0)),
            "timing: s from 0 to 9 found, but the path runs",
        ),
        (lambda m: cubic(A, B, duration=-1.0), "duration: -1 s found"),
        (lambda m: cubic(A, B, duration=1.0, velocities=1.0), "velocities: 1.0 found, a pair is expected"),
        (lambda m: cubic(A, B, duration=1.0, velocities=([1.0, 2.0], 0.0)), r"velocities: shape \(2,\) found"),
    ],
)
def test_what_makes_no_motion_is_refused(call, message: str) -> None:
    with pytest.raises((ShapeError, ModelError), match=message):
        call(MOTIONS["cubic spline"])
