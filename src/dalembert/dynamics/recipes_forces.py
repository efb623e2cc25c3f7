"""Recipes of forces and of what they are made of, over the tree of a robot."""

from __future__ import annotations

from typing import Any

from ..algorithms import applied_loads, torque_parts
from ..algorithms.composite_bodies import mass_matrix
from ..algorithms.graph_derivatives import christoffel, friction_forces
from ..algorithms.kinematics import segment_poses, shifted
from ..algorithms.newton_euler_recursion import wrench_step
from ..algorithms.sweep import Unrolled
from ..checks import choice
from ..errors import UnknownNameError
from ..formulations.base import load_torques
from ..model.springs import Anchor, Damper, Spring
from ..model.tree import FramePlace, Tree
from ..spatial import IDENTITY, ZERO
from .quantity import TreeRecipe
from .surroundings import DEFAULT, method_of, place_of

WORLD = "world"
PARTS = (
    *("inertia", "centrifugal_by", "coriolis", "friction", "external"),
    *("link_translational", "link_rotational", "link_gravity", "link_rotor"),
)


def applied_torque(
    tree: Tree,
    anchors: tuple[Anchor, ...] = (),
    springs: tuple[Spring, ...] = (),
    dampers: tuple[Damper, ...] = (),
    gravity: bool = False,
    moving: bool = False,
) -> TreeRecipe:
    """Joint torques of wrenches at anchors, springs, dampers and gravity; q̇ is an input where the robot moves."""
    places = [_place(tree, end) for end in anchors]
    stretched, damped = elements_of(tree, springs, dampers)

    def function(sweep: Unrolled, q: Any, *rest: Any) -> Any:
        qd, forces = (rest[0], rest[1:]) if moving else (None, rest)
        acting = zip(places, forces, strict=True)
        return applied_loads.applied(sweep, q, qd, acting, stretched, damped, gravity=gravity)

    inputs = dict.fromkeys(("q", "qd") if moving else ("q",), (tree.n,))
    inputs |= {f"wrench {k} at {name!r}": (6,) for k, (name, _) in enumerate(anchors, 1)}
    return TreeRecipe(function, inputs, ["tau"], can_roll=False, regroup=False)


def elements_of(
    tree: Tree, springs: tuple[Spring, ...], dampers: tuple[Damper, ...]
) -> tuple[list[applied_loads.Element], list[applied_loads.Element]]:
    """Springs and dampers by the places in the tree that their names mean."""
    stretched = [_element(tree, s, s.stiffness, s.rest) for s in springs]
    return stretched, [_element(tree, d, d.coefficient, 0.0) for d in dampers]


def _element(tree: Tree, element: Spring | Damper, coefficient: float, rest: float) -> applied_loads.Element:
    if element.between is not None:
        a, b = (_place(tree, end) for end in element.between)
        return applied_loads.Between(a, b, coefficient, rest)
    names = [s.name for s in tree.segments]
    if element.joint not in names:
        raise UnknownNameError.among("joint", element.joint, names)
    return applied_loads.AtJoint(names.index(element.joint), coefficient, rest)


def _place(tree: Tree, end: Anchor) -> FramePlace:
    name, point = end
    if name == WORLD and name not in tree.links:
        return shifted(FramePlace(-1, IDENTITY, ZERO), point)
    return shifted(place_of(tree, name), point)


def contributions(tree: Tree, wrenches: tuple[str, ...] = ()) -> TreeRecipe:
    """What the torque of a motion is made of: by cause, and link by link."""
    places = [place_of(tree, name) for name in wrenches]

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any, *given: Any) -> Any:
        centrifugal, coriolis = torque_parts.velocity_parts(christoffel(sweep, q), qd)
        translational, rotational, rotor = torque_parts.motion_parts(sweep, q, qd, qdd)
        external: list[Any] = [0.0] * tree.n
        if places:
            loads = sweep.applied(wrench_step, places, given, segment_poses(sweep, q))
            external = sweep.collect(load_torques(sweep, q, loads))
        inertia = torque_parts.inertia_parts(mass_matrix(sweep, q), qdd)
        of_links = translational, rotational, torque_parts.gravity_parts(sweep, q), rotor
        return inertia, centrifugal, coriolis, friction_forces(sweep, qd), external, *of_links

    inputs = dict.fromkeys(("q", "qd", "qdd"), (tree.n,)) | {f"wrenches[{name!r}]": (6,) for name in wrenches}
    return TreeRecipe(function, inputs, PARTS, can_roll=False, regroup=False)


def terms(tree: Tree, formulation: str = DEFAULT, names: tuple[str, ...] = ()) -> TreeRecipe:
    """What a formulation computes on its way."""
    method = method_of(tree, formulation)
    chosen = [choice("terms", name, method.terms) for name in names]

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
        found = [term.function(sweep, q, qd, qdd) for term in chosen]
        return found if len(found) > 1 else found[0]

    return TreeRecipe(function, dict.fromkeys(("q", "qd", "qdd"), (tree.n,)), names, can_roll=False, regroup=False)
