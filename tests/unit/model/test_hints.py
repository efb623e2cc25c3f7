"""A robot says where to find what it does not have."""

from __future__ import annotations

import copy
import inspect
import re

import pytest

import dalembert as dal
from dalembert.model.hints import HINTS

ROBOT = dal.robots.pelican()
FUNCTIONS = {
    name: inspect.signature(function)
    for name in dal.__all__
    if inspect.isfunction(function := getattr(dal, name))
    and name not in ("from_dh", "load", "parameters", "free_body", "gather", "point_of", "pose_of")
}  # `robot.parameters` is something else, and there; others make a robot, or coordinates of a link


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mass_matrix", r"^Robot has no attribute 'mass_matrix'; use dal\.mass_matrix\(robot, q\)\.$"),
        ("links", r"^Robot has no attribute 'links'; use robot\.parameters\.links\.$"),
        ("joints", r"use robot\.structure\.joints\.$"),
        ("fkine", r"use dal\.forward_kinematics\(robot, q\)\.$"),
        ("rne", r"use dal\.inverse_dynamics\(robot, q, qd, qdd\)\.$"),
    ],
)
def test_an_attribute_that_is_not_there_names_what_to_use(name: str, sentence: str) -> None:
    with pytest.raises(AttributeError, match=sentence):
        getattr(ROBOT, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_a_robot_has_a_hint(name: str) -> None:
    of = "motion" if next(iter(FUNCTIONS[name].parameters)) == "motion" else "robot"
    assert HINTS[name].startswith(f"dal.{name}({of}")


@pytest.mark.parametrize("name", [name for name, hint in HINTS.items() if hint.startswith("dal.")])
def test_a_hint_names_the_arguments_in_their_order(name: str) -> None:
    function, arguments = re.fullmatch(r"dal\.(\w+)\((.*)\)", HINTS[name]).groups()  # type: ignore[union-attr]
    given = [argument for argument in arguments.split(", ")[1:] if argument != "..."]
    names = list(FUNCTIONS[function].parameters)[1:]
    assert given == names[: len(given)]


@pytest.mark.parametrize("hint", sorted({hint for hint in HINTS.values() if not hint.startswith("dal.")}))
def test_a_hint_at_a_part_can_be_evaluated(hint: str) -> None:
    name = "joint1" if ".joint(" in hint else "link1"
    assert eval(hint.replace("(...)", "()"), {"robot": ROBOT, "name": name}) is not None or hint == "robot.parameters.payload"


def test_probing_for_attributes_goes_on_as_usual() -> None:
    assert not hasattr(ROBOT, "_repr_html_")
    assert not hasattr(ROBOT, "__array__")
    assert not hasattr(ROBOT, "mass_matrix")
    assert "mass_matrix" not in dir(ROBOT)
    assert {"n", "gravity", "replace", "with_tool"} <= set(dir(ROBOT))
    assert getattr(ROBOT, "dof", 2) == 2
    assert copy.copy(ROBOT) == ROBOT
    assert isinstance(ROBOT, dal.Robot)
