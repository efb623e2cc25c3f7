"""Vectors and 3x3 arrays whose components are scalars of any kind (float, batch, graph node)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Vec3(NamedTuple):
    """A vector by its three components."""

    x: Any
    y: Any
    z: Any

    def __add__(self, other: Vec3) -> Vec3:  # type: ignore[override]
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Any) -> Vec3:
        return Vec3(self.x * factor, self.y * factor, self.z * factor)

    def __rmul__(self, factor: Any) -> Vec3:
        return self * factor

    def dot(self, other: Vec3) -> Any:
        """Inner product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vec3) -> Vec3:
        """self × other."""
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )


ZERO = Vec3(0.0, 0.0, 0.0)
Z_AXIS = Vec3(0.0, 0.0, 1.0)


def vec3(values: Iterable[Any]) -> Vec3:
    """A Vec3 of plain floats (or of whatever scalars are given)."""
    return Vec3(*(v if _is_scalar_kind(v) else float(v) for v in values))


def _is_scalar_kind(value: Any) -> bool:
    return hasattr(value, "graph") or (hasattr(value, "shape") and value.shape != ())


class Mat3(NamedTuple):
    """A 3x3 array by its rows; rotations, skew and general matrices alike."""

    x: Vec3
    y: Vec3
    z: Vec3

    def __add__(self, other: Mat3) -> Mat3:  # type: ignore[override]
        return Mat3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Mat3) -> Mat3:
        return Mat3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __matmul__(self, v: Vec3) -> Vec3:
        return Vec3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    @property
    def T(self) -> Mat3:
        """Transpose; the inverse of a rotation."""
        return Mat3(*(Vec3(*column) for column in zip(*self, strict=True)))

    @property
    def third(self) -> Vec3:
        """The third column; of a rotation R_AB, the z axis of B in A."""
        return Vec3(self.x.z, self.y.z, self.z.z)

    def times(self, other: Mat3) -> Mat3:
        """The matrix product self · other."""
        columns = other.T
        return Mat3(*(Vec3(row.dot(columns.x), row.dot(columns.y), row.dot(columns.z)) for row in self))


IDENTITY = Mat3(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
NULL = Mat3(ZERO, ZERO, ZERO)


def mat3(rows: Iterable[Iterable[Any]]) -> Mat3:
    """A Mat3 from three rows."""
    return Mat3(*(vec3(row) for row in rows))


def outer(a: Vec3, b: Vec3) -> Mat3:
    """a bᵀ."""
    return Mat3(b * a.x, b * a.y, b * a.z)


def skew(v: Vec3) -> Mat3:
    """The matrix of v ×."""
    return Mat3(Vec3(0.0, -v.z, v.y), Vec3(v.z, 0.0, -v.x), Vec3(-v.y, v.x, 0.0))
