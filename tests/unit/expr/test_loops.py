"""Loop programs with repetitions and own indices: the interpreter, and the compiled loop against it."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.codegen.time_loop import TimeLoopKernel
from dalembert.expr import ops
from dalembert.expr.assembly import Assembly
from dalembert.expr.loops import LoopProgram, Repeat, run_time_loop


@pytest.fixture(scope="module")
def program() -> LoopProgram:
    """Halve a number until it is below 1, noting each value in a row of its own; then the number of halvings."""
    make = Assembly("halve")
    x, going, count = make.buffer(), make.buffer(), make.buffer()
    given, values, turns = make.input("x", 1), make.output("values", 1), make.output("turns", 1)
    start = make.once(lambda x: [x, [1.0 - (x[0] < 1.0)], [0.0]], [given], [x, going, count])
    note = make.once(lambda x: [x], [x], [values.row(count, 1)])

    def halve(x, going, count):
        half = ops.where(going[0], 0.5 * x[0], x[0])
        return [[half], [going[0] * (1.0 - (half < 1.0))], [count[0] + going[0]]]

    step = make.once(halve, [x, going, count], [x, going, count])
    end = make.once(lambda count: [count], [count], [turns])
    return make.finish([*start, Repeat(going.place, (*note, *step)), *end])


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11])
def test_each_configuration_repeats_as_often_as_it_needs(program, count):
    x = np.linspace(0.5, 300.0, count)[:, None]
    values, turns = np.zeros((count, 12)), np.zeros((count, 1))
    run_time_loop(program, [x], [values, turns])
    expected = np.array([max(0, int(np.floor(np.log2(v))) + 1) for v in x[:, 0]])
    assert np.array_equal(turns[:, 0], expected)
    for k in range(count):
        assert np.array_equal(values[k, : expected[k]], x[k, 0] * 0.5 ** np.arange(expected[k]))


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_compiled_loop_does_what_the_interpreter_does(program, count, threads):
    x = np.linspace(0.5, 300.0, count)[:, None]
    found, expected = ([np.zeros((count, 12)), np.zeros((count, 1))] for _ in range(2))
    TimeLoopKernel(program)([x], found, turns=10, threads=threads)
    run_time_loop(program, [x], expected)
    assert np.array_equal(found[1], expected[1])
    for k in range(count):
        assert np.array_equal(found[0][k, : int(expected[1][k, 0])], expected[0][k, : int(expected[1][k, 0])])


def test_a_shared_input_has_one_row(program):
    turns = np.zeros((6, 1))
    TimeLoopKernel(program)([np.array([[5.0]])], [np.zeros((6, 12)), turns], turns=10)
    assert turns.tolist() == [[3.0]] * 6


def test_no_configurations_are_served(program):
    TimeLoopKernel(program)([np.zeros((0, 1))], [np.zeros((0, 12)), np.zeros((0, 1))], turns=10)
    assert program.work > 0
