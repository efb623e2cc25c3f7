"""The picture of the performance page: throughput of a batch, and cost against the number of joints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dalembert.plots.canvas import FAINT, INK, PALETTE

from .tables import Table

NAMES = {"panda": "Panda (7 joints)", "puma560": "PUMA 560 (6 joints)"}
QUANTITIES = {"jacobian": "tool Jacobian"}
CONTESTANTS = (("ns", "dalembert"), ("pinocchio_ns", "Pinocchio C++"), ("mujoco_ns", "MuJoCo C"))
STYLES = {"inverse_dynamics": ("-", "o"), "forward_dynamics": ("--", "s")}


def draw(batch: Table, chain: Table, path: Path) -> None:
    """Write the picture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11.0, 4.2), layout="constrained", width_ratios=(1.0, 1.05))
    _throughput(left, batch)
    _cost(right, chain)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(FAINT)
        ax.tick_params(which="both", color=FAINT, labelcolor=INK)
        ax.set_axisbelow(True)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _throughput(ax: Any, table: Table) -> None:
    records = [record for record in table.records if record.get("ratio") is not None]
    robots = list(dict.fromkeys(record["robot"] for record in records))
    quantities = list(dict.fromkeys(record["quantity"] for record in records))
    ratio = {(record["robot"], record["quantity"]): record["ratio"] for record in records}
    height = 0.8 / len(robots)
    for i, robot in enumerate(robots):
        places = [k + (i - (len(robots) - 1) / 2) * height for k in range(len(quantities))]
        values = [ratio[robot, quantity] for quantity in quantities]
        bars = ax.barh(places, values, 0.92 * height, color=PALETTE[(0, 5)[i % 2]], label=NAMES.get(robot, robot))
        ax.bar_label(bars, fmt="%.0f×", padding=3, color=INK, fontsize=9)
    ax.set_yticks(range(len(quantities)), [QUANTITIES.get(name) or name.replace("_", " ") for name in quantities])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")
    ax.margins(x=0.1)
    ax.set_xlabel("times the throughput of Pinocchio's C++, one core each", color=INK)
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)  # no bar is ever there


def _cost(ax: Any, table: Table) -> None:
    for number, (key, name) in enumerate(CONTESTANTS):
        for quantity, (line, marker) in STYLES.items():
            chosen = [r for r in table.records if r["quantity"] == quantity and r.get(key) is not None]
            x, y = [r["n"] for r in chosen], [r[key] / 1000 for r in chosen]
            label = f"{name}, {quantity.replace('_dynamics', '')}"
            ax.loglog(x, y, line, marker=marker, markersize=4, linewidth=1.6, color=PALETTE[number], label=label)
    lengths = sorted({record["n"] for record in table.records})
    ax.set_xticks(lengths, [str(n) for n in lengths])
    ax.set_xticks([], minor=True)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.grid(visible=True, color="#EBEBEB", linewidth=0.8)
    ax.set_xlabel("joints of the chain", color=INK)
    ax.set_ylabel("time per configuration [µs], one core", color=INK)
    ax.legend(frameon=False, fontsize=8.5)
