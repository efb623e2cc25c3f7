"""C source: it compiles without a warning and computes what the kernels compute."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.quantities import EXPORTED
from dalembert.export import c
from dalembert.expr import PRIMITIVES, interpret, ops, trace
from tests.robots import relative_error
from tests.unit.export.programs import (
    TOLERANCE,
    Compiled,
    arrays_for,
    by_kernel,
    module_of,
    needs_compiler,
    primitives_program,
    program_of,
    robot_of,
    special_values,
)

LARGE = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "energy", "jacobian", "inverse_derivatives"]
ON_THE_ARM = [("panda", LARGE), ("puma560", LARGE), ("random", list(EXPORTED)), ("scara", list(EXPORTED))]


def test_every_primitive_has_a_reading_in_c():
    assert set(c.readings()) == set(PRIMITIVES)


@needs_compiler
@pytest.mark.parametrize(("name", "quantities"), ON_THE_ARM, ids=[name for name, _ in ON_THE_ARM])
def test_every_quantity_compiles_without_a_warning_and_agrees_with_the_kernel(name, quantities, tmp_path):
    robot = robot_of(name)
    unit = Compiled(dal.export_code(robot, quantities, name="arm"), tmp_path)
    for quantity in quantities:
        program = program_of(robot, quantity)
        arrays = arrays_for(program, (5,))
        for found, wanted in zip(unit.run(f"arm_{quantity}", program, arrays), by_kernel(robot, quantity, arrays), strict=True):
            assert relative_error(found, wanted) < TOLERANCE, quantity


@needs_compiler
def test_options_become_inputs_of_the_function(tmp_path):
    robot = robot_of("random")
    options = {"wrenches": ("tool", "link1"), "moving_base": True}
    text = dal.export_code(robot, "inverse_dynamics", name="arm", **options)
    assert "const double wrenches_tool[6], const double wrenches_link1[6], const double base_velocity[6]" in text
    program = program_of(robot, "inverse_dynamics", **options)
    arrays = arrays_for(program, (3,))
    (found,) = Compiled(text, tmp_path).run("arm_inverse_dynamics", program, arrays)
    assert relative_error(found, by_kernel(robot, "inverse_dynamics", arrays, **options)[0]) < TOLERANCE


@needs_compiler
def test_parameters_can_be_an_input(tmp_path):
    robot = robot_of("two_link_planar")
    program = program_of(robot, "inverse_dynamics", parameters=True)
    unit = Compiled(dal.export_code(robot, parameters=True, name="arm"), tmp_path)
    *state, _ = arrays_for(program, (3,))
    phi = np.broadcast_to(dal.parameters(robot), (3, *program.inputs[-1].shape))
    (found,) = unit.run("arm_inverse_dynamics", program, [*state, phi])
    assert relative_error(found, dal.inverse_dynamics(robot, *state)) < 1e-10  # other parameters, other cancellations


@needs_compiler
def test_a_primitive_means_in_c_what_numpy_says(tmp_path):
    program, x = primitives_program(), special_values()
    (found,) = Compiled(c.source(module_of(program)), tmp_path).run("some_primitives", program, [x])
    (meant,) = interpret.run(program, x)
    for k in range(found.shape[1]):
        np.testing.assert_allclose(found[:, k], meant[:, k], rtol=1e-15, atol=5e-324)


@needs_compiler
def test_single_precision_code_agrees_to_single_precision(tmp_path):
    robot = robot_of("panda")
    program = program_of(robot, "inverse_dynamics")
    text = dal.export_code(robot, dtype="float32")
    assert "double" not in text
    assert "sinf(" in text
    arrays = [a.astype(np.float32) for a in arrays_for(program, (5,))]
    (found,) = Compiled(text, tmp_path).run("panda_inverse_dynamics", program, arrays, ctypes.c_float)
    (wanted,) = by_kernel(robot, "inverse_dynamics", [a.astype(float) for a in arrays])
    assert relative_error(found, wanted) < 2e-6  # 2⁻²⁴ per operation, some ten of them in a row


@needs_compiler
def test_outputs_may_overwrite_inputs(tmp_path):
    robot = robot_of("puma560")
    unit = Compiled(dal.export_code(robot), tmp_path)
    q, qd, qdd = arrays_for(program_of(robot, "inverse_dynamics"), ())
    wanted = dal.inverse_dynamics(robot, q, qd, qdd)
    pointer = ctypes.POINTER(ctypes.c_double)
    unit.library.puma560_inverse_dynamics(*(x.ctypes.data_as(pointer) for x in (q, qd, qdd, q)))
    np.testing.assert_allclose(q, wanted, rtol=TOLERANCE)


@needs_compiler
def test_a_chain_of_many_joints_compiles(tmp_path):
    robot = dal.robots.chain(60)
    program = program_of(robot, "gravity_torque")
    (found,) = Compiled(dal.export_code(robot, "gravity_torque", name="chain"), tmp_path, ("-O1", "-Werror")).run(
        "chain_gravity_torque", program, arrays := arrays_for(program, (2,))
    )
    assert relative_error(found, dal.gravity_torque(robot, *arrays)) < TOLERANCE


@needs_compiler
@pytest.mark.parametrize("size", [1, 7, 20])
def test_long_code_in_parts_computes_the_same(size, tmp_path, monkeypatch):
    robot, quantities = robot_of("scara"), ["inverse_derivatives", "forward_kinematics", "energy"]
    whole = dal.export_code(robot, quantities)
    monkeypatch.setattr(c, "PART", size)
    text = dal.export_code(robot, quantities)
    assert "_part0(" not in whole
    assert "scara_inverse_derivatives_part0(" in text
    unit = Compiled(text, tmp_path)
    for quantity in quantities:
        program = program_of(robot, quantity)
        arrays = arrays_for(program, (3,))
        found, wanted = unit.run(f"scara_{quantity}", program, arrays), by_kernel(robot, quantity, arrays)
        assert max(map(relative_error, found, wanted)) < TOLERANCE


@needs_compiler
@pytest.mark.parametrize("part", [1, 3, 800])
def test_shapes_of_all_kinds_and_inputs_nobody_reads_compile(part, tmp_path, monkeypatch):
    monkeypatch.setattr(c, "PART", part)

    def function(x, A, s, unused, ignored):
        total = sum((a * b for row in A for a, b in zip(row, x, strict=False)), 0.0)
        chosen = ops.where(ops.less(s, 0.0), x[0], ops.where(x[1], total, -x[2]))
        return (
            [ops.sin(a * s) + total for a in x],
            [[a * x[j] for j, a in enumerate(row)] for row in A],
            chosen,
            [1.5, x[1], -0.0],
        )

    shapes = {"x": (3,), "A": (2, 3), "s": (), "unused": (2,), "double": ()}
    program = trace(function, shapes, ["v", "B", "sin", "x0"], name="mixed")
    arrays = arrays_for(program, (7,))
    found = Compiled(c.source(module_of(program)), tmp_path).run("some_mixed", program, arrays)
    for a, b in zip(found, interpret.run(program, *arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@needs_compiler
def test_a_name_can_neither_end_the_comment_nor_upset_the_compiler(tmp_path):
    robot = robot_of("pendulum").replace(name="7 */ int x; /* ??/ \\ arm \u202e é")
    text = dal.export_code(robot)
    assert "robot_7_int_x_arm_inverse_dynamics(" in text
    assert text.isascii()
    Compiled(text, tmp_path)


def test_sine_and_cosine_of_an_angle_stand_once_and_side_by_side():
    lines = dal.export_code(robot_of("panda")).splitlines()
    sines = [k for k, line in enumerate(lines) if " sin(" in line]
    assert len(sines) == len({lines[k] for k in sines}) == 6  # joint 1 is vertical: its angle has no effect
    assert all(lines[k + 1] == lines[k].replace("sin", "cos") for k in sines)


def test_constants_are_printed_to_the_last_digit():
    program = trace(lambda x: [x[0] * 0.1 + x[1] * (1 / 3) + x[2] * 1e-20], {"x": (3,)}, ["y"])
    numbers = set(map(float, re.findall(r"\d[\d.]*(?:e[-+]\d+)?(?=\*)", c.source(module_of(program)))))
    assert numbers == {0.1, 1 / 3, 1e-20}


def test_the_comment_names_arrays_with_their_units_and_counts_operations():
    text = dal.export_code(robot_of("scara"), ["mass_matrix", "inverse_derivatives"])
    assert "in  q[4], rad | m" in text
    assert "out M[4 x 4], kg m^2 | kg m | kg" in text
    assert "out dtau_dqdd[4 x 4], N m | N per rad/s^2 | m/s^2" in text
    assert re.search(r"mass_matrix: \d+ mul, \d+ add", text)
    assert "2  'joint3'  slides, m" in text


@pytest.mark.parametrize("quantity", EXPORTED)
def test_every_array_of_every_quantity_is_described(quantity):
    text = dal.export_code(robot_of("two_link_planar"), quantity, language="c_header")
    undescribed = re.findall(r"(?:in |out) (\w+).*, SI units$", text, re.MULTILINE)
    assert [name for name in undescribed if not name.startswith("d2")] == []  # second derivatives: units of all kinds


@needs_compiler
def test_the_header_declares_what_the_source_defines(tmp_path):
    robot = robot_of("panda")
    dal.export_code(robot, ["gravity_torque", "energy"], path=tmp_path / "panda.c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["panda.c", "panda.h"]
    header, source = ((tmp_path / name).read_text() for name in ("panda.h", "panda.c"))
    assert re.findall(r"^void .*\)", header, re.MULTILINE) == re.findall(r"^void .*\)", source, re.MULTILINE)
    (tmp_path / "both.c").write_text('#include "panda.h"\n#include "panda.h"\n#include "panda.c"\n')
    for compiler, language in (("cc", "c"), ("c++", "c++")):
        if shutil.which(compiler):
            command = [compiler, "-x", language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "both.c"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
