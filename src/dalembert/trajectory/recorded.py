"""Motions from samples: filtered without delay, then a quintic spline, so that derivatives are those of one smooth curve.

The filter is named in `motion.about`. Its cut-off is where the whole of it, forwards and backwards, passes 1/√2 of an amplitude.
What Savitzky and Golay fit still trembles from sample to sample, so the spline passes every eighth part of a window only.
A Butterworth filter of order N run both ways passes 1/(1 + (Ω/Ω_c)^2N), Ω = tan(π f/f_s), so that its own cut-off needs to be
Ω_c = Ω/(√2 − 1)^(1/2N) for the whole to have Ω [Oppenheim2009, App. B].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .motion import Motion
from .piecewise import Piecewise
from .splines import spline

ORDER = 4  # of the Butterworth filter, each way
LOCAL_DEGREE = 5  # of the polynomials of Savitzky and Golay
FILTERS = {"butterworth": "cutoff", "savitzky_golay": "window", "none": ""}


def sampled(
    t: ArrayLike, q: ArrayLike, *, method: str = "butterworth", cutoff: float | None = None, window: float | None = None
) -> Motion:
    """The motion of recorded positions, with derivatives by a filter that is named in the result.

    Parameters
    ----------
    t : array_like, shape (k,)
        Times of the samples [s]; evenly spaced, unless there is no filter.
    q : array_like, shape (..., k, n)
        Positions.
    method : str
        "butterworth": of fourth order, forwards and backwards, so that nothing is delayed; `cutoff` says up to where.
        "savitzky_golay": a quintic fitted to the samples of a `window`, moving along. "none": through the samples themselves.
    cutoff : float, optional
        Frequency above which a Butterworth filter takes away [Hz].
    window : float, optional
        Time over which Savitzky and Golay fit [s].

    Returns
    -------
    Motion
        Beginning at zero; `motion.about` names filter and cut-off.

    Examples
    --------
    >>> import dalembert as dal
    >>> import numpy as np
    >>> t = np.linspace(0.0, 2.0, 401)
    >>> motion = dal.trajectory.sampled(t, np.sin(3 * t)[:, None], cutoff=20.0)
    >>> motion.about
    'sampled at 200 Hz, Butterworth filter of order 4 both ways, cut-off 20 Hz, quintic spline'
    >>> float(round(motion([1.0]).qd[0, 0] / (3 * np.cos(3.0)), 3))
    1.0
    """
    needed = checks.choice("method", method, FILTERS)
    values = _values(q)
    times = arguments.increasing("t", t, values.shape[-2])
    for name, value in (("cutoff", cutoff), ("window", window)):
        if (value is None) == (name == needed):
            told = f"method {method!r} needs it" if value is None else f"method {method!r} does not take it"
            raise ShapeError(f"{name}: {checks.shown(value)} found, but {told}. butterworth takes cutoff [Hz], "
                             "savitzky_golay takes window [s], none takes neither.")  # fmt: skip
    rate = 1.0 / _even_step(times) if needed else (len(times) - 1) / times[-1]
    smooth, named, every = values, "no filter", 1
    if method == "butterworth":
        smooth, named = _butterworth(values, rate, arguments.positive("cutoff", cutoff, "Hz"))
    elif method == "savitzky_golay":
        smooth, named, every = _savitzky_golay(values, rate, arguments.positive("window", window))
    knots = np.unique(np.append(np.arange(0, len(times), every), len(times) - 1))
    through = spline(smooth[..., knots, :], times[knots], kind="quintic", ends="natural")
    assert isinstance(through, Piecewise)
    return Piecewise(through.breaks, through.coefficients, f"sampled at {rate:.6g} Hz, {named}, quintic spline")


def _values(q: ArrayLike) -> FloatArray:
    found = checks.numbers("q", q, error=ShapeError)
    if found.ndim < 2 or found.shape[-2] < 8 or not found.shape[-1]:
        raise ShapeError(f"q: shape {found.shape} found, (..., k, n) expected: a row for each of 8 or more samples.")
    if not (good := np.isfinite(found)).all():
        *_, row, column = np.argwhere(~good)[0]
        missing = f"{(~good).sum()} of {found.size} numbers are NaN or infinite, the first in sample {row}, coordinate {column}"
        raise ShapeError(f"q: {missing}; a filter would spread it. Cut the record there, or fill the gap.")
    return found


def _even_step(t: FloatArray) -> float:
    """The time between samples, refused where it changes by more than a thousandth: clocks print few digits."""
    steps = np.diff(t)
    step = float(t[-1] / len(steps))
    worst = int(np.argmax(np.abs(steps - step)))
    if abs(steps[worst] - step) > 1e-3 * step:
        raise ShapeError(
            f"t: a step of {steps[worst]:g} s found after sample {worst}, {step:g} s on average; a filter needs even steps. "
            'Resample first: sampled(t, q, method="none").sample(dt=...).'
        )
    return step


def _butterworth(q: FloatArray, rate: float, cutoff: float) -> tuple[FloatArray, str]:
    from scipy.signal import butter, sosfiltfilt

    if cutoff >= rate / 2:
        raise ShapeError(f"cutoff: {cutoff:g} Hz found, but samples at {rate:g} Hz hold frequencies below {rate / 2:g} Hz only.")
    own = np.arctan(np.tan(np.pi * cutoff / rate) / (np.sqrt(2) - 1) ** (1 / (2 * ORDER))) / np.pi
    sections: Any = butter(ORDER, 2 * own, output="sos")
    pad = min(q.shape[-2] - 1, int(np.ceil(3 * rate / cutoff)) + 3 * ORDER)
    smooth = np.asarray(sosfiltfilt(sections, q, axis=-2, padtype="odd", padlen=pad))
    return smooth, f"Butterworth filter of order {ORDER} both ways, cut-off {cutoff:g} Hz"


def _savitzky_golay(q: FloatArray, rate: float, window: float) -> tuple[FloatArray, str, int]:
    from scipy.signal import savgol_filter

    length = 2 * round(window * rate / 2) + 1  # an odd number of samples
    if not LOCAL_DEGREE + 2 <= length <= q.shape[-2]:
        least, most = (LOCAL_DEGREE + 1) / rate, (q.shape[-2] - 1) / rate
        raise ShapeError(f"window: {window:g} s found, which is {length} samples; {least:g} to {most:g} s are expected.")
    smooth = np.asarray(savgol_filter(q, length, LOCAL_DEGREE, axis=-2, mode="interp"))
    cut = _cut_off(length) * rate
    return (
        smooth,
        f"Savitzky-Golay filter, degree {LOCAL_DEGREE} over {length} samples, cut-off {cut:.4g} Hz",
        max(1, length // 8),
    )


def _cut_off(length: int) -> float:
    """Frequency, as a share of the sampling rate, up to which a Savitzky-Golay filter passes 1/√2 or more."""
    from scipy.signal import savgol_coeffs

    f = np.linspace(0.0, 0.5, 2001)
    weights = savgol_coeffs(length, LOCAL_DEGREE)
    gain = np.cos(2 * np.pi * np.outer(f, np.arange(length) - length // 2)) @ weights
    return float(f[np.argmax(gain < np.sqrt(0.5))])
