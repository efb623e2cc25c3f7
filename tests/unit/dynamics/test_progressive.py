"""The dynamics of a growing robot: what was there plus what was attached, and nothing of the old built again."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from benchmarks import progressive as benchmark
from benchmarks.effort import TINY
from dalembert.codegen import kernel
from dalembert.dynamics import engine
from dalembert.dynamics.progressive import Progressive
from dalembert.expr.operation_counts import counts
from dalembert.model import Body, Joint, Link, Mimic
from tests.robots import body, pose, random_robot, relative_error

EXACT = 1e-11  # relative: the same terms in another order, on robots with heavy rotors
LOAD = Link("load", 1.5, (0.1, 0.0, 0.05), np.diag([0.01, 0.01, 0.015]))


def agrees(model: Progressive, seed: int = 5, batch: tuple[int, ...] = (3,)) -> bool:
    """Whether all four quantities are those of the whole robot, by another formulation."""
    robot = model.robot
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, *batch, robot.n))
    pairs = [
        (model.mass_matrix(q), dal.mass_matrix(robot, q)),
        (model.coriolis_matrix(q, qd), dal.coriolis_matrix(robot, q, qd)),
        (model.gravity_torque(q), dal.gravity_torque(robot, q)),
        (model.inverse_dynamics(q, qd, qdd), dal.inverse_dynamics(robot, q, qd, qdd)),
    ]
    return all(relative_error(found, wanted) < EXACT for found, wanted in pairs)


def grow(model: Progressive, k: int, rng: np.random.Generator) -> Progressive:
    """Something new at a random place: a body, a link on a joint, or a robot with rotors, friction and couplings."""
    parent, own = str(rng.choice(model.robot.link_names)), body(rng, f"body{k}")
    kind = rng.integers(4)
    if kind == 0:
        return model.attach(own, parent=parent)
    if kind == 1:
        link = Link(f"link_{k}", own.mass, own.com, own.inertia)
        type_of_it = str(rng.choice(["revolute", "prismatic"]))
        joint = Joint(f"joint_{k}", type_of_it, parent, link.name, origin=pose(rng), axis=rng.normal(size=3), home=0.3)
        return model.attach(link, joint=joint)
    part = random_robot(rng, 2).replace(name=f"robot{k}")
    return model.attach(part) if kind == 2 else model.attach(part, joint="revolute", parent=parent)


@pytest.mark.parametrize("seed", range(6))
def test_a_grown_robot_has_the_dynamics_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    rng = np.random.default_rng(seed)
    model = dal.progressive(random_robot(rng, int(rng.integers(1, 5))))
    for k in range(3):
        model = grow(model, k, rng)
        assert agrees(model, seed)


def test_compiled_terms_agree_for_one_configuration_and_for_batches() -> None:
    model = (
        dal.progressive(dal.robots.pelican()).attach(LOAD, joint="revolute").attach(Body("lid", 0.3, (0, 0.1, 0)), parent="load")
    )
    for batch in ((), (1,), (2, 3)):
        assert agrees(model, batch=batch)


def test_parts_hang_on_parts_and_on_the_base() -> None:
    arm = dal.progressive(dal.robots.pelican())
    model = arm.attach(LOAD, joint="revolute").attach(Link("tip", 0.4, (0, 0.1, 0)), joint="prismatic", parent="load")
    model = model.attach(Link("door", 3.0, (0.2, 0, 0)), joint="revolute", parent=arm.robot.structure.root)
    model = model.attach(Link("frame", 5.0), parent=arm.robot.structure.root)  # rigidly on the base: it moves nothing
    model = model.attach(Link("lamp", 1.0, (0.1, 0.1, 0)), joint="revolute", parent="frame")
    assert model.robot.joint_names == ("joint1", "joint2", "load", "tip", "door", "lamp")
    assert agrees(model)


def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all programs that become kernels from now on."""
    names: list[str] = []

    def counted(program: Any, *arguments: Any, **options: Any) -> Any:
        names.append(program.name)
        return kernel.build(program, *arguments, **options)

    for user in ("engine", "progressive"):  # all modules of the layer that compile for it
        monkeypatch.setattr(importlib.import_module(f"dalembert.dynamics.{user}"), "build", counted)
    return names


def ask(model: Progressive) -> None:
    q, qd, qdd = np.full((3, model.robot.n), 0.3)
    model.mass_matrix(q)
    model.coriolis_matrix(q, qd)
    model.gravity_torque(q)
    model.inverse_dynamics(q, qd, qdd)


def test_no_kernel_of_the_old_robot_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    names = built(monkeypatch)
    arm = dal.progressive(dal.robots.pelican().replace())
    ask(arm)
    assert sorted(names) == ["gravity_torque", "inverse_dynamics", "mass_matrix", "terms"]
    before = dict(arm.robot.kernels)
    names.clear()

    loaded = arm.attach(LOAD, joint="revolute")
    ask(loaded)
    new = ["attached_coriolis_matrix", "attached_mass_matrix", "attached_torques"]
    assert sorted(names) == [*new, "carrier"]  # the screws of link 2, once, and the new link's own terms
    assert all(arm.base.kernels[key] is kernel for key, kernel in before.items())
    names.clear()

    longer = loaded.attach(Link("tip", 0.4, (0, 0.1, 0)), joint="revolute", parent="load")
    ask(longer)
    assert sorted(names) == ["attached_carrier", *new]
    names.clear()

    for shorter in (longer.detach("tip"), longer.detach("load"), loaded):
        ask(shorter)
    assert names == []


def test_the_new_term_does_not_grow_with_the_terms_that_are_there() -> None:
    """Its operations grow with the columns of its Jacobian: linearly in τ, while those of the whole grow with their square."""
    operations = {}
    for n in (6, 12):
        model = dal.progressive(dal.robots.chain(n)).attach(LOAD, joint="revolute")
        operations[n] = counts(model.parts[0].term_program("torques")).flops
    whole = {n: counts(engine.program(dal.robots.chain(n + 1), "inverse_dynamics", "screw")).flops for n in (6, 12)}
    assert operations[12] < 2.1 * operations[6]
    assert whole[12] > 3 * whole[6]
    assert whole[12] > 4 * operations[12]


def test_taking_off_leads_back_to_the_robot_and_its_kernels() -> None:
    robot = dal.robots.pelican()
    arm = dal.progressive(robot)
    loaded = arm.attach(LOAD, joint="revolute")
    assert loaded.robot == dal.attach(robot, LOAD, joint="revolute")
    assert loaded.detach("load").robot is robot
    both = loaded.attach(Body("lid", 0.3), parent="link1")
    assert both.detach("load").robot == dal.attach(robot, Body("lid", 0.3), parent="link1")
    assert both.detach("load").parts == (both.parts[1],)
    assert agrees(both.detach("load"))


def test_what_hangs_on_a_part_is_taken_off_with_it() -> None:
    arm = dal.progressive(dal.robots.pelican())
    model = arm.attach(LOAD, joint="revolute").attach(Body("lid", 0.3), parent="load").attach(Body("label", 0.1), parent="lid")
    assert model.detach("load").robot is arm.robot
    assert [part.name for part in model.detach("lid").parts] == ["load"]


def test_only_what_was_attached_can_be_taken_off() -> None:
    model = dal.progressive(dal.robots.pelican()).attach(LOAD)
    with pytest.raises(dal.DalembertError, match="detach: attached part: 'link2' is not known. Known: load."):
        model.detach("link2")


def test_a_state_of_the_smaller_robot_is_refused() -> None:
    model = dal.progressive(dal.robots.pelican()).attach(LOAD, joint="revolute")
    with pytest.raises(
        dal.DalembertError, match=r"q: shape \(2,\) found, but 'pelican' has 3 coordinates now: \(..., 3\) expected"
    ):
        model.mass_matrix([0.1, 0.2])
    with pytest.raises(dal.DalembertError, match=r"qd: shape \(\) found"):
        model.coriolis_matrix([0.1, 0.2, 0.3], 0.0)


def test_a_joint_that_follows_one_of_the_old_robot_is_refused() -> None:
    follower = Joint("follower", "revolute", "link2", "load", mimic=Mimic("joint1", 2.0))
    assert dal.attach(dal.robots.pelican(), LOAD, joint=follower).n == 2
    with pytest.raises(dal.DalembertError, match="joint 'follower' follows 'joint1' of the robot as it is.*Use dal.attach"):
        dal.progressive(dal.robots.pelican()).attach(LOAD, joint=follower)


def test_anything_but_a_robot_is_refused() -> None:
    with pytest.raises(dal.DalembertError, match="system: str found, a Robot is expected"):
        dal.progressive("pelican")


def test_the_benchmark_measures_whole_and_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    table = benchmark.measure(TINY)
    assert [record["quantity"] for record in table.records] == [*benchmark.QUANTITIES, "screws of the carrier"]
    for record in table.records:
        assert all(value > 0 for key, value in record.items() if key != "quantity")


def test_a_grown_robot_that_was_used_can_be_pickled_and_copied() -> None:
    grown = dal.progressive(dal.robots.pelican()).attach(LOAD, joint="revolute")
    state = np.linspace(0.1, 0.9, 9).reshape(3, 3)
    wanted = grown.inverse_dynamics(*state)
    for other in (pickle.loads(pickle.dumps(grown)), copy.deepcopy(grown)):
        np.testing.assert_array_equal(other.inverse_dynamics(*state), wanted)
