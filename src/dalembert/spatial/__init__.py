"""Rigid-body algebra over scalars of any kind."""

from .inertia import SYM_ZERO, ArticulatedInertia, Inertia, Sym3, gyration, second_moment
from .nested import Matrix, Tensor
from .transform import Pose, Transform, Turn
from .twists import AT_REST, NO_FORCE, Force, Twist
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
    "Matrix",
    "Pose",
    "Sym3",
    "Tensor",
    "Transform",
    "Turn",
    "Twist",
    "Vec3",
    "gyration",
    "mat3",
    "outer",
    "second_moment",
    "skew",
    "vec3",
]
