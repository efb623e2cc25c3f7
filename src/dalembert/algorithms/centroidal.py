"""Momentum about the centre of mass: what all links together carry, and its matrix [OrinGoswami2013, Eq. 27].

A unit velocity of joint i moves everything beyond it as one body of inertia I_c. Its momentum I_c S_i, in world axes and about
the centre of mass, is column i of the matrix A in h = A q̇. The spin of a full rotor adds its momentum k I_m z where it is
mounted. The fixed base does not count, and neither does a rotor given by its reflected inertia alone, which has no axis.
"""

from __future__ import annotations

from typing import Any

from ..spatial import ZERO, Force, Matrix, Pose, Vec3
from .composite_bodies import composite_step, unit_wrench
from .joint import transform
from .kinematics import WORLD, segment_poses
from .sweep import Unrolled


def momentum(sweep: Unrolled, q: Any, qd: Any) -> tuple[list[Any], Matrix, list[Any]]:
    """h = [linear; angular], the matrix A with h = A q̇, and the centre of mass, all in world axes."""
    poses = segment_poses(sweep, q)
    centre = centre_of_mass(sweep, poses)
    A = _matrix(sweep, q, poses, centre)
    h = [sum((a * rate for a, rate in zip(row, qd, strict=True)), 0.0) for row in A]
    return h, A, [*centre]


def centre_of_mass(sweep: Unrolled, poses: list[Pose]) -> Vec3:
    """Where the mass of all moving links is, in the world."""
    bodies = [s.inertia for s in sweep.tree.segments]
    first = sum((X.R @ body.h + X.p * body.mass for X, body in zip(poses, bodies, strict=True)), ZERO)
    return first * (1.0 / sum(body.mass for body in bodies))


def _matrix(sweep: Unrolled, q: Any, poses: list[Pose], centre: Vec3) -> Matrix:
    """A, six rows by n columns."""
    X = sweep.local(transform, sweep.expand(q))
    wrenches = sweep.local(unit_wrench, sweep.inward(composite_step, X))
    A: Matrix = [[0.0] * sweep.tree.n for _ in range(6)]
    for s, wrench, pose in zip(sweep.tree.segments, wrenches, poses, strict=True):
        moved = _about(centre, wrench, pose)
        if s.spin is not None:
            mount = poses[s.spin.mount] if s.spin.mount >= 0 else WORLD
            moved = Force(moved.f, moved.n + mount.R @ s.spin.axis * s.spin.kI)
        for row, entry in zip(A, (*moved.f, *moved.n), strict=True):
            row[s.coordinate] = row[s.coordinate] + entry * s.multiplier
    return A


def _about(centre: Vec3, momentum: Force, pose: Pose) -> Force:
    """A momentum about a frame's origin, in world axes about another point."""
    f = pose.R @ momentum.f
    return Force(f, pose.R @ momentum.n + (pose.p - centre).cross(f))
