"""Rigid-body algebra over scalars of any kind."""

from .inertia import SYM_ZERO, ArticulatedInertia, Inertia, Sym3
from .transform import Pose, Transform, Turn
from .twists import AT_REST, NO_FORCE, Force, Motion
from .vec3 import IDENTITY, NULL, Z_AXIS, ZERO, Mat3, Vec3, mat3, outer, skew, vec3

__all__ = [
    "AT_REST",
    "IDENTITY",
    "NO_FORCE",
    "NULL",
    "SYM_ZERO",
    "ZERO",
    "Z_AXIS",
    "ArticulatedInertia",
    "Force",
    "Inertia",
    "Mat3",
    "Motion",
    "Pose",
    "Sym3",
    "Transform",
    "Turn",
    "Vec3",
    "mat3",
    "outer",
    "skew",
    "vec3",
]
