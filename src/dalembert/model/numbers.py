"""The numbers of a robot as named parameters: m_1, l_1, a_1, I_1, k_r1, named as a person would on paper.

A number belongs to a family, such as the entries of one tensor. Where a single member of a family acts in the equations of
motion, it takes the family's short name: of a planar arm's tensors only the moment about the axis acts, and is called I_1
instead of I_1zz. In a robot whose rotors have masses, links are m_l1, I_l1 beside rotors m_m1, I_m1 [Siciliano, Eq. 7.82].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..checks import FloatArray
from ..spatial import Vec3

KINDS = {
    "masses": "of links, bodies, payload and rotors",
    "lengths": "between joints, of centres of mass, of the tool",
    "inertias": "of links, bodies, payload and rotors",
    "gravity": "its size; its direction stays",
    "gears": "gear ratios",
    "friction": "coefficients of joint friction",
}
_POSITIVE = frozenset("le")  # a distance alone is positive, its direction being part of the equations
_AXES = "xyz"
_LAST = 1_000_000  # a payload stands behind every link


class NumberKey(NamedTuple):
    """What a number is, whatever its name: letter, index (`1`, `m1`, `l1_2`), and which entry of a vector or tensor."""

    stem: str
    sub: str
    member: str


class Number(NamedTuple):
    """A number of a robot that could be a symbol."""

    key: NumberKey
    value: float
    unit: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class Parameter:
    """A number of a robot under its name, such as `I_m1`, in LaTeX `I_{m_1}`; the number is `sign` times its value."""

    name: str
    latex: str
    value: float
    unit: str
    kind: str
    meaning: str
    sign: float = 1.0
    order: tuple[Any, ...] = ()  # link by link, inertias before masses: the order of terms on paper


class Numbers:
    """Numbers handed out as whatever `scalar` makes of them; what is zero stays 0.0."""

    def __init__(self, heavy_rotors: bool, scalar: Callable[[Number], Any]) -> None:
        self._mark = "l" if heavy_rotors else ""
        self._scalar = scalar
        self._known: dict[NumberKey, float] = {}

    def _give(self, key: NumberKey, value: float, unit: str, kind: str, meaning: str) -> Any:
        if not value:
            return 0.0
        assert self._known.setdefault(key, value) == value, key  # a name stands for one number
        return self._scalar(Number(key, float(value), unit, kind, meaning))

    def _of_link(self, sub: str) -> str:
        return f"{self._mark}{sub}" if sub[0].isdigit() else sub

    def length(self, stem: str, sub: str, member: str, value: float, meaning: str) -> Any:
        """A length."""
        return self._give(NumberKey(stem, sub, member), value, "m", "lengths", meaning)

    def mass(self, sub: str, value: float, what: str) -> Any:
        """The mass of a body."""
        return self._give(NumberKey("m", self._of_link(sub), ""), value, "kg", "masses", f"mass of {what}")

    def centre(self, sub: str, values: FloatArray, what: str) -> Vec3:
        """Where a centre of mass is, seen from the joint."""
        start = f"centre of mass of {what} from its joint, along"
        return Vec3(*(self.length("l", sub, _AXES[k], value, f"{start} {_AXES[k]}") for k, value in enumerate(values)))

    def moment(self, sub: str, pair: str, value: float, what: str) -> Any:
        """An entry of a tensor of inertia."""
        meaning = f"inertia {pair} of {what} about its centre of mass"
        return self._give(NumberKey("I", self._of_link(sub), pair), value, "kg m²", "inertias", meaning)

    def rotor_inertia(self, joint: int, value: float, name: str) -> Any:
        """The inertia of a rotor about its axis."""
        meaning = f"inertia of the rotor of joint {name!r} about its axis"
        return self._give(NumberKey("I", f"m{joint}", ""), value, "kg m²", "inertias", meaning)

    def transverse_inertia(self, joint: int, value: float, name: str) -> Any:
        """The inertia of a rotor across its axis."""
        meaning = f"inertia of the rotor of joint {name!r} across its axis"
        return self._give(NumberKey("J", f"m{joint}", ""), value, "kg m²", "inertias", meaning)

    def gear(self, joint: int, value: float, name: str) -> Any:
        """A gear ratio."""
        return self._give(NumberKey("k", f"r{joint}", ""), value, "1", "gears", f"gear ratio of joint {name!r}")

    def gravity(self, value: float) -> Any:
        """The size of the gravitational acceleration."""
        return self._give(NumberKey("g", "", ""), value, "m/s²", "gravity", "gravitational acceleration")

    def friction(
        self, stem: str, joint: int, mark: str, value: float, what: str, name: str, unit: str = "N m | N", sign: str = ""
    ) -> Any:
        """A coefficient of friction."""
        return self._give(NumberKey(stem, f"{mark}{joint}", sign), value, unit, "friction", f"{what} of joint {name!r}")


def parameters(numbers: Iterable[Number], acting: Collection[NumberKey]) -> dict[NumberKey, Parameter]:
    """Names for numbers, given which of them act in the equations of motion."""
    families: dict[tuple[str, str], list[Number]] = {}
    for number in dict.fromkeys(numbers):
        families.setdefault(number.key[:2], []).append(number)
    found = {}
    for members in families.values():
        act = [number.key for number in members if number.key in acting] or [number.key for number in members]
        for number in members:
            found[number.key] = _named(number, short=len(act) == 1 and number.key == act[0])
    return found


def _named(number: Number, *, short: bool) -> Parameter:
    stem, sub, member = number.key
    alone = short and member not in "+-"
    sign = -1.0 if alone and stem in _POSITIVE and number.value < 0 else 1.0
    meaning = number.meaning if sign > 0 else f"{number.meaning} backwards"
    shown = "" if alone else member
    return Parameter(
        _identifier(stem, sub, shown),
        _latex(stem, sub, shown),
        number.value * sign,
        number.unit,
        number.kind,
        meaning,
        sign,
        _order(number),
    )


def _identifier(stem: str, sub: str, member: str) -> str:
    tail = f"{sub}{member.replace('+', 'p').replace('-', 'n')}"
    return f"{stem}_{tail}" if tail else stem


def _latex(stem: str, sub: str, member: str) -> str:
    letter = {"l": r"\ell"}.get(stem, stem)
    mark, digits = _parsed(sub)
    number = digits.replace("_", ",")
    inner = {"m": f"m_{number}", "l": rf"\ell_{number}" if len(number) == 1 else rf"\ell_{{{number}}}"}.get(mark, mark + number)
    if member in ("+", "-"):
        return f"{letter}_{{{inner}}}^{{{member}}}"
    inner = ",".join(part for part in (inner, member) if part)
    return f"{letter}_{{{inner}}}" if inner else letter


def _parsed(sub: str) -> tuple[str, str]:
    """`m12` is ('m', '12'), `1_2` is ('', '1_2')."""
    found = re.fullmatch(r"([a-z]*)([\d_]*)", sub)
    assert found is not None
    return found.group(1), found.group(2)


def _order(number: Number) -> tuple[Any, ...]:
    """Kind by kind as factors of a product stand; within it link by link, the link before its rotor, inertia before mass."""
    stem, sub, member = number.key
    mark, digits = _parsed(sub)
    place = tuple(int(part) for part in digits.split("_")) if digits else (_LAST,)
    kinds = ("gears", "inertial", "lengths", "gravity")
    kind = number.kind if number.kind in kinds else "inertial"
    return kinds.index(kind), place[0], mark == "m", "IJmFvw".find(stem), place[1:], "adble".find(stem), member
