"""The disk cache: private, whole or ignored, shared between processes, and never in the way."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalembert.codegen import build, cache, target
from dalembert.errors import DalembertWarning
from tests.unit.codegen.programs import close, expected, vector_program

posix = pytest.mark.skipif(os.name != "posix", reason="file modes and owners are POSIX ideas")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nobody told yet."""
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_told", set())
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by the code of each module that is really compiled."""
    compiled: list[str] = []
    original = target.compile_object

    def counting(ir: str) -> bytes:
        compiled.append(ir)
        return original(ir)

    monkeypatch.setattr(target, "compile_object", counting)
    return compiled


def build_and_check() -> None:
    program = vector_program()
    x = np.linspace(-1, 1, 15).reshape(5, 3)
    close(build(program)(x), expected(program, x))


def only_file(place: Path) -> Path:
    (file,) = place.iterdir()
    return file


def test_a_kernel_is_compiled_once(place: Path, compilations: list[str]) -> None:
    build_and_check()
    build_and_check()
    assert len(compilations) == 1
    assert only_file(place).stat().st_size > 100


@posix
def test_the_directory_is_private(place: Path) -> None:
    build_and_check()
    assert place.stat().st_mode & 0o777 == 0o700
    assert only_file(place).stat().st_mode & 0o077 == 0


DAMAGE = {
    "a flipped bit": lambda b: b[:-1] + bytes([b[-1] ^ 1]),
    "a flipped bit in the digest": lambda b: b[:25] + bytes([b[25] ^ 1]) + b[26:],
    "another heading": lambda b: b"x" + b[1:],
    "the end missing": lambda b: b[: len(b) // 2],
    "nearly everything missing": lambda b: b[:10],
    "everything missing": lambda b: b"",
    "something appended": lambda b: b + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_ignored_and_replaced(damage: str, place: Path, compilations: list[str]) -> None:
    build_and_check()
    file = only_file(place)
    whole = file.read_bytes()
    file.write_bytes(DAMAGE[damage](whole))
    build_and_check()
    assert len(compilations) == 2
    assert only_file(place).read_bytes()[:19] == whole[:19]
    build_and_check()
    assert len(compilations) == 2


def test_a_file_under_another_s_name_is_ignored(place: Path) -> None:
    cache.write("a" * 64, b"code of a")
    os.rename(place / ("a" * 40), place / ("b" * 40))
    assert cache.read("a" * 64) is None
    assert cache.read("b" * 64) is None


def test_keys_depend_on_every_part_and_where_it_ends() -> None:
    keys = {cache.key_of("ab", "c"), cache.key_of("a", "bc"), cache.key_of("abc"), cache.key_of("ab", "c", "")}
    assert len(keys) == 4


def test_another_compiler_or_processor_has_kernels_of_its_own(place: Path, compilations: list[str], monkeypatch: Any) -> None:
    from dataclasses import replace

    build_and_check()
    newer = replace(target.host(), compiler="llvmlite of tomorrow")
    monkeypatch.setattr(target, "host", lambda: newer)
    build_and_check()
    assert len(compilations) == 2
    assert len(list(place.iterdir())) == 2


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_directory_others_may_write_to_is_not_used(mode: int, place: Path, compilations: list[str]) -> None:
    build_and_check()
    place.chmod(mode)
    with pytest.warns(DalembertWarning, match=r"compile cache: '.*' cannot be used \(it belongs to somebody else or others may"):
        build_and_check()
    assert len(compilations) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_not_used(place: Path, compilations: list[str]) -> None:
    build_and_check()
    os.chown(place, 12345, 12345)
    with pytest.warns(DalembertWarning, match="it belongs to somebody else"):
        build_and_check()
    assert len(compilations) == 2


def test_a_cache_that_cannot_be_written_is_told_once_and_costs_only_time(
    place: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write_text("a file, not a directory")
    monkeypatch.setenv("DALEMBERT_CACHE", str(place / "below"))
    sentence = (
        r"compile cache: '.*below' cannot be used \(.*\), so kernels are compiled anew in every process\. Set DALEMBERT_CACHE"
    )
    with pytest.warns(DalembertWarning, match=sentence) as told:
        build_and_check()
    build_and_check()  # a second warning would be an error
    assert len(told) == 1
    assert told[0].message.code == "cache"
    assert len(compilations) == 2


def test_a_full_disk_leaves_nothing_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", full)
    with pytest.warns(DalembertWarning, match=r"cannot be used \(No space left on device\)"):
        build_and_check()
    assert list(place.iterdir()) == []


def test_the_platform_s_place_for_caches_is_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.setattr(cache.Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.directory() == tmp_path / "xdg" / "dalembert"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.directory() == tmp_path / ".cache" / "dalembert"
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    assert cache.directory() == tmp_path / "Library" / "Caches" / "dalembert"
    monkeypatch.setattr(cache.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache.directory() == tmp_path / "local" / "dalembert" / "Cache"


SCRIPT = """
import sys
import numpy as np
import dalembert as dal
from dalembert.codegen import target

count, original = [0], target.compile_object
def counting(ir):
    count[0] += 1
    return original(ir)
target.compile_object = counting
tau = dal.inverse_dynamics(dal.robots.puma560(), *np.linspace(-1, 1, 18).reshape(3, 6))
print(count[0], *(float(t).hex() for t in tau))
"""


def start(place: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"DALEMBERT_CACHE": str(place), "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen([sys.executable, "-W", "error", "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    count, *tau = out.split()
    return int(count), tau


def test_a_second_process_compiles_nothing_and_two_at_once_do_no_harm(place: Path) -> None:
    both = [start(place), start(place)]
    answers = [answer(process) for process in both]
    third = answer(start(place))
    assert all(0 <= count <= 1 for count, _ in answers)
    assert third == (0, answers[0][1])
    assert answers[0][1] == answers[1][1]
    assert not list(place.glob(".writing-*"))


def test_importing_the_package_starts_no_compiler(place: Path) -> None:
    code = "import sys, dalembert; sys.exit('llvmlite' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT / "src")}, check=True)
    assert not place.exists()


def test_an_untroubled_cache_says_nothing(place: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_and_check()
    assert place.is_dir()
