"""`dalembert opspace`: the dynamics at one state, or at many, as a task feels them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from .. import plots
from ..dynamics import forward_kinematics
from ..ellipsoids import Manipulability
from ..errors import ModelError
from ..loading import load
from ..opspace import OperationalSpace, operational_space
from ..plots import canvas
from ..wording import counted
from . import outputs, terminal
from .digits import aligned
from .dynamics import GivenState
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import StateRows, entries, extremes, rows_of, target_of, write_rows
from .systems import Loaded, coordinates_of

AXES = ("x", "y", "z")  # directions of translation; the others turn
FORCES = ("N", "N m")
_WIDE = 100.0  # range of inertias from which it is drawn by powers of ten


def run(given: Namespace) -> None:
    """Print inertia, loads, Jacobian and its consistent inverse in the directions of a task; of many states, the extremes."""
    picture = outputs.picture("opspace", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    rows = rows_of(robot, given, "q", "qd")
    directions = names_of(given.directions)
    options = {"link": given.link, "frame": given.frame, "angles": given.angles, "damping": given.damping}
    found = operational_space(robot, rows.state.q, rows.state.qd, directions=directions, coriolis=True, **options)
    if given.json:
        terminal.print_json(_record(robot, rows, found))
    else:
        damped = f", damped by {found.damping:g}: an approximation" if found.damped else ""
        many = f", {counted(rows.size, 'state')}" if rows.many else ""
        print_title(f"{robot!r}, task {' '.join(found.directions)} of {given.link or 'the tool'}{damped}{many}")
        print_sheets(*([_course_table(found)] if rows.many else [_model_table(found), _kinematics_table(robot, found)]))
    write_rows(target, rows.columns(robot, "q", "qd"), columns(robot, found))
    if picture is not None:
        outputs.save_figure(_draw_course(rows, found) if rows.many else draw(robot, rows.state, found, given).figure, picture)


def names_of(given: str | None) -> list[str] | None:
    """Names that stand in one word, separated by commas or spaces."""
    return None if given is None else given.replace(",", " ").split()


def _model_table(found: OperationalSpace) -> Sheet:
    inertia, mu, p = aligned(found.Lambda), aligned(found.mu), aligned(found.p)
    rows = [(name, *inertia[i], mu[i], p[i]) for i, name in enumerate(found.directions)]
    return sheet("Inertia Λ of the task, loads μ by velocities and p by gravity", ["", *found.directions, "mu", "p"], rows)


def _kinematics_table(robot: Loaded, found: OperationalSpace) -> Sheet:
    J, inverse = aligned(found.J), aligned(found.J_bar)
    heads = ["", *(f"J {name}" for name in found.directions), *(f"J_bar {name}" for name in found.directions)]
    rows = [(name, *J[:, i], *inverse[i]) for i, name in enumerate(robot.joint_names)]
    return sheet("Jacobian of the task, joint by joint, and its dynamically consistent inverse", heads, rows)


def _course_table(found: OperationalSpace) -> Sheet:
    """Inertia and loads in each direction, over all states."""
    named = {"Lambda": np.diagonal(found.Lambda, axis1=-2, axis2=-1), "mu": found.mu, "p": found.p}
    units = {"Lambda": ("kg", "kg m²"), "mu": FORCES, "p": FORCES}
    course = {
        f"{name} {direction} [{units[name][direction not in AXES]}]": values[:, k]
        for name, values in named.items()
        for k, direction in enumerate(found.directions)
    }
    return extremes("Inertia Λ of the task, loads μ by velocities and p by gravity, over all states", course)


def columns(robot: Loaded, found: OperationalSpace) -> dict[str, Any]:
    """The model of the task as columns."""
    tasks, joints = found.directions, robot.joint_names
    turns, moves = [name not in AXES for name in tasks], ["rad" if c.turns else "m" for c in coordinates_of(robot)]
    unit = ["rad" if turn else "m" for turn in turns]
    inertia = entries("Lambda", tasks, tasks, lambda i, j: ("kg", "kg m", "kg m²")[turns[i] + turns[j]], found.Lambda)
    loads = {
        f"{name}_{direction} [{FORCES[turns[k]]}]": getattr(found, name)[..., k]
        for name in ("mu", "p")
        for k, direction in enumerate(tasks)
    }
    J = entries("J", tasks, joints, lambda i, j: f"{unit[i]} per {moves[j]}", found.J)
    return inertia | loads | J | entries("J_bar", joints, tasks, lambda i, j: f"{moves[i]} per {unit[j]}", found.J_bar)


def _record(robot: Loaded, rows: StateRows, found: OperationalSpace) -> dict[str, object]:
    names = ("Lambda", "mu", "p", "J", "J_bar", "N", "Jdot_qd", "C")
    return {
        "robot": robot.name,
        "joints": list(robot.joint_names),
        "directions": list(found.directions),
        "damping": found.damping,
        **({} if rows.t is None else {"t": rows.t}),
        "q": rows.state.q,
        "qd": rows.state.qd,
        **{name: getattr(found, name) for name in names},
    }


def draw(robot: Loaded, state: GivenState, found: OperationalSpace, given: Namespace) -> Any:
    """The velocities of the task that have half a joule of kinetic energy: {v: vᵀ Λ v ≤ 1}."""
    rows = [k for k, name in enumerate(found.directions) if name in AXES]
    if len(rows) < 2 or given.frame != "world":
        raise ModelError("--plot: fewer than two of x, y, z in world axes found among the directions; nothing can be drawn.")
    E = found.mobility[np.ix_(rows, rows)]
    values, axes = np.linalg.eigh(E)
    r = np.sqrt(values[::-1])
    names = tuple(found.directions[k] for k in rows)
    position = forward_kinematics(robot, state.q, given.link)[:3, 3]
    measures = np.array([np.prod(r), r[-1] / r[0], 0.0])
    shape = Manipulability(E, np.zeros(len(r)), r, axes[:, ::-1], measures, position, "velocity", names)
    return plots.ellipsoid(robot, state.q, shape, labels=["velocities of ½ J"])


def _draw_course(rows: StateRows, found: OperationalSpace) -> Any:
    """The inertia in each direction over time, or over the rows of the file."""
    kinds = [[k for k, name in enumerate(found.directions) if (name in AXES) == linear] for linear in (True, False)]
    panels = [(places, unit) for places, unit in zip(kinds, ("kg", "kg m²"), strict=True) if places]
    figure = outputs.new_figure((7.6, 1.0 + 2.6 * len(panels)), layout="constrained")
    x = np.arange(1, rows.size + 1) if rows.t is None else rows.t
    for ax, (places, unit) in zip(figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True):
        for k in places:
            ax.plot(x, found.Lambda[:, k, k], label=found.directions[k], **canvas.line_style(k))
        canvas.dress(ax, "row" if rows.t is None else "time [s]", f"inertia of the task [{unit}]")
        drawn = np.stack([found.Lambda[:, k, k] for k in places])
        if np.nanmax(drawn) > _WIDE * np.nanmin(drawn) > 0.0:
            ax.set_yscale("log")  # near a singular pose it has no bound
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)
    return figure
