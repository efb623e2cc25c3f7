"""The ellipsoid of what drives of bounded strength can do, as one compiled kernel: matrix, centre, axes and measures.

With x = W u, |u| ≤ 1, torques or velocities weighted by W = diag(w), and J the rows of the task,

    dynamic:   v̇ = J M⁻¹ (τ − h) + J̇ q̇        E = G Gᵀ,  G = J M⁻¹ W,  c = J̇ q̇ − J M⁻¹ h                          (1)
    velocity:  v = J q̇                          E = G Gᵀ,  G = J W,      c = 0                                        (2)
    force:     τ = Jᵀ f                          E⁻¹ = J W⁻² Jᵀ,          c = 0                                        (3)
    dynamic, by accelerations of least norm:     E⁻¹ = J†ᵀ M W⁻² M J†,    c as in (1)     [Siciliano, Eq. 7.148]       (4)

the ellipsoid is {x: (x − c)ᵀ E⁻¹ (x − c) ≤ 1} [Yoshikawa1985]. Without redundancy (4) is (1) [Siciliano, Eq. 7.149].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algorithms.sweep import Unrolled
from ..algorithms.task_dynamics import product, symmetric, times
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.recipes_operational import Ask, asking_system, asking_tree, task_inputs, task_jacobian
from ..dynamics.surroundings import check_inverse
from ..dynamics.system import AS_IT_IS, Reading, Recipe, System
from ..dynamics.task_directions import TaskDirections
from ..expr import ops
from ..expr.differentiate import jvp
from ..model.tree import Tree
from ..spatial import ldl
from ..spatial.jacobi_axes import principal_axes
from ..spatial.nested import Matrix, dot, transposed

OUTPUTS = ["matrix", "centre", "lengths", "axes", "measures", "position"]
GENERATORS = ["generators", "centre", "position"]
DYNAMIC, VELOCITY, FORCE = "dynamic", "velocity", "force"


class EllipsoidOptions(NamedTuple):
    """Which ellipsoid: the key of its kernel."""

    task: TaskDirections
    kind: str = DYNAMIC
    moving: bool = False
    least_norm: bool = False
    generators: bool = False  # whether the columns of G are wanted in place of the ellipsoid

    @property
    def mixed(self) -> bool:
        """Whether metres and radians meet, so that a length is needed."""
        return len({row > 2 for row in self.task.rows}) == 2

    def inputs(self, n: int) -> dict[str, tuple[int, ...]]:
        """q, q̇, a point, the weights, a length."""
        found = task_inputs(n, [self.task], moving=self.moving) | {"weights": (n,)}
        return found | ({"length": ()} if self.mixed else {})

    @property
    def outputs(self) -> list[str]:
        """What the kernel gives."""
        return GENERATORS if self.generators else OUTPUTS


def _results(ask: Ask, options: EllipsoidOptions, given: Sequence[Any]) -> list[Any]:
    named = dict(zip(options.inputs(len(given[0])), given, strict=True))
    q, weights, point = named["q"], named["weights"], named.get("point")
    whole, _ = task_jacobian(ask, options.task, q, point)
    length = named.get("length", 1.0)
    J = [[x * length for x in whole[row]] if row > 2 else list(whole[row]) for row in options.task.rows]
    position = _position(ask, options.task, q, point)
    centre: list[Any] = [0.0] * len(J)
    if options.kind == FORCE:
        weighted = [[ops.divide(x, w) for x, w in zip(row, weights, strict=True)] for row in J]
    elif options.kind == VELOCITY:
        weighted = [[x * w for x, w in zip(row, weights, strict=True)] for row in J]
    else:
        weighted, centre = _dynamic(ask, options, J, named)
    if options.generators:
        return [weighted, centre, position]
    matrix = symmetric(lambda i, j: dot(weighted[i], weighted[j]), len(J))
    if options.kind == FORCE or options.least_norm:
        return [*_by_core(matrix, centre), position]
    return [*_by_matrix(matrix, centre), position]


def _dynamic(ask: Ask, options: EllipsoidOptions, J: Matrix, named: dict[str, Any]) -> tuple[Matrix, list[Any]]:
    """G of (1), or the columns of (4) in its place; and c."""
    q, weights, qd = named["q"], named["weights"], named.get("qd")
    M = ask("mass_matrix")(q)
    factors = ldl.factor(M)
    solved = [ldl.solve_factored(factors, list(row)) for row in J]
    h = ask("gravity_torque")(q) if qd is None else ask("bias")(q, qd)
    centre = [-x for x in times(solved, h)]
    if qd is not None:
        centre = [c + x for c, x in zip(centre, jvp(times(J, qd), list(q), list(qd)), strict=True)]
    if not options.least_norm:
        return [[x * w for x, w in zip(row, weights, strict=True)] for row in solved], centre
    right = product(ldl.inverse(ldl.factor(symmetric(lambda i, j: dot(J[i], J[j]), len(J)))), J)  # J†ᵀ
    needed = [times(M, row) for row in right]  # M J†, column by column
    return [[ops.divide(x, w) for x, w in zip(row, weights, strict=True)] for row in needed], centre


def _by_matrix(E: Matrix, centre: list[Any]) -> list[Any]:
    """Results from E: lengths are roots of its values."""
    found = principal_axes(E)
    lengths = [ops.sqrt(ops.maximum(value, 0.0)) for value in found.values]
    along = times(transposed(found.axes), centre)
    return [E, centre, lengths, found.axes, _measures(lengths, [ops.divide(a, r) for a, r in zip(along, lengths, strict=True)])]


def _by_core(core: Matrix, centre: list[Any]) -> list[Any]:
    """Results from E⁻¹: the least value has the longest axis."""
    found = principal_axes(core)
    thin = [ops.sqrt(ops.maximum(value, 0.0)) for value in reversed(found.values)]
    axes = [list(reversed(row)) for row in found.axes]
    lengths = [ops.divide(1.0, x) for x in thin]
    along = times(transposed(axes), centre)
    return [
        ldl.inverse(ldl.factor(core)),
        centre,
        lengths,
        axes,
        _measures(lengths, [a * x for a, x in zip(along, thin, strict=True)]),
    ]


def _measures(lengths: list[Any], shares: list[Any]) -> list[Any]:
    """Product of the lengths, least by largest, and the share of the strength that it takes to cancel the centre."""
    volume: Any = 1.0
    for length in lengths:
        volume = volume * length
    return [volume, ops.divide(lengths[-1], lengths[0]), ops.sqrt(sum((s * s for s in shares), 0.0))]


def _position(ask: Ask, task: TaskDirections, q: Any, point: Any) -> list[Any]:
    """Where the task is, in world axes."""
    X = ask("forward_kinematics", task.link)(q)
    return [row[3] if point is None else dot(row[:3], point) + row[3] for row in X[:3]]


_USUAL = EllipsoidOptions(TaskDirections(rows=(0, 1, 2)))


def _over_tree(tree: Tree, options: EllipsoidOptions = _USUAL) -> TreeRecipe:
    if options.kind == DYNAMIC:
        check_inverse(tree)

    def function(sweep: Unrolled, *given: Any) -> Any:
        return _results(asking_tree(tree, sweep), options, given)

    return TreeRecipe(function, options.inputs(tree.n), options.outputs, can_roll=False)


def _derived(system: System, options: EllipsoidOptions = _USUAL, *, reading: Reading = AS_IT_IS) -> Recipe:
    ask = asking_system(system, reading)
    return Recipe(lambda *given: _results(ask, options, given), options.inputs(len(system.coordinates)), options.outputs)


ELLIPSOID = Quantity("manipulability", tuple(Output(name) for name in OUTPUTS), _over_tree, derived=_derived, exported=False)

__all__ = ["DYNAMIC", "ELLIPSOID", "FORCE", "OUTPUTS", "VELOCITY", "EllipsoidOptions"]
