"""The linear model of a system about a point or a motion, as users call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import ShapeError
from .acting_loads import Acting, acting_of
from .friction_jumps import warn_of_friction
from .linear_model import LinearModel
from .output_maps import Made, outputs_of
from .signals import OperatingPoint, Signal
from .state_recipe import STATE_MATRICES

WRENCH = (*(("f" + axis, "N") for axis in "xyz"), *(("m" + axis, "N m") for axis in "xyz"))


def linearize(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike = 0.0,
    qdd: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    loads: Any = (),
    wrenches: Mapping[Any, ArrayLike] | None = None,
    outputs: Any = None,
    threads: int | None = None,
) -> LinearModel:
    """The linear model δẋ = A δx + B δu, δy = C δx + D δu about a point or along a motion, x = (q, q̇) [Freeman, Eq. 2-225].

    A and B are written whole by one kernel, exact to rounding. Many points make a model that changes with time, or many models.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        The motion; at rest if `qd` is left out. Leading axes broadcast, and are those of the model.
    qdd or tau : array_like, shape (..., n), optional
        The accelerations, or the drives' forces, along it. If both are left out there is no acceleration: at rest that is the
        equilibrium, held by the torques `model.point.tau`.
    loads : Spring, Damper, or function of (q, qd), or a sequence of them
        What else acts on the system, with its slopes. A function is written over scalars (`dalembert.expr.ops`, `dal.inside`) and
        returns n generalised forces that push as drives do: a controller makes it the model of a closed loop.
    wrenches : mapping of anchor to array_like, shape (..., 6)
        Force and moment on links in world axes, as in `applied_torque`; they turn with nothing. Their deviations become inputs
        [Freeman, Eq. 2-227].
    outputs : str, function, or a sequence of them
        The states if left out. 'q', 'qd', 'qdd'; a coordinate's name; 'tool' or a link's name for its displacement (x, y, z and a
        small turn, world axes); a function of (q, qd) over scalars.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    LinearModel
        With A (..., 2n, 2n), B (..., 2n, n + 6 per wrench), C, D; names and units of all signals; poles, modes and more.

    Warns
    -----
    DalembertWarning
        'dry-friction-jump' where a joint with dry friction stands still, 'dry-friction-steep' where smoothed friction is steep.

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.two_link_planar()
    >>> model = dal.linearize(arm, [0.3, 0.5], loads=dal.Spring(20.0, joint="joint2"), outputs="tool")
    >>> model
    LinearModel of 'two_link_planar': 4 states, 2 inputs, 6 outputs
    >>> along = dal.linearize(arm, [[0.0, 0.1], [0.1, 0.3]], [[1.0, 2.0], [1.0, 2.0]], qdd=[0.0, 0.0])
    >>> along.A.shape
    (2, 4, 4)
    """
    n = engine.size(system)
    if tau is not None and qdd is not None:
        raise ShapeError("linearize: tau and qdd found, but each follows from the other. Give one of them, or neither.")
    q = real("q", q, f"(..., {n})")
    qd = _filled("qd", qd, n)
    given = _filled("qdd", 0.0 if qdd is None else qdd, n) if tau is None else real("tau", tau, f"(..., {n})")
    acting, arrays = acting_of(loads, wrenches)
    run = engine.kernel(system, STATE_MATRICES, tau is None, acting)
    A, B, other = run(q, qd, given, *arrays, threads=threads)
    warn_of_friction("linearize", system, q, qd, level=2)
    states, inputs = signals_of(system, acting)
    names, C, D = outputs_of(system, outputs, states, Made(q, qd, A, B))
    assert D is not None
    motion = (given, other) if tau is None else (other, given)
    point = OperatingPoint(*(np.broadcast_to(x, other.shape) for x in (q, qd, *motion)))
    return LinearModel(A, B, C, D, states=states, inputs=inputs, outputs=tuple(names), point=point, name=system.name)


def _filled(name: str, value: ArrayLike, n: int) -> Any:
    """A vector, or the same number for each coordinate."""
    found = real(name, value, f"(..., {n})")
    return found if found.ndim else np.full(n, float(found))


def signals_of(system: AnySystem, acting: Acting) -> tuple[tuple[Signal, ...], tuple[Signal, ...]]:
    """Names and units of the states and the inputs."""
    coordinates = engine.system_of(system).coordinates
    positions = [Signal(f"q_{c.name}", c.unit) for c in coordinates]
    rates = [Signal(f"qd_{c.name}", f"{c.unit}/s") for c in coordinates]
    drives = [Signal(f"tau_{c.name}", c.force_unit) for c in coordinates]
    others = [Signal(f"{axis}_{name}", unit) for name in _distinct([a[0] for a in acting.anchors]) for axis, unit in WRENCH]
    return (*positions, *rates), (*drives, *others)


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of the places of wrenches, numbered where one link has several."""
    return [name if names.count(name) == 1 else f"{name}_{k}" for k, name in enumerate(names, 1)]


__all__ = ["linearize"]
