"""Periodic motions as finite Fourier series, as they excite a robot for identification [Swevers1997].

    q(t) = q_c + Σ_k a_k sin kωt + b_k cos kωt,   ω = 2π f                                      (1)

A series moves when it begins. To begin and end at rest at q_c, after whole periods, a quintic polynomial is added that takes
position, velocity and acceleration of (1) away at both ends; its derivatives are small beside those of the series.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .motion import IntArray, Motion, Rates
from .piecewise import hermite


def fourier(
    sines: ArrayLike, cosines: ArrayLike, *, frequency: float, centre: ArrayLike = 0.0, periods: int = 1, rest: bool = False
) -> Motion:
    """A Fourier series over whole periods. Equation (1).

    Parameters
    ----------
    sines, cosines : array_like, shape (..., h, n)
        a_k and b_k of the harmonics k = 1 to h [rad | m].
    frequency : float
        f of the first harmonic [Hz].
    centre : array_like, shape () or (n,) or (..., n)
        q_c, the mean.
    periods : int
        How many of them.
    rest : bool
        Begin and end at rest at the centre, without acceleration, by an added quintic polynomial.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.fourier([[0.5], [0.1]], [[0.2], [0.0]], frequency=0.1, rest=True)
    >>> motion.duration
    10.0
    >>> float(abs(motion([0.0]).qd[0, 0])) < 1e-15
    True
    """
    a, b = (arguments.rows(name, value, least=1) for name, value in (("sines", sines), ("cosines", cosines)))
    if a.shape != b.shape:
        raise ShapeError(f"sines, cosines: shapes {a.shape} and {b.shape} found, (..., h, n) twice expected.")
    f = arguments.positive("frequency", frequency, "Hz")
    T = checks.whole_number("periods", periods, 1, 1_000_000) / f
    middle = arguments.like("centre", centre, a.shape[:-2] + a.shape[-1:])
    series = Fourier(a, b, middle, f, T)
    return AtRest(series) if checks.flag("rest", rest) else series


class Fourier(Motion):
    """Equation (1)."""

    def __init__(self, a: FloatArray, b: FloatArray, centre: FloatArray, frequency: float, duration: float) -> None:
        self.a, self.b, self.centre = (checks.frozen(np.asarray(x, float)) for x in (a, b, centre))
        self.frequency, self.omega = frequency, 2 * np.pi * frequency * np.arange(1, a.shape[-2] + 1)
        self.breaks, self.shape = checks.frozen(np.array([0.0, duration])), centre.shape
        self.about = f"Fourier series of {a.shape[-2]} harmonics of {frequency:g} Hz"

    def rows(self, numbers: IntArray) -> Fourier:
        """As said in `Motion`: only the amplitudes of these."""
        a, b = (x.reshape(-1, *x.shape[-2:])[numbers] for x in (self.a, self.b))
        return Fourier(a, b, self.centre.reshape(-1, self.n)[numbers], self.frequency, self.duration)

    def at(self, t: FloatArray) -> Rates:
        """The series and its derivatives, term by term."""
        s, c = np.sin(t[:, None] * self.omega), np.cos(t[:, None] * self.omega)
        a, b, w = self.a, self.b, self.omega[:, None]
        q = s @ a + c @ b + self.centre[..., None, :]
        return q, c @ (a * w) - s @ (b * w), -(s @ (a * w**2) + c @ (b * w**2)), s @ (b * w**3) - c @ (a * w**3)


class AtRest(Motion):
    """A series with the polynomial that lets it begin and end at rest at its centre."""

    def __init__(self, series: Fourier) -> None:
        self.series, self.breaks, self.shape = series, series.breaks, series.shape
        self.about = f"{series.about}, with a quintic polynomial from rest to rest"
        q, qd, qdd, _ = series.at(series.breaks)
        self.correction = hermite(series.breaks, np.stack([series.centre[..., None, :] - q, -qd, -qdd]))

    def rows(self, numbers: IntArray) -> Motion:
        """As said in `Motion`."""
        return AtRest(self.series.rows(numbers))

    def at(self, t: FloatArray) -> Rates:
        """The sum of both."""
        q, qd, qdd, qddd = (one + other for one, other in zip(self.series.at(t), self.correction.at(t), strict=True))
        return q, qd, qdd, qddd
