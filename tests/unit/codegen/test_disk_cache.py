"""The disk cache: private, whole or ignored, shared between processes, and never in the way."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalembert.codegen import build, cache_size, disk_cache, target
from dalembert.codegen import cache_folder as place_module
from dalembert.errors import DalembertWarning
from tests.unit.codegen.programs import close, expected, vector_program

posix = pytest.mark.skipif(os.name != "posix", reason="file modes and owners are POSIX ideas")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nobody told yet."""
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(place_module, "_told", set())
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
    (file,) = entries(place)
    return file


def entries(place: Path) -> list[Path]:
    """What is in the cache, but for the cache's own remarks."""
    return [file for file in place.iterdir() if file.name != ".looked"]


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
    "only the heading left": lambda b: b[:19],
    "only the heading and the digest left": lambda b: b[:51],
    "zeros, as after a loss of power": lambda b: bytes(len(b)),
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
    disk_cache.write("a" * 64, b"code of a")
    os.rename(place / ("a" * 40), place / ("b" * 40))
    assert disk_cache.read("a" * 64) is None
    assert disk_cache.read("b" * 64) is None


def test_keys_depend_on_every_part_and_where_it_ends() -> None:
    parts = (("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", ""))
    assert len({disk_cache.key_of(*each) for each in parts}) == 4


def test_another_compiler_or_processor_has_kernels_of_its_own(place: Path, compilations: list[str], monkeypatch: Any) -> None:
    from dataclasses import replace

    build_and_check()
    newer = replace(target.host(), compiler="llvmlite of tomorrow")
    monkeypatch.setattr(target, "host", lambda: newer)
    build_and_check()
    assert len(compilations) == 2
    assert len(entries(place)) == 2


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


@pytest.mark.parametrize("function", ["open", "fdopen", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_disk_that_fails_is_told_once_and_nothing_is_left_behind(
    number: int, function: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a file is opened, written to or given its name."""
    disk_cache.write("a" * 64, b"code of a")
    original = getattr(os, function)

    def failing(*arguments: Any, **more: Any) -> Any:
        if function == "open" and not arguments[1] & os.O_CREAT:
            return original(*arguments, **more)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(place_module.os, function, failing)
    with pytest.warns(DalembertWarning, match=rf"cannot be used \({os.strerror(number)}\)") as told:
        disk_cache.write("b" * 64, b"code of b")
    disk_cache.write("c" * 64, b"code of c")  # a second warning would be an error
    assert len(told) == 1
    monkeypatch.setattr(place_module.os, function, original)
    assert [file.name for file in entries(place)] == ["a" * 40]
    assert disk_cache.read("a" * 64) == b"code of a"


@posix
def test_a_file_cut_off_by_a_limit_is_neither_kept_nor_fatal(place: Path) -> None:
    """A true failure in the middle of a write: the process may write no file beyond 1,000 bytes."""
    code = "; ".join([
        "import resource, signal, warnings",
        "from dalembert.codegen import disk_cache as cache",
        "warnings.simplefilter('always')",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))",
        "cache.write('a' * 64, b'x' * 5000)",
        "print(cache.read('a' * 64))",
    ])  # fmt: skip
    done = python(code, place)
    assert done.stdout == "None\n"
    assert done.stderr.count("File too large") == 1
    assert list(place.iterdir()) == []


def python(code: str, place: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What another process does."""
    environment = os.environ | {"DALEMBERT_CACHE": str(place), "PYTHONPATH": str(ROOT / "src")} | variables
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False)


@posix
def test_a_writer_that_is_killed_leaves_a_file_that_is_removed_when_it_is_old(place: Path) -> None:
    code = "; ".join([
        "import os, signal",
        "from dalembert.codegen import disk_cache as cache",
        "os.replace = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)",
        "cache.write('a' * 64, b'code of a')",
    ])  # fmt: skip
    assert python(code, place).returncode == -9
    (left,) = place.glob(".writing-*")
    assert disk_cache.read("a" * 64) is None
    disk_cache.write("a" * 64, b"code of a")
    assert disk_cache.read("a" * 64) == b"code of a"
    with place_module.CacheFolder(place) as opened:
        cache_size.prune(opened)
        assert left.exists()  # somebody may be writing it
        os.utime(left, (1, time.time() - 2 * cache_size.PAUSE))
        cache_size.prune(opened)
    assert not left.exists()
    assert disk_cache.read("a" * 64) == b"code of a"


def fifo(path: Path, _: Path) -> None:
    os.mkfifo(path)


def socket_file(path: Path, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket may have no more than some hundred characters
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def link_to_device(path: Path, _: Path) -> None:
    path.symlink_to("/dev/zero")


def link_to_copy(path: Path, copy: Path) -> None:
    path.symlink_to(copy)


def dangling_link(path: Path, _: Path) -> None:
    path.symlink_to("nowhere")


def folder(path: Path, _: Path) -> None:
    path.mkdir()


def writable_by_others(path: Path, copy: Path) -> None:
    path.write_bytes(copy.read_bytes())
    path.chmod(0o666)


def without_end(path: Path, _: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)  # a hole, which takes no room


@posix
@pytest.mark.parametrize(
    "intruder", [fifo, socket_file, link_to_device, link_to_copy, dangling_link, folder, writable_by_others, without_end]
)
def test_what_is_not_a_plain_file_of_ours_is_neither_read_nor_waited_for_but_replaced(
    intruder: Any, place: Path, tmp_path: Path, compilations: list[str]
) -> None:
    build_and_check()
    file = only_file(place)
    copy = tmp_path / "copy"
    shutil.move(file, copy)
    intruder(file, copy)
    build_and_check()
    assert len(compilations) == 2
    assert stat.S_ISREG(file.lstat().st_mode)
    assert file.stat().st_mode & 0o777 == 0o600
    build_and_check()
    assert len(compilations) == 2


@posix
def test_a_full_directory_in_the_place_of_an_entry_is_told(place: Path) -> None:
    build_and_check()
    file = only_file(place)
    file.unlink()
    (file / "below").mkdir(parents=True)
    with pytest.warns(DalembertWarning, match=r"cannot be used \((Is a directory|Directory not empty)\)"):
        build_and_check()
    build_and_check()
    assert (file / "below").is_dir()


@posix
def test_nothing_stays_open(place: Path) -> None:
    disk_cache.write("a" * 64, b"code of a")
    (place / ("b" * 40)).mkdir()
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        disk_cache.write("a" * 64, b"code of a")
        assert disk_cache.read("a" * 64) == b"code of a"
        assert disk_cache.read("b" * 64) is None
        assert disk_cache.read("c" * 64) is None
    assert len(os.listdir("/dev/fd")) == before


@posix
def test_a_link_of_ours_may_lead_to_the_cache_and_a_file_or_pipe_may_not_be_it(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.symlink_to("elsewhere")
    disk_cache.write("a" * 64, b"code of a")
    assert disk_cache.read("a" * 64) == b"code of a"
    place.unlink()
    os.mkfifo(place)
    with pytest.warns(DalembertWarning, match=r"cannot be used \(Not a directory\)"):
        disk_cache.write("a" * 64, b"code of a")
    assert disk_cache.read("a" * 64) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a link away")
def test_a_link_of_somebody_else_is_not_followed(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.symlink_to("elsewhere")
    os.lchown(place, 12345, 12345)
    with pytest.warns(DalembertWarning, match="it belongs to somebody else"):
        disk_cache.write("a" * 64, b"code of a")
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_an_entry_of_somebody_else_is_not_read(place: Path) -> None:
    disk_cache.write("a" * 64, b"code of a")
    os.chown(only_file(place), 12345, 12345)
    assert disk_cache.read("a" * 64) is None


def test_the_platform_s_place_for_caches_is_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.setattr(place_module.Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(place_module.sys, "platform", "linux")
    assert disk_cache.directory() == tmp_path / "xdg" / "dalembert"
    for nothing in ("", "not/absolute"):
        monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert disk_cache.directory() == tmp_path / ".cache" / "dalembert"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert disk_cache.directory() == tmp_path / ".cache" / "dalembert"
    monkeypatch.setattr(place_module.sys, "platform", "darwin")
    assert disk_cache.directory() == tmp_path / "Library" / "Caches" / "dalembert"
    monkeypatch.setattr(place_module.sys, "platform", "win32")
    assert disk_cache.directory() == tmp_path / "AppData" / "Local" / "dalembert" / "Cache"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert disk_cache.directory() == tmp_path / "local" / "dalembert" / "Cache"


def test_the_place_chosen_may_begin_at_home_or_where_the_process_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DALEMBERT_CACHE", "~/kernels of tilde")
    assert disk_cache.directory() == tmp_path / "kernels of tilde"
    monkeypatch.setenv("DALEMBERT_CACHE", "kernels/of relative")
    assert disk_cache.directory() == tmp_path / "kernels" / "of relative"
    monkeypatch.chdir("/")
    assert disk_cache.directory() == tmp_path / "kernels" / "of relative"  # as it was when first asked
    monkeypatch.setenv("DALEMBERT_CACHE", "  ")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk_cache.directory() == tmp_path / "xdg" / "dalembert"


@posix
@pytest.mark.parametrize("home", ["unknown", "a file", "nowhere to write"])
def test_without_a_home_kernels_are_kept_among_temporary_files_of_ours(
    home: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compilations: list[str]
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(place_module.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "home").touch()
    monkeypatch.setattr(place_module.Path, "home", homeless if home == "unknown" else lambda: tmp_path / "home")
    if home == "nowhere to write":
        (tmp_path / "home").unlink()
        monkeypatch.setattr(place_module.os, "access", lambda *_: False)
    place = tmp_path / f"dalembert-{os.getuid()}"
    assert disk_cache.directory() == place
    build_and_check()
    build_and_check()
    assert len(compilations) == 1
    assert place.stat().st_mode & 0o777 == 0o700


STRANGER = """
import os, tempfile
from pathlib import Path
from dalembert.codegen import disk_cache as cache
os.setgid(54321)
os.setuid(54321)
print(cache.directory() == Path(tempfile.gettempdir(), "dalembert-54321"))
cache.write("a" * 64, b"code of a")
print(cache.read("a" * 64), os.stat(cache.directory()).st_uid)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_user_nobody_knows_has_a_cache() -> None:
    """As in a container started for user 54321: no entry in the list of users, no HOME."""
    with tempfile.TemporaryDirectory() as temporary:
        os.chmod(temporary, 0o777)
        environment = {
            name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "DALEMBERT_CACHE")
        }
        environment |= {"TMPDIR": temporary, "PYTHONPATH": str(ROOT / "src")}
        run = [sys.executable, "-W", "error", "-c", STRANGER]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split("\n") == ["True", "b'code of a' 54321", ""], done.stderr


@posix
def test_a_home_that_cannot_be_found_is_told_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_module, "_told", set())
    monkeypatch.setenv("DALEMBERT_CACHE", "~nobody-of-this-name/kernels")
    with pytest.warns(DalembertWarning, match=r"'~nobody-of-this-name/kernels' cannot be used \(no home directory is known\)"):
        disk_cache.write("a" * 64, b"code of a")
    assert disk_cache.read("a" * 64) is None


def fill(place: Path, count: int, size: int) -> list[str]:
    """Entries of this size, the first of them used longest ago."""
    keys = [f"{k:064x}"[::-1] for k in range(count)]
    for k, key in enumerate(keys):
        disk_cache.write(key, bytes(size))
        os.utime(place / key[:40], (1, time.time() - 10 * place_module.TOUCH_AFTER + k))
    return keys


def kept(keys: list[str]) -> list[bool]:
    return [disk_cache.read(key) is not None for key in keys]


def test_what_was_used_longest_ago_goes_when_the_cache_is_full(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = fill(place, 10, 1000)
    (place / "notes.txt").write_text("not a kernel" * 1000)
    assert disk_cache.read(keys[2]) is not None  # and now it is the one used last
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "0.006")
    with place_module.CacheFolder(place) as opened:
        cache_size.prune(opened)
    assert sum(file.stat().st_size for file in entries(place) if len(file.name) == 40) <= 6000
    assert kept(keys) == [False, False, True, False, False, False, True, True, True, True]
    assert (place / "notes.txt").exists()


def test_the_size_is_seen_to_after_some_writes_and_at_the_first_of_a_process(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Any] = []
    monkeypatch.setattr(cache_size, "_writes", itertools.count())
    original = cache_size.prune
    monkeypatch.setattr(cache_size, "prune", lambda opened: (looks.append(opened), original(opened)))
    for _ in range(cache_size.EVERY + 1):
        disk_cache.write("a" * 64, b"code of a")
    assert len(looks) == 2
    monkeypatch.setattr(cache_size, "_writes", itertools.count())  # another process, soon after
    disk_cache.write("a" * 64, b"code of a")
    assert len(looks) == 2
    os.utime(place / ".looked", (1, time.time() - 2 * cache_size.PAUSE))
    monkeypatch.setattr(cache_size, "_writes", itertools.count())  # and one the day after
    disk_cache.write("a" * 64, b"code of a")
    assert len(looks) == 3


def test_a_use_is_noted_once_an_hour(place: Path) -> None:
    (key,) = fill(place, 1, 10)
    file = only_file(place)
    long_ago = file.stat().st_mtime
    assert disk_cache.read(key) is not None
    noted = file.stat().st_mtime
    assert noted > long_ago + place_module.TOUCH_AFTER
    assert disk_cache.read(key) is not None
    assert file.stat().st_mtime == noted


@pytest.mark.slow
def test_several_processes_may_prune_at_once(place: Path) -> None:
    keys = fill(place, 60, 1000)
    code = (
        "from pathlib import Path; from dalembert.codegen import disk_cache as cache, cache_size, cache_folder; import sys\n"
        "for k in range(30):\n"
        "    with cache_folder.CacheFolder(cache.directory()) as opened: cache_size.prune(opened)\n"
        "    cache.write(f'{k}{sys.argv[1]}' * 32, bytes(1000))\n"
    )
    environment = os.environ | {"DALEMBERT_CACHE": str(place), "PYTHONPATH": str(ROOT / "src"), "DALEMBERT_CACHE_SIZE": "0.02"}
    processes = [subprocess.Popen([sys.executable, "-W", "error", "-c", code, str(k)], env=environment) for k in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert sum(kept(keys)) <= 20
    assert not list(place.glob(".writing-*"))


@pytest.mark.parametrize("text", ["abc", "-1", "nan", "inf", "1e999", "10 MB"])
def test_a_size_that_is_no_size_is_told_once_and_the_usual_one_taken(text: str, place: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", text)
    sentence = (
        rf"DALEMBERT_CACHE_SIZE: '{text}' found, a number of megabytes that is not negative expected; 1000 is taken\. Set it"
    )
    with pytest.warns(DalembertWarning, match=sentence) as told:
        assert cache_size.limit() == 1_000_000_000
    build_and_check()  # a second warning would be an error
    assert len(told) == 1


def test_with_a_size_of_zero_nothing_is_written_or_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "0")
    build_and_check()
    assert not place.exists()
    assert cache_size.contents() == (str(place), 0, 0, 0)
    monkeypatch.delenv("DALEMBERT_CACHE_SIZE")
    disk_cache.write("a" * 64, b"code of a")
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "0")
    assert disk_cache.read("a" * 64) is None


def test_clearing_removes_kernels_and_unfinished_files_and_nothing_else(place: Path) -> None:
    assert cache_size.clear() == (0, 0)
    fill(place, 3, 100)
    (place / ".writing-0123").write_bytes(b"half")
    (place / "notes.txt").write_text("keep")
    assert cache_size.contents().entries == 3
    count, size = cache_size.clear()
    assert count == 4
    assert size > 304
    assert [file.name for file in place.iterdir()] == ["notes.txt"]
    assert cache_size.contents()[1:3] == (0, 0)


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


@pytest.mark.slow
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
