"""A constrained formulation of mechanisms in plain NumPy, to compare the library with: multipliers and accelerations at once.

Nothing of the library's algorithms is used, only its data: robots, closures, coordinates. Forces of the tree come from the
Jacobians of its bodies in homogeneous transforms, closures are residuals of poses written here (where a set of closed positions
can be written in several ways, in another way than the library's), and their derivatives are complex steps and Cauchy's formula:

    M ẍ + h = Aᵀ λ + Fᵀ τ,    A ẍ = −γ,    F ẍ + φ = q̈                                                   (1)

with A = ∂c/∂x of the closures, F = ∂f/∂x of the coordinates, γ and φ their second rates at ẍ = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal
from dalembert.model.closures import TYPES, Closure
from dalembert.model.position_functions import Component, Cosine, Distance, JointFunction, JointSum, LinkAngle
from tests.robots import friction_of

STEP = 1e-30  # of complex steps, which have no cancellation
Array = np.ndarray
Still = (np.zeros(6), np.zeros(6))


def cross(a: Array) -> Array:
    """a ×, as a matrix."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def angle_of(sine: Any, cosine: Any) -> Any:
    """The angle, analytic in both: the real angle, and the arc tangent of what is left against it."""
    real = np.arctan2(np.real(sine), np.real(cosine))
    c, s = np.cos(real), np.sin(real)
    return real + np.arctan((sine * c - cosine * s) / (cosine * c + sine * s))


def second_rate(function: Callable[[Array], Array], x: Array, xd: Array) -> Array:
    """d²/dt² of a function along x + t ẋ by Cauchy's formula on a circle of 24 points."""
    r = 0.2 / max(1e-3, np.abs(xd).max(initial=0.0))
    points = np.exp(2j * np.pi * np.arange(24) / 24)
    return np.real(sum(function(x + r * z * xd) / z**2 for z in points)) * 2 / (24 * r * r)


def slopes(function: Callable[[Array], Array], x: Array) -> Array:
    """The Jacobian of a function by complex steps."""
    return np.array([np.imag(function(x + 1j * STEP * e)) / STEP for e in np.eye(len(x))]).T


class Frame(NamedTuple):
    """The axis of a joint in the world: direction, a point, which coordinate moves it how much, and whether it turns."""

    z: Array
    p: Array
    coordinate: int
    factor: float
    turns: bool


class Rigid(NamedTuple):
    """A body: link, mass, centre of mass and inertia in its frame; for a rotor the joint, ratio and axis of its own spin."""

    link: str
    mass: float
    com: Array
    inertia: Array
    spin: tuple[str, float, Array] | None = None


class Solution(NamedTuple):
    """What the oracle finds."""

    x: Array
    xd: Array
    xdd: Array
    tau: Array
    multipliers: Array
    tree: Array
    G: Array
    wrenches: Array


class Oracle:
    """A mechanism; positions of its tree are given to every question, and looked at."""

    def __init__(self, mechanism: dal.Mechanism) -> None:
        self.mechanism, self.robot = mechanism, mechanism.robot
        self.names = self.robot.joint_names
        self.bodies = list(self._bodies())

    def _bodies(self) -> Any:
        parameters = self.robot.parameters
        for link in parameters.links:
            for body in (link, *link.bodies):
                yield Rigid(link.name, body.mass, body.com, body.inertia)
        if parameters.payload is not None:
            R, p = self.robot.tool.pose[:3, :3], self.robot.tool.pose[:3, 3]
            load = parameters.payload
            yield Rigid(self.robot.tool.link, load.mass, R @ load.com + p, R @ load.inertia @ R.T)
        for name, rotor in parameters.rotors.items():
            if rotor.model == "full":
                along = np.outer(rotor.axis, rotor.axis)
                I = rotor.inertia * along + rotor.transverse_inertia * (np.eye(3) - along)
                mount = rotor.mount or self.robot.structure.joint(name).parent
                yield Rigid(mount, rotor.mass, rotor.position, I, (name, rotor.ratio, rotor.axis))

    # Kinematics -----------------------------------------------------------------------------------------------------------

    def coupling(self, name: str) -> tuple[int, float, float]:
        """Coordinate, multiplier and offset of a joint."""
        mimic = self.robot.structure.joint(name).mimic
        if mimic is None:
            return self.names.index(name), 1.0, 0.0
        return self.names.index(mimic.joint), mimic.multiplier, mimic.offset

    def value(self, name: str, x: Array) -> Any:
        coordinate, factor, offset = self.coupling(name)
        return factor * x[coordinate] + offset

    def poses(self, x: Array) -> tuple[dict[str, Array], dict[str, list[Frame]]]:
        """Poses of links, and the axes of the joints on the way to each."""
        root = self.robot.structure.root
        X: dict[str, Array] = {root: np.eye(4, dtype=complex), "world": np.eye(4, dtype=complex)}
        ways: dict[str, list[Frame]] = {root: [], "world": []}
        for joint in self.robot.structure.joints:
            J = X[joint.parent] @ joint.origin
            way, moved = ways[joint.parent], np.eye(4, dtype=complex)
            if joint.moves:
                coordinate, factor, _ = self.coupling(joint.name)
                way = [*way, Frame(J[:3, :3] @ joint.axis, J[:3, 3], coordinate, factor, joint.turns)]
                s = self.value(joint.name, x) + joint.home
                K = cross(joint.axis)
                if joint.turns:
                    moved[:3, :3] = np.eye(3) + np.sin(s) * K + (1 - np.cos(s)) * K @ K
                else:
                    moved[:3, 3] = s * joint.axis
            X[joint.child], ways[joint.child] = J @ moved @ joint.child_origin, way
        if self.robot.tool is not None and "tool" not in X:
            X["tool"], ways["tool"] = X[self.robot.tool.link] @ self.robot.tool.pose, ways[self.robot.tool.link]
        return X, ways

    def jacobian(self, way: list[Frame], p: Array) -> Array:
        """[Jv; Jω] of a point that moves with the last of these joints."""
        J = np.zeros((6, len(self.names)), dtype=complex)
        for z, origin, coordinate, factor, turns in way:
            column = np.concatenate([cross(z) @ (p - origin), z]) if turns else np.concatenate([z, np.zeros(3)])
            J[:, coordinate] += factor * column
        return J

    def link_jacobian(self, x: Array, link: str, point: Array) -> Array:
        X, ways = self.poses(x)
        return self.jacobian(ways[link], X[link][:3, :3] @ point + X[link][:3, 3])

    # Forces of the tree ---------------------------------------------------------------------------------------------------

    def _body_jacobians(self, x: Array) -> list[Array]:
        """[Jv; Jω] of each body's centre of mass, its own spin counted in."""
        X, ways = self.poses(x)
        found = []
        for body in self.bodies:
            R, p = X[body.link][:3, :3], X[body.link][:3, 3]
            J = self.jacobian(ways[body.link], R @ body.com + p)
            if body.spin is not None:
                name, ratio, axis = body.spin
                coordinate, factor, _ = self.coupling(name)
                J[3:, coordinate] += ratio * factor * (R @ axis)
            found.append(J)
        return found

    def body_forces(self, x: Array, xd: Array, xdd: Array, base: tuple[Array, Array] = Still) -> list[tuple[Array, Array, Array]]:
        """For each body its Jacobian, and force and moment about its centre of mass that its motion and its weight need."""
        X, ways = self.poses(x)
        jacobians = [np.real(J) for J in self._body_jacobians(x)]
        rates = [np.imag(J) / STEP for J in self._body_jacobians(x + 1j * STEP * xd)]
        w0, (a0, alpha0) = base[0][3:], base[1].reshape(2, 3)
        found = []
        for body, J, dJ in zip(self.bodies, jacobians, rates, strict=True):
            pose = np.real(X[body.link])
            R, p = pose[:3, :3], pose[:3, :3] @ body.com + pose[:3, 3]
            mount = np.real(self.jacobian(ways[body.link], p))[3:] @ xd + w0
            I = R @ body.inertia @ R.T
            v, w = np.split(J @ xd, 2)
            a, alpha = np.split(J @ xdd + dJ @ xd, 2)
            a = a + a0 + np.cross(alpha0, p) + np.cross(w0, np.cross(w0, p)) + 2 * np.cross(w0, v)
            alpha = alpha + alpha0 + np.cross(w0, w)
            w = w + w0
            f = body.mass * (a - self.robot.gravity)
            # d/dt (I ω), where I turns with the link: a rotor is symmetric about its axis.
            m = I @ alpha + np.cross(mount, I @ w) - I @ np.cross(mount, w)
            found.append((J, f, m))
        return found

    def tree_forces(
        self, x: Array, xd: Array, xdd: Array, wrenches: Mapping[str, Array] | None = None, base: tuple[Array, Array] = Still
    ) -> Array:
        """The forces at the joints of the tree that its motion needs, with nothing closed."""
        tau = np.zeros(len(self.names))
        for J, f, m in self.body_forces(x, xd, xdd, base):
            tau += J.T @ np.concatenate([f, m])
        for joint in self.robot.structure.joints:
            if not joint.moves:
                continue
            coordinate, factor, _ = self.coupling(joint.name)
            rotor = self.robot.parameters.rotors.get(joint.name)
            if rotor is not None and rotor.model == "reflected":
                tau[coordinate] += factor**2 * rotor.ratio**2 * rotor.inertia * xdd[coordinate]
            law = self.robot.parameters.friction.get(joint.name)
            tau[coordinate] += factor * friction_of(law, factor * xd[coordinate])
        for link, wrench in (wrenches or {}).items():
            tau -= np.real(self.link_jacobian(x, link, np.zeros(3))).T @ wrench
        return tau - self.element_forces(x, xd)

    def element_forces(self, x: Array, xd: Array) -> Array:
        """What springs and dampers exert: the slopes of their lengths times their tensions."""
        tau = np.zeros(len(self.names))
        for element in (*self.mechanism.springs, *self.mechanism.dampers):

            def length(x: Array, element: Any = element) -> Array:
                if element.joint is not None:
                    return np.array([self.value(element.joint, x)])
                X = self.poses(x)[0]
                first, second = (X[link] @ [*point, 1] for link, point in element.between)
                d = second - first
                return np.array([np.sqrt(d[:3] @ d[:3])])

            slope = slopes(length, x)[0]
            if isinstance(element, dal.Spring):
                tau -= element.stiffness * (np.real(length(x))[0] - element.rest) * slope
            else:
                tau -= element.coefficient * (slope @ xd) * slope
        return tau

    def mass_matrix(self, x: Array) -> Array:
        """Of the tree."""
        zero = np.zeros(len(self.names))
        M = np.zeros((len(zero), len(zero)))
        X = {link: np.real(pose) for link, pose in self.poses(x)[0].items()}
        for body, J in zip(self.bodies, self._body_jacobians(x), strict=True):
            R, J = X[body.link][:3, :3], np.real(J)
            M += body.mass * J[:3].T @ J[:3] + J[3:].T @ R @ body.inertia @ R.T @ J[3:]
        for name, rotor in self.robot.parameters.rotors.items():
            if rotor.model == "reflected":
                coordinate, factor, _ = self.coupling(name)
                M[coordinate, coordinate] += factor**2 * rotor.ratio**2 * rotor.inertia
        return M

    # Closures and coordinates ---------------------------------------------------------------------------------------------

    def closures(self, x: Array) -> Array:
        """What closures leave open."""
        X = self.poses(x)[0]
        parts = [self._residual(closure, X, x) for closure in self.mechanism.closures]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _residual(self, closure: Closure, X: Mapping[str, Array], x: Array) -> Array:
        if closure.type == "function":
            return np.array([self._function(function, X, x) - value for function, value in closure.functions])
        if closure.type in ("gear", "belt"):
            first, second = (self.value(joint, x) for joint in closure.between)
            return np.array([first - closure.ratio * second - closure.offset])
        (a, A), (b, B) = closure.between
        return residual(closure, X[a] @ A, X[b] @ B)

    def _function(self, function: Any, X: Mapping[str, Array], x: Array) -> Any:
        """A function of positions, analytic in x."""
        if isinstance(function, JointSum):
            return sum(c * self.value(joint, x) for joint, c in function.coefficients.items())
        if isinstance(function, JointFunction):
            return function.function({j.name: self.value(j.name, x) for j in self.robot.structure.joints if j.moves})
        if isinstance(function, LinkAngle):
            R = X[function.link][:3, :3]
            level = np.sqrt(R[0, 0] ** 2 + R[1, 0] ** 2)
            pair = {"roll": (R[2, 1], R[2, 2]), "pitch": (-R[2, 0], level), "yaw": (R[1, 0], R[0, 0])}
            return angle_of(*pair[function.which])
        if isinstance(function, Cosine):
            u, v = (X[link][:3, :3] @ np.array(e) for link, e in (function.a, function.b))
            return u @ v
        d = X[function.b[0]] @ [*function.b[1], 1] - X[function.a[0]] @ [*function.a[1], 1]
        if isinstance(function, Distance):
            return np.sqrt(d[:3] @ d[:3])
        assert isinstance(function, Component)
        assert function.axes is not None
        return (X[function.axes][:3, :3] @ function.axis) @ d[:3]

    def coordinates(self, x: Array) -> Array:
        """q at these positions."""
        X = self.poses(x)[0]
        return np.array([self._function(chosen.function, X, x) for chosen in self.mechanism.coordinates])

    def open_by(self, q: Array, x: Array) -> float:
        """How far positions are from closed, and from those of q."""
        left = np.concatenate([self.closures(x), self.coordinates(x) - q])
        return float(np.abs(left).max(initial=0.0))

    def assembled(self, q: Array, x: Array) -> Array:
        """Positions at q by Newton's method from some nearby."""
        for _ in range(30):
            left = np.concatenate([np.real(self.closures(x)), np.real(self.coordinates(x)) - q])
            step = np.linalg.lstsq(np.vstack([slopes(self.closures, x), slopes(self.coordinates, x)]), left, rcond=1e-9)[0]
            x = x - step
            if np.abs(step).max() < 1e-14:
                break
        return x

    # The formulation ------------------------------------------------------------------------------------------------------

    def linear(self, x: Array) -> tuple[Array, Array, Array]:
        """Rows of closures that are independent (by an orthogonal basis), the change to it, and F."""
        A, F = slopes(self.closures, x).reshape(-1, len(x)), slopes(self.coordinates, x)
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        rank = int(np.sum(s > 1e-9 * s.max(initial=1e-300)))
        return Vt[:rank], U[:, :rank] / s[:rank], F

    def rates(self, x: Array, qd: Array) -> tuple[Array, Array]:
        """ẋ, and ∂x/∂q."""
        B, _, F = self.linear(x)
        G = np.linalg.solve(np.vstack([B, F]), np.vstack([np.zeros((len(B), len(qd))), np.eye(len(qd))]))
        return G @ qd, G

    def inverse(self, x: Array, qd: Array, qdd: Array, **around: Any) -> Solution:
        """What the motion of the coordinates needs [(1)]."""
        B, change, F = self.linear(x)
        xd, G = self.rates(x, qd)
        goal = [-change.T @ second_rate(self.closures, x, xd), qdd - second_rate(self.coordinates, x, xd)]
        S = np.vstack([B, F])
        xdd = np.linalg.solve(S, np.concatenate(goal))
        tree = self.tree_forces(x, xd, xdd, **around)
        w = np.linalg.solve(S.T, tree)
        multipliers = change @ w[: len(B)]
        return Solution(x, xd, xdd, w[len(B) :], multipliers, tree, G, self.closure_wrenches(x, multipliers))

    def forward(self, x: Array, qd: Array, tau: Array, **around: Any) -> tuple[Array, Array]:
        """Accelerations of the coordinates, and of the tree, by the whole system at once [(1)]."""
        B, change, F = self.linear(x)
        xd, _ = self.rates(x, qd)
        h = self.tree_forces(x, xd, np.zeros(len(x)), **around)
        N, k = len(x), len(B)
        K = np.block([[self.mass_matrix(x), -B.T], [B, np.zeros((k, k))]])
        goal = np.concatenate([F.T @ tau - h, -change.T @ second_rate(self.closures, x, xd)])
        xdd = np.linalg.solve(K, goal)[:N]
        return F @ xdd + second_rate(self.coordinates, x, xd), xdd

    def closure_wrenches(self, x: Array, multipliers: Array) -> Array:
        """Force and moment of each closure on its second link, at its place there: slopes by displacements of that link alone."""
        X = self.poses(x)[0]
        found, k = [], 0
        for closure in self.mechanism.closures:
            count = len(self._residual(closure, X, x))
            found.append(np.zeros(6) if not closure.links else _pushed(closure, X) @ multipliers[k : k + count])
            k += count
        return np.array(found)


def _pushed(closure: Closure, X: Mapping[str, Array]) -> Array:
    (a, A), (b, B) = closure.between
    first, second = X[a] @ A, X[b] @ B

    def displaced(s: Array) -> Array:
        moved = second.copy()
        moved[:3, 3] += s[:3]
        moved[:3, :3] = (np.eye(3) + cross(s[3:])) @ second[:3, :3]
        return residual(closure, first, moved)

    return slopes(displaced, np.zeros(6)).T


def residual(closure: Closure, A: Array, B: Array) -> Array:
    """What a closure between two frames leaves open: numbers that are zero just where it is closed."""
    d, R = A[:3, :3].T @ (B[:3, 3] - A[:3, 3]), A[:3, :3].T @ B[:3, :3]
    if closure.type == "distance":
        return np.array([np.sqrt(d @ d) - closure.length])
    held = closure.directions or TYPES[closure.type]
    found = [d["xyz".index(k)] for k in held if k in "xyz"]
    turns = {k for k in held if k not in "xyz"}
    if turns == {"rx", "ry", "rz"}:  # the rotation's axis times its sine
        found += [(R[2, 1] - R[1, 2]) / 2, (R[0, 2] - R[2, 0]) / 2, (R[1, 0] - R[0, 1]) / 2]
    elif len(turns) == 2:  # the axis of the free turn keeps its direction
        free = ({"rx", "ry", "rz"} - turns).pop()
        k = ("rx", "ry", "rz").index(free)
        i, j = (k + 1) % 3, (k + 2) % 3
        found += [R[i, k] / R[k, k], R[j, k] / R[k, k]]
    elif turns:  # one axis of each stay at a right angle
        k = ("rx", "ry", "rz").index(turns.pop())
        found.append(R[(k + 1) % 3, (k + 2) % 3])
    if closure.type == "universal":
        found.append(R[2, 2])
    if closure.type == "screw":
        lead = d[2] * 2 * np.pi / closure.pitch
        found.append(angle_of(np.sin(lead) * R[0, 0] - np.cos(lead) * R[1, 0], np.cos(lead) * R[0, 0] + np.sin(lead) * R[1, 0]))
    return np.array(found)


__all__ = ["Oracle", "Solution", "residual", "second_rate", "slopes"]
