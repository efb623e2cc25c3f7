"""Coordinates, closures and elements of a mechanism, as tables and as plain data."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats.poses import rpy_from_rotation
from ..model.closures import Closure
from ..model.position_functions import Chosen, Component, Cosine, Distance, JointSum, LinkAngle, PositionFunction, Thread
from ..model.springs import Anchor, Damper, Spring
from .closing import Closing
from .digits import number, numbers
from .sheets import Sheet, sheet

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def phrases(mechanism: Mechanism, found: Closing) -> dict[str, str]:
    """What a mechanism has beyond its tree, a phrase each."""
    names = ", ".join(mechanism.actuated)
    counted, met = found.words
    return {"mobility": counted, "closures": met, "drives": f"at {names}" if names else "none at a joint"}


def tables(mechanism: Mechanism) -> list[Sheet]:
    """Coordinates, closures, elements, and where the joints are."""
    elements: list[Spring | Damper] = [*mechanism.springs, *mechanism.dampers]
    found = [_coordinates(mechanism)]
    if mechanism.closures:
        found.append(_closures(mechanism))
    if elements:
        found.append(_elements(elements))
    return [*found, _seed(mechanism)]


def _coordinates(mechanism: Mechanism) -> Sheet:
    rows = [
        (chosen.name, _about(chosen), _range(chosen), number(value * _scale(chosen)), "°" if chosen.turns else "m")
        for chosen, value in zip(mechanism.coordinates, mechanism.q0.tolist(), strict=True)
    ]
    return sheet("Coordinates", ["coordinate", "what it is", "range", "assembled at", "unit"], rows, left=3)


def _about(chosen: Chosen) -> str:
    words = words_of(chosen.function)
    return "this joint" if words == chosen.name else words


def _scale(chosen: Chosen) -> float:
    return 180 / math.pi if chosen.turns else 1.0


def _range(chosen: Chosen) -> str:
    lower, upper = (bound * _scale(chosen) for bound in (chosen.limits.lower, chosen.limits.upper))
    return f"{number(lower)} … {number(upper)}" if math.isfinite(lower) or math.isfinite(upper) else "–"


def _closures(mechanism: Mechanism) -> Sheet:
    rows = [(c.name, c.type, _between(c), ", ".join(row.what for row in c.rows)) for c in mechanism.closures]
    return sheet("Closures", ["closure", "type", "between", "holds"], rows, left=4)


def _between(closure: Closure) -> str:
    if closure.between is None:
        return "; ".join(f"{words_of(function)} = {number(value)}" for function, value in closure.functions)
    if closure.type in ("gear", "belt"):
        a, b = closure.between
        shift = f" + {number(closure.offset)}" if closure.offset else ""
        return f"{a} = {number(closure.ratio)} · {b}{shift}"
    size = closure.length if closure.length is not None else closure.pitch
    return " and ".join(_place(link, X) for link, X in closure.between) + (f", {number(size)} m" if size is not None else "")


def _place(link: str, X: Any) -> str:
    at = f" at {numbers(X[:3, 3])} m" if X[:3, 3].any() else ""
    rpy = np.degrees(rpy_from_rotation(X[:3, :3]))
    return f"{link}{at}" + (f", turned by {numbers(rpy)} °" if rpy.any() else "")


def _elements(elements: list[Spring | Damper]) -> Sheet:
    rows = [_element(element) for element in elements]
    return sheet("Springs and dampers", ["element", "where", "coefficient", "at rest"], rows, left=2)


def _element(element: Spring | Damper) -> tuple[str, str, str, str]:
    where = f"joint {element.joint}" if element.between is None else " and ".join(map(_point, element.between))
    if isinstance(element, Spring):
        return "spring", where, number(element.stiffness), number(element.rest)
    return "damper", where, number(element.coefficient), "–"


def _seed(mechanism: Mechanism) -> Sheet:
    """The positions of the joints, guessed and assembled."""
    joints = mechanism.robot.structure.coordinates
    rows = []
    for joint, guess, seed in zip(joints, mechanism.guess.tolist(), mechanism.seed.tolist(), strict=True):
        scale, unit = (180 / math.pi, "°") if joint.turns else (1.0, "m")
        rows.append((joint.name, number(guess * scale), number(seed * scale), unit))
    return sheet("Positions of the joints", ["joint", "guess", "assembled", "unit"], rows)


def words_of(function: PositionFunction) -> str:
    """A function of positions in words."""
    if isinstance(function, JointSum):
        terms = [joint if c == 1 else f"{number(c)} {joint}" for joint, c in function.coefficients.items()]
        return " + ".join(terms)
    if isinstance(function, LinkAngle):
        return f"{function.which} of {function.link}"
    if isinstance(function, Component):
        origin = "" if function.a == ("world", (0.0, 0.0, 0.0)) else f" from {_point(function.a)}"
        axes = "" if function.axes in (None, "world") else f" of {function.axes}"
        return f"{_point(function.b)}{origin} along {_axis(function.axis.tolist())}{axes}"
    if isinstance(function, Distance):
        return f"distance of {_point(function.a)} and {_point(function.b)}"
    if isinstance(function, Cosine):
        (a, u), (b, v) = function.a, function.b
        return f"cosine of {_axis(u)} in {a} and {_axis(v)} in {b}"
    if isinstance(function, Thread):
        return f"thread of {number(function.pitch)} m from {function.a[0]} to {function.b[0]}"
    return "a function of the joints"


def _point(end: Anchor) -> str:
    link, point = end
    return f"{link} ({numbers(point)})" if any(point) else link


def _axis(axis: Any) -> str:
    names = {(1.0, 0.0, 0.0): "x", (0.0, 1.0, 0.0): "y", (0.0, 0.0, 1.0): "z"}
    return names.get(tuple(axis), f"({numbers(axis)})")


def record(mechanism: Mechanism, found: Closing) -> dict[str, Any]:
    """The same as plain data, in SI units."""
    return {
        "name": mechanism.name,
        "n": mechanism.n,
        "coordinates": [_coordinate_record(mechanism, k) for k in range(mechanism.n)],
        "closures": [_closure_record(closure) for closure in mechanism.closures],
        "springs": [dataclasses.asdict(spring) for spring in mechanism.springs],
        "dampers": [dataclasses.asdict(damper) for damper in mechanism.dampers],
        "actuated": list(mechanism.actuated),
        "guess": mechanism.guess,
        "seed": mechanism.seed,
        "closing": closing_record(found),
    }


def closing_record(found: Closing) -> dict[str, Any]:
    """How the loops close."""
    return {"freedoms": found.freedoms, **found._asdict()}


def _coordinate_record(mechanism: Mechanism, k: int) -> dict[str, Any]:
    chosen = mechanism.coordinates[k]
    limits = dataclasses.asdict(chosen.limits)
    about = words_of(chosen.function)
    return {"name": chosen.name, "unit": chosen.unit, "about": about, "limits": limits, "assembled_at": mechanism.q0[k]}


def _closure_record(closure: Closure) -> dict[str, Any]:
    return {
        "name": closure.name,
        "type": closure.type,
        "between": closure.between,
        "holds": [{"what": row.what, "function": words_of(row.function), "value": row.value} for row in closure.rows],
        **{key: getattr(closure, key) for key in ("length", "pitch", "ratio", "offset")},
    }
