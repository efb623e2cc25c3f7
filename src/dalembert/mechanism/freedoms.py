"""Freedoms of a mechanism, or of a tree with closures for which coordinates are yet to be chosen."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError
from ..model import Robot
from ..model.closures import Closure
from ..model.position_functions import Chosen
from . import refusals
from .assembled import Assembled
from .closure_equations import ClosureEquations
from .constraint_count import counts
from .finite_motions import FiniteMotions, finite_motions
from .idle_freedoms import idle_freedoms
from .mechanism import Mechanism
from .mobility_result import CoordinateChoice, Mobility
from .numeric import RANK, NumericEquations, rank_of


def mobility(
    system: Mechanism | Robot,
    closures: Iterable[Closure] = (),
    *,
    q: ArrayLike | None = None,
    x: ArrayLike | None = None,
    guess: ArrayLike | None = None,
    coordinates: str | Chosen | Iterable[str | Chosen] = (),
    actuated: Iterable[str] = (),
) -> Mobility:
    """Degrees of freedom at a position, redundant constraints, idle freedoms, internal forces, and joints fit for coordinates.

    Freedoms follow from the rank of the closures' Jacobian (first order), from what second order leaves of them where conditions
    depend on each other, and from closed positions a small step away. Ask it of a tree with closures to learn how many
    coordinates a `Mechanism` of them needs, and which.

    Parameters
    ----------
    system : Mechanism or Robot
        A mechanism, or the tree of one, with N joints.
    closures : iterable of Closure
        With a tree: what closes its loops.
    q : array_like, shape (n,), optional
        With a mechanism: coordinates at which it is assembled; the seed if nothing is given. With an open arm: its joints.
    x : array_like, shape (N,), optional
        Or positions of all joints of the tree, which have to be closed.
    guess : array_like, shape (N,), optional
        Or positions near which it is assembled; all zero if nothing is given with a tree.
    coordinates : iterable of str, Chosen
        Coordinates that one thinks of, to learn how good they are; those of the mechanism if left out.
    actuated : iterable of str
        Joints that have a drive, to learn what they can do against each other; those of the mechanism if left out.

    Returns
    -------
    Mobility
        Its `str` is a short report.

    Examples
    --------
    >>> import dalembert as dal
    >>> rod = [{"a": a, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (0, 0, 0.01)} for a in (0.0, 0.3, 0.7)]
    >>> arm = dal.from_dh(rod, convention="modified", gravity=(0, -9.81, 0))
    >>> pin = dal.Closure("pin", "revolute", (("link3", (0.5, 0, 0)), ("world", (0.9, 0.1, 0))))
    >>> found = dal.mobility(arm, [pin], guess=[1.2, -0.8, -1.6])
    >>> found.freedoms, found.redundant  # a pin that holds in space what the plane holds already
    (1, ('pin z', 'pin axis 1', 'pin axis 2'))
    """
    assembled = _assembled(system, closures, coordinates, actuated)
    equations = ClosureEquations(assembled)
    position = _position(system, assembled, equations, q=q, x=x, guess=guess)
    motions = finite_motions(equations, position)
    return _result(assembled, equations, motions)


def _assembled(
    system: Mechanism | Robot,
    closures: Iterable[Closure],
    coordinates: str | Chosen | Iterable[str | Chosen],
    actuated: Iterable[str],
) -> Assembled:
    """A tree with closures, its coordinates not looked at; a mechanism's own coordinates and drives where no others are given."""
    if not isinstance(system, Mechanism):
        robot = checks.instance("mobility: system", system, Robot)
        return Assembled(robot.name, robot, closures, coordinates, actuated=actuated)
    if not isinstance(closures, tuple) or closures:
        raise ModelError(f"mobility: closures given, but {system.name!r} is a mechanism and has its own. Leave them out.")
    drives = checks.parts("actuated", actuated, str) or system.actuated
    found = Assembled(system.name, system.robot, system.closures, coordinates, system.guess, actuated=drives)
    return found if found.coordinates else found.replace(coordinates=system.coordinates)


def _position(
    system: Mechanism | Robot,
    assembled: Assembled,
    equations: ClosureEquations,
    *,
    q: ArrayLike | None,
    x: ArrayLike | None,
    guess: ArrayLike | None,
) -> FloatArray:
    """The closed position that is asked for."""
    given = [name for name, value in {"q": q, "x": x, "guess": guess}.items() if value is not None]
    if len(given) > 1:
        raise ModelError(f"mobility: {' and '.join(given)} given, but one of them tells the position. Leave out the others.")
    n = assembled.robot.n
    if q is not None:
        start = _at_coordinates(system, assembled, q)
    elif x is not None:
        start = checks.array("x", x, (n,))
        bare = Assembled(assembled.name, assembled.robot, assembled.closures, ())
        refusals.check_given(bare, (), start, "Give them as guess=, near which it is assembled.")
    else:
        start = assembled.seed if guess is None else checks.array("guess", guess, (n,))
    found = equations.nearest(start)
    refusals.check_closed(assembled, found.residual + equations.values)
    return checks.frozen(found.x)


def _at_coordinates(system: Mechanism | Robot, assembled: Assembled, q: ArrayLike) -> FloatArray:
    if not assembled.closures:
        return checks.array("q", q, (assembled.robot.n,))
    if not isinstance(system, Mechanism):
        raise ModelError(f"mobility: q given, but the tree {assembled.name!r} has no coordinates yet. Give x= or guess=.")
    wanted = checks.array("q", q, (system.n,))
    found = system.assemble(wanted)
    if not found.found:
        refusals.unreachable(system, wanted, np.array(True))
    return found.x


def _result(assembled: Assembled, equations: ClosureEquations, motions: FiniteMotions) -> Mobility:
    local, (near, tangent) = motions.local, motions.generic
    scale = equations.joint_scale
    in_its_space, in_space = counts(assembled, local.x)
    branches = tuple(checks.frozen(scale[:, None] * branch.tangent) for branch in motions.branches)
    return Mobility(
        name=assembled.name,
        freedoms=motions.freedoms,
        first_order=local.V.shape[1],
        kind=kind_of(motions),
        x=local.x,
        singular_values=checks.frozen(local.found.singular_values),
        motions=branches[0] if branches else np.zeros((len(scale), 0)),
        branches=branches,
        quadratic_forms=checks.frozen(local.forms),
        conditions=tuple(equations.names),
        redundant=redundant(equations, motions),
        idle=idle_freedoms(assembled, near.x, tangent, scale),
        internal_forces=checks.frozen(local.found.lost_rows * equations.row_scale),
        internal_torques=checks.frozen(_internal_torques(assembled, scale[:, None] * tangent)),
        actuated=assembled.actuated,
        count=in_its_space,
        count_in_space=in_space,
        proposal=proposed(assembled, tangent),
        chosen=_given_choice(assembled, near.x, scale, tangent),
        joint_names=assembled.robot.joint_names,
    )


def kind_of(motions: FiniteMotions) -> str:
    """What sort of position it is, as `Mobility.kind` lists them."""
    first = motions.local.V.shape[1]
    if not first:
        return "rigid"
    if not motions.branches:
        return "doubtful" if len(motions.directions) else "shaky"
    if motions.is_cone:
        return "cone"
    if len(motions.branches) > 1:
        return "bifurcation"
    return "regular" if motions.freedoms == first else "singular"


def redundant(equations: ClosureEquations, motions: FiniteMotions) -> tuple[str, ...]:
    """Names of a largest set of conditions that can be dropped together: what the others hold already, by pivoted QR.

    Where conditions hold only to second order, fewer can be dropped than depend on others to first order: each is tried.
    """
    near = motions.generic[0]
    wanted = max(0, equations.size - equations.columns + motions.freedoms)
    if not wanted:
        return ()
    dependent = pivots(near.J.T)[near.found.rank :]
    dropped = dependent if len(dependent) == wanted else _tried(equations, motions, dependent)
    return tuple(name for k, name in enumerate(equations.names) if k in dropped)


def _tried(equations: ClosureEquations, motions: FiniteMotions, candidates: Sequence[int]) -> list[int]:
    """Those of the candidates without which, one after the other, the freedoms stay as they are."""
    left, dropped = equations, []
    for k in reversed(candidates):
        fewer = left.without(k)
        if finite_motions(fewer, motions.local.x).freedoms == motions.freedoms:
            left = fewer
            dropped.append(k)
    return dropped


def pivots(A: FloatArray) -> list[int]:
    """The columns in the order in which each adds the most to those before."""
    from scipy.linalg import qr  # here, since most programs with mechanisms never ask

    return [int(k) for k in qr(A, mode="r", pivoting=True)[-1]] if A.size else list(range(A.shape[1]))


def proposed(assembled: Assembled, tangent: FloatArray) -> CoordinateChoice:
    """As many joints as there are freedoms, such that no exchange of one joint for another has a better condition."""
    unit = np.eye(len(tangent))
    kept = pivots(tangent.T)[: tangent.shape[1]]
    best, better = condition_of(unit[kept], tangent), True
    while better:
        better = False
        for place, other in itertools.product(range(len(kept)), range(len(tangent))):
            tried = [*kept[:place], other, *kept[place + 1 :]]
            condition = condition_of(unit[tried], tangent)
            if condition < 0.99 * best:  # what is as good is left, and rounding decides nothing
                kept, best, better = tried, condition, True
    return CoordinateChoice(tuple(assembled.robot.joint_names[k] for k in sorted(kept)), best)


def condition_of(C: FloatArray, tangent: FloatArray) -> float:
    """Of coordinates with gradients C along the free motions: the largest rate of joints for a rate |C| of coordinates."""
    if C.shape[0] != tangent.shape[1]:
        return float("inf")
    if not C.size:
        return 1.0
    size, least = np.linalg.norm(C, 2), np.linalg.svd(C @ tangent)[1][-1]
    return max(1.0, float(size / least)) if least > RANK * size else float("inf")


def _given_choice(assembled: Assembled, x: FloatArray, scale: FloatArray, tangent: FloatArray) -> CoordinateChoice | None:
    """The coordinates that a mechanism or the caller has chosen."""
    if not assembled.coordinates:
        return None
    J = NumericEquations(assembled.tree, [chosen.function for chosen in assembled.coordinates])(x)[1]
    units = np.array([1.0 if chosen.turns else 1.0 / assembled.typical_length for chosen in assembled.coordinates])
    return CoordinateChoice(assembled.joint_names, condition_of(units[:, None] * J * scale, tangent))


def _internal_torques(assembled: Assembled, tangent: FloatArray) -> FloatArray:
    """Torques τ of the drives with τᵀ ẋ = 0 in all motions, one per row."""
    index = {name: k for k, name in enumerate(assembled.robot.joint_names)}
    drives = [index[name] for name in assembled.actuated]
    return rank_of(tangent[drives].T).lost_columns if drives else np.zeros((0, 0))


__all__ = ["mobility"]
