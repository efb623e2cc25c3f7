"""The page docs/performance.md, written from a full measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import picture
from .tables import Table

DOCS = Path(__file__).resolve().parents[1] / "docs"
INTRODUCTION = """# Performance

Written by `python -m benchmarks --write-docs`; `make bench` measures your machine.

![Throughput beside Pinocchio, and cost against the number of joints](images/performance.png)

Absolute times depend on the machine, so what counts are ratios to other libraries measured in the same run. Contestants take
turns, repetition by repetition, so that other work on the machine slows all of them alike; each turn begins with a pass that is
not counted, so that all are measured warm. A ratio above 1 means that dalembert is faster. Before anything is timed, all
answers are compared (to 1e-9, relative; accelerations by the torques they need). All compute the same robot in the same
coordinates; friction and rotors are left out, since not every library has them.

[Pinocchio](https://github.com/stack-of-tasks/pinocchio) runs in a C++ loop over the same states, with its algorithms compiled for
this processor (`-O3 -march=native`) and each result stored; of the mass matrix it computes one triangle, dalembert writes both.
[MuJoCo](https://github.com/google-deepmind/mujoco) runs in a C++ loop as well; its calls also prepare quantities for a simulation
that are not needed here. Both compute one configuration at a time, and take any robot without compiling; dalembert compiles a
function per robot and computes several configurations per instruction. That explains the difference.
"""


def write(tables: Mapping[str, Table], machine: Mapping[str, str]) -> Path:
    """Write page and picture."""
    parts = [INTRODUCTION, "## Machine", _listing(machine)]
    for table in tables.values():
        parts += [f"## {table.title}", table.note, table.markdown()]
    path = DOCS / "performance.md"
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    picture.draw(tables["batch"], tables["chain"], DOCS / "images" / "performance.png")
    return path


def _listing(machine: Mapping[str, str]) -> str:
    rows = [f"| {name} | {value} |" for name, value in machine.items()]
    return "\n".join(["| | |", "|---|---|", *rows])
