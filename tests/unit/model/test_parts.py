"""The parts of a robot check themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dalembert.errors import DalembertError
from dalembert.model import Body, Friction, Joint, Limits, Link, Rotor, Tool

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


def test_parts_with_equal_numbers_are_equal() -> None:
    first, second = Body("b", 1.0, np.array([0.0, 0, 1])), Body("b", 1.0, np.array([-0.0, 0, 1]))
    assert first == second
    assert hash(first) == hash(second)
    assert first != first.replace(mass=2.0)


def test_coulomb_friction_is_symmetric_unless_told() -> None:
    assert Friction(coulomb=0.3).coulomb_negative == 0.3
    assert Friction(coulomb=0.3, coulomb_negative=0.1).coulomb_negative == 0.1
