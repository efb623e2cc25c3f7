"""Robots in general position: every number that may differ from zero does, so that counts owe nothing to special cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import FloatArray
from ..model import Joint, Link, Robot
from ..model.second_moments import tensor
from ..model.tree import Tree

_SEED = 1982


def generic_robot(parents: Sequence[int], turns: Sequence[bool]) -> Robot:
    """A robot whose joint i moves a link on that of joint parents[i] (-1: the base) and turns or slides, with generic numbers.

    Skew axes, full inertia tensors, centres of mass off every axis, gravity along no axis; neither rotors nor friction.
    """
    rng = np.random.default_rng(_SEED)
    links = [Link("base"), *(_link(f"link{i + 1}", rng) for i in range(len(parents)))]
    joints = [
        Joint(
            f"joint{i + 1}",
            "revolute" if turn else "prismatic",
            links[parent + 1].name,
            links[i + 1].name,
            origin=_pose(rng),
            axis=rng.normal(size=3),
        )
        for i, (parent, turn) in enumerate(zip(parents, turns, strict=True))
    ]
    return Robot.from_parts("generic", links, joints, gravity=rng.uniform(3.0, 6.0, 3))


def generic_chain(n: int) -> Robot:
    """n turning joints one after another, as the documents count them."""
    return generic_robot(range(-1, n - 1), [True] * n)


def like(tree: Tree) -> Robot:
    """Joints connected as in a tree and of the same kinds, each with a coordinate of its own."""
    return generic_robot([s.parent for s in tree.segments], [bool(s.turn) for s in tree.segments])


def _link(name: str, rng: np.random.Generator) -> Link:
    shape = rng.uniform(0.05, 0.2, (3, 3)) * rng.choice([-1.0, 1.0], (3, 3))
    second = shape @ shape.T  # of positive masses, so the tensor made of it could be a body's
    return Link(name, rng.uniform(1.0, 5.0), rng.uniform(0.05, 0.2, 3), tensor(second))


def _pose(rng: np.random.Generator) -> FloatArray:
    X = np.eye(4)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    X[:3, :3] = Q * np.sign(np.linalg.det(Q))
    X[:3, 3] = rng.uniform(0.1, 0.5, 3)
    return X
