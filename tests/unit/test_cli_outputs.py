"""Files that commands write: refused before the work, written after the tables, confirmed on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dalembert as dal

pytest.importorskip("matplotlib")

DRAWING = {
    "contributions": ("contributions", "pendulum", "--to", "1", "--time", "1"),
    "compare": ("compare", "pendulum", "--samples", "3"),
    "simplify": ("simplify", "pendulum", "--samples", "100"),
    "equations": ("equations", "pendulum"),
}
drawing = pytest.mark.parametrize("arguments", DRAWING.values(), ids=DRAWING)


@drawing
@pytest.mark.parametrize("json_too", [False, True])
def test_a_figure_comes_after_the_tables_and_is_named(run, tmp_path, arguments, json_too):
    target = tmp_path / "figure.pdf"
    code, out, err = run(*arguments, "--figure", str(target), *(["--json"] if json_too else []))
    assert (code, err) == (0, f"written: {target}\n")
    assert target.read_bytes().startswith(b"%PDF")
    assert json.loads(out) if json_too else out
    assert [path.name for path in tmp_path.iterdir()] == ["figure.pdf"]


@drawing
@pytest.mark.parametrize("name", ["x.tex", "x.jpeg", "x", "x.png.txt", ".png"])
def test_an_unknown_suffix_is_refused_before_the_work(run, tmp_path, monkeypatch, arguments, name):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, "--figure", name)
    suffix = Path(name).suffix
    assert (code, out) == (1, "")
    assert err == f"error: --figure: {name!r} ends in {suffix!r}, which is not a format of figures. Known: .pdf, .png, .svg.\n"
    assert list(tmp_path.iterdir()) == []


@drawing
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none/x.png", "there is no folder"),
        ("folder.png", "it is a folder"),
        ("file/x.png", "there is no folder"),
        ("pipe.png", "it exists and is not a regular file"),
        (f"{'x' * 250}.png", "file name too long"),
        ("nul\0.png", "embedded null byte"),
    ],
    ids=["none", "folder", "file", "pipe", "long", "null"],
)
def test_a_place_that_cannot_be_written_is_found_before_the_work(run, tmp_path, monkeypatch, arguments, name, reason):
    import os

    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe.png")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    code, out, err = run(*arguments, "--figure", name)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: --figure: {name!r} cannot be written: {reason}")
    assert err.endswith("Name another file.\n")
    assert sorted(tmp_path.iterdir()) == before


@drawing
def test_a_disk_that_fills_up_meanwhile_costs_the_figure_and_not_the_tables(run, tmp_path, monkeypatch, arguments):
    def fail(path, content):
        raise OSError(28, "No space left on device", f"{path}.draft")

    target = tmp_path / "x.svg"
    monkeypatch.setattr("dalembert.cli.outputs.replace_file", fail)
    code, out, err = run(*arguments, "--figure", str(target))
    assert code == 1
    assert len(out.splitlines()) > 3
    assert err == f"error: --figure: {str(target)!r} cannot be written: no space left on device. Name another file.\n"


def test_export_says_what_it_wrote_where(run, tmp_path):
    target = tmp_path / "arm.c"
    code, out, err = run("export", "pendulum", "-o", str(target))
    assert (code, out, err) == (0, "", f"written: {target}\nwritten: {target.with_suffix('.h')}\n")


def test_export_as_json_names_the_files(run, tmp_path):
    target = tmp_path / "arm.c"
    record = json.loads(run("export", "pendulum", "--quantity", "mass_matrix", "-o", str(target), "--json")[1])
    assert record["files"] == [str(target), str(target.with_suffix(".h"))]
    assert (record["robot"], record["language"], record["quantities"]) == ("pendulum", "c", ["mass_matrix"])
    assert record["code"] is None


def test_export_as_json_holds_the_code_where_no_file_is_named(run):
    record = json.loads(run("export", "pendulum", "--language", "python", "--json")[1])
    assert record["files"] == []
    assert record["code"] == dal.export_code(dal.load("pendulum"), language="python")


def test_export_finds_a_place_that_cannot_be_written_before_the_work(run, tmp_path):
    code, out, err = run("export", "pendulum", "-o", str(tmp_path / "none" / "arm.c"))
    assert (code, out) == (1, "")
    assert err.startswith("error: --output: ")
    assert "there is no folder" in err


def test_export_refuses_a_wrong_suffix_and_a_wrong_neighbour(run, tmp_path):
    assert "suffix '.txt' found, '.c' expected" in run("export", "pendulum", "-o", str(tmp_path / "arm.txt"))[2]
    (tmp_path / "arm.h").mkdir()
    assert "it is a folder" in run("export", "pendulum", "-o", str(tmp_path / "arm.c"))[2]
    assert not (tmp_path / "arm.c").exists()
