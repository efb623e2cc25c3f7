"""The parts a robot is made of: joints, links and bodies, rotors, friction, limits.

Each part checks itself when built: what has no meaning (NaN, a zero axis, an asymmetric tensor) is refused here, what is
merely unphysical is left to `physical.py`, which warns.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError
from .record import Record, put

JOINT_TYPES = {
    "revolute": "turns about its axis between limits",
    "continuous": "turns about its axis without limits",
    "prismatic": "slides along its axis",
    "fixed": "does not move",
}
_IDENTITY = checks.frozen(np.eye(4))
_UPRIGHT = np.eye(3).tolist()
_ROUNDING = 1e-14  # what products of exact rotations leave
_ROTATION_TOLERANCE = 1e-6  # published rotation matrices are printed to six digits or more


def pose(subject: str, value: ArrayLike) -> FloatArray:
    """A 4x4 homogeneous transform, refused when its rotation part is not a rotation."""
    if value is _IDENTITY:
        return _IDENTITY
    X = checks.array(subject, value, (4, 4))
    R, last = X[:3, :3], X[3].tolist()
    if last == [0, 0, 0, 1] and R.tolist() == _UPRIGHT:  # most poses of long chains
        return X
    if last != [0, 0, 0, 1]:
        raise ModelError(f"{subject}: last row {checks.describe(X[3])} found, [0, 0, 0, 1] expected.")
    error = np.abs(R @ R.T - np.eye(3)).max()
    if error > _ROTATION_TOLERANCE or np.linalg.det(R) < 0:
        raise ModelError(
            f"{subject}: {checks.describe(R)} is not a rotation matrix (its rows need to be orthonormal and right-handed)."
        )
    return _orthonormal(subject, X) if error > _ROUNDING else X


def _orthonormal(subject: str, X: FloatArray) -> FloatArray:
    """The nearest true rotation to one printed with few digits; the mechanism would not be rigid otherwise."""
    U, _, Vt = np.linalg.svd(X[:3, :3])
    exact = X.copy()
    exact[:3, :3] = U @ Vt
    return checks.array(subject, exact, (4, 4))


def tensor(subject: str, value: ArrayLike) -> FloatArray:
    """A symmetric 3x3 tensor."""
    I = checks.array(subject, value, (3, 3))
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = I.tolist()
    if (xy, xz, yz) == (yx, zx, zy):
        return I
    skew = np.abs(I - I.T).max()
    if skew > 1e-9 * max(np.abs(I).max(), 1e-300):
        raise ModelError(
            f"{subject}: {checks.describe(I)} is not symmetric (largest difference {skew:.3g} kg m²). "
            "Were the six values put in the wrong places? Order: Ixx Ixy Ixz / Ixy Iyy Iyz / Ixz Iyz Izz."
        )
    return I


@dataclass(frozen=True, eq=False)
class Limits(Record):
    """Bounds of one joint: position [rad | m], velocity, effort [N m | N]; infinite where there are none."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        values = {
            k: checks.number(f"limits: {k}", getattr(self, k), infinite=True) for k in ("lower", "upper", "velocity", "effort")
        }
        put(self, **values)
        if self.lower > self.upper:
            raise ModelError(f"limits: lower {self.lower:g} is above upper {self.upper:g}. Are they exchanged?")
        if self.lower == math.inf or self.upper == -math.inf:
            raise ModelError(f"limits: {self.lower:g} to {self.upper:g} leaves no position at all. No limit is -inf and inf.")
        for name in ("velocity", "effort"):
            if values[name] < 0:
                raise ModelError(f"limits: {name} {values[name]:g} is negative; a magnitude is expected.")


@dataclass(frozen=True, eq=False)
class Mimic(Record):
    """A coupling: this joint's position is `multiplier` times another joint's, plus `offset`."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        put(
            self,
            joint=checks.name("mimic: joint", self.joint),
            multiplier=checks.number("mimic: multiplier", self.multiplier),
            offset=checks.number("mimic: offset", self.offset),
        )


@dataclass(frozen=True, eq=False)
class Joint(Record):
    """A joint from link `parent` (frame P) to link `child` (frame B): X_PB(q) = origin · motion(axis, q + home) · child_origin.

    `origin` places the joint frame J in P, `axis` is given in J, and `child_origin` places the link frame B in the moved
    joint frame (identity in URDF; the constant part of a standard DH row otherwise). `home` is the joint value, as the
    drawing counts it, at which q = 0.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: FloatArray = field(default_factory=lambda: _IDENTITY)
    axis: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    child_origin: FloatArray = field(default_factory=lambda: _IDENTITY)
    home: float = 0.0
    limits: Limits = Limits()
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        subject = f"joint {checks.name('joint', self.name)!r}"
        checks.choice(f"{subject}: type", self.type, JOINT_TYPES)
        put(
            self,
            name=str(self.name),
            parent=checks.name(f"{subject}: parent link", self.parent),
            child=checks.name(f"{subject}: child link", self.child),
            origin=pose(f"{subject}: origin", self.origin),
            child_origin=pose(f"{subject}: child_origin", self.child_origin),
            axis=unit_axis(subject, self.axis),
            home=checks.number(f"{subject}: home", self.home),
            limits=checks.instance(f"{subject}: limits", self.limits, Limits),
            mimic=checks.optional(f"{subject}: mimic", self.mimic, Mimic),
        )

    @property
    def moves(self) -> bool:
        """Whether the joint has a coordinate at all."""
        return self.type != "fixed"

    @property
    def turns(self) -> bool:
        """Whether the coordinate is an angle."""
        return self.type in ("revolute", "continuous")


def unit_axis(subject: str, value: ArrayLike) -> FloatArray:
    """The axis scaled to length one."""
    axis = checks.array(f"{subject}: axis", value, (3,), largest=sys.float_info.max)
    longest = max(abs(x) for x in axis.tolist())
    if longest > checks.LARGEST:  # its square might overflow
        axis = axis / longest
    length = math.sqrt(float(axis @ axis))
    if length < 1e-9:
        raise ModelError(f"{subject}: axis {checks.describe(axis)} has no direction; give a vector such as [0, 0, 1].")
    # An axis that is a unit vector up to rounding is kept as written: (0, 0, 1) must stay exact.
    return checks.array(f"{subject}: axis", axis / length, (3,)) if abs(length - 1) > 1e-15 else axis


@dataclass(frozen=True, eq=False)
class Body(Record):
    """A rigid body: mass [kg], centre of mass [m] and inertia about that centre [kg m²], in the axes of its carrier's frame."""

    name: str
    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        kind = type(self).__name__.lower()
        subject = f"{kind} {checks.name(kind, self.name)!r}"
        put(
            self,
            name=str(self.name),
            mass=checks.number(f"{subject}: mass", self.mass),
            com=checks.array(f"{subject}: com", self.com, (3,)),
            inertia=tensor(f"{subject}: inertia", self.inertia),
        )

    @property
    def is_massless(self) -> bool:
        """No mass and no inertia."""
        return self.mass == 0 and not self.inertia.any()


@dataclass(frozen=True, eq=False)
class Link(Body):
    """A link: its own body and any number of further bodies fixed on it [Laus, note 2], all in the link frame.

    A `virtual` link is the massless frame between the joints of a combination (spherical, planar, floating ...).
    """

    bodies: tuple[Body, ...] = ()
    virtual: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        subject = f"link {self.name!r}"
        put(
            self,
            bodies=checks.parts(f"{subject}: bodies", self.bodies, Body),
            virtual=checks.flag(f"{subject}: virtual", self.virtual),
        )
        checks.unique(f"{subject}: bodies", [b.name for b in self.bodies])


@dataclass(frozen=True, eq=False)
class Rotor(Record):
    """The rotor of a joint's motor, in one of two models (no rotor at all is the third).

    `reflected`: adds ratio² · inertia to the joint's diagonal of the mass matrix, nothing else.
    `full`: a spinning body on link `mount` (default: the joint's parent link) with angular velocity
    ω_mount + ratio · q̇ · axis [Siciliano, Eq. 7.23]: its mass, its transverse inertia, the coupling with the mount's
    rotation and the gyroscopic moment all act. `position` (centre of mass) and `axis` are in the mount's frame.
    """

    inertia: float
    ratio: float = 1.0
    model: str = "reflected"
    mass: float = 0.0
    transverse_inertia: float = 0.0
    position: FloatArray = field(default_factory=lambda: np.zeros(3))
    axis: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    mount: str | None = None

    def __post_init__(self) -> None:
        checks.choice("rotor: model", self.model, {"reflected": 0, "full": 0})
        put(
            self,
            inertia=checks.number("rotor: inertia", self.inertia),
            ratio=checks.number("rotor: ratio", self.ratio),
            mass=checks.number("rotor: mass", self.mass),
            transverse_inertia=checks.number("rotor: transverse_inertia", self.transverse_inertia),
            position=checks.array("rotor: position", self.position, (3,)),
            axis=unit_axis("rotor", self.axis),
            mount=None if self.mount is None else checks.name("rotor: mount", self.mount),
        )
        self._refuse_fields_that_would_not_act()

    def _refuse_fields_that_would_not_act(self) -> None:
        unused = self.mass or self.transverse_inertia or self.position.any() or self.mount
        if self.model == "reflected" and unused:
            raise ModelError(
                "rotor: mass, transverse_inertia, position and mount have no effect in the 'reflected' model. "
                "Use model='full', or leave them out."
            )


@dataclass(frozen=True, eq=False)
class Friction(Record):
    """Joint friction: viscous · q̇ + coulomb · sign(q̇), with optional Stribeck peak and smoothing.

    `coulomb` acts for q̇ > 0, `coulomb_negative` (default: the same) for q̇ < 0; both are magnitudes. `breakaway` ≥ coulomb is
    the level at rest, fading over `stribeck_velocity` as 1 / (1 + (q̇/v_s)²) [ArmstrongHelouvry1994, §2]. With `width` w > 0,
    sign(q̇) becomes q̇ / sqrt(q̇² + w²), smooth for simulation and optimisation.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    coulomb_negative: float | None = None
    breakaway: float | None = None
    stribeck_velocity: float = 0.0
    width: float = 0.0

    def __post_init__(self) -> None:
        for name in ("viscous", "coulomb", "stribeck_velocity", "width"):
            put(self, **{name: checks.number(f"friction: {name}", getattr(self, name))})
        negative = self.coulomb if self.coulomb_negative is None else self.coulomb_negative
        put(self, coulomb_negative=checks.number("friction: coulomb_negative", negative))
        if self.width < 0:
            raise ModelError(f"friction: width {self.width:g} is negative; a speed of smoothing (or 0 for none) is expected.")
        self._refuse_tiny("width")
        self._check_stribeck()

    def _refuse_tiny(self, name: str) -> None:
        """Squares of such numbers, and quotients by them, leave the range of floats: the friction would be NaN."""
        if 0 < getattr(self, name) < checks.SMALLEST:
            raise ModelError(
                f"friction: {name} {getattr(self, name):g} is too small to divide by; {checks.SMALLEST:g} is enough."
            )

    def _check_stribeck(self) -> None:
        if self.breakaway is None:
            return
        put(self, breakaway=checks.number("friction: breakaway", self.breakaway))
        if self.stribeck_velocity <= 0 or self.coulomb <= 0:
            raise ModelError(
                f"friction: breakaway {self.breakaway:g} needs coulomb > 0 and stribeck_velocity > 0, "
                f"found {self.coulomb:g} and {self.stribeck_velocity:g}. Give the speed over which the peak fades."
            )
        self._refuse_tiny("stribeck_velocity")
        self._refuse_tiny("coulomb")

    @property
    def is_none(self) -> bool:
        """Whether nothing acts."""
        return not (self.viscous or self.coulomb or self.coulomb_negative)
