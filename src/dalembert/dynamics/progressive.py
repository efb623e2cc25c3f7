"""Dynamics that grow with the robot: an attached part adds its own term, and no kernel of what was there is built again.

The old robot is asked as it is. A new part has kernels of its own, over the screws of the link that carries it (formulations/
screw_growth.py); their results are added to the old ones where the coordinates belong [Laus, §2.4].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.sweep import Unrolled
from ..brief import brief
from ..checks import FloatArray
from ..codegen import build
from ..codegen.arguments import batch_of, real
from ..errors import ModelError, ShapeError, UnknownNameError
from ..expr import Program, Slot, trace
from ..formulations import screw_growth as growth
from ..model import Body, Joint, Link, Robot
from ..model.attach import Addition, addition, detach, joined
from ..model.tree import Tree, tree_of
from ..wording import shown
from .engine import kept, not_a_robot, tree
from .functions import gravity_torque, inverse_dynamics, mass_matrix
from .surroundings import place_of
from .system import Request
from .terms import terms

METHOD = "screw"
_CARRIER = ("J", "Jdot", "gravity")
_TERMS: dict[str, Callable[[growth.Attachment], Any]] = {
    "mass_matrix": growth.Attachment.mass_matrix,
    "coriolis_matrix": growth.Attachment.coriolis_matrix,
    "torques": growth.Attachment.torques,
    "friction": growth.Attachment.friction,
}


class _State(NamedTuple):
    """Positions, velocities and accelerations by coordinate name, each of the same batch shape."""

    names: tuple[str, ...]
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    def places(self, names: Sequence[str]) -> list[int]:
        """Where coordinates stand."""
        return [self.names.index(name) for name in names]


Screws = Mapping[str, FloatArray]  # of a carrier: J, Jdot and gravity


@dataclass(frozen=True, eq=False)
class AttachedPart:
    """An attachment: how to take it off, the link that carries it, the coordinates that move this link, its own ones."""

    name: str
    first: str
    carrier: str
    columns: tuple[str, ...]
    joints: tuple[str, ...]
    tree: Tree = field(repr=False)
    kernels: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """A copy compiles its own kernels, or finds their code on disk."""
        return self.__dict__ | {"kernels": {}}

    @property
    def coordinates(self) -> tuple[str, ...]:
        """All that move it."""
        return self.columns + self.joints

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """What its kernels take, with shapes; what would be empty is left out."""
        k, n = len(self.columns), len(self.coordinates)
        shapes = {"J": (6, k), "Jdot": (6, k), "gravity": (3,), "q": (len(self.joints),), "qd": (n,), "qdd": (n,)}
        return {name: shape for name, shape in shapes.items() if 0 not in shape}

    def holds(self, link: str) -> bool:
        """Whether a link is one of its own."""
        return link in self.tree.links and link not in (_GROUND, self.carrier)

    def term_program(self, what: str) -> Program:
        """The program of what it adds to a matrix or torque."""
        return self._traced(what, [what], lambda on, q, qd, qdd: _TERMS[what](growth.attachment(self.tree, on, q, qd, qdd)))

    def carrier_program(self, link: str) -> Program:
        """The program of the screws of one of its links."""
        place = self.tree.links[link]
        return self._traced("carrier", _CARRIER, lambda on, q, qd, qdd: growth.attached_carrier(self.tree, place, on, q, qd))

    def _traced(self, name: str, outputs: Sequence[str], function: Callable[..., Any]) -> Program:
        none: list[list[Any]] = [[] for _ in range(6)]

        def of_inputs(*given: Any) -> Any:
            values = {"J": none, "Jdot": none, "q": [], "qd": [], "qdd": []} | dict(zip(self.inputs, given, strict=True))
            on = growth.Carrier(values["J"], values["Jdot"], values["gravity"])
            return function(on, values["q"], values["qd"], values["qdd"])

        return trace(of_inputs, self.inputs, outputs, name=f"attached_{name}")

    def term(self, what: str, on: Screws, state: _State) -> FloatArray:
        """What it adds to a matrix or torque."""
        found: FloatArray = self._run(("term", what), lambda: self.term_program(what), on, state)
        return found

    def screws(self, link: str, on: Screws, state: _State) -> Screws:
        """The screws of one of its links."""
        found = self._run(("carrier", link), lambda: self.carrier_program(link), on, state)
        return dict(zip(_CARRIER, found, strict=True))

    def _run(self, key: tuple[str, str], make: Callable[[], Program], on: Screws, state: _State) -> Any:
        run = kept(self, Request(key[0], key[1:]), lambda: build(make()))
        own, every = state.places(self.joints), state.places(self.coordinates)
        given = {**on, "q": state.q[..., own], "qd": state.qd[..., every], "qdd": state.qdd[..., every]}
        return run(*(given[name] for name in self.inputs))


_GROUND, _STAND_IN = "(ground)", "(carrier)"


def _part(robot: Robot, added: Addition) -> AttachedPart:
    leader = added.joints[0].mimic
    if leader is not None:
        raise ModelError(
            f"progressive: joint {added.name!r} follows {leader.joint!r} of the robot as it is, so that no coordinate is added. "
            "Use dal.attach, and ask for the whole."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is doubtful about the part is said when the grown robot is built
        alone = Robot.from_parts(
            added.name,
            [Link(_GROUND), Link(added.parent, virtual=True), *added.links],
            [Joint(_STAND_IN, "revolute", _GROUND, added.parent), *added.joints],
            friction=added.friction,
            rotors=added.rotors,
        )
    columns = _moving(robot, added.parent)
    return AttachedPart(added.name, added.joints[0].child, added.parent, columns, alone.joint_names[1:], tree_of(alone))


def _moving(robot: Robot, link: str) -> tuple[str, ...]:
    """The coordinates that move a link."""
    leading = {joint.child: joint for joint in robot.structure.joints}
    found = set()
    while link in leading:
        joint = leading[link]
        if joint.moves:
            found.add(joint.name if joint.mimic is None else joint.mimic.joint)
        link = joint.parent
    return tuple(name for name in robot.joint_names if name in found)


@dataclass(frozen=True, eq=False)
class Progressive:
    """The dynamics of a robot that grows and shrinks, as the sum of what was there and what was attached.

    Made by `progressive(robot)`. `robot` is the whole robot as it is now, `base` the one at the beginning, `parts` what has been
    attached since. Each method gives what the function of the same name gives for `robot`.
    """

    robot: Robot
    base: Robot = field(repr=False)
    parts: tuple[AttachedPart, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return brief(self, parts=len(self.parts))

    def attach(self, part: Body | Robot, *, joint: Joint | str | None = None, parent: str | None = None) -> Progressive:
        """With a part attached, as by `dal.attach`; the terms that are there stay."""
        added = addition(self.robot, part, joint, parent)
        return Progressive(joined(self.robot, added), self.base, (*self.parts, _part(self.robot, added)))

    def detach(self, name: str) -> Progressive:
        """Without an attached part and all that hangs on it, by the name of its link, body or robot."""
        if not isinstance(name, str):
            raise UnknownNameError(f"detach: {shown(name)} found, the name of an attached part expected.")
        gone: list[AttachedPart] = []
        for part in self.parts:
            if name in (part.name, part.first) or any(other.holds(part.carrier) for other in gone):
                gone.append(part)
        if not gone:
            raise UnknownNameError.among("detach: attached part", name, [part.name for part in self.parts])
        kept_parts = tuple(part for part in self.parts if part not in gone)
        return Progressive(detach(self.robot, gone[0].first) if kept_parts else self.base, self.base, kept_parts)

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """M(q), shape (..., n, n), for q of shape (..., n)."""
        state = self._state(q)
        return self._sum("mass_matrix", mass_matrix(self.base, self._old(state).q, formulation=METHOD), state)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """C(q, q̇) of Christoffel symbols, shape (..., n, n), for q and q̇ of shape (..., n)."""
        state = self._state(q, qd)
        old = self._old(state)
        return self._sum("coriolis_matrix", terms(self.base, old.q, old.qd, formulation=METHOD, names=["C"])["C"], state)

    def gravity_torque(self, q: ArrayLike) -> FloatArray:
        """g(q), shape (..., n), for q of shape (..., n)."""
        state = self._state(q)
        return self._sum("torques", gravity_torque(self.base, self._old(state).q, formulation=METHOD), state)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """τ = M q̈ + C q̇ + g + friction, shape (..., n), for arguments of shape (..., n)."""
        state = self._state(q, qd, qdd)
        old = self._old(state)
        tau = self._sum("torques", inverse_dynamics(self.base, old.q, old.qd, old.qdd, formulation=METHOD), state)
        for part in self.parts:
            if any(s.friction is not None for s in part.tree.segments):
                places = state.places(part.coordinates)
                tau[..., places] += part.term("friction", self._carried(part.carrier, state), state)
        return tau

    def _state(self, *given: ArrayLike) -> _State:
        n = self.robot.n
        slots = [Slot(name, (n,)) for name, _ in zip(("q", "qd", "qdd"), given, strict=False)]
        arrays = [real(slot.name, values, f"(..., {n})") for slot, values in zip(slots, given, strict=True)]
        for slot, array in zip(slots, arrays, strict=True):
            if array.shape[-1:] != (n,):
                raise ShapeError(
                    f"{slot.name}: shape {array.shape} found, but {self.robot.name!r} has {n} coordinates now: "
                    f"(..., {n}) expected."
                )
        batch_of(slots, arrays)
        q, qd, qdd = np.broadcast_arrays(*arrays, *([np.zeros(n)] * (3 - len(arrays))))
        return _State(self.robot.joint_names, q, qd, qdd)

    def _old(self, state: _State) -> _State:
        places = state.places(self.base.joint_names)
        return _State(self.base.joint_names, *(values[..., places] for values in (state.q, state.qd, state.qdd)))

    def _sum(self, what: str, old: FloatArray, state: _State) -> FloatArray:
        """What was there and what the parts add, each where its coordinates belong, zeros elsewhere."""
        matrix = what.endswith("matrix")
        total = np.zeros(state.q.shape + (state.q.shape[-1],) * matrix)
        total[_block(state.places(self.base.joint_names), matrix)] = old
        for part in self.parts:
            if part.coordinates:  # a body fixed to the base moves nothing
                block = _block(state.places(part.coordinates), matrix)
                total[block] += part.term(what, self._carried(part.carrier, state), state)
        return total

    def _carried(self, link: str, state: _State) -> Screws:
        """The screws of a link that carries a part, from whoever the link belongs to."""
        for part in self.parts:
            if part.holds(link):
                return part.screws(link, self._carried(part.carrier, state), state)
        old = self._old(state)
        run = kept(self.base, Request("carrier", (link,)), lambda: build(carrier_program(self.base, link)))
        found = run(old.q, old.qd)
        return dict(zip(_CARRIER, found, strict=True)) if isinstance(found, tuple) else {"gravity": found}


def _block(places: list[int], matrix: bool) -> tuple[Any, ...]:
    return (..., *np.ix_(places, places)) if matrix else (..., places)


def carrier_program(robot: Robot, link: str) -> Program:
    """The program of the screws of one of the robot's links; those of a link at rest are gravity alone."""
    segments = tree(robot)
    place = place_of(segments, link)

    def function(q: Any, qd: Any) -> Any:
        found = growth.carrier(Unrolled(segments), place, q, qd)
        return found if place.segment >= 0 else found.gravity

    outputs = _CARRIER if place.segment >= 0 else _CARRIER[2:]
    return trace(function, {"q": (segments.n,), "qd": (segments.n,)}, outputs, name="carrier")


def progressive(robot: Robot) -> Progressive:
    """The dynamics of a robot to which parts will be attached, and taken off again, without compiling it anew.

    For tools that change, loads on hooks, reconfigurable arms: an attachment costs the compiling of its own term only. Where a
    robot stays as it is, ask `mass_matrix` and the others, which are faster.

    Parameters
    ----------
    robot : Robot
        The robot at the beginning, with at least one coordinate.

    Returns
    -------
    Progressive
        With methods `attach` and `detach`, and `mass_matrix`, `coriolis_matrix`, `gravity_torque`, `inverse_dynamics`, whose
        arguments have shape (..., n).

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.progressive(dal.robots.pelican())
    >>> loaded = arm.attach(dal.Link("load", 1.5, (0.1, 0, 0)), joint="revolute")
    >>> loaded.mass_matrix([0.4, -0.9, 1.3]).shape
    (3, 3)
    >>> loaded.detach("load").mass_matrix([0.4, -0.9]).shape
    (2, 2)
    """
    if not isinstance(robot, Robot):
        raise not_a_robot(robot)
    tree(robot)
    return Progressive(robot, robot)


__all__ = ["Progressive", "progressive"]
