"""`dalembert equations` on the command line."""

from __future__ import annotations

import json
import sys

import pytest

import dalembert as dal
from dalembert.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["equations", *arguments])
    return int(left.value.code or 0)


def test_the_torques_are_printed_with_the_values_of_the_symbols(capsys):
    assert run("pelican") == 0
    printed = capsys.readouterr()
    assert dal.equations(dal.robots.pelican(), "tau").text() in printed.out
    assert "m_1     6.5225  kg" in printed.out
    assert printed.err == ""


def test_latex_is_printed_and_nothing_else(capsys):
    assert run("two_link_planar", "--latex", "--quantity", "M", "--quantity", "g", "--symbols", "masses", "--symbols", "g") == 0
    expected = dal.equations(dal.robots.two_link_planar(), ["M", "g"], symbols=["masses", "g"]).latex()
    assert capsys.readouterr().out == expected + "\n"


def test_a_program_is_printed_on_request(capsys):
    assert run("pelican", "--program") == 0
    assert "v1 = " in capsys.readouterr().out


def test_json_has_symbols_latex_and_python(capsys):
    assert run("pendulum", "--json", "--symbols", "none") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["symbols"] == {}
    assert record["python"].startswith("tau_1 = 0.33335833")


def test_the_picture_is_drawn(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("two_link_planar", "--figure", str(tmp_path / "arm.png")) == 0
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr()
    assert printed.out.startswith("Equations of 'two_link_planar'")
    assert printed.err == f"written: {tmp_path / 'arm.png'}\n"


@pytest.mark.slow
def test_every_line_of_a_large_program_can_be_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    assert run("stanford", "--figure", str(tmp_path / "arm.png")) == 0


def test_without_matplotlib_the_picture_names_the_extra(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run("pelican", "--figure", str(tmp_path / "arm.png")) == 1
    assert "equations: the figure needs matplotlib" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_more_lines_than_a_picture_holds_are_refused(capsys, tmp_path):
    assert run("panda", "--quantity", "C", "--figure", str(tmp_path / "arm.png")) == 1
    assert "lines found, a picture holds 400. Try --latex, or one quantity." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_is_one_line_and_code_1(capsys):
    assert run("pelican", "--quantity", "taw") == 1
    assert capsys.readouterr().err.startswith("error: quantity: 'taw' is not known; did you mean 'tau'?")


def test_matlab_can_be_exported(capsys):
    with pytest.raises(SystemExit):
        main(["export", "pelican", "--language", "matlab", "--symbols", "masses"])
    assert capsys.readouterr().out == dal.export_code(dal.load("pelican"), language="matlab", symbols="masses")
