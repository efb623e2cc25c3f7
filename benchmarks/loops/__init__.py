"""Programs that run other libraries in a loop without Python in between: compiled on first use, kept in `results/`."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parents[1] / "results"
FLAGS = ("-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-w")
# As pinocchioTargets.cmake asks; without its template instantiation, so that the algorithms are compiled for this processor.
_PINOCCHIO_DEFINES = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)


class NoLoopError(Exception):
    """There is no program for this library here; the sentence says why."""


def pinocchio(*definitions: str, name: str = "pinocchio_loop") -> Path:
    """The program that runs Pinocchio's C++, with some names defined."""
    prefix = _package_folder("pinocchio").parents[3]
    include, library = prefix / "include", prefix / "lib"
    if not (include / "eigen3").is_dir():
        raise NoLoopError("Eigen's headers are missing (pip install cmeel-eigen)")
    options = (
        *_PINOCCHIO_DEFINES,
        *definitions,
        f"-I{include}",
        f"-I{include / 'eigen3'}",
        f"-L{library}",
        f"-Wl,-rpath,{library}",
    )
    return _compiled(name, metadata.version("pin"), options, ("-lpinocchio_default",))


def mujoco(*, name: str = "mujoco_loop") -> Path:
    """The program that runs MuJoCo's C library."""
    package = _package_folder("mujoco")
    libraries = sorted(package.glob("libmujoco.*"))
    if not libraries:
        raise NoLoopError("libmujoco is missing from the package mujoco")
    options = (f"-I{package / 'include'}", f"-Wl,-rpath,{package}")
    return _compiled(name, metadata.version("mujoco"), options, (str(libraries[0]),))


def pinocchio_mechanisms() -> Path:
    """The program that runs Pinocchio on closed loops."""
    return pinocchio(name="pinocchio_mechanism_loop")


def mujoco_mechanisms() -> Path:
    """The program that runs MuJoCo on closed loops."""
    return mujoco(name="mujoco_mechanism_loop")


def _package_folder(name: str) -> Path:
    spec = util.find_spec(name)
    if spec is None or spec.origin is None:
        raise NoLoopError(f"the package {name} is missing")
    return Path(spec.origin).parent


def _compiled(name: str, version: str, options: Sequence[str], libraries: Sequence[str]) -> Path:
    """The program of a source file, compiled unless it was already with the same compiler and library."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise NoLoopError("there is no C++ compiler")
    sources = [*sorted(FOLDER.glob("*.hpp")), FOLDER / f"{name}.cpp"]
    banner = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    parts = [banner, version, *FLAGS, *options, *libraries, *(source.read_text() for source in sources)]
    program = RESULTS / f"{name}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"
    if not program.exists():
        print(f"compiling {name}.cpp, once (Pinocchio: some minutes)", file=sys.stderr)
        _compile([compiler, *FLAGS, *options, str(sources[-1]), *libraries], program)
    return program


def _compile(command: Sequence[str], program: Path) -> None:
    program.parent.mkdir(exist_ok=True)
    unfinished = program.with_suffix(".unfinished")
    done = subprocess.run([*command, "-o", str(unfinished)], capture_output=True, text=True)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
        raise NoLoopError(f"{program.name.split('-')[0]}.cpp does not compile: {first}")
    unfinished.replace(program)
