"""What a motion tells beyond its states: torques, accelerations, energies, power by cause, energy balance, tables.

All of it is computed when it is first asked for, in one batch over all times, and kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import Energy, engine, mass_matrix
from ..dynamics.system import solves
from ..errors import ModelError, ShapeError
from ..table_files import data_frame, table_format, write_columns
from ..trajectory import Trajectory
from .applied import Applied, acting_along, parameters_of
from .balance import EnergyBalance, accumulated, nodes_between, quintic
from .laws import TorqueLaw
from .power import PowerFlow, energy_along, has_elements, power_flow
from .standing import StandingTimes, StatesAlong, accelerations, axes_that_stand
from .torques import Torque


class MotionResult:
    """What results of `simulate` and of `rollout` have in common."""

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    system: Any
    states: dict[str, FloatArray]
    torque: Torque | Callable[[], Torque] | None
    x: FloatArray | None = None
    solution: Any = None
    standing: StandingTimes | None = None

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes: () for a single motion."""
        return self.q.shape[:-2]

    @cached_property
    def tau(self) -> FloatArray:
        """Joint torques as they were applied [N m | N], shape (..., K, n): given, sampled, or by the law at these states."""
        return self._acts.tau

    @property
    def wrenches(self) -> dict[str, FloatArray]:
        """Wrenches of the surroundings by frame, [f; m] in world axes [N, N m], each of shape (..., K, 6)."""
        return self._acts.wrenches

    @property
    def saturated(self) -> Any:
        """Whether each torque is at its limit (`saturate`) at these times, shape (..., K, n)."""
        limits = self._acts.limits
        return np.zeros(self.q.shape, bool) if limits is None else np.abs(self.tau) >= limits

    @cached_property
    def qdd(self) -> FloatArray:
        """Accelerations under what acts, shape (..., K, n); zero where a joint sticks, rests at a stop or is locked."""
        return self._accelerations(self._acts)

    @cached_property
    def energies(self) -> Energy:
        """Kinetic and potential energy [J], each of shape (..., K)."""
        self._refuse_changes()
        return Energy(*self._at_rows(energy_along, self._own_parameters))

    @property
    def energy(self) -> FloatArray:
        """Kinetic and potential energy together [J], shape (..., K)."""
        return self.energies.total

    @cached_property
    def power(self) -> PowerFlow:
        """Power by cause [W]: of the motors, of gravity and springs, of friction and wrenches."""
        self._refuse_changes()
        return self._at_rows(power_flow, self._acts)

    @cached_property
    def balance(self) -> EnergyBalance:
        """The energy balance: what is left of the change of energy after the work of drives and friction.

        With `dense=True` it is as accurate as the motion; without, samples that are far apart show in it.
        """
        self._refuse_changes()
        times, q, qd, x, z = self._between()
        acting = self._acting_at(times[1], q, qd, x, z)
        rate = power_flow(self._placed(x), q, qd, acting).energy_rate
        work, to_and_fro = (self._back(times[0], accumulated(times[0], values)) for values in (rate, np.abs(rate)))
        change = self.energy - self.energy[..., :1]
        kinetic = np.max(np.nan_to_num(self.energies.kinetic), axis=-1, initial=0.0)
        turnover = np.maximum(kinetic, np.max(np.nan_to_num(to_and_fro), axis=-1, initial=0.0))
        impacts = self._impacts()
        return EnergyBalance(self.t, change, work, impacts, change - work - impacts, turnover)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion with its accelerations as a `Trajectory`, which `inverse_dynamics` and others take.

        Its third derivative comes from differences of the accelerations, and is as accurate as rows are close.
        """
        return Trajectory(self.t, self.q, self.qd, self.qdd, self._jerk())

    @cached_property
    def columns(self) -> dict[str, Any]:
        """All of it as columns under names with units, times one below the other; a batch has the number of the motion first."""
        coordinates = engine.system_of(self._known).coordinates
        rows = int(np.prod(self.batch, dtype=int))
        found: dict[str, Any] = {}
        if self.batch:
            found["motion"] = np.repeat(np.arange(rows), len(self.t))
        found["t [s]"] = np.tile(self.t, rows)
        changed = bool(self._changes)
        for name, per in (("q", ""), ("qd", "/s"), *([] if changed else [("qdd", "/s²")]), ("tau", None)):
            values = getattr(self, name).reshape(-1, self.q.shape[-1])
            for k, c in enumerate(coordinates):
                unit = ("N m" if c.turns else "N") if per is None else f"{'rad' if c.turns else 'm'}{per}"
                found[f"{name}_{c.name} [{unit}]"] = values[:, k]
        for name, values in self.states.items():
            if not name.isidentifier():
                continue  # what waits inside of a sampled law
            wide = values.reshape(rows * len(self.t), -1)
            found |= {name if wide.shape[1] == 1 else f"{name}_{k + 1}": wide[:, k] for k in range(wide.shape[1])}
        if changed or (self._own_parameters is not None and has_elements(self._known)):
            return found  # energies are those of one model
        found |= {f"{name} energy [J]": getattr(self.energies, name).ravel() for name in ("kinetic", "potential")}
        found |= {f"power of {name} [W]": values.ravel() for name, values in self.power.by_cause.items()}
        return found

    def to_dataframe(self) -> Any:
        """Everything along the motion as a table of pandas (extra `data`), a column each under a name with its unit.

        Returns
        -------
        pandas.DataFrame
            Times one below the other; a batch has the number of the motion in its first column.

        Examples
        --------
        >>> import dalembert as dal
        >>> motion = dal.simulate(dal.robots.pendulum(), [0.5], [0.0], t_eval=[0.0, 0.5, 1.0])
        >>> table = motion.to_dataframe()
        >>> list(table.columns)[:3]
        ['t [s]', 'q_pivot [rad]', 'qd_pivot [rad/s]']
        """
        return data_frame(self.columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything along the motion as a table; the file is complete, or it is not there.

        Parameters
        ----------
        path : str or path
            A `.csv` file, every digit kept, or `.parquet` (extra `data`).

        Examples
        --------
        >>> import os, tempfile
        >>> import dalembert as dal
        >>> motion = dal.simulate(dal.robots.pendulum(), [0.5], [0.0], t_eval=[0.0, 0.5, 1.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.save(os.path.join(folder, "swing.csv"))
        """
        if not isinstance(path, (str, os.PathLike)):
            raise ShapeError(f"path: {type(path).__name__} found, the name of a .csv or .parquet file expected.")
        table_format("path", path)
        write_columns(path, self.columns)

    def at(self, t: Any) -> tuple[FloatArray, FloatArray]:
        """q and q̇ at any times within the motion: by the interpolant with `dense=True`, by quintics between samples otherwise."""
        if self.solution is not None:
            found: tuple[FloatArray, FloatArray] = self.solution(t)
            return found
        times = real("t", t, "(...)")
        if times.size and not (times.min() >= self.t[0] and times.max() <= self.t[-1]):
            raise ShapeError(f"t: outside of the motion, which goes from {self.t[0]} to {self.t[-1]} s.")
        q, qd = self._on_quintics(times.ravel())
        return tuple(y.reshape(*self.batch, *times.shape, y.shape[-1]) for y in (q, qd))  # type: ignore[return-value]

    def tree_positions(self, t: FloatArray, q: FloatArray) -> FloatArray | None:
        """Positions of a mechanism's tree at times (P,) and coordinates there; None where they are not solved for."""
        return self._assembled(t, q)

    # -- inside -------------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the torques of a law as numbers: functions cannot always be copied."""
        state = dict(vars(self))
        if self.torque is not None and isinstance(self._acting.kind, TorqueLaw):
            state |= {"tau": self.tau, "torque": None, "_acts": self._acts}
            state.pop("_acting", None)
        return state

    @property
    def _known(self) -> Any:
        """The system, if the result has one."""
        if self.system is None:
            raise ModelError(
                f"{type(self).__name__}: it was made without its system, so only t, q and qd are known. Take one that "
                "simulate or rollout returns."
            )
        return self.system

    @cached_property
    def _positions(self) -> FloatArray | None:
        """Positions of a mechanism's tree at the rows; None where none are solved for."""
        view = engine.system_of(self._known)
        if not solves(view) or self.x is not None:
            return self.x
        if self.solution is not None:
            return np.asarray(self.system.assemble(self.q, near=self.solution.near(self.t)).x)
        return np.asarray(self.system.assemble(self.q, near=self._start, continuous=True).x)

    @property
    def _start(self) -> FloatArray:
        found: FloatArray = engine.system_of(self.system).positions_at(self.q[..., 0, :])  # type: ignore[attr-defined]
        return found

    @property
    def _further(self) -> FloatArray | None:
        """Further states side by side, (..., K, k)."""
        if not self.states:
            return None
        rows = self.q.shape[:-1]
        return np.concatenate([values.reshape(*rows, -1) for values in self.states.values()], axis=-1)

    def _placed(self, x: FloatArray | None) -> Any:
        return self._known if x is None else self._known.at(x=x)

    def _at_rows(self, function: Any, *further: Any, **around: Any) -> Any:
        """A function of the states, whose rows without numbers stay without."""
        return function(self._placed(self._positions), self.q, self.qd, *further, **around)

    @cached_property
    def _acts(self) -> Applied:
        """What acts at the rows."""
        return self._acting_at(self.t, self.q, self.qd, self._positions, self._further)

    def _acting_at(self, t: Any, q: Any, qd: Any, x: Any, z: Any) -> Applied:
        return acting_along(self._known, self._acting, t, q, qd, x, z)

    def _accelerations(self, acting: Applied) -> FloatArray:
        """q̈ under what acts, with coordinates held that a stop or a lock holds: those at rest for more than one row."""
        self._refuse_changes()
        axes = axes_that_stand(self._known, self.standing, acting.parameters)
        held = resting(self.qd)
        if axes.beside:
            none = np.zeros((*held.shape[:-1], len(axes.beside)), bool)
            held = np.concatenate([held, none if self.standing is None else self.standing.at(self.t, self.batch)], axis=-1)
        return accelerations(self._known, axes, StatesAlong(self.q, self.qd, self._positions, held), acting)

    def _impacts(self) -> FloatArray:
        """Energy that velocities gained where they jumped, up to each row; one record for all that was hit at once."""
        found = np.zeros(self.q.shape[:-1])
        known: set[Any] = set()
        for row, event in self._records:
            again = event.kind == "stop" and (row, event.t) in known
            known.add((row, event.t))
            if again or np.array_equal(event.qd, event.qd_after):
                continue
            M = mass_matrix(self._at_event(row, event), event.q, **self._parameters_of(row))
            gained = (event.qd_after @ M @ event.qd_after - event.qd @ M @ event.qd) / 2
            found[row] += np.where(self.t > event.t, gained, 0.0)
        return found

    def _parameters_of(self, row: tuple[int, ...]) -> dict[str, Any]:
        """The parameters of one motion, as an option."""
        own = self._own_parameters
        return {} if own is None else {"parameters": np.broadcast_to(own[..., 0, :], (*self.batch, own.shape[-1]))[row]}

    def _at_event(self, row: tuple[int, ...], event: Any) -> Any:
        """The system where something was hit; a mechanism near the positions of that time."""
        x = self._positions
        if x is None:
            return self._known
        return self._known.at(near=x[row][max(int(np.searchsorted(self.t, event.t)) - 1, 0)])

    @property
    def _records(self) -> list[tuple[tuple[int, ...], Any]]:
        """What happened, each with the motion it happened to."""
        events = getattr(self, "events", None)
        if isinstance(events, np.ndarray):
            return [(row, event) for row in np.ndindex(events.shape) for event in events[row]]
        return [((), event) for event in events or ()]

    def _refuse_changes(self) -> None:
        if self._changes:
            raise ModelError(
                f"{type(self).__name__}: the system changed at {self._changes[0].t:g} s ({self._changes[0].name!r}), and this is "
                "told for one system. End the motion there (terminal=True), and go on with another from the state found."
            )

    @property
    def _changes(self) -> list[Any]:
        """Where a system took the place of another."""
        return [event for _, event in self._records if event.system is not None]

    @property
    def _own_parameters(self) -> FloatArray | None:
        """Parameters of the motion in the place of the model's, (..., 1, p), if it has any."""
        return self._acts.parameters if self.torque is None else parameters_of(self._acting)

    @cached_property
    def _acting(self) -> Torque:
        if self.torque is None:
            raise ModelError(
                f"{type(self).__name__}: the function of its torques is not known here, as copies do not have it. Ask for "
                "what you need before copying."
            )
        return self.torque if isinstance(self.torque, Torque) else self.torque()

    def _between(self) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray, FloatArray | None, FloatArray | None]:
        """Times (ends of steps, points between) and states at the points: on interpolants, or on quintics between rows."""
        if self.solution is not None:
            ends = self.solution.ends(self.t)
            times = nodes_between(ends)
            q, qd, z = self.solution.states(times)
            return (ends, times), q, qd, self._assembled(times, q), z
        times = nodes_between(self.t)
        z = self._further
        q, qd = self._on_quintics(times)
        z = None if z is None else self._held(_on_lines(self.t, z, times), z, times)
        return (self.t, times), q, qd, self._assembled(times, q), z

    def _held(self, between: FloatArray, z: FloatArray, times: FloatArray) -> FloatArray:
        """Further states between rows, of which those that a sampled law holds are as at the end of the step."""
        law = self._acting.kind
        held = sum(field.size for field in law.held) if isinstance(law, TorqueLaw) else 0
        if held:
            between[..., -held:] = z[..., _places(self.t, times)[0] + 1, -held:]
        return between

    def _on_quintics(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions and velocities at times (P,) between the rows."""
        k, length, share = _places(self.t, times)
        begins, ends = self._interval_ends
        return quintic(
            length[:, None],
            share[:, None],
            tuple(x[..., k, :] for x in begins),
            tuple(x[..., k + 1, :] for x in ends),
        )

    def _jerk(self) -> FloatArray:
        """The third derivative at the rows, by differences of second order."""
        t, which = np.unique(self.t, return_inverse=True)  # a time may be asked for twice
        if len(t) < 2:
            return np.zeros_like(self.q)
        rows = self.qdd[..., np.searchsorted(self.t, t), :]
        found: FloatArray = np.gradient(rows, t, axis=-2, edge_order=2 if len(t) > 2 else 1)
        return found[..., which, :]

    @cached_property
    def _interval_ends(self) -> tuple[Any, Any]:
        """q, q̇, q̈ at the rows where intervals begin there, and where they end there, with the torque from before."""
        before = np.nextafter(self.t, -np.inf)
        acting = self._acting_at(before, self.q, self.qd, self._positions, self._further)
        qdd = self._accelerations(acting)
        return (self.q, self.qd, self.qdd), (self.q, self.qd, qdd)

    def _assembled(self, times: FloatArray, q: FloatArray) -> FloatArray | None:
        """Positions of a mechanism's tree at points between rows, found from lines between the positions there."""
        x = self._positions
        if x is None:
            return None
        near = _on_lines(self.t, x, times) if self.solution is None else self.solution.near(times)
        return np.asarray(self.system.assemble(q, near=near).x)

    def _back(self, ends: FloatArray, values: FloatArray) -> FloatArray:
        """Values at the ends of steps, of those that are times of the result."""
        if ends.ndim == 1 and len(ends) == len(self.t):
            return values
        rows = values.shape[:-1]
        found = np.empty((*rows, len(self.t)))
        for k in np.ndindex(rows):
            own = ends[k] if ends.ndim > 1 else ends
            found[k] = values[k][np.clip(np.searchsorted(own, self.t), 0, len(own) - 1)]
        return np.where(np.isnan(self.q[..., 0]), np.nan, found)


def resting(qd: FloatArray) -> Any:
    """Which coordinates are held: those whose velocity is exactly zero in two rows one after the other."""
    still = qd == 0.0
    held = np.zeros_like(still)
    both = still[..., 1:, :] & still[..., :-1, :]
    held[..., 1:, :] |= both
    held[..., :-1, :] |= both
    return held


def _places(t: FloatArray, times: FloatArray) -> tuple[Any, FloatArray, FloatArray]:
    """The interval of each time, its length, and the share of it that has passed."""
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    length = t[k + 1] - t[k]
    return k, length, np.divide(times - t[k], length, out=np.zeros(np.shape(times)), where=length > 0)


def _on_lines(t: FloatArray, rows: FloatArray, times: FloatArray) -> FloatArray:
    """Rows (..., K, N) at other times, (P,) or (..., P), on lines."""
    k, _, share = _places(t, times)
    if times.ndim == 1:
        here, there = rows[..., k, :], rows[..., k + 1, :]
    else:
        here, there = (np.take_along_axis(rows, which[..., None], axis=-2) for which in (k, k + 1))
    found: FloatArray = here + (there - here) * share[..., None]
    return found


__all__ = ["MotionResult"]
