"""What a motion tells beyond its states: torques, accelerations, energies, power by cause, energy balance, tables.

All of it is computed when it is first asked for, in one batch over all times, and kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import Energy, engine
from ..dynamics.system import LEAST_PIVOT, solves
from ..errors import ModelError, ShapeError
from ..table_files import data_frame, table_format, write_columns
from ..trajectory import Trajectory
from .applied import Applied, acting_along, parameters_of
from .balance import Ends, EnergyBalance, accumulated, nodes_between, quintic
from .laws import TorqueLaw
from .power import MovingStates, PowerFlow, energy_along, power_flow, product
from .standing import StandingTimes, StatesAlong, accelerations, axes_that_stand
from .systems_in_force import Parts, SystemsInForce, Told, systems_in_force, told_by_each
from .torques import Torque
from .tree_accelerations import TreeStates, tree_accelerations


class StatesBetween(NamedTuple):
    """Times between the ends of steps, and the states there; `tree` has the positions of a mechanism and their rates."""

    ends: FloatArray
    t: FloatArray
    q: FloatArray
    qd: FloatArray
    tree: tuple[FloatArray, FloatArray] | None
    z: FloatArray | None


class MotionResult:
    """What results of `simulate` and of `rollout` have in common."""

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    system: Any
    states: dict[str, FloatArray]
    torque: Torque | Callable[[], Torque] | None
    x: FloatArray | None = None
    xd: FloatArray | None = None
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
        return self._accelerations(self._acts)[0]

    @cached_property
    def energies(self) -> Energy:
        """Kinetic and potential energy [J], each of shape (..., K); at the time of a change, those of the system before."""

        def told(system: Any, parts: Parts, acting: Applied) -> Told:
            return energy_along(_moving(system, parts), acting.parameters)

        acting = Applied(self.q, {}, self._own_parameters)  # torques have no energy
        return Energy(*self._told(told, self.t, self._states, acting))

    @property
    def energy(self) -> FloatArray:
        """Kinetic and potential energy together [J], shape (..., K)."""
        return self.energies.total

    @cached_property
    def power(self) -> PowerFlow:
        """Power by cause [W]: of the motors, of gravity and springs, of friction and wrenches."""
        return self._power(self.t, self._states, self._acts)

    @cached_property
    def balance(self) -> EnergyBalance:
        """The energy balance: what is left of the change of energy after the work of drives and friction.

        With `dense=True` it is as accurate as the motion; without, samples that are far apart show in it.
        """
        at = self._between()
        x, xd = (None, None) if at.tree is None else at.tree
        rate = self._power(at.t, (at.q, at.qd, x, xd), self._acting_at(at.t, at.q, at.qd, x, at.z)).energy_rate
        work, to_and_fro = (self._back(at.ends, accumulated(at.ends, values)) for values in (rate, np.abs(rate)))
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
        for name, per in (("q", ""), ("qd", "/s"), ("qdd", "/s²"), ("tau", None)):
            values = getattr(self, name).reshape(-1, self.q.shape[-1])
            for k, c in enumerate(coordinates):
                unit = ("N m" if c.turns else "N") if per is None else f"{'rad' if c.turns else 'm'}{per}"
                found[f"{name}_{c.name} [{unit}]"] = values[:, k]
        for name, values in self.states.items():
            if not name.isidentifier():
                continue  # what waits inside of a sampled law
            wide = values.reshape(rows * len(self.t), -1)
            found |= {name if wide.shape[1] == 1 else f"{name}_{k + 1}": wide[:, k] for k in range(wide.shape[1])}
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

    def tree_positions(self, t: FloatArray) -> FloatArray | None:
        """Positions of a mechanism's tree at times (P,) of the motion; None where they are not solved for."""
        if self._tree is None:
            return None
        if self.solution is not None:
            found: FloatArray = self.solution.tree(t)[0]
            return found
        near = self._tree_on_quintics(t)[0]
        closed = self.system.assemble(self._on_quintics(t)[0], near=near)
        return np.where((closed.pivot > LEAST_PIVOT)[..., None], closed.x, near)

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

    @property
    def _positions(self) -> FloatArray | None:
        """Positions of a mechanism's tree at the rows; None where none are solved for."""
        return None if self._tree is None else self._tree[0]

    @cached_property
    def _tree(self) -> tuple[FloatArray, FloatArray] | None:
        """Positions of a mechanism's tree at the rows, and their rates; None where none are solved for."""
        if not solves(engine.system_of(self._known)):
            return None
        if self.x is not None and self.xd is not None:
            return self.x, self.xd
        x = self.system.assemble(self.q, near=self._start, continuous=True).x
        found: tuple[FloatArray, FloatArray] = self.system.moved_at(self.q, self.qd, x)[2:]
        return found

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

    @property
    def _states(self) -> Parts:
        """q, q̇ at the rows, and positions of a mechanism's tree with their rates."""
        return self.q, self.qd, *((None, None) if self._tree is None else self._tree)

    @cached_property
    def _in_force(self) -> SystemsInForce | None:
        return systems_in_force(self._known, self._records, self.batch)

    def _told(
        self, tell: Callable[[Any, Parts, Applied], Told], t: FloatArray, parts: Parts, acting: Applied, *, after: bool = False
    ) -> Told:
        """What the system in force tells of states at times (K,), or (..., K) of each motion."""
        if self._in_force is None:
            return tell(self._known, parts, acting)
        return told_by_each(self._in_force.systems, self._in_force.at(t, self.batch, after=after), tell, parts, acting)

    def _power(self, t: FloatArray, states: Parts, acting: Applied) -> PowerFlow:
        def told(system: Any, parts: Parts, acting: Applied) -> Told:
            return list(vars(power_flow(_moving(system, parts), product(acting.tau, parts[1]), acting)).values())

        return PowerFlow(*self._told(told, t, states, acting))

    @cached_property
    def _acts(self) -> Applied:
        """What acts at the rows."""
        return self._acting_at(self.t, self.q, self.qd, self._positions, self._further)

    def _acting_at(self, t: Any, q: Any, qd: Any, x: Any, z: Any) -> Applied:
        return acting_along(self._known, self._acting, t, q, qd, x, z)

    def _accelerations(self, acting: Applied, *, second: bool = False, after: bool = False) -> Told:
        """q̈ under what acts, with coordinates held that a stop or a lock holds: by what happened, or at rest for more than a row.

        With `second` the ẍ of a mechanism's tree, too; `after` where rows begin intervals.
        """
        axes, n = axes_that_stand(self._known, self.standing, acting.parameters), self.q.shape[-1]
        none = np.zeros((*self.q.shape[:-1], len(axes.names)), bool)
        stand = none if self.standing is None else self.standing.at(self.t, self.batch)
        rests = resting(self.qd) | (stand[..., :n] & (self.qd == 0.0))
        held = np.concatenate([rests, stand[..., n:]], axis=-1)

        def told(system: Any, parts: Parts, acting: Applied) -> Told:
            q, qd, x, xd, held, stand = parts
            own = axes_that_stand(system, self.standing, acting.parameters)
            if x is None:
                return (accelerations(system, own, StatesAlong(q, qd, None, held), acting),)
            return tree_accelerations(system, own, TreeStates(q, qd, x, xd, held, stand), acting, second=second)

        return self._told(told, self.t, (*self._states, held, stand), acting, after=after)

    def _impacts(self) -> FloatArray:
        """Energy that velocities gained where they jumped, up to each row; one record for all that was hit at once."""
        found = np.zeros(self.q.shape[:-1])
        known: set[Any] = set()
        for row, event in self._records:
            again = event.kind == "stop" and (row, event.t) in known
            known.add((row, event.t))
            if not again:
                found[row] += np.where(self.t > event.t, event.gained, 0.0)
        return found

    @property
    def _records(self) -> list[tuple[tuple[int, ...], Any]]:
        """What happened, each with the motion it happened to."""
        events = getattr(self, "events", None)
        if isinstance(events, np.ndarray):
            return [(row, event) for row in np.ndindex(events.shape) for event in events[row]]
        return [((), event) for event in events or ()]

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

    def _between(self) -> StatesBetween:
        """Ends of steps and the states at points between: on interpolants, or on quintics between rows."""
        if self.solution is not None:
            ends = self.solution.ends(self.t)
            times = nodes_between(ends)
            q, qd, z = self.solution.states(times)
            return StatesBetween(ends, times, q, qd, None if self._tree is None else self.solution.tree(times), z)
        times = nodes_between(self.t)
        z = self._further
        q, qd = self._on_quintics(times)
        z = None if z is None else self._held(_on_lines(self.t, z, times), z, times)
        return StatesBetween(self.t, times, q, qd, None if self._tree is None else self._tree_on_quintics(times), z)

    def _held(self, between: FloatArray, z: FloatArray, times: FloatArray) -> FloatArray:
        """Further states between rows, of which those that a sampled law holds are as at the end of the step."""
        law = self._acting.kind
        held = sum(field.size for field in law.held) if isinstance(law, TorqueLaw) else 0
        if held:
            between[..., -held:] = z[..., _places(self.t, times)[0] + 1, -held:]
        return between

    def _on_quintics(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions and velocities at times (P,) between the rows."""
        return _on_intervals(self.t, times, *((self.q, self.qd, rates[0]) for rates in self._interval_rates))

    def _tree_on_quintics(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same of a mechanism's tree."""
        assert self._tree is not None
        x, xd = self._tree
        return _on_intervals(self.t, times, *((x, xd, rates[1]) for rates in self._interval_rates))

    def _jerk(self) -> FloatArray:
        """The third derivative at the rows, by differences of second order."""
        t, which = np.unique(self.t, return_inverse=True)  # a time may be asked for twice
        if len(t) < 2:
            return np.zeros_like(self.q)
        rows = self.qdd[..., np.searchsorted(self.t, t), :]
        found: FloatArray = np.gradient(rows, t, axis=-2, edge_order=2 if len(t) > 2 else 1)
        return found[..., which, :]

    @cached_property
    def _interval_rates(self) -> tuple[Any, Any]:
        """q̈ and ẍ at the rows where intervals begin there, and where they end there, with the torque from before."""
        before = np.nextafter(self.t, -np.inf)
        acting = self._acting_at(before, self.q, self.qd, self._positions, self._further)
        return self._accelerations(self._acts, second=True, after=True), self._accelerations(acting, second=True)

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


def _moving(system: Any, parts: Parts) -> MovingStates:
    """What has energy and takes power at states of a motion."""
    q, qd, x, xd = parts
    return MovingStates(system, q, qd) if x is None else MovingStates(system.opened, x, xd)


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


def _on_intervals(t: FloatArray, times: FloatArray, begins: Ends, ends: Ends) -> tuple[FloatArray, FloatArray]:
    """Positions and velocities at times (P,), on the quintics between rows that begin and end with these."""
    k, length, share = _places(t, times)
    at_begin, at_end = tuple(x[..., k, :] for x in begins), tuple(x[..., k + 1, :] for x in ends)
    return quintic(length[:, None], share[:, None], at_begin, at_end)


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
