"""Events of a motion: what users ask for, checked once, and what is noted of each that happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.system import AnySystem, LoopSystem, solves
from ..errors import DalembertError, ExprError, ModelError, ShapeError
from ..expr import Expr
from ..options import several_names
from ..wording import shown
from .axes import DEPTH, Axes, axes_of, joints_beside
from .dry_friction import DryFriction, Given, dry_friction, rubbing_beside
from .fingerprint import fingerprint
from .happenings import EventFields, Happenings
from .held_model import BOUND
from .laws import symbols
from .states import finite_number

_DIRECTIONS = {"both": 0, "rising": 1, "falling": -1}


class EventRecord(NamedTuple):
    """What happened in a motion, see `Simulation.events`.

    Attributes
    ----------
    t : float
        When [s].
    kind : str
        'stick', 'slip' or 'turn' of a joint with dry friction; 'stop' where one hits its stop; 'rest' and 'leave' where one
        without dry friction comes to rest there and leaves it; 'event' of the user's; 'change' of the system.
    name : str
        The user's name of an event or change, else that of the joint.
    joint : str or None
        The joint in question.
    q, qd : ndarray, shape (n,)
        The state before.
    qd_after : ndarray, shape (n,)
        The velocities after: others where something was hit, caught or locked.
    system : Robot, System or None
        The system from then on, where it changed.
    gained : float
        Kinetic energy that velocities gained by their jump [J], below zero where it was lost; of all that was hit or locked at
        once together. Where the system changed, the energy of the new one less that of the old one, kinetic and potential.
    """

    t: float
    kind: str
    name: str
    joint: str | None
    q: FloatArray
    qd: FloatArray
    qd_after: FloatArray
    system: Any = None
    gained: float = 0.0

    def __repr__(self) -> str:
        return f"EventRecord(t={self.t:.6g}, kind={self.kind!r}, name={self.name!r})"


@dataclass(frozen=True)
class Event:
    """Something to look for in a motion, or to do at a given time.

    Parameters
    ----------
    function : function, optional
        Of (t, q, qd) over scalars, or (t, q, qd, p) where the torque function takes p; the event is where it passes zero. It is
        compiled into the time loop, may ask the model for its quantities (`inside`), and is located on the method's interpolant.
        One that passes zero and comes back within an eighth of a step may be missed; `max_step` bounds the step.
    time : float, optional
        In place of a function, the time [s].
    name : str
        What records call it.
    direction : {'both', 'rising', 'falling'}
        Which way the function passes zero.
    terminal : bool
        Whether the motion ends there; rows of a batch are NaN from then on.
    system : Robot or System, optional
        The system from then on, with the same coordinates: a payload attached or dropped, other friction, another gravity.
    caught : bool
        Whether what the new system has more of was at rest until then, and is caught: M' q̇' = M q̇. Otherwise velocities stay.
    lock, release : sequence of str
        Joints that are locked, at once and wherever they are, or let go again; those within loops of a mechanism too.

    Examples
    --------
    >>> import dalembert as dal
    >>> down = dal.Event(lambda t, q, qd: q[0], name="down", terminal=True)
    >>> motion = dal.simulate(dal.robots.pendulum(), [0.5], [0.0], t_end=5.0, events=[down])
    >>> [event.name for event in motion.events], float(abs(motion.q[-1, 0])) < 1e-12
    (['down'], True)
    """

    function: Callable[..., Any] | None = None
    time: float | None = None
    name: str = "event"
    direction: str = "both"
    terminal: bool = False
    system: Any = None
    caught: bool = False
    lock: Sequence[str] = ()
    release: Sequence[str] = ()

    def __post_init__(self) -> None:
        if (self.function is None) == (self.time is None):
            raise ShapeError(f"event {shown(self.name)}: either a function or a time is expected. Give one of them.")
        if self.function is not None and not callable(self.function):
            raise ShapeError(f"event: {shown(self.function)} found, a function of (t, q, qd) is expected.")
        checks.name("event: name", self.name)
        checks.choice("event: direction", self.direction, _DIRECTIONS)
        for name in ("terminal", "caught"):
            checks.flag(f"event: {name}", getattr(self, name))
        for name in ("lock", "release"):
            names = several_names(f"event: {name}", getattr(self, name), "names of coordinates are")
            object.__setattr__(self, name, names)
        if self.time is not None:
            object.__setattr__(self, "time", finite_number("event: time", self.time))

    @property
    def changes(self) -> bool:
        """Whether the motion goes on otherwise."""
        return self.system is not None or bool(self.lock or self.release)


class Occasions(NamedTuple):
    """All that may happen in a run: events by functions, events by time in order, stops, and where the axes are."""

    n: int  # coordinates; the axes behind them are joints within loops
    functions: tuple[Event, ...]
    timed: tuple[Event, ...]
    limits: FloatArray  # (2 K,), lower ones first
    restitution: FloatArray  # (K,), NaN where there is no stop
    names: tuple[str, ...]  # of the K axes
    locks: bool
    looped: bool = False  # whether axes may be no coordinates, at least in some chart
    given: Given = None  # which joints have dry friction by given parameters

    def axes(self, system: AnySystem) -> Axes:
        """The axes of a system, or of a chart of it."""
        return axes_of(system, self.names[self.n :])

    @property
    def layout(self) -> EventFields:
        """What motions carry."""
        return EventFields(len(self.names), len(self.functions), len(self.names) if self.looped else 0)

    def happenings(self, system: AnySystem) -> Happenings:
        """What the time loop of a system has to look for."""
        axes = self.axes(system)
        friction = self.friction(system) or DryFriction(((),) * len(self.names))
        stops = tuple(bool(x) for x in ~np.isnan(self.restitution))
        functions = tuple(_scalar_function(event) for event in self.functions)
        directions = tuple(_DIRECTIONS[e.direction] for e in self.functions)
        return Happenings(axes, friction, stops, self.locks, functions, directions, self.layout)

    def friction(self, system: AnySystem) -> DryFriction | None:
        """The dry friction of a system at the axes; None where it acts elsewhere too."""
        return dry_friction(system, self.axes(system), self.given)

    def without_friction(self) -> Occasions:
        """The same where friction is smooth: only stops and locks are at joints within loops."""
        locked = {name for e in (*self.functions, *self.timed) for name in (*e.lock, *e.release)}
        kept = [k < self.n or name in locked or not np.isnan(self.restitution[k]) for k, name in enumerate(self.names)]
        names = tuple(name for name, keep in zip(self.names, kept, strict=True) if keep)
        return self._replace(names=names, limits=self.limits[[*kept, *kept]], restitution=self.restitution[kept])

    @property
    def asked(self) -> bool:
        """Whether the user asked for any, beside the friction that is there."""
        return bool(self.functions or self.timed or not np.isnan(self.restitution).all())

    @property
    def key(self) -> tuple[Any, ...] | None:
        """Equal for runs that one kernel serves; None where that cannot be known."""
        functions = [fingerprint(e.function) for e in self.functions if e.function is not None]
        if any(found is None for found in functions):
            return None
        stops = tuple(~np.isnan(self.restitution))
        return (*functions, tuple(e.direction for e in self.functions), stops, self.locks, self.names, self.given)


def occasions_of(system: AnySystem, events: Any, stops: Any, interval: tuple[float, float], given: Given = None) -> Occasions:
    """What users give, checked, and the axes that it happens at."""
    coordinates, joints = engine.system_of(system).coordinates, joints_beside(system)
    several = () if events is None else [events] if isinstance(events, Event) else events
    listed = tuple(_event(e) for e in checks.items("events", several, "a list of dal.Event"))
    names = tuple(axis.name for axis in (*coordinates, *joints))
    for event in listed:
        _check_change(event, system, names)
        if event.time is not None and not interval[0] < event.time < interval[1]:
            raise ShapeError(
                f"event {event.name!r}: at {event.time} s, but the motion goes from {interval[0]} to {interval[1]} s."
            )
    timed = sorted((e for e in listed if e.time is not None), key=lambda e: e.time or 0.0)
    restitution = _restitution(stops, [*coordinates, *joints])
    locks = any(e.lock for e in listed)
    wanted = {name for e in listed for name in (*e.lock, *e.release)}
    systems = (system, *(e.system for e in listed if e.system is not None))
    wanted |= {name for each in systems for name in rubbing_beside(each, given)}
    n = len(coordinates)
    used = [k for k, name in enumerate(names) if k < n or name in wanted or not np.isnan(restitution[k])]
    axes, restitution = [(*coordinates, *joints)[k] for k in used], restitution[used]
    low = [c.limits.lower if not np.isnan(e) else -BOUND for c, e in zip(axes, restitution, strict=True)]
    high = [c.limits.upper if not np.isnan(e) else BOUND for c, e in zip(axes, restitution, strict=True)]
    limits = np.clip(np.array([*low, *high], dtype=float), -BOUND, BOUND)
    functions = tuple(e for e in listed if e.function is not None)
    looped = isinstance(engine.system_of(system), LoopSystem)
    named = tuple(axis.name for axis in axes)
    return Occasions(n, functions, tuple(timed), limits, restitution, named, locks, looped, given)


def check_start(occasions: Occasions, system: AnySystem, q: FloatArray, batch: tuple[int, ...]) -> None:
    """Refuse a motion that begins beyond a stop."""
    n, count = occasions.n, len(occasions.names)
    slack = np.where(np.arange(count) < n, 0.0, DEPTH)
    y = q
    if count > n:
        names = [axis.name for axis in joints_beside(system)]
        shaped = q.reshape(*batch, n)
        view: Any = engine.system_of(system)
        found = view.motion_beside(shaped, np.zeros_like(shaped))[0]
        beside = np.broadcast_to(found, (*batch, len(names))).reshape(len(q), len(names))
        y = np.concatenate([q, beside[:, [names.index(name) for name in occasions.names[n:]]]], axis=1)
    beyond = (y < occasions.limits[:count] - slack) | (y > occasions.limits[count:] + slack)
    if not beyond.any():
        return
    row, i = (int(k) for k in np.argwhere(beyond)[0])
    low, high = occasions.limits[i], occasions.limits[count + i]
    raise ShapeError(
        f"q0: {occasions.names[i]!r} at {y[row, i]:g}, beyond its stops at {low:g} and {high:g}"
        + ("." if len(q) == 1 else f", in motion {row}.")
        + " Begin within them, or leave it out of stops."
    )


def _event(value: Any) -> Event:
    if callable(value) and not isinstance(value, type):
        return Event(value)
    return checks.instance("events", value, Event)


def _check_change(event: Event, system: AnySystem, names: tuple[str, ...]) -> None:
    for name in (*event.lock, *event.release):
        checks.choice(f"event {event.name!r}: joint", name, dict.fromkeys(names))
    if event.system is None:
        return
    own, other = (tuple(c.name for c in engine.system_of(each).coordinates) for each in (system, event.system))
    if other != own:
        raise ModelError(
            f"event {event.name!r}: the system from then on has the coordinates {', '.join(other)}, but {', '.join(own)} are "
            "expected. A joint that is to stand still is locked: Event(..., lock=[...])."
        )
    beside = {joint.name for joint in joints_beside(event.system)}
    if set(names) - {*own, *beside} or _solved_joints(event.system) != _solved_joints(system):
        raise ModelError(
            f"event {event.name!r}: the system from then on has other joints than {system.name!r}, or has them in another order. "
            "Take one with the same joints."
        )


def _solved_joints(system: AnySystem) -> tuple[str, ...]:
    """The joints whose positions a mechanism solves for, in the order in which a motion has them."""
    if not solves(engine.system_of(system)):
        return ()
    mechanism: Any = system
    return tuple(mechanism.robot.joint_names)


def _restitution(stops: Any, axes: Sequence[Any]) -> FloatArray:
    """How much of its speed each of the axes keeps at its stops; NaN where it has none."""
    found = np.full(len(axes), np.nan)
    if stops is None:
        return found
    names = [c.name for c in axes]
    finite = [bool(np.isfinite(c.limits.lower) or np.isfinite(c.limits.upper)) for c in axes]
    if isinstance(stops, Mapping):
        for name, value in stops.items():
            k = names.index(str(checks.choice("stops: joint", name, {n: n for n in names})))
            if not finite[k]:
                raise ModelError(
                    f"stops: {name!r} has no limits, so there is nothing to hit. Give its joint Limits(lower, upper)."
                )
            found[k] = _share(value)
    else:
        found[np.array(finite)] = _share(stops)
    return found


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)) or not 0 <= value <= 1:
        raise ShapeError(f"stops: {shown(value)} found; the part of its speed that a joint keeps, from 0 to 1, is expected.")
    return float(value)


def _scalar_function(event: Event) -> Callable[..., Any]:
    """The function of an event over symbols, its result checked."""

    def value(t: Any, q: Any, qd: Any, p: tuple[Any, ...]) -> Any:
        assert event.function is not None
        try:
            found = event.function(t, symbols(q), symbols(qd), *p)
            scalars = list(np.asarray(found, dtype=object).ravel())
        except (DalembertError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ExprError(
                f"event {event.name!r}: the function cannot be traced ({error}). Write it over scalars with arithmetic and "
                "dalembert.expr.ops."
            ) from error
        if len(scalars) != 1 or not isinstance(scalars[0], (Expr, Real)):
            raise ExprError(f"event {event.name!r}: {shown(found)} found; one number, which passes zero, is expected.")
        return scalars[0] if isinstance(scalars[0], Expr) else float(scalars[0])

    return value


__all__ = ["Event", "EventRecord", "Occasions", "check_start", "occasions_of"]
