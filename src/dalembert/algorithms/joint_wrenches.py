"""Forces and moments transmitted by the joints: f_i and μ_i of the Newton-Euler recursion [Siciliano, Eq. 7.104, 7.105]."""

from __future__ import annotations

from typing import Any

from ..model.tree import Segment
from ..spatial import Force, Matrix, Pose, Transform, Vec3
from .joint import transform
from .kinematics import WORLD
from .newton_euler_recursion import LinkState, outward_step, rotor_step
from .sweep import Unrolled


def total_step(s: Segment, children: Force | None, X: Transform, state: LinkState, load: Force | None) -> tuple[Force, Force]:
    """Everything a joint has to carry, here and as its parent feels it."""
    total = state.load if load is None else state.load + load
    if children is not None:
        total = total + children
    return total, X.force_up(total)


def link_wrenches(sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkState, loads: Any = None, *, frame: str) -> Matrix:
    """For each segment [f; μ] that its parent exerts on it, at the joint's place in the parent, in world or link axes."""
    positions, rates, accelerations = sweep.expand(q), sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    X = sweep.local(transform, positions)
    states = sweep.outward(outward_step, base, X, rates, accelerations)
    loads = loads if loads is not None else [None] * len(X)
    if sweep.tree.has_spin:
        _, carried = sweep.mounted(rotor_step, base, states, rates, accelerations)
        loads = [a if b is None else b if a is None else a + b for a, b in zip(loads, carried, strict=True)]
    totals = sweep.inward(total_step, X, states, loads)
    poses = sweep.outward(lambda s, parent, X: parent.across(X), WORLD, X)
    return [_at_joint(sweep, i, positions[i], totals[i], poses[i], frame) for i in range(len(totals))]


def _at_joint(sweep: Unrolled, i: int, q: Any, total: Force, pose: Pose, frame: str) -> list[Any]:
    origin = sweep.tree.joints[i].p - Vec3(0.0, 0.0, q * sweep.tree.segments[i].slide)  # a slide leaves it behind
    n = total.n - origin.cross(total.f)
    axes = pose.R if frame == "world" else sweep.tree.frames[i].R.T
    return [*(axes @ total.f), *(axes @ n)]
