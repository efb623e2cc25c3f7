"""Timings within limits of jerk and torque rate beside independent optima: cone programmes of finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import dalembert as dal

from .test_fastest_optimum import chord_spline
from .timing_cases import efforts, panda, points

clarabel = pytest.importorskip("clarabel")


def graded(N):
    """Places from 0 to 1 that are denser at both ends, as cubes of even ones, and none of the library's."""
    p = np.linspace(0.0, 1.0, N + 1)
    return np.where(p < 0.5, 4 * p**3, 1 - 4 * (1 - p) ** 3)


class FiniteDifferences:
    """T by cone programmes in x = ṡ² alone, with s̈ at middles of intervals and rates at grid points, both as differences.

    Nothing of the library's timing is in it: torques are those of inverse dynamics at the middles, and their rates are their
    differences from one middle to the next, times ṡ.
    """

    extra = 0  # unknowns beside x

    def __init__(self, robot, path, N):
        self._place(path, N)
        self.n, q = robot.n, path(self.middle)
        free = robot.replace(parameters=robot.parameters.replace(friction={}))
        rest, q1, q2 = np.zeros_like(q), path(self.middle, 1), path(self.middle, 2)
        self.gravity = dal.inverse_dynamics(free, q, rest, rest)
        self.inertia = dal.inverse_dynamics(free, q, rest, q1) - self.gravity
        self.motion = dal.inverse_dynamics(free, q, q1, q2) - self.gravity
        laws = [robot.parameters.friction.get(name, dal.Friction()) for name in robot.joint_names]
        self.viscous = q1 * [law.viscous for law in laws]

    def _place(self, path, N):
        """Grid points, middles, and differences among them."""
        self.path, self.s, self.N = path, graded(N), N
        self.h, self.middle = np.diff(self.s), (self.s[1:] + self.s[:-1]) / 2
        self.way = 2 * self.h  # by ṡ + ṡ of the ends of an interval, its time
        self.way[[0, -1]] = 3 * self.h[[0, -1]]  # with constant jerk from rest: s = j t³/6, ṡ = j t²/2
        at_ends = sparse.eye_array(N + 1).tocsr()
        self.mean = (at_ends[1:] + at_ends[:-1]) / 2
        self.rate = sparse.diags_array(1 / (2 * self.h)) @ (at_ends[1:] - at_ends[:-1])  # s̈ at the middles
        across = sparse.eye_array(N).tocsr()
        self.slope = sparse.diags_array(1 / np.diff(self.middle)) @ (across[1:] - across[:-1])  # from middle to middle
        self.inner = at_ends[1:-1]

    def torque(self, joint, x0):
        """Matrix and constant of τ at the middles; viscous friction by its tangent."""
        mean0 = np.sqrt(self.mean @ x0)
        by_x = self.motion[:, joint] + self.viscous[:, joint] / (2 * mean0)
        matrix = sparse.diags_array(self.inertia[:, joint]) @ self.rate + sparse.diags_array(by_x) @ self.mean
        return matrix, self.gravity[:, joint] + self.viscous[:, joint] * mean0 / 2

    def jerk(self, joint):
        """Matrix of q′ u′ + 3 q″ u + q‴ x at the inner grid points."""
        s = self.s[1:-1]
        q1, q2, q3 = (sparse.diags_array(self.path(s, order)[:, joint]) for order in (1, 2, 3))
        left, right = self.h[:-1] / (self.h[:-1] + self.h[1:]), self.h[1:] / (self.h[:-1] + self.h[1:])
        across = sparse.eye_array(self.N).tocsr()
        between = sparse.diags_array(right) @ across[:-1] + sparse.diags_array(left) @ across[1:]
        return q1 @ self.slope @ self.rate + 3 * q2 @ between @ self.rate + q3 @ self.inner

    def rows(self, x0, torque, speed, jerk, torque_rate):
        """A x ≤ b about x0: limits of rates are r/√x, by its tangent."""
        A, b = [self.inner], [np.min(speed / np.abs(self.path(self.s[1:-1], 1)), axis=1) ** 2]
        z = np.sqrt(x0[1:-1])
        for k, step in ((0, self.h[0]), (-1, self.h[-1])):  # from rest s = j t³/6, so that x = (9/2)^(2/3) j^(2/3) s^(4/3)
            most = np.min([jerk / np.abs(self.path(self.s[k], 1)).max(), (torque_rate / np.abs(self.inertia[k])).min()])
            b[0][k] = min(b[0][k], 4.5 ** (2 / 3) * most ** (2 / 3) * step ** (4 / 3))
        for i in range(self.n):
            matrix, constant = self.torque(i, x0)
            A += [matrix, -matrix]
            b += [torque[i] - constant, torque[i] + constant]
            rates = []
            if np.isfinite(jerk):
                rates.append((self.jerk(i), 0.0, jerk))
            if np.isfinite(torque_rate):
                rates.append((self.slope @ matrix, self.slope @ constant, torque_rate))
            for rate, still, limit in rates:
                tangent = sparse.diags_array(limit / (2 * z**3)) @ self.inner
                A += [rate + tangent, tangent - rate]
                b += [1.5 * limit / z - still, 1.5 * limit / z + still]
        return sparse.vstack(A).tocsr(), np.concatenate(b)

    def solve(self, x, **limits):
        """The best x of one programme, with Σ 2h / (√x + √y) by cones, in shares of the last x."""
        A, b = self.rows(x, **limits)
        N, z = self.N, np.sqrt(x[1:-1])
        A = sparse.hstack([A[:, 1:N] @ sparse.diags_array(x[1:-1]), A[:, N + 1 :]]).tocsr()
        size = np.maximum(np.abs(A).max(axis=1).toarray().ravel(), 1e-300)
        A = sparse.diags_array(1 / size) @ A
        m, more = N - 1, self.extra  # unknowns: x, √x of inner points, times of intervals, and more
        zero = np.zeros(m)
        ends = np.concatenate([[0.0], z, [0.0]])
        sums = ends[1:] + ends[:-1]
        cost = np.concatenate([zero, zero, self.way / sums, np.zeros(more)])
        blocks, bounds = [sparse.hstack([A[:, :m], sparse.csr_array((A.shape[0], m + N)), A[:, m:]])], [b / size]
        eye, spread = sparse.eye_array(m), sparse.eye_array(N)
        part = sparse.diags_array(1 / sums) @ (2 * self.mean[:, 1:-1]) @ sparse.diags_array(z)
        roots = [(-eye, None, None), (None, -2 * eye, None), (-eye, None, None)], (1.0, 0.0, -1.0)
        times = [(None, -part, -spread), (None, None, None), (None, part, -spread)], (0.0, 2.0, 0.0)
        for rows, constants in (roots, times):
            count = m if rows is roots[0] else N
            empty = [sparse.csr_array((count, width)) for width in (m, m, N, more)]
            full = [
                sparse.hstack([e if one is None else one for one, e in zip((*row, None), empty, strict=True)]) for row in rows
            ]
            order = np.arange(3 * count).reshape(3, count).T.ravel()
            blocks.append(sparse.vstack(full).tocsr()[order])
            bounds.append(np.tile(constants, count))
        cones = [clarabel.NonnegativeConeT(A.shape[0])] + [clarabel.SecondOrderConeT(3)] * (m + N)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        P = sparse.csc_matrix((2 * m + N + more, 2 * m + N + more))
        G = sparse.csc_matrix(sparse.vstack(blocks))
        found = clarabel.DefaultSolver(P, cost, G, np.concatenate(bounds), cones, settings).solve()
        assert str(found.status) in ("Solved", "AlmostSolved")
        share = np.clip(np.array(found.x)[:m], 1e-3, None)
        return np.concatenate([[0.0], x[1:-1] * share, [0.0]])

    def time(self, x):
        z = np.sqrt(x)
        return float((self.way / (z[1:] + z[:-1])).sum())


def optimum(problem, start=0.02, **limits):
    """T of a problem, by programmes until it stands."""
    x = start * np.minimum(1.0, 20 * np.minimum(problem.s, 1 - problem.s)) ** (4 / 3)
    last = np.inf
    for _ in range(25):
        x = problem.solve(x, **limits)
        if abs(problem.time(x) - last) < 1e-5 * last:
            break
        last = problem.time(x)
    return problem.time(x)


@pytest.mark.slow
@pytest.mark.parametrize(("jerk", "torque_rate"), [(100.0, np.inf), (np.inf, 600.0), (200.0, 600.0)])
def test_the_time_is_within_a_thousandth_of_cone_programmes_of_differences(jerk, torque_rate, rng):
    """Their time is right to first order in 1/N, beside rest above all: two of them give what it tends to."""
    robot = panda(coulomb=False, viscous=True)
    way = points(robot, rng, count=4)
    speed = np.array([joint.limits.velocity for joint in robot.structure.coordinates])
    found = dal.fastest_timing(robot, way, jerk=jerk, torque_rate=torque_rate)
    limits = {"torque": efforts(robot), "speed": speed, "jerk": jerk, "torque_rate": torque_rate}
    coarse, fine = (optimum(FiniteDifferences(robot, chord_spline(way), N), **limits) for N in (150, 300))
    assert fine == pytest.approx(float(found.duration), rel=5e-3)
    assert 2 * fine - coarse == pytest.approx(float(found.duration), rel=1e-3)
