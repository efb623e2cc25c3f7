"""Without a compiler the answers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import target
from dalembert.errors import CompileError

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
        target.load_object(code, "loop")


def test_the_choice_of_back_end_is_read_when_a_kernel_is_built(monkeypatch: Any) -> None:
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    assert not target.available()
    monkeypatch.setenv("DALEMBERT_BACKEND", "llvm")
    assert target.available()
