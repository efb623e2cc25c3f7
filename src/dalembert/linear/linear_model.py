"""δẋ = A δx + B δu, δy = C δx + D δu: a linear model with names, and what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import MissingExtraError, ModelError, ShapeError
from . import linear_responses, reach
from .modes import Modes, decay_order, eigenvalues, modes_of
from .reach import Reach
from .signals import OperatingPoint, Signal, signals
from .state_transfer import transferred_matrices


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear model about a motion, or a batch of them: δẋ = A δx + B δu, δy = C δx + D δu.

    Made by `linearize`, or by hand from matrices of any number of states. States, inputs and outputs are deviations from the
    `point`, where there is one. With `dt` the model is discrete: δx[k+1] = A δx[k] + B δu[k].

    Parameters
    ----------
    A, B, C, D : array_like, shape (..., m, m), (..., m, p), (..., r, m), (..., r, p)
        Leading axes are a batch, such as a motion, and broadcast.
    states, inputs, outputs : sequence of Signal or str
        Their names and units. The first 2n states are positions and velocities of n coordinates, if there is a `point`.
    point : OperatingPoint, optional
        The motion about which it holds.
    dt : float, optional
        The period [s] of a discrete model.

    Examples
    --------
    >>> import dalembert as dal
    >>> model = dal.linearize(dal.robots.pendulum(), [0.0])
    >>> model.A.round(3)
    array([[  0.   ,   1.   ],
           [-14.714,   0.   ]])
    >>> [state.name for state in model.states]
    ['q_pivot', 'qd_pivot']
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    states: tuple[Signal, ...] = field(kw_only=True)
    inputs: tuple[Signal, ...] = field(kw_only=True)
    outputs: tuple[Signal, ...] = field(kw_only=True)
    point: OperatingPoint | None = field(default=None, kw_only=True)
    dt: float | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        for what in ("states", "inputs", "outputs"):
            object.__setattr__(self, what, signals(getattr(self, what)))
        m, p, r = len(self.states), len(self.inputs), len(self.outputs)
        shapes = {"A": (m, m), "B": (m, p), "C": (r, m), "D": (r, p)}
        for what, shape in shapes.items():
            found = np.asarray(getattr(self, what), dtype=float)
            if found.shape[-2:] != shape:
                raise ShapeError(f"{what}: shape {found.shape} found, (..., {shape[0]}, {shape[1]}) expected by the names.")
            object.__setattr__(self, what, found)
        try:
            self.batch  # noqa: B018
        except ValueError:
            said = ", ".join(f"{what} {getattr(self, what).shape[:-2]}" for what in shapes)
            raise ShapeError(f"batch axes: {said} found, which do not broadcast.") from None

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return np.broadcast_shapes(*(x.shape[:-2] for x in (self.A, self.B, self.C, self.D)))

    @property
    def n(self) -> int:
        """The number of states."""
        return len(self.states)

    def __repr__(self) -> str:
        size = f"{self.n} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        of = f" of {self.name!r}" if self.name else ""
        many = f", batch {self.batch}" if self.batch else ""
        return f"LinearModel{of}: {size}{many}" + ("" if self.dt is None else f", dt = {self.dt:g} s")

    def __getitem__(self, index: Any) -> LinearModel:
        """The model at one or some places of the batch, by an index of the batch axes."""
        if not self.batch:
            raise ShapeError("LinearModel: it has no batch axes, so there is nothing to choose from.")
        arrays = {what: np.broadcast_to(x, (*self.batch, *x.shape[-2:]))[index] for what, x in self._matrices().items()}
        point = self.point
        if point is not None:
            point = OperatingPoint(*(np.broadcast_to(x, (*self.batch, x.shape[-1]))[index] for x in point))
        return replace(self, **arrays, point=point)

    def _matrices(self) -> dict[str, FloatArray]:
        return {"A": self.A, "B": self.B, "C": self.C, "D": self.D}

    @property
    def poles(self) -> Any:
        """Eigenvalues of A, shape (..., m), [1/s]; ordered by their real part, largest first."""
        found = eigenvalues(self.A)
        return np.take_along_axis(found, decay_order(found), axis=-1)

    def modes(self) -> Modes:
        """Poles with frequency, damping, shapes, and what each state has to do with each of them."""
        self._needs_continuous("modes")
        return modes_of(self.A, tuple(state.name for state in self.states))

    def controllability(self, horizon: float = 1.0) -> Reach:
        """How well the inputs reach each direction of the states within a time; see `Reach`."""
        self._needs_continuous("controllability")
        return reach.reach_of("controllability", self.A, self.B, horizon, tuple(state.name for state in self.states))

    def observability(self, horizon: float = 1.0) -> Reach:
        """How well the outputs tell each direction of the states within a time; see `Reach`."""
        self._needs_continuous("observability")
        names = tuple(state.name for state in self.states)
        return reach.reach_of("observability", self.A.swapaxes(-1, -2), self.C.swapaxes(-1, -2), horizon, names)

    def discretised(self, dt: float) -> LinearModel:
        """The same in steps of `dt` seconds, inputs held between them: exact, by the exponential of [[A, B], [0, 0]] dt."""
        self._needs_continuous("discretised")
        A, B = linear_responses.held(self.A, self.B, dt)
        return replace(self, A=A, B=B, dt=float(dt))

    def response(self, times: ArrayLike, x0: ArrayLike | None = None, u: ArrayLike | None = None) -> FloatArray:
        """Deviations of the states at some times, shape (..., T, m), inputs held from one time to the next.

        Parameters
        ----------
        times : array_like, shape (T,)
            Rising, [s].
        x0 : array_like, shape (..., m), optional
            The deviation at the first of them; none if left out.
        u : array_like, shape (..., p) or (..., T, p), optional
            Deviations of the inputs, constant or one row for each time.
        """
        self._needs_continuous("response")
        return linear_responses.response(self.A, self.B, times, x0, u)

    def in_coordinates(self, influence: Any, names: Sequence[str | Signal] | None = None) -> LinearModel:
        """The same in other coordinates, such as those of the end effector [Freeman, Eq. 3-49 to 3-53].

        Parameters
        ----------
        influence : Influence, or tuple of array_like, shape (..., n, n), (..., n, n, n), (..., n, n, n, n)
            Of the new coordinates over the old ones, to third order, as `dal.influence(..., order=3)` and `dal.transfer.rows`
            give it, or `dal.transfer.coordinate_map` for a function of one's own.
        names : sequence of str or Signal, optional
            Names (and units) of the new coordinates.

        Returns
        -------
        LinearModel
            With states (u, u̇, further ones); inputs and outputs stay what they are.

        Examples
        --------
        >>> import dalembert as dal
        >>> arm, q = dal.robots.two_link_planar(), [0.3, 0.8]
        >>> tip = dal.transfer.rows(dal.influence(arm, q, order=3), [0, 1])
        >>> model = dal.linearize(arm, q).in_coordinates(tip, ["x", "y"])
        >>> [state.name for state in model.states]
        ['x', 'y', 'x_rate', 'y_rate']
        """
        self._needs_continuous("in_coordinates")
        if self.point is None:
            raise ModelError("in_coordinates: a model without its `point` found; the motion that it holds for is needed.")
        n = self.point.q.shape[-1]
        new = signals(names) if names is not None else tuple(Signal(f"u{k}") for k in range(1, n + 1))
        if len(new) != n:
            raise ShapeError(f"names: {len(new)} found; one for each of the {n} coordinates is expected.")
        said = [s.name for s in new], [s.name for s in self.states[:n]]
        A, B, C = transferred_matrices(self.A, self.B, self.C, influence, self.point, said)
        rates = tuple(Signal(f"{s.name}_rate", f"{s.unit}/s" if s.unit else "") for s in new)
        return replace(self, A=A, B=B, C=C, states=(*new, *rates, *self.states[2 * n :]), point=None)

    def to_control(self) -> Any:
        """The model as a `control.StateSpace` of python-control, names included (extra `control`)."""
        if self.batch:
            raise ShapeError(f"to_control: a batch {self.batch} found; one model is expected. Choose one: model[k].to_control().")
        try:
            import control
        except ImportError:
            raise MissingExtraError.for_extra("to_control: the conversion", "control", "control") from None
        names = {what: [s.name for s in getattr(self, what)] for what in ("states", "inputs", "outputs")}
        return control.StateSpace(self.A, self.B, self.C, self.D, self.dt or 0, **names)

    def _needs_continuous(self, method: str) -> None:
        if self.dt is not None:
            raise ModelError(f"{method}: a model in steps of {self.dt:g} s found; ask the continuous model it was made of.")


__all__ = ["LinearModel"]
