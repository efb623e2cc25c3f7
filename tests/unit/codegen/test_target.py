"""Without a compiler the answers are the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import machine_code, straight_ir, target
from dalembert.codegen.precision import DOUBLE, SINGLE, Real
from dalembert.errors import CompileError, DalembertWarning
from tests.unit.codegen.programs import mixed_program

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import sys
{block}
import numpy as np
import dalembert as dal
from dalembert.codegen import target

assert not target.available()
robot = dal.robots.stanford()
q, qd, qdd = np.random.default_rng(3).normal(size=(3, 5, robot.n))
tau = dal.inverse_dynamics(robot, q, qd, qdd)
results = [tau, dal.forward_dynamics(robot, q, qd, tau), dal.mass_matrix(robot, q), dal.energy(robot, q, qd).total,
           dal.forward_kinematics(robot, q), dal.jacobian(robot, q)]
np.savez(sys.argv[1], *results)
"""
BLOCKS = {
    "switched off": "import os; os.environ['DALEMBERT_BACKEND'] = 'numpy'",
    "not installed": "sys.modules['llvmlite'] = None; sys.modules['llvmlite.binding'] = None",
}


@pytest.mark.slow
@pytest.mark.parametrize("why", BLOCKS)
def test_numpy_alone_gives_the_same_answers(why: str, tmp_path: Path) -> None:
    file = tmp_path / "results.npz"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    code = SCRIPT.format(block=BLOCKS[why])
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(file)], env=environment, check=True)
    robot = dal.robots.stanford()
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 5, robot.n))
    tau = dal.inverse_dynamics(robot, q, qd, qdd)
    wanted = [
        tau,
        dal.forward_dynamics(robot, q, qd, tau),
        dal.mass_matrix(robot, q),
        dal.energy(robot, q, qd).total,
        dal.forward_kinematics(robot, q),
        dal.jacobian(robot, q),
    ]
    with np.load(file) as found:
        for name, value in zip(found.files, wanted, strict=True):
            np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(value).max()))


def test_the_host_has_a_name_and_at_least_two_lanes() -> None:
    host = target.host()
    assert host.lanes in (2, 4, 8)
    assert host.compiler.startswith("llvmlite ")


def test_code_llvm_cannot_read_is_a_compile_error() -> None:
    with pytest.raises(CompileError, match="kernel: LLVM refused the generated code"):
        target.compile_object("define nonsense")


def test_code_without_the_function_asked_for_is_a_compile_error() -> None:
    code = target.compile_object("define void @other() {\n  ret void\n}\n")
    with pytest.raises(CompileError, match=r"kernel: compiled code has no .*'loop'"):
        machine_code.load(code, "loop")


def test_the_choice_of_back_end_is_read_when_a_kernel_is_built(monkeypatch: Any) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    assert not target.available()
    monkeypatch.setenv("DALEMBERT_BACKEND", "llvm")
    assert target.available()


def test_a_back_end_nobody_knows_is_told_once(monkeypatch: Any) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "cuda")
    with pytest.warns(DalembertWarning, match=r"^DALEMBERT_BACKEND: 'cuda' found, 'llvm' and 'numpy' are known; 'llvm' is used"):
        assert target.available()
    assert target.available()


OTHERS = {
    "NEON": ("aarch64-unknown-linux-gnu", "generic", 2, False),
    "SSE2": ("x86_64-unknown-linux-gnu", "x86-64", 2, True),
    "AVX2": ("x86_64-unknown-linux-gnu", "haswell", 4, True),
    "AVX-512": ("x86_64-unknown-linux-gnu", "skylake-avx512", 8, True),
}


@pytest.mark.parametrize("real", [DOUBLE, SINGLE], ids=lambda real: real.dtype)
@pytest.mark.parametrize("family", OTHERS)
def test_code_for_other_processors_compiles(family: str, real: Real) -> None:
    """And calls nothing but the C library and itself: no vector operation is left to helpers that might not be there."""
    triple, cpu, doubles, x86 = OTHERS[family]
    llvm_binding = target.binding()
    llvm_binding.initialize_all_targets()
    llvm_binding.initialize_all_asmprinters()
    machine = llvm_binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="small")
    context = llvm_binding.create_context()
    module = llvm_binding.parse_assembly(
        straight_ir.emit(mixed_program(), doubles * 8 // real.bytes, x86=x86, real=real), context=context
    )
    module.triple = triple
    text = machine.emit_assembly(module)
    module.close()  # before its context, and not by the garbage collector
    called = {name.removesuffix("@PLT") for name in re.findall(r"^\s+(?:bl|callq)\s+(\w\S*)", text, re.MULTILINE)}
    assert "bring_near" in called
    fused = {"fma", "rint"} if family == "SSE2" else set()  # which it has no instructions for
    assert called <= {"atan2", "malloc", "free", "feclearexcept", *fused, *internal(text)}


def internal(text: str) -> set[str]:
    """Functions defined in a listing."""
    return {line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith((".", " "))}
