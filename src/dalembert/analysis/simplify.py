"""Reduced models: torques without the terms that do not matter for one robot on one trajectory or in one workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import dynamics as dyn
from ..bounds import Bounds
from ..bounds import bounds as bounded
from ..bounds.input_ranges import positive
from ..checks import FloatArray, choice, flag, numbers
from ..codegen import Kernel, portable
from ..dynamics import engine
from ..dynamics.system import AnySystem, solves
from ..errors import ModelError, ShapeError
from ..expr.operation_counts import Counts, counts
from ..expr.rewrite import weight
from ..options import generator
from ..options import samples as whole_samples
from ..wording import shown
from . import reduce, text_tables, worst
from .causes import CAUSES, DRIVE, DRIVE_CAUSES, PieceKey
from .costs import pair, program_of
from .prune import DroppedTerm, Samples
from .reduce import EVERY, Reduced, Study
from .workspace import State, Workspace, workspace_of

_DESIGN = 600  # samples on which terms are weighed
_CHECK = 4000  # samples on which a budget is judged while it is searched
_HALVINGS = 7
_FINE = 0.02  # of the budget: what is not searched further
_SHARES = (1.0, 1.0, 1.0, 0.9, 0.8, 0.6, 0.4, 0.2)  # of the tolerance that is aimed at, one after the other
_DUST = 1e-9  # a largest torque of less than this, beside those of other joints, is rounding
_ROUNDING = 1e-12  # pieces smaller than this are zeros
_MUCH = 2.0  # times the operations of Newton-Euler: a closed form that starts from more is not tried


class Piece(NamedTuple):
    """A part of the torque: its cause, the joint it acts on and the link it comes from ('' where no single one is meant), and
    its largest size over the samples, relative to the joint's largest torque.
    """

    cause: str
    joint: str
    link: str
    size: float


class OperationSaving(NamedTuple):
    """Operations of the exact (compiled Newton-Euler) and of the reduced model."""

    before: Counts
    after: Counts

    @property
    def saved(self) -> float:
        """The share of multiplications and additions that is gone."""
        return 1.0 - self.after.flops / self.before.flops if self.before.flops else 0.0


@dataclass(frozen=True, eq=False)
class SimplifiedModel:
    """Inverse dynamics with terms left out, and how wrong that is; `print` it for a table, draw it with `plots.simplification`.

    Errors are per joint, of shape (n,), in `units`; relative ones are by `scale`, the largest torque of the joint. `error` is
    the largest error found. For a trajectory it is that of all its samples: it holds for them exactly, and says nothing of
    others. For a workspace, both `error` and `scale` are maxima to which a search from many states of the box and from its
    corners has come: they are attained. That no error is larger than `proved.size` is proved, where this was asked for; else
    `proved` is None.

    `dropped` lists what is left out. `contributions` lists the parts of the exact torque by cause, joint and link, the
    largest first; `by_cause` has the same for all links together, shape (len(CAUSES), n), relative to `scale`.
    """

    robot: str
    joints: tuple[str, ...]
    units: tuple[str, ...]
    form: str
    over: str
    tolerance: float
    samples: int
    scale: FloatArray
    error: FloatArray
    dropped: tuple[Piece, ...]
    contributions: tuple[Piece, ...]
    by_cause: FloatArray
    operations: OperationSaving
    kernel: Kernel = field(repr=False)
    proved: Bounds | None = None

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None, threads: int | None = None
    ) -> FloatArray:
        """Joint torques by the reduced model, for q, q̇, q̈ of shape (..., n); `out`, `threads` as in `dal.inverse_dynamics`."""
        return self.kernel(q, qd, qdd, out=out, threads=threads)

    @property
    def relative_error(self) -> float:
        """The largest error found at any joint, beside the joint's largest torque; not above the tolerance."""
        return float((self.error / self.scale).max())

    @property
    def proved_error(self) -> float | None:
        """What no error exceeds at any joint, beside the joint's largest torque found; None where it was not asked for."""
        return None if self.proved is None else float((self.proved.size / self.scale).max())

    def summary(self) -> str:
        """What was saved and what it costs, in a line."""
        before, after = self.operations
        saved = self.operations.saved
        proof = "" if self.proved_error is None else f", proved below {self.proved_error:.2%}"
        return (
            f"{self.robot!r} simplified over {self.over}, {self.form} form: {pair(before)} to {pair(after)} operations "
            f"({abs(saved):.0%} {'fewer' if saved >= 0 else 'more'}), "
            f"largest error found {self.relative_error:.2%} (tolerance {self.tolerance:.2%}){proof}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary()})"

    def __str__(self) -> str:
        return "\n\n".join([text_tables.text(*error_table(self, self.summary())), text_tables.text(*dropped_table(self), left=3)])


Content = tuple[str, list[str], list[list[str]]]


def error_table(model: SimplifiedModel, title: str = "Errors") -> Content:
    """Title, heads and rows of the errors by joint."""
    columns = [model.scale, model.error, *([] if model.proved is None else [model.proved.size])]
    names = zip(model.joints, model.units, strict=True)
    rows = [[name, *(text_tables.number(float(c[i])) for c in columns), unit] for i, (name, unit) in enumerate(names)]
    proof = [] if model.proved is None else ["no error above"]
    return title, ["joint", "largest torque", "largest error found", *proof, ""], rows


def dropped_table(model: SimplifiedModel) -> Content:
    """Title, heads and rows of what is left out, the largest first, terms of the graph taken together by cause."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for piece in model.dropped:
        groups.setdefault(piece[:3], []).append(piece.size)
    ordered = sorted(groups.items(), key=lambda item: -max(item[1]))
    rows = [[*key, str(len(sizes)), f"{max(sizes):.2%}"] for key, sizes in ordered]
    return "Left out", ["cause", "joint", "link", "terms", "largest"], rows


def simplify_model(
    system: AnySystem,
    *,
    trajectory: Sequence[ArrayLike] | None = None,
    workspace: Workspace | None = None,
    tolerance: float = 0.01,
    form: str = "auto",
    samples: int = 20_000,
    rng: np.random.Generator | None = None,
    proved: bool = False,
    seconds: float = 60.0,
) -> SimplifiedModel:
    """The cheapest model found whose torques stay within a tolerance, on a trajectory or in a workspace.

    Left out are whole causes (rotational or translational inertia, coupling, Coriolis and centrifugal torque, gravity, rotor
    coupling, friction; by joint and link) [Lee, §3], and single summands of the traced equations, the least important
    per operation saved first. The largest error is then searched for: on all samples of the trajectory, or from many states of
    the workspace and from its corners. States where it is too large are added to those the model is made on, until the
    tolerance holds for all that is found.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    trajectory : three array_like, shape (..., n), optional
        q, q̇ and q̈ of the motion the model is for.
    workspace : Workspace, optional
        The states the model is for, if there is no trajectory; `Workspace.of(system)` if left out.
    tolerance : float
        The largest error allowed at any joint, relative to the joint's largest torque; both as far as they are found.
    form : {'auto', 'recursive', 'closed'}
        Newton-Euler from which causes are removed for all joints at once, or the sum of torques by cause, joint and link of
        [Lee, §3], which says more and mostly takes more operations; 'auto' is the cheaper one.
    samples : int
        Random states of the workspace, from the worst of which the search for the largest error starts.
    rng : numpy.random.Generator, optional
        Where they come from; the same ones each time if left out.
    proved : bool
        Whether to prove a bound of the error over the workspace too, by `bounds`: `proved.size` of the result. It is a few
        percent above the error found, and so may be above the tolerance.
    seconds : float
        How long the proof may take.

    Returns
    -------
    SimplifiedModel
        With `inverse_dynamics(q, qd, qdd)`, `dropped`, `operations`, and `error`, the largest found; `print` it for a table.

    Examples
    --------
    >>> import dalembert as dal
    >>> model = dal.simplify_model(dal.robots.two_link_planar(), tolerance=0.02)
    >>> bool(model.relative_error <= 0.02)
    True
    """
    engine.size(system)
    if solves(engine.system_of(system)):
        raise ModelError(
            f"simplify_model: the positions of {system.name!r} are found by iteration, in which nothing can be left out. "
            "Simplify the tree, mechanism.robot."
        )
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.number)) or not 0.0 < tolerance < 1.0:
        raise ModelError(f"tolerance: {shown(tolerance)} found; a share of the largest torque, such as 0.01, is expected.")
    if trajectory is not None and workspace is not None:
        raise ModelError("simplify_model: a trajectory and a workspace found; the error is measured on one of them. Give one.")
    choice("form", form, {"auto": 0, **FORMS})
    rng, samples = generator(rng), whole_samples("samples", samples)
    proved, seconds = flag("proved", proved), positive("seconds", seconds)
    if trajectory is not None:
        if proved:
            raise ModelError(
                "simplify_model: a proof along a trajectory was asked for; it is for a workspace. Leave `proved` out."
            )
        return _searched(system, _along(system, trajectory), tolerance, form)
    box = workspace_of(system, workspace)
    model = _searched(system, _within(system, box, rng, samples), tolerance, form)
    return replace(model, proved=_proof(system, model, box, seconds)) if proved else model


def _proof(system: AnySystem, model: SimplifiedModel, box: Workspace, seconds: float) -> Bounds:
    """Bounds of the error over the box."""
    q, qd, qdd = ((box.lower, box.upper), (-box.velocity, box.velocity), (-box.acceleration, box.acceleration))
    return bounded(system, model, q=q, qd=qd, qdd=qdd, seconds=seconds)


class _Found(NamedTuple):
    """The largest error found at each joint, shape (n,), and states where it is large, if there are others than the samples."""

    error: FloatArray
    state: State | None


class _Ground(NamedTuple):
    """Where a model has to hold: samples to design and to judge it on, and how its largest error is found."""

    robot: AnySystem
    over: str
    samples: int
    design: Samples
    check: Samples
    measured: Callable[[Kernel], _Found]

    def with_states(self, state: State) -> _Ground:
        """With more states to design and to judge on."""
        more = _samples(self.robot, state, self.check.scale)
        return self._replace(design=self.design.joined(more), check=self.check.joined(more))


def _samples(robot: AnySystem, state: State, scale: FloatArray) -> Samples:
    return Samples(tuple(state), dyn.inverse_dynamics(robot, *state), scale)


def _scale(largest: FloatArray) -> FloatArray:
    """What errors are measured by: the largest torque of each joint; a joint without torque is measured by the others."""
    most = largest.max(initial=0.0)
    return np.where(largest > _DUST * most, largest, most or 1.0)


def _within(robot: AnySystem, box: Workspace, rng: np.random.Generator, count: int) -> _Ground:
    """Half of the samples are random states, half have their rates at corners of the box, where errors are largest."""
    drawn = box.sample(rng, count)
    cornered = worst.at_corners(box, drawn, rng)
    torque = worst.largest(partial(dyn.inverse_dynamics, robot), box, drawn, rng)
    scale = _scale(torque.size)

    def some(each: int) -> Samples:
        return _samples(
            robot, State(*(np.concatenate([a[:each], b[:each]]) for a, b in zip(drawn, cornered, strict=True))), scale
        )

    def measured(kernel: Kernel) -> _Found:
        return _Found(*worst.largest(lambda *x: kernel(*x) - dyn.inverse_dynamics(robot, *x), box, drawn, rng))

    return _Ground(robot, "the workspace", count, some(_DESIGN // 2), some(_CHECK // 2), measured)


def _along(robot: AnySystem, trajectory: Any) -> _Ground:
    n = engine.size(robot)
    if not isinstance(trajectory, (list, tuple, np.ndarray)) or getattr(trajectory, "ndim", 1) == 0:
        raise ShapeError(f"trajectory: {shown(trajectory)} found; q, qd, qdd of shape (..., {n}) are expected.")
    arrays = [numbers("trajectory", x, f"q, qd, qdd of shape (..., {n}) are expected", ShapeError) for x in trajectory]
    if len(arrays) != 3 or any(x.shape[-1:] != (n,) for x in arrays) or not all(np.isfinite(x).all() for x in arrays):
        shapes = ", ".join(str(x.shape) for x in arrays)
        raise ShapeError(f"trajectory: shapes {shapes} found; finite q, qd, qdd of shape (..., {n}) are expected.")
    state = State(*(x.reshape(-1, n) for x in np.broadcast_arrays(*arrays)))
    if not len(state.q):
        raise ShapeError("trajectory: no sample found; at least one is expected.")
    exact = dyn.inverse_dynamics(robot, *state)
    every = Samples(tuple(state), exact, _scale(np.abs(exact).max(axis=0)))
    some = np.linspace(0, len(state.q) - 1, min(_DESIGN, len(state.q))).astype(int)
    design = Samples(tuple(x[some] for x in state), exact[some], every.scale)

    def measured(kernel: Kernel) -> _Found:
        return _Found(np.abs(kernel(*state) - exact).max(axis=0), None)

    return _Ground(robot, "the trajectory", len(exact), design, every, measured)


def _searched(robot: AnySystem, ground: _Ground, tolerance: float, asked: str) -> SimplifiedModel:
    """Search on samples, find the largest error there is; where it is too large, add these states and search again, in the end
    for less, until nothing is left out.
    """
    studied = reduce.study(robot, ground.design)
    form, budget = _form(robot, studied, tolerance, asked), tolerance
    for share in (*_SHARES, 0.0):
        model, budget = _largest(partial(FORMS[form], studied), ground.check, share * tolerance, budget)
        kernel = portable(model.program)
        found = ground.measured(kernel)
        if (found.error <= tolerance * ground.check.scale).all():
            break
        if found.state is not None:
            ground = ground.with_states(found.state)
            studied = reduce.measured_again(studied, ground.design)
    coordinates = engine.system_of(robot).coordinates
    return SimplifiedModel(
        robot=robot.name,
        joints=tuple(coordinate.name for coordinate in coordinates),
        units=tuple(coordinate.force_unit for coordinate in coordinates),
        form=form,
        over=ground.over,
        tolerance=tolerance,
        samples=ground.samples,
        scale=ground.check.scale,
        error=found.error,
        dropped=_dropped(robot, model),
        contributions=_sorted(_named(robot, p.key, p.size) for p in studied.single if p.size > _ROUNDING),
        by_cause=studied.by_cause(),
        operations=OperationSaving(counts(program_of(robot, "newton_euler")), counts(model.program)),
        kernel=kernel,
    )


Maker = Callable[[float], Reduced]
FORMS: dict[str, Callable[[Study, float], Reduced]] = {"recursive": reduce.recursive, "closed": reduce.closed}


def _form(robot: AnySystem, studied: Study, goal: float, asked: str) -> str:
    """The form asked for, or the one that is cheapest at the goal itself."""
    if asked != "auto":
        return asked
    large = _MUCH * weight(program_of(robot, "newton_euler"))
    promising = weight(reduce.closed_sum(studied, goal)[1]) < large
    return min(FORMS, key=lambda name: weight(FORMS[name](studied, goal).program)) if promising else "recursive"


def _largest(make: Maker, check: Samples, goal: float, most: float) -> tuple[Reduced, float]:
    """The reduction by the largest budget, not above `most`, that keeps the goal on the check samples, by bisection; and this
    budget, which is where the search goes on when there are more samples.
    """
    exact = best = make(0.0)
    low, high = 0.0, min(most, goal)
    budget = top = high
    for _ in range(_HALVINGS):
        candidate = make(budget)
        if check.error(candidate.program) <= goal:
            low, best = budget, candidate
        else:
            high = budget
        if low == top or high - low <= _FINE * top:
            break
        budget = (low + high) / 2
    return (best if weight(best.program) < weight(exact.program) else exact), low or high


def _dropped(robot: AnySystem, model: Reduced) -> tuple[Piece, ...]:
    whole = [_named(robot, p.key, p.size) for p in model.pieces if p.size > _ROUNDING]
    return _sorted([*whole, *(_term(robot, term) for term in model.terms if term.change > _ROUNDING)])


def _sorted(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(sorted(pieces, key=lambda p: -p.size))


def _named(robot: AnySystem, key: PieceKey, size: float) -> Piece:
    """A piece in the system's own names; what is left out of a recursion is named after joints of the tree."""
    tree = engine.tree(robot)
    of_joint = key.link == DRIVE or key.cause in DRIVE_CAUSES
    link = "" if of_joint else next(name for name, place in tree.links.items() if place is tree.frames[key.link])
    if key.joint == EVERY:
        return Piece(key.cause, "", link, size)
    if key.cause in CAUSES and (key.link == DRIVE or key.cause not in DRIVE_CAUSES):
        return Piece(key.cause, engine.system_of(robot).coordinates[key.joint].name, link, size)
    return Piece(key.cause, next(s.name for s in tree.segments if s.coordinate == key.joint), link, size)


def _term(robot: AnySystem, term: DroppedTerm) -> Piece:
    """A term of the graph, named after what it depends on."""
    if "qdd" in term.inputs:
        cause = "term with accelerations"
    else:
        cause = "term with velocities" if "qd" in term.inputs else "term of positions"
    return Piece(cause, engine.system_of(robot).coordinates[term.output].name, "", term.change)
