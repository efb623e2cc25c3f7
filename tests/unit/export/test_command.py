"""`dalembert export` on the command line."""

from __future__ import annotations

import pytest

import dalembert as dal
from dalembert.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["export", *arguments])
    return int(left.value.code or 0)


def test_the_code_is_printed_and_nothing_else(capsys):
    assert run("scara", "--quantity", "mass_matrix", "--quantity", "jacobian", "--frame", "body") == 0
    printed = capsys.readouterr()
    assert printed.out == dal.export_code(dal.load("scara"), ["mass_matrix", "jacobian"], frame="body")
    assert printed.err == ""


def test_inverse_dynamics_in_c_is_what_is_written_unless_told(capsys, tmp_path):
    assert run("pendulum", "-o", str(tmp_path / "arm.c")) == 0
    assert (tmp_path / "arm.c").read_text() == dal.export_code(dal.load("pendulum"))
    assert (tmp_path / "arm.h").is_file()
    assert capsys.readouterr() == ("", f"written: {tmp_path / 'arm.c'}\nwritten: {tmp_path / 'arm.h'}\n")


def test_wrenches_name_and_type_reach_the_code(capsys):
    assert run("pendulum", "--wrench", "tool", "--name", "swing", "--dtype", "float32", "--language", "c_header") == 0
    assert "swing_inverse_dynamics(const float q[1], const float qd[1], const float qdd[1], const float wrenches_tool[6]" in (
        capsys.readouterr().out
    )


def test_a_mistake_is_one_line_and_code_1(capsys):
    assert run("pendulum", "--language", "pythn") == 1
    assert capsys.readouterr().err.startswith("error: language: 'pythn' is not known; did you mean 'python'?")
