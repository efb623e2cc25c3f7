"""What sharing a load rests on, as one compiled kernel.

With J the rows of closures and coordinates, B the columns of the driven joints among all joints of the tree, τ_t the forces that
the tree needs for its motion, and w the multipliers of the closures,

    Jᵀ [w; τ] = τ_t,     A = Bᵀ ∂x/∂q,     Aᵀ u = τ                                                        (1)
    Jᵀ [w; 0] = τ_t − B u    wherever (1) holds, so that    w = w₀ + W u                                     (2)

Every column of W is a solution with the factors that are there already. A condition that others hold too adds a direction n with
Jᵀ n = 0, in which the multipliers can be changed and no drive takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms.kinematics import place_pose
from ..algorithms.position_rows import Positions
from ..algorithms.sweep import Unrolled
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.surroundings import DEFAULT, FREE, Forces, extra_inputs
from ..dynamics.system import AS_IT_IS, Reading, Recipe, Request
from ..errors import ModelError
from ..mechanism.assembled import Assembled
from ..mechanism.closed_state import ClosedState
from ..mechanism.elements import with_elements
from ..mechanism.reactions import closure_wrench
from ..model.closures import Closure
from ..model.tree import Tree
from ..spatial import IDENTITY, ZERO, Vec3
from ..spatial.vec3 import mat3

STATES = ("q", "qd", "qdd")
OUTPUTS = ["tau", "A", "wrenches", "shares", "places", "axes"]


def _refused(tree: Tree, forces: Forces = FREE) -> TreeRecipe:
    raise ModelError(f"distribute_load: {tree.name!r} has no closures.")


def loose_rows(system: Assembled) -> list[int]:
    """The conditions of closures that others hold already."""
    return [row for row in system.plan.dependent if row < len(system.rows)]


def _sharing(system: Any, forces: Forces = FREE, *, reading: Reading = AS_IT_IS) -> Recipe:
    inputs = dict.fromkeys(STATES, (system.n,)) | extra_inputs(system.tree, forces)
    tree = with_elements(system, Request("inverse_dynamics", (DEFAULT, forces, True)), reading)
    driven = [system.robot.joint_names.index(name) for name in system.actuated]
    loose = loose_rows(system)

    def function(q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        closed = system.state(q)
        motion = closed.x, closed.rates(qd), closed.accelerations(qd, qdd)
        w = closed.reactions(tree.function(*motion, *extra))
        at = Positions(Unrolled(system.tree), closed.x)
        shares = [_wrenches(system, at, closed, _unit_reactions(closed, joint)) for joint in driven]
        places, axes = zip(*(_frame(at, closure) for closure in system.closures), strict=True)
        found = [
            w[closed.closures :],  # τ of (1)
            [closed.G[joint] for joint in driven],  # A of (1)
            _wrenches(system, at, closed, w),
            shares,
            list(places),
            list(axes),
        ]
        return [*found, [_wrenches(system, at, closed, _null(closed, row)) for row in loose]] if loose else found

    return Recipe(function, inputs, [*OUTPUTS, "loose"] if loose else OUTPUTS)


def _unit_reactions(closed: ClosedState, joint: int) -> list[Any]:
    """What one unit of force at a joint changes in the multipliers: a column of W [(2)]."""
    return closed.reactions([-float(k == joint) for k in range(len(closed.x))])


def _null(closed: ClosedState, row: int) -> list[Any]:
    """n with Jᵀ n = 0, for a row that depends on others."""
    entries = closed.values[row].row
    combined = closed.reactions([entries.get(k, 0.0) for k in range(len(closed.x))])
    return [float(k == row) - c for k, c in enumerate(combined)]


def _wrenches(system: Assembled, at: Positions, closed: ClosedState, w: Sequence[Any]) -> list[Any]:
    """The wrench of each closure on its second link that multipliers mean, at its place there and in world axes."""
    found, k = [], 0
    for closure in system.closures:
        count = len(closure.rows)
        found.append(closure_wrench(at, closure, closed.values[k : k + count], w[k : k + count]))
        k += count
    return found


def _frame(at: Positions, closure: Closure) -> tuple[Any, Any]:
    """Origin and axes of a closure's place on its second link, in the world."""
    if not closure.links or closure.between is None:
        return list(ZERO), [list(row) for row in IDENTITY]
    link, X = closure.between[1]
    pose = place_pose([at.pose(k, -1) for k in range(len(at.tree.segments))], at.place(link))
    R = pose.R.times(mat3(X[:3, :3].tolist()))
    return list(pose.p + pose.R @ Vec3(*X[:3, 3].tolist())), [list(row) for row in R]


SHARING = Quantity("distribute_load", tuple(Output(name) for name in OUTPUTS), _refused, derived=_sharing, exported=False)

__all__ = ["SHARING", "loose_rows"]
