"""Exported code with the robot's numbers as named parameters: a struct in C and MATLAB, a dictionary in Python."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.quantities import EXPORTED
from dalembert.errors import UnknownNameError
from dalembert.export.choose import programs
from dalembert.export.symbols import chosen
from dalembert.expr import Program
from dalembert.model import Robot
from tests.robots import relative_error
from tests.unit.export import octave
from tests.unit.export.octave import literal, needs_octave
from tests.unit.export.programs import TOLERANCE, Compiled, arrays_for, by_kernel, needs_compiler, program_of, robot_of

OTHER_FRAMES = 1e-10  # relative: the same mechanics in other frames, which cancels otherwise than the kernel does
PLANAR = dal.robots.two_link_planar()
HEAVIER = PLANAR.replace(
    parameters=PLANAR.parameters.replace(
        links=tuple(link.replace(mass=link.mass * 2) if link.name == "link2" else link for link in PLANAR.parameters.links)
    )
)


def loaded(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), names)
    return names


def with_values(robot: Robot, quantity: str) -> tuple[Program, list[str]]:
    """The program with symbols, and the names of those it needs."""
    program = programs(robot, quantity, {}, chosen(robot, "all"))[quantity]
    names = {p.name for p in chosen(robot, "all").values()}
    return program, [slot.name for slot in program.inputs if slot.name in names]


@pytest.mark.parametrize("quantity", [q for q in EXPORTED if q != "second_derivatives"])
def test_every_quantity_with_every_number_a_parameter_agrees_with_the_kernel(quantity):
    for name in ("random", "pr_arm"):
        robot = robot_of(name)
        function = loaded(dal.export_code(robot, quantity, language="python", name="arm", symbols="all"))[f"arm_{quantity}"]
        arrays = arrays_for(program_of(robot, quantity), (3,))
        found = function(*arrays)
        for a, b in zip(found if isinstance(found, tuple) else (found,), by_kernel(robot, quantity, arrays), strict=True):
            assert relative_error(a, b) < OTHER_FRAMES, quantity


def test_another_mass_is_another_value_of_the_dictionary(rng):
    names = loaded(dal.export_code(PLANAR, language="python", symbols="masses"))
    assert names["PARAMETERS"] == {"m_l1": 50.0, "m_l2": 50.0, "m_m2": 5.0}
    q, qd, qdd = rng.normal(size=(3, 4, 2))
    found = names["two_link_planar_inverse_dynamics"](q, qd, qdd, names["PARAMETERS"] | {"m_l2": 100.0})
    assert relative_error(found, dal.inverse_dynamics(HEAVIER, q, qd, qdd)) < OTHER_FRAMES


def test_a_parameter_may_be_a_batch(rng):
    names = loaded(dal.export_code(PLANAR, language="python", symbols="masses"))
    q, qd, qdd = rng.normal(size=(3, 2))
    found = names["two_link_planar_inverse_dynamics"](q, qd, qdd, names["PARAMETERS"] | {"m_l2": np.array([50.0, 100.0])})
    expected = [dal.inverse_dynamics(robot, q, qd, qdd) for robot in (PLANAR, HEAVIER)]
    assert relative_error(found, np.array(expected)) < OTHER_FRAMES


@needs_compiler
def test_the_struct_of_c_has_the_robot_s_values_and_takes_others(tmp_path, rng):
    unit = Compiled(dal.export_code(PLANAR, language="c", symbols="masses"), tmp_path)
    fields = ("m_l1", "m_l2", "m_m2")

    class Parameters(ctypes.Structure):
        _fields_ = [(name, ctypes.c_double) for name in fields]

    own = Parameters.in_dll(unit.library, "two_link_planar_values")
    assert [getattr(own, name) for name in fields] == [50.0, 50.0, 5.0]
    q, qd, qdd, tau = (np.ascontiguousarray(row) for row in rng.normal(size=(4, 2)))
    pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (q, qd, qdd, tau)]
    for given, robot in ((own, PLANAR), (Parameters(50.0, 100.0, 5.0), HEAVIER)):
        unit.library.two_link_planar_inverse_dynamics(*pointers[:3], ctypes.byref(given), pointers[3])
        assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd)) < OTHER_FRAMES


@needs_compiler
@pytest.mark.parametrize("name", ["puma560", "random"])
def test_c_with_every_number_a_parameter_compiles_without_a_warning_and_agrees(name, tmp_path, rng):
    """Also where code is cut into parts, which get the struct handed on."""
    robot, quantities = robot_of(name), ["inverse_dynamics", "gravity_torque", "forward_derivatives"]
    unit = Compiled(dal.export_code(robot, quantities, name="arm", symbols="all"), tmp_path)
    names = [name for quantity in quantities for name in with_values(robot, quantity)[1]]
    ordered = sorted((p for p in chosen(robot, "all").values() if p.name in names), key=lambda p: p.order)

    class Parameters(ctypes.Structure):
        _fields_ = [(p.name, ctypes.c_double) for p in ordered]

    own = Parameters.in_dll(unit.library, "arm_values")
    assert [getattr(own, p.name) for p in ordered] == [p.value for p in ordered]
    for quantity in quantities:
        program = program_of(robot, quantity)
        rows = [np.ascontiguousarray(array) for array in arrays_for(program, ())]
        outputs = [np.zeros(slot.shape) for slot in program.outputs]
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (*rows, *outputs)]
        getattr(unit.library, f"arm_{quantity}")(*pointers[: len(rows)], ctypes.byref(own), *pointers[len(rows) :])
        for found, expected in zip(outputs, by_kernel(robot, quantity, rows), strict=True):
            assert relative_error(found, expected) < OTHER_FRAMES, quantity


@needs_compiler
def test_the_header_declares_the_struct_and_can_stand_before_the_source(tmp_path):
    header, source = (dal.export_code(PLANAR, language=language, symbols="gears") for language in ("c_header", "c"))
    assert "} two_link_planar_parameters;" in header
    assert "extern const two_link_planar_parameters two_link_planar_values;" in header
    Compiled(header + source, tmp_path)


@needs_octave
def test_the_struct_of_matlab_has_the_robot_s_values_and_takes_others(tmp_path, rng):
    text = dal.export_code(PLANAR, ["inverse_dynamics", "mass_matrix"], language="matlab", symbols="masses", name="arm")
    state = list(rng.normal(size=(3, 2)))
    given = ", ".join(map(literal, state))
    script = f"""
        f = arm();
        p = f.values();
        show(strjoin(fieldnames(p)', ' '));
        show([p.m_l1, p.m_l2, p.m_m2]);
        show(f.inverse_dynamics({given}));
        show(f.inverse_dynamics({given}, p));
        p.m_l2 = 100;
        show(f.inverse_dynamics({given}, p));
        show(f.mass_matrix({literal(state[0])}, p));
    """
    names, values, *torques, M = octave.run(script, {"arm": text}, tmp_path)
    assert (names, values.tolist()) == ("m_l1 m_l2 m_m2", [[50.0, 50.0, 5.0]])
    for found, robot in zip(torques, (PLANAR, PLANAR, HEAVIER), strict=True):
        assert relative_error(found[:, 0], dal.inverse_dynamics(robot, *state)) < OTHER_FRAMES
    assert relative_error(M, dal.mass_matrix(HEAVIER, state[0])) < OTHER_FRAMES


@needs_octave
@pytest.mark.parametrize("name", ["random", "pr_arm"])
def test_matlab_with_every_number_a_parameter_agrees(name, tmp_path):
    robot, quantities = robot_of(name), ["inverse_dynamics", "gravity_torque", "energy", "jacobian"]
    text = dal.export_code(robot, quantities, language="matlab", name="arm", symbols="all")
    for quantity, found, expected in octave.beside_kernels(text, robot, quantities, tmp_path):
        assert relative_error(found, expected) < OTHER_FRAMES, quantity


def test_a_parameter_and_an_output_may_have_the_same_name(rng):
    """The gravity torque g and the acceleration g: the field keeps its name."""
    for language in ("python", "matlab"):
        text = dal.export_code(PLANAR, "gravity_torque", language=language, symbols="gravity")
        assert ('p["g"]' if language == "python" else "p.g") in text
    q = rng.normal(size=2)
    found = loaded(dal.export_code(PLANAR, "gravity_torque", language="python", symbols="gravity"))
    assert relative_error(found["two_link_planar_gravity_torque"](q), dal.gravity_torque(PLANAR, q)) < TOLERANCE


def test_parameters_come_with_meaning_and_unit():
    for language in ("c", "python", "matlab"):
        text = dal.export_code(PLANAR, language=language, symbols=["I_l1", "k_r1"])
        assert "inertia zz of link 'link1' about its centre of mass, kg m^2" in text
        assert "gear ratio of joint 'joint1'" in text


def test_no_symbols_is_code_as_before():
    assert dal.export_code(PLANAR) == dal.export_code(PLANAR, symbols=None)
    assert "_values" not in dal.export_code(PLANAR, symbols=())


def test_an_unknown_symbol_is_refused():
    with pytest.raises(UnknownNameError, match="symbols: 'mass' is not known; did you mean 'masses'"):
        dal.export_code(PLANAR, symbols="mass")
    with pytest.raises(dal.DalembertError, match="system: str found, a Robot is expected"):
        dal.export_code("panda", symbols="masses")
