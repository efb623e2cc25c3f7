"""Rigid-body and articulated inertia about a frame's origin."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..expr import ops
from .transform import Pose, Transform, Turn
from .twists import Force, Twist
from .vec3 import ZERO, Mat3, Vec3, skew


class Sym3(NamedTuple):
    """A symmetric 3x3 array by its six entries."""

    xx: Any
    xy: Any
    xz: Any
    yy: Any
    yz: Any
    zz: Any

    def __add__(self, other: Sym3) -> Sym3:  # type: ignore[override]
        return Sym3(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Sym3) -> Sym3:
        return Sym3(*(a - b for a, b in zip(self, other, strict=True)))

    def __matmul__(self, v: Vec3) -> Vec3:
        return self.matrix() @ v

    def matrix(self) -> Mat3:
        """All nine entries."""
        return Mat3(Vec3(self.xx, self.xy, self.xz), Vec3(self.xy, self.yy, self.yz), Vec3(self.xz, self.yz, self.zz))

    def scaled(self, factor: Any) -> Sym3:
        """Every entry times a factor."""
        return Sym3(*(a * factor for a in self))

    def turned(self, turn: Turn) -> Sym3:
        """Rz S Rzᵀ, written out so that cos², sin² and sin cos are shared: ten multiplications."""
        cc, ss, cs = turn.c * turn.c, turn.s * turn.s, turn.c * turn.s
        shear = self.xy * cs
        xz, yz, _ = turn.up(Vec3(self.xz, self.yz, 0.0))
        return Sym3(
            cc * self.xx + ss * self.yy - (shear + shear),
            cs * (self.xx - self.yy) + (cc - ss) * self.xy,
            xz,
            ss * self.xx + cc * self.yy + (shear + shear),
            yz,
            self.zz,
        )

    def rotated(self, R: Mat3) -> Sym3:
        """R S Rᵀ."""
        RS = R.times(self.matrix())
        return Sym3(RS.x.dot(R.x), RS.x.dot(R.y), RS.x.dot(R.z), RS.y.dot(R.y), RS.y.dot(R.z), RS.z.dot(R.z))


SYM_ZERO = Sym3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Inertia(NamedTuple):
    """A rigid body about its frame's origin: mass m, first moment h = m c, second moment I (the inertia tensor there)."""

    mass: Any
    h: Vec3
    I: Sym3

    def __add__(self, other: Inertia) -> Inertia:  # type: ignore[override]
        return Inertia(self.mass + other.mass, self.h + other.h, self.I + other.I)

    def up(self, X: Transform) -> Inertia:
        """The same body about the parent frame's origin (parallel axes twice: about the new origin, h grows by m p).

        h' = R h + m p,   I' = R I Rᵀ + 2(p·Rh)1 − p(Rh)ᵀ − (Rh)pᵀ + m(p·p 1 − p pᵀ)
        """
        h = X.up(self.h)
        I = self.I.turned(X.turn).rotated(X.R)
        k = h + h + X.p * self.mass  # 2 Rh + m p, so that both shifts share their products
        return Inertia(self.mass, h + X.p * self.mass, I + symmetric_shift(X.p, k))

    def placed(self, pose: Pose) -> Inertia:
        """The same body about the origin of the frame that the pose is given in."""
        h = pose.R @ self.h
        k = h + h + pose.p * self.mass
        return Inertia(self.mass, h + pose.p * self.mass, self.I.rotated(pose.R) + symmetric_shift(pose.p, k))

    def times(self, motion: Twist) -> Force:
        """The momentum of a motion, or what an acceleration asks for: m v + ω × h and I ω + h × v."""
        v, w = motion
        return Force(v * self.mass + w.cross(self.h), self.I @ w + self.h.cross(v))

    @property
    def centre(self) -> Vec3:
        """The centre of mass; the origin, for a body without mass."""
        return ZERO if ops.is_zero(self.mass) else self.h * (1.0 / self.mass)

    def as_point(self) -> Inertia:
        """The first of two parts: all the mass at its centre, with (m, h, I) = (m, m c, m(c·c 1 − c cᵀ)) + (0, 0, Ī).

        Without mass there is no centre: a bare first moment moves with the origin, and its tensor is zero.
        """
        return Inertia(self.mass, self.h, symmetric_shift(self.centre, self.h))

    def about_centre(self) -> Inertia:
        """The second part: the tensor Ī about the centre of mass, without mass or first moment."""
        return Inertia(0.0, ZERO, self.I - self.as_point().I)


def second_moment(I: Sym3) -> Sym3:
    """∫ r rᵀ dm = ½ tr(I) 1 − I, of an inertia tensor."""
    half = (I.xx + I.yy + I.zz) * 0.5
    return Sym3(half - I.xx, -I.xy, -I.xz, half - I.yy, -I.yz, half - I.zz)


def gyration(body: Inertia, E: Sym3, V: Twist, S: Twist) -> Force:
    """G(V) S: (ω × (m v_S + ω_S × h), Eω × ω_S + h × (ω × v_S)), with E the second moment of the body [theory: screws, Eq. 9]."""
    carried = S.v * body.mass + S.w.cross(body.h)
    return Force(V.w.cross(carried), (E @ V.w).cross(S.w) + body.h.cross(V.w.cross(S.v)))


def symmetric_shift(p: Vec3, k: Vec3) -> Sym3:
    """(p·k) 1 − ½(p kᵀ + k pᵀ): the change of an inertia tensor when its body moves by p."""
    x, y, z = p.x * k.x, p.y * k.y, p.z * k.z
    return Sym3(
        y + z,
        (p.x * k.y + p.y * k.x) * -0.5,
        (p.x * k.z + p.z * k.x) * -0.5,
        x + z,
        (p.y * k.z + p.z * k.y) * -0.5,
        x + y,
    )


class ArticulatedInertia(NamedTuple):
    """A 6x6 articulated inertia by blocks: f = M a + H α, n = Hᵀ a + I α, for acceleration (a, α) at the frame's origin."""

    M: Sym3
    H: Mat3
    I: Sym3

    @classmethod
    def of(cls, body: Inertia) -> ArticulatedInertia:
        """That of a single rigid body: M = m 1, H = −[h]×."""
        m = body.mass
        return cls(Sym3(m, 0.0, 0.0, m, 0.0, m), skew(-body.h), body.I)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        return ArticulatedInertia(self.M + other.M, self.H + other.H, self.I + other.I)

    def up(self, X: Transform) -> ArticulatedInertia:
        """About the parent frame's origin, by blocks, with P = [p]×:

        M' = RMRᵀ,  H' = RHRᵀ − M'P,  I' = RIRᵀ + P H' − (RHRᵀ)ᵀ P, which is symmetric.
        """
        M = self.M.turned(X.turn).rotated(X.R)
        R = X.rotation()
        H = R.times(self.H).times(R.T)
        I = self.I.turned(X.turn).rotated(X.R)
        P = skew(X.p)
        shifted = H - M.matrix().times(P)
        moment = P.times(shifted) - H.T.times(P)  # P H' − Hᵀ P
        return ArticulatedInertia(M, shifted, I + upper(moment))


def upper(A: Mat3) -> Sym3:
    """A symmetric array by its upper triangle."""
    return Sym3(A.x.x, A.x.y, A.x.z, A.y.y, A.y.z, A.z.z)
