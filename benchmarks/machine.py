"""What a measurement ran on, without naming the machine itself."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import dalembert as dal
from dalembert.codegen import target

PACKAGES = ("numpy", "llvmlite", "pin", "mujoco")


def description() -> dict[str, str]:
    """Processor, cores, system, compiler and versions."""
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()}, {platform.machine()}",
        "Python": platform.python_version(),
        "dalembert": f"{dal.__version__}, {_lanes()}",
        "C++ compiler": _compiler(),
    }
    return found | {name: _version(name) for name in PACKAGES}


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _lanes() -> str:
    if not target.available():
        return "interpreted by NumPy"
    return f"{target.host().lanes} configurations per instruction ({target.host().cpu})"


def _compiler() -> str:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return "none"
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
