"""MATLAB source, run by Octave: it computes what the kernels compute."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.quantities import EXPORTED
from dalembert.export import matlab
from dalembert.expr import PRIMITIVES, interpret, trace
from tests.robots import relative_error
from tests.unit.export import octave
from tests.unit.export.octave import call, literal, needs_octave
from tests.unit.export.programs import (
    TOLERANCE,
    arrays_for,
    by_kernel,
    module_of,
    primitives_program,
    program_of,
    robot_of,
    special_values,
)

OF_AN_ARM = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "regressor"]
ON_THE_ARM = [("random", list(EXPORTED)), ("scara", list(EXPORTED)), ("panda", OF_AN_ARM), ("puma560", OF_AN_ARM)]


def test_every_primitive_has_a_reading_in_matlab():
    assert set(matlab.READINGS) == set(PRIMITIVES)


@needs_octave
@pytest.mark.parametrize(("name", "quantities"), ON_THE_ARM, ids=[name for name, _ in ON_THE_ARM])
def test_every_quantity_agrees_with_the_kernel(name, quantities, tmp_path):
    text = dal.export_code(robot_of(name), quantities, language="matlab", name="arm")
    for quantity, found, expected in octave.beside_kernels(text, robot_of(name), quantities, tmp_path):
        assert relative_error(found, expected) < TOLERANCE, quantity


@needs_octave
def test_a_file_of_one_quantity_is_its_function(tmp_path):
    robot = robot_of("puma560")
    text = dal.export_code(robot, language="matlab")
    assert "Save as puma560_inverse_dynamics.m." in text
    state = list(np.random.default_rng(0).normal(size=(3, 6)))
    rows = [x[np.newaxis] for x in state]  # rows or columns, it is the number of entries that counts
    script = [call("puma560_inverse_dynamics", state), call("puma560_inverse_dynamics", rows)]
    found = octave.run("\n".join(script), {"puma560_inverse_dynamics": text}, tmp_path)
    for tau in found:
        assert tau.shape == (6, 1)
        assert relative_error(tau[:, 0], dal.inverse_dynamics(robot, *state)) < TOLERANCE


@needs_octave
def test_options_become_inputs_of_the_function(tmp_path):
    robot = robot_of("random")
    files, script, expected = {}, [], []
    for name, options in {
        "pushed": {"wrenches": ("tool", "link1"), "moving_base": True},
        "weighed": {"parameters": True},
        "other": {"formulation": "lagrange_energy"},
    }.items():
        files[f"{name}_inverse_dynamics"] = dal.export_code(robot, language="matlab", name=name, **options)
        arrays = arrays_for(program_of(robot, "inverse_dynamics", **options), ())
        expected += by_kernel(robot, "inverse_dynamics", arrays, **options)
        script.append(call(f"{name}_inverse_dynamics", arrays))
    for found, tau in zip(octave.run("\n".join(script), files, tmp_path), expected, strict=True):
        assert relative_error(found[:, 0], tau) < TOLERANCE


@needs_octave
def test_a_wrong_number_of_entries_is_refused_by_the_code(tmp_path):
    files = {"puma560_inverse_dynamics": dal.export_code(robot_of("puma560"), language="matlab")}
    wrong = call("puma560_inverse_dynamics", [np.zeros(6), np.zeros(5), np.zeros(6)])
    assert octave.run(f"try\n{wrong}\ncatch e\nshow(e.message);\nend", files, tmp_path) == ["qd: 5 entries found, 6 expected."]


@needs_octave
def test_a_primitive_means_in_matlab_what_numpy_says(tmp_path):
    """NaN goes through min, max and sign, and the root of a negative number is NaN instead of complex."""
    program, x = primitives_program(), special_values()
    script = f"x = {literal(x)};\ny = [];\nfor k = 1:rows(x)\ny = [y; some_primitives(x(k, :))'];\nend\nshow(y);"
    (found,) = octave.run(script, {"some_primitives": matlab.source(module_of(program))}, tmp_path)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, interpret.run(program, x)[0], rtol=1e-15, atol=5e-324)


def test_helpers_are_there_only_where_they_are_needed():
    assert "function r = root" not in dal.export_code(robot_of("pendulum"), language="matlab")
    assert "function r = root" in dal.export_code(robot_of("panda"), "analytical_jacobian", language="matlab")


@needs_octave
def test_constants_that_are_no_finite_numbers_are_written(tmp_path):
    program = trace(lambda x: [float("nan"), float("-inf"), x * 0.5, -0.0], {"x": ()}, ["y"], name="numbers")
    script = call("some_numbers", [np.array(3.0)])
    (found,) = octave.run(script, {"some_numbers": matlab.source(module_of(program))}, tmp_path)
    np.testing.assert_array_equal(found[:, 0], [np.nan, -np.inf, 1.5, -0.0])
    assert np.signbit(found[3, 0])


@needs_octave
def test_single_precision_stays_single(tmp_path):
    robot = robot_of("scara")
    text = dal.export_code(robot, language="matlab", dtype="float32")
    state = list(np.ones((3, 4)))
    (found,) = octave.run(call("scara_inverse_dynamics", state), {"scara_inverse_dynamics": text}, tmp_path)
    assert found.dtype == np.float32
    assert relative_error(found[:, 0], dal.inverse_dynamics(robot, *state)) < 2e-6  # 2⁻²⁴ per operation, some ten in a row


@needs_octave
@pytest.mark.parametrize("called", ["7 'x ... end; arm \u202e é", "%{", "end", "sin", "#{ ..."])
def test_a_robot_s_name_neither_ends_the_comment_nor_is_taken_for_code(called, tmp_path):
    """`%{` alone on a line begins a comment of many lines."""
    robot = robot_of("pendulum").replace(name=called)
    text = dal.export_code(robot, language="matlab")
    (name,) = re.findall(r"^function tau = (\w+)\(", text, re.MULTILINE)
    (found,) = octave.run(call(name, [np.array([x]) for x in (0.1, 0.2, 0.3)]), {name: text}, tmp_path)
    assert relative_error(found[:, 0], dal.inverse_dynamics(robot, [0.1], [0.2], [0.3])) < TOLERANCE


def test_several_outputs_are_listed():
    text = dal.export_code(robot_of("scara"), "energy", language="matlab")
    assert "function [kinetic, potential] = scara_energy(q, qd)" in text
