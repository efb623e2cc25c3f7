"""Tracing: names and shapes of inputs and outputs."""

from __future__ import annotations

import time

import pytest

from dalembert.expr import Slot, ops, trace


def test_a_scalar_a_vector_and_a_matrix_arrive_in_their_shapes():
    def function(a, v, m):
        assert a.value == "a"
        assert [e.value for e in v] == ["v[0]", "v[1]"]
        assert [[e.value for e in row] for row in m] == [["m[0,0]", "m[0,1]"], ["m[1,0]", "m[1,1]"], ["m[2,0]", "m[2,1]"]]
        return a

    program = trace(function, {"a": (), "v": (2,), "m": (3, 2)}, ["y"])
    assert program.inputs == (Slot("a", ()), Slot("v", (2,)), Slot("m", (3, 2)))
    assert [s.size for s in program.inputs] == [1, 2, 6]


def test_outputs_keep_the_shape_they_were_returned_in():
    program = trace(lambda x: (x[0], [x[1], 2], [[x[0]], [0.0]]), {"x": (2,)}, ["a", "b", "c"])
    assert program.outputs == (Slot("a", ()), Slot("b", (2,)), Slot("c", (2, 1)))
    x0, x1 = program.entries[0]
    assert program.results == ((x0,), (x1, 2.0), (x0, 0.0))
    assert type(program.results[1][1]) is float


def test_a_single_output_may_be_a_list():
    program = trace(lambda x: [x, x + 1.0], {"x": ()}, ["y"])
    assert program.outputs == (Slot("y", (2,)),)


def test_an_empty_output_has_shape_zero():
    assert trace(lambda x: [], {"x": ()}, ["y"]).outputs == (Slot("y", (0,)),)


def test_the_number_of_outputs_must_match_their_names():
    with pytest.raises(ValueError, match="zip"):
        trace(lambda x: (x, x, x), {"x": ()}, ["a", "b"])


def test_nodes_are_those_the_outputs_need():
    def function(x):
        ops.cos(x[1])
        return ops.sin(x[0])

    program = trace(function, {"x": (2,)}, ["y"])
    assert [node.op for node in program.nodes] == ["input", "sin"]
    assert len(program.graph.nodes) == 4


def test_input_places_say_which_input_and_entry_a_node_is():
    program = trace(lambda a, v: v[1] * a, {"a": (), "v": (2,)}, ["y"])
    assert [program.input_places[e.index] for entry in program.entries for e in entry] == [(0, 0), (1, 0), (1, 1)]


def test_tracing_three_thousand_nodes_takes_milliseconds():
    """10 ms of the processor is the aim and 5 ms is usual; the bound leaves room for a busy machine."""

    def function(x):
        for k in range(1500):
            x = x * 1.5 + (k + 1.0)
        return x

    def seconds():
        start = time.process_time()
        program = trace(function, {"x": ()}, ["y"])
        assert len(program.nodes) > 3000
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.05
