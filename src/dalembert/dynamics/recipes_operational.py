"""The dynamics of a system in the directions of tasks, as one recipe: over the tree of a robot, and over any other system:

    Λ ẍ + μ + p = γ,    μ = Λ (J M⁻¹ C q̇ − J̇ q̇),    p = Λ J M⁻¹ g            [Siciliano, Eq. 7.130 to 7.133]

It is written once, over whatever answers for mass matrix, loads and Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..algorithms import kinematics, task_dynamics
from ..algorithms.graph_derivatives import along
from ..algorithms.sweep import Unrolled
from ..algorithms.task_dynamics import product, times
from ..expr import ops
from ..expr.differentiate import jvp
from ..model.tree import Tree
from ..spatial import ldl
from ..spatial.nested import Matrix, transposed
from ..spatial.vec3 import Mat3, Vec3, mat3
from . import recipes_dynamics, recipes_kinematics
from .quantity import Output, Quantity, TreeRecipe
from .surroundings import DEFAULT, FREE, check_inverse
from .system import AS_IT_IS, Reading, Recipe, Request, System
from .task_directions import TaskDirections

Ask = Callable[..., Callable[..., Any]]
"""From the name of a quantity and its options to its function of scalars."""
OUTPUTS = ("Lambda", "mu", "p", "J", "J_bar", "Jdot_qd", "mobility", "doubt")
_TREE: dict[str, Callable[..., TreeRecipe]] = {
    "mass_matrix": recipes_dynamics.mass_matrix,
    "bias": recipes_dynamics.bias,
    "gravity_torque": recipes_dynamics.gravity_torque,
    "coriolis_matrix": recipes_dynamics.coriolis_matrix,
    "jacobian": recipes_kinematics.jacobian,
    "forward_kinematics": recipes_kinematics.forward_kinematics,
}
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "mass_matrix": (FREE, DEFAULT),
    "bias": (DEFAULT, FREE),
    "gravity_torque": (DEFAULT, FREE),
    "coriolis_matrix": (DEFAULT,),
}


def asking_tree(tree: Tree, sweep: Unrolled) -> Ask:
    """Quantities of a robot, all over one sweep."""

    def ask(name: str, *options: Any) -> Callable[..., Any]:
        function = _TREE[name](tree, *options).function  # options that are left out have their defaults
        return lambda *given: function(sweep, *given)

    return ask


def asking_system(system: System, reading: Reading) -> Ask:
    """Quantities of any system."""

    def ask(name: str, *options: Any) -> Callable[..., Any]:
        return system.recipe(Request(name, options or _OPTIONS[name]), reading).function

    return ask


def task_inputs(n: int, tasks: Sequence[TaskDirections], *more: str, moving: bool) -> dict[str, tuple[int, ...]]:
    """q, q̇ if anything moves, the points of tasks that have one, and further numbers."""
    states = dict.fromkeys(("q", "qd") if moving else ("q",), (n,))
    points: dict[str, tuple[int, ...]] = {f"point{k or ''}": (3,) for k, task in enumerate(tasks) if task.with_point}
    return states | points | dict.fromkeys(more, ())


def task_jacobian(ask: Ask, task: TaskDirections, q: Any, point: Any) -> tuple[Matrix, Any]:
    """All six rows of a task's Jacobian, and how far its angles are from where they stop to tell the orientation."""
    J = ask("jacobian", task.link, task.frame, task.with_point)(q, *([point] if task.with_point else []))
    if not task.turns:
        return J, 1.0
    pose = ask("forward_kinematics", task.link)(q)
    R = mat3([row[:3] for row in pose[:3]])
    rates = [kinematics.RATES[str(task.angles)](R, Vec3(*w)) for w in zip(*J[3:], strict=True)]
    return J[:3] + transposed(rates), _angle_margin(R, task.angles)


def _angle_margin(R: Mat3, angles: str | None) -> Any:
    """|cos(pitch)| of roll, pitch, yaw; |sin(ϑ)| of the angles about z, y, z."""
    a, b = (R.x.x, R.y.x) if angles == "rpy" else (R.x.z, R.y.z)
    return ops.sqrt(a * a + b * b)


def _results(ask: Ask, tasks: Sequence[TaskDirections], flags: tuple[bool, bool, bool], given: Sequence[Any]) -> list[Any]:
    """The outputs of each task in turn, then N; then the Coriolis matrix of the only task, or q̈ without torques of several."""
    moving, coriolis, damped = flags
    rest = iter(given[2 if moving else 1 :])
    q, qd = given[0], given[1] if moving else None
    points = [next(rest) if task.with_point else None for task in tasks]
    damping = next(rest) if damped else None
    M, g = ask("mass_matrix")(q), ask("gravity_torque")(q)
    h = ask("bias")(q, qd) if moving else g
    factors = ldl.factor(M)
    found: list[Any] = []
    free: Matrix | None = None
    for task, point in zip(tasks, points, strict=True):
        whole, margin = task_jacobian(ask, task, q, point)
        J = [whole[row] for row in task.rows]
        kinds = task_dynamics.kind_sizes(M, whole, task.rows)
        part = task_dynamics.task_inertia(factors, J, [kinds[row > 2] for row in task.rows], free, damping)
        turning = [0.0] * len(J) if qd is None else jvp(times(J, qd), list(q), list(qd))  # J̇ q̇
        mu, p = _loads(part, g, h, turning)
        found += [part.Lambda, mu, p, J, part.J_bar, turning, part.mobility, [part.bound, margin, *kinds]]
        free = task_dynamics.remaining(part, J, free)
    found.append(free)
    if len(tasks) > 1:
        found.append([-x for x in ldl.solve_factored(factors, h)])
    elif coriolis:
        found.append(_coriolis(ask("coriolis_matrix")(q, qd), along(J, q, qd), part))
    return found


def _loads(part: task_dynamics.TaskInertia, g: list[Any], h: list[Any], turning: list[Any]) -> tuple[list[Any], list[Any]]:
    """μ and p."""
    to_task = transposed(part.J_bar)
    p = times(to_task, g)  # [Siciliano, Eq. 7.132]
    if h is g:
        return [0.0] * len(p), p
    carried = times(part.Lambda, turning)
    by_velocity = times(to_task, [a - b for a, b in zip(h, g, strict=True)])
    return [a - b for a, b in zip(by_velocity, carried, strict=True)], p  # [Siciliano, Eq. 7.131]


def _coriolis(C: Matrix, Jdot: Matrix, part: task_dynamics.TaskInertia) -> Matrix:
    """C_A = J̄ᵀ C J̄ − Λ J̇ J̄, with which the derivative of Λ less 2 C_A is skew-symmetric [theory: operational_space, Eq. 7]."""
    inner = product(transposed(part.J_bar), C)
    carried = product(part.Lambda, Jdot)
    return product([[a - b for a, b in zip(*rows, strict=True)] for rows in zip(inner, carried, strict=True)], part.J_bar)


def _output_names(tasks: Sequence[TaskDirections], coriolis: bool) -> list[str]:
    if len(tasks) == 1:
        return [*OUTPUTS, "N", *(["C"] if coriolis else [])]
    return [f"{name}{k}" for k in range(len(tasks)) for name in OUTPUTS] + ["N", "qdd_free"]


def _over_tree(
    tree: Tree,
    tasks: tuple[TaskDirections, ...] = (TaskDirections(),),
    moving: bool = True,
    coriolis: bool = False,
    damped: bool = False,
) -> TreeRecipe:
    check_inverse(tree)
    inputs = task_inputs(tree.n, tasks, *(["damping"] if damped else []), moving=moving)

    def function(sweep: Unrolled, *given: Any) -> Any:
        return _results(asking_tree(tree, sweep), tasks, (moving, coriolis, damped), given)

    return TreeRecipe(function, inputs, _output_names(tasks, coriolis), can_roll=False)


def _derived(
    system: System,
    tasks: tuple[TaskDirections, ...] = (TaskDirections(),),
    moving: bool = True,
    coriolis: bool = False,
    damped: bool = False,
    *,
    reading: Reading = AS_IT_IS,
) -> Recipe:
    inputs = task_inputs(len(system.coordinates), tasks, *(["damping"] if damped else []), moving=moving)
    ask = asking_system(system, reading)
    return Recipe(lambda *given: _results(ask, tasks, (moving, coriolis, damped), given), inputs, _output_names(tasks, coriolis))


OPERATIONAL = Quantity(
    "operational_space", tuple(Output(name) for name in (*OUTPUTS, "N", "C")), _over_tree, derived=_derived, exported=False
)


def task_slices(tasks: Sequence[TaskDirections], outputs: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The outputs of each task."""
    for k in range(len(tasks)):
        yield outputs[k * len(OUTPUTS) : (k + 1) * len(OUTPUTS)]


__all__ = ["OPERATIONAL", "OUTPUTS", "Ask", "asking_system", "asking_tree", "task_inputs", "task_jacobian", "task_slices"]
