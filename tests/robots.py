"""Random robots: a seeded generator and a hypothesis strategy over the same features; and fresh copies of the catalogue.

Every inertia comes from a cloud of positive masses, so each robot could be built and its mass matrix is positive definite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from hypothesis import strategies as st

import dalembert as dal
from dalembert.model import Body, Friction, Joint, Link, Mimic, Robot, Rotor, Tool

FRICTION_KINDS = ("viscous", "coulomb", "asymmetric", "stribeck", "smoothed", "smoothed stribeck")


@dataclass(frozen=True)
class Features:
    """What a random robot may have; a feature that is allowed appears at random places."""

    prismatic: bool = True
    branches: bool = True
    child_origins: bool = True
    homes: bool = True
    fixed: bool = True
    virtual: bool = True
    several_bodies: bool = True
    reflected_rotors: bool = True
    full_rotors: bool = True
    friction: bool = True
    payload: bool = True
    mimic: bool = True
    aligned: bool = True  # now and then axes and origins along the coordinate axes, where constants fold


EVERYTHING = Features()
PLAIN = Features(**dict.fromkeys((f.name for f in fields(Features)), False))
FRICTIONLESS = replace(EVERYTHING, friction=False)


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A random rotation, all equally likely."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def pose(rng: np.random.Generator, reach: float = 0.4) -> np.ndarray:
    """A random pose within some decimetres."""
    X = np.eye(4)
    X[:3, :3] = rotation(rng)
    X[:3, 3] = rng.uniform(-reach, reach, 3)
    return X


def body(rng: np.random.Generator, name: str = "body") -> Body:
    """A body of a few kilograms, a decimetre or so wide."""
    mass = rng.uniform(0.5, 5.0)
    shape = rng.normal(size=(3, 3)) * 0.1
    second = mass * (shape @ shape.T + 1e-3 * np.eye(3))
    return Body(name, mass, rng.uniform(-0.2, 0.2, 3), np.trace(second) * np.eye(3) - second)


def random_robot(rng: np.random.Generator, n: int | None = None, features: Features = EVERYTHING) -> Robot:
    """A robot of n coordinates (1 to 12, if not given), with the features allowed."""
    return _Growth(rng, features).robot(int(rng.integers(1, 13)) if n is None else n)


class _Growth:
    """Links and joints added one after another."""

    def __init__(self, rng: np.random.Generator, features: Features) -> None:
        self.rng = rng
        self.features = features
        self.links = [self._link("base")]
        self.joints: list[Joint] = []
        self.below: dict[str, list[str]] = {"base": []}  # each link's ancestors, nearest first

    def robot(self, n: int) -> Robot:
        for k in range(n):
            self._grow(f"q{k}", self._kind())
            if self._now("fixed", 0.25):
                self._grow(f"weld{k}", "fixed")
            if self._now("mimic", 0.2):
                self._grow(f"follower{k}", self._kind(), self._mimic())
        moving = [joint for joint in self.joints if joint.moves]
        return Robot.from_parts(
            "random",
            self.links,
            self.joints,
            friction={j.name: random_friction(self.rng) for j in moving if self._now("friction", 0.7)},
            rotors=self._rotors(moving),
            gravity=self.rng.uniform(-10, 10, 3),
            tool=Tool(str(self.rng.choice([link.name for link in self.links[1:]])), pose(self.rng)),
            payload=body(self.rng, "payload") if self._now("payload", 0.5) else None,
        )

    def _now(self, feature: str, probability: float) -> bool:
        return getattr(self.features, feature) and self.rng.random() < probability

    def _kind(self) -> str:
        return "prismatic" if self._now("prismatic", 0.3) else str(self.rng.choice(["revolute", "continuous"]))

    def _mimic(self) -> Mimic:
        masters = [j.name for j in self.joints if j.moves and j.mimic is None]
        return Mimic(str(self.rng.choice(masters)), self.rng.uniform(-2, 2), self.rng.uniform(-1, 1))

    def _grow(self, name: str, kind: str, mimic: Mimic | None = None) -> None:
        # Mostly on, so that chains are long; a virtual link needs a successor and gets one, since the last is always heavy.
        parent = self.links[-1].name
        if self._now("branches", 0.25):
            parent = str(self.rng.choice([link.name for link in self.links]))
        child = f"link{len(self.links)}"
        self.links.append(self._link(child))
        self.below[child] = [parent, *self.below[parent]]
        aligned = self._now("aligned", 0.4)
        self.joints.append(
            Joint(
                name,
                kind,
                parent,
                child,
                origin=_aligned_pose(self.rng) if aligned else pose(self.rng),
                axis=np.eye(3)[self.rng.integers(3)] if aligned else self.rng.normal(size=3),
                child_origin=pose(self.rng) if self._now("child_origins", 0.5) else np.eye(4),
                home=self.rng.uniform(-1, 1) if self._now("homes", 0.4) and kind != "fixed" else 0.0,
                mimic=mimic,
            )
        )

    def _link(self, name: str) -> Link:
        bodies = [
            body(self.rng, f"{name}.{k}") for k in range(self.rng.integers(1, 4) if self._now("several_bodies", 0.3) else 0)
        ]
        if bodies and self._now("virtual", 0.3):
            return Link(name, bodies=tuple(bodies))  # nothing of its own, only what it carries
        own = body(self.rng)
        return Link(name, own.mass, own.com, own.inertia, bodies=tuple(bodies))

    def _rotors(self, moving: list[Joint]) -> Mapping[str, Rotor]:
        rotors = {}
        for joint in moving:
            if self._now("full_rotors", 0.4):
                rotors[joint.name] = self._full_rotor(joint)
            elif self._now("reflected_rotors", 0.4):
                rotors[joint.name] = Rotor(self.rng.uniform(1e-5, 1e-3), self.rng.uniform(-100, 100))
        return rotors

    def _full_rotor(self, joint: Joint) -> Rotor:
        inertia = self.rng.uniform(1e-4, 1e-2)
        mounts = [None, *self.below[joint.child]]
        return Rotor(
            inertia,
            ratio=self.rng.uniform(-80, 80),
            model="full",
            mass=self.rng.uniform(0.1, 2.0),
            transverse_inertia=inertia * self.rng.uniform(0.5, 2.0),
            position=self.rng.uniform(-0.2, 0.2, 3),
            axis=self.rng.normal(size=3),
            mount=mounts[self.rng.integers(len(mounts))],
        )


def _aligned_pose(rng: np.random.Generator) -> np.ndarray:
    """A pose whose axes are coordinate axes and whose origin lies on one of them (or at zero)."""
    X = np.eye(4)
    X[:3, :3] = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    X[:3, :3] *= np.sign(np.linalg.det(X[:3, :3]))
    X[:3, 3] = np.eye(3)[rng.integers(3)] * rng.choice([0.0, 0.3, -0.5])
    return X


def random_friction(rng: np.random.Generator, kind: str | None = None) -> Friction:
    """A friction law of a kind from FRICTION_KINDS."""
    kind = str(rng.choice(FRICTION_KINDS)) if kind is None else kind
    viscous, coulomb, other, speed, width = rng.uniform(0.1, 2.0, 5)
    laws = {
        "viscous": Friction(viscous),
        "coulomb": Friction(viscous, coulomb),
        "asymmetric": Friction(viscous, coulomb, other),
        "stribeck": Friction(viscous, coulomb, other, breakaway=coulomb * 1.5, stribeck_velocity=speed),
        "smoothed": Friction(viscous, coulomb, other, width=width),
        "smoothed stribeck": Friction(0.0, coulomb, breakaway=coulomb * 2, stribeck_velocity=speed, width=width),
    }
    return laws[kind]


def friction_of(law: Friction | None, speed: float) -> float:
    """Joint friction by cases, as the docstring of Friction has it: independent of the library's formula."""
    if law is None:
        return 0.0
    level = law.coulomb if speed > 0 else law.coulomb_negative
    sigma = speed / np.hypot(speed, law.width) if law.width else np.sign(speed)
    if law.width:  # the levels for both directions are blended by the smoothed sign
        level = (law.coulomb * (1 + sigma) + law.coulomb_negative * (1 - sigma)) / 2
    peak = 1.0
    if law.breakaway is not None:
        peak += (law.breakaway / law.coulomb - 1) / (1 + (speed / law.stribeck_velocity) ** 2)
    return law.viscous * speed + level * sigma * peak


@st.composite
def robots(draw: st.DrawFn, max_n: int = 12, **fixed: bool) -> Robot:
    """Random robots; features named in `fixed` are set, the others drawn, so that a failure shrinks to the few it needs."""
    features = Features(**{f.name: fixed[f.name] if f.name in fixed else draw(st.booleans()) for f in fields(Features)})
    n = draw(st.integers(1, max_n))
    return random_robot(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), n, features)


seeds = st.integers(0, 2**32 - 1)


def state(robot: Robot, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
    """Random q, q̇, q̈ (or τ)."""
    return tuple(rng.uniform(-2, 2, (3, *batch, robot.n)))


def fresh(name: str) -> Robot:
    """An arm of the catalogue as a new robot, which shares no kernels with the catalogue's."""
    return dal.robots.CATALOGUE[name]().replace()


def without_friction(robot: Robot) -> Robot:
    """The same robot, running freely."""
    return robot.replace(parameters=robot.parameters.replace(friction={}))


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference beside the largest entry (or 1, where all are small)."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))
