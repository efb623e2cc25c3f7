"""A robot cannot be changed: not through its mappings, its arrays or those it was made of, and no copy of it can."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.record import FrozenMapping, Record
from tests.robots import random_robot


def pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda record: pickle.loads(pickle.dumps(record, protocol))


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": lambda record: record.replace(),
    **{f"pickle {protocol}": pickled(protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)},
}
if importlib.util.find_spec("cloudpickle"):
    COPIES["cloudpickle"] = lambda record: pickle.loads(importlib.import_module("cloudpickle").dumps(record))
ARM = dal.robots.puma560().with_payload(1.0, (0, 0, 0.1), 0.01 * np.eye(3))
RECORDS: dict[str, Record] = {
    "puma560": ARM,
    "random tree": random_robot(np.random.default_rng(1), 8),
    "workspace": dal.Workspace.of(ARM),
    "spring": dal.Spring(1.0, between=(("tool", (0.1, 0, 0)), "world")),
    "closure": dal.Closure("pin", "revolute", (("rocker", (0.5, 0, 0)), "world"), (0, 1, 0)),
    "mechanism": dal.mechanisms.four_bar(),
    "limits": dal.Limits(-1.0, 1.0),
    "mimic": dal.Mimic("joint1", -2.0),
    "rotor": dal.Rotor(0.1, 100.0, "full", position=(0, 0, 1)),
}


def parts_of(value: Any) -> Iterator[Any]:
    """The value and everything inside it."""
    yield value
    if isinstance(value, Record):
        for field in dataclasses.fields(value):  # type: ignore[arg-type]
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from parts_of(item)
    elif isinstance(value, FrozenMapping):
        for item in value.values():
            yield from parts_of(item)
    else:
        assert isinstance(value, np.ndarray | str | float | bool | None), type(value)


def assert_frozen(record: Record) -> None:
    arrays = [part for part in parts_of(record) if isinstance(part, np.ndarray)]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 7.0
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.flags.writeable = True
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)


@pytest.mark.parametrize("name", RECORDS)
def test_nothing_in_a_record_can_be_changed(name: str) -> None:
    assert_frozen(RECORDS[name])


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", RECORDS)
def test_a_copy_is_equal_and_frozen(name: str, way: str) -> None:
    original = RECORDS[name]
    again = COPIES[way](original)
    assert again == original
    assert again is not original
    assert hash(again) == hash(original)
    assert repr(again) == repr(original)
    assert_frozen(again)


@pytest.mark.parametrize("name", ["friction", "rotors"])
def test_a_mapping_of_a_catalogue_robot_cannot_be_changed(name: str) -> None:
    robot = dal.robots.puma560()
    table: Any = getattr(robot.parameters, name)
    before = dict(table)
    assert before
    for change in ("clear", "pop", "popitem", "update", "setdefault"):
        assert not hasattr(table, change)
    with pytest.raises(TypeError, match="does not support item deletion"):
        del table["joint1"]
    with pytest.raises(TypeError, match="does not support item assignment"):
        table["joint1"] = None
    with pytest.raises(AttributeError, match="a robot is frozen"):
        table._items = {}
    assert getattr(dal.robots.puma560().parameters, name) == before


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_starts_without_kernels_and_computes_the_same(way: str) -> None:
    robot = dal.robots.pendulum().replace()
    tau = dal.gravity_torque(robot, [0.3])
    assert robot.kernels
    again = COPIES[way](robot)
    assert not again.kernels
    assert dal.gravity_torque(again, [0.3]).tolist() == tau.tolist()


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle 5"])
def test_a_copy_of_a_doubtful_robot_does_not_warn_again(way: str) -> None:
    links = [dal.Link("base"), dal.Link("arm", -1.0, inertia=np.eye(3))]
    with pytest.warns(dal.DalembertWarning, match="mass -1 kg"):
        robot = dal.Robot.from_parts("r", links, [dal.Joint("j", "revolute", "base", "arm")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = COPIES[way](robot)
        assert again.notes == robot.notes
        assert again.with_gravity((0, 0, 0)).notes == robot.notes


def test_changing_what_a_part_was_made_of_changes_nothing() -> None:
    com, inertia, origin, gravity = np.array([0.1, 0, 0]), np.eye(3), np.eye(4), np.array([0, 0, -9.81])
    bodies, friction = [dal.Body("motor", 1.0)], {"j": dal.Friction(0.1)}
    link = dal.Link("arm", 1.0, com, inertia, bodies)  # type: ignore[arg-type]
    joint = dal.Joint("j", "revolute", "base", "arm", origin=origin)
    robot = dal.Robot.from_parts("r", [dal.Link("base"), link], [joint], gravity=gravity, friction=friction)
    before = pickle.dumps(robot)
    for array in (com, inertia, origin, gravity):
        array += 1.0
    bodies.clear()
    friction.clear()
    assert pickle.dumps(robot) == before
    assert robot.gravity.tolist() == [0, 0, -9.81]
    assert robot.parameters.friction == {"j": dal.Friction(0.1)}


def test_a_frozen_mapping_compares_as_a_dict_does() -> None:
    table = FrozenMapping({"b": 1, "a": 2})
    assert table == {"a": 2, "b": 1} == table
    assert table == FrozenMapping({"a": 2, "b": 1})
    assert hash(table) == hash(FrozenMapping({"a": 2, "b": 1}))
    assert table != {"a": 2}
    assert {**table} == {"b": 1, "a": 2}
    assert repr(table) == "{'b': 1, 'a': 2}"
    assert copy.deepcopy(table) == pickle.loads(pickle.dumps(table)) == table


def test_mechanisms_with_poses_inside_of_their_closures_compare_and_hash_by_content():
    mechanism = dal.mechanisms.four_bar()
    copy = pickle.loads(pickle.dumps(mechanism))
    assert copy == mechanism
    assert hash(copy) == hash(mechanism)
    assert copy.closures[0] != mechanism.closures[0].replace(between=("rocker", "world"))
    with pytest.raises(ValueError, match="read-only"):
        copy.closures[0].between[0][1][0, 3] = 1.0
