"""What is said where a mechanism cannot be assembled, has other freedoms than coordinates, or is at a singular pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms.position_rows import goes_round
from ..errors import DalembertWarning, ModelError, SingularError, tell
from ..wording import listed
from .assembled import Assembled
from .half_turns import turned
from .numeric import CLOSED, Rank, nearest, rank_of

DOUBTFUL = 1e6  # condition from which results are told of
LOST = 1e14  # and from which no digit of them is right
FLAT = 1e-9  # share of a pivot at the seed, below which a pose may be as bad as that
GIVEN = 1e-8  # [m | rad]: what given positions may leave open


def check_assembly(mechanism: Assembled) -> None:
    """Refuse a mechanism that has no seed, or whose coordinates do not tell its positions."""
    k = len(mechanism.rows)
    F, J = mechanism.equations(mechanism.seed)
    check_closed(mechanism, F[:k])
    check_turns(mechanism)
    found = rank_of(J[:k])
    freedoms = mechanism.robot.n - found.rank
    if freedoms != mechanism.n:
        raise ModelError(
            f"mechanism {mechanism.name!r}: {mechanism.n} coordinates found ({listed(mechanism.joint_names)}), but it has "
            f"{freedoms} freedoms: {mechanism.robot.n} joints less {found.rank} independent conditions. "
            f"{'Add' if freedoms > mechanism.n else 'Leave out'} {abs(freedoms - mechanism.n)}; dal.mobility names joints "
            "that are fit."
        )
    if mechanism.strict and found.rank < k:
        raise ModelError(
            f"mechanism {mechanism.name!r}: {k - found.rank} of its {k} conditions hold what others hold already "
            f"({redundant_rows(mechanism)}). Use closures that hold less, or strict=False."
        )
    whole = rank_of(J)
    if whole.rank < mechanism.robot.n:
        raise ModelError(
            f"mechanism {mechanism.name!r}: its coordinates depend on each other where it is assembled: "
            f"{direction(mechanism, whole)} moves while all coordinates rest. Choose others, or another guess."
        )


def check_turns(mechanism: Assembled) -> None:
    """Refuse a seed at which frames that are held together are half a turn apart."""
    for closure in mechanism.closures:
        if turned(mechanism.tree, closure, mechanism.seed):
            raise ModelError(
                f"mechanism {mechanism.name!r}: closure {closure.name!r} is met near the guess with frames half a turn apart; "
                "it holds them in one orientation. Give a guess nearer to that, or turn one of its poses."
            )


def redundant_rows(mechanism: Assembled) -> str:
    """The conditions that the order of elimination found to depend on others."""
    names = mechanism.row_names
    return listed([names[k] for k in mechanism.plan.dependent if k < len(names)])


def check_closed(mechanism: Assembled, F: Any) -> None:
    """Refuse positions that leave a closure open: the worst is named, and by how much."""
    values = np.array([row.value for row in mechanism.rows])
    left = np.abs(F - values)
    if not left.size or left.max() <= CLOSED * max(1.0, float(np.abs(values).max(initial=0.0))) * 1e2:
        return
    names = [(closure.name, row.what) for closure in mechanism.closures for row in closure.rows]
    worst, what = names[int(np.argmax(left))]
    raise ModelError(
        f"mechanism {mechanism.name!r}: closure {worst!r} cannot be met: near the guess its condition {what!r} stays off by "
        f"{left.max():.3g}. Check the lengths, or give a guess nearer to where it closes."
    )


def direction(mechanism: Assembled, found: Rank) -> str:
    """The first lost direction, by the joints that take the largest part in it."""
    lost = found.lost_columns[0]
    names = np.array(mechanism.robot.joint_names)
    order = [int(k) for k in np.argsort(-np.round(np.abs(lost), 6), kind="stable") if abs(lost[k]) > 0.1 * np.abs(lost).max()][:4]
    return " ".join(f"{lost[k]:+.2f} {names[k]}" for k in order)


def judge(mechanism: Assembled, q: Any, x: Any, state: Any, start: Any) -> None:
    """Raise for one configuration without positions; warn of some in a batch, and of poses that are nearly singular."""
    missing = np.isnan(x).any(axis=-1)
    lost = missing & np.isfinite(q).all(axis=-1)
    if np.any(lost):
        unreachable(mechanism, q, lost, start)
    judge_pose(mechanism, x, np.where(missing, np.inf, state[..., 1]))


def judge_pose(mechanism: Assembled, x: Any, pivots: Any) -> None:
    """Warn of the pose with the least pivot, if it is nearly singular; NaN and infinity stand for none."""
    pivots = np.where(np.isnan(pivots), np.inf, pivots)
    worst = np.unravel_index(int(np.argmin(pivots)), pivots.shape) if pivots.ndim else ()
    if not np.isfinite(pivots[worst]):
        return
    condition, lost_direction = _condition(mechanism, np.broadcast_to(x, (*pivots.shape, np.shape(x)[-1]))[worst])
    if condition < DOUBTFUL:
        return
    where = f" (row {', '.join(map(str, worst))} is the worst)" if pivots.ndim else ""
    tell(
        DalembertWarning(
            f"mechanism {mechanism.name!r}: near a singular pose{where}: condition {condition:.1e}, and {lost_direction} can "
            "move while the coordinates rest. Results lose as many digits; choose other coordinates there.",
            "near-singular",
        )
    )


def taken(mechanism: Assembled, x: Any, pivots: Any) -> Any:
    """Given positions as they are taken: at a singular pose one configuration is refused, and rows of a batch become NaN."""
    rows, lost = np.broadcast_to(x, (*pivots.shape, np.shape(x)[-1])), np.asarray(pivots < FLAT)
    if lost.any():
        lost[lost] = [_condition(mechanism, row)[0] > LOST for row in rows[lost]]
    if lost.any():
        x = np.where(lost[..., None], np.nan, rows)
        _tell_of_singular(mechanism, rows, lost)
    judge_pose(mechanism, rows, np.where(lost, np.inf, pivots))
    return x


def _tell_of_singular(mechanism: Assembled, x: Any, lost: Any) -> None:
    row = np.unravel_index(int(np.argmax(lost)), lost.shape) if lost.ndim else ()
    sentence = f"{_condition(mechanism, x[row])[1]} can move while the coordinates rest."
    if not lost.ndim:
        raise SingularError(
            f"mechanism {mechanism.name!r}: given positions are a singular pose: {sentence} Choose other coordinates there."
        )
    where, count = ", ".join(map(str, row)), int(np.sum(lost))
    counted = f"{count} of {lost.size} rows {'is' if count == 1 else 'are'} NaN; choose other coordinates there."
    tell(
        DalembertWarning(
            f"mechanism {mechanism.name!r}: given positions of row {where} are a singular pose: {sentence} {counted}",
            "unreachable",
        )
    )


FROM_ASSEMBLE = "Take them from mechanism.assemble(q), or give them as a start with at(near=...)."


def check_given(mechanism: Assembled, q: Any, x: Any, remedy: str = FROM_ASSEMBLE) -> None:
    """Refuse given positions that leave a closure open, or are not those of q; NaN passes, as it does everywhere."""
    F = mechanism.equations(np.asarray(x))[0]
    k = len(mechanism.rows)
    values = np.array([row.value for row in mechanism.rows])
    wanted = np.concatenate([np.broadcast_to(values, (*np.shape(q)[:-1], k)), np.asarray(q, dtype=float)], axis=-1)
    left = np.abs(_short(mechanism, F - wanted))
    worst = float(np.nanmax(left, initial=0.0))
    if worst <= GIVEN:
        return
    names = [f"closure {c.name!r} ({row.what})" for c in mechanism.closures for row in c.rows]
    names += [f"coordinate {name!r}" for name in mechanism.joint_names]
    which = int(np.nanargmax(np.where(np.isnan(left), -1.0, left).reshape(-1, left.shape[-1]).max(axis=0)))
    raise ModelError(f"x: positions of {mechanism.name!r} found that leave {names[which]} off by {worst:.3g}. {remedy}")


def unreachable(mechanism: Assembled, q: Any, lost: Any, start: Any = None) -> None:
    """One configuration is refused; rows of a batch are marked, with a warning that names the first of them."""
    row = np.unravel_index(int(np.argmax(lost)), lost.shape) if lost.ndim else ()
    start = mechanism.seed if start is None else start
    first, near = (np.broadcast_to(array, (*lost.shape, np.shape(array)[-1]))[row] for array in (q, start))
    sentence, singular = _why(mechanism, first, near)
    if not lost.ndim:
        error = SingularError if singular else ModelError
        remedy = "Choose other coordinates there." if singular else "Stay within reach, or start nearer with at(near=...)."
        raise error(f"mechanism {mechanism.name!r}: {sentence} {remedy}")
    count = int(np.sum(lost))
    counted = f"{count} of {lost.size} rows {'is' if count == 1 else 'are'} without positions, and NaN."
    tell(DalembertWarning(f"mechanism {mechanism.name!r}: {sentence} {counted}", "unreachable"))


def _why(mechanism: Assembled, q: Any, start: Any) -> tuple[str, bool]:
    """Which closure cannot be met at these coordinates, and by how much: the nearest positions with all of q met best.

    Where all are met and yet no positions were found, the pose may be singular; then the second result is True.
    """
    if not np.isfinite(start).all():
        return "the positions to start from contain NaN or infinity.", False
    goal = np.array([*(row.value for row in mechanism.rows), *q])
    goal = np.where(_round(mechanism), np.arctan2(np.sin(goal), np.cos(goal)), goal)
    with np.errstate(over="ignore"):  # of coordinates beyond all bounds
        all_found = [nearest(mechanism.equations, goal, x) for x in (start, mechanism.seed)]
    found = min(all_found, key=lambda f: float(np.abs(f.residual).max()))
    left = np.abs(found.residual)
    names = [f"closure {c.name!r} ({row.what})" for c in mechanism.closures for row in c.rows]
    names += [f"coordinate {name!r}" for name in mechanism.joint_names]
    at = ", ".join(f"{name} = {value:.4g}" for name, value in zip(mechanism.joint_names, q, strict=True))
    worst = int(np.argmax(left))
    if left[worst] >= 1e-9:
        return f"it has no positions at {at}: {names[worst]} stays off by {left[worst]:.3g}.", False
    condition, lost_direction = _condition(mechanism, found.x)
    if condition < DOUBTFUL:
        return f"its positions at {at} were not found from the seed.", False
    return f"it is in a singular pose at {at}: {lost_direction} can move while the coordinates rest.", True


def _round(mechanism: Assembled) -> Any:
    """Which of the functions are known up to whole turns only."""
    return np.array([goes_round(function) for function in mechanism.functions])


def _short(mechanism: Assembled, left: Any) -> Any:
    """Differences of all functions, those of angles that go round the short way."""
    return np.where(_round(mechanism), np.arctan2(np.sin(left), np.cos(left)), left)


def _condition(mechanism: Assembled, x: Any) -> tuple[float, str]:
    """The condition of the equations at some positions, and the direction in which the tree moves most easily."""
    J = mechanism.equations(x)[1]
    found = rank_of(J)
    condition = float(found.singular_values[0] / max(found.singular_values[-1], 1e-300))
    return condition, direction(mechanism, found._replace(lost_columns=np.linalg.svd(J)[2][-1:]))
