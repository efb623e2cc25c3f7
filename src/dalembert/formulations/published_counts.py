"""Operations of formulations as their documents count them, for an arm of n turning joints in general position.

The documents count one evaluation of all coefficients and torques from joint angles on. Sines and cosines are left out, and no
number of the arm is taken to be zero or one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Polynomial:
    """A polynomial by its coefficients, that of the highest power first."""

    coefficients: tuple[Fraction, ...]

    def __call__(self, n: int) -> int:
        """Its value, which is a whole number of operations."""
        value = Fraction(0)
        for coefficient in self.coefficients:
            value = value * n + coefficient
        assert value.denominator == 1
        return int(value)


@dataclass(frozen=True)
class PublishedCount:
    """What a document says a formulation takes."""

    multiplications: Polynomial
    additions: Polynomial
    source: str


def _polynomial(*coefficients: str | int) -> Polynomial:
    return Polynomial(tuple(map(Fraction, coefficients)))


_TABLES = "Lee, Table 1; Milicevic, Table 3"

# [Lee, Table 1; Milicevic, Table 3]
PUBLISHED: dict[str, PublishedCount] = {
    "lagrange_euler": PublishedCount(
        _polynomial("128/3", "512/3", "739/3", "160/3", 0), _polynomial("98/3", "781/6", "559/3", "245/6", 0), _TABLES
    ),
    "newton_euler": PublishedCount(_polynomial(132, 0), _polynomial(111, -4), _TABLES),
    "generalized_dalembert": PublishedCount(
        _polynomial("13/6", "105/2", "268/3", 69), _polynomial("4/3", 44, "146/3", 45), _TABLES
    ),
}
