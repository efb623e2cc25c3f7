"""Accelerations of a mechanism by an index-1 formulation over its tree alone: no rows, factors or assembly of the library.

    M ẍ + h = B u + Jᵀ λ,    J ẍ = −J̇ ẋ                                                                        (1)

J are the velocities of a closure's place on the second link against that on the first, in world axes, from Jacobians of links.
"""

from __future__ import annotations

import numpy as np

import dalembert as dal

HELD = {("x", "y", "rz"): [0, 1, 5], ("x", "y"): [0, 1], (): [0, 1, 2]}  # spherical closures name no directions


def point_rows(tree, place, x, xd):
    """The Jacobian of a point of a link, and its acceleration while the joints do not accelerate."""
    link, X = place
    J, bias = dal.jacobian(tree, x, link, point=X[:3, 3]), dal.jacobian_dot(tree, x, xd, link) @ xd
    arm = dal.forward_kinematics(tree, x, link)[:3, :3] @ X[:3, 3]
    w = J[3:] @ xd
    bias[:3] += np.cross(bias[3:], arm) + np.cross(w, np.cross(w, arm))
    return J, bias


def closure_rows(tree, closure, x, xd):
    """J and J̇ ẋ of one closure, and its components among force and moment."""
    (Ja, a), (Jb, b) = (point_rows(tree, place, x, xd) for place in closure.between)
    rows = HELD[closure.directions]
    return (Jb - Ja)[rows], (b - a)[rows], rows


def accelerations(mechanism, q, qd, torques):
    """q̈ under torques of driven joints, and the wrench of each closure on its second link; coordinates are the last joints."""
    tree, n, N = mechanism.robot, mechanism.n, mechanism.robot.n
    x = mechanism.assemble(q).x
    J = np.concatenate([closure_rows(tree, closure, x, np.zeros(N))[0] for closure in mechanism.closures])
    whole = np.concatenate([J, np.eye(N)[N - n :]])
    xd = np.linalg.lstsq(whole, np.concatenate([np.zeros(len(J)), qd]), rcond=None)[0]
    parts = [closure_rows(tree, closure, x, xd) for closure in mechanism.closures]
    B = np.zeros(N)
    for name, value in torques.items():
        B[tree.joint_names.index(name)] = value
    M, h = dal.mass_matrix(tree, x), dal.bias(tree, x, xd)
    K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    goal = np.concatenate([B - h, *(-bias for _, bias, _ in parts)])
    found = np.linalg.lstsq(K, goal, rcond=None)[0]
    wrenches, k = np.zeros((len(parts), 6)), N
    for number, (_, _, rows) in enumerate(parts):
        wrenches[number, rows] = found[k : k + len(rows)]
        k += len(rows)
    return found[N - n : N], wrenches
