"""A spoiled compile cache: entries that are cut, changed or replaced, directories that cannot be used. The numbers stay right."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

import dalembert as dal

from .campaign import pick, require_equal

QUICK = 25
FULL = 1_500
LIMIT = 10.0


class Case(NamedTuple):
    """A pendulum whose kernel is in the cache, and what happens to it there."""

    spoil: str
    length: float
    seed: int

    def __str__(self) -> str:
        return f"cache: {self.spoil}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """A robot that was not used before, and a way to damage the cache."""
    return Case(pick(rng, [*ENTRIES, *PLACES]), float(rng.uniform(0.1, 2.0)), number)


def judge(case: Case) -> None:
    """The robot's numbers before, after, and once more, each time by a kernel built or loaded anew."""
    rng = np.random.default_rng(case.seed)
    with tempfile.TemporaryDirectory() as base, contextlib.chdir(base):
        place = Path(base, "cache")
        if case.spoil in PLACES:
            with PLACES[case.spoil](place):
                _require_right(case.length, 2)
            return
        with mock.patch.dict(os.environ, {"DALEMBERT_CACHE": str(place)}):
            _require_right(case.length, 1)
            for entry in sorted(entry for entry in place.iterdir() if entry.stat().st_size):  # one that is empty is a time stamp
                ENTRIES[case.spoil](entry, rng)
            _require_right(case.length, 2)


def _require_right(length: float, times: int) -> None:
    """Torque and inertia of a point mass, by new robots."""
    for _ in range(times):
        arm = dal.from_dh([{"a": length, "mass": 1.0}], convention="standard", gravity=(0.0, -9.81, 0.0))
        require_equal(dal.gravity_torque(arm, [0.7]), np.array([9.81 * length * np.cos(0.7)]), 1e-12)
        require_equal(dal.mass_matrix(arm, [0.7]), np.array([[length**2]]), 1e-12)


def _changed(change: Callable[[bytes, np.random.Generator], bytes]) -> Callable[[Path, np.random.Generator], None]:
    """Other bytes in the same file."""
    return lambda entry, rng: _write(entry, change(entry.read_bytes(), rng))


def _write(entry: Path, content: bytes) -> None:
    entry.write_bytes(content)


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _replaced(put: Callable[[Path], None]) -> Callable[[Path, np.random.Generator], None]:
    """Something else under the same name."""

    def spoil(entry: Path, rng: np.random.Generator) -> None:
        entry.unlink()
        put(entry)

    return spoil


def _sparse(entry: Path, rng: np.random.Generator) -> None:
    with contextlib.suppress(OSError):  # of a file system that has no room for it
        os.truncate(entry, 1 << 38)


def _others(entry: Path, rng: np.random.Generator) -> None:
    shutil.copyfile(max(entry.parent.iterdir()), entry.with_suffix(".new"))
    os.replace(entry.with_suffix(".new"), entry)


def _left_over(entry: Path, rng: np.random.Generator) -> None:
    entry.with_name(f".writing-{rng.integers(1 << 30):x}").write_bytes(b"half a ker")


ENTRIES: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "a bit flipped": _changed(_flipped),
    "cut": _changed(lambda content, rng: content[: rng.integers(len(content))]),
    "beginning cut": _changed(lambda content, rng: content[rng.integers(1, len(content)) :]),
    "longer": _changed(lambda content, rng: content + bytes(100)),
    "empty": _changed(lambda content, rng: b""),
    "noise": _changed(lambda content, rng: rng.bytes(len(content))),
    "zeros": _changed(lambda content, rng: bytes(len(content))),
    "a very long file": _sparse,
    "another's entry": _others,
    "left-over files": _left_over,
    "a FIFO": _replaced(os.mkfifo),
    "a directory": _replaced(Path.mkdir),
    "a full directory": _replaced(lambda entry: (entry / "inside").mkdir(parents=True)),
    "a link to nothing": _replaced(lambda entry: entry.symlink_to("nothing")),
    "a link to itself": _replaced(lambda entry: entry.symlink_to(entry)),
    "a link to endless zeros": _replaced(lambda entry: entry.symlink_to("/dev/zero")),
    "a link to a full device": _replaced(lambda entry: entry.symlink_to("/dev/full")),
    "no permissions": lambda entry, rng: entry.chmod(0),
    "gone": lambda entry, rng: entry.unlink(),
    "all gone": lambda entry, rng: shutil.rmtree(entry.parent, ignore_errors=True) if entry.exists() else None,
}


@contextlib.contextmanager
def _at(path: Path | str) -> Iterator[None]:
    with mock.patch.dict(os.environ, {"DALEMBERT_CACHE": str(path)}):
        yield


@contextlib.contextmanager
def _made(place: Path, make: Callable[[Path], object]) -> Iterator[None]:
    make(place)
    with _at(place):
        yield


@contextlib.contextmanager
def _homeless(place: Path) -> Iterator[None]:
    """An unknown user, as in a container."""
    with mock.patch.dict(os.environ), mock.patch("pwd.getpwuid", side_effect=KeyError("no such user")):
        for name in ("HOME", "XDG_CACHE_HOME", "DALEMBERT_CACHE", "USERPROFILE", "LOGNAME", "USER"):
            os.environ.pop(name, None)
        yield


PLACES: dict[str, Callable[[Path], contextlib.AbstractContextManager[None]]] = {
    "no home": _homeless,
    "a place in a file": lambda place: _made(place, Path.touch),
    "a place below a file": lambda place: _at(Path(__file__) / "cache"),
    "a place nobody can write to": lambda place: _at("/proc/cache"),
    "a place with too long a name": lambda place: _at(place / ("a" * 300)),
    "a place that is a link to itself": lambda place: _made(place, lambda path: path.symlink_to(path)),
    "a place that is a link to nothing": lambda place: _made(place, lambda path: path.symlink_to("nothing")),
    "a place that is a FIFO": lambda place: _made(place, os.mkfifo),
    "a place open to all": lambda place: _made(place, lambda path: (path.mkdir(), path.chmod(0o777))),
    "a place without permissions": lambda place: _made(place, lambda path: path.mkdir(mode=0)),
    "a relative place": lambda place: _at("here"),
    "a device": lambda place: _at("/dev/null"),
}
