"""Passes over loop programs: the same results, by fewer reads and writes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dalembert.codegen import build
from dalembert.dynamics import engine
from dalembert.expr import Graph
from dalembert.expr.loop_passes import PASSES, streamlined
from dalembert.expr.loops import Address, LoopProgram, Stage, Write, run
from dalembert.expr.program import Slot
from dalembert.robots import chain
from tests.robots import EVERYTHING, PLAIN, random_robot

QUANTITIES = (
    "inverse_dynamics",
    "gravity_torque",
    "bias",
    "forward_dynamics",
    "mass_matrix",
    "energy",
    "inverse_derivatives",
    "coriolis_matrix",
    "christoffel",
    "second_derivatives",
)
ROBOTS = {
    "chain": lambda: chain(6),
    "long chain": lambda: chain(12),
    "plain tree": lambda: random_robot(np.random.default_rng(3), 12, replace(PLAIN, branches=True, prismatic=True)),
    "plain": lambda: random_robot(np.random.default_rng(2), 6, PLAIN),
    "tree": lambda: random_robot(np.random.default_rng(5), 5, EVERYTHING),
    "large tree": lambda: random_robot(np.random.default_rng(8), 12, EVERYTHING),
}


@cache
def looped(name: str, quantity: str) -> LoopProgram | None:
    """The loop program of a quantity; None where there is none (forward dynamics with full rotors or couplings)."""
    program = engine.program(ROBOTS[name](), quantity, rolled=True)
    return program if isinstance(program, LoopProgram) else None


# Listed by name: to make them all would take every worker seconds while it collects tests.
STRAIGHT = {
    "forward_dynamics": ("chain", "plain", "tree", "large tree"),
    **dict.fromkeys(("inverse_derivatives", "coriolis_matrix", "christoffel", "second_derivatives"), ("tree", "large tree")),
}
CASES = [(quantity, name) for quantity in QUANTITIES for name in ROBOTS if name not in STRAIGHT.get(quantity, ())]


def arrays(program: LoopProgram) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.uniform(-1, 1, (5, *slot.shape)) for slot in program.inputs]


@pytest.mark.slow
@pytest.mark.parametrize("quantity, name", CASES)
def test_every_pass_keeps_the_results(quantity: str, name: str) -> None:
    program = looped(name, quantity)
    given = arrays(program)
    wanted = run(program, *given)
    for title, change in PASSES.items():
        program = change(program)
        for found, expected in zip(run(program, *given), wanted, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-13, err_msg=title)


@pytest.mark.parametrize("quantity", STRAIGHT)
def test_only_what_is_listed_has_no_loop_program(quantity: str) -> None:
    assert [name for name in ROBOTS if looped(name, quantity) is None] == list(STRAIGHT[quantity])


@pytest.mark.parametrize("name", ["long chain", "plain tree"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "energy", "forward_dynamics"])
def test_a_compiled_program_is_the_one_it_was_made_of(quantity: str, name: str) -> None:
    program = looped(name, quantity)
    given = arrays(program)
    found = build(program)(*given)
    for result, expected in zip(found if isinstance(found, tuple) else (found,), run(program, *given), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def traffic(program: LoopProgram) -> int:
    """Vectors read from or written to buffers, per configuration."""
    return sum(
        stage.turns * (sum(a.kind == "buffer" for _, a in stage.reads) + sum(w.address.kind == "buffer" for w in stage.writes))
        for stage in program.stages
    )


def test_along_a_chain_only_loads_and_sines_wait_in_memory() -> None:
    """Per joint: a sine and a cosine, six components of a wrench, each written once; the way back reads them once more."""
    program = engine.program(chain(40), "inverse_dynamics", rolled=True)
    after = streamlined(program)
    assert traffic(after) < traffic(program) / 3
    assert traffic(after) / 40 < 20


def test_branches_are_left_in_memory() -> None:
    program = looped("tree", "inverse_dynamics")
    outward = [stage for stage in streamlined(program).stages if stage.carried]
    assert not outward or len(ROBOTS["tree"]().structure.joints) > len(outward)


def _doubling(add: bool, summands: int) -> LoopProgram:
    """y_k = Σ x_k over some summands, through a buffer cleared before."""
    graph = Graph()
    x = graph.input("x")
    rows = np.arange(3)
    clear = Stage(3, (rows,), (), (), (Write(0.0, Address("buffer", 0, 0, 1, 0)),))
    read = ((x, Address("input", 0, 0, 1, 0)),)
    fill = Stage(3, (rows,), read, (), (Write(x, Address("buffer", 0, 0, 1, 0), add),))
    y = graph.input("y")
    copy = Stage(3, (rows,), ((y, Address("buffer", 0, 0, 1, 0)),), (), (Write(y, Address("output", 0, 0, 1, 0)),))
    slots = (Slot("x", (3,)),), (Slot("y", (3,)),)
    return LoopProgram("doubling", *slots, (3,), np.zeros(0), (clear, *[fill] * summands, copy))


def test_a_single_summand_is_a_plain_write() -> None:
    program = streamlined(_doubling(add=True, summands=1))
    assert not any(write.add for stage in program.stages for write in stage.writes)
    np.testing.assert_array_equal(run(program, [1.0, 2.0, 3.0])[0], [1.0, 2.0, 3.0])


def test_several_summands_stay_sums() -> None:
    program = streamlined(_doubling(add=True, summands=2))
    np.testing.assert_array_equal(run(program, [1.0, 2.0, 3.0])[0], [2.0, 4.0, 6.0])


def test_programs_with_repetitions_are_left_alone() -> None:
    from dalembert.expr.loops import Repeat

    inner = _doubling(add=True, summands=1)
    program = LoopProgram("again", inner.inputs, inner.outputs, (3,), np.zeros(0), (Repeat((0, 0), inner.stages),))
    assert streamlined(program) is program
