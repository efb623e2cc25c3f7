"""The parts of a robot check themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert import checks
from dalembert.errors import DalembertError
from dalembert.model import Body, Friction, Joint, Limits, Link, Mimic, Robot, Rotor, Tool

MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
SKEW = np.array([[1.0, 0.2, 0], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Joint("j", "hinge", "a", "b"), "^joint 'j': type: 'hinge' is not known.*Known: revolute"),
        (lambda: Joint("j", "revolute", "a", "b", axis=np.zeros(3)), "^joint 'j': axis .* has no direction"),
        (lambda: Joint("j", "revolute", "a", "b", origin=MIRROR), "^joint 'j': origin: .* is not a rotation matrix"),
        (lambda: Joint("j", "revolute", "a", "b", origin=2 * np.eye(4)), "^joint 'j': origin: last row"),
        (lambda: Joint("j", "revolute", "a", "b", home=np.nan), "^joint 'j': home: nan found"),
        (lambda: Limits(1, -1), "^limits: lower 1 is above upper -1. Are they exchanged"),
        (lambda: Limits(velocity=-1), "^limits: velocity -1 is negative"),
        (lambda: Limits(np.inf, np.inf), "^limits: inf to inf leaves no position at all. No limit is -inf and inf.$"),
        (lambda: Limits(-np.inf, -np.inf), "^limits: -inf to -inf leaves no position at all"),
        (lambda: Rotor(1.0, 1e200), r"^rotor: ratio: 1e\+200 found, which is beyond 1e\+30"),
        (lambda: Rotor(1.0, mount=3), "^rotor: mount: 3 found; each needs a non-empty name"),  # type: ignore[arg-type]
        (lambda: Link("a", 1.0, (1e200, 0, 0)), r"^link 'a': com: .* contains a number beyond 1e\+30"),
        (lambda: Link("a", 1.0, inertia=1e200 * np.eye(3)), r"^link 'a': inertia: .* contains a number beyond 1e\+30"),
        (lambda: Link("a", "4"), "^link 'a': mass: '4' is not a number"),  # type: ignore[arg-type]
        (lambda: Link("a", 10**400), "^link 'a': mass: the integer is too large"),
        (lambda: Link("a", True), "^link 'a': mass: True is not a number"),
        (lambda: Link("a\nb"), r"^link: 'a\\nb' contains a control character"),
        (lambda: Link("a", bodies=("motor",)), "^link 'a': bodies: 'motor' found; a Body"),  # type: ignore[arg-type]
        (lambda: Link("a", virtual="yes"), "^link 'a': virtual: 'yes' found; True or False"),  # type: ignore[arg-type]
        (lambda: Joint("j", "revolute", "a", None), "^joint 'j': child link: None found"),  # type: ignore[arg-type]
        (lambda: Joint("j", "fixed", "a", "b", limits=(0, 1)), r"^joint 'j': limits: \(0, 1\) found; a Limits"),  # type: ignore[arg-type]
        (lambda: Joint("j", "fixed", "a", "b", mimic="k"), r"^joint 'j': mimic: 'k' found; a Mimic"),  # type: ignore[arg-type]
        (lambda: Joint("j", "revolute", "a", "b", origin=1e200 * np.eye(4)), r"^joint 'j': origin: .* beyond 1e\+30"),
        (lambda: Friction(coulomb=1.0, width=1e-200), "^friction: width 1e-200 is too small to divide by; 1e-30 is enough"),
        (
            lambda: Friction(coulomb=1.0, breakaway=2.0, stribeck_velocity=1e-320),
            "^friction: stribeck_velocity .* is too small to divide by",
        ),
        (lambda: Body("b", np.inf), "^body 'b': mass: inf found"),
        (lambda: Body("b", 1.0, np.zeros(2)), r"^body 'b': com: shape \(2,\) found, \(3,\) expected"),
        (lambda: Link("l", 1.0, inertia=SKEW), "^link 'l': inertia: .* is not symmetric"),
        (lambda: Link("l", bodies=(Body("m"), Body("m"))), "^link 'l': bodies: 'm' stands twice"),
        (lambda: Rotor(0.1, model="solid"), "^rotor: model: 'solid' is not known"),
        (lambda: Rotor(0.1, mass=1.0), "^rotor: mass, .* have no effect in the 'reflected' model"),
        (lambda: Friction(width=-1), "^friction: width -1 is negative"),
        (lambda: Friction(coulomb=1.0, breakaway=2.0), "^friction: breakaway 2 needs"),
        (lambda: Tool("l", MIRROR), "^tool: pose: .* is not a rotation matrix"),
    ],
)
def test_a_part_without_meaning_is_refused(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(DalembertError, match=sentence):
        make()


def test_an_axis_is_scaled_to_length_one() -> None:
    assert Joint("j", "revolute", "a", "b", axis=np.array([0, 0, 5.0])).axis.tolist() == [0, 0, 1]


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e29, 1e200, np.finfo(float).max])
def test_an_axis_of_any_size_has_its_direction(size: float) -> None:
    axis = Joint("j", "revolute", "a", "b", axis=np.array([0.6, 0.0, 0.8]) * size).axis
    np.testing.assert_allclose(axis, [0.6, 0.0, 0.8], rtol=4e-16)  # two roundings


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("slides", [False, True])
def test_the_largest_numbers_that_are_accepted_give_finite_dynamics(slides: bool) -> None:
    big, X = checks.LARGEST, np.eye(4)
    X[:3, 3] = big
    rotor = Rotor(big, big, "full", mass=big, transverse_inertia=big, position=(big, big, big))
    friction = Friction(big, big, breakaway=big, stribeck_velocity=checks.SMALLEST, width=checks.SMALLEST)
    links = [Link("base"), *(Link(name, big, (big, big, big), big * np.eye(3)) for name in "abc")]
    joints = [
        Joint("j1", "revolute", "base", "a", origin=X, home=big),
        Joint("j2", "prismatic" if slides else "revolute", "a", "b", origin=X, axis=(0, 1, 1), child_origin=X),
        Joint("j3", "revolute", "b", "c", origin=X, axis=(1, 0, 0), mimic=Mimic("j1", big, big)),
    ]
    robot = Robot.from_parts(
        "r", links, joints, gravity=(big, big, big), friction={"j1": friction}, rotors={"j1": rotor, "j2": rotor}
    )
    assert np.isfinite(dal.mass_matrix(robot, [0.0, 0.3])).all()
    assert np.isfinite(dal.gravity_torque(robot, [0.0, 0.3])).all()
    assert np.isfinite(dal.friction_torque(robot, [[0.0, 0.0], [1.0, 1.0]])).all()


def test_parts_with_equal_numbers_are_equal() -> None:
    first, second = Body("b", 1.0, np.array([0.0, 0, 1])), Body("b", 1.0, np.array([-0.0, 0, 1]))
    assert first == second
    assert hash(first) == hash(second)
    assert first != first.replace(mass=2.0)


def test_coulomb_friction_is_symmetric_unless_told() -> None:
    assert Friction(coulomb=0.3).coulomb_negative == 0.3
    assert Friction(coulomb=0.3, coulomb_negative=0.1).coulomb_negative == 0.1
