"""Recipes of where links are and how they move, over the tree of a robot."""

from __future__ import annotations

from typing import Any

from ..algorithms import graph_derivatives, influence_coefficients, kinematics
from ..algorithms.sweep import Unrolled
from ..checks import choice
from ..model.tree import Tree
from .quantity import TreeRecipe
from .surroundings import place_of


def forward_kinematics(tree: Tree, link: str | tuple[str, ...] | None = None) -> TreeRecipe:
    """World pose of one frame, or of several."""
    several = isinstance(link, tuple)
    places = [place_of(tree, name) for name in (link if isinstance(link, tuple) else (link,))]

    def function(sweep: Unrolled, q: Any) -> Any:
        poses = kinematics.forward_kinematics(sweep, q, places)
        return poses if several else poses[0]

    return TreeRecipe(function, {"q": (tree.n,)}, ["X"], can_roll=False)


def jacobian(tree: Tree, link: str | None = None, frame: str = "world", with_point: bool = False) -> TreeRecipe:
    """Geometric Jacobian of a frame, or of a point given in it."""
    choice("frame", frame, {"world": 0, "body": 0})
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any, point: Any = None) -> Any:
        return kinematics.jacobian(sweep, q, kinematics.shifted(place, point), frame=frame)

    inputs = {"q": (tree.n,)} | _point(with_point)
    return TreeRecipe(function, inputs, ["J"], can_roll=False)


def jacobian_dot(tree: Tree, link: str | None = None, frame: str = "world") -> TreeRecipe:
    """The time derivative of the geometric Jacobian."""
    inner = jacobian(tree, link, frame)

    def function(sweep: Unrolled, q: Any, qd: Any) -> Any:
        return graph_derivatives.along(inner.function(sweep, q), q, qd)

    return TreeRecipe(function, dict.fromkeys(("q", "qd"), (tree.n,)), ["Jdot"], can_roll=False)


def analytical_jacobian(tree: Tree, link: str | None = None, angles: str = "rpy") -> TreeRecipe:
    """Jacobian of position and orientation angles."""
    choice("angles", angles, kinematics.RATES)
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any) -> Any:
        return kinematics.analytical_jacobian(sweep, q, place, angles=angles)

    return TreeRecipe(function, {"q": (tree.n,)}, ["J"], can_roll=False)


ORDERS = ("G", "H", "D")
MOTIONS = ("velocity", "acceleration", "jerk")
STATES = ("q", "qd", "qdd", "qddd")


def influence(tree: Tree, link: str | None = None, order: int = 2, kind: str = "link", with_point: bool = False) -> TreeRecipe:
    """Influence coefficients of a frame or a point given in it, up to an order."""
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any, point: Any = None) -> Any:
        at = kinematics.shifted(place, point)
        found = influence_coefficients.influence(sweep, q, at, order=order, kind=kind)
        return found if order > 1 else found[0]

    inputs = {"q": (tree.n,)} | _point(with_point)
    return TreeRecipe(function, inputs, ORDERS[:order], can_roll=False, regroup=False)


def link_motion(tree: Tree, link: str | None = None, order: int = 1, with_point: bool = False) -> TreeRecipe:
    """Velocity, acceleration and jerk of a frame or a point given in it, up to an order."""
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any, *rest: Any) -> Any:
        at = kinematics.shifted(place, rest[order] if with_point else None)
        found = influence_coefficients.link_motion(sweep, at, q, *rest[:order])
        return found if order > 1 else found[0]

    inputs = dict.fromkeys(STATES[: order + 1], (tree.n,)) | _point(with_point)
    return TreeRecipe(function, inputs, MOTIONS[:order], can_roll=False, regroup=False)


def _point(given: bool) -> dict[str, tuple[int, ...]]:
    return {"point": (3,)} if given else {}
