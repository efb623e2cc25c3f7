"""B-splines, blends, Fourier series and recorded samples: what each promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

from dalembert.errors import ShapeError, UnknownNameError
from dalembert.trajectory import b_spline, blended, fourier, sampled

RNG = np.random.default_rng(11)
POINTS = RNG.normal(size=(9, 2))


@pytest.mark.parametrize("degree", [1, 3, 5, 8])
def test_a_b_spline_is_scipy_s_and_stays_within_its_points(degree: int) -> None:
    motion = b_spline(POINTS, duration=3.0, degree=degree)
    knots = np.concatenate([np.zeros(degree), np.linspace(0, 3, 10 - degree), np.full(degree, 3.0)])
    t = np.linspace(0.0, 2.999, 211)
    at, reference = motion(t), BSpline(knots, POINTS, degree)
    for k, name in enumerate(("q", "qd", "qdd", "qddd")):
        np.testing.assert_allclose(getattr(at, name), reference(t, k), rtol=1e-9, atol=1e-9)
    assert (at.q <= POINTS.max(axis=0)).all()
    assert (at.q >= POINTS.min(axis=0)).all()
    np.testing.assert_allclose(motion([0.0, 3.0]).q, POINTS[[0, -1]], atol=1e-12)


def test_a_b_spline_with_a_knot_repeated_has_a_corner_there() -> None:
    motion = b_spline(POINTS[:6], duration=2.0, degree=3, knots=[1.0, 1.0])
    np.testing.assert_array_equal(motion.breaks, [0.0, 1.0, 2.0])
    before, after = motion([1.0 - 1e-9]), motion([1.0])
    np.testing.assert_allclose(before.qd, after.qd, atol=1e-6)
    assert np.abs(before.qdd - after.qdd).max() > 1.0


@pytest.mark.parametrize("kind", ["parabolic", "quintic"])
def test_blends_leave_the_lines_alone(kind: str) -> None:
    times = np.array([0.0, 1.0, 1.5, 2.5])
    motion = blended(POINTS[:4], times, blend_time=0.2, kind=kind)
    assert motion.duration == pytest.approx(2.7)
    for k in range(3):
        t = np.linspace(times[k] + 0.1, times[k + 1] - 0.1, 7)[1:-1]
        share = ((t - times[k]) / (times[k + 1] - times[k]))[:, None]
        at = motion(t + 0.1)  # it begins half a blend time before the first point
        np.testing.assert_allclose(at.q, POINTS[k] + share * (POINTS[k + 1] - POINTS[k]), atol=1e-12)
        np.testing.assert_allclose(at.qdd, 0.0, atol=1e-9)


def test_parabolic_blends_have_the_constant_acceleration_of_the_book() -> None:
    """q̈ = (q̇₊ − q̇₋)/t_b, and the corner is missed by t_b/8 times the change of velocity."""
    motion = blended([[0.0], [1.0], [0.5]], [0.0, 1.0, 2.0], blend_time=0.4)
    np.testing.assert_allclose(motion([1.01, 1.2, 1.39]).qdd[:, 0], -1.5 / 0.4)
    assert 1.0 - motion([1.2]).q[0, 0] == pytest.approx(0.4 / 8 * 1.5)


def test_quintic_blends_have_no_jump_of_the_acceleration() -> None:
    motion = blended(POINTS[:4], [0.0, 1.0, 1.5, 2.5], blend_time=[0.3, 0.5, 0.5, 0.2], kind="quintic")  # two of them touch
    assert len(motion.breaks) == 7
    np.testing.assert_allclose(motion(motion.breaks[1:-1] - 1e-9).qdd, 0.0, atol=1e-4)
    np.testing.assert_allclose(motion(motion.breaks).qdd, 0.0, atol=1e-9)


def test_a_fourier_series_is_periodic_and_its_own_sum() -> None:
    a, b = POINTS[:3], POINTS[3:6]
    motion, t = fourier(a, b, frequency=0.5, centre=[1.0, 2.0], periods=3), np.linspace(0.0, 1.9, 23)
    assert motion.duration == 6.0
    expected = [1.0, 2.0] + sum(
        np.outer(np.sin(k * np.pi * t), a[k - 1]) + np.outer(np.cos(k * np.pi * t), b[k - 1]) for k in (1, 2, 3)
    )
    np.testing.assert_allclose(motion(t).q, expected, atol=1e-13)
    for name in ("q", "qd", "qdd", "qddd"):
        np.testing.assert_allclose(getattr(motion(t), name), getattr(motion(t + 4.0), name), atol=1e-10)


def test_a_fourier_series_at_rest_begins_and_ends_there() -> None:
    motion = fourier(POINTS[:5], POINTS[4:], frequency=0.3, centre=POINTS[0], periods=2, rest=True)
    at = motion([0.0, motion.duration])
    np.testing.assert_allclose(at.q, [POINTS[0], POINTS[0]], atol=1e-13)
    np.testing.assert_allclose(at.qd, 0.0, atol=1e-12)
    np.testing.assert_allclose(at.qdd, 0.0, atol=1e-11)


def noisy(rate: float = 200.0, frequency: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t = np.arange(0.0, 4.0, 1 / rate)
    clean = np.sin(2 * np.pi * frequency * t)[:, None]
    return t, clean + 1e-3 * np.random.default_rng(0).normal(size=clean.shape), clean


@pytest.mark.parametrize("options", [{"cutoff": 8.0}, {"method": "savitzky_golay", "window": 0.25}])
def test_a_filter_gives_accelerations_that_samples_alone_do_not(options: dict) -> None:
    t, q, _ = noisy()
    inside = (t > 0.3) & (t < 3.6)
    expected = -((2 * np.pi) ** 2) * np.sin(2 * np.pi * t)[inside, None]
    errors = {name: np.abs(sampled(t, q, **chosen)(t).qdd[inside] - expected).max()
              for name, chosen in (("filtered", options), ("raw", {"method": "none"}))}  # fmt: skip
    assert errors["filtered"] < 0.05 * 39.5
    assert errors["raw"] > 40 * errors["filtered"]


@pytest.mark.parametrize("cutoff", [2.0, 10.0])
def test_at_its_cut_off_the_whole_filter_passes_half_the_power_without_delay(cutoff: float) -> None:
    t, _, _ = noisy(rate=500.0)
    wave = np.sin(2 * np.pi * cutoff * t)[:, None]
    at = sampled(t, wave, cutoff=cutoff)(t)
    inside = slice(800, 1200)
    np.testing.assert_allclose(at.q[inside], np.sqrt(0.5) * wave[inside], atol=2e-3)


def test_the_cut_off_of_a_savitzky_golay_filter_is_as_it_says() -> None:
    t, _, _ = noisy(rate=500.0)
    named = sampled(t, t[:, None], method="savitzky_golay", window=0.1).about
    assert named.startswith("sampled at 500 Hz, Savitzky-Golay filter, degree 5 over 51 samples, cut-off ")
    cutoff = float(named.split("cut-off ")[1].split(" Hz")[0])
    wave = np.sin(2 * np.pi * cutoff * t)[:, None]
    found = sampled(t, wave, method="savitzky_golay", window=0.1)(t).q
    np.testing.assert_allclose(found[600:900], np.sqrt(0.5) * wave[600:900], atol=2e-2)


def test_without_a_filter_the_motion_passes_its_samples() -> None:
    t, q, _ = noisy()
    t = t + 1e-3 * np.sin(t)  # uneven
    motion = sampled(t + 7.0, q, method="none")
    np.testing.assert_allclose(motion(t - t[0]).q, q, atol=1e-12)
    assert "no filter" in repr(motion)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: b_spline(POINTS, duration=1.0, degree=10), "degree: 10 found; a whole number from 1 to 9"),
        (lambda: b_spline(POINTS[:4], duration=1.0), "control_points: 4 found, a B-spline of degree 5 needs 6 or more"),
        (lambda: b_spline(POINTS, duration=1.0, knots=[0.5]), r"knots: shape \(1,\) found, \(3,\) expected"),
        (lambda: b_spline(POINTS, duration=1.0, knots=[0.5, 0.4, 0.6]), "knots: .* may not decrease"),
        (lambda: blended(POINTS[:3], [0, 1, 2], blend_time=1.1), "blends of points 1 and 2 overlap by 0.1 s"),
        (lambda: blended(POINTS[:3], [0, 1, 2], blend_time=0.0), "blend_time: 0 s found; blends need a positive time"),
        (lambda: fourier(POINTS, POINTS[:2], frequency=1.0), "sines, cosines: shapes .* twice expected"),
        (lambda: fourier(POINTS, POINTS, frequency=0.0), "frequency: 0 Hz found"),
        (lambda: sampled([0.0], [[1.0]]), r"q: shape \(1, 1\) found, \(..., k, n\) expected: a row for each of 8"),
        (lambda: sampled(np.arange(9.0), POINTS), "cutoff: None found, but method 'butterworth' needs it"),
        (lambda: sampled(np.arange(9.0), POINTS, cutoff=0.1, window=1.0), "window: 1.0 found, but method 'butterworth' does not"),
        (lambda: sampled(np.arange(9.0), POINTS, cutoff=0.6), "cutoff: 0.6 Hz found, but samples at 1 Hz hold"),
        (lambda: sampled(np.arange(9.0), POINTS, method="savitzky_golay", window=2.0), "window: 2 s found, which is 3 samples"),
        (lambda: sampled(np.arange(9.0) ** 3, POINTS, cutoff=0.1), "t: a step of 169 s found after sample 7, 64 s on average"),
        (lambda: sampled(np.arange(9.0), np.where(POINTS > 1, np.nan, POINTS), cutoff=0.1), "q: . of 18 numbers are NaN or inf"),
        (lambda: sampled(np.arange(9.0), POINTS, method="butterwort"), "method: 'butterwort' is not known"),
    ],
)  # fmt: skip
def test_what_is_no_curve_is_refused(call, message: str) -> None:
    with pytest.raises((ShapeError, UnknownNameError, ValueError), match=message):
        call()
