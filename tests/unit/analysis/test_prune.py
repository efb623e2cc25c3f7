"""Leaving summands out of a program."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.analysis.prune import Samples, pruned, run
from dalembert.expr import ops, trace
from dalembert.expr.operation_counts import counts


def listed(program):
    """Operations and results of a program, whatever graph they are in."""
    number = {node: k for k, node in enumerate(program.nodes)}
    operations = [(node.op, node.value, [number[a] for a in node.args]) for node in program.nodes]
    return operations, [[number.get(scalar, scalar) for scalar in result] for result in program.results]


def samples_of(program, rng, scale=1.0, count=200):
    """Random inputs between -1 and 1, with the outputs of the program itself as the truth."""
    inputs = tuple(rng.uniform(-1, 1, (count, slot.size)) for slot in program.inputs)
    exact = run(program, inputs)
    return Samples(inputs, exact, np.full(exact.shape[1], scale))


def traced(function, size=3):
    return trace(function, {"x": (size,)}, ["y"], name="f")


def test_a_small_summand_goes_and_a_large_one_stays(rng):
    program = traced(lambda x: [x[0] + 1e-3 * x[1] + 0.5 * x[2]])
    found, terms = pruned(program, samples_of(program, rng), 2e-3)
    assert listed(found) == listed(traced(lambda x: [x[0] + 0.5 * x[2]]))
    assert [term.output for term in terms] == [0]
    assert terms[0].change == pytest.approx(1e-3, rel=0.05)  # the largest |x| of 200 samples is close to 1


def test_nothing_goes_without_a_budget(rng):
    program = traced(lambda x: [x[0] + 1e-3 * x[1]])
    found, terms = pruned(program, samples_of(program, rng), 0.0)
    assert (listed(found), terms) == (listed(program), [])


def test_the_budget_is_kept_by_the_sum_of_what_goes(rng):
    program = traced(lambda x: [sum((1e-3 * x[k] * x[k] for k in range(1, 30)), x[0])], 30)
    samples = samples_of(program, rng)
    for budget in (2e-3, 5e-3, 1e-2):
        found, terms = pruned(program, samples, budget)
        assert 0 < len(terms) < 29
        assert samples.error(found) <= budget


def test_what_matters_is_the_change_of_the_outputs_not_the_size_of_the_summand(rng):
    program = traced(lambda x: [(x[0] * 100.0 + x[1]) * 1e-4 + x[2]])
    found, _ = pruned(program, samples_of(program, rng), 1e-3)
    assert listed(found) == listed(traced(lambda x: [(x[0] * 100.0) * 1e-4 + x[2]]))


def test_a_summand_that_matters_to_one_output_stays_for_all(rng):
    def function(x):
        shared = x[0] + 0.01 * x[1]
        return [shared * 0.01, shared]

    program = traced(function)
    found, terms = pruned(program, samples_of(program, rng), 5e-3)
    assert (counts(found), terms) == (counts(program), [])


def test_errors_are_relative_to_the_scale_of_each_output(rng):
    program = traced(lambda x: [x[0] + 0.01 * x[1], x[2] + 0.01 * x[1]])
    samples = samples_of(program, rng)
    wide = Samples(samples.inputs, samples.exact, np.array([10.0, 1.0]))
    found, _ = pruned(program, wide, 5e-3)
    assert listed(found) == listed(traced(lambda x: [x[0], x[2] + 0.01 * x[1]]))


def test_what_only_a_summand_needed_goes_with_it(rng):
    program = traced(lambda x: [x[0] + 1e-4 * ops.sin(x[1]) / (2.0 + x[2] * x[2])])
    found, _ = pruned(program, samples_of(program, rng), 1e-3)
    assert sum(counts(found)) == 0


def test_selections_and_roots_are_differentiated_too(rng):
    def function(x):
        y = x[0] + 1e-5 * x[1]
        return [ops.where(x[2] < 0.0, ops.sqrt(y * y + 1.0), ops.absolute(y) * ops.sign(x[2]))]

    program = traced(function)
    found, terms = pruned(program, samples_of(program, rng), 1e-4)
    assert len(terms) == 1
    assert counts(found).add == counts(program).add - 1


def test_a_term_names_the_inputs_it_depends_on(rng):
    program = trace(lambda q, qd: [q[0] + 1e-4 * q[1] * qd[0]], {"q": (2,), "qd": (1,)}, ["tau"])
    _, terms = pruned(program, samples_of(program, rng), 1e-3)
    assert terms[0].inputs == {"q", "qd"}


def test_long_batches_are_evaluated_in_pieces(rng):
    program = traced(lambda x: [x[0] * x[1], x[2]])
    samples = samples_of(program, rng, count=5001)
    x = samples.inputs[0]
    np.testing.assert_array_equal(samples.exact, np.stack([x[:, 0] * x[:, 1], x[:, 2]], axis=-1))
