"""`python -m benchmarks`: measure, show, and keep the numbers in results/benchmarks.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from . import (
    batch,
    call,
    chain,
    extremes,
    humanoid,
    inverse_kinematics,
    jumps,
    linear,
    machine,
    manipulability,
    mechanism_motions,
    mechanism_start,
    mechanisms,
    page,
    path_timing,
    peak,
    peers,
    progressive,
    second,
    simulation,
    start,
    stiff,
    tasks,
)
from .effort import FULL, QUICK, Effort
from .loops import RESULTS
from .tables import Table

SECTIONS: dict[str, Callable[[Effort], Table]] = {
    "batch": batch.measure,
    "chain": chain.measure,
    "humanoid": humanoid.measure,
    "second": second.measure,
    "call": call.measure,
    "peak": peak.measure,
    "extremes": extremes.measure,
    "simulation": simulation.measure,
    "stiff": stiff.measure,
    "start": start.measure,
    "progressive": progressive.measure,
    "jumps": jumps.measure,
    "linear": linear.measure,
    "manipulability": manipulability.measure,
    "tasks": tasks.measure,
    "path_timing": path_timing.measure,
    "inverse_kinematics": inverse_kinematics.measure,
    "mechanisms": mechanisms.measure,
    "mechanism_motions": mechanism_motions.measure,
    "mechanism_start": mechanism_start.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that are asked for."""
    options = parser().parse_args(arguments)
    if options.write_docs and (options.quick or options.only or not peers.all_compiled()):
        print("--write-docs: a full run against all peers, compiled, is needed. Try it without --quick and --only.")
        return 2
    console, described = _console(), machine.description()
    console.print(" · ".join(f"{name} {value}" for name, value in described.items()), style="dim")
    for name in peers.missing():
        console.print(f"{name} is not installed, so its columns are missing: pip install '.[peers]'.")
    tables = {table.name: table for table in _measured(options, console)}
    _keep(tables, described)
    if options.write_docs:
        console.print(f"written: {page.write(tables, described).name}")
    return 0


def _console() -> Console:
    """The terminal, or a file with room for the tables."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    result.add_argument("--quick", action="store_true", help="smaller batches, fewer repetitions: about a minute")
    result.add_argument("--only", choices=SECTIONS, nargs="+", help="these sections")
    result.add_argument("--write-docs", action="store_true", help="write docs/performance.md and its picture")
    return result


def _measured(options: argparse.Namespace, console: Console) -> Iterator[Table]:
    for name in options.only or SECTIONS:
        with console.status(f"measuring: {name}"):
            table = SECTIONS[name](QUICK if options.quick else FULL)
        console.print(table.terminal())
        yield table


def _keep(tables: Mapping[str, Table], described: Mapping[str, str]) -> Path:
    """Write the numbers; sections that were not measured now stay as they were."""
    path = RESULTS / "benchmarks.json"
    path.parent.mkdir(exist_ok=True)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept |= {name: {"machine": described, "title": table.title, "records": table.records} for name, table in tables.items()}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
