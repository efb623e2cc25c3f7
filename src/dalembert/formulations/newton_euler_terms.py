"""The steps of the Newton-Euler recursion in the links' own axes, as the documents print them.

The equations are those of newton_euler_base.py, referred to the current link: what comes from the parent is turned into the
link's axes by R_PBᵀ on the way out, and what goes to it by R_PB on the way back, while the link's own vectors and its inertia
tensor are constant [Siciliano, Eq. 7.107-7.114; Milicevic, Table 2]. The recursion runs in internal axes, and what it finds is
turned into the users' at the end. The algorithm itself (algorithms/newton_euler_recursion.py) takes the same steps about
internal origins, with fewer operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms.joint import joint_force, transform
from ..algorithms.sweep import Unrolled
from ..model.tree import Segment
from ..spatial import IDENTITY, ZERO, Force, Mat3, Matrix, Transform, Vec3
from .newton_euler_base import (
    LinkData,
    LinkKinematics,
    Mount,
    RecursionSteps,
    backward_step,
    base_motion,
    drive_force,
    forward_step,
    link_data,
    rotor_accelerations,
    rotor_step,
    terms_of,
)


def in_own_axes(sweep: Unrolled, X: Sequence[Transform], q: Sequence[Any]) -> list[LinkData]:
    """The links' data in their internal axes: constant, but for a slide along the axis and the lever from the parent."""
    columns = zip(sweep.tree.segments, X, link_data(sweep.tree), q, strict=True)
    return [own._replace(s=turn.down(own.s), r=own.r + own.z * (position * s.slide)) for s, turn, own, position in columns]


def outward_step(s: Segment, parent: LinkKinematics, X: Transform, data: LinkData, qd: Any, qdd: Any) -> LinkKinematics:
    """One link on the way out [Siciliano, Eq. 7.107-7.110]."""
    return forward_step(s, LinkKinematics(*map(X.down, parent)), data, qd, qdd)


def inward_step(
    s: Segment, outer: Force | None, X: Transform, data: LinkData, link: LinkKinematics, spin: Vec3 | None
) -> tuple[Force, Force]:
    """One link on the way back [Siciliano, Eq. 7.112, 7.113]."""
    wrench, passed = backward_step(s, outer, data, link, spin, None)
    return wrench, Force(X.up(passed.f), X.up(passed.n))


def recursion(sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkKinematics) -> RecursionSteps:
    """All steps, each in the internal axes of its link."""
    q, qd, qdd = sweep.expand(q), sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    X = sweep.local(transform, q)
    data = in_own_axes(sweep, X, q)
    motions = sweep.outward(outward_step, base, X, data, qd, qdd)
    mounts = [Mount(IDENTITY, motion) for motion in motions]
    torques, spins = sweep.mounted(rotor_step, Mount(IDENTITY, base), mounts, qd, qdd)
    wrenches = sweep.inward(inward_step, X, data, motions, spins)
    forces = [joint_force(s, d.z, w) for s, d, w in zip(sweep.tree.segments, data, wrenches, strict=True)]
    rows = zip(sweep.tree.segments, forces, torques, qd, qdd, strict=True)
    tau = [drive_force(*row, with_friction=True) for row in rows]  # [Siciliano, Eq. 7.114]
    return RecursionSteps([IDENTITY] * len(X), data, motions, mounts, wrenches, tau)


def trace(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> dict[str, Any]:
    """The steps by name, with the base at rest: each link's in the axes of its frame, each rotor's in those of its mount's."""
    tree = sweep.tree
    base = base_motion(ZERO, ZERO, -tree.gravity)
    steps = recursion(sweep, q, qd, qdd, base)
    own = [place.R.T for place in tree.frames]
    mounts = [own[s.spin.mount] if s.spin is not None and s.spin.mount >= 0 else IDENTITY for s in tree.segments]
    by_name = {name: _turned(own, [getattr(m, name) for m in steps.motions]) for name in LinkKinematics._fields}
    return by_name | {
        "domega_m": _turned(mounts, rotor_accelerations(sweep, steps, Mount(IDENTITY, base), qd, qdd)),
        "f": _turned(own, [w.f for w in steps.wrenches]),
        "mu": _turned(own, [w.n for w in steps.wrenches]),
        "tau": list(steps.tau),
    }


def _turned(axes: Sequence[Mat3], vectors: Sequence[Vec3]) -> Matrix:
    return [list(R @ v) for R, v in zip(axes, vectors, strict=True)]


TERMS = terms_of(trace, "the axes of the link's own frame")
