"""`dalembert cache`: what is in it, and clearing it."""

from __future__ import annotations

import json

import pytest

from dalembert.cli import main
from dalembert.codegen import cache_folder, disk_cache


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run the command on a cache with two kernels: exit code, stdout, stderr."""
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "[red] kernels"))
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "250")
    monkeypatch.setattr(cache_folder, "_told", set())
    for key in ("a", "b"):
        disk_cache.write(key * 64, bytes(100_000))

    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(("cache", *arguments))
        captured = capsys.readouterr()
        return int(left.value.code or 0), captured.out, captured.err

    return command


def test_place_number_size_and_limit_are_shown(run, tmp_path):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert f"Compile cache in {tmp_path}/[red] kernels" in out
    assert out.split()[-3:] == ["2", "0.2", "250.0"]


def test_json_has_the_same_in_bytes(run, tmp_path):
    found = json.loads(run("--json")[1])
    size = 2 * (100_000 + 51)
    assert found == {"place": str(tmp_path / "[red] kernels"), "entries": 2, "bytes": size, "limit_bytes": 250_000_000}


def test_clear_removes_and_says_how_much(run, tmp_path):
    code, out, err = run("--clear")
    assert (code, err) == (0, "")
    assert out == f"{tmp_path}/[red] kernels: 2 files removed, 0.2 MB.\n"
    assert disk_cache.read("a" * 64) is None
    again = json.loads(run("--clear", "--json")[1])
    assert (again["entries"], again["removed_entries"], again["removed_bytes"]) == (0, 0, 0)


def test_a_cache_that_is_not_there_is_empty(run, monkeypatch, tmp_path):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "nowhere"))
    assert json.loads(run("--json")[1])["entries"] == 0
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_of_others_is_an_error_in_a_sentence(run, tmp_path):
    (tmp_path / "[red] kernels").chmod(0o777)
    code, out, err = run("--clear")
    assert (code, out) == (1, "")
    assert err == f"error: {tmp_path}/[red] kernels: it belongs to somebody else or others may write to it.\n"


def test_an_impossible_limit_is_a_warning(run, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "much")
    code, _, err = run()
    assert code == 0
    assert err.startswith("warning: DALEMBERT_CACHE_SIZE: 'much' found")
