"""`dalembert ellipsoid`: what drives of bounded strength can do at the tool, at one configuration or at many."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .. import plots
from ..checks import choice
from ..ellipsoids import Manipulability, ManipulabilityPolytope, manipulability, manipulability_polytope
from ..ellipsoids.manipulability_functions import KINDS, UNITS
from ..errors import ShapeError
from ..loading import load
from ..wording import counted
from . import outputs, terminal
from .digits import aligned, number
from .opspace import names_of
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import StateRows, extremes, rows_of, target_of, write_rows
from .systems import Loaded


def run(given: Namespace) -> None:
    """Print axes, centre and measures of the ellipsoid, and corners of the polytope where that is wanted."""
    picture = outputs.picture("ellipsoid", given.plot, "--plot")
    target = target_of(given.output)
    choice("--kind", given.kind, KINDS)
    robot = load(given.source)
    rows = rows_of(robot, given, "q", "qd")
    if rows.many and given.polytope:
        raise ShapeError("--polytope: found together with --states, but it is made at one configuration. Give --q instead.")
    state, moving = rows.state, rows.state.qd if rows.state.qd.any() else None
    strength: Any = given.strength if given.strength else "limits" if given.limits else "unit"
    options: dict[str, Any] = {"kind": given.kind, "link": given.link, "strength": strength}
    options["directions"] = names_of(given.directions) or ["x", "y", "z"]
    found = manipulability(robot, state.q, moving, **options)
    polytope = manipulability_polytope(robot, state.q, moving, **options) if given.polytope else None
    if given.json:
        terminal.print_json(_record(robot, rows, found, polytope))
    else:
        many = f", {counted(rows.size, 'state')}" if rows.many else ""
        print_title(f"{robot!r}, {KINDS[found.kind]} of {given.link or 'the tool'}, {' '.join(found.directions)}{many}")
        print_sheets(*([_course(found)] if rows.many else _tables(found, polytope)))
    write_rows(target, rows.columns(robot, "q", "qd"), columns(found))
    if picture is not None:
        outputs.save_figure(_draw(robot, rows, found, polytope), picture)


def _draw(robot: Loaded, rows: StateRows, found: Manipulability, polytope: ManipulabilityPolytope | None) -> Any:
    """The ellipsoid at the tool, or a map of its size over many configurations."""
    if rows.many:
        return plots.manipulability_map(robot, rows.state.q, found).figure
    return plots.ellipsoid(robot, rows.state.q, [found] if polytope is None else [found, polytope]).figure


def _facts(found: Manipulability) -> dict[str, Any]:
    facts = {"product of the half axes": found.measure, "shortest by longest": found.isotropy}
    return facts | ({"share of the strength that holds still": found.hold} if found.kind == "dynamic" else {})


def _unit(found: Manipulability) -> str:
    return UNITS[found.kind][found.directions[0].startswith("r")]


def _course(found: Manipulability) -> Sheet:
    """Half axes and measures over all states."""
    lengths = {f"half axis {k + 1} [{_unit(found)}]": found.lengths[:, k] for k in range(found.lengths.shape[-1])}
    return extremes("Half axes and measures over all states", lengths | _facts(found))


def columns(found: Manipulability) -> dict[str, Any]:
    """Where the tool is, centre, half axes with their directions, and measures, as columns."""
    unit = _unit(found)
    table = {f"{axis} [m]": found.position[..., k] for k, axis in enumerate("xyz")}
    table |= {f"centre_{name} [{unit}]": found.centre[..., k] for k, name in enumerate(found.directions)}
    for k in range(found.lengths.shape[-1]):
        table[f"length{k + 1} [{unit}]"] = found.lengths[..., k]
        table |= {f"axis{k + 1}_{name} [1]": found.axes[..., i, k] for i, name in enumerate(found.directions)}
    power = ("", "²", "³")[found.lengths.shape[-1] - 1]
    return table | {f"measure [({unit}){power}]": found.measure, "isotropy [1]": found.isotropy, "hold [1]": found.hold}


def _tables(found: Manipulability, polytope: ManipulabilityPolytope | None) -> list[Sheet]:
    unit = _unit(found)
    lengths, axes, centre = aligned(found.lengths), aligned(found.axes), aligned(found.centre)
    rows = [(f"half axis {k + 1}", lengths[k], *axes[:, k]) for k in range(len(lengths))]
    shape = sheet(f"Half axes [{unit}] and their directions", ["", "length", *found.directions], [*rows, ("centre", "", *centre)])
    facts = [(name, number(float(value))) for name, value in _facts(found).items()]
    tables = [shape, sheet("Measures", ["", "value"], facts)]
    if polytope is not None:
        corners = aligned(polytope.vertices)
        table = [(k + 1, *corner) for k, corner in enumerate(corners)]
        tables.append(sheet(f"Corners of the polytope [{unit}]", ["corner", *polytope.directions], table))
        least = [("in every direction", number(polytope.least)), ("size", number(polytope.volume))]
        tables.append(sheet("Measures of the polytope", ["", "value"], least))
    return tables


def _record(robot: Loaded, rows: StateRows, found: Manipulability, polytope: ManipulabilityPolytope | None) -> dict[str, object]:
    names = ("kind", "matrix", "centre", "lengths", "axes", "measure", "isotropy", "hold", "position")
    record: dict[str, object] = {"robot": robot.name, "q": rows.state.q, "directions": list(found.directions)}
    record |= {} if rows.t is None else {"t": rows.t}
    record |= {name: getattr(found, name) for name in names}
    if polytope is not None:
        parts = ("vertices", "normals", "offsets", "least", "volume")
        record["polytope"] = {"faces": [list(face) for face in polytope.faces], **{k: getattr(polytope, k) for k in parts}}
    return record
