"""How a graph depends on coordinates: its degree as a trigonometric polynomial of each angle, and as a polynomial of each slide.

A degree is an upper bound that follows from the operations: the true one is often lower, since rotations there and back cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..expr import Expr
from .rate_polynomial import NotPolynomialError


class _Reading(NamedTuple):
    """The degree in each coordinate, and, while it is a sum of whole multiples of coordinates and numbers, these multiples."""

    degrees: dict[str, int]
    multiples: dict[str, float] | None


def degrees(nodes: Iterable[Expr], outputs: Iterable[Expr], angles: Mapping[str, bool]) -> dict[str, int]:
    """The largest degree of the outputs in each coordinate they depend on; `angles` tells which coordinates turn.

    Raises `NotPolynomialError` where an output is no such polynomial.
    """
    found: dict[Expr, _Reading] = {}
    for node in nodes:
        found[node] = _reading(node, [found[a] for a in node.args], angles)
    most: dict[str, int] = {}
    for output in outputs:
        _check_angles(found[output], angles)
        for name, degree in found[output].degrees.items():
            most[name] = max(most.get(name, 0), degree)
    return {name: degree for name, degree in most.items() if degree}


def _check_angles(reading: _Reading, angles: Mapping[str, bool]) -> None:
    """An angle outside of sines and cosines belongs to no trigonometric polynomial."""
    if reading.multiples and any(angles[name] for name in reading.multiples):
        raise NotPolynomialError


def _reading(node: Expr, args: list[_Reading], angles: Mapping[str, bool]) -> _Reading:
    if node.op == "const":
        return _Reading({}, {})
    if node.op == "input":
        return _Reading({} if angles[node.value] else {node.value: 1}, {node.value: 1.0})
    if node.op in ("add", "sub", "neg"):
        return _combined(node.op, args)
    if node.op in ("sin", "cos"):
        return _sine(args[0], angles)
    if node.op == "mul":
        for number, other in ((0, 1), (1, 0)):
            if node.args[number].op == "const" and args[other].multiples is not None:
                factor = _whole(node.args[number].value)
                return _Reading(args[other].degrees, {k: v * factor for k, v in (args[other].multiples or {}).items()})
    elif not (node.op == "div" and node.args[1].op == "const"):
        if any(a.degrees or a.multiples for a in args):
            raise NotPolynomialError
        return _Reading({}, {})
    for a in args:
        _check_angles(a, angles)
    names = {name for a in args for name in a.degrees}
    return _Reading({name: sum(a.degrees.get(name, 0) for a in args) for name in names}, None)


def _combined(op: str, args: list[_Reading]) -> _Reading:
    names = {name for a in args for name in a.degrees}
    most = {name: max(a.degrees.get(name, 0) for a in args) for name in names}
    if any(a.multiples is None for a in args):
        if any(a.multiples for a in args):
            for a in args:
                _no_angle(a)
        return _Reading(most, None)
    total: dict[str, float] = {}
    for k, a in enumerate(args):
        sign = -1.0 if op == "neg" or (op == "sub" and k) else 1.0
        for name, value in (a.multiples or {}).items():
            total[name] = total.get(name, 0.0) + sign * value
    return _Reading(most, total)


def _no_angle(reading: _Reading) -> None:
    """A slide has a degree beside its multiple; an angle has none, and is lost in a sum with other things."""
    if any(name not in reading.degrees for name in reading.multiples or {}):
        raise NotPolynomialError


def _whole(factor: float) -> float:
    """A factor of an angle, if it is a whole number; products of others may be one by rounding only, so they are not."""
    return factor if math.isfinite(factor) and factor == round(factor) else math.nan


def _sine(arg: _Reading, angles: Mapping[str, bool]) -> _Reading:
    if arg.multiples is None or any(not angles[name] or math.isnan(value) for name, value in arg.multiples.items()):
        raise NotPolynomialError
    return _Reading({name: int(abs(value)) for name, value in arg.multiples.items() if value}, None)
