"""The model inside of a function that is compiled: quantities of a system over scalars, for controllers and own kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..algorithms.regressor import Options
from ..errors import ShapeError
from ..spatial import ldl
from .engine import name_of, request_of, size, system_of
from .operational_result import OperationalSpace
from .prioritised_result import PrioritisedTasks
from .recipes_operational import OPERATIONAL
from .surroundings import DEFAULT, FREE
from .system import AnySystem
from .task_directions import check_count, several_tasks, task_directions

Scalars = Any
"""A sequence of scalars, or an array of them."""
__all__ = ["InsideModel", "inside"]


def inside(system: AnySystem) -> InsideModel:
    """The model for use inside of a torque function of `simulate` and `rollout`, or of a function given to `kernel`.

    Its methods take and return scalars that stand for numbers, in arrays, so that the whole closed loop becomes one kernel.

    Parameters
    ----------
    system : Robot or System
        The model: the simulated system itself, or another one, such as a robot with wrong masses.

    Returns
    -------
    InsideModel

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> robot = dal.robots.two_link_planar()
    >>> model = dal.inside(robot)
    >>> def law(t, q, qd, p):
    ...     # computed torque; the gains are no part of the compiled code
    ...     return model.mass_matrix(q) @ (p.kp * (p.target - q) - p.kd * qd) + model.bias(q, qd)
    >>> gains = {"kp": 100.0, "kd": 20.0, "target": [1.0, 0.5]}
    >>> motion = dal.simulate(robot, [0.0, 0.0], [0.0, 0.0], tau=law, inputs=gains, t_end=2.0)
    >>> np.round(motion.q[-1], 6)
    array([1. , 0.5])
    """
    return InsideModel(system)


class InsideModel:
    """Quantities of a system, over scalars; see `inside`. Arrays have no batch axes: each is what one configuration has."""

    def __init__(self, system: AnySystem) -> None:
        self.system, self._view, self.n = system, system_of(system), size(system)

    def __repr__(self) -> str:
        return f"InsideModel of {self.system!r}"

    def law_key(self) -> Any:
        """What a compiled function depends on, of all that is here."""
        return self.system

    def quantity(self, quantity: Any, *given: Scalars, options: tuple[Any, ...] = ()) -> Any:
        """A quantity by its record or the name of that, of scalars; several results come as a tuple."""
        request = request_of(quantity, options)
        recipe, name = self._view.recipe(request), name_of(request)
        if len(given) != len(recipe.inputs):
            raise ShapeError(f"{name}: {len(given)} arguments found; {', '.join(recipe.inputs)} are expected.")
        inputs = zip(given, recipe.inputs.items(), strict=True)
        found = recipe.function(*(_listed(array, shape, f"{name}: {what}") for array, (what, shape) in inputs))
        return _array(found) if len(recipe.outputs) == 1 else tuple(_array(part) for part in found)

    def inverse_dynamics(self, q: Scalars, qd: Scalars, qdd: Scalars, *, friction: bool = True) -> Any:
        """τ = M q̈ + C q̇ + g, with friction or without; shape (n,)."""
        return self.quantity("inverse_dynamics", q, qd, qdd, options=(DEFAULT, FREE, friction))

    def forward_dynamics(self, q: Scalars, qd: Scalars, tau: Scalars) -> Any:
        """q̈; shape (n,)."""
        return self.quantity("forward_dynamics", q, qd, tau)

    def mass_matrix(self, q: Scalars) -> Any:
        """M; shape (n, n)."""
        return self.quantity("mass_matrix", q)

    def bias(self, q: Scalars, qd: Scalars) -> Any:
        """h = C q̇ + g; shape (n,)."""
        return self.quantity("bias", q, qd)

    def gravity_torque(self, q: Scalars) -> Any:
        """g; shape (n,)."""
        return self.quantity("gravity_torque", q)

    def coriolis_matrix(self, q: Scalars, qd: Scalars) -> Any:
        """C; shape (n, n)."""
        return self.quantity("coriolis_matrix", q, qd)

    def friction_torque(self, q: Scalars, qd: Scalars) -> Any:
        """The torque that friction takes; shape (n,)."""
        names = self._view.recipe(request_of("friction_torque")).inputs
        return self.quantity("friction_torque", *({"q": q, "qd": qd}[name] for name in names))

    def forward_kinematics(self, q: Scalars, link: str | None = None) -> Any:
        """The pose of the tool or of a link; shape (4, 4)."""
        return self.quantity("forward_kinematics", q, options=(link,))

    def jacobian(self, q: Scalars, link: str | None = None, *, frame: str = "world") -> Any:
        """J; shape (6, n), linear rows first."""
        return self.quantity("jacobian", q, options=(link, frame, False))

    def jacobian_dot(self, q: Scalars, qd: Scalars, link: str | None = None, *, frame: str = "world") -> Any:
        """The time derivative of J; shape (6, n)."""
        return self.quantity("jacobian_dot", q, qd, options=(link, frame))

    def operational_space(
        self,
        q: Scalars,
        qd: Scalars | None = None,
        *,
        link: str | None = None,
        point: Scalars | None = None,
        frame: str = "world",
        angles: str | None = None,
        directions: Sequence[str] | None = None,
        coriolis: bool = False,
        damping: Any = None,
    ) -> OperationalSpace:
        """The dynamics in the directions of a task, as `dal.operational_space`, over scalars; `damping` may be one of them.

        Nothing is refused where the task is singular: results are infinite or NaN there, unless it is damped.
        """
        task = task_directions(link, frame, angles, directions, with_point=point is not None)
        check_count(str(self._view.name), self.n, [task])
        if coriolis and qd is None:
            raise ShapeError("qd: nothing found, but coriolis=True needs it; shape (n,) expected.")
        given = [part for part in (q, qd, point, damping) if part is not None]
        options = ((task,), qd is not None, coriolis, damping is not None)
        return OperationalSpace.of(self.quantity(OPERATIONAL, *given, options=options), task.names, damping)

    def prioritised_tasks(
        self, q: Scalars, qd: Scalars | None = None, *, tasks: Sequence[Mapping[str, Any]], damping: Any = None
    ) -> PrioritisedTasks:
        """Several tasks in the order of their priority, as `dal.prioritised_tasks`, over scalars; see `operational_space`."""
        checked = several_tasks(tasks)
        check_count(str(self._view.name), self.n, checked)
        points = [task["point"] for task in tasks if task.get("point") is not None]
        given = [q, *([] if qd is None else [qd]), *points, *([] if damping is None else [damping])]
        options = (tuple(checked), qd is not None, False, damping is not None)
        return PrioritisedTasks.of(self.quantity(OPERATIONAL, *given, options=options), checked, damping)

    def regressor(self, q: Scalars, qd: Scalars, qdd: Scalars, *, rotor: bool = True, friction: bool = True) -> Any:
        """Y with Y φ = τ; shape (n, p), columns as in `parameter_names`."""
        return self.quantity("regressor", q, qd, qdd, options=(Options(rotor=rotor, friction=friction, offset=False),))

    def tracking_regressor(self, q: Scalars, qd: Scalars, v: Scalars, a: Scalars, *, rotor: bool = True) -> Any:
        """Y with Y φ = M a + C(q, q̇) v + g, for adaptive control [SlotineLi1987]; shape (n, p), without friction.

        C(q, q̇) v is bilinear, and half of what C(q, u) u is at u = q̇ + v less what it is at q̇ and at v.
        """
        qd, v = np.asarray(qd, dtype=object), np.asarray(v, dtype=object)
        still = np.zeros(self.n)

        def Y(rate: Any, acceleration: Any) -> Any:
            return self.regressor(q, rate, acceleration, rotor=rotor, friction=False)

        at_rest = Y(still, still)
        return Y(still, a) + 0.5 * (Y(qd + v, still) - Y(qd, still) - Y(v, still) + at_rest)

    def solve(self, M: Any, b: Scalars) -> Any:
        """x with M x = b, for a positive definite M; b of shape (k,) or (k, m)."""
        rows, right = [list(row) for row in M], np.asarray(b, dtype=object)
        if right.ndim == 1:
            return _array(ldl.solve(rows, list(right)))
        factors = ldl.factor(rows)
        return _array([ldl.solve_factored(factors, list(column)) for column in right.T]).T


def _listed(value: Any, shape: Sequence[int], subject: str) -> Any:
    """Nested lists of scalars of this shape."""
    array = np.asarray(value, dtype=object)
    if array.shape != tuple(shape):
        raise ShapeError(f"{subject} has the shape {array.shape}; {tuple(shape)} is expected.")
    return array.tolist() if shape else array.item()


def _array(nest: Any) -> Any:
    """Scalars in an array."""
    return np.array(nest, dtype=object) if isinstance(nest, (list, tuple)) else nest
